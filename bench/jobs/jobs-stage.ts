/** Sets up the suite `jobs`: one database, Easel, pg-boss with a database of its own, and what their jobs call. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PgBossSettings } from '../peers/pg-boss.ts';
import type { SinkSettings } from '../peers/sink.ts';
import { newAccount } from '../servers/calls.ts';
import { startEasel } from '../servers/easel-process.ts';
import { artifactId, type BenchDatabase, registerArtifacts } from '../servers/fixture.ts';
import { POOL, startPeer } from '../servers/peer-process.ts';
import { cpuUs, cpuUsByPid, freePort, GENERATOR_CORE, SERVER_CORE, type Server } from '../servers/processes.ts';

export const PG_BOSS = 'pg-boss';
/** Runs that Easel works on at once (LIMITS.runsMax): the batch of pg-boss. */
const BATCH = 32;
/** An artifact beyond those of the cases, with the job that is changed in order to wake the service. */
const WAKER = 9_999_999;

export interface Stage {
  readonly easel: Server;
  readonly sink: Server;
  readonly database: BenchDatabase;
  /** Has Easel look at once for what is due. */
  readonly wake: () => Promise<void>;
}

export interface StagePlan {
  readonly folder: string;
  readonly database: BenchDatabase;
  readonly cpuProfile: boolean;
}

/** Adds each server that it starts to `servers`; the caller stops them, also if this function fails. */
export async function setStage({ folder, database, cpuProfile }: StagePlan, servers: Server[]): Promise<Stage> {
  await mkdir(folder, { recursive: true });
  const easel = await startEasel({
    dataFolder: join(folder, 'easel'),
    databaseUrl: database.url,
    core: SERVER_CORE,
    cpuProfileFolder: cpuProfile ? join('bench', 'results', 'profile') : undefined,
    // The jobs call a server of this machine.
    settings: { EGRESS_PRIVATE_NETWORKS: '127.0.0.1/32', EGRESS_PORTS: 'any' },
  });
  servers.push(easel);
  const { token, userId } = await newAccount(easel);
  await registerArtifacts(database.sql, userId, WAKER, 1);
  const job = await call(easel, token, 'POST', '/v1/jobs', WAKER_JOB);
  const port = await freePort();
  const sink = await startPeer('sink', 'peer-sink', folder, port, { port } satisfies SinkSettings, GENERATOR_CORE);
  servers.push(sink);
  const wake = async () => void (await call(easel, token, 'PATCH', `/v1/jobs/${job.id}`, { title: 'waker' }));
  return { easel, sink, database, wake };
}

const WAKER_JOB = {
  artifact_id: artifactId(WAKER),
  title: 'waker',
  action: 'script',
  trigger_type: 'cron',
  schedule: '0 0 1 1 *',
  timezone: 'UTC',
  config: { source: 'return null' },
};

async function call(easel: Server, token: string, method: string, path: string, body: object): Promise<{ readonly id: string }> {
  const answer = await fetch(easel.origin + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const said = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${said}`);
  return JSON.parse(said) as { id: string };
}

/** As `setStage`. Its database is beside Easel's, so that neither's tables are in the other's way. */
export async function startPgBoss(folder: string, database: BenchDatabase, servers: Server[]): Promise<Server> {
  const port = await freePort();
  const settings = { port, databaseUrl: database.url, pool: POOL, batch: BATCH } satisfies PgBossSettings;
  const peer = await startPeer(PG_BOSS, 'peer-pg-boss', folder, port, settings);
  servers.push(peer);
  return peer;
}

/** What a peer or the sink answers. */
export async function ask(server: Server, path: string): Promise<unknown> {
  const answer = await fetch(server.origin + path);
  if (!answer.ok) throw new Error(`${server.name} answered ${path} with ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

export interface Spent {
  /** Of the server with its threads, and of the backends of its database. */
  readonly serverUs: number;
  readonly databaseUs: number;
}

export async function spentBy(server: Server, database: BenchDatabase, work: () => Promise<unknown>): Promise<Spent> {
  const backendsBefore = await cpuUsByPid(await database.backends());
  const before = await cpuUs(server.pid);
  await work();
  const serverUs = (await cpuUs(server.pid)) - before;
  let databaseUs = 0;
  // A backend that did not exist before started at zero.
  for (const [pid, us] of await cpuUsByPid(await database.backends())) databaseUs += us - (backendsBefore.get(pid) ?? 0);
  return { serverUs, databaseUs };
}
