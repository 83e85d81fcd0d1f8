/**
 * Large values on their way to and from the database. The client turns a `bytea` into hexadecimal text and back in one go, 10 ms a megabyte:
 * beyond `SLICE_BYTES` it goes in slices, between which the event loop does other work.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queries, Sql } from './sql.ts';

/** A slice costs the event loop about a millisecond. */
export const SLICE_BYTES = 256 * 1024;
/** Bytes that are copied in one go. */
const COPY_BYTES = 1024 * 1024;

/** A value for `stagedValue`: whole, or the name and number of its pieces. */
export interface Staged {
  readonly whole: Buffer | null;
  readonly upload: string | null;
  readonly pieces: number;
}

/**
 * Gives `store` what `stagedValue` stores as `bytes`, which must not change meanwhile. Nothing is left of the pieces afterwards, unless the
 * process dies. `sql` is best no transaction, because that would keep all others from the embedded database while the pieces are sent.
 */
export async function withStaged<T>(sql: Queries, bytes: Uint8Array, store: (staged: Staged) => Promise<T>): Promise<T> {
  if (bytes.byteLength <= SLICE_BYTES) return store({ whole: bufferOf(bytes), upload: null, pieces: 0 });
  const upload = randomUUID();
  try {
    let pieces = 0;
    for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES, pieces += 1) {
      await sql`insert into document_piece (upload, n, data) values (${upload}, ${pieces}, ${bufferOf(bytes.subarray(at, at + SLICE_BYTES))})`;
    }
    return await store({ whole: null, upload, pieces });
  } finally {
    // Where this fails, the daily sweep removes them.
    await sql`delete from document_piece where upload = ${upload}`.catch(() => undefined);
  }
}

/** SQL for the value. Null where pieces are missing, because a server that was started again has emptied their table: its column must refuse null. */
export function stagedValue(sql: Queries, { whole, upload, pieces }: Staged) {
  return sql`coalesce(${whole}::bytea, (
    select string_agg(data, ''::bytea order by n) from document_piece where upload = ${upload}::uuid having count(*) = ${pieces}::integer))`;
}

/** Removes what killed processes have left; answers the number of pieces. */
export async function deleteOldPieces(sql: Sql): Promise<number> {
  return (await sql`delete from document_piece where at < now() - interval '1 hour'`).count;
}

/**
 * A value of `bytes` bytes that begins with `begun`; `read` answers `count` bytes from the first, second, … on (`from` counts from 1).
 * Undefined where its row has gone meanwhile: no transaction keeps it, because that would keep all others from the embedded database.
 */
export async function readSlices(
  bytes: number,
  begun: Uint8Array,
  read: (from: number, count: number) => PromiseLike<readonly { readonly data: Uint8Array }[]>,
): Promise<Uint8Array | undefined> {
  if (begun.byteLength === bytes) return begun;
  const whole = new Uint8Array(bytes);
  whole.set(begun);
  for (let at = begun.byteLength; at < bytes; ) {
    const [row] = await read(at + 1, SLICE_BYTES);
    if (!row?.data.byteLength) return undefined;
    whole.set(row.data, at);
    at += row.data.byteLength;
  }
  return whole;
}

/** The parts one after the other, in memory of their own. They must not change meanwhile. */
export async function joined(parts: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  let copied = 0;
  for (const part of parts) {
    for (let from = 0; from < part.byteLength; from += COPY_BYTES) {
      const piece = part.subarray(from, from + COPY_BYTES);
      whole.set(piece, at);
      at += piece.byteLength;
      copied += piece.byteLength;
      if (copied < COPY_BYTES) continue;
      copied = 0;
      await nextTurn();
    }
  }
  return whole;
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
