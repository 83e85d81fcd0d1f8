/** The daily sweep: permanently removes what has expired. Each module brings its own part. Of several nodes one does it. */
import schedule from 'node-schedule';
import type { Clock, Log } from '../../actors/runtime/ports.ts';
import type { Sweep } from '../features/module.ts';
import { claimJob, endJob, giveUpJob, type HouseClaim, noteStep, renewClaim, wantJob, wantJobAnew } from '../storage/house-jobs.ts';
import type { Sql } from '../storage/sql.ts';

/** How many things each sweep removed; null where it failed. */
export type SweepReport = Readonly<Record<string, number | null>>;

/** Outside the busy hours of most of the world, and not on the full hour, when many other scheduled jobs run. */
const DAILY_AT = { rule: '17 3 * * *', tz: 'Etc/UTC' };
const DAY_MS = 24 * 3_600_000;
const DAILY_OFFSET_MS = (3 * 60 + 17) * 60_000;
/** How often each node looks for what a node that died has left behind. */
const LOOK_AT = '* * * * *';
const JOB = 'sweeps';
/** After this time without a word of its holder another node goes on. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** The holder stops earlier, so that two do not work at the same time. */
const KEPT_MS = 25_000;

export interface SweepDeps {
  readonly sql: Sql;
  readonly log: Log;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** For leases: real time. */
  readonly ioClock: Clock;
  /** Whether there is no other node. Then a start always sweeps, because the machine may have been off at the hour. */
  readonly isAlone: boolean;
}

export interface Sweeping {
  /** One more sweep on this node, after the one that may be running here. */
  now(): Promise<SweepReport>;
  /** Ends the sweep that is running between two steps and waits for it. */
  stop(): Promise<void>;
}

/** Sweeps after the start and then daily. */
export function startSweeps(sweeps: readonly Sweep[], deps: SweepDeps): Sweeping {
  const { sql, log, clock } = deps;
  const stopping = new AbortController();
  let running: Promise<SweepReport> = Promise.resolve({});
  const next = (run: () => Promise<SweepReport>) => {
    running = running.then(run);
    return running;
  };
  const claimed = (want: () => Promise<void>) =>
    next(async () => {
      try {
        await want();
        return await sweepIfClaimed(sweeps, deps, stopping.signal);
      } catch (err) {
        if (!stopping.signal.aborted) log.warn({ err }, 'whether the daily sweep is due could not be read; it is looked again in a minute');
        return {};
      }
    });
  const timers = [
    schedule.scheduleJob(DAILY_AT, (firedAt) => void claimed(() => wantJob(sql, JOB, firedAt.getTime()))),
    schedule.scheduleJob(LOOK_AT, () => void claimed(() => Promise.resolve())),
  ];
  void claimed(() => (deps.isAlone ? wantJobAnew(sql, JOB, clock.nowMs()) : wantJob(sql, JOB, lastDueMs(clock.nowMs()))));
  return {
    now: () => next(() => runSweeps(sweeps, log, stopping.signal)),
    stop: async () => {
      stopping.abort();
      for (const timer of timers) timer.cancel();
      await running;
    },
  };
}

/** The last time before `nowMs` at which the daily sweep was due. */
function lastDueMs(nowMs: number): number {
  return Math.floor((nowMs - DAILY_OFFSET_MS) / DAY_MS) * DAY_MS + DAILY_OFFSET_MS;
}

/** An empty report where it is not due, or another node does it. */
export async function sweepIfClaimed(
  sweeps: readonly Sweep[],
  deps: Omit<SweepDeps, 'clock' | 'isAlone'>,
  stopping: AbortSignal,
): Promise<SweepReport> {
  if (stopping.aborted) return {};
  const { sql, log } = deps;
  const claim = await claimJob(sql, JOB, LEASE_MS);
  if (claim === null) return {};
  const lease = new ClaimLease(claim, deps);
  const signal = AbortSignal.any([stopping, lease.lost]);
  try {
    const due = sweeps.filter(({ name }) => !claim.stepsDone.includes(name));
    const report = await runSweeps(due, log, signal, (step) => noteStep(sql, claim, step));
    if (!signal.aborted) await endJob(sql, claim);
    return report;
  } finally {
    lease.end();
    if (stopping.aborted) await giveUpJob(sql, claim);
  }
}

/** Keeps a claim, and says when it is lost. */
class ClaimLease {
  readonly #claim: HouseClaim;
  readonly #deps: Pick<SweepDeps, 'sql' | 'log' | 'ioClock'>;
  readonly #lost = new AbortController();
  #keptMs: number;
  #timer;

  constructor(claim: HouseClaim, deps: Pick<SweepDeps, 'sql' | 'log' | 'ioClock'>) {
    this.#claim = claim;
    this.#deps = deps;
    this.#keptMs = deps.ioClock.monotonicMs();
    this.#timer = deps.ioClock.after(RENEW_MS, () => void this.#renew());
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  end(): void {
    this.#timer.cancel();
  }

  async #renew(): Promise<void> {
    const { sql, log, ioClock } = this.#deps;
    const askedMs = ioClock.monotonicMs();
    this.#timer = ioClock.after(RENEW_MS, () => void this.#renew());
    try {
      if (askedMs - this.#keptMs < KEPT_MS && (await renewClaim(sql, this.#claim, LEASE_MS))) {
        this.#keptMs = askedMs;
        return;
      }
      log.warn({ job: this.#claim.name }, 'another node goes on with this work');
      this.#lost.abort();
      this.end();
    } catch (err) {
      // The next renewal may be in time.
      log.warn({ err, job: this.#claim.name }, 'the claim of this work could not be renewed');
    }
  }
}

/**
 * One after the other, in their order. One that fails stops no other: the next day tries it again. `ended` is told of each, and answers false
 * where this node does not do them any more.
 */
export async function runSweeps(
  sweeps: readonly Sweep[],
  log: Log,
  signal: AbortSignal,
  ended: (step: string) => Promise<boolean> = () => Promise.resolve(true),
): Promise<SweepReport> {
  const removed: Record<string, number | null> = {};
  for (const { name, run } of sweeps) {
    if (signal.aborted) break;
    try {
      removed[name] = await run(signal);
    } catch (err) {
      removed[name] = null;
      log.error({ err, sweep: name }, 'a daily sweep failed');
    }
    // A step that was ended early is not done.
    if (signal.aborted || !(await ended(name))) break;
  }
  log.info({ removed }, 'swept');
  return removed;
}
