/** How many runs a node takes, works on and records in a second, beside pg-boss. Each run is one HTTP call to a server that answers at once. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Findings } from '../report/report.ts';
import { atLeast, rounded, type Spread, spreadOf, withSpread } from '../report/statistics.ts';
import type { BenchDatabase } from '../servers/fixture.ts';
import { EASEL } from '../servers/peer-process.ts';
import type { Server } from '../servers/processes.ts';
import { ask, PG_BOSS, type Spent, type Stage, spentBy } from './jobs-stage.ts';
import { queueRuns, seedClocked, seedHistory, seedOwned } from './seeding.ts';

const PERSONS = 50;
const AIM_PER_S = 500;
const DRAIN_MS_MAX = 60_000;
const LOOK_MS = 50;
const YEARLY = '0 0 1 1 *';

interface Round extends Spent {
  readonly runs: number;
  readonly perS: number;
}

export interface ClaimsPlan {
  readonly firstJob: number;
  /** Runs in a round, each of another job. */
  readonly runs: number;
  readonly rounds: number;
  /** Runs of each job that are over. */
  readonly history: number;
}

export async function claims(
  { easel, sink, database, wake }: Stage,
  pgBoss: { readonly server: Server; readonly database: BenchDatabase },
  { firstJob, runs, rounds, history }: ClaimsPlan,
  findings: Findings,
): Promise<void> {
  const jobs = { first: firstJob, count: runs };
  const url = `${sink.origin}/call`;
  await seedOwned(database.sql, jobs, PERSONS);
  const inAYear = Date.now() + 365 * 24 * 3_600_000;
  await seedClocked(database.sql, jobs, {
    action: 'http_get',
    config: { url },
    schedule: YEARLY,
    nextRunAtMs: (sql) => sql`${inAYear}::bigint`,
  });
  await seedHistory(database.sql, jobs, history);
  const done: Record<string, Round[]> = { [EASEL]: [], [PG_BOSS]: [] };
  // The first round only warms the code up.
  for (let round = 0; round <= rounds; round += 1) {
    const ofEasel = await easelRound(easel, database, jobs, wake);
    const ofPeer = await pgBossRound(pgBoss, runs, url);
    console.log(`  claims, round ${round}: ${EASEL} ${rounded(ofEasel.perS)}/s, ${PG_BOSS} ${rounded(ofPeer.perS)}/s`);
    if (round === 0) continue;
    done[EASEL]?.push(ofEasel);
    done[PG_BOSS]?.push(ofPeer);
  }
  const of = (name: string, pick: (round: Round) => number): Spread => spreadOf((done[name] ?? []).map(pick));
  findings.tables.push({
    title: 'Runs that wait are taken, make one HTTP call and are recorded',
    columns: ['Server', 'Runs/s', 'Server CPU µs each', 'Database CPU µs each'],
    rows: [EASEL, PG_BOSS].map((name) => [
      name,
      withSpread(of(name, ({ perS }) => perS)),
      withSpread(of(name, (round) => round.serverUs / round.runs)),
      withSpread(of(name, (round) => round.databaseUs / round.runs)),
    ]),
    notes: [
      `${runs} runs a round, each of another job, of ${PERSONS} persons; ${rounded(runs * history)} runs of before are in the ledger.`,
      'pg-boss takes, calls and completes batches of 32 with `fetch` and `complete`; it checks nobody’s access, and its calls reuse their connections.',
    ],
  });
  findings.verdicts.push(atLeast('Claims of one node on Postgres', of(EASEL, ({ perS }) => perS).median, AIM_PER_S, '/s'));
  findings.rounds.claims = done;
}

async function easelRound(
  easel: Server,
  database: BenchDatabase,
  jobs: { readonly first: number; readonly count: number },
  wake: () => Promise<void>,
): Promise<Round> {
  await database.sql`delete from job_run where trigger = 'manual'`;
  await queueRuns(database.sql, jobs, 1);
  const spent = await spentBy(easel, database, async () => {
    await wake();
    await drained(database);
  });
  const [row] = await database.sql<{ runs: number; failed: number; ms: number }[]>`
    select count(*)::int as runs, count(*) filter (where status <> 'succeeded')::int as failed,
      (max(finished_at_ms) - min(started_at_ms))::float8 as ms
    from job_run where trigger = 'manual'`;
  const { runs, failed, ms } = row ?? { runs: 0, failed: 0, ms: 0 };
  if (failed > 0) {
    const [one] = await database.sql<{ status: string; error: string }[]>`
      select status, error from job_run where trigger = 'manual' and status <> 'succeeded' limit 1`;
    throw new Error(`${failed} of ${runs} runs have not succeeded: ${one?.status}, ${one?.error}`);
  }
  return { ...spent, runs, perS: (runs / ms) * 1000 };
}

/** Settles when nothing waits and nothing is under way. */
export async function drained(database: BenchDatabase): Promise<void> {
  for (const deadline = performance.now() + DRAIN_MS_MAX; ; await pause(LOOK_MS)) {
    const [row] = await database.sql<{ open: boolean }[]>`select exists (select from job_run where due_ms is not null) as open`;
    if (row?.open === false) return;
    if (performance.now() > deadline) throw new Error(`Runs still wait after ${DRAIN_MS_MAX} ms.`);
  }
}

async function pgBossRound(peer: { readonly server: Server; readonly database: BenchDatabase }, runs: number, url: string): Promise<Round> {
  const { server, database } = peer;
  await ask(server, `/fill?count=${runs}&url=${encodeURIComponent(url)}`);
  let ms = 0;
  const spent = await spentBy(server, database, async () => {
    ms = (await ask(server, '/drain')) as number;
  });
  return { ...spent, runs, perS: (runs / ms) * 1000 };
}
