/** The suite `neighbours`: what a victim's calls take while a stranger attacks, compared with the same calls without him, on both databases. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { pace } from '../data/knee.ts';
import type { Paced, PacedLoad } from '../load/paced.ts';
import { disturbance, loadText, machine, publishReport, type Table } from '../report/report.ts';
import { atMost, rounded, spreadOf, type Verdict, withSpread } from '../report/statistics.ts';
import { newAccount } from '../servers/calls.ts';
import { startEasel } from '../servers/easel-process.ts';
import { type BenchDatabase, createDatabase } from '../servers/fixture.ts';
import { GENERATOR_CORE, moveTo, pinned, SERVER_CORE, type Server } from '../servers/processes.ts';
import { ATTACKS, type AttackOrder } from './attacker.ts';

/** The victim's artifacts; together they are called this often a second, each well below its limit. */
const ARTIFACTS = 20;
const CALLS_PER_MINUTE_EACH = 600;
const RATIO_MAX = 3;
/** A p99 below this is as good as any: on so little a ratio only measures noise. */
const FLOOR_MS = 5;

export interface NeighboursOptions {
  readonly quick: boolean;
  /** Only these attacks, with a comma between their names. A name may begin with its database: `embedded/hugeBodies`. */
  readonly only: string | undefined;
  /** Writes profiles of the server to `bench/results`. */
  readonly cpuProfile: boolean;
}

interface Round {
  readonly alone: Paced;
  readonly attacked: Paced;
  /** What the attacker was answered: numbers by status or close code. */
  readonly answered: Readonly<Record<string, number>>;
}

/** True when every aim was reached. */
export async function benchNeighbours(options: NeighboursOptions): Promise<boolean> {
  if (process.platform !== 'linux') throw new Error('The bench reads CPU times from /proc: run it on Linux.');
  const where = machine();
  const disturbed = disturbance();
  const wanted = options.only?.split(',');
  const isWanted = (kind: string, name: string) => wanted === undefined || wanted.includes(name) || wanted.includes(`${kind}/${name}`);
  const tables: Table[] = [];
  const verdicts: Verdict[] = [];
  const rounds: Record<string, unknown> = {};
  for (const kind of ['embedded', 'postgres'] as const) {
    const rows: string[][] = [];
    for (const name of Object.keys(ATTACKS).filter((known) => isWanted(kind, known))) {
      const measured = await attacked(name, kind, options);
      rounds[`${kind} ${name}`] = measured;
      const { row, verdict } = judged(name, kind, measured);
      console.log(`${kind}: ${row.join(' | ')}`);
      rows.push(row);
      verdicts.push(...verdict);
    }
    tables.push({
      title: kind === 'embedded' ? 'Embedded database' : 'Postgres',
      columns: [
        'Attack',
        'p99 alone, ms',
        'p99 attacked, ms',
        'Ratio',
        'p50 attacked, ms',
        'p99 attacked of GETs and of PUTs, ms',
        'Calls',
        'Refused or failed',
        'The attacker was answered',
      ],
      rows,
      notes: [],
    });
  }
  if (verdicts.length === 0) throw new Error(`--only takes names of ${Object.keys(ATTACKS).join(', ')}.`);
  const suite = options.quick || options.only ? 'neighbours-part' : 'neighbours';
  await publishReport(
    { suite, method: [...disturbed, ...METHOD], tables, verdicts, rounds },
    { ...where, 'load average after': loadText() },
  );
  return verdicts.every(({ reached }) => reached);
}

const METHOD = [
  `The victim calls ${ARTIFACTS} artifacts of its own, ${(ARTIFACTS * CALLS_PER_MINUTE_EACH) / 60} calls a second at a constant rate, every tenth a durable PUT, the others GETs of a key; a call's latency counts from the time at which it was due.`,
  'Each attack has a fresh server and a fresh database. The victim is measured without the attacker and then with him; the attacker is a process of its own with other addresses, at a lower priority, on the generator’s core.',
  `The ratio is that of the two p99, of which one below ${FLOOR_MS} ms counts as ${FLOOR_MS} ms: on less it would measure the machine's noise.`,
  'The server is pinned to one core, the victim and the attacker share the other with the database, which is moved there if permitted. The victim has the highest priority there if permitted: what waits for that core is not the server.',
];

