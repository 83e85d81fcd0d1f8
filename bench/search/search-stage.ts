/** People who search, how long their calls take, and what the index needs. */
import { setTimeout as pause } from 'node:timers/promises';
import type postgres from 'postgres';
import { newAccount } from '../servers/calls.ts';
import { cpuUs, cpuUsByPid, type Server } from '../servers/processes.ts';
import { addMember } from './seeding.ts';

const LOOK_MS = 200;

export interface Person {
  readonly token: string;
}

/** Each is a member of another workspace, and no other call of theirs was made before. */
export async function newPersons(easel: Server, sql: postgres.Sql, count: number): Promise<Person[]> {
  const persons: Person[] = [];
  for (let at = 0; at < count; at += 1) {
    const { token, userId } = await newAccount(easel);
    await addMember(sql, userId, at);
    persons.push({ token });
  }
  return persons;
}

export async function searched(easel: Server, { token }: Person, q: string, more = ''): Promise<readonly { readonly title: string }[]> {
  const answer = await fetch(`${easel.origin}/v1/search?q=${encodeURIComponent(q)}${more}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (answer.status !== 200) throw new Error(`The search was answered with ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { artifacts: { title: string }[] }).artifacts;
}

export async function asked(easel: Server, { token }: Person, question: string): Promise<void> {
  const answer = await fetch(`${easel.origin}/v1/ask`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ question }),
  });
  if (answer.status !== 200) throw new Error(`The question was answered with ${answer.status}: ${await answer.text()}`);
  await answer.text();
}

export interface Timing {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Of each call; 0 where nothing was said about its processes. */
  readonly serverUs: number;
  readonly databaseUs: number;
}

export interface Spenders {
  readonly server?: Server;
  readonly backends?: () => Promise<number[]>;
}

/** One call after the other. */
export async function timed<T>(inputs: readonly T[], call: (input: T, at: number) => Promise<unknown>, by: Spenders = {}): Promise<Timing> {
  const before = await spentOf(by);
  const times: number[] = [];
  for (const [at, input] of inputs.entries()) {
    const begun = performance.now();
    await call(input, at);
    times.push(performance.now() - begun);
  }
  const after = await spentOf(by);
  times.sort((a, b) => a - b);
  const quantile = (q: number) => times[Math.min(times.length - 1, Math.floor(q * times.length))] ?? Number.NaN;
  let databaseUs = 0;
  for (const [pid, us] of after.backends) databaseUs += us - (before.backends.get(pid) ?? 0);
  return {
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    maxMs: quantile(1),
    serverUs: (after.server - before.server) / inputs.length,
    databaseUs: databaseUs / inputs.length,
  };
}

async function spentOf({ server, backends }: Spenders) {
  return {
    server: server === undefined ? 0 : await cpuUs(server.pid),
    backends: backends === undefined ? new Map<number, number>() : await cpuUsByPid(await backends()),
  };
}

export interface Indexing {
  readonly pages: number;
  readonly perS: number;
  readonly serverUs: number;
}

/** Waits until nothing is queued any more; measured from the first look on. */
export async function indexing(easel: Server, sql: postgres.Sql): Promise<Indexing> {
  const queued = async () => Number((await sql`select count(*) as n from search_turn`)[0]?.n);
  const first = await queued();
  const begun = performance.now();
  const before = await cpuUs(easel.pid);
  for (let left = first; left > 0; left = await queued()) await pause(LOOK_MS);
  const seconds = (performance.now() - begun) / 1000;
  return { pages: first, perS: first / seconds, serverUs: ((await cpuUs(easel.pid)) - before) / first };
}

/**
 * Waits for the end of the daily sweep, which begins with each start, has the database write what it still holds back, and reads what it is searched
 * by once, as the searches of an hour would.
 */
export async function settled(sql: postgres.Sql): Promise<void> {
  const isSwept = async () => (await sql`select from house_job where name = 'sweeps' and done_ms >= due_ms`).length > 0;
  while (!(await isSwept())) await pause(LOOK_MS);
  await sql`checkpoint`;
  const [warming] = await sql`select from pg_available_extensions where name = 'pg_prewarm'`;
  if (warming === undefined)
    throw new Error('The bench needs the extension pg_prewarm of Postgres (Debian: in the package of the server).');
  await sql`create extension if not exists pg_prewarm`;
  await sql`
    with kept as (
      select oid, reltoastrelid from pg_class where oid in ('search_document'::regclass, 'search_word'::regclass, 'artifact'::regclass)
    )
    select pg_prewarm(oid, 'read') from (
      select oid from kept union all select reltoastrelid from kept where reltoastrelid <> 0
      union all select indexrelid from pg_index where indrelid in (select oid from kept)
    ) as r (oid)`;
}

/** Bytes of everything that search keeps: texts, words and their indexes. */
export async function indexBytes(sql: postgres.Sql): Promise<number> {
  const [row] = await sql`select pg_total_relation_size('search_document') + pg_total_relation_size('search_word') as n`;
  return Number(row?.n);
}
