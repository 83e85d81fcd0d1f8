/** What it costs calls on an artifact that watches and event jobs listen to it: the same calls on artifacts with them and without. */
import type { GeneratorName } from '../load/burst.ts';
import { type Contest, named, runContest, type Standing, tableOf } from '../load/contest.ts';
import type { Findings } from '../report/report.ts';
import { atMost } from '../report/statistics.ts';
import { artifactId, type BenchDatabase, KEYS_EACH, registerArtifacts, seedKeys, VALUE } from '../servers/fixture.ts';
import type { Server } from '../servers/processes.ts';
import { wake } from '../servers/wake.ts';
import { seedListening, seedWatches } from './seeding.ts';

/** Calls take turns on these, so that none reaches its limit of 1000 calls a minute. */
const ARTIFACTS = 2000;
const CONNECTIONS = 64;
const PLAIN = 'no watch, no job';
const LISTENED = 'a watch and three event jobs';
/** Two equal contenders differ by about so much. */
const NOISE = 1.05;

export interface ListenedPlan {
  readonly easel: Server;
  readonly database: BenchDatabase;
  readonly account: { readonly token: string; readonly userId: string };
  readonly generator: GeneratorName;
  /** Numbers of artifacts and jobs from here on are free. */
  readonly first: number;
  readonly rounds: number;
  readonly durationS: number;
}

/** Before the service starts, or it does not hear of the jobs for a minute. */
export async function seedListened({ database, account, first }: Pick<ListenedPlan, 'database' | 'account' | 'first'>): Promise<void> {
  const { sql } = database;
  await registerArtifacts(sql, account.userId, first, 2 * ARTIFACTS);
  await seedKeys(sql, first, 2 * ARTIFACTS);
  await seedWatches(sql, { first, count: ARTIFACTS });
  for (const [at, type] of ['data.changed', 'artifact.viewed', 'comment.added'].entries())
    await seedListening(sql, { first: first + at * ARTIFACTS, count: ARTIFACTS }, first, type);
}

export async function listenedCalls(plan: ListenedPlan, method: 'GET' | 'PUT', findings: Findings): Promise<void> {
  const { easel, account, generator, first, durationS, database, rounds } = plan;
  await wake(easel, account.token, first, 2 * ARTIFACTS);
  const contenders = { [LISTENED]: first, [PLAIN]: first + ARTIFACTS };
  const contest: Contest = {
    title: method === 'GET' ? 'Authorised GET of a JSON key' : 'Durable PUT of a JSON key that sets nothing off',
    contenders: Object.keys(contenders).map((name) => ({ ...easel, name })),
    load: ({ name }) => ({
      origin: easel.origin,
      method,
      targets: targets(contenders[name as keyof typeof contenders]),
      repeat: 1,
      headers: { authorization: `Bearer ${account.token}`, ...(method === 'PUT' && { 'content-type': 'application/json' }) },
      ...(method === 'PUT' && { body: VALUE }),
      connections: CONNECTIONS,
      durationS,
    }),
    rounds,
    warmUpS: 2,
    database,
    notes: [`Generator ${generator}, ${CONNECTIONS} connections, closed loop, ${ARTIFACTS} artifacts each, one server for both.`],
  };
  const standings = await runContest(contest, generator);
  findings.tables.push(tableOf(contest, standings));
  findings.verdicts.push(verdictOf(method, standings));
  findings.rounds[method.toLowerCase()] = standings;
}

function verdictOf(method: 'GET' | 'PUT', standings: readonly Standing[]) {
  const cpu = (name: string) => named(standings, name).cpuUsEach.median;
  return method === 'GET'
    ? atMost('GET of an artifact with watches and event jobs: server CPU to one without', cpu(LISTENED) / cpu(PLAIN), NOISE, '×')
    : atMost('PUT that sets nothing off: server CPU beyond one to an artifact without', cpu(LISTENED) - cpu(PLAIN), 1, 'µs');
}

function targets(first: number): string[] {
  return Array.from({ length: ARTIFACTS }, (_, index) => `/v1/data/${artifactId(first + index)}/json/k${index % KEYS_EACH}`);
}
