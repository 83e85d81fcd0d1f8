/** The suite `data`: JSON keys and tables compared with raw uWebSockets.js and Fastify with `postgres`, and the capacity of one core. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseGenerator, type GeneratorName } from '../load/burst.ts';
import { runContest, tableOf } from '../load/contest.ts';
import { disturbance, loadText, machine, publishReport, type Table } from '../report/report.ts';
import type { Verdict } from '../report/statistics.ts';
import { createDatabase, KEYS_EACH, VALUE } from '../servers/fixture.ts';
import type { Server } from '../servers/processes.ts';
import { wake } from '../servers/wake.ts';
import { type Case, CONNECTIONS, insertCase, readCase, writeCase } from './closed-loop.ts';
import { type DataPlan, type DataStage, REGISTERED, seed, setDataStage, WITH_KEYS } from './data-stage.ts';
import { headline, oneStep } from './headline.ts';
import { backendsApart, FULL_RATE } from './knee.ts';
import { queries } from './queries.ts';
import { residentArtifacts } from './resident.ts';

export interface DataOptions {
  readonly quick: boolean;
  readonly cpuProfile: boolean;
  readonly generator: string | undefined;
  /** Only the case of this name: get, put, insert, query, headline or memory. */
  readonly only: string | undefined;
  /** Runs the headline case with this number of artifacts and without a search, for profiling. */
  readonly at: number | undefined;
}

interface Part {
  readonly table: Table;
  readonly verdicts: readonly Verdict[];
  readonly rounds: unknown;
}

type Findings = Record<string, Part>;

/** True when every aim was reached. */
export async function benchData(options: DataOptions): Promise<boolean> {
  if (process.platform !== 'linux') throw new Error('The bench reads CPU times from /proc: run it on Linux.');
  const where = machine();
  const disturbed = disturbance();
  const { quick, cpuProfile } = options;
  const generator = await chooseGenerator(options.generator);
  const wanted = (name: string) => options.at === undefined && (options.only === undefined || options.only === name);
  const suite = quick || options.only || options.at ? 'data-part' : 'data';
  const findings: Findings = {};
  const folder = await mkdtemp(join(tmpdir(), 'easel-bench-'));
  const database = await createDatabase(process.env.BENCH_DATABASE_URL ?? 'postgres://127.0.0.1:5432/postgres');
  try {
    const plan: DataPlan = { quick, cpuProfile, folder, generator, database };
    const token = await seed(plan);
    const part = async (name: string, measure: () => Promise<Part>) => {
      if (wanted(name)) findings[name] = await orFailed(name, measure);
    };
    await part('memory', () => residentArtifacts(plan, token));
    await onStage(plan, token, async (stage) => {
      for (const each of [readCase, writeCase, insertCase].map((make) => make(stage))) await part(each.name, () => contested(stage, each));
      await part('query', () => queries(stage));
      await part('headline', () => headline(stage, `${suite}-knee.svg`));
      if (options.at !== undefined) await oneStep(stage, options.at);
    });
  } finally {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
  // The headline is the first part of the report.
  const { headline: first, ...others } = findings;
  const parts = [...(first === undefined ? [] : [first]), ...Object.values(others)];
  const verdicts = parts.flatMap((part) => part.verdicts);
  const rounds = Object.fromEntries(Object.entries(findings).map(([name, part]) => [name, part.rounds]));
  const tables = parts.map((part) => part.table);
  const report = { suite, method: [...disturbed, ...method(generator)], tables, verdicts, rounds };
  if (parts.length > 0) await publishReport(report, { ...where, 'load average after': loadText() });
  return verdicts.every((verdict) => verdict.reached);
}

async function contested(stage: DataStage, { artifacts, contest, judge }: Case): Promise<Part> {
  for (const server of [stage.easel, stage.fastify]) await wake(server, stage.token, artifacts.first, artifacts.count);
  await backendsApart(stage.database);
  const standings = await runContest(contest, stage.generator);
  return { table: tableOf(contest, standings), verdicts: judge(standings), rounds: standings };
}

/** A case that fails is reported as not reached, so that the figures of the other cases are not lost. */
async function orFailed(name: string, measure: () => Promise<Part>): Promise<Part> {
  try {
    return await measure();
  } catch (error) {
    console.error(error);
    const said = error instanceof Error ? error.message : String(error);
    const table = { title: `Case ${name}: could not be measured`, columns: ['Why'], rows: [[said.split('\n')[0] ?? '']], notes: [] };
    return { table, verdicts: [{ what: `Case ${name}`, aim: 'measured', value: 'failed', reached: false }], rounds: said };
  }
}

async function onStage(plan: DataPlan, token: string, act: (stage: DataStage) => Promise<void>): Promise<void> {
  const servers: Server[] = [];
  try {
    await act(await setDataStage(plan, token, servers));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function method(generator: GeneratorName): string[] {
  return [
    'Servers are pinned to core 0 and the generator to core 1 if taskset is installed. The database’s processes for this run are moved to core 1 if permitted, because Linux would otherwise wake them on the server’s core.',
    `One database with ${REGISTERED} private artifacts, ${WITH_KEYS} of them with ${KEYS_EACH} keys of ${VALUE.length} bytes; Postgres with its defaults, every commit flushed.`,
    'Easel runs with its default settings, as `npm start` starts it. Every call carries a bearer token and spends its artifact’s limit.',
    `Closed loop (GET, PUT, insert): ${generator}, ${CONNECTIONS} connections; rounds interleaved server by server, each figure the median with (minimum–maximum). The run is void if any answer is not 2xx.`,
    `Open loop (headline, queries): our own generator, bench/load/paced.ts. Each artifact is called at a constant rate of ${FULL_RATE} a minute with its own phase, independent of the server. Latency is measured from the scheduled time of a call, so it includes the wait for a connection.`,
    'Server CPU is user and system time of the whole server process; database CPU is that of the backends for this run, without the background writers.',
    'The Fastify server does the same work on the same schema: token, access and limit in memory, values in Postgres. bench/peers/fastify.ts lists what it leaves out.',
  ];
}
