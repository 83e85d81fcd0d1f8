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
  readonly deadlineMs: number;
  readonly body: Promise<Buffer>;
  /** Nobody wants the rest any more. */
  cancelled: boolean;
  complete: boolean;
}

export class BodyIntake {
  readonly #clock: Clock;
  readonly #open = new Map<Exchange, Reception>();
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
   * Begins to receive the body, whose length is known and within the endpoint's limit; must run in the turn that took the request,
   * because what is not received is thrown away. Its bytes stay reserved until `release`.
   */
  begin(exchange: Exchange): void {
    if (this.#open.has(exchange)) return;
    const length = exchange.headers.contentLength;
    const { promise, resolve, reject } = settlable<Buffer>();
    // Where the request is refused meanwhile nobody asks for its body.
    promise.catch(() => undefined);
    const deadlineMs = this.#clock.monotonicMs() + GRACE_MS + length / BYTES_PER_MS_MIN;
    const reception: Reception = { deadlineMs, body: promise, cancelled: false, complete: false };
    this.#open.set(exchange, reception);
    this.#startSweeping();
    if (this.#bytesInFlight + length > this.#bytesMax) {
      reject(new Failure('UNAVAILABLE', { message: 'Too many bodies at once.' }));
      return;
    }
    this.#bytesInFlight += length;
    exchange.reservedBytes = length;
    const body = Buffer.allocUnsafe(length);
    let filled = 0;
    exchange.receive(
      (chunk, isLast) => {
        if (reception.cancelled) return;
        filled += Buffer.from(chunk).copy(body, filled);
        if (!isLast) return;
        reception.complete = true;
        resolve(body);
      },
      () => reject(new ClientGone()),
    );
  }

  /** The whole body. Rejects with UNAVAILABLE where there is no room, with ClientGone where nobody is there any more. */
  read(exchange: Exchange): Promise<Buffer> {
    this.begin(exchange);
    return this.#open.get(exchange)?.body ?? Promise.reject(new ClientGone());
  }

  /** Once the request is over. What is still to come of its body is thrown away. */
  release(exchange: Exchange): void {
    const reception = this.#open.get(exchange);
    if (reception !== undefined) reception.cancelled = true;
    this.#open.delete(exchange);
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
    for (const [exchange, reception] of [...this.#open]) {
      if (!reception.complete && reception.deadlineMs <= nowMs) exchange.drop();
    }
    if (this.#open.size > 0) this.#startSweeping();
  }
}

function settlable<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void } {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}
