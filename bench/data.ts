/** The suite `data`: JSON keys and tables beside raw uWebSockets.js and Fastify with `postgres`, and how much one core carries. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hold, tableOf } from './contest.ts';
import { type Case, CONNECTIONS, insertCase, readCase, writeCase } from './data-contests.ts';
import { headline, oneStep } from './data-headline.ts';
import { queries } from './data-queries.ts';
import { type DataPlan, type DataStage, REGISTERED, seed, setDataStage, WITH_KEYS } from './data-stage.ts';
import { createDatabase, KEYS_EACH, VALUE } from './fixture.ts';
import { backendsApart, FULL_RATE } from './knee.ts';
import { chooseGenerator, type GeneratorName } from './load.ts';
import type { Server } from './processes.ts';
import { disturbance, loadText, machine, publishReport, type Table } from './report.ts';
import { residentArtifacts } from './resident.ts';
import type { Verdict } from './statistics.ts';
import { wake } from './wake.ts';

export interface DataOptions {
  readonly quick: boolean;
  readonly cpuProfile: boolean;
  readonly generator: string | undefined;
  /** Only the case of this name: get, put, insert, query, headline or memory. */
  readonly only: string | undefined;
  /** The headline without its search: this many artifacts, for a profile. */
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
  // The headline first: it is what a reader comes for.
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
  const standings = await hold(contest, stage.generator);
  return { table: tableOf(contest, standings), verdicts: judge(standings), rounds: standings };
}

/** One case that cannot be measured must not cost the others their figures; it is reported as not reached. */
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
    'Servers pinned to core 0 and the generator to core 1 where the system has taskset; the database’s processes for this run are moved to core 1 where it lets us. Linux would else wake them on the server’s core.',
    `One database with ${REGISTERED} private artifacts, ${WITH_KEYS} of them with ${KEYS_EACH} keys of ${VALUE.length} bytes; Postgres with its defaults, every commit flushed.`,
    'Easel runs with its default settings, as `npm start` starts it. Every call carries a bearer token and spends its artifact’s limit.',
    `Closed loop (GET, PUT, insert): ${generator}, ${CONNECTIONS} connections; rounds interleaved server by server, each figure the median with (minimum–maximum). Every answer must be 2xx or the run is void.`,
    `Open loop (headline, queries): our own generator, bench/paced.ts. Each artifact is called at its constant rate of ${FULL_RATE} a minute from a phase of its own, whatever the server does; latency counts from the moment a call was meant to be sent, so that the wait for a connection is in it.`,
    'Server CPU is user and system time of the whole server process; database CPU is that of the database’s backends for this run (its writers of log and pages are not in it).',
    'Fastify’s server does the same work on the same schema: token, access and limit in memory, values in Postgres. See bench/peers/fastify.ts for what it is let off.',
  ];
}
