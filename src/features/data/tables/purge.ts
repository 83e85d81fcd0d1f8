/** Removes rows that are no longer visible, in batches: rows of dropped tables, and rows of an artifact that is being deleted. */
import type { Log } from '../../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import {
  deleteDroppedIndexEntries,
  deleteDroppedRows,
  deleteDroppedTable,
  deleteIndexEntries,
  deleteRows,
  oldestDroppedTable,
  type StoredTable,
} from './rows.ts';

/** Rows in one statement: it takes some tens of milliseconds, so that it delays no other query for longer. */
const BATCH_ROWS = 1000;

/**
 * Removes the rows of an artifact that is being deleted and that nothing writes any more. There is no foreign key to cascade: checking it
 * would cost each insert more than the insert itself. Returns false if `signal` stopped it before everything was removed.
 */
export async function purgeRows(sql: Queries, id: ArtifactId, signal: AbortSignal): Promise<boolean> {
  return (
    (await purgeAll(() => deleteIndexEntries(sql, id, BATCH_ROWS), signal)) &&
    (await purgeAll(() => deleteRows(sql, id, BATCH_ROWS), signal))
  );
}

async function purgeAll(purgeBatch: () => Promise<number>, signal: AbortSignal): Promise<boolean> {
  let purged = BATCH_ROWS;
  while (purged === BATCH_ROWS) {
    if (signal.aborted) return false;
    purged = await purgeBatch();
  }
  return true;
}

/**
 * Removes the rows of all dropped tables and returns how many tables it finished before `signal` stopped it. It may run beside another
 * purge, drops and new tables: each statement removes rows only while their table is listed as dropped, and no new table is stored under
 * a listed name.
 */
export async function purgeDroppedTables(sql: Queries, signal: AbortSignal): Promise<number> {
  let done = 0;
  for (let dropped = await oldestDroppedTable(sql); dropped !== undefined; dropped = await oldestDroppedTable(sql)) {
    if (!(await purgeDropped(sql, dropped, signal))) break;
    done += 1;
  }
  return done;
}

/** False if rows are left, because another purge is removing them or `signal` stopped this one. */
async function purgeDropped(sql: Queries, dropped: StoredTable, signal: AbortSignal): Promise<boolean> {
  while ((await deleteDroppedIndexEntries(sql, dropped, BATCH_ROWS)) > 0 || (await deleteDroppedRows(sql, dropped, BATCH_ROWS)) > 0) {
    if (signal.aborted) return false;
  }
  return deleteDroppedTable(sql, dropped);
}

/** Purges dropped tables right after each drop. The daily sweep purges what is left after a failure or a stop. */
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

  /** Call after a table was dropped. */
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
        this.#log.error({ err: error }, 'failed to purge the rows of dropped tables; the daily sweep tries again');
      }
    }
    this.#running = undefined;
  }
}
