/** Walks the endpoint table against the real service: every endpoint is exercised, and every one keeps the rules of contract.md §0. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { Endpoint, Need } from '../../protocol/endpoint.ts';
import { ERRORS, type ErrorCode } from '../../protocol/errors.ts';
import { errorCodesOf } from '../../protocol/openapi.ts';
import { errorBody } from '../../protocol/schemas/common.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../support/easel.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { EXAMPLES, type ExampleCall, makeWorld, pathOf, type World } from './examples.ts';
import { rawRequest } from './fake-edge.ts';

const table = Object.entries(endpoints) as [EndpointId, Endpoint][];
/** What is hidden (404) from whoever may not see the artifact, with a token or without. */
const VISIBLE: readonly Need[] = ['view', 'data:read', 'collab:read', 'comment'];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

let easel: TestEasel;
let s3: TestS3;
beforeAll(async () => {
  s3 = await startS3();
  easel = await startTestEasel({ settings: s3.settings });
});
afterAll(async () => {
  await easel.close();
  await s3.close();
});

interface Sent {
  readonly token?: string | undefined;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit | undefined;
}

/** The example's call, changed where `sent` says so. */
async function send(id: EndpointId, example: ExampleCall, sent: Sent): Promise<Response> {
  const endpoint: Endpoint = endpoints[id];
  const headers = new Headers({ ...example.headers, ...sent.headers });
  let body = sent.body;
  if (body === undefined && example.body !== undefined) {
    body = example.body instanceof Uint8Array ? new Uint8Array(example.body) : JSON.stringify(example.body);
  }
  if (body !== undefined && !headers.has('content-type')) {
    headers.set('content-type', endpoint.body?.kind === 'json' ? 'application/json' : 'application/octet-stream');
  }
  if (sent.token !== undefined) headers.set('authorization', `Bearer ${sent.token}`);
  const method = sent.method ?? endpoint.method;
  const reply = await easel.fetch(pathOf(id, example), { method, headers, ...(body !== undefined && { body }) });
  expect(reply.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  return reply;
}

/** An error as the catalogue has it, and one that the endpoint declares or its rules imply. */
async function expectFailure(endpoint: Endpoint, reply: Response, code: ErrorCode): Promise<z.infer<typeof errorBody>> {
  const body = errorBody.parse(await reply.json());
  expect([body.code, reply.status]).toEqual([code, ERRORS[code].status]);
  expect(body.request_id).toBe(reply.headers.get('x-request-id'));
  expect([...errorCodesOf(endpoint), 'METHOD_NOT_ALLOWED']).toContain(code);
  return body;
}

function needsAccount({ access }: Endpoint): boolean {
  return access.who === 'account' || (access.who === 'artifact' && !VISIBLE.includes(access.need));
}

describe.each(table)('%s', (id, endpoint) => {
  let world: World;
  let example: ExampleCall;
  const tokenOf = (user: TestUser) => (endpoint.access.who === 'anyone' ? undefined : user.token);

  beforeAll(async () => {
    world = await makeWorld(easel);
    example = await EXAMPLES[id](world);
  });

  test('refuses what it should', async () => {
    if (needsAccount(endpoint)) {
      const body = await expectFailure(endpoint, await send(id, example, {}), 'UNAUTHORIZED');
      expect(body.reason).toBe('missing');
    }
    if (endpoint.access.who === 'artifact') {
      await expectFailure(endpoint, await send(id, example, { token: world.stranger.token }), 'ARTIFACT_NOT_FOUND');
    }
    if (endpoint.access.who !== 'anyone') {
      const body = await expectFailure(endpoint, await send(id, example, { token: `so_${'0'.repeat(64)}` }), 'UNAUTHORIZED');
      expect(body.reason).toBe('invalid');
    }
  });

  test('refuses those who may see but not do it', async () => {
    if (endpoint.access.who !== 'artifact' || endpoint.access.trashed || !needsAccount(endpoint)) return;
    await expectFailure(endpoint, await send(id, example, { token: world.viewer.token }), 'FORBIDDEN');
    if (endpoint.access.need === 'own') await expectFailure(endpoint, await send(id, example, { token: world.editor.token }), 'FORBIDDEN');
  });

  test('refuses a wrong method and names the right ones', async () => {
    const known = table.filter(([, other]) => other.path === endpoint.path).map(([, other]) => other.method);
    const wrong = METHODS.find((method) => !known.includes(method)) ?? 'TRACE';
    const reply = await send(id, { ...example, body: undefined }, { method: wrong, token: tokenOf(world.owner) });
    await expectFailure(endpoint, reply, 'METHOD_NOT_ALLOWED');
    const allowed = (reply.headers.get('allow') ?? '').split(', ');
    expect(new Set(allowed)).toEqual(new Set([...known, ...(known.includes('GET') ? ['HEAD'] : [])]));
  });

  test('refuses a bad query with every issue', async () => {
    if (endpoint.query === undefined) return;
    const names = Object.keys(endpoint.query.shape);
    const query = Object.fromEntries(names.map((name) => [name, 'x'.repeat(2000)]));
    const expected = endpoint.query.safeParse(query).error?.issues.map((issue) => issue.path.join('.')) ?? [];
    expect(expected.length).toBeGreaterThan(0);
    const body = await expectFailure(endpoint, await send(id, { ...example, query }, { token: tokenOf(world.owner) }), 'INVALID_REQUEST');
    expect([body.param, body.issues?.map((issue) => issue.path)]).toEqual([expected[0], expected]);
  });

  test('refuses a bad body with every issue', async () => {
    if (endpoint.body?.kind !== 'json') return;
    const token = tokenOf(world.owner);
    await expectFailure(endpoint, await send(id, example, { token, body: '{"a":' }), 'INVALID_JSON');
    await expectFailure(
      endpoint,
      await send(id, example, { token, body: 'a=b', headers: { 'content-type': 'text/csv' } }),
      'UNSUPPORTED_MEDIA_TYPE',
    );
    if (endpoint.body.schema instanceof z.ZodUnknown) return;
    const body = await expectFailure(endpoint, await send(id, example, { token, body: '{"strange":1,"odd":2}' }), 'INVALID_REQUEST');
    const paths = body.issues?.map((issue) => issue.path) ?? [];
    expect(paths).toEqual(expect.arrayContaining(['strange', 'odd']));
    expect(body.param).toBe(paths[0]);
  });

  test('refuses one byte too many', async () => {
    if (endpoint.body === undefined) return;
    const token = tokenOf(world.owner);
    const type = endpoint.body.types?.[0] ?? (endpoint.body.kind === 'json' ? 'application/json' : 'application/octet-stream');
    const head = [
      `${endpoint.method} ${pathOf(id, example)} HTTP/1.1`,
      'Host: localhost',
      `Content-Type: ${type}`,
      `Content-Length: ${endpoint.body.bytesMax + 1}`,
      ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ];
    const { text } = await rawRequest(easel.port, `${head.join('\r\n')}\r\n\r\n`, '"request_id"');
    const code = endpoint.body.tooLarge ?? 'PAYLOAD_TOO_LARGE';
    expect(text).toContain(`HTTP/1.1 ${ERRORS[code].status} `);
    expect(text).toContain(`"code":"${code}"`);
    expect(errorCodesOf(endpoint)).toContain(code);
  });

  test('answers as it declares', async () => {
    const token = tokenOf(world.owner);
    if (endpoint.socket !== undefined) {
      await expectSocket(token ?? '');
      return;
    }
    const reply = await send(id, example, { token });
    const declared = Object.values(endpoint.replies).filter((spec) => spec.status === reply.status);
    if (declared.length === 0) expect.fail(`answered ${reply.status}: ${await reply.text()}`);
    await expectDeclaredBody(reply, declared);
    if (endpoint.limit === 'data') {
      expect(reply.headers.get('ratelimit-policy')).toBe('"data";q=1000;w=60');
      expect(reply.headers.get('ratelimit')).toMatch(/^"data";r=\d+;t=\d+$/);
    }
    if (endpoint.method === 'GET') await expectHead(reply, token);
    if (endpoint.method === 'GET' && endpoint.conditional) await expectUnchanged(reply, token);
  });

  /** A WebSocket, and nothing to whoever asks for none. */
  async function expectSocket(token: string): Promise<void> {
    const reply = await send(id, example, { token });
    expect([reply.headers.get('upgrade'), Object.keys(endpoint.replies)]).toEqual(['websocket', []]);
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
    const body = await reply.json();
    const problems = declared.map((spec) => ('body' in spec ? (spec.body.safeParse(body).error?.message ?? '') : ''));
    expect(problems).toContain('');
  }

  async function expectHead(reply: Response, token: string | undefined): Promise<void> {
    const head = await send(id, example, { token, method: 'HEAD' });
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      reply.status,
      reply.headers.get('content-type'),
      '',
    ]);
  }

  async function expectUnchanged(reply: Response, token: string | undefined): Promise<void> {
    const etag = reply.headers.get('etag') ?? '';
    expect(etag).toMatch(/^(?:W\/)?"[^"]+"$/);
    const unchanged = await send(id, example, { token, headers: { 'if-none-match': etag } });
    expect([unchanged.status, unchanged.headers.get('etag'), await unchanged.text()]).toEqual([304, etag, '']);
  }
});
