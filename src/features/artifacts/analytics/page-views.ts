/** Notes page views in memory, for one look at a map on the way of a page, and writes them in batches: no visitor waits for it. */
import { createHash } from 'node:crypto';
import { isbot } from 'isbot';
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { networkOf } from '../../../edge/address.ts';
import { BoundedMap } from '../../../platform/cache.ts';
import { loopTurns } from '../../../platform/loop-turns.ts';
import { type Refusals, Shares } from '../../../platform/shares.ts';
import type { Sql } from '../../../storage/sql.ts';
import { addViews, type CountedDay, lockDays } from './rows.ts';
import { dayOf } from './rules.ts';
import type { DailySalts } from './salts.ts';
import { VisitorSketch } from './sketch.ts';

const FLUSH_MS = 5000;
const USER_AGENT_CHARS_MAX = 300;
const USER_AGENTS_KNOWN_MAX = 2000;
/** Digests made in one slice of the event loop, some 2 ms. */
const DIGESTS_AT_ONCE = 500;
/** Rows of one transaction. */
const DAYS_AT_ONCE = 200;
const RESOURCE = 'page views';

/** What is told of a view. Read at once: the request does not outlive the call. */
export interface PageView {
  readonly address: string;
  header(name: string): string;
}

/** The views of one visitor on one day, until they are written. The address does not leave memory. */
interface Waiting {
  readonly artifactId: ArtifactId;
  readonly day: number;
  readonly network: string;
  readonly userAgent: string;
  views: number;
}

interface Day extends CountedDay {
  views: number;
  readonly sketch: VisitorSketch;
  readonly from: (readonly [key: string, waiting: Waiting])[];
}

export interface PageViewsDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly refusals: Refusals;
  readonly salts: DailySalts;
}

export class PageViews {
  readonly #deps: PageViewsDeps;
  readonly #bots = new BoundedMap<string, boolean>(USER_AGENTS_KNOWN_MAX);
  readonly #shares = new Shares({
    total: LIMITS.viewersWaitingMax,
    network: LIMITS.viewersWaitingPerNetworkMax,
    artifact: LIMITS.viewersWaitingPerArtifactMax,
    caller: Number.POSITIVE_INFINITY,
  });
  /** By day, artifact and visitor. */
  #waiting = new Map<string, Waiting>();
  #timer: Timer | undefined;
  #flushing: Promise<void> = Promise.resolve();
  readonly #listeners: ((ids: readonly ArtifactId[]) => void)[] = [];

  constructor(deps: PageViewsDeps) {
    this.#deps = deps;
  }

  /** Visitors whose views wait to be written. */
  get waiting(): number {
    return this.#shares.total;
  }

  /** Hears of artifacts whose views have been written by this process. Must not throw. */
  onStored(listener: (ids: readonly ArtifactId[]) => void): void {
    this.#listeners.push(listener);
  }

  /** Somebody has opened a page. Bots and what is beyond a share do not count. */
  note(artifactId: ArtifactId, view: PageView): void {
    const userAgent = view.header('user-agent').slice(0, USER_AGENT_CHARS_MAX);
    if (userAgent === '' || this.#isBot(userAgent)) return;
    const network = networkOf(view.address);
    const day = dayOf(this.#deps.clock.nowMs());
    this.#add(`${day} ${artifactId} ${network} ${userAgent}`, { artifactId, day, network, userAgent, views: 1 });
    this.#timer ??= this.#deps.clock.after(FLUSH_MS, () => void this.flush());
  }

  #add(key: string, waiting: Waiting): void {
    const { refusals } = this.#deps;
    const known = this.#waiting.get(key);
    if (known === undefined) {
      const exhausted = this.#shares.take(1, { network: waiting.network, artifact: waiting.artifactId });
      if (exhausted === undefined) this.#waiting.set(key, waiting);
      else refusals.refused(RESOURCE, exhausted);
    } else if (known.views < LIMITS.viewsWaitingPerViewerMax) {
      known.views += waiting.views;
    } else {
      refusals.refused(RESOURCE, 'caller');
    }
  }

  #isBot(userAgent: string): boolean {
    const known = this.#bots.get(userAgent);
    if (known !== undefined) return known;
    const isBot = isbot(userAgent);
    this.#bots.set(userAgent, isBot);
    return isBot;
  }

  /** Settles when everything that was noted before is written, or waits for another try because the database has failed. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const taken = this.#waiting;
    if (taken.size === 0) return;
    this.#waiting = new Map();
    try {
      const days = await this.#counted(taken);
      for (let at = 0; at < days.length; at += DAYS_AT_ONCE) {
        const some = days.slice(at, at + DAYS_AT_ONCE);
        await this.#store(some);
        for (const listener of this.#listeners) listener(some.map(({ artifactId }) => artifactId));
        for (const { from } of some) {
          for (const [key, waiting] of from) {
            taken.delete(key);
            this.#release(waiting);
          }
        }
      }
    } catch (err) {
      // What has perhaps been stored before the connection broke counts twice then. They are statistics.
      this.#deps.log.warn({ err, visitors: taken.size }, 'page views were not written and are tried again');
      for (const [key, waiting] of taken) {
        this.#release(waiting);
        this.#add(key, waiting);
      }
      this.#timer ??= this.#deps.clock.after(FLUSH_MS, () => void this.flush());
    }
  }

  #release({ network, artifactId }: Waiting): void {
    this.#shares.give(1, { network, artifact: artifactId });
  }

  async #counted(taken: ReadonlyMap<string, Waiting>): Promise<Day[]> {
    const days = new Map<string, Day>();
    let made = 0;
    for (const entry of taken) {
      if (made++ % DIGESTS_AT_ONCE === 0) await loopTurns.next(RESOURCE);
      const { artifactId, day, network, userAgent, views } = entry[1];
      const salt = await this.#deps.salts.of(day);
      const name = `${day} ${artifactId}`;
      const known = days.get(name) ?? { artifactId, day, views: 0, sketch: new VisitorSketch(), from: [] };
      days.set(name, known);
      known.views += views;
      known.from.push(entry);
      const digest = createHash('sha256').update(salt).update(`${artifactId} ${network} ${userAgent}`).digest();
      known.sketch.add(digest.readBigUInt64BE());
    }
    return [...days.values()];
  }

  /** Adds to what is stored, which other processes add to as well. */
  async #store(days: readonly Day[]): Promise<void> {
    await this.#deps.sql.begin(async (tx) => {
      const stored = new Map((await lockDays(tx, days)).map((row) => [`${row.day} ${row.artifact_id}`, row.sketch]));
      const merged = days.flatMap(({ artifactId, day, views, sketch }) => {
        const there = stored.get(`${day} ${artifactId}`);
        // It was purged meanwhile.
        if (there === undefined) return [];
        sketch.merge(there);
        return [{ artifactId, day, views, visitors: sketch.count(), sketch: sketch.bytes() }];
      });
      await addViews(tx, merged);
    });
  }
}
