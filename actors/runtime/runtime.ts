/** The runtime: who is in memory, the way to an actor's turn, and how actors come and go. */
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { RATE_LIMITS, type RateLimit } from '../../protocol/core/rate-limits.ts';
import type { Principal } from '../access/access.ts';
import type { Change, KindPorts } from '../kinds.ts';
import { type ActorDeps, ArtifactActor } from './artifact-actor.ts';
import { Undone } from './atomic.ts';
import { Backlog, BacklogRefusals } from './backlog.ts';
import { CallWindows } from './call-windows.ts';
import { Committer, type Haste, type Part } from './committer.ts';
import type { Spent } from './limits-part.ts';
import type { Clock, Log, Placement, RuntimeMeter, Timer } from './ports.ts';
import type { ArtifactImage, ArtifactStore, JournalStore } from './store.ts';
import { TurnWork } from './turn-work.ts';

/** Beside what it needs itself, what the parts of its actors need. */
export interface RuntimeDeps extends KindPorts {
  readonly clock: Clock;
  readonly store: ArtifactStore;
  readonly journal: JournalStore;
  readonly placement: Placement;
  readonly meter: RuntimeMeter;
  readonly log: Log;
  /** Without a call for this long an actor leaves memory (at most an eighth later). */
  readonly idleMs: number;
  /** Budget for resident state; clean actors leave first, the longest unused before the others. */
  readonly memoryBytesMax: number;
  /** The most that one actor adds to a commit. The simulation makes it small, so that its actors' changes go into many commits. */
  readonly commitPart?: Part;
}

export interface RuntimeStats {
  readonly actors: number;
  readonly residentBytes: number;
  /** Callers that wait for a load, for a value or for a commit. */
  readonly mailboxDepth: number;
  readonly pendingChanges: number;
}

const RETRY_AFTER_S = 1;
const SWEEPS_PER_IDLE = 8;
// A caller meets an actor that has left while it waited at most this often in a row: UNAVAILABLE.
const ATTEMPTS_MAX = 5;
// Artifacts being loaded at once. Above it the store is the bottleneck and a queue would only hide that: UNAVAILABLE.
const LOADS_MAX = 2000;
const LEAVING_AT_ONCE = 16;
// A node that stops hands its artifacts over at this pace, and all of them within this time: the next owners load some while the others are
// still served here. If all came at once, each would wait for all others.
const HANDOVER_MS_EACH = 4;
const HANDOVER_MS = 2000;
// Making room goes on to here, so that the next load does not have to begin again.
const MEMORY_KEPT = 0.9;
// Where too little could leave, it is tried again after so much more has come: looking through all actors at every turn would cost more than it finds.
const MEMORY_STEP = 0.01;

/** A call that waits for its turn. */
export interface Asker {
  /** Set once its access has ended. */
  readonly refusal: Failure | undefined;
  /** What the turn changes is marked as its work, where it is the run of a job. */
  readonly principal?: Principal;
}

type Turn<T> = (actor: ArtifactActor) => T;
type Prepare = (actor: ArtifactActor) => Promise<void> | undefined;
export type CommitListener = (artifactId: ArtifactId, changes: readonly Change[]) => void;

export class ActorRuntime {
  readonly #deps: RuntimeDeps;
  readonly #actorDeps: ActorDeps;
  readonly #placement: Placement;
  readonly #clock: Clock;
  readonly #committer: Committer<ArtifactActor>;
  readonly #backlog: Backlog;
  readonly #refusals: BacklogRefusals;
  readonly #work: TurnWork;
  /** Actors that take turns. */
  readonly #resident = new Map<ArtifactId, ArtifactActor>();
  /** Loads under way, shared by everybody who asks meanwhile. An entry that was replaced does not become resident. */
  readonly #arriving = new Map<ArtifactId, Promise<ArtifactActor>>();
  /** Actors that take no more turns and wait for their last commit. A new load begins only after it. */
  readonly #leaving = new Map<ArtifactId, Promise<void>>();
  readonly #listeners: CommitListener[] = [];
  readonly #windows = new CallWindows();
  #residentBytes = 0;
  #makeRoomAbove: number;
  #waiting = 0;
  #sweeps = 0;
  #sweepTimer: Timer | undefined;
  #stopping = false;

