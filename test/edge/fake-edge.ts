/** An edge over fakes: tests set everything behind it, so that they observe the edge alone. */
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ArtifactHead, Principal } from '../../actors/access/access.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { type ArtifactId, newId, type TokenId, type UserId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import type { Reply } from '../../src/edge/call.ts';
import type { ContentDoor } from '../../src/edge/content-door.ts';
import type { EdgeDeps, ServiceHandlers } from '../../src/edge/dispatcher.ts';
import type { Spent } from '../../src/edge/limits.ts';
import { MemoryLimiter } from '../../src/edge/memory-limiter.ts';
import { NO_CALLER } from '../../src/edge/page-caller.ts';
import { bindPort, type Edge } from '../../src/edge/server.ts';
import type { Sockets } from '../../src/edge/socket-door.ts';
import { deriveConfig, parseSettings } from '../../src/platform/config.ts';
import { type ConnectionCaps, connectionCaps } from '../../src/platform/descriptors.ts';
import { Metrics } from '../../src/platform/metrics.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { agentPrincipal, userPrincipal } from '../support/principals.ts';
import { services } from '../support/services.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

export const OWNER_TOKEN = `so_${'a'.repeat(64)}`;
export const OTHER_TOKEN = `so_${'b'.repeat(64)}`;
export const THIRD_TOKEN = `so_${'d'.repeat(64)}`;
export const AGENT_TOKEN = `sot_${'c'.repeat(64)}`;
export const PRIVATE_ID = `art_${'p'.repeat(24)}` as ArtifactId;
export const PUBLIC_ID = `art_${'q'.repeat(24)}` as ArtifactId;
export const TRASHED_ID = `art_${'t'.repeat(24)}` as ArtifactId;
const OWNER_ID = `usr_${'o'.repeat(24)}` as UserId;

function user(userId: string): Principal {
  return userPrincipal(userId as UserId, { tokenId: `tok_${'k'.repeat(24)}` as TokenId });
}

const principals = new Map<string, Principal>([
  [OWNER_TOKEN, user(OWNER_ID)],
  [OTHER_TOKEN, user(`usr_${'z'.repeat(24)}`)],
  [THIRD_TOKEN, user(`usr_${'y'.repeat(24)}`)],
  [AGENT_TOKEN, agentPrincipal(newId('workspace'), ['data:read'], `tok_${'g'.repeat(24)}` as TokenId)],
]);

function headOf(id: ArtifactId, slug: string, visibility: 'public' | 'private', deletedAtMs: number | null): ArtifactHead {
  return {
    id,
    slug,
    ownerId: OWNER_ID,
    workspaceId: null,
    folder: null,
    visibility,
    allowAnonWrite: false,
    allowAnonCollab: false,
    liveVersionId: null,
    deletedAtMs,
    collaborators: new Map(),
  };
}

const live = new Map([
  [PRIVATE_ID, headOf(PRIVATE_ID, 'hidden', 'private', null)],
  [PUBLIC_ID, headOf(PUBLIC_ID, 'shown', 'public', null)],
]);

const unusedSql = (() => {
  throw new Error('This test has no database');
}) as unknown as Sql;

export interface FakeEdge {
  readonly edge: Edge;
  readonly port: number;
  readonly clock: VirtualClock;
  readonly metrics: Metrics;
  /** Logged errors. */
  readonly errors: object[];
  /** Operation ids in the order in which handlers ran. */
  readonly handled: string[];
  readonly limit: { remaining: number; spent: number };
  url(path: string): string;
  close(): void;
}

/** A handler without an exact type, whose answer the test sets. */
type Answering = (call: {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
}) => unknown;

interface FakeOptions {
  readonly handlers?: Partial<Record<EndpointId, Answering>>;
  readonly content?: ContentDoor;
  readonly sql?: Sql;
  readonly settings?: Readonly<Record<string, string>>;
  readonly sockets?: Sockets;
  readonly caps?: Partial<ConnectionCaps>;
  /** Lookups of the edge are asynchronous, as if they missed the cache. */
  readonly lookUp?: () => Promise<void>;
}

