/** The suite `cluster`: what forwarding, waking, the death and the end of a node cost, on several nodes of this machine with Postgres and Redis. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pace } from '../data/knee.ts';
import type { Paced, PacedLoad } from '../load/paced.ts';
import { disturbance, type Findings, loadText, machine, publishReport } from '../report/report.ts';
import { atLeast, atMost, rounded, spreadOf, withSpread } from '../report/statistics.ts';
import { newAccount } from '../servers/calls.ts';
import { startEasel } from '../servers/easel-process.ts';
import { artifactId, createDatabase, registerArtifacts, seedArtifacts, VALUE } from '../servers/fixture.ts';
import { pinningNote, SERVER_CORE } from '../servers/processes.ts';
import { type BenchNode, ClusterStage, hasHaproxy, startProxy } from './cluster-stage.ts';
import { Writers } from './outages.ts';
import { measureBalance, measureClaimBytes } from './placement-scale.ts';

/** Each with its number of nodes. */
const CASES = { forwarding: 2, waking: 2, crash: 3, drain: 3, proxy: 3, placement: 1 } as const;
type Case = keyof typeof CASES;
/** More than the aim. */
const CLAIMS_ASKED_PER_S = 2500;
/** Below the limit of an artifact. */
const CALLS_PER_MINUTE_EACH = 900;

export interface ClusterOptions {
  readonly quick: boolean;
  /** Only the case of this name. */
  readonly only: string | undefined;
}

/** True when every aim was reached. */
export async function benchCluster(options: ClusterOptions): Promise<boolean> {
  if (process.platform !== 'linux') throw new Error('The bench reads CPU times from /proc: run it on Linux.');
  if (options.only !== undefined && !(options.only in CASES)) throw new Error(`--only takes one of ${Object.keys(CASES).join(', ')}.`);
  const where = machine();
  const disturbed = disturbance();
  const findings: Findings = { tables: [], verdicts: [], rounds: {} };
  const run = { forwarding, waking, crash, drain, proxy, placement } as const;
  for (const name of Object.keys(CASES) as Case[]) {
    if (name !== (options.only ?? name) || (name === 'placement' && options.only === undefined)) continue;
    const folder = await mkdtemp(join(tmpdir(), 'easel-bench-'));
    const stage = await ClusterStage.start(folder, CASES[name]);
    try {
      const [first] = stage.nodes;
      if (first === undefined) throw new Error('There is no node.');
      await run[name]({ stage, options, findings, account: await newAccount(first.server) });
    } finally {
      await stage.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }
  // Placement needs no quiet machine, and takes longest: it is kept by itself.
  const isPlacement = options.only === 'placement' && !options.quick;
  const suite = isPlacement ? 'placement' : options.quick || options.only ? 'cluster-part' : 'cluster';
  await publishReport({ suite, method: [...disturbed, ...METHOD], ...findings }, { ...where, 'load average after': loadText() });
  return findings.verdicts.every((verdict) => verdict.reached);
}

const METHOD = [
  `Nodes run with their default settings, as \`node dist/main.js\`, on one Postgres and one Redis; ${pinningNote()}, Redis and HAProxy not pinned. All nodes share one core, so that their CPU time counts and not their throughput.`,
  'Calls are made at a constant rate, and a call’s latency counts from the time at which it was due. Rounds are interleaved; each figure is the median of the rounds with (minimum–maximum).',
];

interface Setting {
  readonly stage: ClusterStage;
  readonly options: ClusterOptions;
  readonly findings: Findings;
  readonly account: { readonly token: string; readonly userId: string };
}

/** CPU µs a call of all nodes, and what the caller saw. */
interface Costed {
  readonly cpuUsEach: number;
  readonly paced: Paced;
}

async function costed(stage: ClusterStage, load: PacedLoad): Promise<Costed> {
  const paced = await pace({ folder: stage.folder }, load);
  if (paced.failures + paced.refused > 0) throw new Error(`${paced.failures + paced.refused} calls failed, which voids the run.`);
  return { cpuUsEach: paced.serverCpuUsEach, paced };
}

function loadOf(setting: Setting, origin: string, ids: readonly string[], change: Partial<PacedLoad> = {}): PacedLoad {
  const { stage, account, options } = setting;
  const pids = stage.nodes.map(({ server }) => server.pid);
  return {
    origin,
    token: account.token,
    firstArtifact: 0,
    artifactIds: ids,
    artifacts: ids.length,
    callsPerMinuteEach: CALLS_PER_MINUTE_EACH,
    read: { method: 'GET', path: '/json/k0' },
    write: { method: 'PUT', path: '/json/k0', body: VALUE },
    writeEvery: 0,
    connections: 64,
    warmUpS: 1,
    measuredS: options.quick ? 3 : 6,
    seed: 1,
    serverPid: pids[0] ?? 0,
    otherServerPids: pids.slice(1),
    databasePids: [],
    isFirst: true,
    ...change,
  };
}

const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, at) => artifactId(first + at));