  constructor(deps: RuntimeDeps) {
    this.#deps = deps;
    this.#refusals = new BacklogRefusals(deps);
    this.#backlog = new Backlog((id, by) => this.#refusals.count(id, by));
    this.#work = new TurnWork(deps);
    this.#actorDeps = {
      ...deps,
      work: this.#work,
      backlog: this.#backlog,
      hasten: (actor) => this.#hasten(actor, 'now'),
      mayAnswer: () => deps.placement.holds(),
      onCommitted: (artifactId, changes) => this.#tell(artifactId, changes),
    };
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
      // A load in flight made its claim before the loss: it must not become resident.
      this.#arriving.delete(id);
      const actor = this.#resident.get(id);
      // What was sent may land until the next owner takes the epoch, so its callers must not repeat it as if nothing had happened.
      if (actor !== undefined) this.#drop(actor, moved(), unavailable('Whether the change was stored is not known.'));
    });
    deps.placement.carry({
      pack: (id) => this.#windows.pack(id, deps.clock.monotonicMs()),
      unpack: (id, packed, ageMs) => {
        this.#windows.unpack(id, packed, deps.clock.monotonicMs(), ageMs);
        this.#scheduleSweep();
      },
    });
  }

  /**
   * One synchronous turn. Answers at once when the actor is resident, `prepare` has nothing to wait for and nothing that the turn
   * may have seen is uncommitted; else a promise that settles after the commit.
   * Throws or rejects with what the turn throws, or ARTIFACT_NOT_FOUND, UNAVAILABLE, OWNER_MOVED.
   * `turn` runs once, and throws a Failure only before it has changed anything; `prepare` may run several times and changes nothing.
   * `asker`: who waits for the turn; where its access ends meanwhile the turn does not run.
   */
  ask<T>(id: ArtifactId, turn: Turn<T>, prepare?: Prepare, asker?: Asker): T | Promise<T> {
    if (asker?.refusal !== undefined) throw asker.refusal;
    const actor = this.#resident.get(id);
    if (actor === undefined) return this.#askLater(id, turn, prepare, undefined, asker);
    this.#assertMayAnswer();
    const wait = prepare?.(actor);
    return wait === undefined ? this.#turn(actor, turn, 'now', asker) : this.#askLater(id, turn, prepare, wait, asker);
  }

  /** As `ask`, for callers that are not blocked on the answer: the commit may wait a few milliseconds to be grouped with others. */
  askPatiently<T>(id: ArtifactId, turn: Turn<T>): T | Promise<T> {
    const actor = this.#resident.get(id);
    if (actor === undefined) return this.#askLater(id, turn, undefined, undefined, undefined);
    this.#assertMayAnswer();
    return this.#turn(actor, turn, 'soon');
  }

  /** Spends calls of a limit of the artifact. Throws UNAVAILABLE or OWNER_MOVED. */
  spend(id: ArtifactId, calls = 1, limit: RateLimit = RATE_LIMITS.data): Spent {
    this.#assertMayAnswer();
    const spent = this.#windows.spend(id, limit, this.#clock.monotonicMs(), calls);
    this.#scheduleSweep();
    return spent;
  }

  /** Takes back calls that `spend` accepted. */
  giveBack(id: ArtifactId, { atMs }: Pick<Spent, 'atMs'>, calls = 1, limit: RateLimit = RATE_LIMITS.data): void {
    this.#windows.giveBack(id, limit, atMs, calls);
  }

  /** Forgets the actor: what is pending is committed first, the next ask loads again. */
  async discard(id: ArtifactId): Promise<void> {
    const actor = this.#resident.get(id);
    if (actor !== undefined) return this.#leave(actor);
    // A load in flight may have read stale state, so later callers get a new load.
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

  /** Artifacts whose actors are in memory or about to be. */
  resident(): ArtifactId[] {
    return [...this.#resident.keys(), ...this.#arriving.keys()];
  }

  /** False once this node's lease is over: what it knows of live state may be out of date, and must not leave it. */
  mayAnswer(): boolean {
    return this.#placement.holds();
  }

  stats(): RuntimeStats {
    return {
      actors: this.#resident.size,
      residentBytes: this.#residentBytes,
      mailboxDepth: this.#waiting + this.#backlog.callers,
      pendingChanges: this.#backlog.changes,
    };
  }

  /**
   * Gives the artifact to the node that is chosen for it by now, unless somebody would notice: it has a connection, it is changing, or, with
   * `idle`, it has lately been used. Whether it goes.
   */
  handOver(id: ArtifactId, which: 'idle' | 'without connections'): boolean {
    if (this.#arriving.has(id) || this.#leaving.has(id)) return false;
    const actor = this.#resident.get(id);
    if (actor === undefined) void this.#placement.release(id);
    else if (!actor.isClean || actor.isHeld || (which === 'idle' && actor.usedAtSweep >= this.#sweeps)) return false;
    else void this.#leave(actor);
    return true;
  }

  /** Whether the artifact's actor is in memory, or on its way in or out. */
  isPresent(id: ArtifactId): boolean {
    return this.#resident.has(id) || this.#arriving.has(id) || this.#leaving.has(id);
  }

  /** Commits what is pending and releases every actor, while calls go on and find them elsewhere: the placement claims nothing more. */
  drain(): Promise<void> {
    return this.#leaveAll(LEAVING_AT_ONCE * Math.min(HANDOVER_MS_EACH, HANDOVER_MS / Math.max(1, this.#resident.size)));
  }

  /** Refuses new turns, commits what is pending, releases everything. The deadline is the caller's. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#sweepTimer?.cancel();
    await this.#leaveAll();
    this.#windows.clear();
    this.#refusals.close();
  }

  async #leaveAll(pauseMs = 0): Promise<void> {
    // A commit that fails meanwhile makes its actors load once more, so that their callers get the true outcome.
    while (this.#arriving.size + this.#resident.size + this.#leaving.size > 0) {
      const actors = this.#resident.values();
      const leave = async () => {
        let isFirst = true;
        for (const actor of actors) {
          if (!isFirst && pauseMs > 0) await new Promise<void>((resolve) => this.#clock.after(pauseMs, resolve));
          isFirst = false;
          await this.#leave(actor);
        }
      };
      const leaving = Array.from({ length: LEAVING_AT_ONCE }, leave);
      await Promise.allSettled([...leaving, ...this.#leaving.values(), ...this.#arriving.values()]);
    }
  }

  async #askLater<T>(
    id: ArtifactId,
    turn: Turn<T>,
    prepare: Prepare | undefined,
    prepared: Promise<void> | undefined,
    asker: Asker | undefined,
  ): Promise<T> {
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
        if (asker?.refusal !== undefined) throw asker.refusal;
        wait = prepare?.(actor);
        if (wait === undefined) return this.#turn(actor, turn, 'now', asker);
      }
    } finally {
      this.#waiting -= 1;
    }
    // All attempts are used up: the last preparation is not awaited, so its rejection must not be reported as unhandled.
    wait?.catch(() => undefined);
    throw unavailable('The artifact could not be held in memory.');
  }

  /** The load in flight, shared by all callers, or a new one. Throws UNAVAILABLE when too many loads are in flight. */
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
      // Another owner has written this artifact: the state in memory is stale.
      if (error.code === 'OWNER_MOVED') void this.discard(id);
      throw error;
    }
  }

  #turn<T>(actor: ArtifactActor, turn: Turn<T>, haste: Haste, asker?: Asker): T | Promise<T> {
    const before = actor.seq;
    actor.beginTurn();
    actor.usedAtSweep = this.#sweeps;
    let value: T;
    this.#work.begin();
    try {
      value = turn(actor);
      this.#work.end(actor.id, () => actor.kindsSince(before));
    } catch (error) {
      this.#work.end(actor.id, () => actor.kindsSince(before));
      if (error instanceof Undone) return this.#undo(actor, before, error);
      if (error instanceof Failure && actor.seq === before) {
        // A refusal also reveals what the turn has seen, so it passes the output gate too.
        if (actor.isClean) throw this.#placement.holds() ? error : moved();
        this.#hasten(actor, haste);
        return actor.gate<T>(undefined as never, error);
      }
      this.#stopAfterBug(actor, before, error);
      throw error instanceof Failure ? new Failure('INTERNAL_ERROR') : error;
    }
    if (actor.seq !== before) this.#enlist(actor, before, haste, asker);
    else this.#hasten(actor, haste);
    if (actor.residentBytes !== actor.accountedBytes) this.#account(actor);
    if (!actor.isClean) return actor.gate(value);
    // The process may have been stopped in the middle of the turn, and read what another node has changed meanwhile.
    if (!this.#placement.holds()) throw moved();
    return value;
  }

  #enlist(actor: ArtifactActor, seqBefore: number, haste: Haste, asker: Asker | undefined): void {
    if (asker?.principal?.kind === 'user') actor.mark(asker.principal.run, seqBefore);
    this.#committer.enlist(actor, haste);
  }

  /** Commits pending changes without delay when a caller waits for them. */
  #hasten(actor: ArtifactActor, haste: Haste): void {
    if (actor.enlisted && haste === 'now') this.#committer.enlist(actor, haste);
  }

  /** Takes back what a series of turns changed before one refused. Memory still holds those changes, so the actor leaves and the next ask loads again. */
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

  /** Begins a load once `before` has settled; it supersedes a load in flight. */
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
    // Callers that await the load get the error; without this, a load without callers (after a discard) is an unhandled rejection.
    arrival.catch(() => undefined);
    return arrival;
  }

  async #load(id: ArtifactId, before: Promise<unknown> | undefined, predecessor: ArtifactActor | undefined): Promise<ArtifactActor> {
    await Promise.allSettled([before, this.#leaving.get(id)]);
    const image = await this.#readImage(id, predecessor);
    return new ArtifactActor(id, image, this.#actorDeps);
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

  /** Takes ownership and reads the state, which also settles the callers of a `predecessor` whose commit had an unknown outcome. */
  async #readImage(id: ArtifactId, predecessor?: ArtifactActor): Promise<ArtifactImage> {
    try {
      const image = await this.#claimAndLoad(id);
      predecessor?.endBy(image);
      return image;
    } catch (error) {
      const failure = error instanceof Failure ? error : unavailable('The artifact could not be loaded.');
      if (failure !== error) this.#deps.log.error({ err: error, artifactId: id }, 'load failed');
      // ARTIFACT_NOT_FOUND does not tell a caller whether its write landed, so writes of unknown outcome get UNAVAILABLE.
      predecessor?.end(unavailable('The change could not be stored.'));
      throw failure;
    }
  }

  async #claimAndLoad(id: ArtifactId): Promise<ArtifactImage> {
    const where = await this.#placement.locate(id);
    if (!where.here) {
      // Whoever sent the call here thought otherwise, so the next one is to be located anew.
      this.#placement.forget(id);
      throw moved();
    }
    if (!(await this.#placement.claim(id))) throw moved();
    const startedMs = this.#clock.monotonicMs();
    let image: ArtifactImage | null = null;
    try {
      image = await this.#deps.store.load(id);
    } finally {
      if (image === null) void this.#placement.release(id);
    }
    // The lease may have ended since the claim: then somebody else may have loaded the artifact already.
    if (!this.#placement.holds()) throw moved();
    if (image === null) throw new Failure('ARTIFACT_NOT_FOUND');
    this.#deps.meter.loaded(this.#clock.monotonicMs() - startedMs);
    return image;
  }

  #admit(actor: ArtifactActor): void {
    // Protects it from eviction by the next arrival until its waiting callers have had their turn.
    actor.usedAtSweep = this.#sweeps + 1;
    this.#resident.set(actor.id, actor);
    this.#account(actor);
    this.#scheduleSweep();
  }

  /** The commit of this actor failed or its outcome is unknown. A new load takes a higher epoch, which fences the old commit, and shows what landed. */
  #learnOutcome(actor: ArtifactActor): void {
    if (actor.state === 'gone') return;
    actor.abandonPending();
    if (actor.state === 'live') {
      this.#forget(actor);
      actor.state = 'leaving';
      this.#arrive(actor.id, undefined, actor);
      return;
    }
    // Callers that wait for it to leave start their own load; this read only determines the outcome.
    this.#readImage(actor.id, actor).catch(() => undefined);
  }

  /** Stops an actor whose memory is stale. Its waiting callers are rejected, those of changes in flight with `ofSent`; the next ask loads again. */
  #drop(actor: ArtifactActor, failure: Failure, ofSent = failure): void {
    if (actor.state === 'gone') return;
    if (actor.state === 'live') {
      this.#forget(actor);
      void this.#placement.release(actor.id);
    }
    actor.end(failure, ofSent);
  }

  /** Takes no more turns, commits what is pending and then leaves. */
  #leave(actor: ArtifactActor): Promise<void> {
    this.#forget(actor);
    if (actor.isClean) {
      actor.state = 'gone';
      return Promise.resolve(this.#placement.release(actor.id));
    }
    actor.state = 'leaving';
    const left = actor.settled().then(() => {
      actor.state = 'gone';
      this.#leaving.delete(actor.id);
      return this.#placement.release(actor.id);
    });
    this.#leaving.set(actor.id, left);
    return left;
  }

  #forget(actor: ArtifactActor): void {
    this.#resident.delete(actor.id);
    this.#residentBytes -= actor.accountedBytes;
    actor.accountedBytes = 0;
    // Deferred, because this may run inside a turn.
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
      // An earlier iteration may have evicted it to make room.
      if (actor.state !== 'live') continue;
      if (actor.isClean && !actor.isHeld && this.#sweeps - actor.usedAtSweep > SWEEPS_PER_IDLE) void this.#leave(actor);
      else {
        actor.sweepParts();
        if (actor.residentBytes !== actor.accountedBytes) this.#account(actor);
      }
    }
    this.#windows.sweep(this.#clock.monotonicMs());
    if (this.#resident.size > 0 || this.#windows.size > 0) this.#scheduleSweep();
  }
}

function unavailable(message: string): Failure {
  return new Failure('UNAVAILABLE', { message, retryAfterS: RETRY_AFTER_S });
}

function moved(): Failure {
  return new Failure('OWNER_MOVED', { retryAfterS: RETRY_AFTER_S });
}
