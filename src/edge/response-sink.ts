/** Writes a streamed body to uWebSockets' response. Created and told of an abort by the exchange. */
import type { HttpResponse } from 'uWebSockets.js';
import type { ReplySink } from './reply-stream.ts';

/** How a streamed answer ended; `error` where its source failed. */
export type StreamEnd = (error?: unknown) => void;

export class ResponseSink implements ReplySink {
  readonly #response: HttpResponse;
  readonly #lengthBytes: number | undefined;
  readonly #onEnd: StreamEnd;
  #open = true;
  #ending = false;
  /** Of a body of known length: what the socket has not yet taken. uWebSockets keeps the rest of other bodies itself. */
  readonly #untaken: Uint8Array[] = [];
  #drain: (() => void) | undefined;
  #close: (() => void) | undefined;
  #closed = false;

  constructor(response: HttpResponse, lengthBytes: number | undefined, onEnd: StreamEnd) {
    this.#response = response;
    this.#lengthBytes = lengthBytes;
    this.#onEnd = onEnd;
    response.onWritable(() => this.#writable());
  }

  write(chunk: Uint8Array | string): boolean {
    if (!this.#open || this.#ending) return false;
    if (chunk.length === 0) return this.#untaken.length === 0;
    let taken = true;
    this.#response.cork(() => {
      taken = this.#lengthBytes === undefined ? this.#response.write(chunk) : this.#writeExact(chunk, this.#lengthBytes);
    });
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

  /** The client has gone: the response must not be touched any more. */
  aborted(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#tellClosed();
    this.#onEnd();
  }

  /** The server stops: ends the body as if it were whole, so that the client comes back by itself. */
  stop(): void {
    if (!this.#open) return;
    this.#tellClosed();
    this.end();
  }

  #tellClosed(): void {
    this.#closed = true;
    this.#close?.();
  }

  #finish(): void {
    // A body of known length closes itself with its last byte; one that is short must not look whole.
    if (this.#lengthBytes !== undefined && this.#lengthBytes > 0) {
      this.fail(new Error('A streamed body is shorter than was announced'));
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
      return false;
    }
    return this.#offer(bytes, lengthBytes);
  }

  /** Whether all of it was taken; the rest stays first in line. */
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
      if (next !== undefined && !this.#offer(next, this.#lengthBytes)) return false;
      if (!this.#open) return true;
    }
    if (this.#ending) this.#finish();
    else this.#drain?.();
    return true;
  }
}
