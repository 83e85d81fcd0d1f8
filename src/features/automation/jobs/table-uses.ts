/** Notes which tables the scripts of jobs read and write, for the lineage of the catalog: once a day for each, and never while a run waits. */
import type { Log } from '../../../../actors/runtime/ports.ts';
import { DailyNotes } from '../../../platform/daily-notes.ts';
import type { Sql } from '../../../storage/sql.ts';
import type { JobRow } from './rows.ts';
import { noteTableUses, type TableUse } from './table-use-rows.ts';

interface TableUsesDeps {
  readonly sql: Sql;
  readonly log: Log;
}

export class TableUses {
  readonly #deps: TableUsesDeps;
  readonly #notes = new DailyNotes();

  constructor(deps: TableUsesDeps) {
    this.#deps = deps;
  }

  /** `job`: as it was when its run began. */
  note(job: JobRow, uses: readonly TableUse[], nowMs: number): void {
    const { sql, log } = this.#deps;
    // A changed job is noted anew, because the change forgets what its script before has used.
    const keyOf = ({ name, use }: TableUse) => `${job.id} ${job.updated_at_ms} ${use} ${name}`;
    this.#notes.note(uses.map(keyOf), nowMs, (fresh) => {
      const unnoted = uses.filter((one) => fresh.has(keyOf(one)));
      return noteTableUses(sql, job, unnoted, nowMs).then(
        (stored) => stored.map(keyOf),
        (err) => {
          log.warn({ err, jobId: job.id }, 'which tables the script of a job uses was not noted');
          return [];
        },
      );
    });
  }

  drain(): Promise<void> {
    return this.#notes.drain();
  }
}
