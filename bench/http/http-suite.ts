/** The suite `http`: JSON keys, a published page, memory and start time, compared with raw uWebSockets.js and Fastify with `postgres`. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseGenerator, type GeneratorName, type Load } from '../load/burst.ts';
import { type Contest, named, runContest, type Standing, tableOf } from '../load/contest.ts';
import { disturbance, type Findings, loadText, machine, publishReport } from '../report/report.ts';
import { atLeast, atMost, spreadOf, type Verdict, withSpread } from '../report/statistics.ts';
import { newAccount } from '../servers/calls.ts';
import { startEasel } from '../servers/easel-process.ts';
import { artifactId, type BenchDatabase, createDatabase, KEYS_EACH, seedArtifacts, VALUE } from '../servers/fixture.ts';
import { measureIdleActors } from '../servers/idle-actors.ts';
import { EASEL, FASTIFY, RAW } from '../servers/peer-process.ts';
import { pinningNote, SERVER_CORE, type Server } from '../servers/processes.ts';
import { ARTIFACTS, type Stage, type StagePlan, setStage } from './http-stage.ts';

const CONNECTIONS = 64;
const IDLE_ARTIFACTS = 5000;
/** Consecutive calls on one artifact in the case with one artifact; together with the other cases this stays below the limit. */
const CALLS_IN_A_ROW = 400;

export interface HttpOptions {
  readonly quick: boolean;
  readonly cpuProfile: boolean;
  readonly generator: string | undefined;
  /** Only the case of this name: get, put, page, idle or start. */
  readonly only: string | undefined;
}

