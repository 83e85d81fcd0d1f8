/**
 * Handles the frames of WebSockets in slices. uWebSockets hands over a whole receive buffer at once, which holds tens of thousands of small
 * frames. The frames that one turn of the event loop may not handle wait for later turns, so that requests and other sockets go on in between.
 */
import type { Clock } from '../../actors/runtime/ports.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type LoopTurns, loopTurns } from '../platform/loop-turns.ts';
import { type Refusals, type ShareBounds, Shares } from '../platform/shares.ts';
import type { FrameQueue, QueueOptions } from './frame-queue.ts';

/** What the frames of one turn may take together, beyond the first. Few frames take so long that the time decides and not the number. */
export const TURN_FRAMES_MAX = 512;
const TURN_MS = 4;
/** As they arrive while the loop is left to others, from networks that have none waiting. */
const RESTING_MS = 1;
/** Less is no flood. */
const WORK_MS_MIN = 1;
/** What the frames of one socket may take before those of the next. */
const RUN_FRAMES_MAX = 16;
const RUN_MS = 1;

const SHARES: ShareBounds = {
  total: LIMITS.framesWaitingBytesMax,
  network: LIMITS.framesWaitingBytesPerCallerMax,
  caller: LIMITS.framesWaitingBytesPerCallerMax,
  artifact: LIMITS.framesWaitingBytesPerArtifactMax,
};

export interface FrameTurnsDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly refusals: Refusals;
  readonly bounds?: ShareBounds;
  readonly loop?: LoopTurns;
}

export class FrameTurns {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #refusals: Refusals;
  readonly #shares: Shares;
  /** The queues with waiting frames by network, both in the order of their next run: a network with many sockets has no more than one with few. */
  readonly #waiting = new Map<string, Set<FrameQueue>>();
  readonly #loop: LoopTurns;
  #isScheduled = false;
  /** Frames that this turn has handled as they arrived, and what they took. */
  #handled = 0;
  #spentMs = 0;
  #idleWaiters: (() => void)[] = [];

  constructor({ clock, refusals, bounds = SHARES, loop = loopTurns }: FrameTurnsDeps) {
    this.#loop = loop;
    this.#clock = clock;
    this.#refusals = refusals;
    this.#shares = new Shares(bounds);
  }

  /** Bytes held for waiting frames. */
  get bytes(): number {
    return this.#shares.total;
  }

  /** Handles the frame now, or copies it and handles it after all earlier ones of its queue. False where there is no room for it. */
  arrived(queue: FrameQueue, data: ArrayBuffer, isBinary: boolean): boolean {
    if (queue.frames === 0 && this.#mayHandleNow(queue)) {
      const startMs = this.#clock.monotonicMs();
      queue.options.handle(data, isBinary);
      this.#spentMs += this.#clock.monotonicMs() - startMs;
      return true;
    }
    return this.#keep(queue, data, isBinary);
  }

  /** Forgets the waiting frames of the queue. */
  drop(queue: FrameQueue): void {
    if (queue.frames === 0) return;
    this.#shares.give(queue.heldBytes, queue.options.holders);
    queue.clear();
    this.#leave(queue);
  }

  dropAll(): void {
    for (const queues of [...this.#waiting.values()]) for (const queue of [...queues]) this.drop(queue);
  }

  /** Resolves when no frame waits. */
  idle(): Promise<void> {
    if (this.#waiting.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #mayHandleNow({ options }: FrameQueue): boolean {
    if (this.#handled === 0) setImmediate(() => this.#endTurn());
    this.#handled += 1;
    if (this.#handled > TURN_FRAMES_MAX) return false;
    if (this.#spentMs < RESTING_MS && !this.#waiting.has(networkOf(options))) return true;
    return this.#spentMs < TURN_MS && !this.#loop.isResting;
  }

  #endTurn(): void {
    this.#handled = 0;
    if (this.#spentMs >= WORK_MS_MIN) this.#loop.worked(this.#spentMs);
    this.#spentMs = 0;
  }

  #keep(queue: FrameQueue, data: ArrayBuffer, isBinary: boolean): boolean {
    const { holders, bytesMax } = queue.options;
    const growth = queue.growthFor(data.byteLength);
    if (queue.frames >= LIMITS.framesWaitingPerSocketMax || queue.heldBytes + growth > bytesMax) {
      this.#refusals.refused('frames of one socket', 'total');
      return false;
    }
    const exhausted = growth === 0 ? undefined : this.#shares.take(growth, holders);
    if (exhausted !== undefined) {
      this.#refusals.refused('frames of sockets', exhausted);
      return false;
    }
    queue.push(data, isBinary, growth);
    if (queue.frames === 1) this.#enter(queue);
    return true;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#loop.run('frames', () => {
      this.#isScheduled = false;
      this.#slice();
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  #slice(): void {
    const startMs = this.#clock.monotonicMs();
    let left = TURN_FRAMES_MAX;
    while (left > 0) {
      const queue = this.#first();
      if (queue === undefined) return;
      left -= this.#run(queue, Math.min(left, RUN_FRAMES_MAX));
      if (this.#clock.monotonicMs() - startMs >= TURN_MS) return;
    }
  }

  #first(): FrameQueue | undefined {
    for (const queues of this.#waiting.values()) for (const queue of queues) return queue;
    return undefined;
  }

  /** Returns how many frames it has handled. */
  #run(queue: FrameQueue, framesMax: number): number {
    const startMs = this.#clock.monotonicMs();
    // The queue gives way to the others, and stays where it is the only one.
    this.#leave(queue, false);
    this.#enter(queue);
    let handled = 0;
    while (handled < framesMax) {
      const heldBytes = queue.heldBytes;
      const frame = queue.take();
      if (frame === undefined) break;
      if (queue.heldBytes < heldBytes) this.#shares.give(heldBytes - queue.heldBytes, queue.options.holders);
      const isLast = queue.frames === 0;
      if (isLast) this.#leave(queue);
      queue.options.handle(frame.data, frame.isBinary);
      handled += 1;
      if (isLast) queue.options.emptied();
      if (isLast || this.#clock.monotonicMs() - startMs >= RUN_MS) break;
    }
    return handled;
  }

  #enter(queue: FrameQueue): void {
    const network = networkOf(queue.options);
    const queues = this.#waiting.get(network) ?? new Set();
    queues.add(queue);
    this.#waiting.set(network, queues);
    this.#schedule();
  }

  #leave(queue: FrameQueue, isOver = true): void {
    const network = networkOf(queue.options);
    const queues = this.#waiting.get(network);
    if (queues === undefined) return;
    queues.delete(queue);
    this.#waiting.delete(network);
    if (queues.size > 0) this.#waiting.set(network, queues);
    if (isOver && this.#waiting.size === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

function networkOf({ holders }: QueueOptions): string {
  return holders.network ?? '';
}
