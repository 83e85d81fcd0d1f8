/** A request body that is consumed while it arrives. Two buffers of fixed size hold it, whatever its length. */
import type { BodyStream } from '../../protocol/core/endpoint.ts';
import type { Failure } from '../../protocol/core/errors.ts';
import { ClientGone, type Exchange } from './exchange.ts';

/** The most that one read of uWebSockets delivers. */
const READ_BYTES_MAX = 512 * 1024;
/** Above this the sender is paused. One more read may already be under way, so a buffer has room for it. */
const PAUSE_BYTES = 512 * 1024;
const BUFFER_BYTES = PAUSE_BYTES + READ_BYTES_MAX;

/** Bytes of the two buffers of a body of this length. */
export function streamMemoryBytes(lengthBytes: number): number {
  return 2 * Math.min(lengthBytes, BUFFER_BYTES);
}

/** Counts what a body holds. */
export interface StreamMemory {
  /** `overflowBytes` of what has come are held beyond the two buffers. False where there is no room, and the body was refused. */
  arrived(bytes: number, overflowBytes: number): boolean;
  consumed(overflowBytes: number): void;
}

type Sender = Pick<Exchange, 'receive' | 'pauseBody' | 'resumeBody'> & { readonly headers: Pick<Exchange['headers'], 'contentLength'> };

export class IncomingBody implements BodyStream {
  readonly lengthBytes: number;
  readonly #exchange: Sender;
  readonly #memory: StreamMemory;
  #filling: Buffer | undefined;
  #spare: Buffer | undefined;
  #filled = 0;
  /**
   * What came after the filling buffer was full. The binaries of uWebSockets for Node 22 and later read again and again while a read fills
   * their whole buffer, although the request is paused, until the kernel's receive buffer is empty.
   */
  readonly #overflow: Buffer[] = [];
  #received = 0;
  #taken = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;
  #discarded = false;

  /** Must run in the turn that took the request, because uWebSockets discards bytes that nobody receives. */
  constructor(exchange: Sender, memory: StreamMemory) {
    this.#exchange = exchange;
    this.#memory = memory;
    this.lengthBytes = exchange.headers.contentLength;
    if (this.lengthBytes === 0) return;
    exchange.receive(
      (chunk) => this.#receive(chunk),
      () => this.#fail(new ClientGone()),
    );
  }

  /** The body is complete, or nothing more will arrive. */
  get isOver(): boolean {
    return this.#received === this.lengthBytes || this.#error !== undefined;
  }

  /** Discards the rest as it arrives. */
  discard(): void {
    this.#discarded = true;
    this.#overflow.length = 0;
    this.#exchange.resumeBody();
  }

  refuse(failure: Failure): void {
    this.#fail(failure);
    this.discard();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.#taken) throw new Error('A streamed body can be read once');
    this.#taken = true;
    let handedOver = 0;
    while (handedOver < this.lengthBytes) {
      if (this.#error !== undefined) throw this.#error;
      const full = this.#filling;
      if (full === undefined || this.#filled === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const chunk = full.subarray(0, this.#filled);
      handedOver += chunk.length;
      this.#filling = this.#spare ?? Buffer.allocUnsafeSlow(full.length);
      this.#spare = undefined;
      this.#filled = 0;
      this.#refill(this.#filling);
      if (!this.#isFull) this.#exchange.resumeBody();
      yield chunk;
      this.#spare = full;
    }
  }

  get #isFull(): boolean {
    return this.#filled >= PAUSE_BYTES || this.#overflow.length > 0;
  }

  /** Moves what came too early into the buffer. */
  #refill(filling: Buffer): void {
    for (let next = this.#overflow[0]; next !== undefined && this.#filled + next.length <= filling.length; next = this.#overflow[0]) {
      this.#overflow.shift();
      this.#filled += next.copy(filling, this.#filled);
      this.#memory.consumed(next.length);
    }
  }

  #receive(chunk: ArrayBuffer): void {
    this.#received += chunk.byteLength;
    if (this.#discarded || this.#error !== undefined) return;
    this.#filling ??= Buffer.allocUnsafeSlow(streamMemoryBytes(this.lengthBytes) / 2);
    const fits = this.#overflow.length === 0 && this.#filled + chunk.byteLength <= this.#filling.length;
    if (!this.#memory.arrived(chunk.byteLength, fits ? 0 : chunk.byteLength)) return;
    const bytes = Buffer.from(chunk);
    if (fits) this.#filled += bytes.copy(this.#filling, this.#filled);
    // The chunk is borrowed.
    else this.#overflow.push(Buffer.copyBytesFrom(bytes));
    if (this.#isFull && !this.isOver) this.#exchange.pauseBody();
    this.#wake?.();
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#wake?.();
  }
}
