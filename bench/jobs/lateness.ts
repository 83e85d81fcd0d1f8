/** How long after its due time the call of a run arrives, with many due at the beginning of each second. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Findings } from '../report/report.ts';
import { atMost, rounded } from '../report/statistics.ts';
import type { BenchDatabase } from '../servers/fixture.ts';
import { EASEL } from '../servers/peer-process.ts';
import type { Server } from '../servers/processes.ts';
import { ask, PG_BOSS, type Spent, type Stage, spentBy } from './jobs-stage.ts';
import { seedClocked, seedOwned } from './seeding.ts';

const EACH_S = 100;
const PERSONS = 50;
const AHEAD_MS = 2000;
/** What has not come so long after the last due time is missing. */
const LATE_MS_MAX = 20_000;
const LOOK_MS = 200;
const YEARLY = '0 0 1 1 *';

export interface LatenessPlan {
  readonly firstJob: number;
  readonly seconds: number;
}

interface Seen {
  readonly sortedMs: readonly number[];
  readonly spent: Spent;
}

export async function lateness(
  stage: Stage,
  pgBoss: { readonly server: Server; readonly database: BenchDatabase },
  { firstJob, seconds }: LatenessPlan,
  findings: Findings,
): Promise<void> {
  const { easel, sink, database, wake } = stage;
  const count = seconds * EACH_S;
  const jobs = { first: firstJob, count };
  await seedOwned(database.sql, jobs, PERSONS);
  const seen = new Map<string, Seen>();
  const firstMs = nextSecond();
  const dueMs = (sql: BenchDatabase['sql']) => sql`${firstMs}::bigint + (n - ${firstJob}::int) / ${EACH_S}::int * 1000`;
  await seedClocked(database.sql, jobs, { action: 'http_get', config: {}, schedule: YEARLY, nextRunAtMs: dueMs });
  await database.sql`
    update job set config = jsonb_build_object('url', ${`${sink.origin}/due/`}::text || next_run_at_ms)
    where next_run_at_ms between ${firstMs} and ${firstMs + seconds * 1000}`;
  await wake();
  seen.set(EASEL, await arrivals(easel, database, sink, count, firstMs + seconds * 1000));
  const peerFirstMs = nextSecond();
  const url = encodeURIComponent(`${sink.origin}/due/`);
  await ask(pgBoss.server, `/schedule?from=${peerFirstMs}&seconds=${seconds}&each=${EACH_S}&url=${url}`);
  seen.set(PG_BOSS, await arrivals(pgBoss.server, pgBoss.database, sink, count, peerFirstMs + seconds * 1000));
  findings.tables.push({
    title: `Lateness with ${EACH_S} runs due at the beginning of every second`,
    columns: ['Server', 'p50 ms', 'p99 ms', 'max ms', 'Server core in use', 'Database core in use'],
    rows: [...seen].map(([name, { sortedMs, spent }]) => [
      name,
      ...[0.5, 0.99, 1].map((share) => rounded(quantile(sortedMs, share))),
      ...[spent.serverUs, spent.databaseUs].map((us) => `${rounded(us / (seconds * 1e4))} %`),
    ]),
    notes: [
      `From the due time until the call of the run arrives, ${seconds} seconds, ${count} jobs of ${PERSONS} persons.`,
      'pg-boss looks every half second, the shortest that it allows, and takes 100 at once.',
    ],
  });
  const p99Ms = quantile(seen.get(EASEL)?.sortedMs ?? [], 0.99);
  findings.verdicts.push(atMost(`Lateness p99 with ${EACH_S} runs due a second`, p99Ms / 1000, 1, 's'));
  findings.rounds.lateness = Object.fromEntries(seen);
}

function nextSecond(): number {
  return Math.ceil((Date.now() + AHEAD_MS) / 1000) * 1000;
}

async function arrivals(server: Server, database: BenchDatabase, sink: Server, count: number, lastDueMs: number): Promise<Seen> {
  const seenMs: number[] = [];
  const spent = await spentBy(server, database, async () => {
    while (seenMs.length < count) {
      await pause(LOOK_MS);
      seenMs.push(...((await ask(sink, '/latenesses')) as number[]));
      if (Date.now() > lastDueMs + LATE_MS_MAX) throw new Error(`${server.name}: ${count - seenMs.length} of ${count} runs did not come.`);
    }
  });
  if (seenMs.length > count) throw new Error(`${server.name}: ${seenMs.length - count} runs more came than were due.`);
  return { sortedMs: seenMs.toSorted((a, b) => a - b), spent };
}

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
