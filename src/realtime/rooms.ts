/** The rooms of this process: one for each live document that somebody has open. */
import type { LiveDocument } from '../../actors/live-document.ts';
import type { Clock, Timer } from '../../actors/ports.ts';
import type { ActorRuntime } from '../../actors/runtime.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { Outflow } from './outflow.ts';
import { Room } from './room.ts';
import type { RoomMember, Rooms, Seat } from './room-types.ts';

/** How often rooms look after those who are silent, and remember how far everybody has got. */
const BEAT_MS = 10_000;
/** A room may be over before whoever waited for it has come in; so often it is tried again. */
const ATTEMPTS_MAX = 5;

export class RoomDirectory implements Rooms {
  readonly #runtime: Pick<ActorRuntime, 'ask' | 'askPatiently'>;
  readonly #clock: Clock;
  readonly #outflow = new Outflow(LIMITS.outflowBytesMax);
  readonly #rooms = new Map<string, Room>();
  /** Shared by everybody who comes meanwhile. */
  readonly #opening = new Map<string, Promise<Room>>();
  #timer: Timer | undefined;

  constructor(deps: { readonly runtime: Pick<ActorRuntime, 'ask' | 'askPatiently'>; readonly clock: Clock }) {
    this.#runtime = deps.runtime;
    this.#clock = deps.clock;
  }

  /** Rooms that are open. */
  get size(): number {
    return this.#rooms.size;
  }

  /** Connections that have the document open. */
  count(artifactId: ArtifactId, document: string): number {
    const room = this.#rooms.get(keyOf(artifactId, document));
    return room === undefined || room.isOver ? 0 : room.size;
  }

  get outflowBytes(): number {
    return this.#outflow.bytes;
  }

  /** Brings the document into memory, before anybody has a connection: throws or rejects what `join` would. */
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
      // Whoever waited takes a seat in the turn in which it is open: it cannot be left empty before.
      if (!room.isOver) return room.seat(member);
    }
    throw new Failure('UNAVAILABLE', { message: 'The document could not be held in memory.', retryAfterS: 1 });
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
        outflow: this.#outflow,
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
      // What it has seen did not last.
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
  }
}

function keyOf(artifactId: ArtifactId, document: string): string {
  return `${artifactId}/${document}`;
}
