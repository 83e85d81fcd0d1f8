/**
 * The committer, one a process: while a commit is in flight the changes of all actors collect. The next commit takes a part of each actor,
 * which is nearly always all it has; an actor with more goes on in the commits after it, so that it delays nobody but itself.
 */
import type { Clock, Log, RuntimeMeter, Timer } from './ports.ts';
import type { ArtifactBatch, BatchOutcome, JournalStore } from './store.ts';

/** The most that one actor adds to a commit, unless a single turn is larger: what one turn changed is never torn apart. */
const PART: Part = { changesMax: 500, bytesMax: 1024 * 1024 };
/** The same where several actors have written within `SHARED_MS`: the others wait for its part too, and for that of the commit in flight. */
const SHARED_PART: Part = { changesMax: 100, bytesMax: 256 * 1024 };
const SHARED_MS = 1000;
/** A commit takes no further actor beyond this, so that whoever writes next does not wait long for it. About 100 ms of a small store. */
const COMMIT_CHANGES_MAX = 4000;
const COMMIT_BYTES_MAX = 8 * 1024 * 1024;
/** Share of a commit that actors with less than a full part may take before those that filled one. */
const FRESH_SHARE = 0.75;

// After a failed commit the next one waits, longer each time, so that a store in trouble is not hammered.
const BACKOFF_FIRST_MS = 50;
const BACKOFF_MAX_MS = 2000;

/**
 * Minimum time between the starts of two commits while all queued changes are `soon`. A commit of one change costs as much as one of ten,
 * and typing produces changes one by one.
 */
const PATIENCE_MS = 4;

/** `now`: a caller is blocked until the commit. `soon`: the commit may wait a few milliseconds to be grouped with others. */
export type Haste = 'now' | 'soon';

/** Bounds of what an actor hands over for one commit. */
export interface Part {
  readonly changesMax: number;
  readonly bytesMax: number;
}

/** What the committer sees of an actor. */
export interface Committing {
  /** Whether it is in a queue of the committer; set only by the committer. */
  enlisted: boolean;
  /** Whether changes are left that are not in flight. */
  readonly hasPending: boolean;
  /** Bytes of the batch in flight. */
  readonly inFlightBytes: number;
  /** The oldest changes not yet handed over, in whole turns, at least one; in flight from now on. Undefined when there are none. */
  takeBatch(part: Part): ArtifactBatch | undefined;
  /** The batch last taken is durable. */
  committed(): void;
}

/** Callbacks for actors whose batch was not committed; each must stop its actor. */
export interface CommitLosses<A> {
  /** The outcome of the commit is unknown. */
  unknown(actor: A): void;
  fenced(actor: A): void;
  poisoned(actor: A, cause: Error): void;
}

export interface CommitterDeps<A> {
  readonly journal: JournalStore;
  readonly clock: Clock;
  readonly meter: RuntimeMeter;
  readonly log: Log;
  readonly losses: CommitLosses<A>;
  /** Default: PART. */
  readonly commitPart?: Part | undefined;
}

/** What goes into the next commit: the batch of each actor. */
interface Gathering<A> {
  readonly taken: A[];
  readonly batches: ArtifactBatch[];
  changes: number;
  bytes: number;
}

export class Committer<A extends Committing> {
  readonly #part: Part;
  readonly #journal: JournalStore;
  readonly #clock: Clock;
  readonly #meter: RuntimeMeter;
  readonly #log: Log;
  readonly #losses: CommitLosses<A>;
  /** Actors that have not filled a part lately, and those whose last part was full: they give way. Each in the order of arrival. */
  #fresh: A[] = [];
  #greedy: A[] = [];
  #running = false;
  #backoffMs = 0;
  #startedMs = Number.NEGATIVE_INFINITY;
  /** When an actor was last queued after the changes of another. */
  #sharedMs = Number.NEGATIVE_INFINITY;
  /** The one whose changes were last taken. One that fills its part is taken after the others. */
  #lastTaken: A | undefined;
  /** Every queued actor was enlisted with `soon`. */
  #isPatient = true;
  /** Ends the wait that groups `soon` changes. */
  #hurry: (() => void) | undefined;

  constructor(deps: CommitterDeps<A>) {
    this.#part = deps.commitPart ?? PART;
    this.#journal = deps.journal;
    this.#clock = deps.clock;
    this.#meter = deps.meter;
    this.#log = deps.log;
    this.#losses = deps.losses;
  }

  /** Queues the actor's changes for commit. A second call with `now` ends the wait of a `soon`. */
  enlist(actor: A, haste: Haste): void {
    if (haste === 'now') {
      this.#isPatient = false;
      this.#hurry?.();
    }
    if (actor.enlisted) return;
    actor.enlisted = true;
    this.#fresh.push(actor);
    if (this.#lastTaken !== undefined && actor !== this.#lastTaken) this.#sharedMs = this.#clock.monotonicMs();
    if (this.#running) return;
    this.#running = true;
    // Turns that run one after another without waiting (a batch, callers that shared a load) go into one commit.
    queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    while (this.#fresh.length + this.#greedy.length > 0) {
      if (this.#isPatient) await this.#collect();
      this.#isPatient = true;
      const gathering: Gathering<A> = { taken: [], batches: [], changes: 0, bytes: 0 };
      const fresh = this.#fresh;
      const greedy = this.#greedy;
      this.#fresh = [];
      this.#greedy = [];
      const freshLeft = this.#take(fresh, gathering, FRESH_SHARE);
      const greedyLeft = this.#take(greedy, gathering, 1);
      const left = this.#take(freshLeft, gathering, 1);
      this.#fresh = [...left, ...this.#fresh];
      this.#greedy = [...greedyLeft, ...this.#greedy];
      // They have waited for a commit already.
      if (this.#fresh.length + this.#greedy.length > 0) this.#isPatient = false;
      if (gathering.batches.length > 0) await this.#commit(gathering);
    }
    this.#running = false;
  }

  #partOfEach(): Part {
    if (this.#clock.monotonicMs() - this.#sharedMs > SHARED_MS) return this.#part;
    const { changesMax, bytesMax } = this.#part;
    return { changesMax: Math.min(changesMax, SHARED_PART.changesMax), bytesMax: Math.min(bytesMax, SHARED_PART.bytesMax) };
  }

  /** Takes a part of each actor in turn until that share of the commit is full. Answers the actors that had no turn. */
  #take(queue: readonly A[], gathering: Gathering<A>, share: number): readonly A[] {
    const part = this.#partOfEach();
    for (const [index, actor] of queue.entries()) {
      if (gathering.changes >= COMMIT_CHANGES_MAX * share || gathering.bytes >= COMMIT_BYTES_MAX * share) return queue.slice(index);
      const batch = actor.takeBatch(part);
      actor.enlisted = actor.hasPending;
      if (actor.hasPending) this.#greedy.push(actor);
      if (batch === undefined) continue;
      gathering.taken.push(actor);
      this.#lastTaken = actor;
      gathering.batches.push(batch);
      gathering.changes += batch.changes.length;
      gathering.bytes += actor.inFlightBytes;
    }
    return [];
  }

  /** Waits until PATIENCE_MS after the start of the last commit, or until an actor is enlisted with `now`. */
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

  async #commit({ taken, batches, changes }: Gathering<A>): Promise<void> {
    const startedMs = this.#clock.monotonicMs();
    this.#startedMs = startedMs;
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
