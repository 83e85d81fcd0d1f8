/** The runtime: who is in memory, the way to an actor's turn, and how actors come and go. */
import { Failure } from '../protocol/errors.ts';
import type { ArtifactId } from '../protocol/ids.ts';
import { LIMITS } from '../protocol/limits.ts';
import { ArtifactActor } from './artifact-actor.ts';
import { Undone } from './atomic.ts';
import { Backlog, Committer, type Haste } from './committer.ts';
import { CallWindow, type Spent } from './limits-part.ts';
import type {
  ArtifactImage,
  ArtifactStore,
  Change,
  Clock,
  DocumentUpkeep,
  JournalStore,
  Log,
  Placement,
  RuntimeMeter,
  Timer,
} from './ports.ts';

export interface RuntimeDeps {
  readonly clock: Clock;
  readonly store: ArtifactStore;
  /** Without it documents are never compacted. */
  readonly upkeep?: DocumentUpkeep | undefined;
  readonly journal: JournalStore;
  readonly placement: Placement;
  readonly meter: RuntimeMeter;
  readonly log: Log;
  /** Without a call for this long an actor leaves memory (at most an eighth later). */
  readonly idleMs: number;
  /** Budget for resident state; clean actors leave first, the longest unused before the others. */
  readonly memoryBytesMax: number;
}

export interface RuntimeStats {
  readonly actors: number;
  readonly residentBytes: number;
  /** Callers that wait for a load, for a value or for a commit. */
  readonly mailboxDepth: number;
  readonly pendingChanges: number;
}

const RETRY_AFTER_S = 1;
const DATA_WINDOW_MS = 60_000;
const SWEEPS_PER_IDLE = 8;
// A caller meets an actor that has left while it waited at most this often in a row: UNAVAILABLE.
const ATTEMPTS_MAX = 5;
// Artifacts being loaded at once. Above it the store is the bottleneck and a queue would only hide that: UNAVAILABLE.
const LOADS_MAX = 2000;
// Making room goes on to here, so that the next load does not have to begin again.
const MEMORY_KEPT = 0.9;
// Where too little could leave, it is tried again after so much more has come: looking through all actors at every turn would cost more than it finds.
const MEMORY_STEP = 0.01;

type Turn<T> = (actor: ArtifactActor) => T;
type Prepare = (actor: ArtifactActor) => Promise<void> | undefined;
export type CommitListener = (artifactId: ArtifactId, changes: readonly Change[]) => void;

export class ActorRuntime {
  readonly #deps: RuntimeDeps;
  readonly #placement: Placement;
  readonly #clock: Clock;
  readonly #committer: Committer<ArtifactActor>;
  readonly #backlog = new Backlog();
  /** Actors that take turns. */
  readonly #resident = new Map<ArtifactId, ArtifactActor>();
  /** Loads under way, shared by everybody who asks meanwhile. An entry that was replaced does not become resident. */
  readonly #arriving = new Map<ArtifactId, Promise<ArtifactActor>>();
  /** Actors that take no turn any more and wait for their last commit. No load begins before. */
  readonly #leaving = new Map<ArtifactId, Promise<void>>();
  readonly #listeners: CommitListener[] = [];
  /** Apart from the actors: to discard one must not give its callers a new minute. */
  readonly #windows = new Map<ArtifactId, CallWindow>();
  #residentBytes = 0;
  #makeRoomAbove: number;
  #waiting = 0;
  #sweeps = 0;
  #sweepTimer: Timer | undefined;
  #stopping = false;

