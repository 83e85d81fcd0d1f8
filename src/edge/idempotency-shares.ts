/** What idempotency keys of one caller and of one network may take: calls in flight, records and stored bytes. */
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { Shares } from '../platform/shares.ts';

export interface KeyHolders {
  /** The scope of the key: an account, an agent, a guest, or anonymous callers of one address. */
  readonly caller: string;
  readonly network: string;
}

interface Day {
  readonly startMs: number;
  records: number;
  bytes: number;
}

/** Callers and networks that are counted; the one whose day began first is forgotten first, which gives it a new day. */
const COUNTED_MAX = 20_000;
const DAY_MS = LIMITS.idempotencyTtlMs;
const HINT = 'Wait, or send the request without an Idempotency-Key.';

/** Counted by each process in memory: a restart begins a new day, which the daily sweep of the records makes harmless. */
export class IdempotencyShares {
  readonly #inFlight = new Shares({
    total: LIMITS.idempotencyInFlightMax,
    network: LIMITS.idempotencyInFlightPerCallerMax,
    caller: LIMITS.idempotencyInFlightPerCallerMax,
    artifact: LIMITS.idempotencyInFlightMax,
  });
  readonly #days = new Map<string, Day>();

  /** Begins a call; the answer ends it. Throws RATE_LIMITED where too many are in flight or too many records were made. */
  enter(holders: KeyHolders, nowMs: number): () => void {
    const { caller, network } = holders;
    const full = this.#fullDay(holders, nowMs);
    if (full !== undefined) {
      throw new Failure('RATE_LIMITED', {
        message: 'Too many requests with an Idempotency-Key within a day.',
        hint: HINT,
        retryAfterS: Math.ceil((full.startMs + DAY_MS - nowMs) / 1000),
      });
    }
    if (this.#inFlight.take(1, holders) !== undefined) {
      throw new Failure('RATE_LIMITED', {
        message: 'Too many requests with an Idempotency-Key are in progress.',
        hint: HINT,
        retryAfterS: 1,
      });
    }
    return () => this.#inFlight.give(1, { caller, network });
  }

  /** Counts a new record. */
  record(holders: KeyHolders, nowMs: number): void {
    for (const { day } of this.#daysOf(holders, nowMs)) day.records += 1;
  }

  /** Counts the bytes of an answer; false where there is no room for them. */
  store(bytes: number, holders: KeyHolders, nowMs: number): boolean {
    const days = this.#daysOf(holders, nowMs);
    if (days.some(({ day, bytesMax }) => day.bytes + bytes > bytesMax)) return false;
    for (const { day } of days) day.bytes += bytes;
    return true;
  }

  #fullDay(holders: KeyHolders, nowMs: number): Day | undefined {
    return this.#daysOf(holders, nowMs).find(({ day, recordsMax }) => day.records >= recordsMax)?.day;
  }

  #daysOf({ caller, network }: KeyHolders, nowMs: number) {
    return [
      {
        day: this.#dayOf(`caller ${caller}`, nowMs),
        recordsMax: LIMITS.idempotencyRecordsPerCallerMax,
        bytesMax: LIMITS.idempotencyBytesPerCallerMax,
      },
      {
        day: this.#dayOf(`network ${network}`, nowMs),
        recordsMax: LIMITS.idempotencyRecordsPerNetworkMax,
        bytesMax: LIMITS.idempotencyBytesPerNetworkMax,
      },
    ];
  }

  #dayOf(name: string, nowMs: number): Day {
    const known = this.#days.get(name);
    if (known !== undefined && nowMs - known.startMs < DAY_MS) return known;
    const day: Day = { startMs: nowMs, records: 0, bytes: 0 };
    this.#days.delete(name);
    this.#days.set(name, day);
    for (const oldest of this.#days.keys()) {
      if (this.#days.size <= COUNTED_MAX) break;
      this.#days.delete(oldest);
    }
    return day;
  }
}
