/** Everybody who has one live document open, over both protocols: what one changes reaches the others, and nobody slow is left behind for good. */

import type { DocumentListener, LiveDocument } from '../../actors/live-document.ts';
import type { Clock, Timer } from '../../actors/ports.ts';
import { Failure } from '../../protocol/errors.ts';
import { AwarenessTable } from './awareness.ts';
import type { Outflow, Receiver } from './outflow.ts';
import type { RoomMember, Seat } from './room-types.ts';
import { frameAwareness, frameSyncStep1, frameSyncStep2, frameSyncUpdate, writeAwareness } from './wire.ts';

/** With more members what they say of themselves is told together, so that 500 cursors are not 250 000 frames a moment. */
const CROWD = 20;
const CROWD_GAP_MS = 50;
/**
 * Edits that follow one another faster than this reach the others together: to each of them a frame alone costs a write of its own,
 * which is most of what an edit costs. A display takes 16 ms to show the next frame.
 */
const EDIT_GAP_MS = 10;
/** Of edits that wait for the gap to pass. */
const UNSENT_BYTES_MAX = 64 * 1024;

export interface RoomDeps {
  readonly clock: Clock;
  readonly outflow: Outflow;
  /** Within a turn of the artifact's actor; settles once everything it has seen is committed. */
  ask<T>(turn: () => T): T | Promise<T>;
  /** The last has left, or the document is over. */
  onEmpty(room: Room): void;
}

/** Those who are sent the very same bytes: all of protocol A, and those of protocol B under one address. */
interface Audience {
  readonly address: string | undefined;
  readonly topic: string;
  readonly seats: Set<RoomSeat>;
}

interface Unsent {
  readonly update: Uint8Array;
  readonly origin: unknown;
}

let topics = 0;

export class Room implements DocumentListener {
  readonly live: LiveDocument;
  readonly deps: RoomDeps;
  readonly awareness = new AwarenessTable();
  readonly #stopListening: () => void;
  readonly #audiences = new Map<string | undefined, Audience>();
  readonly #seats = new Set<RoomSeat>();
  /** Edits that the others do not have yet, and when the last of them went out. */
  #unsent: Unsent[] = [];
  #unsentBytes = 0;
  #sentMs = Number.NEGATIVE_INFINITY;
  #sendTimer: Timer | undefined;
  /** Ids for which something is to be told, and when that was done last. */
  readonly #untold = new Set<number>();
  #toldMs = Number.NEGATIVE_INFINITY;
  #tellTimer: Timer | undefined;
  #everybody: Uint8Array | undefined;
  #isOver = false;
  /** Counts the beats. State vectors at the last two of them: whoever has missed nothing since before the older one has at least that. */
  beat = 0;
  #vectors: readonly [older: Uint8Array | undefined, newer: Uint8Array | undefined] = [undefined, undefined];

  /** Within a turn of the document's actor. */
  constructor(live: LiveDocument, deps: RoomDeps) {
    this.live = live;
    this.deps = deps;
    this.#stopListening = live.listen(this);
  }

  get isOver(): boolean {
    return this.#isOver || this.live.isOver;
  }

  get size(): number {
    return this.#seats.size;
  }

  /** Of the beat before the last: what was published by then has long been sent, or its loss told. */
  get settledVector(): Uint8Array | undefined {
    return this.#vectors[0];
  }

  seat(member: RoomMember): RoomSeat {
    let audience = this.#audiences.get(member.address);
    if (audience === undefined) {
      topics += 1;
      audience = { address: member.address, topic: `room${topics}`, seats: new Set() };
      this.#audiences.set(member.address, audience);
    }
    const seat = new RoomSeat(this, member, audience.topic);
    audience.seats.add(seat);
    this.#seats.add(seat);
    member.link.subscribe(audience.topic);
    return seat;
  }

