/**
 * One stream between two nodes that carries the records of many WebSockets, in one order. So a frame that is published crosses once for all
 * sockets of a node, and still comes to each of them behind what was sent to it before.
 *
 * A long message goes in pieces between the records of other sockets. Until its last piece has left, everything else for its socket waits behind
 * it in the socket's own way.
 */
import { FrameReader, frameHead, MalformedFrame } from '../framing.ts';
import type { PeerStream } from '../peer-stream.ts';
import { encodeShared, PIECE_BYTES, RECORD, recordBytesMax } from './records.ts';

/** With more records waiting for the peer, messages wait in the ways of their sockets, where each has its bound, and nothing is published. */
const CONGESTED_BYTES = 16 * 1024 * 1024;
/** Records between two pieces of long messages. */
const RUN_BYTES = 2 * PIECE_BYTES;
/** Of one message; documents and files are smaller. */
const MESSAGE_BYTES_MAX = 256 * 1024 * 1024;
/** Records that have left and are still in the list. */
const LEFT_MAX = 4096;
const NO_BYTES = Buffer.alloc(0);

export interface LaneEvents {
  /** `payload` is a view of received memory: copy what is kept. Not called for pieces, but for the whole that they make. */
  record(type: number, id: number, payload: Buffer): void;
  /** Whether messages of the socket are still wanted. */
  knows(id: number): boolean;
  /** The lane is not congested any more. */
  flowing(): void;
  /** The peer is lost, or does not keep to the protocol. Called once. */
  lost(): void;
}

export class Lane {
  readonly #stream: PeerStream;
  readonly #events: LaneEvents;
  readonly #reader = new FrameReader(recordBytesMax);
  /** Beginnings of messages that have come in pieces. */
  readonly #begun = new Map<number, { readonly pieces: Buffer[]; bytes: number }>();
  #records: Buffer[] = [];
  /** Those before it have left. */
  #first = 0;
  #recordBytes = 0;
  /** A message for these sockets, which is queued when something else follows or the turn ends. */
  #shared: { readonly message: Buffer; readonly isBinary: boolean; readonly ids: number[] } | undefined;
  /** Counts of records, for the order between them and the ways. */
  #queued = 0;
  #taken = 0;
  readonly #ways = new Set<Way>();
  /** What the stream had no room for. */
  #rest: Buffer = NO_BYTES;
  #runBytes = 0;
  #isFlushing = false;
  #wasCongested = false;
  #isOver = false;

  constructor(stream: PeerStream, events: LaneEvents) {
    this.#stream = stream;
    this.#events = events;
    stream.events = {
      data: (bytes) => this.#received(bytes),
      end: () => this.close(),
      writable: () => this.#flush(),
      reset: () => this.#over(),
    };
  }

  get isOpen(): boolean {
    return !this.#isOver;
  }

  get isCongested(): boolean {
    return this.#recordBytes > CONGESTED_BYTES;
  }

  /** Ways in which something waits. */
  get waiting(): ReadonlySet<Way> {
    return this.#ways;
  }

  /** The number of records so far. */
  get queued(): number {
    this.#queueShared();
    return this.#queued;
  }

