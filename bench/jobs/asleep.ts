/** What jobs cost that wait for their time or for an event: an instance with many of them beside one with none, at the same time. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Findings } from '../report/report.ts';
import { atMost, rounded } from '../report/statistics.ts';
import { startEasel } from '../servers/easel-process.ts';
import { type BenchDatabase, createDatabase } from '../servers/fixture.ts';
import { fineCpuUs, SERVER_CORE, type Server } from '../servers/processes.ts';
import { seedClocked, seedListening, seedOwned } from './seeding.ts';

/** Artifacts; each has one job by the clock and one by an event. */
const ARTIFACTS = 50_000;
const PERSONS = 500;
/** After a start the service reads what jobs listen to, and the compiler is busy. */
const SETTLING_MS = 10_000;
const AIM_PERCENT = 1;
const YEARLY = '0 0 1 1 *';

export interface AsleepPlan {
  readonly folder: string;
  readonly databaseUrl: string;
  /** From a minute on, what is looked for every minute is in it. */
  readonly seconds: number;
}

interface Instance {
  readonly jobs: number;
  readonly database: BenchDatabase;
  readonly server: Server;
}

interface Share {
  readonly jobs: number;
  /** Percent of a core. */
  readonly server: number;
  readonly database: number;
}

export async function asleep({ folder, databaseUrl, seconds }: AsleepPlan, findings: Findings): Promise<void> {
  const instances: Instance[] = [];
  const databases: BenchDatabase[] = [];
  try {
    for (const artifacts of [0, ARTIFACTS]) {
      const database = await createDatabase(databaseUrl);
      databases.push(database);
      instances.push(await sleeping(join(folder, `asleep-${artifacts}`), database, artifacts));
    }
    await pause(SETTLING_MS);
    const [none, many] = (await shares(instances, seconds)) as [Share, Share];
    findings.tables.push({
      title: 'An instance that nobody uses, with jobs asleep and with none',
      columns: ['Jobs', 'Server % of a core', 'Database % of a core'],
      rows: [none, many].map(({ jobs, server, database }) => [rounded(jobs), rounded(server), rounded(database)]),
      notes: [
        `Both at the same time, over ${seconds} s. Half of the jobs wait for a time, the other half for changes of data, views, comments or updates.`,
      ],
    });
    const more = many.server + many.database - none.server - none.database;
    findings.verdicts.push(
      atMost(`${rounded(ARTIFACTS * 2)} jobs asleep, server and database beyond an instance with none`, more, AIM_PERCENT, '% of a core'),
    );
    findings.rounds.asleep = { none, many };
  } finally {
    await Promise.all(instances.map(({ server }) => server.stop()));
    for (const database of databases) await database.drop();
  }
}

/** The schema comes with the first start, the jobs before the second one. */
async function sleeping(dataFolder: string, database: BenchDatabase, artifacts: number): Promise<Instance> {
  const start = () => startEasel({ dataFolder, databaseUrl: database.url, core: SERVER_CORE });
  const first = await start();
  if (artifacts === 0) return { jobs: 0, database, server: first };
  await first.stop();
  await seedOwned(database.sql, { first: 0, count: artifacts }, PERSONS);
  const inAYear = Date.now() + 365 * 24 * 3_600_000;
  await seedClocked(
    database.sql,
    { first: 0, count: artifacts },
    { action: 'script', config: { source: 'return null' }, schedule: YEARLY, nextRunAtMs: (sql) => sql`${inAYear}::bigint + n` },
  );
  const types = ['data.changed', 'artifact.viewed', 'comment.added', 'artifact.updated'];
  const each = artifacts / types.length;
  for (const [at, type] of types.entries())
    await seedListening(database.sql, { first: artifacts + at * each, count: each }, at * each, type);
  await database.sql`vacuum analyze`;
  return { jobs: artifacts * 2, database, server: await start() };
}

async function shares(instances: readonly Instance[], seconds: number): Promise<Share[]> {
  const before = await Promise.all(instances.map(used));
  await pause(seconds * 1000);
  const after = await Promise.all(instances.map(used));
  const percent = (us: number) => us / (seconds * 1e4);
  return instances.map(({ jobs }, at) => {
    const [from, to] = [before[at], after[at]];
    let databaseUs = 0;
    for (const [pid, us] of to?.backends ?? []) databaseUs += us - (from?.backends.get(pid) ?? 0);
    return { jobs, server: percent((to?.server ?? 0) - (from?.server ?? 0)), database: percent(databaseUs) };
  });
}

async function used({ server, database }: Instance) {
  const pids = await database.backends();
  const backends = await Promise.all(pids.map(async (pid) => [pid, await fineCpuUs(pid)] as const));
  return { server: await fineCpuUs(server.pid), backends: new Map(backends) };
}
