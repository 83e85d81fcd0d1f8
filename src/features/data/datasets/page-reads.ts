/** Notes which datasets a page reads, for the lineage of the catalog: once a day for each, and no reader is named. */

import type { Log } from '../../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { Hosts } from '../../../edge/hosts.ts';
import type { Sql } from '../../../storage/sql.ts';
import { noteReader } from './rows.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Beyond it what was noted today is forgotten, and written once more. */
const NOTED_MAX = 10_000;
/** Further ones are noted at the next read. */
const WRITES_MAX = 8;

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
  readonly #noted = new Map<string, number>();
  readonly #writes = new Set<Promise<void>>();

  constructor(deps: PageReadsDeps) {
    this.#deps = deps;
    this.#hosts = new Hosts(deps.config.contentHost);
  }

  /** `dataset` is there. A script of the page calls from the page's own host, which serves its own data alone. */
  note({ artifactId, dataset, host, fetchSite, nowMs }: Read): void {
    if (fetchSite !== 'same-origin' || this.#hosts.classify(host).kind !== 'content') return;
    const key = `${artifactId} ${dataset}`;
    const day = Math.floor(nowMs / DAY_MS);
    if (this.#noted.get(key) === day || this.#writes.size >= WRITES_MAX) return;
    if (this.#noted.size >= NOTED_MAX) this.#noted.clear();
    this.#noted.set(key, day);
    const write = noteReader(this.#deps.sql, artifactId, dataset, nowMs)
      .catch((err) => {
        // The next read notes it.
        this.#noted.delete(key);
        this.#deps.log.warn({ err, artifactId }, 'that a page reads a dataset was not noted');
      })
      .finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  /** What is being written is written. */
  async drain(): Promise<void> {
    await Promise.all(this.#writes);
  }
}
