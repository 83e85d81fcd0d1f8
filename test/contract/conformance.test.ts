/** Calls every endpoint of the table on the real service and checks the rules of contract.md §0. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { ActorRuntime } from '../../actors/runtime/runtime.ts';
import type { Endpoint, Need } from '../../protocol/core/endpoint.ts';
import { ERRORS } from '../../protocol/core/errors.ts';
import { errorCodesOf } from '../../protocol/core/openapi.ts';
import { rateLimitOf } from '../../protocol/core/rate-limits.ts';
import { Connections } from '../../src/realtime/connections.ts';
import { rawRequest } from '../edge/fake-edge.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../support/easel.ts';
import { FakeDrives } from '../support/fake-drives.ts';
import { startProvider, type TestProvider } from '../support/oidc.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { COOKIES, expectFailure, ofInstance, send, table } from './calls.ts';
import { type ExampleCall, exampleCall, makeWorld, pathOf, type World } from './examples.ts';

/** Needs whose endpoints answer 404 to callers who may not see the artifact, with a token or without. */
const VISIBLE: readonly Need[] = ['view', 'data:read', 'collab:read', 'comment', 'comment:write'];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

let easel: TestEasel;
let s3: TestS3;
let provider: TestProvider;
let drives: FakeDrives;
beforeAll(async () => {
  s3 = await startS3();
  provider = await startProvider(new Map([['ada', { sub: 'ada' }]]));
  drives = await FakeDrives.start();
  easel = await startTestEasel({ settings: { ...s3.settings, ...provider.settings('corp'), ...drives.settings } });
  provider.allow('corp', `http://localhost:${easel.port}`);
});
afterAll(async () => {
  await easel.close();
  await Promise.all([s3.close(), provider.close(), drives.close()]);
});

/** The ways in which a handler reaches the live state of an artifact: its actor, its limits, and its connections. */
const live = [
  vi.spyOn(ActorRuntime.prototype, 'ask'),
  vi.spyOn(ActorRuntime.prototype, 'askPatiently'),
  vi.spyOn(ActorRuntime.prototype, 'spend'),
  vi.spyOn(Connections.prototype, 'count'),
  vi.spyOn(Connections.prototype, 'people'),
];
afterAll(() => vi.restoreAllMocks());

function needsAccount({ access }: Endpoint): boolean {
  // A page sends those who are not signed in to sign in, or shows them what it has for everybody.
  if (access.who === 'visitor' || access.who === 'everybody') return false;
  return access.who !== 'anyone' && (access.who !== 'artifact' || !VISIBLE.includes(access.need));
}

function isAmong(path: string, pattern: string): boolean {
  const [own, other] = [path.split('/'), pattern.split('/')];
  return own.length === other.length && own.every((part, at) => part === other[at] || other[at]?.startsWith('{'));
}

