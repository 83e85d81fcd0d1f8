/** The committer, one a process: while a commit is in flight the changes of all actors collect, and the next commit takes them all. */
import { Failure } from '../protocol/errors.ts';
import type { ArtifactBatch, BatchOutcome, Clock, JournalStore, Log, RuntimeMeter, Timer } from './ports.ts';

// Changes not yet committed in the whole process. At the limit new writes are refused with UNAVAILABLE.
// Some 200 ms of what the store takes: more would only make everybody wait longer for the same answer.
const PENDING_CHANGES_MAX = 10_000;
const PENDING_BYTES_MAX = 64 * 1024 * 1024;
const RETRY_AFTER_S = 1;

// After a failed commit the next one waits, longer each time, so that a store in trouble is not hammered.
const BACKOFF_FIRST_MS = 50;
const BACKOFF_MAX_MS = 2000;

/**
 * From the beginning of one commit to that of the next where all that has come can wait. A commit costs the same for one change as for ten,
 * and what is typed comes one by one.
 */
const PATIENCE_MS = 4;

/** `now`: somebody does nothing else until it is committed. `soon`: it may wait for others, a few milliseconds. */
export type Haste = 'now' | 'soon';

/** What is not yet committed and who waits for it, over all actors. */
export class Backlog {
  changes = 0;
  bytes = 0;
  /** Callers whose answer is held back until what it saw is committed. */
  callers = 0;

  /** Throws UNAVAILABLE when there is no room for another change. */
  admit(): void {
    if (this.changes >= PENDING_CHANGES_MAX || this.bytes >= PENDING_BYTES_MAX) {
      throw new Failure('UNAVAILABLE', { message: 'Too many changes are waiting to be stored.', retryAfterS: RETRY_AFTER_S });
    }
  }
}

/** What the committer sees of an actor. */
export interface Committing {
  /** Waits in the committer's queue; the committer's own. */
  enlisted: boolean;
  /** Everything not yet handed over, which is in flight from now on; undefined when there is nothing. */
  takeBatch(): ArtifactBatch | undefined;
  /** The batch last taken is durable. */
  committed(): void;
}

/** Told what became of actors whose batch did not simply go in; each must be stopped. */
export interface CommitLosses<A> {
  /** Whether it was written is not known. */
  unknown(actor: A): void;
  fenced(actor: A): void;
  poisoned(actor: A, cause: Error): void;
}

export class Committer<A extends Committing> {
  readonly #journal: JournalStore;
  readonly #clock: Clock;
  readonly #meter: RuntimeMeter;
  readonly #log: Log;
  readonly #losses: CommitLosses<A>;
  #queue: A[] = [];
  #running = false;
  #backoffMs = 0;
  #startedMs = Number.NEGATIVE_INFINITY;
  /** All that is queued can wait. */
  #isPatient = true;
  /** Ends the wait of the patient. */
  #hurry: (() => void) | undefined;

  constructor(deps: { journal: JournalStore; clock: Clock; meter: RuntimeMeter; log: Log; losses: CommitLosses<A> }) {
    this.#journal = deps.journal;
    this.#clock = deps.clock;
    this.#meter = deps.meter;
    this.#log = deps.log;
    this.#losses = deps.losses;
  }

  /** The actor has something to commit. Called again with `now` what it has does not wait any more. */
  enlist(actor: A, haste: Haste): void {
    if (haste === 'now') {
      this.#isPatient = false;
      this.#hurry?.();
    }
    if (actor.enlisted) return;
    actor.enlisted = true;
    this.#queue.push(actor);
    if (this.#running) return;
    this.#running = true;
    // Turns that run one after another without waiting (a batch, callers that shared a load) go into one commit.
    queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      if (this.#isPatient) await this.#collect();
      const queue = this.#queue;
      this.#queue = [];
      this.#isPatient = true;
      const taken: A[] = [];
      const batches: ArtifactBatch[] = [];
      for (const actor of queue) {
        actor.enlisted = false;
        const batch = actor.takeBatch();
        if (batch === undefined) continue;
        taken.push(actor);
        batches.push(batch);
      }
      if (batches.length > 0) await this.#commit(taken, batches);
    }
    this.#running = false;
  }

  /** Until the last commit began long enough ago, or somebody hurries. */
  #collect(): Promise<void> | undefined {
    const waitMs = this.#startedMs + PATIENCE_MS - this.#clock.monotonicMs();
    if (waitMs <= 0) return undefined;
    return new Promise((resolve) => {
      let timer: Timer | undefined;
      this.#hurry = () => {
        this.#hurry = undefined;
        timer?.cancel();
        resolve();
      };
      timer = this.#clock.after(waitMs, () => this.#hurry?.());
    });
  }

  async #commit(taken: readonly A[], batches: readonly ArtifactBatch[]): Promise<void> {
    const startedMs = this.#clock.monotonicMs();
    this.#startedMs = startedMs;
    const changes = batches.reduce((sum, batch) => sum + batch.changes.length, 0);
    let outcomes: readonly BatchOutcome[] | undefined;
    try {
      outcomes = await this.#journal.commit(batches);
    } catch (error) {
      this.#log.error({ err: error, artifacts: batches.length, changes }, 'commit failed, its outcome is unknown');
    }
    const durationMs = this.#clock.monotonicMs() - startedMs;
    this.#meter.commit(changes, batches.length, durationMs, outcomes === undefined ? 'failed' : 'ok');
    taken.forEach((actor, index) => {
      this.#settle(actor, outcomes?.[index]);
    });
    if (outcomes !== undefined) {
      this.#backoffMs = 0;
      return;
    }
    this.#backoffMs = Math.min(BACKOFF_MAX_MS, Math.max(BACKOFF_FIRST_MS, this.#backoffMs * 2));
    await new Promise<void>((resolve) => this.#clock.after(this.#backoffMs, resolve));
  }

  #settle(actor: A, outcome: BatchOutcome | undefined): void {
    if (outcome === 'committed') actor.committed();
    else if (outcome === undefined) this.#losses.unknown(actor);
    else if (outcome === 'fenced') this.#losses.fenced(actor);
    else this.#losses.poisoned(actor, outcome.poisoned);
  }
}
