/** Whom a fact has been told about a moment ago, so that an access which was decided before it and begins after it is not missed. */
import type { Clock } from '../../../../actors/runtime/ports.ts';

/** No access takes longer from the reading of its credential to its beginning. */
const RECENT_MS = 10_000;
const RECENT_MAX = 10_000;

export class RecentFacts<Id> {
  readonly #clock: Clock;
  /** Each with the monotonic ms of its last fact, oldest first. */
  readonly #told = new Map<Id, number>();
  /** The monotonic ms until which anybody may be meant, because some were forgotten before their time or facts were missed. */
  #anybodyUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(id: Id): void {
    const nowMs = this.#clock.monotonicMs();
    this.#told.delete(id);
    this.#told.set(id, nowMs);
    for (const [oldest, toldMs] of this.#told) {
      const isOver = toldMs + RECENT_MS <= nowMs;
      if (!isOver && this.#told.size <= RECENT_MAX) return;
      this.#told.delete(oldest);
      if (!isOver) this.#anybodyUntilMs = Math.max(this.#anybodyUntilMs, toldMs + RECENT_MS);
    }
  }

  /** Facts were missed, so anybody may be meant. */
  noteAnybody(): void {
    this.#anybodyUntilMs = this.#clock.monotonicMs() + RECENT_MS;
  }

  /** False only where there certainly was none. */
  may(id: Id): boolean {
    return this.has(id) || this.mayAnybody();
  }

  /** Whether somebody may be meant who is not known by name. */
  mayAnybody(): boolean {
    return this.#clock.monotonicMs() < this.#anybodyUntilMs;
  }

  /** True only where there certainly was one. */
  has(id: Id): boolean {
    const toldMs = this.#told.get(id);
    return toldMs !== undefined && this.#clock.monotonicMs() < toldMs + RECENT_MS;
  }
}