/** True when every aim was reached. */
export async function benchHttp(options: HttpOptions): Promise<boolean> {
  if (process.platform !== 'linux') throw new Error('The bench reads CPU times from /proc: run it on Linux.');
  const where = machine();
  const disturbed = disturbance();
  const generator = await chooseGenerator(options.generator);
  const wanted = (name: string) => options.only === undefined || options.only === name;
  const findings: Findings = { tables: [], verdicts: [], rounds: {} };
  const folder = await mkdtemp(join(tmpdir(), 'easel-bench-'));
  const database = await createDatabase(process.env.BENCH_DATABASE_URL ?? 'postgres://127.0.0.1:5432/postgres');
  try {
    if (wanted('get') || wanted('put') || wanted('page'))
      await contests({ quick: options.quick, cpuProfile: options.cpuProfile, folder, generator, database }, findings, wanted);
    if (wanted('idle')) await idleActors(folder, database, findings);
    if (wanted('start')) await starts(folder, options.quick ? 2 : 5, findings);
  } finally {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
  const suite = options.quick || options.only ? 'http-part' : 'http';
  await publishReport({ suite, method: [...disturbed, ...method(generator)], ...findings }, { ...where, 'load average after': loadText() });
  return findings.verdicts.every((verdict) => verdict.reached);
}

function method(generator: GeneratorName): string[] {
  return [
    `Generator ${generator}, ${CONNECTIONS} connections, closed loop; ${pinningNote()}.`,
    'Rounds are interleaved server by server; each figure is the median of the rounds with (minimum–maximum). The run is void if any answer is not 2xx.',
    'Server CPU is user and system time of the whole server process; database CPU is that of the backends for this run, without the background writers.',
    `JSON keys: ${ARTIFACTS} private artifacts with ${KEYS_EACH} keys of ${VALUE.length} bytes, taken in turn with a bearer token; Postgres with its defaults, every commit flushed.`,
    'Easel runs with its default settings, as `node dist/main.js`. Raw uWebSockets.js answers the same requests with constant bytes and only a content type.',
    'The Fastify server does the same work on the same schema: token, access and limit in memory, the value from Postgres. bench/peers/fastify.ts lists what it leaves out.',
  ];
}

async function contests(plan: StagePlan, findings: Findings, wanted: (name: string) => boolean) {
  const servers: Server[] = [];
  try {
    const stage = await setStage(plan, servers);
    if (wanted('get')) await record(findings, 'get', readContest(stage), stage, readVerdicts);
    if (wanted('put')) {
      await record(findings, 'put', writeContest(stage, 1), stage, writeVerdicts);
      await record(findings, 'put-one', writeContest(stage, CALLS_IN_A_ROW), stage, () => []);
    }
    if (wanted('page')) await record(findings, 'page', pageContest(stage), stage, pageVerdicts);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function record(findings: Findings, name: string, contest: Contest, stage: Stage, judge: (standings: Standing[]) => Verdict[]) {
  const standings = await runContest(contest, stage.generator);
  findings.tables.push(tableOf(contest, standings));
  findings.verdicts.push(...judge(standings));
  findings.rounds[name] = standings;
}

function jsonLoad(stage: Stage, server: Server, load: Pick<Load, 'method' | 'repeat'> & { readonly first: number }): Load {
  const targets = Array.from({ length: ARTIFACTS }, (_, index) => {
    const number = (load.first + index) % ARTIFACTS;
    return `/v1/data/${artifactId(number)}/json/k${number % KEYS_EACH}`;
  });
  const headers = { authorization: `Bearer ${stage.token}` };
  return {
    origin: server.origin,
    method: load.method,
    targets,
    repeat: load.repeat,
    headers: load.method === 'PUT' ? { ...headers, 'content-type': 'application/json' } : headers,
    ...(load.method === 'PUT' ? { body: VALUE } : {}),
    connections: CONNECTIONS,
    durationS: stage.quick ? 2 : 4,
  };
}

function contestOf(stage: Stage): Pick<Contest, 'rounds' | 'warmUpS' | 'database'> {
  return { rounds: stage.quick ? 2 : 5, warmUpS: stage.quick ? 1 : 3, database: stage.database };
}

function readContest(stage: Stage): Contest {
  return {
    ...contestOf(stage),
    title: 'Authorised GET of a JSON key',
    contenders: [stage.raw, stage.fastify, stage.easel],
    load: (server) => jsonLoad(stage, server, { method: 'GET', repeat: 1, first: 0 }),
    notes: [],
  };
}

function writeContest(stage: Stage, repeat: number): Contest {
  const one = repeat > 1;
  return {
    ...contestOf(stage),
    title: one ? 'Durable PUT of a JSON key, all connections on one artifact' : 'Durable PUT of a JSON key, many artifacts',
    contenders: [stage.fastify, stage.easel],
    // Each round begins at another artifact, because of the limit of 1000 calls a minute.
    load: (server, round) => jsonLoad(stage, server, { method: 'PUT', repeat, first: one ? (round + 1) * 660 : 0 }),
    notes: one
      ? [`All ${CONNECTIONS} connections write one key of one artifact; after ${repeat} calls they move to the next artifact together.`]
      : [],
  };
}

function pageContest(stage: Stage): Contest {
  return {
    ...contestOf(stage),
    title: 'GET of a published HTML file of 20 KB',
    contenders: [stage.raw, stage.easel],
    load: (server) => ({
      origin: server.origin,
      method: 'GET',
      targets: [server === stage.raw ? '/page' : '/'],
      repeat: 1,
      headers: { Host: server === stage.raw ? new URL(server.origin).host : stage.pageHost },
      connections: CONNECTIONS,
      durationS: stage.quick ? 2 : 4,
    }),
    notes: [],
  };
}

function readVerdicts(standings: Standing[]): Verdict[] {
  const cpu = (name: string) => named(standings, name).cpuUsEach.median;
  return [
    atMost('GET: server CPU, Easel to raw uWebSockets.js', cpu(EASEL) / cpu(RAW), 1.6, '×'),
    atMost('GET: server CPU, Easel to Fastify + postgres', cpu(EASEL) / cpu(FASTIFY), 0.5, '×'),
  ];
}

function writeVerdicts(standings: Standing[]): Verdict[] {
  const rate = (name: string) => named(standings, name).requestsPerS.median;
  return [
    atLeast('PUT: throughput, Easel to Fastify + postgres', rate(EASEL) / rate(FASTIFY), 4, '×'),
    atMost('PUT: p99 of Easel over 64 connections', named(standings, EASEL).p99Ms.median, 20, 'ms'),
  ];
}

function pageVerdicts(standings: Standing[]): Verdict[] {
  const cpu = (name: string) => named(standings, name).cpuUsEach.median;
  return [atMost('Page of 20 KB: server CPU, Easel to raw uWebSockets.js', cpu(EASEL) / cpu(RAW), 1.5, '×')];
}

async function idleActors(folder: string, database: BenchDatabase, findings: Findings): Promise<void> {
  const easel = await startEasel({ dataFolder: join(folder, 'idle'), databaseUrl: database.url, core: SERVER_CORE, collectable: true });
  try {
    const { token, userId } = await newAccount(easel);
    await seedArtifacts(database.sql, userId, 1_000_000, IDLE_ARTIFACTS);
    const memory = await measureIdleActors(easel, token, 1_000_000, IDLE_ARTIFACTS);
    findings.rounds.idle = memory;
    findings.tables.push({
      title: `Memory of an idle actor with ${KEYS_EACH} keys of ${VALUE.length} bytes`,
      columns: ['Actors', 'Heap KB each', 'Resident set KB each'],
      rows: [[String(memory.actors), (memory.heapBytesEach / 1024).toFixed(2), (memory.residentBytesEach / 1024).toFixed(2)]],
      notes: [
        'Difference between before and after loading them, after garbage collection. It includes everything that the process keeps for an artifact, caches too.',
      ],
    });
    findings.verdicts.push(atMost('Resident idle actor, heap', memory.heapBytesEach / 1024, 8, 'KB'));
  } finally {
    await easel.stop();
  }
}

async function starts(folder: string, rounds: number, findings: Findings): Promise<void> {
  const fresh: number[] = [];
  const existing: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const dataFolder = join(folder, `start-${round}`);
    await mkdir(dataFolder);
    for (const times of [fresh, existing]) {
      const easel = await startEasel({ dataFolder, databaseUrl: null, core: null });
      times.push(easel.startMs / 1000);
      await easel.stop();
    }
  }
  const first = spreadOf(fresh);
  const later = spreadOf(existing);
  findings.rounds.start = { freshS: fresh, existingS: existing };
  findings.tables.push({
    title: 'Process start to the first answer of /readyz, embedded database',
    columns: ['Data folder', 'Seconds'],
    rows: [
      ['fresh', withSpread(first)],
      ['existing', withSpread(later)],
    ],
    notes: [`Median of ${rounds} starts, on both cores, without the build that \`npm start\` runs first.`],
  });
  findings.verdicts.push(
    atMost('Start on a fresh data folder', first.median, 5, 's'),
    atMost('Start on an existing data folder', later.median, 2, 's'),
  );
}
