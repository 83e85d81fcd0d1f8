/** One artifact's live state: its parts, the changes that are not yet committed, and the answers that wait for them. */
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { RunOrigin } from '../access/access.ts';
import { type Change, type KindPorts, LIVE_KINDS, valueBytes } from '../kinds.ts';
import type { Backlog } from './backlog.ts';
import type { Committing, Part } from './committer.ts';
import { partsOf } from './live-parts.ts';
import type { ArtifactBatch, ArtifactImage, RunMark } from './store.ts';
import type { TurnWork } from './turn-work.ts';

/** An answer held back until change `seq` is committed. */
interface Waiter {
  readonly seq: number;
  readonly release: () => void;
  readonly refuse: (failure: Failure) => void;
}

// The object, its parts and its place in the directory, measured by test/actors/footprint.test.ts.
const ACTOR_BYTES = 900;
// What a change weighs in the backlog beside its value.
const CHANGE_BYTES = 200;

/** One object for all actors of a runtime. */
export interface ActorDeps extends KindPorts {
  readonly backlog: Backlog;
  readonly work: Pick<TurnWork, 'spend'>;
  /** Somebody waits for what the actor has not committed yet. */
  readonly hasten: (actor: ArtifactActor) => void;
  /** False once the node's lease is over: then no answer leaves, and nobody is told. */
  readonly mayAnswer: () => boolean;
  /** Told of changes once they are durable, in order. Must not throw. */
  readonly onCommitted: (id: ArtifactId, changes: readonly Change[]) => void;
}

/**
 * `live` takes turns. `leaving` takes none and only waits for its commit. `gone` has answered all its callers.
 * It never goes back: a new actor is loaded instead.
 */
type ActorState = 'live' | 'leaving' | 'gone';

export class ArtifactActor extends partsOf(LIVE_KINDS) implements Committing {
  readonly id: ArtifactId;
  readonly epoch: number;
  /** Seq of the last change in memory. */
  seq: number;
  /** Seq of the last durable change. The output gate is open when it equals `seq`. */
  committedSeq: number;
  state: ActorState = 'live';
  enlisted = false;
  /** Number of the runtime's sweep at which it was last used. */
  usedAtSweep = 0;
  /** Bytes that the runtime currently counts for it against the memory budget. */
  accountedBytes = 0;

  readonly #deps: ActorDeps;
  readonly #backlog: Backlog;
  #pending: Change[] = [];
  #pendingBytes = 0;
  /** Number of pending changes of each turn: a turn goes into one commit. */
  #turns: number[] = [];
  /** Of changes that are not yet sent. */
  #marks: RunMark[] = [];
  /** The next change is the first of its turn. */
  #isTurnNew = true;
  #inFlight: readonly Change[] = [];
  #inFlightBytes = 0;
  #waiters: Waiter[] = [];
  readonly #holders = new Set<() => void>();

  constructor(id: ArtifactId, image: ArtifactImage, deps: ActorDeps) {
    super(deps);
    this.id = id;
    this.epoch = image.epoch;
    this.seq = image.seq;
    this.committedSeq = image.seq;
    this.#deps = deps;
    this.#backlog = deps.backlog;
    this.restoreParts(image);
  }

  get residentBytes(): number {
    return ACTOR_BYTES + this.partBytes;
  }

  /** Every change is committed, so no caller waits and the actor can be evicted safely. */
  get isClean(): boolean {
    return this.seq === this.committedSeq;
  }

  /** A connection holds it: it must not be evicted for being idle. */
  get isHeld(): boolean {
    return this.#holders.size > 0;
  }

  /** Keeps the actor in memory until the returned function is called. `onOver` runs once when the actor stops taking turns: connections must reconnect. */
  hold(onOver: () => void): () => void {
    const holder = () => onOver();
    this.#holders.add(holder);
    return () => void this.#holders.delete(holder);
  }

