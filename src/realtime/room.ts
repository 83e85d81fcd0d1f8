/** The clients of one live document, over both protocols. Changes of one are published to the others, and slow ones catch up with a difference. */

import type { DocumentListener, LiveDocument } from '../../actors/documents/live-document.ts';
import { type Missing, UpdateGap } from '../../actors/documents/update-gap.ts';
import type { Clock, Timer } from '../../actors/runtime/ports.ts';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { Holders } from '../platform/shares.ts';
import { AwarenessTable } from './awareness.ts';
import type { Outflow, Receiver } from './outflow.ts';
import { Resync } from './resync.ts';
import type { RoomMember, Seat } from './room-types.ts';
import { type SyncBudgets, type SyncRequest, SyncRequests } from './sync-requests.ts';
import { frameAwareness, frameSyncStep1, frameSyncStep2, frameSyncUpdate, writeAwareness } from './wire.ts';

/** With more members awareness changes are gathered, so that 500 moving cursors do not make 250 000 frames at once. */
const CROWD = 20;
const CROWD_GAP_MS = 50;
/**
 * Edits that follow one another faster than this are published together, because the write of a frame to each reader is most of the cost of
 * an edit. A display shows a frame every 16 ms.
 */
const EDIT_GAP_MS = 10;
/** Bytes of edits that may wait for the gap to pass. */
const UNSENT_BYTES_MAX = 64 * 1024;

export interface RoomDeps {
  readonly clock: Clock;
  readonly artifactId: string;
  readonly outflow: Outflow;
  readonly syncBudgets: SyncBudgets;
  /** Runs in a turn of the artifact's actor; settles once everything that the turn has seen is committed. */
  ask<T>(turn: () => T): T | Promise<T>;
  /** Called when the last member has left or the document has ended. */
  onEmpty(room: Room): void;
}

