/** What the cases of the suite `data` are held on: one database with 100 000 artifacts, Easel and its peers as processes of their own. */
import { join } from 'node:path';
import { startEasel } from './easel-process.ts';
import { artifactId, type BenchDatabase, registerArtifacts, seedKeys } from './fixture.ts';
import { FASTIFY, get, newAccount, POOL, RAW, SERVER_CORE, startPeer } from './http-stage.ts';
import type { GeneratorName } from './load.ts';
import type { FastifyPeerSettings } from './peers/fastify.ts';
import type { RawAnswers } from './peers/raw.ts';
import { freePort, type Server } from './processes.ts';

export const REGISTERED = 100_000;
/** Artifacts that hold ten keys each; the others hold nothing. */
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

/** Brings the schema, the account and its artifacts, by a first Easel that is stopped again. Answers the account's token. */
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

/** Starts what it puts into `servers`; the caller stops them, also when this fails half-way. */
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