describe.each(table)('%s', (id, endpoint) => {
  let world: World;
  let example: ExampleCall;
  const tokenOf = (user: TestUser) => {
    if (endpoint.access.who === 'anyone') return undefined;
    if (ofInstance(endpoint)) return easel.adminToken;
    return user === world.owner && example.session !== undefined ? COOKIES + example.session : user.token;
  };

  beforeAll(async () => {
    world = await makeWorld(easel);
    example = await exampleCall(id, world);
  });

  const { access, body, query, socket } = endpoint;
  const rate = rateLimitOf(endpoint.limit);

  /** Adds a test only where the case applies, so that every test asserts something. */
  function testWhere(applies: boolean, name: string, run: () => Promise<void>): void {
    if (applies) test(name, run);
  }

  testWhere(access.who !== 'anyone', 'refuses callers without a right', async () => {
    if (needsAccount(endpoint)) {
      const refused = await expectFailure(endpoint, await send(easel, id, example, {}), 'UNAUTHORIZED');
      expect(refused.reason).toBe('missing');
    }
    if (access.who === 'artifact') {
      await expectFailure(endpoint, await send(easel, id, example, { token: world.stranger.token }), 'ARTIFACT_NOT_FOUND');
    }
    if (access.who === 'workspace') {
      const asked = await send(easel, id, example, { token: world.stranger.token });
      await expectFailure(endpoint, asked, 'WORKSPACE_NOT_FOUND');
    }
    if (access.who === 'workspace' && access.role !== 'member') {
      await expectFailure(endpoint, await send(easel, id, example, { token: world.viewer.token }), 'FORBIDDEN');
    }
    if (access.who === 'workspace' && access.role === 'owner') {
      await expectFailure(endpoint, await send(easel, id, example, { token: world.editor.token }), 'FORBIDDEN');
    }
    if (access.who === 'instanceAdmin') {
      await expectFailure(endpoint, await send(easel, id, example, { token: world.owner.token }), 'ADMIN_REQUIRED');
    }
    if (access.who === 'instanceStaff') {
      await expectFailure(endpoint, await send(easel, id, example, { token: world.owner.token }), 'STAFF_REQUIRED');
    }
    const refused = await expectFailure(endpoint, await send(easel, id, example, { token: `so_${'0'.repeat(64)}` }), 'UNAUTHORIZED');
    expect(refused.reason).toBe('invalid');
  });

  const isShownToViewers = access.who === 'artifact' && access.trashed !== true && needsAccount(endpoint);
  testWhere(isShownToViewers, 'refuses callers who may only view', async () => {
    await expectFailure(endpoint, await send(easel, id, example, { token: world.viewer.token }), 'FORBIDDEN');
    if (access.who === 'artifact' && (access.need === 'own' || access.need === 'export'))
      await expectFailure(endpoint, await send(easel, id, example, { token: world.editor.token }), 'FORBIDDEN');
  });

  test('refuses a wrong method and names the right ones', async () => {
    const known = table.filter(([, other]) => other.path === endpoint.path).map(([, other]) => other.method);
    // A path may also be one of those that another names with a parameter.
    const taken = table.filter(([, other]) => isAmong(endpoint.path, other.path)).map(([, other]) => other.method);
    const wrong = METHODS.find((method) => !taken.includes(method)) ?? 'TRACE';
    const reply = await send(easel, id, { ...example, body: undefined }, { method: wrong, token: tokenOf(world.owner) });
    await expectFailure(endpoint, reply, 'METHOD_NOT_ALLOWED');
    const allowed = (reply.headers.get('allow') ?? '').split(', ');
    expect(allowed).toEqual(expect.arrayContaining([...known, ...(known.includes('GET') ? ['HEAD'] : [])]));
    expect([...taken, 'HEAD']).toEqual(expect.arrayContaining(allowed));
  });

  testWhere(query !== undefined, 'refuses a bad query with every issue', async () => {
    const names = Object.keys(query?.shape ?? {});
    // Together shorter than the head that a request may have.
    const text = 'x'.repeat(Math.min(2000, Math.floor(8000 / names.length)));
    const wrong = Object.fromEntries(names.map((name) => [name, text]));
    const expected = query?.safeParse(wrong).error?.issues.map((issue) => issue.path.join('.')) ?? [];
    expect(expected.length).toBeGreaterThan(0);
    const reply = await send(easel, id, { ...example, query: wrong }, { token: tokenOf(world.owner) });
    const refused = await expectFailure(endpoint, reply, 'INVALID_REQUEST');
    expect([refused.param, refused.issues?.map((issue) => issue.path)]).toEqual([expected[0], expected]);
  });

  testWhere(body?.kind === 'json', 'refuses a body that is not JSON', async () => {
    const token = tokenOf(world.owner);
    await expectFailure(endpoint, await send(easel, id, example, { token, body: '{"a":' }), 'INVALID_JSON');
    await expectFailure(
      endpoint,
      await send(easel, id, example, { token, body: 'a=b', headers: { 'content-type': 'text/csv' } }),
      'UNSUPPORTED_MEDIA_TYPE',
    );
  });

  testWhere(body?.kind === 'json' && !(body.schema instanceof z.ZodUnknown), 'refuses a bad body with every issue', async () => {
    const reply = await send(easel, id, example, { token: tokenOf(world.owner), body: '{"strange":1,"odd":2}' });
    const refused = await expectFailure(endpoint, reply, 'INVALID_REQUEST');
    const paths = refused.issues?.map((issue) => issue.path) ?? [];
    expect(paths).toEqual(expect.arrayContaining(['strange', 'odd']));
    expect(refused.param).toBe(paths[0]);
  });

  testWhere(body !== undefined, 'refuses a body of one byte too many', async () => {
    const token = tokenOf(world.owner);
    const type = body?.types?.[0] ?? (body?.kind === 'json' ? 'application/json' : 'application/octet-stream');
    const head = [
      `${endpoint.method} ${pathOf(id, example)} HTTP/1.1`,
      'Host: localhost',
      `Content-Type: ${type}`,
      `Content-Length: ${(body?.bytesMax ?? 0) + 1}`,
      'Origin: http://localhost',
      ...(token === undefined
        ? []
        : [token.startsWith(COOKIES) ? `Cookie: ${token.slice(COOKIES.length)}` : `Authorization: Bearer ${token}`]),
    ];
    const { text } = await rawRequest(easel.port, `${head.join('\r\n')}\r\n\r\n`, '"request_id"');
    const code = body?.tooLarge ?? 'PAYLOAD_TOO_LARGE';
    expect(text).toContain(`HTTP/1.1 ${ERRORS[code].status} `);
    expect(text).toContain(`"code":"${code}"`);
    expect(errorCodesOf(endpoint)).toContain(code);
  });

  test('gives an answer that it declares', async () => {
    const token = tokenOf(world.owner);
    if (socket !== undefined) {
      await expectSocket(token ?? '');
      return;
    }
    for (const spy of live) spy.mockClear();
    const reply = await send(easel, id, example, { token });
    expectActor(new Set(live.flatMap((spy) => spy.mock.calls.map(([artifactId]) => artifactId))));
    const declared = Object.values(endpoint.replies).filter((spec) => spec.status === reply.status);
    if (declared.length === 0) expect.fail(`answered ${reply.status}: ${await reply.text()}`);
    // A stream that does not end has its own tests.
    if (id === 'notifications.follow') return reply.body?.cancel();
    await expectDeclaredBody(reply, declared);
    expect(reply.headers.get('ratelimit-policy')).toBe(rate === undefined ? null : `"${rate.name}";q=${rate.quota};w=${rate.windowS}`);
    if (rate !== undefined) expect(reply.headers.get('ratelimit')).toMatch(new RegExp(`^"${rate.name}";r=\\d+;t=\\d+$`));
    // The answer of a provider counts once.
    if (endpoint.method === 'GET' && id !== 'oidc.callback' && id !== 'fileImports.callback') await expectHead(reply, token);
    if (endpoint.method === 'GET' && endpoint.conditional) await expectUnchanged(reply, token);
  });

  /** `actor` names the artifact exactly where live state is used, because a cluster finds the owning process by it. */
  function expectActor(touched: ReadonlySet<string>): void {
    expect([...touched]).toEqual(endpoint.actor === undefined ? [] : [example.params?.[endpoint.actor]]);
  }

  /** Upgrades to a WebSocket, and refuses a plain request. Connections are live state. */
  async function expectSocket(token: string): Promise<void> {
    const reply = await send(easel, id, example, { token });
    expect([reply.headers.get('upgrade'), Object.keys(endpoint.replies), endpoint.actor]).toEqual(['websocket', [], 'artifactId']);
    await expectFailure(endpoint, reply, 'UPGRADE_REQUIRED');
    const socket = new WebSocket(`${easel.baseUrl.replace('http', 'ws')}${pathOf(id, example)}?token=${token}`);
    const [response] = (await once(socket, 'upgrade')) as [IncomingMessage];
    expect(response.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
    socket.terminate();
  }

  async function expectDeclaredBody(reply: Response, declared: readonly Endpoint['replies'][string][]): Promise<void> {
    const [first] = declared;
    if (first !== undefined && 'media' in first) {
      if (first.media !== '*/*') expect(reply.headers.get('content-type')).toContain(first.media);
      expect((await reply.arrayBuffer()).byteLength).toBeGreaterThan(0);
      return;
    }
    const answer = await reply.json();
    const problems = declared.map((spec) => ('body' in spec ? (spec.body.safeParse(answer).error?.message ?? '') : ''));
    expect(problems).toContain('');
  }

  async function expectHead(reply: Response, token: string | undefined): Promise<void> {
    const head = await send(easel, id, example, { token, method: 'HEAD' });
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      reply.status,
      reply.headers.get('content-type'),
      '',
    ]);
  }

  async function expectUnchanged(reply: Response, token: string | undefined): Promise<void> {
    const etag = reply.headers.get('etag') ?? '';
    expect(etag).toMatch(/^(?:W\/)?"[^"]+"$/);
    const unchanged = await send(easel, id, example, { token, headers: { 'if-none-match': etag } });
    expect([unchanged.status, unchanged.headers.get('etag'), await unchanged.text()]).toEqual([304, etag, '']);
  }
});
