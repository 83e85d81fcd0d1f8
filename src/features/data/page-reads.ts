/** Notes which datasets a page reads, for the lineage of the catalog: once a day for each, and no reader is named. */

import type { Log } from '../../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { Hosts } from '../../../edge/hosts.ts';
import { DailyNotes } from '../../../platform/daily-notes.ts';
import type { Sql } from '../../../storage/sql.ts';
import { noteReader } from './rows.ts';

interface PageReadsDeps {
  readonly sql: Sql;
  readonly log: Log;
  readonly config: { readonly contentHost: string };
}

/** A read, as the call for it tells. */
interface Read {
  readonly artifactId: ArtifactId;
  readonly dataset: string;
  readonly host: string;
  readonly fetchSite: string;
  readonly nowMs: number;
}

export class PageReads {
  readonly #deps: PageReadsDeps;
  readonly #hosts: Hosts;
  readonly #notes = new DailyNotes();

  constructor(deps: PageReadsDeps) {
    this.#deps = deps;
    this.#hosts = new Hosts(deps.config.contentHost);
  }

  /** `dataset` is there. A script of the page calls from the page's own host, which serves its own data alone. */
  note({ artifactId, dataset, host, fetchSite, nowMs }: Read): void {
    if (fetchSite !== 'same-origin' || this.#hosts.classify(host).kind !== 'content') return;
    const { sql, log } = this.#deps;
    const key = `${artifactId} ${dataset}`;
    this.#notes.note([key], nowMs, () =>
      noteReader(sql, artifactId, dataset, nowMs).then(
        () => [key],
        (err) => {
          log.warn({ err, artifactId }, 'that a page reads a dataset was not noted');
          return [];
        },
      ),
    );
  }

  drain(): Promise<void> {
    return this.#notes.drain();
  }
}
