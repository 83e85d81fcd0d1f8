/** Writes a streamed body to uWebSockets' response. The exchange creates it and reports an abort to it. */
import type { HttpResponse } from 'uWebSockets.js';
import { Failure } from '../../protocol/core/errors.ts';
import type { WaitingAnswer } from './answers-in-flight.ts';
import type { ReplySink } from './reply-stream.ts';
import { utf8 } from './utf8.ts';

/** Runs when a streamed answer has ended; `error` is set where its source failed. */
export type StreamEnd = (error?: unknown) => void;

export interface SinkDeps {
  readonly lengthBytes: number | undefined;
  /** Counts what the socket has not taken. */
  readonly waiting: WaitingAnswer | undefined;
  readonly onEnd: StreamEnd;
}

export class ResponseSink implements ReplySink {
  readonly #response: HttpResponse;
  readonly #lengthBytes: number | undefined;
  readonly #onEnd: StreamEnd;
  readonly #waiting: WaitingAnswer | undefined;
  #open = true;
  #ending = false;
  /** The part that the socket has not yet taken, for a body of known length. uWebSockets buffers other bodies itself. */
  readonly #untaken: Uint8Array[] = [];
  #drain: (() => void) | undefined;
  #close: (() => void) | undefined;
  #closed = false;

  constructor(response: HttpResponse, { lengthBytes, waiting, onEnd }: SinkDeps) {
    this.#response = response;
    this.#lengthBytes = lengthBytes;
    this.#waiting = waiting;
    this.#onEnd = onEnd;
    response.onWritable(() => this.#writable());
  }

  write(chunk: Uint8Array | string): boolean {
    if (!this.#open || this.#ending) return false;
    if (chunk.length === 0) return this.#untaken.length === 0;
    let taken = true;
    this.#response.cork(() => {
      taken = this.#lengthBytes === undefined ? this.#response.write(utf8(chunk)) : this.#writeExact(chunk, this.#lengthBytes);
    });
    // uWebSockets does not tell how much of a body of unknown length it still has.
    if (!taken && this.#lengthBytes === undefined) this.#grow(Buffer.byteLength(chunk));
    return taken;
  }

  end(): void {
    if (!this.#open || this.#ending) return;
    this.#ending = true;
    if (this.#untaken.length === 0) this.#finish();
  }

  fail(error: unknown): void {
    if (!this.#open) return;
    this.#open = false;
    this.#response.close();
    this.#onEnd(error);
  }

  onDrain(run: () => void): void {
    this.#drain = run;
  }

  onClose(run: () => void): void {
    this.#close = run;
    if (this.#closed) run();
  }

  /** The client has gone, and the response must not be touched any more. */
  aborted(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#tellClosed();
    this.#onEnd();
  }

  /** Ends the body as if it were complete, because the server stops and the client then reconnects by itself. */
  stop(): void {
    if (!this.#open) return;
    this.#tellClosed();
    this.end();
  }

  #grow(bytes: number): void {
    if (this.#waiting === undefined || this.#waiting.grows(bytes)) return;
    this.#tellClosed();
    this.fail(new Failure('UNAVAILABLE', { message: 'There is no room for the rest of the answer.' }));
  }

  #leftBytes(): number {
    return this.#untaken.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  #tellClosed(): void {
    this.#closed = true;
    this.#close?.();
  }

  #finish(): void {
    // A body of known length ends with its last byte; a shorter one must not look complete.
    if (this.#lengthBytes !== undefined && this.#lengthBytes > 0) {
      this.fail(new Error('A streamed body is shorter than its announced length'));
      return;
    }
    this.#open = false;
    this.#response.cork(() => this.#response.end());
    this.#onEnd();
  }

  #writeExact(chunk: Uint8Array | string, lengthBytes: number): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (this.#untaken.length > 0) {
      this.#untaken.push(bytes);
      this.#grow(bytes.byteLength);
      return false;
    }
    if (this.#offer(bytes, lengthBytes)) return true;
    this.#grow(this.#leftBytes());
    return false;
  }

  /** Whether the socket took all of it; the rest is kept and sent first. */
  #offer(bytes: Uint8Array, lengthBytes: number): boolean {
    const before = this.#response.getWriteOffset();
    const [ok, done] = this.#response.tryEnd(bytes, lengthBytes);
    if (done) {
      this.#open = false;
      this.#onEnd();
      return true;
    }
    if (ok) return true;
    this.#untaken.unshift(bytes.subarray(this.#response.getWriteOffset() - before));
    return false;
  }

  #writable(): boolean {
    if (!this.#open) return true;
    while (this.#untaken.length > 0 && this.#lengthBytes !== undefined) {
      const next = this.#untaken.shift();
      if (next !== undefined && !this.#offer(next, this.#lengthBytes)) {
        const left = this.#leftBytes();
        this.#waiting?.left(left, left);
        return false;
      }
      if (!this.#open) return true;
    }
    this.#waiting?.left(0, 0);
    if (this.#ending) this.#finish();
    else this.#drain?.();
    return true;
  }
}
