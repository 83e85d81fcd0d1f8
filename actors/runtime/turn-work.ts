/** The work that one turn may do, and the watch over turns that took too long. Turns are synchronous: one object serves all actors. */
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { Clock, Log, RuntimeMeter } from './ports.ts';

/** A turn above this is logged: everybody else in the process has waited for it. */
const SLOW_TURN_MS = 50;
/** At most one line in this time; the next line tells how many were left out. */
const LOG_EVERY_MS = 1000;

interface WorkDeps {
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>;
  readonly meter: Pick<RuntimeMeter, 'turn' | 'slowTurn'>;
  readonly log: Pick<Log, 'warn'>;
}

export class TurnWork {
  readonly #deps: WorkDeps;
  #leftBytes: number = LIMITS.turnWorkBytesMax;
  #operation = '';
  #startedMs = 0;
  #loggedMs = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  constructor(deps: WorkDeps) {
    this.#deps = deps;
  }

  begin(): void {
    this.#leftBytes = LIMITS.turnWorkBytesMax;
    this.#operation = '';
    this.#startedMs = this.#deps.clock.monotonicMs();
  }

  /**
   * Takes work out of the turn's budget before it is done: bytes of JSON that are parsed and written, or what takes as long.
   * Throws REQUEST_TOO_EXPENSIVE. `param` names the part of the request.
   */
  spend(bytes: number, operation: string, param?: string): void {
    this.#operation = operation;
    this.#leftBytes -= bytes;
    if (this.#leftBytes >= 0) return;
    throw new Failure('REQUEST_TOO_EXPENSIVE', param === undefined ? {} : { param });
  }

  /** `operation`: what the turn recorded, for one that named nothing itself. */
  end(artifactId: string, operation: () => string): void {
    const { clock, meter, log } = this.#deps;
    const nowMs = clock.monotonicMs();
    const durationMs = nowMs - this.#startedMs;
    meter.turn(durationMs);
    if (durationMs <= SLOW_TURN_MS) return;
    const named = this.#operation || operation();
    meter.slowTurn?.({ atMs: clock.nowMs(), durationMs, operation: named });
    if (nowMs - this.#loggedMs < LOG_EVERY_MS) {
      this.#unlogged += 1;
      return;
    }
    const fields = { artifactId, operation: named, ms: Math.round(durationMs), others: this.#unlogged };
    this.#loggedMs = nowMs;
    this.#unlogged = 0;
    log.warn(fields, 'a turn held the event loop');
  }
}
