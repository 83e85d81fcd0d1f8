/** What a run of a script costs beside the script: one that only returns, run again and again. */
import type { Findings } from '../report/report.ts';
import { atMost, rounded, spreadOf, withSpread } from '../report/statistics.ts';
import { drained } from './claims.ts';
import { type Stage, spentBy } from './jobs-stage.ts';
import { quantile } from './lateness.ts';
import { queueRuns, seedClocked, seedOwned } from './seeding.ts';

const AIM_MS = 8;
const YEARLY = '0 0 1 1 *';

export interface ScriptPlan {
  readonly firstJob: number;
  /** Runs in a round, one after the other. */
  readonly runs: number;
  readonly rounds: number;
}

interface Round {
  readonly meanMs: number;
  readonly p99Ms: number;
  readonly serverUsEach: number;
  readonly databaseUsEach: number;
}

export async function scriptRuns(
  { easel, database, wake }: Stage,
  { firstJob, runs, rounds }: ScriptPlan,
  findings: Findings,
): Promise<void> {
  const jobs = { first: firstJob, count: 1 };
  await seedOwned(database.sql, jobs, 1);
  const inAYear = Date.now() + 365 * 24 * 3_600_000;
  await seedClocked(database.sql, jobs, {
    action: 'script',
    config: { source: 'return null' },
    schedule: YEARLY,
    nextRunAtMs: (sql) => sql`${inAYear}::bigint`,
  });
  const done: Round[] = [];
  // The first round only warms the code up, and starts the thread.
  for (let round = 0; round <= rounds; round += 1) {
    await database.sql`delete from job_run where trigger = 'manual'`;
    // Of one job, so that each begins when the one before it is recorded.
    await queueRuns(database.sql, jobs, runs);
    const { serverUs, databaseUs } = await spentBy(easel, database, async () => {
      await wake();
      await drained(database);
    });
    const ended = await database.sql<{ at: number; status: string; error: string | null }[]>`
      select finished_at_ms::float8 as at, status, error from job_run where trigger = 'manual' order by finished_at_ms`;
    const failed = ended.find(({ status }) => status !== 'succeeded');
    if (failed !== undefined) throw new Error(`A run has not succeeded: ${failed.status}, ${failed.error}`);
    const apart = ended.slice(1).map(({ at }, index) => at - (ended[index]?.at ?? 0));
    apart.sort((a, b) => a - b);
    if (round === 0) continue;
    const mean = ((ended.at(-1)?.at ?? 0) - (ended[0]?.at ?? 0)) / (ended.length - 1);
    done.push({ meanMs: mean, p99Ms: quantile(apart, 0.99), serverUsEach: serverUs / runs, databaseUsEach: databaseUs / runs });
    console.log(`  scripts, round ${round}: ${rounded(mean)} ms each`);
  }
  const of = (pick: (round: Round) => number) => spreadOf(done.map(pick));
  findings.tables.push({
    title: 'Scripts of one job that only return, one run after the other',
    columns: ['Mean ms', 'p99 ms', 'Server CPU µs each', 'Database CPU µs each'],
    rows: [
      [
        withSpread(of(({ meanMs }) => meanMs)),
        withSpread(of(({ p99Ms }) => p99Ms)),
        withSpread(of(({ serverUsEach }) => serverUsEach)),
        withSpread(of(({ databaseUsEach }) => databaseUsEach)),
      ],
    ],
    notes: [`${runs} runs a round: taken, access checked, run in an instance that is as new, recorded, and the next one taken.`],
  });
  findings.verdicts.push(atMost('A run of a script beside the script’s own work', of(({ meanMs }) => meanMs).median, AIM_MS, 'ms'));
  findings.rounds.script = done;
}
