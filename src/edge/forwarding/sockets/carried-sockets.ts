/**
 * The owner's side: WebSockets whose clients are connected to other nodes. The door sees each of them as a socket of uWebSockets' own, so that
 * sessions, seats, watches over access and bounds are the same for both.
 */
import type { HttpRequest, HttpResponse, WebSocketBehavior } from 'uWebSockets.js';
import type { FanOut } from '../../fan-out.ts';
import type { SeatedSocket } from '../../socket-link.ts';
import { carriedRequest } from '../carried-call.ts';
import { decodeHead, type RequestHead } from '../heads.ts';
import type { PeerStream } from '../peer-stream.ts';
import { Asking } from './asking.ts';
import { Lane, Way } from './lane.ts';
import { decodeClose, decodeTaken, encodeClose, encodePublished, RECORD } from './records.ts';
import { REPORT_BYTES } from './relayed-socket.ts';

/** Less under way to the front is not waiting: the front tells about it in steps. */
const UNDER_WAY_BYTES = 2 * REPORT_BYTES;
/**
 * May be under way to a client beyond its high-water mark. A kernel takes as much for a connection of this node, and what is under way between
 * the nodes says nothing about the client.
 */
const UNDER_WAY_BYTES_MAX = 1024 * 1024;
/** RFC 6455, 7.4.1: the connection was lost. */
const LOST = 1006;
/** What uWebSockets' `send` answers. */
const QUEUED = 0;
const SENT = 1;
const DROPPED = 2;
const NO_REASON = new ArrayBuffer(0);

/** Handlers of one endpoint's sockets, as they are given to uWebSockets. */
export type Behavior<S> = Required<
  Pick<WebSocketBehavior<SeatedSocket<S>>, 'open' | 'message' | 'dropped' | 'drain' | 'close' | 'maxBackpressure'>
>;

export interface CarriedSocketsDeps<S> {
  /** Decides about the upgrade as about one that comes to this node. */
  readonly take: (response: HttpResponse, request: HttpRequest) => void;
  readonly behaviorOf: (data: SeatedSocket<S>) => Behavior<S>;
  /** Publishes to the sockets of this node itself. */
  readonly local: Pick<FanOut, 'publish'>;
}

export class CarriedSockets<S> {
  readonly #deps: CarriedSocketsDeps<S>;
  readonly #fronts = new Set<Front<S>>();

  constructor(deps: CarriedSocketsDeps<S>) {
    this.#deps = deps;
  }

