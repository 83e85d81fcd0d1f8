/** A clock that moves only when a test moves it. */
import type { Clock, Timer } from '../../actors/runtime/ports.ts';

interface Alarm {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** 2026-01-01T00:00:00Z */
const START_MS = 1_767_225_600_000;

export class VirtualClock implements Clock {
  #elapsedMs = 0;
  #order = 0;
  #setByMs = 0;
  readonly #alarms = new Set<Alarm>();
  readonly #startMs: number;
  readonly #passingMs: number;

  /** Waits of up to `passingMs` also end by themselves, so that short gathering pauses do not need the test to move the clock. */
  constructor({ startMs = START_MS, passingMs = 0 } = {}) {
    this.#startMs = startMs;
    this.#passingMs = passingMs;
  }

  nowMs(): number {
    return this.#startMs + this.#elapsedMs + this.#setByMs;
  }

  /** Sets the time of day forward, or back, as an operator or NTP does. No alarm is due by it. */
  set(byMs: number): void {
    this.#setByMs += byMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, run: () => void): Timer {
    const alarm: Alarm = { atMs: this.#elapsedMs + delayMs, order: this.#order++, run };
    this.#alarms.add(alarm);
    if (delayMs <= this.#passingMs) setTimeout(() => this.#alarms.delete(alarm) && run(), delayMs);
    return { cancel: () => this.#alarms.delete(alarm) };
  }

  /** Runs every alarm due on the way in order, including those that alarms set. */
  advance(ms: number): void {
    const targetMs = this.#elapsedMs + ms;
    for (let next = this.#nextDue(targetMs); next !== undefined; next = this.#nextDue(targetMs)) {
      this.#alarms.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs);
      next.run();
    }
    this.#elapsedMs = targetMs;
  }

  /** Forgets every alarm, and what would have run. */
  stop(): void {
    this.#alarms.clear();
  }

  #nextDue(targetMs: number): Alarm | undefined {
    let first: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.atMs > targetMs) continue;
      if (first === undefined || alarm.atMs < first.atMs || (alarm.atMs === first.atMs && alarm.order < first.order)) first = alarm;
    }
    return first;
  }
}
