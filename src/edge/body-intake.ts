/**
 * Receives request bodies. What they hold is counted as it arrives, with a share for each network, credential and artifact, and each has to
 * arrive at a minimum rate, so that those who announce much, or send slowly, take no room from others.
 */
import type { Clock } from '../../actors/runtime/ports.ts';
import type { BodyStream } from '../../protocol/core/endpoint.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { loopTurns } from '../platform/loop-turns.ts';
import { type Exhausted, type Holders, Shares } from '../platform/shares.ts';
import { networkOf } from './address.ts';
import { artifactIdOf } from './artifact-path.ts';
import { IncomingBody, type StreamMemory, streamMemoryBytes } from './body-stream.ts';
import { type BodyReception, ClientGone, type Exchange } from './exchange.ts';
import { WholeBody } from './whole-body.ts';

const MB = 1024 * 1024;
/** A body up to this size takes no more memory than the head of its request, so the number of connections bounds it. */
const FREE_BYTES_MAX = 16 * 1024;
/** Up to the largest insert. Larger ones are counted apart, so that uploads of whole versions leave room for the data of pages. */
const COMMON_BYTES_MAX = LIMITS.insertBodyBytesMax;
const RETRY_AFTER_S = 5;

/** The slowest rate that is served, in each window; beyond it the connection is closed. The last part of a body has a whole window. */
const WINDOW_MS = 15_000;
const BYTES_PER_MS_MIN = 32;
const SWEEP_MS = 1000;
/** A refusal waits so long for the rest of its body. */
const PASS_OVER_MS = 1000;

/** Bytes in memory of bodies that are received or processed, and the number of unfinished ones; beyond them UNAVAILABLE. */
export interface BodyBounds {
  readonly common: Shares;
  readonly large: Shares;
  readonly streamed: Shares;
  readonly receivers: Shares;
}

function boundsOfOneProcess(): BodyBounds {
  const largest = LIMITS.publishBodyBytesMax;
  return {
    common: new Shares({ total: 128 * MB, network: 32 * MB, caller: 32 * MB, artifact: 48 * MB }),
    large: new Shares({ total: 2 * largest, network: largest, caller: largest, artifact: largest }),
    // Two of the largest blobs of one caller, because the addon for Node 22 and newer may hand over all of a body that a proxy on this machine sends.
    streamed: new Shares({ total: 512 * MB, network: 160 * MB, caller: 112 * MB, artifact: 256 * MB }),
    receivers: new Shares({ total: 8192, network: 512, caller: 512, artifact: 1024 }),
  };
}

/** A body that is being received or processed. */
class Reception implements BodyReception {
  readonly exchange: Exchange;
  /** Undefined for a body that is too small to be counted. */
  readonly pool: Shares | undefined;
  holders: Holders;
  body: WholeBody | IncomingBody | undefined;
  heldBytes = 0;
  /** Holds a place among the receivers. */
  isCounted = false;
  windowFromMs: number;
  windowBytes = 0;
  /** Its index in the list of open bodies. */
  at: number;

  constructor(exchange: Exchange, pool: Shares | undefined, nowMs: number, at: number) {
    this.exchange = exchange;
    this.pool = pool;
    this.holders = pool === undefined ? {} : holdersOf(exchange);
    this.windowFromMs = nowMs;
    this.at = at;
  }

  get isOver(): boolean {
    return this.body?.isOver ?? true;
  }

  get isReceiving(): boolean {
    return !this.isOver;
  }

  /** Nothing more of it is wanted: whoever reads it gets this failure. */
  end(failure: Failure): void {
    this.body?.refuse(failure);
  }
}

function receptionOf({ reception }: Exchange): Reception | undefined {
  return reception instanceof Reception ? reception : undefined;
}

/** The credential need not be valid: one that is made up gets no more than the share of its network. */
function holdersOf({ address, headers, path }: Exchange): Holders {
  return { network: networkOf(address), caller: headers.authorization || undefined, artifact: artifactIdOf(path) };
}

export class BodyIntake {
  readonly #clock: Clock;
  readonly #bounds: BodyBounds;
  /**
   * Open bodies, in no order. This is not a map: V8 copies the table of a map that entries enter and leave all the time, and each copy in
   * the old generation keeps the next one, and the requests in it, alive past minor collections.
   */
  readonly #open: Reception[] = [];
  #bytesInFlight = 0;
  #sweeping = false;

