/**
 * One connection to a peer, after the handshake: its streams, fair turns among them, credit, and pings that notice a silent peer.
 *
 * A sender may have STREAM_WINDOW bytes of a stream under way; the receiver gives credit back as it passes bytes on. So a slow reader holds up
 * its own stream and costs at most this much memory on each side.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../../actors/runtime/ports.ts';
import { type Frame, FrameReader, frameHead } from '../../edge/forwarding/framing.ts';
import type { PeerStream, StreamEvents } from '../../edge/forwarding/peer-stream.ts';
import { creditFrame, DATA_BYTES_MAX, FRAME, type FrameType, frameBytesMax } from './frames.ts';
import type { PeerName } from './handshake.ts';

export const STREAM_WINDOW_BYTES = 256 * 1024;
/** Calls under way on one connection. */
export const STREAMS_MAX = 4096;
/** Credit is given back in such steps, because each costs a frame. */
const CREDIT_STEP_BYTES = STREAM_WINDOW_BYTES / 4;
/** What waits for the socket of one connection; beyond it nobody may send more until it has drained. */
const QUEUED_BYTES_MAX = 16 * 1024 * 1024;
const PING_MS = 1000;
/** A peer that says nothing for so long is gone, or is paused and will not own anything when it wakes. */
export const SILENCE_MS = 3000;

const NO_BYTES = Buffer.alloc(0);
const DEAF: StreamEvents = { data: () => undefined, end: () => undefined, writable: () => undefined, reset: () => undefined };

export interface ConnectionDeps {
  readonly clock: Clock;
  /** A stream that the peer has opened. Absent where this side opens them. */
  readonly opened?: (stream: PeerStream, head: Buffer, peer: PeerName) => void;
  /** The connection is lost; all its streams have been reset. */
  readonly closed: (why: string) => void;
}

export class PeerConnection {
  readonly peer: PeerName;
  readonly #socket: Socket;
  readonly #deps: ConnectionDeps;
  readonly #reader = new FrameReader<FrameType>(frameBytesMax);
  readonly #streams = new Map<number, Stream>();
  /** Streams with frames that wait, in the order of their turns. */
  readonly #turns = new Set<Stream>();
  /** Frames that belong to no stream's order: credit, resets, pings. They go first. */
  #urgent: Buffer[] = [];
  #queuedBytes = 0;
  #isFull = false;
  #isFlushing = false;
  #nextStream = 1;
  #heardMs: number;
  #watchedMs: number;
  #timer: Timer;
  #isClosed = false;

