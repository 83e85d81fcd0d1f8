/**
 * Where a look at a queue in Postgres begins. While a transaction stays open for hours, anywhere in the database, the index entries of what is done
 * meanwhile cannot be removed, and a look from the beginning passes all of them. So a look begins at what was the oldest open entry the last time.
 * What is older and comes later, from a node whose clock is behind or before a clock is set back, is found by a look from the beginning each minute.
 */
import type { Clock } from '../../actors/runtime/ports.ts';

const WHOLE_EVERY_MS = 60_000;
/** Clocks of nodes that differ by less delay nothing. */
const CLOCKS_DIFFER_MS = 60_000;

export class QueueStart {
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  #oldestMs = 0;
  #wholeAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Unix ms: entries that are due earlier need not be looked at. `ended` is called after a look that did not fail. */
  begin(): { readonly fromMs: number; ended(oldestMs: number | null): void } {
    const atMs = this.#clock.monotonicMs();
    const isWhole = atMs - this.#wholeAtMs >= WHOLE_EVERY_MS;
    const latestMs = this.#clock.nowMs() - CLOCKS_DIFFER_MS;
    return {
      fromMs: isWhole ? 0 : Math.max(0, Math.min(this.#oldestMs, latestMs)),
      ended: (oldestMs) => {
        if (isWhole) this.#wholeAtMs = atMs;
        this.#oldestMs = oldestMs ?? Number.POSITIVE_INFINITY;
      },
    };
  }
}
