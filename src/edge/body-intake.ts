/** Takes request bodies: bounded in total, each with a deadline, so that slow or vanished senders hold nothing for long. */
import type { Clock } from '../../actors/ports.ts';
import type { BodyStream } from '../../protocol/endpoint.ts';
import { Failure } from '../../protocol/errors.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { IncomingBody, streamMemoryBytes } from './body-stream.ts';
import { ClientGone, type Exchange } from './exchange.ts';

/** All bodies being received or worked on; beyond it a request is refused with UNAVAILABLE. Two of the largest that are held whole fit. */
const BYTES_IN_FLIGHT_MAX = 2 * LIMITS.publishBodyBytesMax;
/** A body has this long, and longer by its size at the slowest rate that is served. Then the connection is closed. */
const GRACE_MS = 15_000;
const BYTES_PER_MS_MIN = 32;
const SWEEP_MS = 1000;

/** A body that is being received or worked on. */
class Reception {
  readonly exchange: Exchange;
  readonly deadlineMs: number;
  readonly body: WholeBody | IncomingBody;
  /** Where it stands in the list of the open ones. */
  at: number;

  constructor(exchange: Exchange, deadlineMs: number, body: WholeBody | IncomingBody, at: number) {
    this.exchange = exchange;
    this.deadlineMs = deadlineMs;
    this.body = body;
    this.at = at;
  }
}

function receptionOf({ reception }: Exchange): Reception | undefined {
  return reception instanceof Reception ? reception : undefined;
}

export class BodyIntake {
  readonly #clock: Clock;
  /**
   * Those open, in no order. Not a map: one that entries go in and out of all the time is copied again and again, and each copy that has
   * become old garbage keeps the next one, and the requests in it, alive past the collections that would have freed them for nothing.
   */
  readonly #open: Reception[] = [];
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
    if (exchange.reception !== undefined) return;
    const length = exchange.headers.contentLength;
    this.#enter(exchange, new WholeBody(exchange, this.#reserve(exchange, length)));
  }

  /** The whole body. Rejects with UNAVAILABLE where there is no room, with ClientGone where nobody is there any more. */
  read(exchange: Exchange): Promise<Buffer> {
    this.begin(exchange);
    const body = receptionOf(exchange)?.body;
    return body instanceof WholeBody ? body.bytes : Promise.reject(new ClientGone());
  }

  /** `begin` for a body that is handed over while it comes. */
  beginStream(exchange: Exchange): void {
    if (exchange.reception !== undefined) return;
    const length = exchange.headers.contentLength;
    // Where there is no room nothing is received, and `stream` says so.
    if (!this.#reserve(exchange, streamMemoryBytes(length))) return;
    this.#enter(exchange, new IncomingBody(exchange));
  }

  /** Throws UNAVAILABLE where there is no room. */
  stream(exchange: Exchange): BodyStream {
    if (exchange.headers.contentLength === 0) return new IncomingBody(exchange);
    this.beginStream(exchange);
    const body = receptionOf(exchange)?.body;
    if (body instanceof IncomingBody) return body;
    throw noRoom();
  }

  /** Once the request is over. What is still to come of its body is thrown away. */
  release(exchange: Exchange): void {
    const reception = receptionOf(exchange);
    if (reception !== undefined) {
      reception.body.discard();
      exchange.reception = undefined;
      const last = this.#open.pop();
      if (last !== undefined && last !== reception) {
        this.#open[reception.at] = last;
        last.at = reception.at;
      }
    }
    this.#bytesInFlight -= exchange.reservedBytes;
    exchange.reservedBytes = 0;
  }

  #enter(exchange: Exchange, body: Reception['body']): void {
    const deadlineMs = this.#clock.monotonicMs() + GRACE_MS + exchange.headers.contentLength / BYTES_PER_MS_MIN;
    const reception = new Reception(exchange, deadlineMs, body, this.#open.length);
    exchange.reception = reception;
    this.#open.push(reception);
    this.#startSweeping();
  }

  /** Whether there is room for so many bytes; they are taken then. */
  #reserve(exchange: Exchange, bytes: number): boolean {
    if (this.#bytesInFlight + bytes > this.#bytesMax) return false;
    this.#bytesInFlight += bytes;
    exchange.reservedBytes = bytes;
    return true;
  }

  #startSweeping(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    this.#clock.after(SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#sweeping = false;
    const nowMs = this.#clock.monotonicMs();
    for (const { exchange, body, deadlineMs } of [...this.#open]) {
      if (!body.isOver && deadlineMs <= nowMs) exchange.drop();
    }
    if (this.#open.length > 0) this.#startSweeping();
  }
}

/** A body that is received whole before anybody looks at it. */
class WholeBody {
  readonly bytes: Promise<Buffer>;
  isOver = false;
  #discarded = false;

  constructor(exchange: Exchange, hasRoom: boolean) {
    this.bytes = hasRoom ? this.#receive(exchange) : Promise.reject(noRoom());
    // Where the request is refused meanwhile nobody asks for its body.
    this.bytes.catch(() => undefined);
  }

  discard(): void {
    this.#discarded = true;
  }

  #receive(exchange: Exchange): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const body = Buffer.allocUnsafe(exchange.headers.contentLength);
      let filled = 0;
      exchange.receive(
        (chunk, isLast) => {
          if (this.#discarded) return;
          filled += Buffer.from(chunk).copy(body, filled);
          if (!isLast) return;
          this.isOver = true;
          resolve(body);
        },
        () => reject(new ClientGone()),
      );
    });
  }
}

function noRoom(): Failure {
  return new Failure('UNAVAILABLE', { message: 'Too many bodies at once.' });
}