/** Members that get identical bytes: all of protocol A, or those of protocol B under one address. */
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
  /** Edits that are not published yet, and the time of the last publish. */
  #unsent: Unsent[] = [];
  #unsentBytes = 0;
  #sentMs = Number.NEGATIVE_INFINITY;
  #sendTimer: Timer | undefined;
  /** Ids whose awareness changes are not published yet, and the time of the last publish. */
  readonly #untold = new Set<number>();
  #toldMs = Number.NEGATIVE_INFINITY;
  #tellTimer: Timer | undefined;
  #everybody: Uint8Array | undefined;
  #isOver = false;
  /** Counts beats. The state vectors at the last two are kept: a member that missed nothing since before the older one has at least that state. */
  beat = 0;
  #vectors: readonly [older: Uint8Array | undefined, newer: Uint8Array | undefined] = [undefined, undefined];

  /** Must run in a turn of the document's actor. */
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

  /** The state vector of the beat before the last. By now everything published before it was sent, or its loss was reported. */
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

  /** Publishes the first edit after a silence at once, and gathers those that follow it. */
  updated(update: Uint8Array, origin: unknown): void {
    if (this.#seats.size === 1 && origin instanceof RoomSeat && this.#seats.has(origin)) return;
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
    // A call of one of the members may have ended the document, and `ended` must not run within it.
    queueMicrotask(() => {
      for (const { member } of seats) member.over();
    });
  }

  /** Publishes the states of these clients to all members, including themselves, so that their connections do not look dead. */
  tell(clientIds: readonly number[]): void {
    if (clientIds.length === 0) return;
    for (const clientId of clientIds) this.#untold.add(clientId);
    this.#everybody = undefined;
    if (this.#tellTimer !== undefined) return;
    const dueMs = this.#seats.size <= CROWD ? Math.max(this.#toldMs, this.#sentMs) + EDIT_GAP_MS : this.#toldMs + CROWD_GAP_MS;
    const waitMs = dueMs - this.deps.clock.monotonicMs();
    if (waitMs <= 0) this.#tellNow();
    else this.#tellTimer = this.deps.clock.after(waitMs, () => this.#tellNow());
  }

  /** Body of an awareness message with all present clients; undefined where there are none. */
  everybody(): Uint8Array | undefined {
    if (this.awareness.size === 0) return undefined;
    this.#everybody ??= writeAwareness(this.awareness.all());
    return this.#everybody;
  }

  /** Called every few seconds. */
  onBeat(): void {
    if (this.isOver) return;
    this.beat += 1;
    this.#vectors = [this.#vectors[1], this.live.stateVector()];
    this.tell(this.awareness.sweep(this.deps.clock.monotonicMs()));
    for (const seat of this.#seats) seat.onBeat();
  }

  /** Encodes the update once for each group of identical bytes. Its author already has it. */
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
    // A cursor may refer to a character that is not published yet.
    this.#sendNow();
    this.#tellTimer = undefined;
    this.#toldMs = this.deps.clock.monotonicMs();
    const states = writeAwareness(this.awareness.entriesOf(this.#untold));
    this.#untold.clear();
    for (const { address, topic, seats } of this.#audiences.values()) this.#broadcast(topic, seats, frameAwareness(states, address));
  }

  #broadcast(topic: string, seats: ReadonlySet<RoomSeat>, frame: Uint8Array): void {
    // Any member will do, because only its connection is used to publish.
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
  readonly holders: Holders;
  readonly #room: Room;
  readonly #topic: string;
  readonly #by: string | null;
  /** A state vector that the member has, or will have when the frames in flight arrive; undefined where unknown. */
  #vector: Uint8Array | undefined;
  /** The beat since which the member has missed nothing. */
  #wholeSince: number;
  /** A frame was dropped. The member gets nothing until its link has drained, and then the difference. */
  #isBehind = false;
  #hasLeft = false;
  /** The failure of a refused change. The member's later changes build on it, so they are refused with the same failure. */
  #refusal: Failure | undefined;
  readonly #requests: SyncRequests;
  readonly #resync: Resync;
  /** The SyncStep2 that comes now answers a request of the room's own. */
  #isOwnAnswer = false;
  /** What the member's last answer built on and nobody had; undefined where that is nothing. */
  #lacked: Missing | undefined;
  #answerBytes = 0;

  constructor(room: Room, member: RoomMember, topic: string) {
    this.#room = room;
    this.member = member;
    const { network, principal } = member;
    const caller = principal.kind === 'anonymous' ? undefined : principal.tokenId;
    this.holders = { network, caller, artifact: room.deps.artifactId };
    this.#topic = topic;
    this.#wholeSince = room.beat;
    this.#by = member.principal.kind === 'user' ? member.principal.userId : null;
    const { clock, artifactId, syncBudgets } = room.deps;
    const asker = { link: member.link, network: member.network, artifactId };
    this.#requests = new SyncRequests(syncBudgets, asker, (request) => this.#answer(request));
    this.#resync = new Resync(clock, () => this.sendStep1());
  }

  get unreadBytes(): number {
    return this.member.link.bufferedBytes;
  }

  get identity() {
    return this.member.identity;
  }

  answered(): boolean {
    this.#isOwnAnswer = this.#resync.answered();
    return this.#isOwnAnswer;
  }

  apply(update: Uint8Array, isAnswer = false): boolean | Promise<boolean> {
    if (this.#hasLeft || this.#room.live.isOver) throw new Failure('OWNER_MOVED', { retryAfterS: 1 });
    if (this.#refusal !== undefined) throw this.#refusal;
    let hasGap = false;
    const turn = () => {
      try {
        return isAnswer ? this.#takeAnswer(update) : this.#room.live.apply(update, this.#by, this);
      } catch (error) {
        hasGap = error instanceof UpdateGap && !isAnswer;
        if (hasGap) return false;
        // This is set before the answer, which may wait for a commit while later changes arrive.
        if (error instanceof Failure) this.#refusal = error;
        throw error;
      }
    };
    if (isAnswer && this.#isOwnAnswer) return this.#applyOwnAnswer(turn);
    const outcome = this.#room.deps.ask(turn);
    // The document lacks something of this member, who can send it.
    return hasGap ? this.#resync.missing() : outcome;
  }

  onBeat(): void {
    if (this.#lacked === undefined || !this.#room.live.hasCome(this.#lacked)) return;
    this.#lacked = undefined;
    this.#resync.again();
  }

  #applyOwnAnswer(turn: () => boolean): boolean | Promise<boolean> {
    this.#isOwnAnswer = false;
    try {
      const outcome = this.#room.deps.ask(turn);
      this.#resync.settle(outcome);
      return outcome;
    } catch (error) {
      this.#resync.fail(error);
      throw error;
    }
  }

  #takeAnswer(update: Uint8Array): boolean {
    const { isNew, missing } = this.#room.live.applyAnswer(update, this.#by, this);
    this.#lacked = missing;
    return isNew;
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
    const isSent = this.member.link.send(frameSyncStep1(this.#room.live.stateVector(), this.member.address)) !== 'skipped';
    if (isSent) this.#resync.sent();
    return isSent;
  }

  requested(request: SyncRequest): void {
    if (this.#room.isOver || this.#hasLeft) return;
    this.#requests.ask(request);
  }

  #answer({ stateVector, before, awareness }: SyncRequest): number {
    if (this.#room.isOver || this.#hasLeft) return 0;
    this.#answerBytes = 0;
    before?.();
    if (stateVector !== undefined) {
      if (this.#isBehind) this.#vector = stateVector.slice();
      else this.#sendDifference(stateVector);
    }
    if (awareness === true) {
      this.sendAwareness();
      this.#answerBytes += this.#room.everybody()?.byteLength ?? 0;
    }
    return this.#answerBytes;
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
    // The missed frame was published recently, so a member that was up to date has the state of two beats ago.
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

  /** Its client comes back and asks again, where silence would look like a document without changes. */
  waitedTooLong(): void {
    this.member.link.close(CLOSE.overloaded, 'The server has more to send than it can at the moment.');
  }

  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#requests.stop();
    this.#resync.stop();
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
    this.#answerBytes = update.byteLength;
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
