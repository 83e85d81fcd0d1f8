/** One artifact's live state: its parts, the changes that are not yet committed, and the answers that wait for them. */
import { Failure } from '../protocol/errors.ts';
import type { ArtifactId } from '../protocol/ids.ts';
import { BlobsPart } from './blobs-part.ts';
import { CommentsPart } from './comments-part.ts';
import type { Backlog, Committing } from './committer.ts';
import { DocumentsPart } from './documents-part.ts';
import { JsonPart } from './json-part.ts';
import type { ArtifactBatch, ArtifactImage, ArtifactStore, Change, Clock, DocumentUpkeep, Log } from './ports.ts';
import { TablesPart } from './tables-part.ts';

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

export interface ActorDeps {
  readonly clock: Clock;
  readonly backlog: Backlog;
  readonly store: ArtifactStore;
  /** Without it documents are never compacted. */
  readonly upkeep?: DocumentUpkeep | undefined;
  readonly log?: Log;
  /** Told of changes once they are durable, in order. Must not throw. */
  readonly onCommitted: (id: ArtifactId, changes: readonly Change[]) => void;
}

/**
 * `live` takes turns. `leaving` takes none and only waits for its commit. `gone` has answered everybody.
 * It never goes back: a new actor is loaded instead.
 */
type ActorState = 'live' | 'leaving' | 'gone';

export class ArtifactActor implements Committing {
  readonly id: ArtifactId;
  readonly epoch: number;
  readonly json: JsonPart;
  readonly tables: TablesPart;
  readonly blobs: BlobsPart;
  readonly comments: CommentsPart;
  /** Of the last change in memory. */
  seq: number;
  /** Of the last change that is durable. The output gate is open when the two are equal. */
  committedSeq: number;
  state: ActorState = 'live';
  enlisted = false;
  /** When it was last used, in the runtime's sweeps. */
  usedAtSweep = 0;
  /** What the runtime has entered for it in the memory budget. */
  accountedBytes = 0;

  readonly #deps: ActorDeps;
  /** Made when they are first asked for: most artifacts have none. */
  #documents: DocumentsPart | undefined;
  readonly #backlog: Backlog;
  readonly #onCommitted: ActorDeps['onCommitted'];
  #pending: Change[] = [];
  #inFlight: readonly Change[] = [];
  #waiters: Waiter[] = [];
  readonly #holders = new Set<() => void>();

  constructor(id: ArtifactId, image: ArtifactImage, deps: ActorDeps) {
    this.id = id;
    this.epoch = image.epoch;
    this.seq = image.seq;
    this.committedSeq = image.seq;
    this.#deps = deps;
    this.#backlog = deps.backlog;
    this.#onCommitted = deps.onCommitted;
    this.json = new JsonPart({ ledger: this, clock: deps.clock, store: deps.store });
    this.json.restore(image.keys);
    this.tables = new TablesPart({ ledger: this, clock: deps.clock, store: deps.store });
    this.tables.restore(image.tables, image.hasDroppedTables);
    this.blobs = new BlobsPart({ ledger: this, clock: deps.clock });
    this.blobs.restore(image.blobs);
    this.comments = new CommentsPart({ ledger: this, clock: deps.clock, store: deps.store });
  }

  get documents(): DocumentsPart {
    const { clock, store, upkeep, log } = this.#deps;
    this.#documents ??= new DocumentsPart({ ledger: this, clock, store, upkeep, log });
    return this.#documents;
  }

  get residentBytes(): number {
    const documents = this.#documents?.residentBytes ?? 0;
    return (
      ACTOR_BYTES + this.json.residentBytes + this.tables.residentBytes + this.blobs.residentBytes + this.comments.residentBytes + documents
    );
  }

  /** At a sweep of the runtime: what nobody uses any more leaves memory. */
  sweep(): void {
    this.#documents?.sweep();
  }

  /** Nothing is pending and nobody waits: it may leave memory without anybody noticing. */
  get isClean(): boolean {
    return this.seq === this.committedSeq;
  }

  /** Somebody is connected: it must not leave for want of calls. */
  get isHeld(): boolean {
    return this.#holders.size > 0;
  }

  /** Keeps it in memory until what is returned is called. `onOver` is told, once, that it takes no more turns: whoever is connected must come back. */
  hold(onOver: () => void): () => void {
    const holder = () => onOver();
    this.#holders.add(holder);
    return () => void this.#holders.delete(holder);
  }