  /** Sends the record behind all earlier ones. A payload that is longer than a piece is cut. */
  send(type: number, id: number, payload: Uint8Array = NO_BYTES): void {
    if (this.#isOver) return;
    this.#queueShared();
    let at = 0;
    for (; payload.length - at > PIECE_BYTES; at += PIECE_BYTES) this.#queue(RECORD.piece, id, payload.subarray(at, at + PIECE_BYTES));
    this.#queue(type, id, payload.subarray(at));
  }

  /** A record that may not be cut. */
  sendWhole(type: number, id: number, payload: Uint8Array): void {
    if (this.#isOver) return;
    this.#queueShared();
    this.#queue(type, id, payload);
  }

  /** Sends the message to the socket, once for all sockets in a row that get the same. */
  sendMessage(id: number, message: Uint8Array, isBinary: boolean): void {
    if (this.#isOver) return;
    if (this.#shared?.isBinary === isBinary && this.#shared.message.equals(message)) {
      this.#shared.ids.push(id);
      return;
    }
    this.#queueShared();
    this.#shared = { message: Buffer.from(message), isBinary, ids: [id] };
    this.#flushSoon();
  }

  /** The way has something to send. */
  enter(way: Way): void {
    if (this.#isOver) return;
    this.#ways.add(way);
    this.#flushSoon();
  }

  leave(way: Way): void {
    this.#ways.delete(way);
  }

  /** Forgets the beginning of a message of a socket that is over. */
  forget(id: number): void {
    this.#begun.delete(id);
  }

  close(): void {
    if (this.#isOver) return;
    this.#stream.reset();
    this.#over();
  }

  #queue(type: number, id: number, payload: Uint8Array): void {
    this.#records.push(recordOf(type, id, payload));
    this.#recordBytes += payload.length;
    this.#queued += 1;
    if (this.isCongested) this.#wasCongested = true;
    this.#flushSoon();
  }

  #queueShared(): void {
    const shared = this.#shared;
    if (shared === undefined) return;
    this.#shared = undefined;
    const { ids, message, isBinary } = shared;
    if (ids.length > 1) this.send(RECORD.shared, 0, encodeShared(shared));
    else this.send(isBinary ? RECORD.binary : RECORD.text, ids[0] ?? 0, message);
  }

  /** What is sent in one turn leaves together. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#isOver) return;
    this.#queueShared();
    const parts: Buffer[] = [];
    let room = this.#stream.room;
    while (room > 0) {
      const next = this.#rest.length > 0 ? this.#rest : this.#take();
      if (next === undefined) break;
      const part = next.subarray(0, room);
      this.#rest = next.subarray(part.length);
      parts.push(part);
      room -= part.length;
    }
    if (parts.length > 0) this.#stream.data(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
    if (!this.#wasCongested || this.isCongested) return;
    this.#wasCongested = false;
    this.#events.flowing();
  }

  /** The next record, or the next piece of a long message after enough records. */
  #take(): Buffer | undefined {
    const way = this.#first === this.#records.length || this.#runBytes >= RUN_BYTES ? this.#readyWay() : undefined;
    if (way !== undefined) {
      this.#runBytes = 0;
      // Behind the others.
      this.#ways.delete(way);
      this.#ways.add(way);
      const piece = way.next();
      if (!way.isWaiting) this.#ways.delete(way);
      return piece;
    }
    const record = this.#records[this.#first];
    if (record === undefined) return undefined;
    this.#first += 1;
    // `shift` would move a long list for each record.
    if (this.#first === this.#records.length || this.#first > LEFT_MAX) {
      this.#records = this.#records.slice(this.#first);
      this.#first = 0;
    }
    this.#taken += 1;
    this.#recordBytes -= record.length - HEAD_BYTES;
    this.#runBytes += record.length;
    return record;
  }

  #readyWay(): Way | undefined {
    for (const way of this.#ways) if (way.after <= this.#taken) return way;
    return undefined;
  }

  #received(bytes: Buffer): void {
    try {
      this.#reader.read(bytes, ({ type, id, payload }) => this.#record(type, id, payload));
    } catch (error) {
      this.close();
      if (error instanceof MalformedFrame) return;
      throw error;
    }
    this.#stream.took(bytes.length);
  }

  #record(type: number, id: number, payload: Buffer): void {
    if (this.#isOver) return;
    const isMessage = type === RECORD.text || type === RECORD.binary || type === RECORD.piece;
    if (isMessage && id !== 0 && !this.#events.knows(id)) return;
    if (type === RECORD.piece) {
      const begun = this.#begun.get(id) ?? { pieces: [], bytes: 0 };
      begun.pieces.push(payload);
      begun.bytes += payload.length;
      this.#begun.set(id, begun);
      if (begun.bytes > MESSAGE_BYTES_MAX) this.close();
      return;
    }
    const begun = isMessage || type === RECORD.publish || type === RECORD.shared ? this.#begun.get(id) : undefined;
    if (begun === undefined) {
      this.#events.record(type, id, payload);
      return;
    }
    this.#begun.delete(id);
    this.#events.record(type, id, Buffer.concat([...begun.pieces, payload], begun.bytes + payload.length));
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#records = [];
    this.#recordBytes = 0;
    this.#shared = undefined;
    this.#begun.clear();
    for (const way of [...this.#ways]) way.drop();
    this.#events.lost();
  }
}

const HEAD_BYTES = frameHead(0, 0, 0).length;

function recordOf(type: number, id: number, payload: Uint8Array): Buffer {
  return Buffer.concat([frameHead(type, id, payload.length), payload]);
}

interface Waiting {
  readonly type: number;
  readonly payload: Buffer;
}

/** The records of one socket, in their order. */
export class Way {
  readonly #lane: Lane;
  readonly id: number;
  /** Called when bytes that waited have left, or are dropped. */
  readonly #left: (bytes: number) => void;
  readonly #waiting: Waiting[] = [];
  /** Of the first that waits. */
  #sent = 0;
  #waitingBytes = 0;
  #after = 0;

  constructor(lane: Lane, id: number, left: (bytes: number) => void) {
    this.#lane = lane;
    this.id = id;
    this.#left = left;
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** How many records of the lane have to leave first, because some of them are of this socket. */
  get after(): number {
    return this.#after;
  }

  /** Whether a message of this length would have to wait. */
  holdsBack(bytes: number): boolean {
    return this.isWaiting || bytes > PIECE_BYTES || this.#lane.isCongested;
  }

  sendMessage(message: Uint8Array, isBinary: boolean): void {
    if (this.holdsBack(message.length)) this.send(isBinary ? RECORD.binary : RECORD.text, message);
    else this.#lane.sendMessage(this.id, message, isBinary);
  }

  /** Copies the payload. */
  send(type: number, payload: Uint8Array = NO_BYTES): void {
    if (!this.#lane.isOpen) return;
    if (!this.holdsBack(payload.length)) {
      this.#lane.send(type, this.id, payload);
      return;
    }
    if (!this.isWaiting) this.#after = this.#lane.queued;
    this.#waiting.push({ type, payload: Buffer.from(payload) });
    this.#waitingBytes += payload.length;
    this.#lane.enter(this);
  }

  /** The next record of those that wait, and of a long one the next piece. */
  next(): Buffer | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const { type, payload } = first;
    const part = payload.subarray(this.#sent, this.#sent + PIECE_BYTES);
    this.#sent += part.length;
    const isLast = this.#sent === payload.length;
    if (isLast) {
      this.#waiting.shift();
      this.#sent = 0;
    }
    this.#waitingBytes -= part.length;
    this.#left(part.length);
    return recordOf(isLast ? type : RECORD.piece, this.id, part);
  }

  /** Forgets what waits. */
  drop(): void {
    const bytes = this.#waitingBytes;
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
    this.#sent = 0;
    this.#lane.leave(this);
    if (bytes > 0) this.#left(bytes);
  }
}
