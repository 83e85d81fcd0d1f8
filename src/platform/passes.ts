/** Passes over a queue that is kept in the database: one at a time, again at once where it was woken meanwhile, else after a pause. */
import type { Clock, Timer } from '../../actors/runtime/ports.ts';

export class Passes {
  readonly #clock: Clock;
  readonly #pass: () => Promise<number | null>;
  readonly #ending = new AbortController();
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #isWoken = false;

  /** `pass` answers after how many ms the next one is due, or null where only `wake` begins it. It may not reject. */
  constructor(clock: Clock, pass: () => Promise<number | null>) {
    this.#clock = clock;
    this.#pass = pass;
  }

  /** Fires when the passes are to end. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get isStopped(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Call at the start, and after each commit that has made work. */
  wake(): void {
    if (this.isStopped) return;
    if (this.#running !== undefined) {
      this.#isWoken = true;
      return;
    }
    this.#timer?.cancel();
    this.#isWoken = false;
    this.#running = this.#pass()
      .then((pauseMs) => this.after(pauseMs))
      .finally(() => {
        this.#running = undefined;
        if (this.#isWoken) this.wake();
      });
  }

  /** The next pass begins after so many ms at the latest. */
  after(pauseMs: number | null): void {
    this.#timer?.cancel();
    if (pauseMs !== null && !this.isStopped) this.#timer = this.#clock.after(pauseMs, () => this.wake());
  }

  /** Settles when no pass is under way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Settles when the pass that is under way has ended. */
  async stop(): Promise<void> {
    this.#ending.abort(new Error('the service stops'));
    this.#timer?.cancel();
    await this.#running;
  }
}