/** A GET at the owner and one that another node forwards. */
async function forwarding(setting: Setting): Promise<void> {
  const { stage, options, findings, account } = setting;
  await seedArtifacts(stage.database.sql, account.userId, 0, 200);
  const [front, owner] = stage.nodes as [BenchNode, BenchNode];
  const ids = idsFrom(0, 200)
    .filter((id) => stage.chosen(id) === owner)
    .slice(0, 64);
  const rounds: { readonly local: Costed; readonly forwarded: Costed }[] = [];
  for (let round = 0; round < (options.quick ? 1 : 5); round += 1) {
    const local = await costed(stage, loadOf(setting, owner.server.origin, ids, { warmUpS: 3 }));
    rounds.push({ local, forwarded: await costed(stage, loadOf(setting, front.server.origin, ids, { warmUpS: 3 })) });
  }
  const spread = (of: (round: (typeof rounds)[number]) => number) => spreadOf(rounds.map(of));
  findings.tables.push({
    title: `GET of a key of 150 bytes, ${Math.round((ids.length * CALLS_PER_MINUTE_EACH) / 60)} a second`,
    columns: ['The call comes to', 'CPU of all nodes, µs a call', 'p50, ms', 'p99, ms'],
    rows: [
      [
        'the owner',
        spread(({ local }) => local.cpuUsEach),
        spread(({ local }) => local.paced.all.p50Ms),
        spread(({ local }) => local.paced.all.p99Ms),
      ],
      [
        'another node',
        spread(({ forwarded }) => forwarded.cpuUsEach),
        spread(({ forwarded }) => forwarded.paced.all.p50Ms),
        spread(({ forwarded }) => forwarded.paced.all.p99Ms),
      ],
    ].map(([name, ...figures]) => [String(name), ...figures.map((figure) => withSpread(figure as ReturnType<typeof spreadOf>))]),
    notes: ['The CPU time includes what both nodes do anyway: heartbeats, bus, sweeps.'],
  });
  findings.verdicts.push(
    atMost(
      'A forwarded GET: CPU of all nodes to a local one',
      spread(({ local, forwarded }) => forwarded.cpuUsEach / local.cpuUsEach).median,
      3,
      '×',
    ),
    atMost(
      'A forwarded GET: p99 above a local one',
      spread(({ local, forwarded }) => forwarded.paced.all.p99Ms - local.paced.all.p99Ms).median,
      3,
      'ms',
    ),
  );
  findings.rounds.forwarding = rounds;
}

/** The first call of artifacts that sleep. */
async function waking(setting: Setting): Promise<void> {
  const { stage, options, findings, account } = setting;
  const { sql } = stage.database;
  const count = options.quick ? 600 : 2000;
  await registerArtifacts(sql, account.userId, 0, 2 * count);
  await sql`
    insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms)
    select 'art_' || lpad(n::text, 24, '0'), 'k' || k, ${VALUE}, 0, 0, 0 from generate_series(0, ${2 * count - 1}::int) n, generate_series(0, 49) k`;
  // Else Postgres does it during the measurement.
  await sql`vacuum (analyze) json_key`;
  await sql`checkpoint`;
  const claimed = options.quick ? 6000 : 20_000;
  await registerArtifacts(sql, account.userId, 100_000, claimed);
  const [node] = stage.nodes as [BenchNode, BenchNode];
  const own = idsFrom(0, 2 * count).filter((id) => stage.chosen(id) === node);
  const woken = await costed(stage, loadOf(setting, node.server.origin, own, { callsPerMinuteEach: 3, warmUpS: 5, measuredS: 15 }));
  const free = idsFrom(100_000, claimed).filter((id) => stage.chosen(id) === node);
  const burstS = free.length / CLAIMS_ASKED_PER_S;
  const burst = { callsPerMinuteEach: 60 / burstS, warmUpS: 0, measuredS: burstS, read: { method: 'GET', path: '/json' } } as const;
  const claims = await pace({ folder: stage.folder }, loadOf(setting, node.server.origin, free, burst));
  findings.tables.push({
    title: 'The first call of artifacts that no node owns: claim, epoch, load, answer',
    columns: ['Artifacts', 'Calls a second', 'p50, ms', 'p99, ms', 'CPU of the nodes, µs each'],
    rows: [
      ['50 keys', woken.paced.answeredPerS, woken.paced.all.p50Ms, woken.paced.all.p99Ms, woken.cpuUsEach],
      ['empty, as many as come', claims.answeredPerS, claims.all.p50Ms, claims.all.p99Ms, claims.serverCpuUsEach],
    ].map(([name, ...figures]) => [String(name), ...figures.map((figure) => rounded(Number(figure)))]),
    notes: [`The second row asks for ${free.length} artifacts, ${CLAIMS_ASKED_PER_S} a second.`],
  });
  findings.verdicts.push(
    atMost('Waking an artifact with 50 keys, p99', woken.paced.all.p99Ms, 15, 'ms'),
    atLeast('Claims of one node', claims.answeredPerS, 2000, 'a second'),
  );
  findings.rounds.waking = { woken, claims };
}

