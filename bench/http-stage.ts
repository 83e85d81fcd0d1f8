/** What the contests of the suite `http` are held on: one database, Easel and its peers as processes, an account, a page. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startEasel } from './easel-process.ts';
import { artifactId, type BenchDatabase, seedArtifacts } from './fixture.ts';
import type { GeneratorName } from './load.ts';
import type { FastifyPeerSettings } from './peers/fastify.ts';
import type { RawAnswers } from './peers/raw.ts';
import { freePort, type Server, startServer } from './processes.ts';
import { wake } from './wake.ts';

export const RAW = 'raw uWebSockets.js';
export const FASTIFY = 'Fastify + postgres';
export const EASEL = 'Easel';
export const SERVER_CORE = 0;
/** Rotated through, so that no artifact meets its limit of 1000 calls a minute. */
export const ARTIFACTS = 4000;
// Easel's default, DATABASE_POOL.
export const POOL = 8;
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

/** Starts what it puts into `servers`; the caller stops them, also when this fails half-way. */
export async function setStage(plan: StagePlan, servers: Server[]): Promise<Stage> {
  const { folder, database } = plan;
  // Easel comes first: it brings the schema.
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
  const pageHost = await publishPage(easel, token);
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

export async function startPeer(name: string, command: string, folder: string, port: number, settings: object): Promise<Server> {
  const file = join(folder, `${command}.json`);
  await writeFile(file, JSON.stringify(settings));
  const self = process.argv[1];
  if (self === undefined) throw new Error('The program does not know its own file.');
  const args = ['--enable-source-maps', self, command, file];
  return startServer({ name, args, env: { NODE_ENV: 'production' }, port, readyPath: '/ready', core: SERVER_CORE, log: `${file}.log` });
}

export async function newAccount(easel: Server): Promise<{ token: string; userId: string }> {
  const answer = await fetch(`${easel.origin}/v1/auth/create-account`, { method: 'POST' });
  if (answer.status !== 201) throw new Error(`No account: ${answer.status} ${await answer.text()}`);
  const account = (await answer.json()) as { token: string; user_id: string };
  return { token: account.token, userId: account.user_id };
}

/** The host under which the page is served; asked for once, so that a wrong answer is not measured. */
async function publishPage(easel: Server, token: string): Promise<string> {
  const answer = await fetch(`${easel.origin}/v1/publish`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'A page',
      slug: 'page-of-20-kb',
      visibility: 'public',
      files: [{ path: 'index.html', content: PAGE, mime: 'text/html', encoding: 'utf8' }],
    }),
  });
  const said = await answer.text();
  if (answer.status !== 200) throw new Error(`Not published: ${answer.status} ${said}`);
  const published = JSON.parse(said) as { deployment: { url: string } };
  const { host } = new URL(published.deployment.url);
  if ((await get(easel, '/', { host })) !== PAGE) throw new Error('The page is not served as it was published.');
  return host;
}

/** With node:http, because fetch does not let a caller choose the Host header. */
export async function get(server: Server, path: string, headers: Record<string, string>): Promise<string> {
  const asked = request(server.origin + path, { headers, agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`${server.name} answered ${path} with ${answer.statusCode}: ${body}`);
  return body;
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
