/** One open WebSocket. Only this file touches uWebSockets' own socket, which is invalid once it is closed. */
import type { WebSocket } from 'uWebSockets.js';
import type { FanOut } from './fan-out.ts';
import type { Link, SendOutcome } from './socket.ts';
import { utf8 } from './utf8.ts';

/** The user data of a socket. uWebSockets copies its fields onto an object of its own. */
export interface SeatedSocket<S> {
  readonly seat: S;
}

/** RFC 6455, 5.5: a control frame has 125 bytes, two of them the code. */
const REASON_BYTES_MAX = 123;
/** A close frame behind a longer backlog would reach a peer that does not read only after minutes, if at all. Its connection is cut instead. */
const CLOSING_BACKLOG_BYTES_MAX = 64 * 1024;
// Return values of `send`.
const QUEUED = 0;
const SENT = 1;

type State = 'open' | 'leaving' | 'over';

export class SocketLink<S = unknown> implements Link {
  readonly #socket: WebSocket<SeatedSocket<S>>;
  readonly #fanOut: FanOut;
  readonly #ended: () => void;
  #state: State = 'open';
  #isRefused = false;

  /** `ended` is called where the session closes the link after the peer has left. */
  constructor(socket: WebSocket<SeatedSocket<S>>, fanOut: FanOut, ended: () => void) {
    this.#socket = socket;
    this.#fanOut = fanOut;
    this.#ended = ended;
  }

  /** True also while frames of a peer that has left are handled. */
  get isOpen(): boolean {
    return this.#state !== 'over';
  }

  /** The peer has left, and frames that it sent before are still handled. */
  get isLeaving(): boolean {
    return this.#state === 'leaving';
  }

  /** This side has closed it for a reason that also refuses what the peer has sent before. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  get bufferedBytes(): number {
    return this.#state === 'open' ? this.#socket.getBufferedAmount() : 0;
  }

  send(frame: Uint8Array | string): SendOutcome {
    // Nobody reads any more, and a session must not keep the frame in order to send it again.
    if (this.#state === 'leaving') return 'sent';
    if (this.#state === 'over') return 'skipped';
    const outcome = this.#socket.send(utf8(frame), typeof frame !== 'string');
    if (outcome === SENT) return 'sent';
    return outcome === QUEUED ? 'queued' : 'skipped';
  }

  together(sending: () => void): void {
    if (this.#state === 'open') this.#socket.cork(sending);
    else if (this.#state === 'leaving') sending();
  }

  subscribe(topic: string): void {
    if (this.#state === 'open') this.#socket.subscribe(topic);
  }

  unsubscribe(topic: string): void {
    if (this.#state === 'open') this.#socket.unsubscribe(topic);
  }

  publish(topic: string, frame: Uint8Array | string): void {
    if (this.#state === 'over') return;
    // uWebSockets drops what a socket publishes to a topic that it has not subscribed to.
    if (this.#state !== 'open' || !this.#socket.isSubscribed(topic)) {
      this.broadcast(topic, frame);
      return;
    }
    this.#socket.publish(topic, utf8(frame), typeof frame !== 'string');
    this.#fanOut.carry(topic, frame, typeof frame !== 'string', this.#socket);
  }

  broadcast(topic: string, frame: Uint8Array | string): void {
    this.#fanOut.publish(topic, utf8(frame), typeof frame !== 'string');
    this.#fanOut.carry(topic, frame, typeof frame !== 'string');
  }

  close(code: number, reason: string): void {
    this.#isRefused = true;
    if (this.#state === 'leaving') this.#ended();
    else this.goodbye(code, reason);
  }

  /** Closes it as the peer would: what has been received before is still handled. */
  goodbye(code: number, reason: string): void {
    if (this.#state !== 'open') return;
    if (this.bufferedBytes > CLOSING_BACKLOG_BYTES_MAX) {
      this.#cut();
      return;
    }
    let bytes = Buffer.from(reason);
    // Cuts between characters, never within one.
    if (bytes.length > REASON_BYTES_MAX)
      bytes = Buffer.from(
        bytes
          .subarray(0, REASON_BYTES_MAX)
          .toString('utf8')
          .replace(/\ufffd+$/, ''),
      );
    // This calls the close handler synchronously.
    this.#socket.end(code, bytes);
  }

  /** Cuts the connection. Without the close frame the descriptor is free at once, whatever the peer does. */
  drop(): void {
    this.#isRefused = true;
    this.#cut();
  }

  /** uWebSockets has closed the socket, which must not be touched any more. Frames that it sent before are still to be handled. */
  leave(): void {
    if (this.#state === 'open') this.#state = 'leaving';
  }

  /** uWebSockets has closed the socket, which must not be touched any more. */
  over(): void {
    this.#state = 'over';
  }

  #cut(): void {
    // This calls the close handler synchronously.
    if (this.#state === 'open') this.#socket.close();
  }
}