/** SIGKILL of an owner. */
async function crash(setting: Setting): Promise<void> {
  const { stage, options, findings } = setting;
  const kills = options.quick ? 2 : 8;
  const each = 60;
  await seedArtifacts(stage.database.sql, setting.account.userId, 0, kills * each);
  const longest: number[] = [];
  // Other artifacts each time: those of the last one belong to the survivors now.
  for (let kill = 0; kill < kills; kill += 1) longest.push(...(await lost(setting, idsFrom(kill * each, each), 'SIGKILL')));
  const sorted = spreadOf(longest);
  findings.tables.push({
    title: 'SIGKILL of a node: how long its artifacts take no writes',
    columns: ['Artifacts of killed nodes', 'Median, ms', 'Shortest', 'Longest'],
    rows: [[String(longest.length), rounded(sorted.median), rounded(sorted.min), rounded(sorted.max)]],
    notes: [
      'Writes go through another node; each is repeated every 10 ms until it is accepted, and its time counts from its first attempt.',
    ],
  });
  findings.verdicts.push(atMost('After SIGKILL of their owner artifacts take writes again, the longest', sorted.max / 1000, 5, 's'));
  findings.rounds.crash = longest;
}

/** SIGTERM of an owner. */
async function drain(setting: Setting): Promise<void> {
  const { stage, options, findings } = setting;
  const count = options.quick ? 2 : 4;
  // Of which one node in three owns 200 or so.
  const each = 600;
  await seedArtifacts(stage.database.sql, setting.account.userId, 0, count * each);
  const rounds: number[][] = [];
  for (let round = 0; round < count; round += 1) rounds.push(await lost(setting, idsFrom(round * each, each), 'SIGTERM', 200));
  // The first is not counted: in processes that have just started nothing is compiled.
  rounds.shift();
  const p99s = rounds.map((outages) => outages.toSorted((a, b) => a - b)[Math.ceil(outages.length * 0.99) - 1] ?? Number.NaN);
  findings.tables.push({
    title: 'SIGTERM of a node: how long its artifacts take no writes',
    columns: ['Artifacts of each node that stopped', 'Median, ms', 'p99, ms', 'Longest, ms'],
    rows: [
      [
        rounds.map(({ length }) => length).join(', '),
        withSpread(spreadOf(rounds.map((outages) => spreadOf(outages).median))),
        withSpread(spreadOf(p99s)),
        rounded(Math.max(...rounds.flat())),
      ],
    ],
    notes: ['As above. Only artifacts of the node that stops are written. A round before these is not counted.'],
  });
  findings.verdicts.push(atMost('After a drain artifacts take writes again, p99', spreadOf(p99s).median, 300, 'ms'));
  findings.rounds.drain = rounds;
}

/** Ends the node that owns most while its artifacts are written through another, and starts it again. */
async function lost(
  { stage, account }: Setting,
  ids: readonly string[],
  signal: 'SIGKILL' | 'SIGTERM',
  most = ids.length,
): Promise<number[]> {
  const victim = stage.nodes.at(-1) as BenchNode;
  const [witness] = stage.nodes as [BenchNode];
  const own = ids.filter((id) => stage.chosen(id) === victim).slice(0, most);
  const writers = new Writers(witness.server.origin, account.token, own);
  await writers.settled();
  writers.begin();
  if (signal === 'SIGKILL') victim.server.signal('SIGKILL');
  else await victim.server.stop();
  await writers.settled();
  const outages = writers.outages(own);
  await writers.stop();
  stage.without(victim);
  await victim.server.stop();
  await stage.join(victim.name, victim.peerAddress);
  return outages;
}

