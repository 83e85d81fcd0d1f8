/** One open WebSocket. The only place that touches uWebSockets' own socket, which is gone once it is closed. */
import type { TemplatedApp, WebSocket } from 'uWebSockets.js';
import type { Link, SendOutcome } from './socket.ts';

/** What the handlers of uWebSockets are given back; its fields are copied onto their own object. */
export interface SeatedSocket<S> {
  readonly seat: S;
}

/** RFC 6455, 5.5: a control frame has 125 bytes, two of them the code. */
const REASON_BYTES_MAX = 123;
// What `send` answers.
const QUEUED = 0;
const SENT = 1;

export class SocketLink<S = unknown> implements Link {
  readonly #socket: WebSocket<SeatedSocket<S>>;
  readonly #app: Pick<TemplatedApp, 'publish'>;
  #open = true;
  /** What it has subscribed to: asking uWebSockets costs as much as publishing. */
  readonly #topics = new Set<string>();

  constructor(socket: WebSocket<SeatedSocket<S>>, app: Pick<TemplatedApp, 'publish'>) {
    this.#socket = socket;
    this.#app = app;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  get bufferedBytes(): number {
    return this.#open ? this.#socket.getBufferedAmount() : 0;
  }

  send(frame: Uint8Array | string): SendOutcome {
    if (!this.#open) return 'skipped';
    const outcome = this.#socket.send(frame, typeof frame !== 'string');
    if (outcome === SENT) return 'sent';
    return outcome === QUEUED ? 'queued' : 'skipped';
  }

  together(sending: () => void): void {
    if (this.#open) this.#socket.cork(sending);
  }

  subscribe(topic: string): void {
    if (!this.#open) return;
    this.#socket.subscribe(topic);
    this.#topics.add(topic);
  }

  unsubscribe(topic: string): void {
    if (!this.#open) return;
    this.#socket.unsubscribe(topic);
    this.#topics.delete(topic);
  }

  publish(topic: string, frame: Uint8Array | string): void {
    if (!this.#open) return;
    // uWebSockets leaves out what is published by a socket that has not subscribed itself.
    if (this.#topics.has(topic)) this.#socket.publish(topic, frame, typeof frame !== 'string');
    else this.broadcast(topic, frame);
  }

  broadcast(topic: string, frame: Uint8Array | string): void {
    this.#app.publish(topic, frame, typeof frame !== 'string');
  }

  close(code: number, reason: string): void {
    if (!this.#open) return;
    let bytes = Buffer.from(reason);
    // Never in the middle of a character.
    if (bytes.length > REASON_BYTES_MAX)
      bytes = Buffer.from(
        bytes
          .subarray(0, REASON_BYTES_MAX)
          .toString('utf8')
          .replace(/\ufffd+$/, ''),
      );
    // Its close handler is called at once.
    this.#socket.end(code, bytes.toString('utf8'));
  }

  /** uWebSockets has closed it: it must not be touched any more. */
  over(): void {
    this.#open = false;
  }
}
