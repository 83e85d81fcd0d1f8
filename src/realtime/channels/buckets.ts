/** A token bucket for one sender: a burst, and a rate per second. */
import type { Clock } from '../../../actors/runtime/ports.ts';

export class TokenBucket {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #atMs: number;

  constructor(clock: Pick<Clock, 'monotonicMs'>, perSecond: number, burst: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#atMs = clock.monotonicMs();
  }

  /** Takes one token; false where none is left. */
  take(): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#atMs) / 1000) * this.#perSecond);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
