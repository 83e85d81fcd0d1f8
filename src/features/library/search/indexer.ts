/**
 * Indexes what has changed. The queue is a table which a trigger fills in the transaction of each change, so that no crash loses one; the bus
 * only says which artifacts to look at now. What nobody was told of is found at the start and every minute.
 */
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { type Bus, onArtifact } from '../../../platform/bus.ts';
import { loopTurns } from '../../../platform/loop-turns.ts';
import { sqlState } from '../../../storage/sql.ts';
import type { ServiceDeps } from '../../deps.ts';
import { documentWords } from './document-words.ts';
import { claimTurns, countTurns, endTurn, postponeTurn, queueAll, readSource, type Turn, writeDocument, writeSpelt } from './index-rows.ts';
import { readPages } from './reading.ts';

export interface IndexerDeps extends Pick<ServiceDeps, 'sql' | 'objects'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
}

/** Longer than an artifact takes, so that a lease only ends early when its process has died. */
const LEASE_S = 120;
const LOOK_EVERY_MS = 60_000;
const GATHER_MS = 20;
const AT_ONCE = 16;
/** Most of the time of each is waiting for the database, whose other connections are for callers. */
const WRITERS = 3;
const TOLD_MAX = 10_000;
const RETRY_MS = 2000;
const RETRY_MAX_MS = 3600_000;
const QUEUED_AT_ONCE = 500;
const QUEUE_ATTEMPTS_MAX = 5;
const DEADLOCK = '40P01';
const SPELT_KNOWN_MAX = 200_000;

export class Indexer {
  readonly #deps: IndexerDeps;
  readonly #stopping = new AbortController();
  /** Artifacts that the bus has told of. */
  #told = new Set<ArtifactId>();
  #looksAtAll = true;
  #gathering: Timer | undefined;
  #looking: Timer | undefined;
  #pass: Promise<void> | undefined;
  /** Words that are known to be in the table, so that most of them are not written again. */
  readonly #spelt = new Set<string>();