  get count(): number {
    let count = 0;
    for (const { sockets } of this.#fronts) count += sockets.size;
    return count;
  }

  /** A node that keeps clients of artifacts of this one. */
  takeLane(stream: PeerStream): void {
    const front = new Front(stream, this.#deps, () => this.#fronts.delete(front));
    this.#fronts.add(front);
  }

  /** Sends the frame once to every node with subscribers of the topic. */
  carry(topic: string, frame: Uint8Array | string, isBinary: boolean, author?: unknown): void {
    let bytes: Uint8Array | undefined;
    for (const front of this.#fronts) {
      if (!front.hears(topic)) continue;
      bytes ??= typeof frame === 'string' ? Buffer.from(frame) : frame;
      front.publish(topic, bytes, isBinary, author);
    }
  }
}

/** One node that keeps clients, and its sockets by their numbers. */
class Front<S> {
  readonly lane: Lane;
  readonly sockets = new Map<number, CarriedSocket<S>>();
  readonly deps: CarriedSocketsDeps<S>;
  readonly #topics = new Map<string, Set<CarriedSocket<S>>>();
  /** Upgrades that are not decided. */
  readonly #asking = new Map<number, Asking>();
  readonly #over: () => void;

  constructor(stream: PeerStream, deps: CarriedSocketsDeps<S>, over: () => void) {
    this.deps = deps;
    this.#over = over;
    this.lane = new Lane(stream, {
      record: (type, id, payload) => this.#record(type, id, payload),
      knows: (id) => this.sockets.has(id),
      flowing: () => {
        for (const socket of [...this.sockets.values()]) socket.moved();
      },
      lost: () => this.#lost(),
    });
  }

  subscribe(topic: string, socket: CarriedSocket<S>): void {
    const sockets = this.#topics.get(topic);
    if (sockets === undefined) this.#topics.set(topic, new Set([socket]));
    else sockets.add(socket);
  }

  unsubscribe(topic: string, socket: CarriedSocket<S>): void {
    const sockets = this.#topics.get(topic);
    if (sockets?.delete(socket) && sockets.size === 0) this.#topics.delete(topic);
  }

  hears(topic: string): boolean {
    return this.#topics.has(topic);
  }

  publish(topic: string, frame: Uint8Array, isBinary: boolean, author: unknown): void {
    const sockets = this.#topics.get(topic);
    if (sockets === undefined) return;
    if (this.lane.isCongested) {
      for (const socket of [...sockets]) if (socket !== author) socket.missed();
      return;
    }
    const behind = this.#behind(topic, author);
    const members = behind.filter((socket) => sockets.has(socket));
    const isMember = author instanceof CarriedSocket && sockets.has(author);
    const except = [...(isMember ? [author.id] : []), ...behind.map(({ id }) => id)];
    if (members.length + Number(isMember) < sockets.size)
      this.lane.send(RECORD.publish, 0, encodePublished({ topic, isBinary, except, frame }));
    for (const socket of members) socket.publishBehind(frame, isBinary);
  }

  /** Subscribers, as the front knows them, for which something waits in a way of their own. */
  #behind(topic: string, author: unknown): readonly CarriedSocket<S>[] {
    const behind: CarriedSocket<S>[] = [];
    for (const way of this.lane.waiting) {
      const socket = this.sockets.get(way.id);
      if (socket !== undefined && socket !== author && (socket.isSubscribed(topic) || socket.isLeaving(topic))) behind.push(socket);
    }
    return behind;
  }

  upgraded(id: number, data: SeatedSocket<S>): void {
    this.#asking.delete(id);
    this.lane.send(RECORD.upgraded, id);
    const socket = new CarriedSocket(id, data, this, this.deps.behaviorOf(data));
    this.sockets.set(id, socket);
    socket.opened();
  }

  refused(id: number, head: Buffer | undefined): void {
    this.#asking.delete(id);
    this.lane.sendWhole(RECORD.refused, id, head ?? Buffer.alloc(0));
  }

  #record(type: number, id: number, payload: Buffer): void {
    if (type === RECORD.open) this.#ask(id, payload);
    else if (type === RECORD.closed && this.#asking.has(id)) this.#abandon(id);
    else this.sockets.get(id)?.record(type, payload);
  }

  #ask(id: number, payload: Buffer): void {
    const { head } = decodeHead<RequestHead>(payload);
    const asking = new Asking((answer) => this.refused(id, answer));
    this.#asking.set(id, asking);
    this.deps.take(
      asking.response(head, (data) => this.upgraded(id, data as SeatedSocket<S>)),
      carriedRequest(head),
    );
  }

  /** The client has left. */
  #abandon(id: number): void {
    const asking = this.#asking.get(id);
    this.#asking.delete(id);
    asking?.events.reset();
  }

  #lost(): void {
    this.#over();
    for (const id of [...this.#asking.keys()]) this.#abandon(id);
    for (const socket of [...this.sockets.values()]) socket.lost();
  }
}

/** As `SocketLink` and the door use uWebSockets' own. */
class CarriedSocket<S> {
  readonly id: number;
  readonly #data: SeatedSocket<S>;
  readonly #front: Front<S>;
  readonly #behavior: Behavior<S>;
  readonly #way: Way;
  readonly #topics = new Set<string>();
  /** Topics that it has left, which the front learns behind what waits. */
  readonly #leaving = new Set<string>();
  /** Bytes that have not come to the client's socket, and those that wait there. */
  #underWay = 0;
  #waitingThere = 0;
  /** The session was told that it has to wait, and is told when it need not any more. */
  #wasBuffered = false;
  #isOver = false;