  /** It takes no more turns: tells whoever holds it. */
  over(): void {
    const holders = [...this.#holders];
    this.#holders.clear();
    for (const holder of holders) holder();
  }

  /** Called by a part before it changes anything. Throws UNAVAILABLE while the store is too far behind. */
  admit(): void {
    this.#backlog.admit();
  }

  /** Takes the next change of this artifact; from here on the turn must not fail. */
  record(change: Change): void {
    if (change.seq !== this.seq + 1) throw new Error(`change ${change.seq} after ${this.seq} of ${this.id}`);
    this.seq = change.seq;
    this.#pending.push(change);
    this.#backlog.changes += 1;
    this.#backlog.bytes += changeBytes(change);
  }

  /** Forgets the changes after `seq`, which a failed turn left behind. The state in memory is spoiled: the actor must leave. */
  takeBack(seq: number): void {
    const keep = this.#pending.findIndex((change) => change.seq > seq);
    if (keep >= 0) this.#relieve(this.#pending.splice(keep));
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

  /** Settles when nothing is pending any more, however that came. */
  settled(): Promise<void> {
    if (this.isClean) return Promise.resolve();
    return new Promise((resolve) => {
      this.#backlog.callers += 1;
      this.#waiters.push({ seq: this.seq, release: resolve, refuse: () => resolve() });
    });
  }

  takeBatch(): ArtifactBatch | undefined {
    if (this.#pending.length === 0) return undefined;
    this.#inFlight = this.#pending;
    this.#pending = [];
    return { artifactId: this.id, epoch: this.epoch, changes: this.#inFlight };
  }

  committed(): void {
    const changes = this.#inFlight;
    const last = changes.at(-1);
    this.#relieve(changes);
    this.#inFlight = [];
    // Gone in the meantime (the placement was lost): everybody has been answered.
    if (last === undefined || this.state === 'gone') return;
    this.committedSeq = last.seq;
    this.json.trim();
    this.tables.trim();
    this.#documents?.trim();
    this.#onCommitted(this.id, changes);
    this.#releaseUpTo(last.seq);
  }

  /** Gives up what has not been sent: the changes before it may never land, so it must not land either. */
  abandonPending(): void {
    this.#relieve(this.#pending);
    this.#pending = [];
  }

  /**
   * Ends an actor whose commit has an unknown outcome. `image` was read under a higher epoch, so nothing of this actor can land any more.
   * Where it is the very next epoch nobody else wrote in between, and its `seq` tells what did land.
   */
  endBy(image: ArtifactImage): void {
    const sent = this.#inFlight.at(-1);
    if (sent !== undefined && image.epoch === this.epoch + 1) {
      const landed = this.#inFlight.filter((change) => change.seq <= image.seq);
      if (landed.length > 0) this.#onCommitted(this.id, landed);
      this.#releaseUpTo(Math.min(image.seq, sent.seq));
    }
    this.end(new Failure('UNAVAILABLE', { message: 'The change could not be stored.', retryAfterS: 1 }));
  }

  /** Stops for good. Whoever still waits is refused. */
  end(failure: Failure): void {
    this.state = 'gone';
    this.abandonPending();
    this.#relieve(this.#inFlight);
    this.#inFlight = [];
    const waiters = this.#waiters;
    this.#waiters = [];
    this.#backlog.callers -= waiters.length;
    for (const waiter of waiters) waiter.refuse(failure);
  }

  #releaseUpTo(seq: number): void {
    const later = this.#waiters.findIndex((waiter) => waiter.seq > seq);
    const ready = later === -1 ? this.#waiters : this.#waiters.slice(0, later);
    this.#waiters = later === -1 ? [] : this.#waiters.slice(later);
    this.#backlog.callers -= ready.length;
    for (const waiter of ready) waiter.release();
  }

  #relieve(changes: readonly Change[]): void {
    this.#backlog.changes -= changes.length;
    for (const change of changes) this.#backlog.bytes -= changeBytes(change);
  }
}

function changeBytes(change: Change): number {
  if (change.kind === 'json.put') return CHANGE_BYTES + change.value.length;
  if (change.kind === 'doc.update') return CHANGE_BYTES + change.update.byteLength;
  return CHANGE_BYTES + (change.kind === 'row.put' || change.kind === 'comment.put' ? change.data.length : 0);
}
