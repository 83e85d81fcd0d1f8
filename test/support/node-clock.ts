import type { Clock } from '../../actors/runtime/ports.ts';
import type { SteppedClock } from './stepped-clock.ts';

/** The clock of a node whose process can be stopped: its timers do not run meanwhile, and run when it goes on. Its time of day can be set. */
export class NodeClock implements Clock {
  readonly #clock: SteppedClock;
  #isStopped = false;
  #due: (() => void)[] = [];
  /** By how much the time of day was set forward, or back. */
  wallStepMs = 0;

  constructor(clock: SteppedClock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.wallStepMs;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(delayMs: number, run: () => void) {
    let isCancelled = false;
    const due = () => {
      if (isCancelled) return;
      if (this.#isStopped) this.#due.push(due);
      else run();
    };
    const timer = this.#clock.after(delayMs, due);
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  stop(): void {
    this.#isStopped = true;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** `order`: in which what has become due meanwhile runs; by default as it became due. */
  continue(order: (due: (() => void)[]) => readonly (() => void)[] = (due) => due): void {
    this.#isStopped = false;
    // Each in a turn of its own, as a process handles them.
    for (const due of order(this.#due.splice(0))) this.#clock.after(0, due);
  }
}