  constructor(id: number, data: SeatedSocket<S>, front: Front<S>, behavior: Behavior<S>) {
    this.id = id;
    this.#data = data;
    this.#front = front;
    this.#behavior = behavior;
    this.#way = new Way(front.lane, id, () => {
      if (this.#way.isWaiting) return;
      this.#leaving.clear();
      queueMicrotask(() => this.moved());
    });
  }

  opened(): void {
    this.#behavior.open(this.#own);
  }

  getUserData(): SeatedSocket<S> {
    return this.#data;
  }

  getBufferedAmount(): number {
    const isWaiting = this.#way.isWaiting || this.#underWay >= UNDER_WAY_BYTES || this.#front.lane.isCongested;
    const bytes = (isWaiting ? Math.max(this.#underWay, 1) : 0) + this.#waitingThere;
    if (bytes > 0) this.#wasBuffered = true;
    return bytes;
  }

  send(message: Uint8Array | string, isBinary: boolean): number {
    if (this.#isOver || !this.#hasRoom()) return DROPPED;
    const bytes = typeof message === 'string' ? Buffer.from(message) : message;
    this.#underWay += bytes.length;
    this.#way.sendMessage(bytes, isBinary);
    return this.getBufferedAmount() > 0 ? QUEUED : SENT;
  }

  #hasRoom(): boolean {
    const { maxBackpressure } = this.#behavior;
    return this.#waitingThere <= maxBackpressure && this.getBufferedAmount() <= maxBackpressure + UNDER_WAY_BYTES_MAX;
  }

  cork(run: () => void): void {
    run();
  }

  subscribe(topic: string): void {
    if (this.#isOver || this.#topics.has(topic)) return;
    this.#topics.add(topic);
    this.#front.subscribe(topic, this);
    this.#way.send(RECORD.subscribe, Buffer.from(topic));
  }

  unsubscribe(topic: string): void {
    if (this.#isOver || !this.#topics.delete(topic)) return;
    this.#front.unsubscribe(topic, this);
    this.#way.send(RECORD.unsubscribe, Buffer.from(topic));
    if (this.#way.isWaiting) this.#leaving.add(topic);
  }

  /** The front still has it among the subscribers. */
  isLeaving(topic: string): boolean {
    return this.#leaving.has(topic);
  }

  isSubscribed(topic: string): boolean {
    return this.#topics.has(topic);
  }

  /** To the sockets of this node; `FanOut.carry` follows. */
  publish(topic: string, message: Uint8Array | string, isBinary: boolean): void {
    this.#front.deps.local.publish(topic, message, isBinary);
  }

  end(code: number, reason: Uint8Array): void {
    if (this.#isOver) return;
    this.#way.send(RECORD.end, encodeClose(code, reason));
    this.#close(code, NO_REASON);
  }

  close(): void {
    if (this.#isOver) return;
    this.#way.drop();
    this.#front.lane.send(RECORD.cut, this.id);
    this.#close(LOST, NO_REASON);
  }

  /** The lane is lost. */
  lost(): void {
    this.#close(LOST, NO_REASON);
  }

  /** A published frame is not sent to it. */
  missed(): void {
    this.#wasBuffered = true;
    this.#behavior.dropped(this.#own, NO_REASON, true);
  }

  publishBehind(frame: Uint8Array, isBinary: boolean): void {
    if (this.send(frame, isBinary) === DROPPED) this.missed();
  }

  /** Something has left, or has been taken. */
  moved(): void {
    if (this.#isOver || !this.#wasBuffered) return;
    this.#wasBuffered = this.getBufferedAmount() > 0;
    this.#behavior.drain(this.#own);
  }

  record(type: number, payload: Buffer): void {
    if (type === RECORD.binary || type === RECORD.text) {
      const data = payload.buffer.slice(payload.byteOffset, payload.byteOffset + payload.length) as ArrayBuffer;
      this.#behavior.message(this.#own, data, type === RECORD.binary);
    } else if (type === RECORD.taken) {
      const { bytes, waitingBytes } = decodeTaken(payload);
      this.#underWay = Math.max(0, this.#underWay - bytes);
      this.#waitingThere = waitingBytes;
      if (waitingBytes > 0) this.#wasBuffered = true;
      this.moved();
    } else if (type === RECORD.dropped) this.missed();
    else if (type === RECORD.closed) {
      const { code, reason } = decodeClose(payload);
      this.#way.drop();
      this.#close(code, Uint8Array.from(reason).buffer);
    }
  }

  // The handlers are declared for sockets of uWebSockets, and use no more of them than is here.
  get #own() {
    return this as unknown as Parameters<Behavior<S>['open']>[0];
  }

  /** As uWebSockets does, the handler runs within whatever closed it. */
  #close(code: number, reason: ArrayBuffer): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const topic of this.#topics) this.#front.unsubscribe(topic, this);
    this.#topics.clear();
    this.#front.sockets.delete(this.id);
    this.#front.lane.forget(this.id);
    this.#behavior.close(this.#own, code, reason);
  }
}
