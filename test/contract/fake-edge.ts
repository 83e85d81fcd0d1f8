/** An edge over fakes: everything behind it is a value of the test, so that what the edge itself does can be seen alone. */
import { Socket } from 'node:net';
import type { ArtifactHead, Principal } from '../../actors/access.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId, TokenId, UserId } from '../../protocol/ids.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import { deriveConfig, parseSettings } from '../../src/config.ts';
import type { Reply } from '../../src/edge/call.ts';
import type { ContentDoor } from '../../src/edge/content-door.ts';
import type { EdgeDeps, ServiceHandlers } from '../../src/edge/dispatcher.ts';
import type { Spent } from '../../src/edge/limits.ts';
import { type Edge, startEdge } from '../../src/edge/server.ts';
import type { Sockets } from '../../src/edge/socket-door.ts';
import { Metrics } from '../../src/metrics.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

export const OWNER_TOKEN = `so_${'a'.repeat(64)}`;
export const OTHER_TOKEN = `so_${'b'.repeat(64)}`;
export const AGENT_TOKEN = `sot_${'c'.repeat(64)}`;
export const PRIVATE_ID = `art_${'p'.repeat(24)}` as ArtifactId;
export const PUBLIC_ID = `art_${'q'.repeat(24)}` as ArtifactId;
export const TRASHED_ID = `art_${'t'.repeat(24)}` as ArtifactId;
const OWNER_ID = `usr_${'o'.repeat(24)}` as UserId;

function user(userId: string): Principal {
  return { kind: 'user', userId: userId as UserId, tokenId: `tok_${'k'.repeat(24)}` as TokenId, tokenKind: 'personal', isAdmin: false };
}

const principals = new Map<string, Principal>([
  [OWNER_TOKEN, user(OWNER_ID)],
  [OTHER_TOKEN, user(`usr_${'z'.repeat(24)}`)],
  [AGENT_TOKEN, { kind: 'agent', tokenId: `tok_${'g'.repeat(24)}` as TokenId, workspaceId: 'wsp', scopes: ['data:read'] }],
]);

function headOf(id: ArtifactId, slug: string, visibility: 'public' | 'private', deletedAtMs: number | null): ArtifactHead {
  return {
    id,
    slug,
    ownerId: OWNER_ID,
    workspaceId: null,
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
  /** What was logged as an error. */
  readonly errors: object[];
  /** Operation ids in the order in which handlers ran. */
  readonly handled: string[];
  readonly limit: { remaining: number; spent: number };
  url(path: string): string;
  close(): void;
}

/** A handler's loose type: the test says what it answers. */
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
  /** What the edge looks up is found in the database, not in memory: never in the same turn. */
  readonly lookUp?: () => Promise<void>;
}

export async function startFakeEdge(options: FakeOptions = {}): Promise<FakeEdge> {
  const clock = new VirtualClock();
  const metrics = new Metrics();
  const errors: object[] = [];
  const handled: string[] = [];
  const limit = { remaining: 1000, spent: 0 };
  const settings = parseSettings({ PORT: '0', LOG_LEVEL: 'silent', ...options.settings });
  const deps: EdgeDeps = {
    settings,
    config: (port) => deriveConfig(settings, port),
    handlers: fakeHandlers(options.handlers ?? {}, handled),
    atomic: () => ({}),
    tokens: {
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
      spend: (_id, calls = 1): Spent => {
        const accepted = limit.remaining >= calls;
        if (accepted) limit.remaining -= calls;
        limit.spent += calls;
        return { accepted, limit: 1000, remaining: limit.remaining, resetS: 42, retryAfterS: accepted ? 0 : 42 };
      },
      stats: () => ({ actors: 3, residentBytes: 4096, mailboxDepth: 0, pendingChanges: 0 }),
    },
    content: options.content ?? {
      handle: (request) => ({ status: 200, headers: [['Content-Type', 'text/plain']], body: `page ${request.slug}${request.path}` }),
      pass: () => null,
    },
    sockets: options.sockets ?? {},
    sql: options.sql ?? unusedSql,
    clock,
    metrics,
    log: { info: ignore, warn: ignore, debug: ignore, isLevelEnabled: () => false, error: (fields) => errors.push(fields) },
  };
  const edge = await startEdge(deps);
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

/** Sends bytes as they are over one connection and gives back all that was answered until the server closes it or `until` has come. */
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