export async function startFakeEdge(options: FakeOptions = {}): Promise<FakeEdge> {
  const clock = new VirtualClock();
  const metrics = new Metrics();
  const errors: object[] = [];
  const handled: string[] = [];
  const limit = { remaining: 1000, spent: 0 };
  const settings = parseSettings({ PORT: '0', LOG_LEVEL: 'silent', ...options.settings });
  const bound = await bindPort(settings, clock);
  const deps: EdgeDeps = {
    config: deriveConfig(settings, bound.port),
    handlers: fakeHandlers(options.handlers ?? {}, handled),
    atomic: () => ({}),
    tokens: {
      authenticateSession: () => {
        throw new Failure('UNAUTHORIZED', { reason: 'invalid' });
      },
      authenticate(bearer) {
        const known = () => {
          const principal = principals.get(bearer);
          if (principal === undefined) throw new Failure('UNAUTHORIZED', { reason: 'invalid' });
          return principal;
        };
        return options.lookUp === undefined ? known() : options.lookUp().then(known);
      },
    },
    heads: {
      get: (id) =>
        (options.lookUp === undefined ? live.get(id) : options.lookUp().then(() => live.get(id) ?? null)) ?? Promise.resolve(null),
      trashed: async (id) => (id === TRASHED_ID ? headOf(TRASHED_ID, 'gone', 'public', 1) : null),
    },
    runtime: {
      ask: () => {
        throw new Error('This test has no actors');
      },
      stats: () => ({ actors: 3, residentBytes: 4096, mailboxDepth: 0, pendingChanges: 0 }),
    },
    subjects: { workspace: { find: () => null }, folder: { find: () => null } },
    dependencies: { health: () => ({ state: 'up' }), watches: (name) => name !== 'redis' },
    openapi: readFileSync(join(services().builtDir, 'openapi.json'), 'utf8'),
    access: { watch: () => () => undefined, attend: () => undefined },
    limiters: {
      actor: {
        spend: (rate, _id, calls = 1): Spent => {
          if (rate.name !== 'data') return { accepted: true, limit: 1000, remaining: 1000, resetS: 0, retryAfterS: 0, atMs: 0 };
          const accepted = limit.remaining >= calls;
          if (accepted) limit.remaining -= calls;
          limit.spent += calls;
          return { accepted, limit: 1000, remaining: limit.remaining, resetS: 42, retryAfterS: accepted ? 0 : 42, atMs: 0 };
        },
        giveBack: (_rate, _id, _spent, calls = 1) => {
          limit.remaining += calls;
          limit.spent -= calls;
        },
      },
      memory: new MemoryLimiter(clock),
      // The shared limits, which are in Postgres in production; this edge is one process.
      shared: new MemoryLimiter(clock),
    },
    content: options.content ?? {
      handle: (request) => ({ status: 200, headers: [['Content-Type', 'text/plain']], body: `page ${request.slug}${request.path}` }),
      caller: () => NO_CALLER,
      visitor: () => null,
    },
    sockets: options.sockets ?? {},
    caps: { ...connectionCaps(20_000, LIMITS), ...options.caps },
    streams: () => 0,
    sql: options.sql ?? unusedSql,
    clock,
    metrics,
    log: { info: ignore, warn: ignore, debug: ignore, isLevelEnabled: () => false, error: (fields) => errors.push(fields) },
  };
  const edge = bound.serve(deps);
  return {
    edge,
    port: edge.port,
    clock,
    metrics,
    errors,
    handled,
    limit,
    url: (path) => `http://127.0.0.1:${edge.port}${path}`,
    close: () => edge.close(),
  };
}

function ignore(): void {
  // Only errors matter to these tests.
}

function fakeHandlers(given: Partial<Record<EndpointId, Answering>>, handled: string[]): ServiceHandlers {
  const handlers: Record<string, unknown> = {};
  for (const id of Object.keys(endpoints) as EndpointId[]) {
    if (id.startsWith('operations.') || id === 'data.batch') continue;
    handlers[id] = (call: Parameters<Answering>[0]) => {
      handled.push(id);
      const [reply] = Object.keys(endpoints[id].replies);
      return given[id]?.(call) ?? ({ reply, body: { handled: id }, type: 'text/plain' } as unknown as Reply);
    };
  }
  return handlers as unknown as ServiceHandlers;
}

/** Sends raw bytes over one connection and returns everything received until the server closes it or `until` appears. */
export function rawRequest(port: number, bytes: string | Buffer, until?: string): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve, reject) => {
    const socket = new Socket();
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (until !== undefined && text.includes(until)) {
        resolve({ text, closed: false });
        socket.destroy();
      }
    });
    socket.on('close', () => resolve({ text, closed: true }));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? undefined : reject(error),
    );
    socket.connect(port, '127.0.0.1', () => socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes));
  });
}

/** An answer that must be an error body with the request id of its header. */
export async function failure(
  answer: Promise<Response>,
): Promise<{ status: number; code: string; body: Record<string, unknown>; headers: Headers }> {
  const reply = await answer;
  const body = (await reply.json()) as Record<string, unknown>;
  expect(body.success).toBe(false);
  expect(body.request_id).toBe(reply.headers.get('x-request-id'));
  return { status: reply.status, code: String(body.code), body, headers: reply.headers };
}
