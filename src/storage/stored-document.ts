/** Reads one stored document: its snapshot and the updates since, large ones in slices. */
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { readSlices, SLICE_BYTES } from './slices.ts';
import type { Queries, Sql } from './sql.ts';

export interface StoredHead {
  /** The seq of the document's first update. */
  readonly created_seq: number;
  /** 0 if there is no snapshot. */
  readonly snapshot_seq: number;
  /** Of the last update. */
  readonly seq: number;
  readonly snapshot: Uint8Array | null;
}

/** One commit's updates. */
export interface UpdateRow {
  /** Of the last of them. */
  readonly seq: number;
  readonly updates: number;
  /** One after the other, each with its length before it. */
  readonly data: Uint8Array;
}

export interface Stored {
  readonly head: StoredHead;
  readonly rows: readonly UpdateRow[];
}

interface Begun {
  readonly bytes: number;
  readonly begun: Buffer;
}

type BegunHead = Omit<StoredHead, 'snapshot'> & (Begun | { readonly bytes: null });
type BegunRow = Omit<UpdateRow, 'data'> & Begun;

/** Each further one is needed because a compaction ended during the one before, which takes longer than it. */
const ATTEMPTS_MAX = 5;

/**
 * A document's head and its updates up to `untilSeq`, as `inSnapshot` sees them, which runs its argument in a transaction of one snapshot.
 * Answers what `inSnapshot` answers instead, and undefined if there is no such document.
 */
export async function readStored<N extends null | undefined>(
  sql: Sql,
  inSnapshot: <T>(read: (tx: Queries) => Promise<T>) => Promise<T | N>,
  artifactId: ArtifactId,
  name: string,
  untilSeq = Number.MAX_SAFE_INTEGER,
): Promise<Stored | N | undefined> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const begun = await inSnapshot((tx) => begin(tx, artifactId, name, untilSeq));
    if (begun === null || begun === undefined) return begun;
    const [[head], rows] = begun;
    if (head === undefined) return undefined;
    const stored = await finish(sql, artifactId, name, head, rows);
    if (stored !== undefined) return stored;
  }
  throw new Error('the document was compacted again and again while it was read');
}

function begin(tx: Queries, artifactId: ArtifactId, name: string, untilSeq: number): Promise<[BegunHead[], BegunRow[]]> {
  return Promise.all([
    tx<BegunHead[]>`
      select d.created_seq, d.snapshot_seq, d.seq, octet_length(s.data) as bytes, substring(s.data from 1 for ${SLICE_BYTES}) as begun
      from document d left join document_snapshot s on s.artifact_id = d.artifact_id and s.name = d.name and s.seq = d.snapshot_seq
      where d.artifact_id = ${artifactId} and d.name = ${name} and (s.seq is not null or d.snapshot_seq = 0)`,
    tx<BegunRow[]>`
      select seq, updates, octet_length(data) as bytes, substring(data from 1 for ${SLICE_BYTES}) as begun from document_update
      where artifact_id = ${artifactId} and name = ${name} and seq <= ${untilSeq} order by seq`,
  ]);
}

/** The rest of each large row: rows never change. Undefined where one has gone, because it was compacted or dropped meanwhile. */
async function finish(
  sql: Sql,
  artifactId: ArtifactId,
  name: string,
  head: BegunHead,
  begunRows: readonly BegunRow[],
): Promise<Stored | undefined> {
  const { created_seq, snapshot_seq, seq: lastSeq } = head;
  const snapshotSlice = (from: number, count: number) => sql<{ data: Buffer }[]>`
    select substring(data from ${from}::integer for ${count}) as data from document_snapshot
    where artifact_id = ${artifactId} and name = ${name} and seq = ${snapshot_seq}`;
  const snapshot = head.bytes === null ? null : await readSlices(head.bytes, head.begun, snapshotSlice);
  if (snapshot === undefined) return undefined;
  const rows: UpdateRow[] = [];
  for (const { seq, updates, bytes, begun } of begunRows) {
    const rowSlice = (from: number, count: number) => sql<{ data: Buffer }[]>`
      select substring(data from ${from}::integer for ${count}) as data from document_update
      where artifact_id = ${artifactId} and name = ${name} and seq = ${seq}`;
    const data = begun.byteLength === bytes ? begun : await readSlices(bytes, begun, rowSlice);
    if (data === undefined) return undefined;
    rows.push({ seq, updates, data });
  }
  return { head: { created_seq, snapshot_seq, seq: lastSeq, snapshot }, rows };
}