  constructor(socket: Socket, peer: PeerName, deps: ConnectionDeps) {
    this.#socket = socket;
    this.peer = peer;
    this.#deps = deps;
    this.#heardMs = deps.clock.monotonicMs();
    this.#watchedMs = this.#heardMs;
    this.#timer = deps.clock.after(PING_MS, () => this.#watch());
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.received(bytes));
    socket.on('drain', () => {
      this.#isFull = false;
      this.#flush();
    });
    socket.on('error', (error) => this.close(error.message));
    socket.on('close', () => this.close('the peer has closed it'));
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Bytes that wait for the socket. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Undefined where no further call can be forwarded on this connection now. */
  open(head: Buffer): PeerStream | undefined {
    if (this.#isClosed || this.#streams.size >= STREAMS_MAX || this.#queuedBytes > QUEUED_BYTES_MAX) return undefined;
    const stream = new Stream(this.#nextStream, this.#wire);
    this.#nextStream = this.#nextStream === 0xffff_ffff ? 1 : this.#nextStream + 1;
    this.#streams.set(stream.id, stream);
    stream.queue(FRAME.open, head);
    return stream;
  }

  received(bytes: Buffer): void {
    this.#heardMs = this.#deps.clock.monotonicMs();
    try {
      this.#reader.read(bytes, (frame) => this.#take(frame));
    } catch (error) {
      this.close((error as Error).message);
    }
  }

  close(why: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer.cancel();
    this.#socket.destroy();
    for (const stream of [...this.#streams.values()]) stream.lost();
    this.#streams.clear();
    this.#turns.clear();
    this.#deps.closed(why);
  }

  #take({ type, id, payload }: Frame<FrameType>): void {
    if (type === FRAME.ping) this.#send(frameHead(FRAME.pong, 0, 0));
    else if (type === FRAME.open) this.#opened(id, payload);
    // A stream that is over here may still get frames that were under way.
    else if (type !== FRAME.pong) this.#streams.get(id)?.take(type, payload);
  }

  #opened(id: number, head: Buffer): void {
    const { opened } = this.#deps;
    if (opened === undefined || this.#streams.has(id)) {
      this.close('it opened a stream that it may not open');
      return;
    }
    if (this.#streams.size >= STREAMS_MAX) {
      this.#send(frameHead(FRAME.reset, id, 0));
      return;
    }
    const stream = new Stream(id, this.#wire);
    this.#streams.set(id, stream);
    opened(stream, head, this.peer);
  }

  readonly #wire: Wire = {
    hasRoom: () => !this.#isClosed && this.#queuedBytes <= QUEUED_BYTES_MAX,
    queued: (stream, bytes) => {
      this.#queuedBytes += bytes;
      this.#turns.add(stream);
      this.#flushSoon();
    },
    dropped: (stream, bytes) => {
      this.#queuedBytes -= bytes;
      this.#turns.delete(stream);
    },
    urgent: (frame) => this.#send(frame),
    over: (stream) => this.#streams.delete(stream.id),
  };

  #send(frame: Buffer): void {
    this.#urgent.push(frame);
    this.#flushSoon();
  }

  /** What is sent in one turn of the event loop leaves in one write. */
  #flushSoon(): void {
    if (this.#isFlushing || this.#isClosed) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#isClosed || this.#isFull) return;
    const wasFull = !this.#wire.hasRoom();
    this.#socket.cork();
    for (const frame of this.#urgent.splice(0)) this.#write(frame);
    while (!this.#isFull) {
      const [stream] = this.#turns;
      if (stream === undefined) break;
      // One frame a turn: a large body does not hold up the small ones.
      this.#turns.delete(stream);
      const frame = stream.next();
      if (frame === undefined) continue;
      this.#turns.add(stream);
      for (const part of frame) {
        this.#queuedBytes -= part.length;
        this.#write(part);
      }
    }
    this.#socket.uncork();
    if (wasFull && this.#wire.hasRoom()) for (const stream of [...this.#streams.values()]) stream.events.writable();
  }

  #write(bytes: Buffer): void {
    if (bytes.length > 0 && !this.#socket.write(bytes)) this.#isFull = true;
  }

  #watch(): void {
    if (this.#isClosed) return;
    const nowMs = this.#deps.clock.monotonicMs();
    // Where this process itself was paused, what the peer has said meanwhile is still to be read.
    const wasPaused = nowMs - this.#watchedMs > 2 * PING_MS;
    this.#watchedMs = nowMs;
    if (!wasPaused && nowMs - this.#heardMs >= SILENCE_MS) {
      this.close('the peer is silent');
      return;
    }
    this.#send(frameHead(FRAME.ping, 0, 0));
    this.#timer = this.#deps.clock.after(PING_MS, () => this.#watch());
  }
}

/** What a stream needs of its connection. */
interface Wire {
  hasRoom(): boolean;
  queued(stream: Stream, bytes: number): void;
  dropped(stream: Stream, bytes: number): void;
  urgent(frame: Buffer): void;
  over(stream: Stream): void;
}

class Stream implements PeerStream {
  readonly id: number;
  events: StreamEvents = DEAF;
  readonly #wire: Wire;
  /** Head and payload of the frames that wait for their turn. */
  readonly #waiting: [Buffer, Buffer][] = [];
  #waitingBytes = 0;
  #credit = STREAM_WINDOW_BYTES;
  /** What the peer may still send. */
  #granted = STREAM_WINDOW_BYTES;
  #taken = 0;
  #isEnded = false;
  #isPeerEnded = false;
  #isOver = false;

  constructor(id: number, wire: Wire) {
    this.id = id;
    this.#wire = wire;
  }

  get isOpen(): boolean {
    return !this.#isOver;
  }

  get room(): number {
    return this.#isOver || this.#isEnded || !this.#wire.hasRoom() ? 0 : this.#credit;
  }

  head(payload: Buffer): void {
    this.queue(FRAME.head, payload);
  }

  data(payload: Uint8Array): void {
    if (this.#isOver || this.#isEnded) return;
    if (payload.length > this.#credit) throw new Error('More is sent on a stream than its peer has room for');
    this.#credit -= payload.length;
    // Copied, because it waits for its turn and belongs to somebody else.
    const bytes = Buffer.from(payload);
    for (let at = 0; at < bytes.length; at += DATA_BYTES_MAX) this.queue(FRAME.data, bytes.subarray(at, at + DATA_BYTES_MAX));
  }

  end(): void {
    if (this.#isOver || this.#isEnded) return;
    this.queue(FRAME.end, NO_BYTES);
    this.#isEnded = true;
    if (this.#isPeerEnded) this.#over();
  }

  reset(): void {
    if (this.#isOver) return;
    this.#forget();
    this.#wire.urgent(frameHead(FRAME.reset, this.id, 0));
    this.#over();
  }

  took(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken < CREDIT_STEP_BYTES || this.#isOver || this.#isPeerEnded) return;
    this.#granted += this.#taken;
    this.#wire.urgent(creditFrame(this.id, this.#taken));
    this.#taken = 0;
  }

  queue(type: FrameType, payload: Buffer): void {
    if (this.#isOver || this.#isEnded) return;
    const head = frameHead(type, this.id, payload.length);
    this.#waiting.push([head, payload]);
    this.#waitingBytes += head.length + payload.length;
    this.#wire.queued(this, head.length + payload.length);
  }

  next(): readonly [Buffer, Buffer] | undefined {
    const frame = this.#waiting.shift();
    if (frame !== undefined) this.#waitingBytes -= frame[0].length + frame[1].length;
    return frame;
  }

  take(type: FrameType, payload: Buffer): void {
    switch (type) {
      case FRAME.head:
        this.events.head?.(payload);
        break;
      case FRAME.data:
        this.#granted -= payload.length;
        // A peer that sends more than it may does not keep the rules.
        if (this.#granted < 0 || this.#isPeerEnded) this.#refuse();
        else this.events.data(payload);
        break;
      case FRAME.end:
        this.#isPeerEnded = true;
        this.events.end();
        if (this.#isEnded) this.#over();
        break;
      case FRAME.reset:
        this.lost();
        break;
      case FRAME.credit:
        if (payload.length !== 4) this.#refuse();
        else {
          this.#credit = Math.min(STREAM_WINDOW_BYTES, this.#credit + payload.readUInt32BE(0));
          this.events.writable();
        }
        break;
    }
  }

  /** It is over without a word to the peer. */
  lost(): void {
    if (this.#isOver) return;
    this.#forget();
    this.#over();
    this.events.reset();
  }

  #refuse(): void {
    const { events } = this;
    this.reset();
    events.reset();
  }

  #forget(): void {
    if (this.#waiting.length > 0) this.#wire.dropped(this, this.#waitingBytes);
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
  }

  /** What waits for its turn still leaves. */
  #over(): void {
    this.#isOver = true;
    this.#wire.over(this);
  }
}
