/**
 * What the planner of the database knows of the tables that searches read. A server learns it by autovacuum, which may be minutes late or busy with
 * other tables, and the embedded database once a day: after many new pages searches would take seconds that take milliseconds afterwards.
 */
import type { Log } from '../../../../actors/runtime/ports.ts';
import type { Sql } from '../../../storage/sql.ts';

/** Fewer pages are found quickly by any plan. */
export const ANALYZED_FROM = 1000;
/** It waits for nobody, and nobody waits for it. */
const ANALYZE_MS_MAX = 120_000;

export class SearchStatistics {
  readonly #deps: { readonly sql: Sql; readonly log: Log };
  /** Documents to be written before it looks again; at first it looks at once, because what is there may have come by another way. */
  #left = 0;
  #looking: Promise<void> | undefined;

  constructor(deps: { readonly sql: Sql; readonly log: Log }) {
    this.#deps = deps;
  }

  /** Tells how many documents were written. What follows from it happens beside. */
  written(documents: number): void {
    this.#left -= documents;
    if (this.#left > 0 || this.#looking !== undefined) return;
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  async close(): Promise<void> {
    await this.#looking;
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    this.#left = ANALYZED_FROM;
    try {
      this.#left = await this.#analyzeGrown();
    } catch (err) {
      this.#deps.log.warn({ err }, 'the tables of the search could not be analyzed; it is tried again after more pages');
    }
  }

  /** Analyzes where there are twice as many documents as the planner knows of. Answers how many more there may be until the next look. */
  #analyzeGrown(): Promise<number> {
    return this.#deps.sql.begin(async (tx) => {
      const [lock] = await tx<{ isOurs: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended('search statistics', 0)) as "isOurs"`;
      if (!lock?.isOurs) return ANALYZED_FROM;
      // The planner's number is -1 before the first time. A role that owns no tables gets a warning, and the number stays.
      const [row] = await tx<{ there: number; known: number }[]>`
        select count(*) as there, (select reltuples::bigint from pg_class where oid = 'search_document'::regclass) as known
        from search_document`;
      const { there, known } = row ?? { there: 0, known: 0 };
      const due = Math.max(ANALYZED_FROM, 2 * known);
      if (there < due) return due - there;
      await tx`select set_config('statement_timeout', ${String(ANALYZE_MS_MAX)}, true)`;
      await tx`analyze search_document, search_word, artifact, data_table, dataset_version`;
      return Math.max(ANALYZED_FROM, there);
    });
  }
}
