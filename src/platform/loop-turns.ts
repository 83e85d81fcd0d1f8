/**
 * Long work in slices: of all that is under way only one slice runs between two rounds of the event loop, so that many take longer and not more.
 * While requests are being served, all slices together take at most half of the loop's time: after each the loop is left to others for as long
 * as it took. Where nobody else is served, they follow each other at once.
 */
import { Lanes } from './lanes.ts';

/** Requests are being served where within this time one was taken beside another, or so many one after the other. */
const SERVING_MS = 50;
/** More than one caller sends who waits for answers that take slices: such a caller is alone, and is not slowed. */
const FOLLOWING = 8;
/** Timers are no finer. What is owed below it adds up. */
const REST_MIN_MS = 1;
/** One slice that took unexpectedly long does not stop the next ones for as long. */
const REST_MAX_MS = 50;

interface LoopTime {
  nowMs(): number;
  /** Runs it in the next round of the event loop. */
  soon(run: () => void): void;
  after(ms: number, run: () => void): void;
}

const REAL: LoopTime = {
  nowMs: () => performance.now(),
  soon: (run) => void setImmediate(run),
  after: (ms, run) => void setTimeout(run, ms),
};

export class LoopTurns {
  readonly #time: LoopTime;
  /** By network or another holder of a share, in turn. */
  readonly #waiting = new Lanes<() => void>();
  #isScheduled = false;
  /** When the last ones were taken, from the place of the next one on: the oldest first. */
  readonly #takenMs = Array.from({ length: FOLLOWING }, () => Number.NEGATIVE_INFINITY);
  #next = 0;
  #besideMs = Number.NEGATIVE_INFINITY;
  /** Until then the loop is left to others. */
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(time: LoopTime = REAL) {
    this.#time = time;
  }

  /** A request was taken, at this time of `LoopTime`. `isBeside`: others wait for their answers. */
  serves(nowMs: number, isBeside: boolean): void {
    this.#takenMs[this.#next] = nowMs;
    this.#next = (this.#next + 1) % FOLLOWING;
    if (isBeside) this.#besideMs = nowMs;
  }

  /** Resolves when the caller may run its next slice, which ends where it awaits something. Lanes take turns. */
  next(lane = ''): Promise<void> {
    return new Promise((resolve) => this.run(lane, resolve));
  }

  /** Runs a slice when it is its turn. It may not throw. */
  run(lane: string, slice: () => void): void {
    this.#waiting.push(lane, slice);
    this.#schedule();
  }

  /** Counts work of the same kind that has just been done, because it could not wait for its turn. */
  worked(ms: number): void {
    const nowMs = this.#time.nowMs();
    // What was owed when it began still is.
    const owedMs = Math.max(0, this.#restUntilMs - (nowMs - ms));
    this.#restUntilMs = nowMs + Math.min(owedMs + ms, REST_MAX_MS);
  }

  /** The loop is left to others. */
  get isResting(): boolean {
    return this.#restMs() > 0;
  }

  #restMs(): number {
    const nowMs = this.#time.nowMs();
    const servingMs = Math.max(this.#besideMs, this.#takenMs[this.#next] ?? 0);
    return nowMs - servingMs < SERVING_MS ? this.#restUntilMs - nowMs : 0;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const restMs = this.#restMs();
    if (restMs < REST_MIN_MS) this.#time.soon(() => this.#turn());
    else this.#time.after(restMs, () => this.#turn());
  }

  #turn(): void {
    const startMs = this.#time.nowMs();
    this.#waiting.take()?.();
    // Behind the slice of whoever awaits `next`, which runs when this function has returned.
    queueMicrotask(() => {
      this.worked(this.#time.nowMs() - startMs);
      this.#isScheduled = false;
      if (this.#waiting.size > 0) this.#schedule();
    });
  }
}

/** Of the one event loop of this process. */
export const loopTurns = new LoopTurns();
