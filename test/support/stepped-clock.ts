/** A clock that moves from timer to timer and lets every promise settle in between. Timers due at one time run in the order they were set. */
import type { Clock, Timer } from '../../actors/runtime/ports.ts';

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

export class SteppedClock implements Clock {
  #ms: number;
  #order = 0;
  readonly #timers = new Set<Due>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#ms = startMs;
  }

  nowMs(): number {
    return this.#ms;
  }

  monotonicMs(): number {
    return this.#ms;
  }

  after(delayMs: number, run: () => void): Timer {
    const due = { atMs: this.#ms + delayMs, order: this.#order, run };
    this.#order += 1;
    this.#timers.add(due);
    return { cancel: () => void this.#timers.delete(due) };
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Moves to the next timer, runs it and waits for the promises that it settles. False when there is no timer before `untilMs`. */
  async step(untilMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    await settle();
    let next: Due | undefined;
    for (const due of this.#timers) {
      if (next === undefined || due.atMs < next.atMs || (due.atMs === next.atMs && due.order < next.order)) next = due;
    }
    if (next === undefined || next.atMs > untilMs) return false;
    this.#timers.delete(next);
    this.#ms = Math.max(this.#ms, next.atMs);
    next.run();
    await settle();
    return true;
  }

  /** Advances by so much and runs every timer on the way. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#ms + ms;
    while (await this.step(untilMs)) {
      // Timers run in `step`.
    }
    this.#ms = untilMs;
    await settle();
  }
}

/** Resolves when every promise that needs no timer has settled. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
