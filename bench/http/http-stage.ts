/** Sets up the suite `http`: one database, Easel and its peers as separate processes, an account and a published page. */
import { join } from 'node:path';
import type { GeneratorName } from '../load/burst.ts';
import type { FastifyPeerSettings } from '../peers/fastify.ts';
import type { RawAnswers } from '../peers/raw.ts';
import { get, newAccount } from '../servers/calls.ts';
import { startEasel } from '../servers/easel-process.ts';
import { artifactId, type BenchDatabase, seedArtifacts } from '../servers/fixture.ts';
import { FASTIFY, POOL, RAW, startPeer } from '../servers/peer-process.ts';
import { freePort, SERVER_CORE, type Server } from '../servers/processes.ts';
import { wake } from '../servers/wake.ts';

/** Calls rotate through these artifacts, so that none reaches its limit of 1000 calls a minute. */
export const ARTIFACTS = 4000;
const PAGE = page(20 * 1024);

export interface StagePlan {
  readonly quick: boolean;
  readonly cpuProfile: boolean;
  readonly folder: string;
  readonly generator: GeneratorName;
  readonly database: BenchDatabase;
}

export interface Stage extends StagePlan {
  readonly easel: Server;
  readonly raw: Server;
  readonly fastify: Server;
  readonly token: string;
  /** Host of the published page. */
  readonly pageHost: string;
}

/** Adds each server that it starts to `servers`; the caller stops them, also if this function fails. */
export async function setStage(plan: StagePlan, servers: Server[]): Promise<Stage> {
  const { folder, database } = plan;
  // Easel starts first, because it creates the schema.
  const easel = await startEasel({
    dataFolder: join(folder, 'easel'),
    databaseUrl: database.url,
    core: SERVER_CORE,
    cpuProfileFolder: plan.cpuProfile ? join('bench', 'results', 'profile') : undefined,
  });
  servers.push(easel);
  const { token, userId } = await newAccount(easel);
  await seedArtifacts(database.sql, userId, 0, ARTIFACTS);
  const sample = await get(easel, `/v1/data/${artifactId(0)}/json/k0`, { authorization: `Bearer ${token}` });
  const { host: pageHost } = await publishPage(easel, token, { slug: 'page-of-20-kb', visibility: 'public' });
  const rawPort = await freePort();
  const raw = await startPeer(RAW, 'peer-raw', folder, rawPort, { port: rawPort, json: sample, html: PAGE } satisfies RawAnswers);
  servers.push(raw);
  const port = await freePort();
  const settings = { port, databaseUrl: database.url, pool: POOL } satisfies FastifyPeerSettings;
  const fastify = await startPeer(FASTIFY, 'peer-fastify', folder, port, settings);
  servers.push(fastify);
  for (const server of [easel, fastify]) await wake(server, token, 0, ARTIFACTS);
  return { ...plan, easel, raw, fastify, token, pageHost };
}

interface PublishedPage {
  readonly id: string;
  /** Host of its own origin. */
  readonly host: string;
}

/** Publishes the page of 20 KB; a public one is checked to be served as it was published. */
export async function publishPage(
  easel: Server,
  token: string,
  { slug, visibility }: { readonly slug: string; readonly visibility: 'public' | 'private' },
): Promise<PublishedPage> {
  const answer = await fetch(`${easel.origin}/v1/publish`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'A page',
      slug,
      visibility,
      files: [{ path: 'index.html', content: PAGE, mime: 'text/html', encoding: 'utf8' }],
    }),
  });
  const said = await answer.text();
  if (answer.status !== 200) throw new Error(`Not published: ${answer.status} ${said}`);
  const published = JSON.parse(said) as { artifact: { id: string }; deployment: { url: string } };
  const { host } = new URL(published.deployment.url);
  if (visibility === 'public' && (await get(easel, '/', { host })) !== PAGE) throw new Error('The page is not served as it was published.');
  return { id: published.artifact.id, host };
}

/** A plausible page of exactly `bytes` ASCII bytes. */
function page(bytes: number): string {
  const head = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>A page</title></head><body>\n';
  const foot = '</body></html>\n';
  let body = '';
  for (let line = 1; head.length + body.length + foot.length < bytes; line++) {
    body += `<p id="p${line}">Paragraph ${line}: one artifact, one actor, one writer; ${(line * 2654435761).toString(36)}.</p>\n`;
  }
  return head + body.slice(0, bytes - head.length - foot.length) + foot;
}
