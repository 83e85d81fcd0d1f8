/** The rooms of this process: one for each live document that somebody has open. */
import type { LiveDocument } from '../../actors/documents/live-document.ts';
import type { Clock, Timer } from '../../actors/runtime/ports.ts';
import type { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { Refusals } from '../platform/shares.ts';
import { Outflow } from './outflow.ts';
import { Room } from './room.ts';
import type { RoomMember, Rooms, Seat } from './room-types.ts';
import { SyncBudgets } from './sync-requests.ts';

/** Interval at which rooms remove silent clients and record their state vectors. */
const BEAT_MS = 10_000;
/** Attempts to join, because a room may end before a caller that waited for it has joined. */
const ATTEMPTS_MAX = 5;

export interface RoomDirectoryDeps {
  readonly runtime: Pick<ActorRuntime, 'ask' | 'askPatiently'>;
  readonly clock: Clock;
  readonly refusals: Refusals;
}

export class RoomDirectory implements Rooms {
  readonly #runtime: Pick<ActorRuntime, 'ask' | 'askPatiently'>;
  readonly #clock: Clock;
  readonly #outflow: Outflow;
  readonly #syncBudgets: SyncBudgets;
  readonly #rooms = new Map<string, Room>();
  /** The load of the document, which all callers share until it settles. */
  readonly #opening = new Map<string, Promise<Room>>();
  #timer: Timer | undefined;

  constructor(deps: RoomDirectoryDeps) {
    this.#outflow = new Outflow(deps);
    this.#runtime = deps.runtime;
    this.#clock = deps.clock;
    this.#syncBudgets = new SyncBudgets(deps.clock);
  }

  /** The number of open rooms. */
  get size(): number {
    return this.#rooms.size;
  }

  /** The number of connections with the document open. */
  count(artifactId: ArtifactId, document: string): number {
    const room = this.#rooms.get(keyOf(artifactId, document));
    return room === undefined || room.isOver ? 0 : room.size;
  }

  get outflowBytes(): number {
    return this.#outflow.bytes;
  }

  /** Members that wait for room to be sent what they lack. */
  get outflowWaiting(): number {
    return this.#outflow.waiting;
  }

  /** Loads the document before a connection exists. Throws or rejects what `join` would. */
  warm(artifactId: ArtifactId, document: string): void | Promise<void> {
    const known = this.#rooms.get(keyOf(artifactId, document));
    if (known !== undefined && !known.isOver) return;
    const warmed = this.#ask(artifactId, document, () => undefined);
    if (warmed instanceof Promise) return warmed;
  }

  join(artifactId: ArtifactId, document: string, member: RoomMember): Seat | Promise<Seat> {
    const room = this.#rooms.get(keyOf(artifactId, document));
    return room !== undefined && !room.isOver ? room.seat(member) : this.#joinLater(artifactId, document, member);
  }

  async #joinLater(artifactId: ArtifactId, document: string, member: RoomMember): Promise<Seat> {
    const key = keyOf(artifactId, document);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const room = this.#rooms.get(key) ?? (await (this.#opening.get(key) ?? this.#open(key, artifactId, document)));
      // Waiting callers take their seats in the turn in which the room opens, so it cannot be closed as empty before.
      if (!room.isOver) return room.seat(member);
    }
    throw new Failure('UNAVAILABLE', { message: 'The document left memory while it was being opened.', retryAfterS: 1 });
  }

  #open(key: string, artifactId: ArtifactId, document: string): Promise<Room> {
    const opening = this.#make(key, artifactId, document).finally(() => this.#opening.delete(key));
    this.#opening.set(key, opening);
    return opening;
  }

  async #make(key: string, artifactId: ArtifactId, document: string): Promise<Room> {
    let made: Room | undefined;
    const open = (live: LiveDocument) => {
      made = new Room(live, {
        clock: this.#clock,
        artifactId,
        outflow: this.#outflow,
        syncBudgets: this.#syncBudgets,
        ask: (turn) => this.#runtime.askPatiently(artifactId, turn),
        onEmpty: (room) => {
          if (this.#rooms.get(key) === room) this.#rooms.delete(key);
        },
      });
      return made;
    };
    let room: Room;
    try {
      room = await this.#ask(artifactId, document, open);
    } catch (error) {
      // The turn has seen changes whose commit failed.
      made?.over();
      throw error;
    }
    if (room.isOver) return room;
    this.#rooms.set(key, room);
    this.#timer ??= this.#clock.after(BEAT_MS, () => this.#beat());
    return room;
  }

  #ask<T>(artifactId: ArtifactId, document: string, turn: (live: LiveDocument) => T): T | Promise<T> {
    return this.#runtime.ask(
      artifactId,
      (actor) => turn(actor.documents.open(document)),
      (actor) => actor.documents.prepare(document),
    );
  }

  #beat(): void {
    this.#timer = this.#rooms.size === 0 ? undefined : this.#clock.after(BEAT_MS, () => this.#beat());
    for (const room of [...this.#rooms.values()]) room.onBeat();
    this.#syncBudgets.sweep();
  }
}

function keyOf(artifactId: ArtifactId, document: string): string {
  return `${artifactId}/${document}`;
}
