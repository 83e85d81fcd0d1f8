/** Writes the ledger: each due time of each job gets its entry there once, whichever node is first. What is to run then waits in the ledger. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Log } from '../../../../actors/runtime/ports.ts';
import type { JobId } from '../../../../protocol/core/ids.ts';
import type { Bus, Fact } from '../../../platform/bus.ts';
import type { Config } from '../../../platform/config.ts';
import { Passes } from '../../../platform/passes.ts';
import { QueueStart } from '../../../storage/queue-start.ts';
import type { Sql, Transaction } from '../../../storage/sql.ts';
import { pauseAndTell } from './pausing.ts';
import { type JobRow, nextDueMs, setNextRuns, takeDueJobs } from './rows.ts';
import { insertRuns, listOpenRuns, type NewRun, type OpenRun } from './runs.ts';
import { nextDue, parseSchedule, type Schedule, ScheduleInvalid } from './schedule.ts';

/** Jobs in one transaction: few enough that others do not wait for it on the embedded database. */
const JOBS_AT_ONCE = 100;
/** Where nothing is known to be due before: another node may have written a job and died. */
const POLL_MS = 10_000;
const RETRY_MS = 1000;
/** Due times of a long downtime: the newest get an entry each, those before them share one. */
const SINGLE_ENTRIES_MAX = 100;
const COUNTED_MAX = 50_000;
const COUNTED_AT_ONCE = 500;

interface SchedulerDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  readonly config: Config;
  /** There is something to run. */
  readonly onRuns: () => void;
}

export class Scheduler {
  readonly #deps: SchedulerDeps;
  readonly #start: QueueStart;
  readonly #passes: Passes;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#start = new QueueStart(deps.clock);
    this.#passes = new Passes(deps.clock, () => this.#pass());
  }

  /** Call at the start, and after each commit that may have brought a due time forward. */
  wake(): void {
    this.#passes.wake();
  }

  /** Settles when everything that was due has its entry. */
  idle(): Promise<void> {
    return this.#passes.idle();
  }

  stop(): Promise<void> {
    return this.#passes.stop();
  }

  async #pass(): Promise<number> {
    const { sql, clock, log, bus, config, onRuns } = this.#deps;
    try {
      const look = this.#start.begin();
      for (let taken = JOBS_AT_ONCE; taken === JOBS_AT_ONCE && !this.#passes.isStopped; ) {
        const due = await sql.begin((tx) => writeDue(tx, look.fromMs, { config, nowMs: clock.nowMs() }));
        taken = due.jobs;
        for (const fact of due.facts) bus.tell(fact);
        if (taken > 0) onRuns();
      }
      if (this.#passes.isStopped) return POLL_MS;
      const dueMs = await nextDueMs(sql, look.fromMs);
      look.ended(dueMs);
      return dueMs === null ? POLL_MS : Math.min(POLL_MS, Math.max(0, dueMs - clock.nowMs()));
    } catch (err) {
      log.warn({ err }, 'the schedule of jobs could not be read or written; it is tried again');
      return RETRY_MS;
    }
  }
}

interface At {
  readonly config: Config;
  readonly nowMs: number;
}

/** Answers how many jobs were due, and what to tell the bus after the commit. */
async function writeDue(tx: Transaction, fromMs: number, at: At): Promise<{ readonly jobs: number; readonly facts: readonly Fact[] }> {
  const { nowMs } = at;
  const jobs = await takeDueJobs(tx, fromMs, nowMs, JOBS_AT_ONCE);
  if (jobs.length === 0) return { jobs: 0, facts: [] };
  const open = await listOpenRuns(
    tx,
    jobs.map(({ id }) => id),
  );
  const entries: NewRun[] = [];
  const next: { readonly id: JobId; readonly atMs: number | null }[] = [];
  const facts: Fact[] = [];
  for (const job of jobs) {
    const schedule = scheduleOf(job);
    if (schedule instanceof ScheduleInvalid) {
      facts.push(...(await pauseAndTell(tx, job, schedule.message, at)));
      continue;
    }
    const ofJob = open.filter(({ job_id }) => job_id === job.id);
    entries.push(...entriesOf(job, await dueTimes(schedule, job.next_run_at_ms as number, nowMs), ofJob, nowMs));
    next.push({ id: job.id, atMs: nextDue(schedule, nowMs) });
  }
  await insertRuns(tx, entries);
  await setNextRuns(tx, next);
  return { jobs: jobs.length, facts };
}

/** It was read when it was stored. A time zone can go with an update of the system: then the job is paused, and says why. */
function scheduleOf({ schedule, timezone }: JobRow): Schedule | ScheduleInvalid {
  try {
    return parseSchedule(schedule ?? '', timezone ?? 'UTC');
  } catch (error) {
    if (error instanceof ScheduleInvalid) return error;
    throw error;
  }
}

interface DueTimes {
  /** The last ones, oldest first; the last of them runs. */
  readonly last: readonly number[];
  /** Those before them. */
  readonly earlier: { readonly firstMs: number; readonly lastMs: number; readonly count: number } | null;
}

/** From `firstMs`, which is one, until now. Others take their turns meanwhile. */
async function dueTimes(schedule: Schedule, firstMs: number, nowMs: number): Promise<DueTimes> {
  const times: number[] = [];
  for (let at: number | null = firstMs; at !== null && at <= nowMs; at = nextDue(schedule, at)) {
    times.push(at);
    if (times.length % COUNTED_AT_ONCE === 0) await nextTurn();
    // Of what is older than a month of minutes only the number of these is told.
    if (times.length === COUNTED_MAX) at = Math.max(at, nowMs - SINGLE_ENTRIES_MAX * 60_000);
  }
  const last = times.slice(-SINGLE_ENTRIES_MAX);
  const earlier = times.slice(0, -SINGLE_ENTRIES_MAX);
  const [first] = earlier;
  return {
    last,
    earlier: first === undefined ? null : { firstMs: first, lastMs: earlier.at(-1) ?? first, count: earlier.length },
  };
}

function entriesOf(job: JobRow, { last, earlier }: DueTimes, open: readonly OpenRun[], nowMs: number): NewRun[] {
  const common = {
    jobId: job.id,
    artifactId: job.artifact_id,
    creatorId: job.creator_id,
    trigger: 'schedule',
    chain: [job.id],
    nowMs,
  } as const;
  const missed = {
    ...common,
    status: 'missed',
    dueMs: null,
    reason: 'No node was there to run it; the last due time of those runs late.',
  } as const;
  const entries: NewRun[] = [];
  if (earlier !== null)
    entries.push({ ...missed, scheduledForMs: earlier.firstMs, scheduledUntilMs: earlier.lastMs, dueTimes: earlier.count });
  for (const scheduledForMs of last.slice(0, -1)) entries.push({ ...missed, scheduledForMs });
  const scheduledForMs = last.at(-1) as number;
  const busy = open.find(({ status, attempt }) => status === 'running' || attempt > 0);
  const waiting = open[0];
  if (busy !== undefined) {
    entries.push({ ...common, scheduledForMs, status: 'skipped', dueMs: null, reason: `${busy.id} was still under way.` });
  } else if (waiting !== undefined) {
    entries.push({ ...common, scheduledForMs, status: 'merged', dueMs: null, reason: `${waiting.id} still waited, and stands for it.` });
  } else entries.push({ ...common, scheduledForMs, status: 'queued', dueMs: nowMs });
  return entries;
}
