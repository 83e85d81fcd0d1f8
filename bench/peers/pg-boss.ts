/**
 * Peer: pg-boss, the queue on Postgres that most Node.js services take. It has one queue for everybody: no turns between persons, no bound for an
 * artifact, no ledger of due times, no check of access and no token for a run, so it does less for each.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { userInfo } from 'node:os';
import PgBoss from 'pg-boss';

export interface PgBossSettings {
  readonly port: number;
  readonly databaseUrl: string;
  /** Connections to the database. */
  readonly pool: number;
  /** Jobs that are taken at once. */
  readonly batch: number;
}

interface Call {
  readonly url: string;
}

const TO_DRAIN = 'to-drain';
const TO_BE_DUE = 'to-be-due';
/** The shortest that pg-boss allows. */
const POLL_S = 0.5;
const DUE_BATCH = 100;

/** `/fill?count&url` queues jobs, `/drain` works on them until none is left, `/schedule?from&seconds&each&url` queues some that are due later. */
export async function servePgBoss(file: string): Promise<void> {
  const { port, databaseUrl, pool, batch } = JSON.parse(readFileSync(file, 'utf8')) as PgBossSettings;
  const url = new URL(databaseUrl);
  // As libpq and `postgres` do where the address names nobody; `pg` looks into USER only.
  url.username ||= userInfo().username;
  const boss = new PgBoss({ connectionString: url.href, max: pool });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  for (const queue of [TO_DRAIN, TO_BE_DUE]) await boss.createQueue(queue);
  await boss.work<Call>(TO_BE_DUE, { batchSize: DUE_BATCH, pollingIntervalSeconds: POLL_S }, callAll);
  const answers: Readonly<Record<string, (query: URLSearchParams) => Promise<unknown>>> = {
    '/ready': async () => 'ok',
    '/fill': (query) => fill(boss, Number(query.get('count')), query.get('url') ?? ''),
    '/drain': () => drain(boss, batch),
    '/schedule': (query) => schedule(boss, query),
  };
  createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://peer');
    Promise.resolve(answers[pathname]?.(searchParams)).then(
      (said) => response.end(JSON.stringify(said ?? null)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(port, '127.0.0.1');
}

async function fill(boss: PgBoss, count: number, url: string): Promise<void> {
  await boss.insert(Array.from({ length: count }, () => ({ name: TO_DRAIN, data: { url } })));
}

/** With `fetch` instead of `work`, which pauses between its batches. Answers the ms that it took. */
async function drain(boss: PgBoss, batch: number): Promise<number> {
  const began = performance.now();
  for (;;) {
    const jobs = await boss.fetch<Call>(TO_DRAIN, { batchSize: batch });
    if (jobs.length === 0) return performance.now() - began;
    await callAll(jobs);
    await boss.complete(
      TO_DRAIN,
      jobs.map(({ id }) => id),
    );
  }
}

/** `each` jobs at every second of `seconds`, from `from` on. */
async function schedule(boss: PgBoss, query: URLSearchParams): Promise<void> {
  const fromMs = Number(query.get('from'));
  const jobs: PgBoss.JobInsert<Call>[] = [];
  for (let second = 0; second < Number(query.get('seconds')); second += 1) {
    const dueMs = fromMs + second * 1000;
    for (let n = 0; n < Number(query.get('each')); n += 1)
      jobs.push({ name: TO_BE_DUE, data: { url: `${query.get('url')}${dueMs}` }, startAfter: new Date(dueMs) });
  }
  await boss.insert(jobs);
}

async function callAll(jobs: readonly PgBoss.Job<Call>[]): Promise<void> {
  await Promise.all(
    jobs.map(async ({ data }) => {
      const answer = await fetch(data.url);
      await answer.arrayBuffer();
    }),
  );
}