  constructor(clock: Clock, bounds: BodyBounds = boundsOfOneProcess()) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  get bytesInFlight(): number {
    return this.#bytesInFlight;
  }

  /**
   * Begins to receive the body, whose length is known and within the endpoint's limit. It must run in the turn that took the request,
   * because uWebSockets discards bytes that nobody receives. The bytes that have come are held until `release`.
   */
  begin(exchange: Exchange): void {
    if (exchange.reception !== undefined) return;
    const { contentLength } = exchange.headers;
    const reception = this.#enter(exchange, this.#poolOf(contentLength));
    reception.body = new WholeBody(exchange, (bytes) => this.#arrived(reception, bytes), {
      loop: loopTurns,
      lane: () => networkOf(exchange.address),
    });
  }

  /** The whole body, or what `check` finds wrong with the beginning of a long one. Rejects with UNAVAILABLE where there is no room, with ClientGone where the client has disconnected. */
  read(exchange: Exchange, check?: (beginning: Buffer) => Failure | undefined): Promise<Buffer> {
    this.begin(exchange);
    const body = receptionOf(exchange)?.body;
    if (!(body instanceof WholeBody)) return Promise.reject(new ClientGone());
    if (check !== undefined) body.checkBeginning(check);
    return body.bytes;
  }

  /** `begin` for a body that is consumed while it arrives. Reading it throws UNAVAILABLE where there is no room. */
  beginStream(exchange: Exchange): void {
    if (exchange.reception !== undefined) return;
    const reception = this.#enter(exchange, this.#bounds.streamed);
    let isFirst = true;
    reception.body = new IncomingBody(exchange, {
      arrived: (bytes, overflowBytes) => {
        const memoryBytes = overflowBytes + (isFirst ? streamMemoryBytes(exchange.headers.contentLength) : 0);
        isFirst = false;
        return this.#arrived(reception, bytes, memoryBytes);
      },
      consumed: (overflowBytes) => this.#give(reception, overflowBytes),
    });
  }

  stream(exchange: Exchange): BodyStream {
    if (exchange.headers.contentLength === 0) return new IncomingBody(exchange, NO_MEMORY);
    this.beginStream(exchange);
    const body = receptionOf(exchange)?.body;
    if (!(body instanceof IncomingBody)) throw new Error('A body that is received whole was read as a stream');
    return body;
  }

  /**
   * Lets the rest of a refused long body pass in turn with other long work, for a second; then its answer may follow. True where the sender is
   * too fast to be read any further. Undefined where there is nothing to wait for, and where the client waits for a word before it sends.
   */
  passOver(exchange: Exchange): Promise<boolean> | undefined {
    if (exchange.headers.get('expect') !== '') return undefined;
    // Refused in the turn that took it, before anybody received its body.
    if (exchange.reception === undefined && !exchange.isDetached) this.begin(exchange);
    const reception = receptionOf(exchange);
    const body = reception?.body;
    const passed = body instanceof WholeBody ? body.passOver() : undefined;
    if (reception === undefined || passed === undefined) return undefined;
    this.#give(reception, reception.heldBytes);
    return new Promise((resolve) => {
      const patience = this.#clock.after(PASS_OVER_MS, () => resolve(body instanceof WholeBody && body.wasPaced));
      void passed.then(() => {
        patience.cancel();
        resolve(false);
      });
    });
  }

  /** Called once the request is over. The rest of its body is discarded. */
  release(exchange: Exchange): void {
    const reception = receptionOf(exchange);
    if (reception === undefined) return;
    reception.body?.discard();
    exchange.reception = undefined;
    const last = this.#open.pop();
    if (last !== undefined && last !== reception) {
      this.#open[reception.at] = last;
      last.at = reception.at;
    }
    this.#give(reception, reception.heldBytes);
    if (reception.isCounted) this.#bounds.receivers.give(1, reception.holders);
  }

  #poolOf(lengthBytes: number): Shares | undefined {
    if (lengthBytes <= FREE_BYTES_MAX) return undefined;
    return lengthBytes <= COMMON_BYTES_MAX ? this.#bounds.common : this.#bounds.large;
  }

  #enter(exchange: Exchange, pool: Shares | undefined): Reception {
    const reception = new Reception(exchange, pool, this.#clock.monotonicMs(), this.#open.length);
    exchange.reception = reception;
    this.#open.push(reception);
    this.#startSweeping();
    return reception;
  }

  /** Counts what has come; false where there is no room, and the body has been refused. */
  #arrived(reception: Reception, bytes: number, memoryBytes = bytes): boolean {
    reception.windowBytes += bytes;
    if (memoryBytes === 0) return true;
    const exhausted = this.#take(reception, memoryBytes);
    if (exhausted !== undefined) this.#refuse(reception, exhausted);
    return exhausted === undefined;
  }

  #take(reception: Reception, bytes: number): Exhausted | undefined {
    const { pool, holders } = reception;
    let exhausted = pool?.take(bytes, holders);
    while (exhausted === 'total' && pool !== undefined && this.#makeRoom(pool, reception, bytes)) exhausted = pool.take(bytes, holders);
    if (exhausted !== undefined) return exhausted;
    this.#bytesInFlight += bytes;
    reception.heldBytes += bytes;
    return undefined;
  }

  #give(reception: Reception, bytes: number): void {
    reception.pool?.give(bytes, reception.holders);
    this.#bytesInFlight -= bytes;
    reception.heldBytes -= bytes;
  }

  /**
   * Refuses an unfinished body of the network that holds most of a full pool, if that is more than the asking one would hold. So a few networks
   * that fill it together cannot keep out the others.
   */
  #makeRoom(pool: Shares, asking: Reception, bytes: number): boolean {
    let most: Reception | undefined;
    let mostBytes = pool.held('network', asking.holders.network ?? '') + bytes;
    for (const one of this.#open) {
      if (one.pool !== pool || one.heldBytes === 0 || one.isOver) continue;
      const heldBytes = pool.held('network', one.holders.network ?? '');
      if (heldBytes <= mostBytes) continue;
      most = one;
      mostBytes = heldBytes;
    }
    if (most !== undefined) this.#refuse(most, 'network');
    return most !== undefined;
  }

  #refuse(reception: Reception, exhausted: Exhausted): void {
    this.#give(reception, reception.heldBytes);
    reception.body?.refuse(noRoom(exhausted));
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
      if (reception.isOver) continue;
      // Most bodies come with their heads, so only those that are still awaited have to be counted.
      if (!reception.isCounted && !this.#count(reception)) continue;
      this.#checkRate(reception, nowMs);
    }
    if (this.#open.length > 0) this.#startSweeping();
  }

  #count(reception: Reception): boolean {
    if (reception.pool === undefined) reception.holders = holdersOf(reception.exchange);
    const exhausted = this.#bounds.receivers.take(1, reception.holders);
    reception.isCounted = exhausted === undefined;
    if (exhausted !== undefined) this.#refuse(reception, exhausted);
    return reception.isCounted;
  }

  #checkRate(reception: Reception, nowMs: number): void {
    const windowMs = nowMs - reception.windowFromMs;
    // While it is paused the service is slow, not the sender.
    if (windowMs < WINDOW_MS && !reception.exchange.isBodyPaused) return;
    if (!reception.exchange.isBodyPaused && reception.windowBytes < WINDOW_MS * BYTES_PER_MS_MIN) {
      reception.exchange.drop();
      return;
    }
    reception.windowFromMs = nowMs;
    reception.windowBytes = 0;
  }
}

const NO_MEMORY: StreamMemory = { arrived: () => true, consumed: () => undefined };

const WHOSE: Readonly<Record<Exhausted, string>> = {
  total: 'The service is receiving as many request bodies as it can hold',
  network: 'Your network sends as much in request bodies at once as it may',
  caller: 'This token sends as much in request bodies at once as it may',
  artifact: 'As much in request bodies is sent to this artifact at once as may be',
};

function noRoom(exhausted: Exhausted): Failure {
  return new Failure('UNAVAILABLE', { message: `${WHOSE[exhausted]}.`, retryAfterS: RETRY_AFTER_S });
}
