/** How many calls to the outside may be under way, in all and for one share; further ones wait, and the shares take turns. */
import { EgressFailure } from './failure.ts';

export interface SlotBounds {
  readonly total: number;
  readonly perShare: number;
  readonly waitingPerShare: number;
  readonly waitingTotal: number;
}

export class EgressSlots {
  readonly #bounds: SlotBounds;
  readonly #held = new Map<string, number>();
  /** In the order in which it is their turn. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #heldTotal = 0;
  #waitingTotal = 0;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  get used(): number {
    return this.#heldTotal;
  }

  /** Answers what gives the slot back. Throws EgressFailure busy where too many wait, and the signal's reason where it fires first. */
  async take(share: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!this.#hasRoom(share)) await this.#wait(share, signal);
    else this.#hold(share);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#release(share);
    };
  }

  #hasRoom(share: string): boolean {
    return this.#heldTotal < this.#bounds.total && (this.#held.get(share) ?? 0) < this.#bounds.perShare;
  }

  #hold(share: string): void {
    this.#heldTotal += 1;
    this.#held.set(share, (this.#held.get(share) ?? 0) + 1);
  }

  #wait(share: string, signal: AbortSignal): Promise<void> {
    const queue = this.#waiting.get(share) ?? new Set<() => void>();
    if (queue.size >= this.#bounds.waitingPerShare || this.#waitingTotal >= this.#bounds.waitingTotal)
      throw new EgressFailure('busy', 'Too many calls to the outside are waiting already.');
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(begin);
        if (queue.size === 0) this.#waiting.delete(share);
        this.#waitingTotal -= 1;
      };
      const begin = () => {
        leave();
        signal.removeEventListener('abort', giveUp);
        this.#hold(share);
        resolve();
      };
      const giveUp = () => {
        leave();
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      queue.add(begin);
      this.#waiting.set(share, queue);
      this.#waitingTotal += 1;
    });
  }

  #release(share: string): void {
    this.#heldTotal -= 1;
    const held = (this.#held.get(share) ?? 1) - 1;
    if (held > 0) this.#held.set(share, held);
    else this.#held.delete(share);
    this.#beginNext();
  }

  /** The oldest call of the first share that has room; its share then waits behind the others. */
  #beginNext(): void {
    for (const [share, queue] of this.#waiting) {
      if (!this.#hasRoom(share)) continue;
      const [begin] = queue;
      if (begin === undefined) continue;
      begin();
      if (queue.size > 0) {
        this.#waiting.delete(share);
        this.#waiting.set(share, queue);
      }
      return;
    }
  }
}
