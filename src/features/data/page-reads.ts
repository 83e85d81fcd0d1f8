/** Notes which tables and datasets a page reads, for the lineage of the catalog: once a day for each, and no reader is named. */

import type { Log } from '../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import { Hosts } from '../../edge/hosts.ts';
import { DailyNotes } from '../../platform/daily-notes.ts';
import type { Sql } from '../../storage/sql.ts';
import { notePageRead, type ReadKind } from './page-read-rows.ts';

interface PageReadsDeps {
  readonly sql: Sql;
  readonly log: Log;
  readonly config: { readonly contentHost: string };
}

/** A read, as the call for it tells. */
interface Read {
  readonly artifactId: ArtifactId;
  /** Of the table or dataset. */
  readonly name: string;
  readonly host: string;
  readonly fetchSite: string;
  readonly nowMs: number;
}

export class PageReads {
  readonly #deps: PageReadsDeps;
  readonly #kind: ReadKind;
  readonly #hosts: Hosts;
  readonly #notes = new DailyNotes();

  constructor(deps: PageReadsDeps, kind: ReadKind) {
    this.#deps = deps;
    this.#kind = kind;
    this.#hosts = new Hosts(deps.config.contentHost);
  }

  /** A script of the page calls from the page's own host, which serves its own data alone. */
  note({ artifactId, name, host, fetchSite, nowMs }: Read): void {
    if (fetchSite !== 'same-origin' || this.#hosts.classify(host).kind !== 'content') return;
    const { sql, log } = this.#deps;
    const key = `${artifactId} ${name}`;
    this.#notes.note([key], nowMs, () =>
      notePageRead(sql, { artifactId, kind: this.#kind, name }, nowMs).then(
        () => [key],
        (err) => {
          log.warn({ err, artifactId }, `that a page reads a ${this.#kind} was not noted`);
          return [];
        },
      ),
    );
  }

  drain(): Promise<void> {
    return this.#notes.drain();
  }
}