async function attacked(attack: string, kind: 'embedded' | 'postgres', { quick, cpuProfile }: NeighboursOptions): Promise<Round[]> {
  const [roundCount, measuredS] = quick ? [1, 3] : [3, 6];
  const folder = await mkdtemp(join(tmpdir(), 'easel-bench-'));
  const database =
    kind === 'postgres' ? await createDatabase(process.env.BENCH_DATABASE_URL ?? 'postgres://127.0.0.1:5432/postgres') : undefined;
  let server: Server | undefined;
  try {
    server = await startEasel({
      dataFolder: join(folder, 'easel'),
      databaseUrl: database?.url ?? null,
      core: SERVER_CORE,
      settings: { LOG_LEVEL: 'warn' },
      cpuProfileFolder: cpuProfile ? join('bench', 'results', 'profile') : undefined,
    });
    const load = await victimLoad(server, measuredS);
    const { token } = await newAccount(server);
    const rounds: Round[] = [];
    for (let round = 0; round < roundCount; round++) {
      const attacker = await AttackerProcess.start(folder, { attack, port: Number(new URL(server.origin).port), token });
      const alone = await apart(database, () => pace({ folder }, load));
      attacker.go();
      const under = await apart(database, () => pace({ folder }, load));
      rounds.push({ alone, attacked: under, answered: await attacker.stop() });
    }
    return rounds;
  } finally {
    await server?.stop();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Keeps the database's processes off the server's core while it runs, also those that begin meanwhile. */
async function apart<T>(database: BenchDatabase | undefined, run: () => Promise<T>): Promise<T> {
  if (database === undefined) return run();
  const moved = new Set<number>();
  const move = async () => {
    const fresh = (await database.backends()).filter((pid) => !moved.has(pid));
    if (fresh.length > 0 && moveTo(fresh, GENERATOR_CORE)) for (const pid of fresh) moved.add(pid);
  };
  await move();
  const timer = setInterval(() => void move(), 250);
  try {
    return await run();
  } finally {
    clearInterval(timer);
  }
}

async function victimLoad(server: Server, measuredS: number): Promise<PacedLoad> {
  const { token } = await newAccount(server);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const artifactIds: string[] = [];
  for (let number = 0; number < ARTIFACTS; number++) {
    const body = JSON.stringify({ files: [{ path: 'index.html', content: '<p>victim</p>' }] });
    const published = await fetch(`${server.origin}/v1/publish`, { method: 'POST', headers, body });
    const { artifact } = (await published.json()) as { artifact: { id: string } };
    artifactIds.push(artifact.id);
    await fetch(`${server.origin}/v1/data/${artifact.id}/json/work`, { method: 'PUT', headers, body: '{"n":1}' });
  }
  return {
    origin: server.origin,
    token,
    firstArtifact: 0,
    artifactIds,
    artifacts: ARTIFACTS,
    callsPerMinuteEach: CALLS_PER_MINUTE_EACH,
    read: { method: 'GET', path: '/json/work' },
    write: { method: 'PUT', path: '/json/work', body: '{"n":2}' },
    writeEvery: 10,
    connections: 16,
    warmUpS: 1,
    measuredS,
    seed: 1,
    serverPid: server.pid,
    databasePids: [],
    isFirst: true,
  };
}

class AttackerProcess {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  #last = '{}';

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw new Error('The attacker has no output.');
    this.#lines = createInterface(child.stdout);
    this.#lines.on('line', (line) => {
      this.#last = line;
    });
  }

  static async start(folder: string, order: AttackOrder): Promise<AttackerProcess> {
    const file = join(folder, 'attack.json');
    await writeFile(file, JSON.stringify(order));
    const [taskset, args] = pinned(process.execPath, [process.argv[1] ?? '', 'generate-attack', file], GENERATOR_CORE);
    const child = spawn('nice', ['-n', '10', taskset, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    const attacker = new AttackerProcess(child);
    await Promise.race([
      once(attacker.#lines, 'line'),
      once(child, 'exit').then(() => {
        throw new Error(`The attacker ${order.attack} ended before it was ready.`);
      }),
    ]);
    return attacker;
  }

  go(): void {
    this.#child.stdin?.write('go\n');
  }

  async stop(): Promise<Readonly<Record<string, number>>> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const patience = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(patience);
    return this.#last.startsWith('{') ? (JSON.parse(this.#last) as Record<string, number>) : {};
  }
}

function judged(name: string, kind: string, rounds: readonly Round[]): { row: string[]; verdict: Verdict[] } {
  const what = ATTACKS[name]?.what ?? name;
  const alone = spreadOf(rounds.map((round) => round.alone.all.p99Ms));
  const under = spreadOf(rounds.map((round) => round.attacked.all.p99Ms));
  const ratio = Math.max(FLOOR_MS, under.median) / Math.max(FLOOR_MS, alone.median);
  const lost = rounds.reduce((sum, { attacked: { refused, failures } }) => sum + refused + failures, 0);
  const calls = rounds.reduce((sum, round) => sum + round.attacked.all.calls, 0);
  const answered = rounds.flatMap((round) => Object.entries(round.answered)).map(([status, count]) => `${count} × ${status}`);
  const ninetyNinth = (which: 'reads' | 'writes') => rounded(spreadOf(rounds.map((round) => round.attacked[which].p99Ms)).median);
  const half = spreadOf(rounds.map((round) => round.attacked.all.p50Ms));
  return {
    row: [
      what,
      withSpread(alone),
      withSpread(under),
      rounded(ratio),
      withSpread(half),
      `${ninetyNinth('reads')} and ${ninetyNinth('writes')}`,
      String(calls),
      String(lost),
      answered.join(', ') || '–',
    ],
    verdict: [
      atMost(`${kind}, ${name}: p99 attacked to alone`, ratio, RATIO_MAX, '×'),
      atMost(`${kind}, ${name}: calls of the victim refused or failed`, lost, 0, 'calls'),
    ],
  };
}
