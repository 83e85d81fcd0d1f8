/**
 * Peer: the server that a good engineer writes in an afternoon. Fastify and `postgres` on Easel's own schema do the same work for a call: request
 * id, token by SHA-256, access, a rate limit, validation, ETag. Tokens and artifact heads are cached for a minute, as in Easel; values stay in
 * Postgres, because another process may write them.
 * It leaves out what Easel also does: immediate revocation, the limits of keys, tables and rows, sequence numbers, idempotency and metrics. Of
 * the table operations it has only the insert of one row and the query of the bench.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import postgres from 'postgres';
import { serveTables } from './fastify-tables.ts';

export interface FastifyPeerSettings {
  readonly port: number;
  readonly databaseUrl: string;
  readonly pool: number;
}

interface Params {
  readonly artifactId: string;
  readonly key: string;
}

interface Head {
  readonly ownerId: string | null;
  readonly visibility: string;
}

const CACHE_TTL_MS = 60_000;
const CALLS_PER_MINUTE = 1000;
const paramsSchema = {
  type: 'object',
  properties: {
    artifactId: { type: 'string', pattern: '^art_[a-z0-9]{24}$' },
    key: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,256}$' },
  },
};
const entrySchema = { type: 'object', additionalProperties: true };

class Refusal extends Error {
  readonly statusCode: number;
  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

export async function serveFastify(file: string): Promise<void> {
  const settings = JSON.parse(readFileSync(file, 'utf8')) as FastifyPeerSettings;
  const sql = postgres(settings.databaseUrl, {
    max: settings.pool,
    types: { int8: { to: 20, from: [20], parse: Number, serialize: String } },
  });
  const access = accessRules(sql);
  const app = fastify({ logger: false, genReqId: () => randomUUID() });
  const schema = { params: paramsSchema, response: { '2xx': entrySchema } };

  app.get<{ Params: Params }>('/v1/data/:artifactId/json/:key', { schema }, async (request, reply) => {
    await admit(request, reply, access);
    const { artifactId, key } = request.params;
    const [row] = await sql<{ value: string; updated_at_ms: number }[]>`
      select value, updated_at_ms from json_key where artifact_id = ${artifactId} and key = ${key}
        and (expires_at_ms is null or expires_at_ms > ${Date.now()})`;
    if (row === undefined) throw new Refusal(404, 'There is no such key.');
    reply.header('etag', `"${row.updated_at_ms.toString(36)}"`);
    return { success: true, data: { key, value: JSON.parse(row.value), updatedAt: new Date(row.updated_at_ms).toISOString() } };
  });

  app.put<{ Params: Params }>('/v1/data/:artifactId/json/:key', { schema }, async (request, reply) => {
    await admit(request, reply, access);
    const { artifactId, key } = request.params;
    const nowMs = Date.now();
    const [row] = await sql<{ created: boolean; updated_at_ms: number }[]>`
      insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms)
      values (${artifactId}, ${key}, ${JSON.stringify(request.body)}, 0, ${nowMs}, ${nowMs})
      on conflict (artifact_id, key) do update
        set value = excluded.value, updated_at_ms = greatest(excluded.updated_at_ms, json_key.updated_at_ms + 1), expires_at_ms = null
      returning xmax = 0 as created, updated_at_ms`;
    if (row === undefined) throw new Refusal(500, 'The upsert returned no row.');
    reply.code(row.created ? 201 : 200).header('etag', `"${row.updated_at_ms.toString(36)}"`);
    return { success: true, data: { key, created: row.created, updatedAt: new Date(row.updated_at_ms).toISOString() } };
  });

  await serveTables(app, sql, (request, reply) => admit(request, reply, access));
  app.get('/ready', async () => ({ ready: (await sql`select 1`).length === 1 }));
  await app.listen({ host: '127.0.0.1', port: settings.port });
}

interface AccessRules {
  userOf(token: string): Promise<string>;
  headOf(artifactId: string): Promise<Head>;
  /** Counts a call and returns the calls left in this minute; below zero the call must be refused. */
  spend(artifactId: string): number;
}

function accessRules(sql: postgres.Sql): AccessRules {
  const users = new LRUCache<string, { userId: string }>({ max: 10_000, ttl: CACHE_TTL_MS });
  const heads = new LRUCache<string, Head>({ max: 10_000, ttl: CACHE_TTL_MS });
  const windows = new Map<string, { minute: number; calls: number }>();
  return {
    async userOf(token) {
      const digest = createHash('sha256').update(token).digest();
      const name = digest.toString('base64');
      const known = users.get(name);
      if (known) return known.userId;
      const [row] = await sql<{ user_id: string }[]>`
        select user_id from access_token where token_sha256 = ${digest} and revoked_at_ms is null
          and (expires_at_ms is null or expires_at_ms > ${Date.now()})`;
      if (row === undefined) throw new Refusal(401, 'Valid credentials are needed.');
      users.set(name, { userId: row.user_id });
      return row.user_id;
    },
    async headOf(artifactId) {
      const known = heads.get(artifactId);
      if (known) return known;
      const [row] = await sql<{ owner_id: string | null; visibility: string }[]>`
        select owner_id, visibility from artifact where id = ${artifactId} and deleted_at_ms is null`;
      if (row === undefined) throw new Refusal(404, 'There is no such artifact.');
      const head = { ownerId: row.owner_id, visibility: row.visibility };
      heads.set(artifactId, head);
      return head;
    },
    spend(artifactId) {
      const minute = Math.floor(Date.now() / 60_000);
      const window = windows.get(artifactId);
      if (window?.minute === minute) return CALLS_PER_MINUTE - ++window.calls;
      windows.set(artifactId, { minute, calls: 1 });
      return CALLS_PER_MINUTE - 1;
    },
  };
}

async function admit(
  request: FastifyRequest<{ Params: Pick<Params, 'artifactId'> }>,
  reply: FastifyReply,
  access: AccessRules,
): Promise<void> {
  reply.header('x-request-id', request.id);
  const authorization = request.headers.authorization ?? '';
  if (!authorization.startsWith('Bearer ')) throw new Refusal(401, 'Valid credentials are needed.');
  const userId = await access.userOf(authorization.slice(7));
  const head = await access.headOf(request.params.artifactId);
  if (head.ownerId !== userId && head.visibility !== 'public') throw new Refusal(404, 'There is no such artifact.');
  const left = access.spend(request.params.artifactId);
  reply.header('ratelimit-policy', '"data";q=1000;w=60').header('ratelimit', `"data";r=${Math.max(0, left)};t=60`);
  if (left < 0) throw new Refusal(429, 'Too many calls.');
}
