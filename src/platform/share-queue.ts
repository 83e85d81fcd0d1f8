/** Work of which only so much runs at once, in all and for one caller, network or artifact; further work waits for its turn. */
import { type Exhausted, type Holders, type ShareBounds, Shares } from './shares.ts';

interface Waiting {
  readonly holders: Holders;
  readonly start: () => void;
}

export interface QueueBounds {
  readonly running: ShareBounds;
  readonly waiting: ShareBounds;
  /** What a caller gets for whose work there is no room even to wait. */
  readonly full: (exhausted: Exhausted) => Error;
}

export class ShareQueue {
  readonly #running: Shares;
  readonly #waitingShares: Shares;
  readonly #full: QueueBounds['full'];
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();

  constructor({ running, waiting, full }: QueueBounds) {
    this.#running = new Shares(running);
    this.#waitingShares = new Shares(waiting);
    this.#full = full;
  }

  /** Runs it when its holders have a free slot. Rejects with `full` if too many are waiting, and with the signal's reason where it fires before. */
  async run<T>(holders: Holders, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running.take(1, holders) !== undefined) await this.#turn(holders, signal);
    try {
      return await work();
    } finally {
      this.#running.give(1, holders);
      this.#startNext();
    }
  }

  #turn(holders: Holders, signal: AbortSignal | undefined): Promise<void> {
    const exhausted = this.#waitingShares.take(1, holders);
    if (exhausted !== undefined) throw this.#full(exhausted);
    return new Promise((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const waiting: Waiting = { holders, start };
      const leave = () => {
        this.#waiting.delete(waiting);
        this.#waitingShares.give(1, holders);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiting);
    });
  }

  /** Of those with a share left, the network with the fewest running comes first. */
  #startNext(): void {
    let next: Waiting | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting) {
      const running = waiting.holders.network === undefined ? 0 : this.#running.held('network', waiting.holders.network);
      if (running >= fewest || this.#running.exhausted(1, waiting.holders) !== undefined) continue;
      next = waiting;
      fewest = running;
    }
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#waitingShares.give(1, next.holders);
    this.#running.take(1, next.holders);
    next.start();
  }
}
