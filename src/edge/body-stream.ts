/** A request body that is handed over while it comes, through two buffers of fixed size: whatever its length, it holds no more memory than they have. */
import type { BodyStream } from '../../protocol/endpoint.ts';
import { ClientGone, type Exchange } from './exchange.ts';

/** What one read of uWebSockets brings at most. */
const READ_BYTES_MAX = 512 * 1024;
/** Above this the sender has to wait. One more read may be under way then, so a buffer has room for it. */
const PAUSE_BYTES = 512 * 1024;
const BUFFER_BYTES = PAUSE_BYTES + READ_BYTES_MAX;

/** Bytes of memory that a body of this length holds while it is received. */
export function streamMemoryBytes(lengthBytes: number): number {
  return 2 * Math.min(lengthBytes, BUFFER_BYTES);
}

export class IncomingBody implements BodyStream {
  readonly lengthBytes: number;
  readonly #exchange: Exchange;
  #filling: Buffer;
  #spare: Buffer | undefined;
  #filled = 0;
  #received = 0;
  #taken = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;
  #discarded = false;

  /** Must run in the turn that took the request: what is not received is lost. */
  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.lengthBytes = exchange.headers.contentLength;
    this.#filling = Buffer.allocUnsafeSlow(streamMemoryBytes(this.lengthBytes) / 2);
    if (this.lengthBytes === 0) return;
    exchange.receive(
      (chunk) => this.#receive(chunk),
      () => this.#fail(new ClientGone()),
    );
  }

  /** All of it has come, or nothing more will. */
  get isOver(): boolean {
    return this.#received === this.lengthBytes || this.#error !== undefined;
  }

  /** Nobody wants the rest any more: it is thrown away as it comes. */
  discard(): void {
    this.#discarded = true;
    this.#exchange.resumeBody();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.#taken) throw new Error('A streamed body can be read once');
    this.#taken = true;
    let handedOver = 0;
    while (handedOver < this.lengthBytes) {
      if (this.#error !== undefined) throw this.#error;
      if (this.#filled === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const chunk = this.#filling.subarray(0, this.#filled);
      handedOver += chunk.length;
      const full = this.#filling;
      this.#filling = this.#spare ?? Buffer.allocUnsafeSlow(full.length);
      this.#filled = 0;
      this.#exchange.resumeBody();
      yield chunk;
      this.#spare = full;
    }
  }

  #receive(chunk: ArrayBuffer): void {
    this.#received += chunk.byteLength;
    if (this.#discarded || this.#error !== undefined) return;
    if (this.#filled + chunk.byteLength > this.#filling.length) {
      this.#fail(new Error(`a read brought ${chunk.byteLength} bytes of a body at once`));
      return;
    }
    this.#filled += Buffer.from(chunk).copy(this.#filling, this.#filled);
    if (this.#filled >= PAUSE_BYTES && !this.isOver) this.#exchange.pauseBody();
    this.#wake?.();
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#wake?.();
  }
}
