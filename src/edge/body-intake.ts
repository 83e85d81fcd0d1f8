/** Takes request bodies: bounded in total, each with a deadline, so that slow or vanished senders hold nothing for long. */
import type { Clock } from '../../actors/ports.ts';
import { Failure } from '../../protocol/errors.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { ClientGone, type Exchange } from './exchange.ts';

/** All bodies being received or worked on; beyond it a request is refused with UNAVAILABLE. Two of the largest fit. */
const BYTES_IN_FLIGHT_MAX = 2 * LIMITS.importBytesMax;
/** A body has this long, and longer by its size at the slowest rate that is served. Then the connection is closed. */
const GRACE_MS = 15_000;
const BYTES_PER_MS_MIN = 32;
const SWEEP_MS = 1000;

interface Reception {
  readonly exchange: Exchange;
  readonly deadlineMs: number;
}

export class BodyIntake {
  readonly #clock: Clock;
  readonly #open = new Set<Reception>();
  readonly #bytesMax: number;
  #bytesInFlight = 0;
  #sweeping = false;

  constructor(clock: Clock, bytesMax: number = BYTES_IN_FLIGHT_MAX) {
    this.#clock = clock;
    this.#bytesMax = bytesMax;
  }

  get bytesInFlight(): number {
    return this.#bytesInFlight;
  }

  /**
   * Reads the whole body, whose length is known and within the endpoint's limit. Its bytes stay reserved until `release`.
   * Throws UNAVAILABLE at once; rejects with ClientGone.
   */
  read(exchange: Exchange): Promise<Buffer> {
    const length = exchange.headers.contentLength;
    if (this.#bytesInFlight + length > this.#bytesMax) throw new Failure('UNAVAILABLE', { message: 'Too many bodies at once.' });
    this.#bytesInFlight += length;
    exchange.reservedBytes += length;
    const reception = { exchange, deadlineMs: this.#clock.monotonicMs() + GRACE_MS + length / BYTES_PER_MS_MIN };
    this.#open.add(reception);
    this.#startSweeping();
    return new Promise((resolve, reject) => {
      const body = Buffer.allocUnsafe(length);
      let filled = 0;
      exchange.receive(
        (chunk, isLast) => {
          filled += Buffer.from(chunk).copy(body, filled);
          if (!isLast) return;
          this.#open.delete(reception);
          if (filled === length) resolve(body);
          else reject(new Failure('INVALID_REQUEST', { message: 'The body is shorter than its Content-Length.' }));
        },
        () => {
          this.#open.delete(reception);
          reject(new ClientGone());
        },
      );
    });
  }

  /** Once the request is over. */
  release(exchange: Exchange): void {
    this.#bytesInFlight -= exchange.reservedBytes;
    exchange.reservedBytes = 0;
  }

  #startSweeping(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    this.#clock.after(SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#sweeping = false;
    const nowMs = this.#clock.monotonicMs();
    for (const reception of [...this.#open]) {
      if (reception.deadlineMs <= nowMs) reception.exchange.drop();
    }
    if (this.#open.size > 0) this.#startSweeping();
  }
}
