/** `setTimeout` and `clearTimeout`. What still waits when the script has returned does not run. */
import type { Bounds, Natives } from '../../features/automation/scripts/bridge.ts';

export function timersOf(natives: Natives, { timersMax }: Bounds) {
  const waiting: Record<number, () => void> = Object.create(null);
  let last = 0;
  let count = 0;
  return {
    setTimeout(run: unknown, ms: unknown = 0, ...details: readonly unknown[]): number {
      if (typeof run !== 'function') throw new TypeError('setTimeout takes a function.');
      if (count >= timersMax) throw new RangeError(`At most ${timersMax} timers may wait at once.`);
      last += 1;
      count += 1;
      waiting[last] = () => run(...details);
      natives.wait(last, Number(ms) || 0);
      return last;
    },
    clearTimeout(id: unknown): void {
      if (typeof id !== 'number' || waiting[id] === undefined) return;
      delete waiting[id];
      count -= 1;
      natives.cancel(id);
    },
    fired(id: number): void {
      const run = waiting[id];
      if (run === undefined) return;
      delete waiting[id];
      count -= 1;
      run();
    },
  };
}
