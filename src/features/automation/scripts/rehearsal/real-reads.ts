/** Reads of the real artifact, from which a rehearsal takes what it is going to change. */
import { z } from 'zod';
import type { StoredKey } from '../../../../../actors/json/changes.ts';
import type { StoredRow, StoredTable } from '../../../../../actors/tables/changes.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { jsonEntry, jsonList } from '../../../../../protocol/data/json-keys.ts';
import { tablePage } from '../../../../../protocol/data/table-queries.ts';
import { tableSchema } from '../../../../../protocol/data/tables.ts';
import { viewer } from '../../../../../protocol/data/viewer.ts';
import type { ScriptWorld, WorldReply } from '../world.ts';

/** Tables with more rows cannot be changed in a rehearsal. */
const TABLE_ROWS_MAX = 10_000;
const KEYS_PAGE = 100;

/** The real artifact refused a read that the rehearsal needs: the caller gets that answer. */
export class Refused extends Error {
  readonly reply: WorldReply;

  constructor(reply: WorldReply) {
    super('the real artifact refused a read');
    this.reply = reply;
  }
}

export type Viewer = z.output<typeof viewer>;

export class RealReads {
  readonly #real: Pick<ScriptWorld, 'call'>;

  constructor(real: Pick<ScriptWorld, 'call'>) {
    this.#real = real;
  }

  /** What the caller may do there. */
  async viewer(): Promise<Viewer> {
    return dataOf(viewer, await this.#real.call({ method: 'GET', path: '/viewer' }));
  }

  /** Undefined where there is no such key. */
  async key(key: string, seq: () => number): Promise<(StoredKey & { readonly value: string }) | undefined> {
    const reply = await this.#real.call({ method: 'GET', path: `/json/${encodeURIComponent(key)}` });
    if (isMissing(reply, 'KEY_NOT_FOUND')) return undefined;
    return keyOf(dataOf(jsonEntry, reply), seq());
  }

  async keyCount(): Promise<number> {
    return dataOf(jsonList, await this.#real.call({ method: 'GET', path: '/json?limit=1' })).count;
  }

  /** All keys with a prefix, with their values. */
  async *keys(prefix: string, seq: () => number): AsyncGenerator<StoredKey & { readonly value: string }> {
    let cursor = '';
    do {
      const query = new URLSearchParams({ prefix, limit: String(KEYS_PAGE), values: 'true', ...(cursor !== '' && { cursor }) });
      const { entries = [], nextCursor } = dataOf(jsonList, await this.#real.call({ method: 'GET', path: `/json?${query}` }));
      for (const entry of entries) yield keyOf(entry, seq());
      cursor = nextCursor ?? '';
    } while (cursor !== '');
  }

  async tableCount(): Promise<number> {
    const list = z.object({ tables: z.array(z.unknown()) });
    return dataOf(list, await this.#real.call({ method: 'GET', path: '/tables' })).tables.length;
  }

  /** Undefined where there is no such table. Throws TOO_MANY_ROWS where it is too large to be loaded. */
  async table(name: string, seq: () => number): Promise<{ readonly table: StoredTable; readonly rows: readonly StoredRow[] } | undefined> {
    const path = `/tables/${encodeURIComponent(name)}`;
    const schemaReply = await this.#real.call({ method: 'GET', path: `${path}/_schema` });
    if (isMissing(schemaReply, 'TABLE_NOT_FOUND')) return undefined;
    const schema = JSON.stringify(dataOf(tableSchema, schemaReply));
    const tableSeq = seq();
    const rows: StoredRow[] = [];
    let cursor: string | undefined;
    do {
      const body = { sort: 'createdAt', limit: LIMITS.rowsPageMax, ...(cursor !== undefined && { cursor }) };
      const page = dataOf(tablePage, await this.#real.call({ method: 'POST', path: `${path}/query`, body }));
      for (const row of page.rows) rows.push(storedRow(row, seq()));
      if (rows.length > TABLE_ROWS_MAX || (rows.length === TABLE_ROWS_MAX && page.hasMore)) throw tooManyRows(name);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    const createdAtMs = rows[0]?.createdAtMs ?? 0;
    const updatedAtMs = rows.reduce((latest, row) => Math.max(latest, row.updatedAtMs), 0);
    return { table: { name, storedAs: name, schema, rowCount: rows.length, seq: tableSeq, createdAtMs, updatedAtMs }, rows };
  }
}

function tooManyRows(name: string): Failure {
  return new Failure('TOO_MANY_ROWS', {
    message: `A rehearsal can change tables of at most ${TABLE_ROWS_MAX} rows; ${name} has more.`,
    hint: 'Rehearse with a smaller table, or run the job.',
  });
}

function keyOf({ key, value, updatedAt }: z.output<typeof jsonEntry>, seq: number): StoredKey & { readonly value: string } {
  const text = JSON.stringify(value);
  const atMs = Date.parse(updatedAt);
  // The API does not tell when a key expires; a rehearsal is over before that.
  return { key, value: text, sizeBytes: Buffer.byteLength(text), seq, createdAtMs: atMs, updatedAtMs: atMs, expiresAtMs: null };
}

function storedRow(row: Readonly<Record<string, unknown>>, seq: number): StoredRow {
  const { id, createdAt, updatedAt, ...fields } = row;
  return {
    rowId: String(id),
    data: JSON.stringify(fields),
    seq,
    createdSeq: seq,
    createdAtMs: Date.parse(String(createdAt)),
    updatedAtMs: Date.parse(String(updatedAt)),
  };
}

function isMissing({ status, body }: WorldReply, code: string): boolean {
  return status === 404 && (body as { code?: unknown } | undefined)?.code === code;
}

function dataOf<S extends z.ZodType>(schema: S, reply: WorldReply): z.output<S> {
  if (reply.status !== 200) throw new Refused(reply);
  return schema.parse((reply.body as { data?: unknown } | undefined)?.data);
}