  /** Notifies every holder that the actor takes no more turns. */
  over(): void {
    const holders = [...this.#holders];
    this.#holders.clear();
    for (const holder of holders) holder();
  }

  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  /** Called by the runtime before each turn. */
  beginTurn(): void {
    this.#isTurnNew = true;
  }

  /** Called by a part before it changes anything. Throws UNAVAILABLE while the store is too far behind. */
  admit(): void {
    // A turn is admitted as a whole: its own changes do not count against it.
    if (!this.#isTurnNew) return;
    this.#backlog.admit(this.id, {
      changes: this.#pending.length + this.#inFlight.length,
      bytes: this.#pendingBytes + this.#inFlightBytes,
    });
  }

  /** Takes work out of the budget of the turn, before it is done. Throws REQUEST_TOO_EXPENSIVE. */
  spend(bytes: number, operation: string, param?: string): void {
    this.#deps.work.spend(bytes, operation, param);
  }

  /** The kinds of the changes after `seq` that are not yet sent, each once. */
  kindsSince(seq: number): string {
    return [...new Set(this.#pending.filter((change) => change.seq > seq).map(({ kind }) => kind))].join(', ');
  }

  /** Takes the next change of this artifact; from here on the turn must not fail. */
  record(change: Change): void {
    if (change.seq !== this.seq + 1) throw new Error(`change ${change.seq} after ${this.seq} of ${this.id}`);
    this.seq = change.seq;
    this.#pending.push(change);
    if (this.#isTurnNew) this.#turns.push(1);
    else this.#turns.push((this.#turns.pop() ?? 0) + 1);
    this.#isTurnNew = false;
    const bytes = changeBytes(change);
    this.#pendingBytes += bytes;
    this.#backlog.changes += 1;
    this.#backlog.bytes += bytes;
  }

  /** The changes after `seqBefore` are the work of a run. They are not yet sent. */
  mark(run: RunOrigin | undefined, seqBefore: number): void {
    if (run !== undefined) this.#marks.push({ fromSeq: seqBefore + 1, toSeq: this.seq, run });
  }

  /** Forgets the changes after `seq`, which a failed turn left behind. The state in memory is spoiled: the actor must leave. */
  takeBack(seq: number): void {
    const keep = this.#pending.findIndex((change) => change.seq > seq);
    if (keep >= 0) {
      const taken = this.#pending.splice(keep);
      this.#pendingBytes -= this.#relieve(taken);
      // They are the last turn, and all of it.
      this.#turns.pop();
    }
    this.seq = seq;
  }

  /** The output gate: settles with `value` (or rejects with `failure`) once everything it may have seen is committed. */
  gate<T>(value: T, failure?: Failure): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#backlog.callers += 1;
      this.#waiters.push({
        seq: this.seq,
        release: failure === undefined ? () => resolve(value) : () => reject(failure),
        refuse: reject,
      });
    });
  }

  /** Resolves when nothing is pending any more, whether it was committed or given up. */
  settled(): Promise<void> {
    if (this.isClean) return Promise.resolve();
    this.#deps.hasten(this);
    return new Promise((resolve) => {
      this.#backlog.callers += 1;
      this.#waiters.push({ seq: this.seq, release: resolve, refuse: () => resolve() });
    });
  }

  takeBatch(part: Part): ArtifactBatch | undefined {
    if (this.#pending.length === 0) return undefined;
    const { turns, changes, bytes } = this.#firstTurns(part);
    this.#inFlight = changes === this.#pending.length ? this.#pending : this.#pending.slice(0, changes);
    this.#pending = changes === this.#pending.length ? [] : this.#pending.slice(changes);
    this.#turns = this.#pending.length === 0 ? [] : this.#turns.slice(turns);
    this.#inFlightBytes = bytes;
    this.#pendingBytes -= bytes;
    const batch = { artifactId: this.id, epoch: this.epoch, changes: this.#inFlight };
    return this.#marks.length === 0 ? batch : { ...batch, marks: this.#takeMarks() };
  }

  /** A turn goes into one commit, and its mark with it. */
  #takeMarks(): readonly RunMark[] {
    const lastSeq = this.#inFlight.at(-1)?.seq ?? 0;
    const taken = this.#marks.filter(({ toSeq }) => toSeq <= lastSeq);
    this.#marks = this.#marks.filter(({ toSeq }) => toSeq > lastSeq);
    return taken;
  }

  /** As many whole turns as fit, at least one. */
  #firstTurns({ changesMax, bytesMax }: Part): { readonly turns: number; readonly changes: number; readonly bytes: number } {
    if (this.#pending.length <= changesMax && this.#pendingBytes <= bytesMax) {
      return { turns: this.#turns.length, changes: this.#pending.length, bytes: this.#pendingBytes };
    }
    let turns = 0;
    let changes = 0;
    let bytes = 0;
    for (const length of this.#turns) {
      let turnBytes = 0;
      for (let at = changes; at < changes + length; at += 1) turnBytes += changeBytes(this.#pending[at] as Change);
      if (turns > 0 && (changes + length > changesMax || bytes + turnBytes > bytesMax)) break;
      turns += 1;
      changes += length;
      bytes += turnBytes;
    }
    return { turns, changes, bytes };
  }

  committed(): void {
    const changes = this.#inFlight;
    const last = changes.at(-1);
    this.#relieve(changes);
    this.#inFlight = [];
    this.#inFlightBytes = 0;
    // The actor is gone (the placement was lost): all callers have been answered already.
    if (last === undefined || this.state === 'gone') return;
    this.committedSeq = last.seq;
    this.trimParts();
    if (!this.#deps.mayAnswer()) {
      this.#refuseUpTo(last.seq, new Failure('UNAVAILABLE', { message: 'Whether the change was stored is not known.', retryAfterS: 1 }));
      return;
    }
    this.#deps.onCommitted(this.id, changes);
    this.#releaseUpTo(last.seq);
  }

  /** Drops the changes not yet sent: those in flight before them may never land, and a gap in `seq` is not allowed. */
  abandonPending(): void {
    this.#relieve(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#turns = [];
    this.#marks = [];
  }

  /**
   * Ends an actor whose commit has an unknown outcome. `image` was read under a higher epoch, so nothing of this actor can land any more.
   * If that is exactly the next epoch, no other owner wrote in between, and its `seq` shows which of the changes in flight landed.
   */
  endBy(image: ArtifactImage): void {
    const sent = this.#inFlight.at(-1);
    if (sent !== undefined && image.epoch === this.epoch + 1) {
      const landed = this.#inFlight.filter((change) => change.seq <= image.seq);
      if (landed.length > 0) this.#deps.onCommitted(this.id, landed);
      this.#releaseUpTo(Math.min(image.seq, sent.seq));
    }
    this.end(new Failure('UNAVAILABLE', { message: 'The change could not be stored.', retryAfterS: 1 }));
  }

  /** Stops for good: every waiting caller is rejected with `failure`, those that wait for changes in flight with `ofSent`. */
  end(failure: Failure, ofSent = failure): void {
    this.state = 'gone';
    this.abandonPending();
    const sentSeq = this.#inFlight.at(-1)?.seq;
    if (sentSeq !== undefined) this.#refuseUpTo(sentSeq, ofSent);
    this.#relieve(this.#inFlight);
    this.#inFlight = [];
    this.#inFlightBytes = 0;
    const waiters = this.#waiters;
    this.#waiters = [];
    this.#backlog.callers -= waiters.length;
    for (const waiter of waiters) waiter.refuse(failure);
  }

  #releaseUpTo(seq: number): void {
    for (const waiter of this.#takeWaiters(seq)) waiter.release();
  }

  #refuseUpTo(seq: number, failure: Failure): void {
    for (const waiter of this.#takeWaiters(seq)) waiter.refuse(failure);
  }

  #takeWaiters(seq: number): readonly Waiter[] {
    const later = this.#waiters.findIndex((waiter) => waiter.seq > seq);
    const taken = later === -1 ? this.#waiters : this.#waiters.slice(0, later);
    this.#waiters = later === -1 ? [] : this.#waiters.slice(later);
    this.#backlog.callers -= taken.length;
    return taken;
  }

  /** Answers the bytes that the backlog no longer holds. */
  #relieve(changes: readonly Change[]): number {
    let bytes = 0;
    for (const change of changes) bytes += changeBytes(change);
    this.#backlog.changes -= changes.length;
    this.#backlog.bytes -= bytes;
    return bytes;
  }
}

function changeBytes(change: Change): number {
  return CHANGE_BYTES + valueBytes(change);
}
