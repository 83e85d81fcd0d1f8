/** Sets up the suite `data`: one database with 100 000 artifacts, and Easel and its peers as separate processes. */
import { join } from 'node:path';
import type { GeneratorName } from '../load/burst.ts';
import type { FastifyPeerSettings } from '../peers/fastify.ts';
import type { RawAnswers } from '../peers/raw.ts';
import { get, newAccount } from '../servers/calls.ts';
import { startEasel } from '../servers/easel-process.ts';
import { artifactId, type BenchDatabase, registerArtifacts, seedKeys } from '../servers/fixture.ts';
import { FASTIFY, POOL, RAW, startPeer } from '../servers/peer-process.ts';
import { freePort, SERVER_CORE, type Server } from '../servers/processes.ts';

export const REGISTERED = 100_000;
/** Artifacts with ten keys each; the others are empty. */
export const WITH_KEYS = 10_000;

export interface DataPlan {
  readonly quick: boolean;
  readonly cpuProfile: boolean;
  readonly folder: string;
  readonly generator: GeneratorName;
  readonly database: BenchDatabase;
}

export interface DataStage extends DataPlan {
  readonly easel: Server;
  readonly raw: Server;
  readonly fastify: Server;
  readonly token: string;
}

/** Creates the schema, an account and its artifacts with a first Easel, which is stopped again. Returns the account's token. */
export async function seed(plan: DataPlan): Promise<string> {
  const easel = await startEasel({ dataFolder: join(plan.folder, 'seed'), databaseUrl: plan.database.url, core: null });
  try {
    const { token, userId } = await newAccount(easel);
    await registerArtifacts(plan.database.sql, userId, 0, REGISTERED);
    await seedKeys(plan.database.sql, 0, WITH_KEYS);
    return token;
  } finally {
    await easel.stop();
  }
}

/** Adds each server that it starts to `servers`; the caller stops them, also if this function fails. */
export async function setDataStage(plan: DataPlan, token: string, servers: Server[]): Promise<DataStage> {
  const { folder, database } = plan;
  const easel = await startEasel({
    dataFolder: join(folder, 'easel'),
    databaseUrl: database.url,
    core: SERVER_CORE,
    cpuProfileFolder: plan.cpuProfile ? join('bench', 'results', 'profile') : undefined,
  });
  servers.push(easel);
  const json = await get(easel, `/v1/data/${artifactId(0)}/json/k0`, { authorization: `Bearer ${token}` });
  const rawPort = await freePort();
  const raw = await startPeer(RAW, 'peer-raw', folder, rawPort, { port: rawPort, json, html: '' } satisfies RawAnswers);
  servers.push(raw);
  const port = await freePort();
  const settings = { port, databaseUrl: database.url, pool: POOL } satisfies FastifyPeerSettings;
  const fastify = await startPeer(FASTIFY, 'peer-fastify', folder, port, settings);
  servers.push(fastify);
  return { ...plan, easel, raw, fastify, token };
}
