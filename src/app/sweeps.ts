/** The daily sweep: permanently removes what has expired. Each module brings its own part. */
import schedule from 'node-schedule';
import type { Log } from '../../actors/runtime/ports.ts';
import type { Sweep } from '../features/module.ts';

/** How many things each sweep removed; null where it failed. */
export type SweepReport = Readonly<Record<string, number | null>>;

/** Outside the busy hours of most of the world, and not on the full hour, when many other scheduled jobs run. */
const DAILY_AT = { rule: '17 3 * * *', tz: 'Etc/UTC' };

export interface Sweeping {
  /** One more sweep, after the one that may be running. */
  now(): Promise<SweepReport>;
  /** Ends the sweep that is running between two steps and waits for it. */
  stop(): Promise<void>;
}

/** Sweeps now, because a machine may be off at the hour, and then daily. */
export function startSweeps(sweeps: readonly Sweep[], log: Log): Sweeping {
  const stopping = new AbortController();
  let running: Promise<SweepReport> = Promise.resolve({});
  const now = () => {
    running = running.then(() => runSweeps(sweeps, log, stopping.signal));
    return running;
  };
  const timer = schedule.scheduleJob(DAILY_AT, now);
  void now();
  return {
    now,
    stop: async () => {
      stopping.abort();
      timer.cancel();
      await running;
    },
  };
}

/** One after the other, in their order. One that fails stops no other: the next day tries it again. */
export async function runSweeps(sweeps: readonly Sweep[], log: Log, signal: AbortSignal): Promise<SweepReport> {
  const removed: Record<string, number | null> = {};
  for (const { name, run } of sweeps) {
    if (signal.aborted) break;
    try {
      removed[name] = await run(signal);
    } catch (err) {
      removed[name] = null;
      log.error({ err, sweep: name }, 'a daily sweep failed');
    }
  }
  log.info({ removed }, 'swept');
  return removed;
}
