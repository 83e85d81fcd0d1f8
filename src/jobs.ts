/** Work of every day. Each job is safe to run at any time and from several processes at once. */
import schedule from 'node-schedule';
import type { Log } from '../actors/ports.ts';

export interface DailyJob {
  readonly name: string;
  /** `signal` fires when the process stops: end soon, between two steps. */
  run(signal: AbortSignal): Promise<unknown>;
}

/** Outside the busy hours of most of the world, and off the full hour at which everybody else's jobs run. */
const DAILY_AT = { rule: '17 3 * * *', tz: 'Etc/UTC' };

/** Runs every job now, because a machine may be off at the hour, and then daily. `stop` waits for the one that is running. */
export function startDailyJobs(jobs: readonly DailyJob[], log: Log): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let running = Promise.resolve();
  const runAll = () => {
    running = running.then(() => runOneByOne(jobs, log, stopping.signal));
  };
  const timer = schedule.scheduleJob(DAILY_AT, runAll);
  runAll();
  return {
    stop: () => {
      stopping.abort();
      timer.cancel();
      return running;
    },
  };
}

async function runOneByOne(jobs: readonly DailyJob[], log: Log, signal: AbortSignal): Promise<void> {
  for (const job of jobs) {
    if (signal.aborted) return;
    try {
      log.info({ job: job.name, result: await job.run(signal) }, 'daily job done');
    } catch (error) {
      // The next day tries again; the others are not made to wait for it.
      log.error({ job: job.name, err: error }, 'daily job failed');
    }
  }
}