  constructor(deps: IndexerDeps) {
    this.#deps = deps;
    const { 'artifact.changed': changed, 'artifact.replaced': replaced } = onArtifact(({ artifactId }) => this.#hear(artifactId));
    deps.bus.listen('search', {
      ...(changed && { 'artifact.changed': changed }),
      ...(replaced && { 'artifact.replaced': replaced }),
      resync: () => this.lookAtAll(),
    });
  }

  start(): void {
    this.lookAtAll();
  }

  /** Looks at the whole queue. */
  lookAtAll(): void {
    this.#looksAtAll = true;
    this.#gather();
  }

  /** Queues every artifact anew, and answers how many wait then. */
  async rebuild(): Promise<number> {
    const { sql } = this.#deps;
    let last = await this.#queueSome(null);
    while (last !== null) last = await this.#queueSome(last);
    const queued = await countTurns(sql);
    this.lookAtAll();
    return queued;
  }

  /** A change of many artifacts queues them in an order of its own, so that the two may wait for each other. */
  async #queueSome(after: ArtifactId | null): Promise<ArtifactId | null> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await queueAll(this.#deps.sql, after, QUEUED_AT_ONCE);
      } catch (error) {
        if (sqlState(error) !== DEADLOCK || attempt === QUEUE_ATTEMPTS_MAX) throw error;
      }
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort(new Error('the service stops'));
    this.#gathering?.cancel();
    this.#looking?.cancel();
    await this.#pass;
  }

  #hear(id: ArtifactId): void {
    if (this.#told.size < TOLD_MAX) this.#told.add(id);
    else this.#looksAtAll = true;
    this.#gather();
  }

  #gather(): void {
    if (this.#stopping.signal.aborted || this.#pass !== undefined || this.#gathering !== undefined) return;
    this.#gathering = this.#deps.clock.after(GATHER_MS, () => {
      this.#gathering = undefined;
      this.#run();
    });
  }

  #run(): void {
    if (this.#stopping.signal.aborted) return;
    this.#pass ??= this.#indexAll().finally(() => {
      this.#pass = undefined;
      if (this.#told.size > 0 || this.#looksAtAll) this.#gather();
    });
  }

  /** Never rejects. */
  async #indexAll(): Promise<void> {
    const { clock, log } = this.#deps;
    const looksAtAll = this.#looksAtAll;
    this.#looksAtAll = false;
    try {
      await this.#indexTold();
      // A backlog, which may take hours, does not hold up what changes meanwhile.
      while (looksAtAll && (await this.#indexSome(null)) > 0) await this.#indexTold();
    } catch (err) {
      if (!this.#stopping.signal.aborted)
        log.warn({ err }, 'the queue of the search index could not be read or written; it is again in a minute');
    }
    this.#looking?.cancel();
    if (!this.#stopping.signal.aborted) this.#looking = clock.after(LOOK_EVERY_MS, () => this.lookAtAll());
  }

  async #indexTold(): Promise<void> {
    const told = [...this.#told];
    this.#told = new Set();
    for (let at = 0; at < told.length; at += AT_ONCE) await this.#indexSome(told.slice(at, at + AT_ONCE));
  }

  /** Answers how many it has looked at. */
  async #indexSome(of: readonly ArtifactId[] | null): Promise<number> {
    this.#stopping.signal.throwIfAborted();
    const { sql, clock } = this.#deps;
    const turns = await claimTurns(sql, of, clock.nowMs(), LEASE_S, AT_ONCE);
    const waiting = [...turns];
    const work = async () => {
      for (let turn = waiting.shift(); turn !== undefined; turn = waiting.shift()) await this.#index(turn);
    };
    // A rejection ends the pass when those that have begun are over, so that no turn is written after the end.
    const ended = await Promise.allSettled(Array.from({ length: WRITERS }, work));
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
    return turns.length;
  }

  async #index(turn: Turn): Promise<void> {
    const { sql, clock, log } = this.#deps;
    try {
      await this.#write(turn);
      // Changed meanwhile: it is looked at again.
      if (!(await endTurn(sql, turn))) this.#told.add(turn.artifactId);
    } catch (err) {
      const isStopping = this.#stopping.signal.aborted;
      const dueAtMs = isStopping ? 0 : clock.nowMs() + Math.min(RETRY_MS * 2 ** turn.attempts, RETRY_MAX_MS);
      await postponeTurn(sql, turn, dueAtMs);
      if (isStopping) throw err;
      // Without the error itself: a refused statement of Postgres carries the text of the page.
      log.warn(
        { code: codeOf(err), artifactId: turn.artifactId, attempts: turn.attempts },
        'an artifact could not be indexed; it is tried again',
      );
    }
  }

  async #write(turn: Turn): Promise<void> {
    const { sql, clock } = this.#deps;
    const source = await readSource(sql, turn.artifactId);
    if (source === null) return;
    const { version_id: versionId, entrypoint } = source;
    const { signal } = this.#stopping;
    const read =
      versionId === null || entrypoint === null ? { titles: [], pieces: [] } : await readPages(this.#deps, versionId, entrypoint, signal);
    const titles = [source.social_title ?? '', source.social_description ?? '', ...read.titles];
    await loopTurns.next('search');
    const words = documentWords({ name: source.name, slug: source.slug, titles }, read.pieces);
    // First, so that the page is never found by a misspelt word only because another page says the word too.
    await this.#writeSpelt(words.spelt);
    await writeDocument(sql, { turn, versionId, words, pieces: read.pieces, nowMs: clock.nowMs() });
  }

  async #writeSpelt(words: readonly string[]): Promise<void> {
    const unknown = words.filter((word) => !this.#spelt.has(word));
    if (unknown.length === 0) return;
    await writeSpelt(this.#deps.sql, unknown);
    if (this.#spelt.size + unknown.length > SPELT_KNOWN_MAX) this.#spelt.clear();
    for (const word of unknown) this.#spelt.add(word);
  }
}

function codeOf(err: unknown): string {
  if (!(err instanceof Error)) return 'unknown';
  return 'code' in err && typeof err.code === 'string' ? err.code : err.name;
}