  leave(seat: RoomSeat): void {
    if (!this.#seats.delete(seat)) return;
    const audience = this.#audiences.get(seat.member.address);
    audience?.seats.delete(seat);
    if (audience?.seats.size === 0) this.#audiences.delete(seat.member.address);
    this.tell(this.awareness.left(seat, this.deps.clock.monotonicMs()));
    if (this.#seats.size === 0) this.#end();
  }

  /** The first after a silence goes out at once, those that follow it together. */
  updated(update: Uint8Array, origin: unknown): void {
    if (this.#seats.size === 1 && this.#seats.has(origin as RoomSeat)) return;
    this.#unsent.push({ update, origin });
    this.#unsentBytes += update.byteLength;
    const waitMs = this.#sentMs + EDIT_GAP_MS - this.deps.clock.monotonicMs();
    if (waitMs <= 0 || this.#unsentBytes > UNSENT_BYTES_MAX) this.#sendNow();
    else this.#sendTimer ??= this.deps.clock.after(waitMs, () => this.#sendNow());
  }

  over(): void {
    if (this.#isOver) return;
    const seats = [...this.#seats];
    this.#sendNow();
    this.#end();
    // It may be the call of a member that has ended it.
    queueMicrotask(() => {
      for (const { member } of seats) member.over();
    });
  }

  /** What is said of these clients is to be told to everybody, to themselves too: their connections must not seem dead. */
  tell(clientIds: readonly number[]): void {
    if (clientIds.length === 0) return;
    for (const clientId of clientIds) this.#untold.add(clientId);
    this.#everybody = undefined;
    if (this.#tellTimer !== undefined) return;
    const waitMs =
      this.#seats.size <= CROWD
        ? Math.max(this.#toldMs, this.#sentMs) + EDIT_GAP_MS - this.deps.clock.monotonicMs()
        : this.#toldMs + CROWD_GAP_MS - this.deps.clock.monotonicMs();
    if (waitMs <= 0) this.#tellNow();
    else this.#tellTimer = this.deps.clock.after(waitMs, () => this.#tellNow());
  }

  /** Body of an awareness message about everybody who is here; undefined where nobody is. */
  everybody(): Uint8Array | undefined {
    if (this.awareness.size === 0) return undefined;
    this.#everybody ??= writeAwareness(this.awareness.all());
    return this.#everybody;
  }

  /** Every few seconds. */
  onBeat(): void {
    if (this.isOver) return;
    this.beat += 1;
    this.#vectors = [this.#vectors[1], this.live.stateVector()];
    this.tell(this.awareness.sweep(this.deps.clock.monotonicMs()));
  }

  /** One encoding for all who get the same bytes; whoever made it has it already. */
  #sendNow(): void {
    this.#sendTimer?.cancel();
    this.#sendTimer = undefined;
    const unsent = this.#unsent;
    if (unsent.length === 0) return;
    this.#unsent = [];
    this.#unsentBytes = 0;
    this.#sentMs = this.deps.clock.monotonicMs();
    for (const { address, topic, seats } of this.#audiences.values()) {
      for (const { update, origin } of unsent) {
        const frame = frameSyncUpdate(update, address);
        if (origin instanceof RoomSeat && seats.has(origin)) origin.member.link.publish(topic, frame);
        else this.#broadcast(topic, seats, frame);
      }
    }
  }

  #tellNow(): void {
    // A cursor may stand behind a letter that is still to go out.
    this.#sendNow();
    this.#tellTimer = undefined;
    this.#toldMs = this.deps.clock.monotonicMs();
    const states = writeAwareness(this.awareness.entriesOf(this.#untold));
    this.#untold.clear();
    for (const { address, topic, seats } of this.#audiences.values()) this.#broadcast(topic, seats, frameAwareness(states, address));
  }

  #broadcast(topic: string, seats: ReadonlySet<RoomSeat>, frame: Uint8Array): void {
    // Whoever of them: it only lends its connection to the server.
    for (const { member } of seats) {
      member.link.broadcast(topic, frame);
      return;
    }
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sendTimer?.cancel();
    this.#tellTimer?.cancel();
    this.#stopListening();
    this.#seats.clear();
    this.deps.onEmpty(this);
  }
}

export class RoomSeat implements Seat, Receiver {
  readonly member: RoomMember;
  readonly #room: Room;
  readonly #topic: string;
  readonly #by: string | null;
  /** At least so much the member has, or will have once what was sent has arrived; undefined: nothing is known. Since which beat it has missed nothing. */
  #vector: Uint8Array | undefined;
  #wholeSince: number;
  /** Something was left out: it gets nothing more until it has drained, and then the difference. */
  #isBehind = false;
  #hasLeft = false;
  /** Of one of its changes: those after it build upon what nobody else has. */
  #refusal: Failure | undefined;

  constructor(room: Room, member: RoomMember, topic: string) {
    this.#room = room;
    this.member = member;
    this.#topic = topic;
    this.#wholeSince = room.beat;
    this.#by = member.principal.kind === 'user' ? member.principal.userId : null;
  }

  get identity() {
    return this.member.identity;
  }

  apply(update: Uint8Array): boolean | Promise<boolean> {
    const { live } = this.#room;
    if (this.#hasLeft || live.isOver) throw new Failure('OWNER_MOVED', { retryAfterS: 1 });
    if (this.#refusal !== undefined) throw this.#refusal;
    return this.#room.deps.ask(() => {
      try {
        return live.apply(update, this.#by, this);
      } catch (error) {
        // Known at once: the answer may have to wait for a commit, and what follows would be taken meanwhile.
        if (error instanceof Failure && error.code !== 'UNAVAILABLE' && error.code !== 'OWNER_MOVED') this.#refusal = error;
        throw error;
      }
    });
  }

  holds(update: Uint8Array): boolean {
    if (this.#room.isOver) return false;
    try {
      return this.#room.live.knows(update);
    } catch (error) {
      if (error instanceof Failure) return false;
      throw error;
    }
  }

  sendStep1(): boolean {
    if (this.#room.isOver) return true;
    return this.member.link.send(frameSyncStep1(this.#room.live.stateVector(), this.member.address)) !== 'skipped';
  }

  sendStep2(stateVector: Uint8Array): void {
    if (this.#room.isOver || this.#hasLeft) return;
    if (this.#isBehind) this.#vector = stateVector.slice();
    else this.#sendDifference(stateVector);
  }

  sendAwareness(): void {
    const states = this.#isBehind ? undefined : this.#room.everybody();
    if (states !== undefined) this.member.link.send(frameAwareness(states, this.member.address));
  }

  awareness(states: Uint8Array): void {
    if (this.#room.isOver || this.#hasLeft) return;
    this.#room.tell(this.#room.awareness.said(this, states, this.#room.deps.clock.monotonicMs()));
  }

  skipped(): void {
    if (this.#isBehind) return;
    // What it has missed was published a moment ago: it has what was here two beats before, if it was whole by then.
    const isSettled = this.#vector !== undefined && this.#room.beat - this.#wholeSince >= 2;
    this.#fallBehind(isSettled ? this.#room.settledVector : this.#vector);
  }

  drained(): void {
    this.#room.deps.outflow.arrived(this);
    this.#catchUp();
  }

  roomAgain(): void {
    this.#catchUp();
  }

  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#room.deps.outflow.arrived(this);
    this.member.link.unsubscribe(this.#topic);
    this.#room.leave(this);
  }

  #catchUp(): void {
    const { link } = this.member;
    if (!this.#isBehind || this.#hasLeft || this.#room.isOver || link.bufferedBytes > 0) return;
    this.#isBehind = false;
    link.subscribe(this.#topic);
    this.#sendDifference(this.#vector);
    this.sendAwareness();
  }

  #fallBehind(vector: Uint8Array | undefined): void {
    this.#vector = vector;
    if (this.#isBehind) return;
    this.#isBehind = true;
    this.member.link.unsubscribe(this.#topic);
  }

  #sendDifference(stateVector: Uint8Array | undefined): void {
    const update = this.#missing(stateVector);
    const { outflow } = this.#room.deps;
    const outcome = outflow.admits(this, update.byteLength)
      ? this.member.link.send(frameSyncStep2(update, this.member.address))
      : 'skipped';
    if (outcome === 'skipped') {
      this.#fallBehind(stateVector?.slice());
      return;
    }
    if (outcome === 'queued') outflow.flowing(this, update.byteLength);
    this.#vector = this.#room.live.stateVector();
    this.#wholeSince = this.#room.beat;
  }

  #missing(stateVector: Uint8Array | undefined): Uint8Array {
    const { live } = this.#room;
    try {
      return live.missing(stateVector);
    } catch (error) {
      if (error instanceof Failure && error.code === 'INVALID_UPDATE') return live.missing();
      throw error;
    }
  }
}
