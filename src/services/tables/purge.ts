/** Removes rows that nobody sees any more, in pieces: those of dropped tables, and those of an artifact that is to go. */
import type { Log } from '../../../actors/ports.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import type { Queries } from '../deps.ts';

/** Rows in one statement: some tens of milliseconds, so that nobody waits for it. */
const ROWS_AT_ONCE = 1000;

/**
 * Removes the rows of an artifact that is to go. No foreign key does it: its check would cost every insert more than the insert.
 * False when `signal` ended it before everything was gone. Nobody may write the artifact any more.
 */
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

interface Dropped {
  readonly artifactId: ArtifactId;
  readonly storedAs: string;
}

/**
 * Removes the rows of all tables dropped so far, and answers how many tables it was done with before `signal` ended it. Safe beside
 * another one, and beside drops and new tables: a statement finds rows only while it finds their table among the dropped, and no table
 * is stored under a name that is among them.
 */
export async function purgeDroppedTables(sql: Queries, signal: AbortSignal): Promise<number> {
  let done = 0;
  for (let dropped = await oldestDropped(sql); dropped !== undefined; dropped = await oldestDropped(sql)) {
    if (!(await purgeDropped(sql, dropped, signal))) break;
    done += 1;
  }
  return done;
}

/** False where something is left: another purge is removing it, or `signal` ended this one. */
async function purgeDropped(sql: Queries, dropped: Dropped, signal: AbortSignal): Promise<boolean> {
  while ((await purgeDroppedIndex(sql, dropped)) > 0 || (await purgeDroppedRows(sql, dropped)) > 0) {
    if (signal.aborted) return false;
  }
  return forgetDropped(sql, dropped);
}

async function oldestDropped(sql: Queries): Promise<Dropped | undefined> {
  const [oldest] = await sql<Dropped[]>`
    select artifact_id as "artifactId", stored_as as "storedAs" from dropped_table order by dropped_at_ms, artifact_id, stored_as limit 1`;
  return oldest;
}

async function purgeDroppedIndex(sql: Queries, { artifactId, storedAs }: Dropped): Promise<number> {
  return (
    await sql`
    delete from row_index where ctid = any(array(
      select i.ctid from dropped_table d join row_index i on i.artifact_id = d.artifact_id and i.table_name = d.stored_as
      where d.artifact_id = ${artifactId} and d.stored_as = ${storedAs} limit ${ROWS_AT_ONCE}))`
  ).count;
}

async function purgeDroppedRows(sql: Queries, { artifactId, storedAs }: Dropped): Promise<number> {
  return (
    await sql`
    delete from table_row where ctid = any(array(
      select r.ctid from dropped_table d join table_row r on r.artifact_id = d.artifact_id and r.table_name = d.stored_as
      where d.artifact_id = ${artifactId} and d.stored_as = ${storedAs} limit ${ROWS_AT_ONCE}))`
  ).count;
}

async function forgetDropped(sql: Queries, { artifactId, storedAs }: Dropped): Promise<boolean> {
  const { count } = await sql`
    delete from dropped_table d where d.artifact_id = ${artifactId} and d.stored_as = ${storedAs}
      and not exists (select 1 from table_row r where r.artifact_id = d.artifact_id and r.table_name = d.stored_as)
      and not exists (select 1 from row_index i where i.artifact_id = d.artifact_id and i.table_name = d.stored_as)`;
  return count > 0;
}

/** Purges dropped tables soon after each drop. What it does not get to, or what fails, is the daily sweep's. */
export class TablePurge {
  readonly #sql: Queries;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #isWanted = false;

  constructor({ sql, log }: { readonly sql: Queries; readonly log: Log }) {
    this.#sql = sql;
    this.#log = log;
  }

  /** A table was dropped. */
  wake(): void {
    this.#isWanted = true;
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#stopping.signal.aborted) {
      this.#isWanted = false;
      try {
        await purgeDroppedTables(this.#sql, this.#stopping.signal);
      } catch (error) {
        this.#log.error({ err: error }, 'the rows of dropped tables could not be removed now');
      }
    }
    this.#running = undefined;
  }
}