  constructor(deps: RuntimeDeps) {
    this.#deps = deps;
    this.#placement = deps.placement;
    this.#clock = deps.clock;
    this.#makeRoomAbove = deps.memoryBytesMax;
    this.#committer = new Committer<ArtifactActor>({
      ...deps,
      losses: {
        unknown: (actor) => this.#learnOutcome(actor),
        fenced: (actor) => this.#drop(actor, moved()),
        poisoned: (actor, cause) => {
          deps.log.error({ err: cause, artifactId: actor.id }, 'the store cannot take these changes, the actor starts again without them');
          this.#drop(actor, new Failure('INTERNAL_ERROR'));
        },
      },
    });
    deps.placement.onLost((id) => {
      // A load under way took its claim before that: it must not become resident.
      this.#arriving.delete(id);
      const actor = this.#resident.get(id);
      if (actor !== undefined) this.#drop(actor, moved());
    });
  }

  /**
   * One synchronous turn. Answers at once when the actor is resident, `prepare` has nothing to wait for and nothing that the turn
   * may have seen is uncommitted; else a promise that settles after the commit.
   * Throws or rejects with what the turn throws, or ARTIFACT_NOT_FOUND, UNAVAILABLE, OWNER_MOVED.
   * `turn` runs once, and throws a Failure only before it has changed anything; `prepare` may run several times and changes nothing.
   */
  ask<T>(id: ArtifactId, turn: Turn<T>, prepare?: Prepare): T | Promise<T> {
    const actor = this.#resident.get(id);
    if (actor === undefined) return this.#askLater(id, turn, prepare, undefined);
    this.#assertMayAnswer();
    const wait = prepare?.(actor);
    return wait === undefined ? this.#turn(actor, turn, 'now') : this.#askLater(id, turn, prepare, wait);
  }

  /** As `ask`, where nobody waits for the answer: the commit may come a few milliseconds later, together with others. */
  askPatiently<T>(id: ArtifactId, turn: Turn<T>): T | Promise<T> {
    const actor = this.#resident.get(id);
    if (actor === undefined) return this.#askLater(id, turn, undefined, undefined);
    this.#assertMayAnswer();
    return this.#turn(actor, turn, 'soon');
  }

  /** Spends calls of the artifact's data limit. Throws UNAVAILABLE or OWNER_MOVED. */
  spend(id: ArtifactId, calls = 1): Spent {
    this.#assertMayAnswer();
    let window = this.#windows.get(id);
    if (window === undefined) {
      window = new CallWindow(LIMITS.dataPerMinute, DATA_WINDOW_MS);
      this.#windows.set(id, window);
      this.#scheduleSweep();
    }
    return window.spend(this.#clock.monotonicMs(), calls);
  }

  /** Forgets the actor: what is pending is committed first, the next ask loads again. */
  async discard(id: ArtifactId): Promise<void> {
    const actor = this.#resident.get(id);
    if (actor !== undefined) return this.#leave(actor);
    // A load under way may have read what is no longer true: whoever asks from now on gets another one.
    const arriving = this.#arriving.get(id);
    if (arriving !== undefined) this.#arrive(id, arriving);
    return this.#leaving.get(id);
  }

  /**
   * Tells of changes of any artifact once they are durable, in the order of their `seq` and before their callers are answered.
   * Where a commit had an unknown outcome, or the artifact was written elsewhere, some are left out: `seq` then has a gap, and the
   * store tells what changed in between.
   */
  onCommitted(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  stats(): RuntimeStats {
    return {
      actors: this.#resident.size,
      residentBytes: this.#residentBytes,
      mailboxDepth: this.#waiting + this.#backlog.callers,
      pendingChanges: this.#backlog.changes,
    };
  }

  /** Refuses new turns, commits what is pending, releases everything. The deadline is the caller's. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#sweepTimer?.cancel();
    // A commit that fails meanwhile makes its actors load once more, so that their callers get the true outcome.
    while (this.#arriving.size + this.#resident.size + this.#leaving.size > 0) {
      await Promise.allSettled(this.#arriving.values());
      for (const actor of [...this.#resident.values()]) void this.#leave(actor);
      await Promise.all(this.#leaving.values());
    }
    this.#windows.clear();
  }

  async #askLater<T>(id: ArtifactId, turn: Turn<T>, prepare: Prepare | undefined, prepared: Promise<void> | undefined): Promise<T> {
    let wait = prepared;
    this.#waiting += 1;
    try {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
        if (wait !== undefined) await this.#readingBack(id, wait);
        this.#assertMayAnswer();
        const actor = this.#resident.get(id) ?? (await this.#arrival(id));
        wait = undefined;
        // It may have left between its arrival and this caller's turn.
        if (actor.state !== 'live') continue;
        this.#assertMayAnswer();
        wait = prepare?.(actor);
        if (wait === undefined) return this.#turn(actor, turn, 'now');
      }
    } finally {
      this.#waiting -= 1;
    }
    // Whatever it was to wait for once more, nobody waits for it now.
    wait?.catch(() => undefined);
    throw unavailable('The artifact could not be held in memory.');
  }

  /** The load that everybody who asks now shares. Throws UNAVAILABLE when too many others are under way. */
  #arrival(id: ArtifactId): Promise<ArtifactActor> {
    const arriving = this.#arriving.get(id);
    if (arriving !== undefined) return arriving;
    if (this.#arriving.size >= LOADS_MAX) throw unavailable('Too many artifacts are being loaded.');
    return this.#arrive(id);
  }

  async #readingBack(id: ArtifactId, wait: Promise<void>): Promise<void> {
    try {
      await wait;
    } catch (error) {
      if (!(error instanceof Failure)) {
        this.#deps.log.error({ err: error, artifactId: id }, 'a value could not be read back');
        throw unavailable('A value could not be read.');
      }
      // Somebody else has written this artifact: what is in memory is not the truth any more.
      if (error.code === 'OWNER_MOVED') void this.discard(id);
      throw error;
    }
  }

  #turn<T>(actor: ArtifactActor, turn: Turn<T>, haste: Haste): T | Promise<T> {
    const before = actor.seq;
    actor.usedAtSweep = this.#sweeps;
    let value: T;
    try {
      value = turn(actor);
    } catch (error) {
      if (error instanceof Undone) return this.#undo(actor, before, error);
      if (error instanceof Failure && actor.seq === before) {
        // A refusal also tells what the turn has seen.
        if (actor.isClean) throw error;
        this.#hasten(actor, haste);
        return actor.gate<T>(undefined as never, error);
      }
      this.#stopAfterBug(actor, before, error);
      throw error instanceof Failure ? new Failure('INTERNAL_ERROR') : error;
    }
    if (actor.seq !== before) this.#committer.enlist(actor, haste);
    else this.#hasten(actor, haste);
    if (actor.residentBytes !== actor.accountedBytes) this.#account(actor);
    return actor.isClean ? value : actor.gate(value);
  }

  /** Somebody waits for what is pending, if anything is. */
  #hasten(actor: ArtifactActor, haste: Haste): void {
    if (actor.enlisted && haste === 'now') this.#committer.enlist(actor, haste);
  }

  /** What a series of turns had changed before it was refused is taken back, and with it the memory that holds it: the next ask loads again. */
  async #undo(actor: ArtifactActor, seqBefore: number, undone: Undone): Promise<never> {
    if (actor.seq === seqBefore) await actor.settled();
    else {
      actor.takeBack(seqBefore);
      await this.#leave(actor);
    }
    throw undone;
  }

  /** A bug in a turn may have left anything behind in memory: earlier changes are committed, then the actor is forgotten. */
  #stopAfterBug(actor: ArtifactActor, seqBefore: number, error: unknown): void {
    this.#deps.log.error({ err: error, artifactId: actor.id }, 'a turn failed, its actor starts again');
    actor.takeBack(seqBefore);
    void this.#leave(actor);
  }

  #assertMayAnswer(): void {
    if (this.#stopping) throw unavailable('The server is stopping.');
    if (!this.#placement.holds()) throw moved();
  }

  /** Begins a load after `before` has ended; it takes the place of one that is under way. */
  #arrive(id: ArtifactId, before?: Promise<unknown>, predecessor?: ArtifactActor): Promise<ArtifactActor> {
    const arrival: Promise<ArtifactActor> = this.#load(id, before, predecessor).then(
      (actor) => {
        if (this.#arriving.get(id) !== arrival) actor.state = 'gone';
        else {
          this.#arriving.delete(id);
          this.#admit(actor);
        }
        return actor;
      },
      (error) => {
        if (this.#arriving.get(id) === arrival) this.#arriving.delete(id);
        throw error;
      },
    );
    this.#arriving.set(id, arrival);
    // Whoever waits gets the error; a load that nobody waits for (after a discard) has nobody to tell.
    arrival.catch(() => undefined);
    return arrival;
  }

  async #load(id: ArtifactId, before: Promise<unknown> | undefined, predecessor: ArtifactActor | undefined): Promise<ArtifactActor> {
    await Promise.allSettled([before, this.#leaving.get(id)]);
    const image = await this.#readImage(id, predecessor);
    return new ArtifactActor(id, image, {
      clock: this.#clock,
      backlog: this.#backlog,
      store: this.#deps.store,
      upkeep: this.#deps.upkeep,
      log: this.#deps.log,
      onCommitted: (artifactId, changes) => this.#tell(artifactId, changes),
    });
  }

  #tell(id: ArtifactId, changes: readonly Change[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(id, changes);
      } catch (error) {
        this.#deps.log.error({ err: error, artifactId: id }, 'a listener to committed changes failed');
      }
    }
  }

  /** Takes ownership and reads the state. With it the callers of a `predecessor` learn what became of their changes. */
  async #readImage(id: ArtifactId, predecessor?: ArtifactActor): Promise<ArtifactImage> {
    try {
      const image = await this.#claimAndLoad(id);
      predecessor?.endBy(image);
      return image;
    } catch (error) {
      const failure = error instanceof Failure ? error : unavailable('The artifact could not be loaded.');
      if (failure !== error) this.#deps.log.error({ err: error, artifactId: id }, 'load failed');
      // That the artifact is gone is no answer to a write whose outcome nobody knows.
      predecessor?.end(unavailable('The change could not be stored.'));
      throw failure;
    }
  }

  async #claimAndLoad(id: ArtifactId): Promise<ArtifactImage> {
    const where = await this.#placement.locate(id);
    if (!where.here || !(await this.#placement.claim(id))) throw moved();
    const startedMs = this.#clock.monotonicMs();
    let image: ArtifactImage | null = null;
    try {
      image = await this.#deps.store.load(id);
    } finally {
      if (image === null) this.#placement.release(id);
    }
    if (image === null) throw new Failure('ARTIFACT_NOT_FOUND');
    this.#deps.meter.loaded(this.#clock.monotonicMs() - startedMs);
    return image;
  }

  #admit(actor: ArtifactActor): void {
    // Not to be pushed out by the next arrival before those who wait for it have had their turn.
    actor.usedAtSweep = this.#sweeps + 1;
    this.#resident.set(actor.id, actor);
    this.#account(actor);
    this.#scheduleSweep();
  }

  /** The commit of this actor has failed or nobody knows: only a new load, whose epoch shuts the old commit out, tells. */
  #learnOutcome(actor: ArtifactActor): void {
    if (actor.state === 'gone') return;
    actor.abandonPending();
    if (actor.state === 'live') {
      this.#forget(actor);
      actor.state = 'leaving';
      this.#arrive(actor.id, undefined, actor);
      return;
    }
    // Whoever waits for it to leave loads for himself.
    this.#readImage(actor.id, actor).catch(() => undefined);
  }

  /** Stops an actor whose memory is not the truth. Whoever waits is refused, the next ask loads again. */
  #drop(actor: ArtifactActor, failure: Failure): void {
    if (actor.state === 'gone') return;
    if (actor.state === 'live') {
      this.#forget(actor);
      this.#placement.release(actor.id);
    }
    actor.end(failure);
  }

  /** Takes no more turns, commits what is pending and then leaves. */
  #leave(actor: ArtifactActor): Promise<void> {
    this.#forget(actor);
    if (actor.isClean) {
      actor.state = 'gone';
      this.#placement.release(actor.id);
      return Promise.resolve();
    }
    actor.state = 'leaving';
    this.#hasten(actor, 'now');
    const left = actor.settled().then(() => {
      actor.state = 'gone';
      this.#leaving.delete(actor.id);
      this.#placement.release(actor.id);
    });
    this.#leaving.set(actor.id, left);
    return left;
  }

  #forget(actor: ArtifactActor): void {
    this.#resident.delete(actor.id);
    this.#residentBytes -= actor.accountedBytes;
    actor.accountedBytes = 0;
    // Not within the turn that may have led here.
    if (actor.isHeld) queueMicrotask(() => actor.over());
  }

  #account(actor: ArtifactActor): void {
    this.#residentBytes += actor.residentBytes - actor.accountedBytes;
    actor.accountedBytes = actor.residentBytes;
    if (this.#residentBytes > this.#makeRoomAbove) this.#makeRoom(actor);
  }

  /** Lets clean actors leave, the longest unused first, but not `kept`, whose turn it is. */
  #makeRoom(kept: ArtifactActor): void {
    const leavers = [...this.#resident.values()].filter(
      (actor) => actor.isClean && !actor.isHeld && actor !== kept && actor.usedAtSweep <= this.#sweeps,
    );
    leavers.sort((a, b) => a.usedAtSweep - b.usedAtSweep);
    const { memoryBytesMax } = this.#deps;
    for (const actor of leavers) {
      if (this.#residentBytes <= memoryBytesMax * MEMORY_KEPT) break;
      void this.#leave(actor);
    }
    this.#makeRoomAbove = Math.max(memoryBytesMax, this.#residentBytes + memoryBytesMax * MEMORY_STEP);
  }

  #scheduleSweep(): void {
    if (this.#sweepTimer !== undefined || this.#stopping) return;
    this.#sweepTimer = this.#clock.after(Math.ceil(this.#deps.idleMs / SWEEPS_PER_IDLE), () => this.#sweep());
  }

  #sweep(): void {
    this.#sweepTimer = undefined;
    this.#sweeps += 1;
    this.#makeRoomAbove = this.#deps.memoryBytesMax;
    for (const actor of [...this.#resident.values()]) {
      // Room made for one before it may have sent it away.
      if (actor.state !== 'live') continue;
      if (actor.isClean && !actor.isHeld && this.#sweeps - actor.usedAtSweep > SWEEPS_PER_IDLE) void this.#leave(actor);
      else {
        actor.sweep();
        if (actor.residentBytes !== actor.accountedBytes) this.#account(actor);
      }
    }
    const nowMs = this.#clock.monotonicMs();
    for (const [id, window] of this.#windows) if (window.isEmpty(nowMs)) this.#windows.delete(id);
    if (this.#resident.size > 0 || this.#windows.size > 0) this.#scheduleSweep();
  }
}

function unavailable(message: string): Failure {
  return new Failure('UNAVAILABLE', { message, retryAfterS: RETRY_AFTER_S });
}

function moved(): Failure {
  return new Failure('OWNER_MOVED', { retryAfterS: RETRY_AFTER_S });
}