/** Three nodes behind HAProxy beside one node alone behind it, each node with the same load. */
async function proxy(setting: Setting): Promise<void> {
  const { stage, options, findings, account } = setting;
  if (!hasHaproxy()) {
    console.log('The case proxy is left out: HAProxy is not installed.');
    return;
  }
  await seedArtifacts(stage.database.sql, account.userId, 0, 90);
  const ids = idsFrom(0, 90);
  const mixed = { callsPerMinuteEach: 900, writeEvery: 10 };
  const rounds: { readonly cluster: Costed; readonly single: Costed }[] = [];
  for (let round = 0; round < (options.quick ? 1 : 3); round += 1) {
    const front = await startProxy(stage.folder, stage.nodes);
    const cluster = await costed(stage, loadOf(setting, front.origin, ids, mixed));
    await front.stop();
    rounds.push({ cluster, single: await alone(setting, ids.length / stage.nodes.length, mixed, round) });
  }
  const figures = (of: (round: (typeof rounds)[number]) => Costed) => [
    withSpread(spreadOf(rounds.map((round) => of(round).cpuUsEach))),
    withSpread(spreadOf(rounds.map((round) => of(round).paced.all.p50Ms))),
    withSpread(spreadOf(rounds.map((round) => of(round).paced.all.p99Ms))),
  ];
  const ratio = spreadOf(rounds.map(({ cluster, single }) => cluster.cpuUsEach / single.cpuUsEach)).median;
  const cpuUs = spreadOf(rounds.map(({ cluster }) => cluster.cpuUsEach)).median;
  findings.tables.push({
    title: 'Calls through HAProxy: nine GETs and a durable PUT in turn, 450 a second for each node',
    columns: ['Behind it', 'CPU of the nodes, µs a call', 'p50, ms', 'p99, ms'],
    rows: [
      ['three nodes', ...figures(({ cluster }) => cluster)],
      ['one node, no cluster', ...figures(({ single }) => single)],
    ],
    notes: [
      `At ${rounded(cpuUs)} µs a call a core of a node serves ${rounded(1e6 / cpuUs)} calls a second; nodes of one core each, kept at 60 %, serve ${rounded((0.6 * 60 * 1e6) / cpuUs)} calls a minute each, as long as Postgres keeps up.`,
    ],
  });
  findings.verdicts.push(atMost('Behind the hashing proxy: CPU a call of three nodes to one', ratio, 1.1, '×'));
  findings.rounds.proxy = rounds;
}

/** A node without Redis, with a database of its own, behind a proxy of its own. */
async function alone(setting: Setting, count: number, mixed: Partial<PacedLoad>, round: number): Promise<Costed> {
  const { folder } = setting.stage;
  const database = await createDatabase(process.env.BENCH_DATABASE_URL ?? 'postgres://127.0.0.1:5432/postgres');
  const dataFolder = join(folder, `alone${round}`);
  const server = await startEasel({ dataFolder, databaseUrl: database.url, core: SERVER_CORE, settings: { LOG_LEVEL: 'warn' } });
  try {
    const account = await newAccount(server);
    await seedArtifacts(database.sql, account.userId, 0, count);
    const front = await startProxy(folder, [{ name: 'node1', peerAddress: '127.0.0.1:1', server }]);
    try {
      const only = { serverPid: server.pid, otherServerPids: [] };
      return await costed(setting.stage, loadOf({ ...setting, account }, front.origin, idsFrom(0, count), { ...mixed, ...only }));
    } finally {
      await front.stop();
    }
  } finally {
    await server.stop();
    await database.drop();
  }
}

/** As large as an installation may become, without the nodes. */
async function placement({ stage, options, findings }: Setting): Promise<void> {
  const [nodes, artifacts] = options.quick ? [50, 50_000] : [200, 1_000_000];
  const balance = measureBalance(nodes, artifacts);
  const claimBytes = await measureClaimBytes(stage.redisUrl, artifacts);
  const percent = (share: number) => `${rounded(share * 100)} %`;
  findings.tables.push({
    title: `Placement of ${artifacts.toLocaleString('en').replaceAll(',', ' ')} artifacts on ${nodes} nodes`,
    columns: ['What', 'Figure'],
    rows: [
      ['artifacts of the fullest node, to the mean', rounded(balance.fullest)],
      ['of the emptiest', rounded(balance.emptiest)],
      [`artifacts that move when a node joins (1 of ${nodes + 1} is ${percent(1 / (nodes + 1))})`, percent(balance.movedByJoin)],
      [`when a node dies (1 of ${nodes} is ${percent(1 / nodes)})`, percent(balance.movedByDeath)],
      ['moved between nodes that stay', percent(balance.movedNeedlessly)],
      ['one choice, µs', rounded(balance.choiceNs / 1000)],
      ['Redis, bytes a claim', rounded(claimBytes)],
    ],
    notes: ['Rendezvous hashing as the nodes do it, and claims in a real Redis.'],
  });
  findings.verdicts.push(
    atMost('The fullest node, to the mean', balance.fullest, 1.1, '×'),
    atMost('Artifacts that move between nodes that stay', balance.movedNeedlessly, 0, ''),
  );
  findings.rounds.placement = { balance, claimBytes };
}
