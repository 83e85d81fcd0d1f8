/** The suite `jobs`: claims a second beside pg-boss, lateness, scripts, jobs that are asleep, and calls on artifacts that jobs and watches listen to. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseGenerator } from '../load/burst.ts';
import { disturbance, type Findings, loadText, machine, publishReport } from '../report/report.ts';
import { newAccount } from '../servers/calls.ts';
import { startEasel } from '../servers/easel-process.ts';
import { createDatabase } from '../servers/fixture.ts';
import { pinningNote, SERVER_CORE, type Server } from '../servers/processes.ts';
import { asleep } from './asleep.ts';
import { claims } from './claims.ts';
import { setStage, startPgBoss } from './jobs-stage.ts';
import { lateness } from './lateness.ts';
import { listenedCalls, seedListened } from './listened.ts';
import { scriptRuns } from './script-runs.ts';

export interface JobsOptions {
  readonly quick: boolean;
  readonly cpuProfile: boolean;
  readonly generator: string | undefined;
  /** Only the case of this name: claims, lateness, script, asleep, get or put. */
  readonly only: string | undefined;
}

interface Plan extends JobsOptions {
  readonly folder: string;
  readonly databaseUrl: string;
}

type Wanted = (...names: readonly string[]) => boolean;

/** True when every aim was reached. */
export async function benchJobs(options: JobsOptions): Promise<boolean> {
  if (process.platform !== 'linux') throw new Error('The bench reads CPU times from /proc: run it on Linux.');
  const where = machine();
  const disturbed = disturbance();
  const wanted: Wanted = (...names) => options.only === undefined || names.includes(options.only);
  const findings: Findings = { tables: [], verdicts: [], rounds: {} };
  const folder = await mkdtemp(join(tmpdir(), 'easel-bench-'));
  const plan = { ...options, folder, databaseUrl: process.env.BENCH_DATABASE_URL ?? 'postgres://127.0.0.1:5432/postgres' };
  try {
    if (wanted('claims', 'lateness', 'script')) await runs(plan, wanted, findings);
    if (wanted('get', 'put')) await calls(plan, wanted, findings);
    if (wanted('asleep')) await asleep({ ...plan, seconds: options.quick ? 20 : 62 }, findings);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const suite = options.quick || options.only ? 'jobs-part' : 'jobs';
  await publishReport({ suite, method: [...disturbed, ...METHOD], ...findings }, { ...where, 'load average after': loadText() });
  return findings.verdicts.every((verdict) => verdict.reached);
}

const METHOD = [
  `Easel runs with its default settings, as \`node dist/main.js\`, on Postgres with its defaults; ${pinningNote()}. What the jobs call is on the generator’s core.`,
  'Rounds are interleaved; each figure is the median of the rounds with (minimum–maximum). A run or a call that fails makes the bench void.',
  'Server CPU is user and system time of the whole process with its threads; database CPU is that of the backends, without the background writers.',
];

async function runs({ folder, databaseUrl, quick, cpuProfile }: Plan, wanted: Wanted, findings: Findings): Promise<void> {
  const servers: Server[] = [];
  const database = await createDatabase(databaseUrl);
  const peerDatabase = await createDatabase(databaseUrl);
  try {
    const stage = await setStage({ folder: join(folder, 'runs'), database, cpuProfile }, servers);
    const pgBoss = { server: await startPgBoss(folder, peerDatabase, servers), database: peerDatabase };
    const count = quick ? 1000 : 2000;
    if (wanted('claims'))
      await claims(stage, pgBoss, { firstJob: 0, runs: count, rounds: quick ? 2 : 3, history: quick ? 10 : 50 }, findings);
    if (wanted('lateness')) await lateness(stage, pgBoss, { firstJob: 100_000, seconds: quick ? 6 : 12 }, findings);
    if (wanted('script')) await scriptRuns(stage, { firstJob: 200_000, runs: quick ? 100 : 300, rounds: quick ? 2 : 3 }, findings);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await database.drop();
    await peerDatabase.drop();
  }
}

async function calls(plan: Plan, wanted: Wanted, findings: Findings): Promise<void> {
  const generator = await chooseGenerator(plan.generator);
  const database = await createDatabase(plan.databaseUrl);
  const start = () => startEasel({ dataFolder: join(plan.folder, 'calls'), databaseUrl: database.url, core: SERVER_CORE });
  let easel = await start();
  try {
    const account = await newAccount(easel);
    await easel.stop();
    await seedListened({ database, account, first: 0 });
    easel = await start();
    const listened = { ...plan, generator, database, account, easel, first: 0, rounds: plan.quick ? 2 : 6, durationS: 2 };
    if (wanted('get')) await listenedCalls(listened, 'GET', findings);
    if (wanted('put')) await listenedCalls(listened, 'PUT', findings);
  } finally {
    await easel.stop();
    await database.drop();
  }
}
