/** A request body that is buffered whole before it is read. Its memory grows with what arrives, not with what was announced. */
import type { Failure } from '../../protocol/core/errors.ts';
import type { LoopTurns } from '../platform/loop-turns.ts';
import { type SpareBuffers, spareBuffers } from '../platform/spare-buffers.ts';
import { ClientGone, type Exchange } from './exchange.ts';

const FIRST_BYTES = 64 * 1024;
/** The buffer of a longer beginning is used again, because most of a flood of long bodies are refused. */
const BEGINNING_BUFFER_BYTES = 1024 * 1024;
/**
 * Whoever has sent this much gets a buffer of the announced length. Doubling any further would copy too much at once, and the system gives
 * memory only to what has been written.
 */
const DOUBLED_BYTES_MAX = 16 * 1024 * 1024;

/** A longer body is received in turn with other long work. */
const PACED_BYTES_MIN = 256 * 1024;
/** So much of a long body tells whether its beginning is acceptable. */
const BEGINNING_BYTES = 32 * 1024;
/** What reading and copying takes. */
const MS_PER_BYTE = 1e-6;

type Sender = Pick<Exchange, 'receive' | 'pauseBody' | 'resumeBody' | 'isBodyPaused'> & {
  readonly headers: Pick<Exchange['headers'], 'contentLength'>;
};

interface Paced {
  readonly loop: Pick<LoopTurns, 'worked' | 'isResting' | 'run'>;
  /** The network of the sender. */
  lane(): string;
}

export class WholeBody {
  readonly bytes: Promise<Buffer>;
  isOver = false;
  /** Its sender had to be stopped for others. */
  wasPaced = false;
  readonly #exchange: Sender;
  readonly #lengthBytes: number;
  readonly #paced: Paced | undefined;
  readonly #arrived: (bytes: number) => boolean;
  #buffer: Buffer | undefined;
  #filled = 0;
  #arrivedBytes = 0;
  #check: ((beginning: Buffer) => Failure | undefined) | undefined;
  #settle: { resolve(bytes: Buffer): void; reject(error: Error): void } | undefined;
  #passed: (() => void) | undefined;
  readonly #spare: SpareBuffers;

  /** `arrived` counts what has come; where it returns false the body was refused. */
  constructor(exchange: Sender, arrived: (bytes: number) => boolean, paced: Paced, spare = spareBuffers) {
    this.#spare = spare;
    this.#exchange = exchange;
    this.#lengthBytes = exchange.headers.contentLength;
    this.#arrived = arrived;
    this.#paced = this.#lengthBytes > PACED_BYTES_MIN ? paced : undefined;
    this.bytes = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // A request that is refused meanwhile never awaits its body, so the rejection must not count as unhandled.
    this.bytes.catch(() => undefined);
    exchange.receive(
      (chunk, isLast) => this.#receive(chunk, isLast),
      () => this.#end(new ClientGone()),
    );
  }

  /** Refuses a long body whose beginning is refused by `check`, so that the rest is not kept. */
  checkBeginning(check: (beginning: Buffer) => Failure | undefined): void {
    if (this.#paced === undefined || this.isOver) return;
    this.#check = check;
    this.#checkIt();
  }

  /** The check takes as long as other long work does, so it takes turns with it. */
  #checkIt(): void {
    const check = this.#check;
    if (check === undefined || this.#paced === undefined || this.#filled < BEGINNING_BYTES) return;
    this.#check = undefined;
    const { loop, lane } = this.#paced;
    this.#exchange.pauseBody();
    loop.run(lane(), () => {
      if (this.#settle === undefined || this.#buffer === undefined) return;
      const failure = check(this.#buffer.subarray(0, this.#filled));
      if (failure !== undefined) this.#end(failure);
      else this.#exchange.resumeBody();
    });
  }

  /** Discards the rest as it arrives. */
  discard(): void {
    this.#settle = undefined;
    // Nobody else has seen it: where the body was complete it has been given away before.
    if (this.#buffer !== undefined) this.#spare.give(this.#buffer);
    this.#buffer = undefined;
  }

  /**
   * Discards the rest of a long body in turn with other long work; once its request is answered, uWebSockets would read on at full speed.
   * Undefined where nothing is outstanding. Resolves also when the client leaves.
   */
  passOver(): Promise<void> | undefined {
    if (this.#paced === undefined || this.#arrivedBytes >= this.#lengthBytes) return undefined;
    this.isOver = true;
    this.discard();
    return new Promise((resolve) => {
      this.#passed = resolve;
      this.#exchange.resumeBody();
    });
  }

  refuse(failure: Failure): void {
    this.#end(failure);
  }

  #receive(chunk: ArrayBuffer, isLast: boolean): void {
    this.#arrivedBytes += chunk.byteLength;
    if (this.#settle === undefined) {
      if (isLast) this.#passed?.();
      else if (this.#paced !== undefined) this.#pace(chunk.byteLength, this.#paced);
      return;
    }
    if (!this.#arrived(chunk.byteLength)) return;
    const buffer = this.#roomFor(chunk.byteLength);
    this.#filled += Buffer.from(chunk).copy(buffer, this.#filled);
    this.#checkIt();
    if (this.#settle === undefined) return;
    if (!isLast) {
      if (this.#paced !== undefined) this.#pace(chunk.byteLength, this.#paced);
      return;
    }
    this.isOver = true;
    const { resolve } = this.#settle;
    const isOwn = buffer.length === this.#filled;
    if (isOwn) this.#buffer = undefined;
    const bytes = isOwn ? buffer : Buffer.from(buffer.subarray(0, this.#filled));
    this.discard();
    resolve(bytes);
  }

  /** Stops the sender where the loop is left to others, until it is the turn of its network. */
  #pace(bytes: number, { loop, lane }: Paced): void {
    loop.worked(bytes * MS_PER_BYTE);
    if (!loop.isResting || this.#exchange.isBodyPaused) return;
    this.wasPaced = true;
    this.#exchange.pauseBody();
    loop.run(lane(), () => this.#exchange.resumeBody());
  }

  #roomFor(bytes: number): Buffer {
    const needed = this.#filled + bytes;
    const old = this.#buffer;
    if (old !== undefined && needed <= old.length) return old;
    const doubled = Math.max(FIRST_BYTES, 2 * (old?.length ?? 0), needed);
    const buffer = this.#take(doubled > DOUBLED_BYTES_MAX ? this.#lengthBytes : Math.min(this.#lengthBytes, doubled));
    old?.copy(buffer, 0, 0, this.#filled);
    if (old !== undefined) this.#spare.give(old);
    this.#buffer = buffer;
    return buffer;
  }

  #take(bytes: number): Buffer {
    const isBeginning = bytes > FIRST_BYTES && bytes <= BEGINNING_BUFFER_BYTES;
    return isBeginning ? this.#spare.take(BEGINNING_BUFFER_BYTES) : Buffer.allocUnsafe(bytes);
  }

  #end(error: Error): void {
    this.isOver = true;
    if (error instanceof ClientGone) this.#passed?.();
    this.#settle?.reject(error);
    this.discard();
  }
}
