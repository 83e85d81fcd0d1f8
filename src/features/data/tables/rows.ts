/** SQL of stored rows and their index entries: purging them, and checking and indexing them for a new schema. */
import type { IndexedValue, StoredRow } from '../../../../actors/tables/changes.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { kindOf } from '../../../storage/live/tables/columns.ts';
import type { Queries } from '../../deps.ts';

/** One table as its rows are stored. */
export interface StoredTable {
  readonly artifactId: ArtifactId;
  readonly storedAs: string;
}

export interface IndexEntry {
  readonly rowId: string;
  readonly createdSeq: number;
  readonly column: string;
  readonly value: IndexedValue | null;
}

/** Deletes up to `limit` index entries of the artifact and returns how many. */
export async function deleteIndexEntries(sql: Queries, artifactId: ArtifactId, limit: number): Promise<number> {
  const { count } = await sql`
    delete from row_index where ctid = any(array(select ctid from row_index where artifact_id = ${artifactId} limit ${limit}))`;
  return count;
}

/** Deletes up to `limit` rows of the artifact and returns how many. */
export async function deleteRows(sql: Queries, artifactId: ArtifactId, limit: number): Promise<number> {
  const { count } = await sql`
    delete from table_row where ctid = any(array(select ctid from table_row where artifact_id = ${artifactId} limit ${limit}))`;
  return count;
}

export async function oldestDroppedTable(sql: Queries): Promise<StoredTable | undefined> {
  const [oldest] = await sql<StoredTable[]>`
    select artifact_id as "artifactId", stored_as as "storedAs" from dropped_table order by dropped_at_ms, artifact_id, stored_as limit 1`;
  return oldest;
}

/** Deletes up to `limit` index entries of the table, if it is still listed as dropped, and returns how many. */
export async function deleteDroppedIndexEntries(sql: Queries, { artifactId, storedAs }: StoredTable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from row_index where ctid = any(array(
      select i.ctid from dropped_table d join row_index i on i.artifact_id = d.artifact_id and i.table_name = d.stored_as
      where d.artifact_id = ${artifactId} and d.stored_as = ${storedAs} limit ${limit}))`;
  return count;
}

/** Deletes up to `limit` rows of the table, if it is still listed as dropped, and returns how many. */
export async function deleteDroppedRows(sql: Queries, { artifactId, storedAs }: StoredTable, limit: number): Promise<number> {
  const { count } = await sql`
    delete from table_row where ctid = any(array(
      select r.ctid from dropped_table d join table_row r on r.artifact_id = d.artifact_id and r.table_name = d.stored_as
      where d.artifact_id = ${artifactId} and d.stored_as = ${storedAs} limit ${limit}))`;
  return count;
}

/** Takes the table off the list of dropped ones; false if rows or index entries are left. */
export async function deleteDroppedTable(sql: Queries, { artifactId, storedAs }: StoredTable): Promise<boolean> {
  const { count } = await sql`
    delete from dropped_table d where d.artifact_id = ${artifactId} and d.stored_as = ${storedAs}
      and not exists (select 1 from table_row r where r.artifact_id = d.artifact_id and r.table_name = d.stored_as)
      and not exists (select 1 from row_index i where i.artifact_id = d.artifact_id and i.table_name = d.stored_as)`;
  return count > 0;
}

/** Held until the transaction ends, so that only one schema change at a time fills the index of a table. */
export async function lockTable(tx: Queries, { artifactId, storedAs }: StoredTable): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`${artifactId}/${storedAs}`}, 0))`;
}

export async function isOwnerEpoch(tx: Queries, artifactId: ArtifactId, epoch: number): Promise<boolean> {
  const [owner] = await tx`select 1 from artifact where id = ${artifactId} and owner_epoch = ${epoch}`;
  return owner !== undefined;
}

export async function deleteColumnIndexes(tx: Queries, { artifactId, storedAs }: StoredTable, columns: readonly string[]): Promise<void> {
  await tx`
    delete from row_index
    where artifact_id = ${artifactId} and table_name = ${storedAs} and column_name = any(${[...columns]}::text[])`;
}

export interface RowColumns {
  readonly after: number;
  readonly columns: readonly string[];
  readonly limit: number;
}

/** Rows inserted after `after`, in insertion order; `data` has only the named fields. */
export function readRowColumns(tx: Queries, { artifactId, storedAs }: StoredTable, { after, columns, limit }: RowColumns) {
  return tx<Pick<StoredRow, 'rowId' | 'data' | 'createdSeq'>[]>`
    select r.row_id as "rowId", r.created_seq as "createdSeq",
      coalesce((select jsonb_object_agg(n, r.data -> n) from unnest(${[...columns]}::text[]) as n where r.data ? n), '{}')::text as data
    from table_row r
    where r.artifact_id = ${artifactId} and r.table_name = ${storedAs} and r.created_seq > ${after}
    order by r.created_seq limit ${limit}`;
}

export async function insertIndexEntries(
  tx: Queries,
  { artifactId, storedAs }: StoredTable,
  entries: readonly IndexEntry[],
): Promise<void> {
  await tx`
    insert into row_index (artifact_id, table_name, column_name, kind, num, txt, row_id, created_seq)
    select ${artifactId}, ${storedAs}, e.col, e.kind::"char", e.num, e.txt, e.row_id, e.created_seq
    from unnest(
      ${entries.map(({ rowId }) => rowId)}::text[], ${entries.map(({ column }) => column)}::text[],
      ${entries.map(({ value }) => kindOf(value))}::text[],
      ${entries.map(({ value }) => (typeof value === 'number' ? value : null))}::double precision[],
      ${entries.map(({ value }) => (typeof value === 'number' || value === null ? null : String(value)))}::text[],
      ${entries.map(({ createdSeq }) => createdSeq)}::bigint[]
    ) as e (row_id, col, kind, num, txt, created_seq)`;
}
