/**
 * Measures servers under the same load in interleaved rounds there and back (a-b-c-c-b-a), so that a slow phase of the machine affects them all,
 * and none is always the one that warms the caches for the next.
 */
import type { Table } from '../report/report.ts';
import { rounded, type Spread, spreadOf, withSpread } from '../report/statistics.ts';
import type { BenchDatabase } from '../servers/fixture.ts';
import { cpuUs, cpuUsByPid, GENERATOR_CORE, type Server } from '../servers/processes.ts';
import { type GeneratorName, generate, type Load, type Measured } from './burst.ts';

export interface Contest {
  readonly title: string;
  readonly contenders: readonly Server[];
  /** `round` is -1 for the warm-up. */
  load(server: Server, round: number): Load;
  readonly rounds: number;
  readonly warmUpS: number;
  readonly database: BenchDatabase;
  readonly notes: readonly string[];
}

interface Round extends Measured {
  readonly cpuUsEach: number;
  readonly databaseCpuUsEach: number;
  /** Share of one core that the server used, 0–1. */
  readonly coreShare: number;
}

export interface Standing {
  readonly name: string;
  readonly requestsPerS: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** Server CPU µs a request. */
  readonly cpuUsEach: Spread;
  readonly databaseCpuUsEach: Spread;
  readonly coreShare: Spread;
  readonly rounds: readonly Round[];
}

export async function runContest(contest: Contest, generator: GeneratorName): Promise<Standing[]> {
  const rounds = new Map<Server, Round[]>();
  for (const server of contest.contenders) {
    rounds.set(server, []);
    await generate(generator, { ...contest.load(server, -1), durationS: contest.warmUpS }, GENERATOR_CORE);
  }
  for (let round = 0; round < contest.rounds; round++) {
    for (const [server, done] of round % 2 === 0 ? rounds : [...rounds].toReversed()) {
      const measured = await oneRound(server, contest.load(server, round), contest.database, generator);
      console.log(
        `  ${contest.title}, round ${round + 1}, ${server.name}: ${rounded(measured.requestsPerS)}/s, ${rounded(measured.cpuUsEach)} µs`,
      );
      done.push(measured);
    }
  }
  return [...rounds].map(([server, done]) => standingOf(server.name, done));
}

async function oneRound(server: Server, load: Load, database: BenchDatabase, generator: GeneratorName): Promise<Round> {
  const backendsBefore = await cpuUsByPid(await database.backends());
  const before = await cpuUs(server.pid);
  const measured = await generate(generator, load, GENERATOR_CORE);
  const spentUs = (await cpuUs(server.pid)) - before;
  let databaseUs = 0;
  // A pool opens connections on demand: a backend that did not exist before started at zero.
  for (const [pid, us] of await cpuUsByPid(await database.backends())) databaseUs += us - (backendsBefore.get(pid) ?? 0);
  return {
    ...measured,
    cpuUsEach: spentUs / measured.requests,
    databaseCpuUsEach: databaseUs / measured.requests,
    coreShare: spentUs / ((measured.requests / measured.requestsPerS) * 1e6),
  };
}

function standingOf(name: string, rounds: readonly Round[]): Standing {
  const of = (pick: (round: Round) => number): Spread => spreadOf(rounds.map(pick));
  return {
    name,
    requestsPerS: of((round) => round.requestsPerS),
    p50Ms: of((round) => round.p50Ms),
    p99Ms: of((round) => round.p99Ms),
    cpuUsEach: of((round) => round.cpuUsEach),
    databaseCpuUsEach: of((round) => round.databaseCpuUsEach),
    coreShare: of((round) => round.coreShare),
    rounds,
  };
}

export function tableOf(contest: Contest, standings: readonly Standing[]): Table {
  return {
    title: contest.title,
    columns: ['Server', 'Requests/s', 'p50 ms', 'p99 ms', 'Server CPU µs each', 'Database CPU µs each', 'Server core in use'],
    rows: standings.map((standing) => [
      standing.name,
      withSpread(standing.requestsPerS),
      withSpread(standing.p50Ms),
      withSpread(standing.p99Ms),
      withSpread(standing.cpuUsEach),
      withSpread(standing.databaseCpuUsEach),
      `${Math.round(standing.coreShare.median * 100)} %`,
    ]),
    notes: contest.notes,
  };
}

export function named(standings: readonly Standing[], name: string): Standing {
  const found = standings.find((standing) => standing.name === name);
  if (found === undefined) throw new Error(`${name} is not in this contest.`);
  return found;
}
