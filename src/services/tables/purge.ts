/** Removes the rows of an artifact that is to go. No foreign key does it: its check would cost every insert more than the insert. */
import type { ArtifactId } from '../../../protocol/ids.ts';
import type { Queries } from '../deps.ts';

/** Rows in one statement: some tens of milliseconds, so that nobody waits for it. */
const ROWS_AT_ONCE = 5000;

/** False when `signal` ended it before everything was gone. Nobody may write the artifact any more. */
export async function purgeRows(sql: Queries, id: ArtifactId, signal: AbortSignal): Promise<boolean> {
  return (await purgeAll(() => purgeIndex(sql, id), signal)) && (await purgeAll(() => purgeTables(sql, id), signal));
}

async function purgeAll(purgeSome: () => Promise<number>, signal: AbortSignal): Promise<boolean> {
  let purged = ROWS_AT_ONCE;
  while (purged === ROWS_AT_ONCE) {
    if (signal.aborted) return false;
    purged = await purgeSome();
  }
  return true;
}

async function purgeIndex(sql: Queries, id: ArtifactId): Promise<number> {
  return (
    await sql`
    delete from row_index where ctid = any(array(select ctid from row_index where artifact_id = ${id} limit ${ROWS_AT_ONCE}))`
  ).count;
}

async function purgeTables(sql: Queries, id: ArtifactId): Promise<number> {
  return (
    await sql`
    delete from table_row where ctid = any(array(select ctid from table_row where artifact_id = ${id} limit ${ROWS_AT_ONCE}))`
  ).count;
}
