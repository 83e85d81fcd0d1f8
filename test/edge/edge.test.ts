/** The rules of contract.md §0 for every call, at an edge over fakes. */
import { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import {
  AGENT_TOKEN,
  type FakeEdge,
  failure,
  OTHER_TOKEN,
  OWNER_TOKEN,
  PRIVATE_ID,
  PUBLIC_ID,
  rawRequest,
  startFakeEdge,
  TRASHED_ID,
} from './fake-edge.ts';

const owner = { authorization: `Bearer ${OWNER_TOKEN}` };
const other = { authorization: `Bearer ${OTHER_TOKEN}` };
const agent = { authorization: `Bearer ${AGENT_TOKEN}` };
const json = { 'content-type': 'application/json' };
const PUBLIC_KEY = `/v1/data/${PUBLIC_ID}/json/k`;
const PRIVATE_KEY = `/v1/data/${PRIVATE_ID}/json/k`;
const PAYLOAD = '{"success":true,"data":1}';

let fake: FakeEdge;
beforeAll(async () => {
  fake = await startFakeEdge({
    handlers: {
      'json.get': ({ params }) => {
        if (params.key === 'missing') throw new Failure('KEY_NOT_FOUND');
        if (params.key === 'broken') throw new Error('secret detail');
        if (params.key === 'busy') throw new Failure('UNAVAILABLE');
        return { reply: 'ok', body: undefined, json: PAYLOAD, etag: '"v1"' };
      },
      'json.put': ({ body }) => ({ reply: 'ok', body: { success: true, data: body } }),
      'json.patch': () => Promise.reject(new Failure('VERSION_CONFLICT', { etag: '"v2"' })),
      'artifacts.export': () => ({ reply: 'ok', body: new Uint8Array(3_000_000).fill(7), type: 'application/zip' }),
    },
  });
});
afterAll(() => fake.close());
beforeEach(() => {
  fake.handled.length = 0;
  fake.limit.remaining = 1000;
  fake.limit.spent = 0;
});

function call(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(fake.url(path), init);
}

describe('request ids', () => {
  test("the caller's own is kept where it is safe", async () => {
    expect((await call(PUBLIC_KEY, { headers: { 'x-request-id': 'my.id_1-2' } })).headers.get('x-request-id')).toBe('my.id_1-2');
  });

  test.each(['x'.repeat(65), 'a b', 'a"b'])('%s is replaced', async (given) => {
    expect((await call(PUBLIC_KEY, { headers: { 'x-request-id': given } })).headers.get('x-request-id')).toMatch(/^req_[a-z0-9]{24}$/);
  });

  test('fresh ones differ', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, async () => (await call(PUBLIC_KEY)).headers.get('x-request-id')));
    expect(new Set(ids).size).toBe(50);
  });
});

// Each string is of another kind to V8, which the addons for the versions of Node write in different ways.
test.each(['plain', 'Grüße', 'Größe ☃', 'ü'.repeat(200_000)])('an answer is sent in UTF-8, for example %.12s', async (text) => {
  const reply = await call(PUBLIC_KEY, { method: 'PUT', headers: { ...owner, ...json }, body: JSON.stringify(text) });
  expect(await reply.json()).toEqual({ success: true, data: text });
});

describe('who may call', () => {
  test.each([
    ['a write without a token', PUBLIC_KEY, 'DELETE', {}, 401, 'UNAUTHORIZED', 'missing'],
    ['an account call without a token', '/v1/account', 'GET', {}, 401, 'UNAUTHORIZED', 'missing'],
    ['a public read with a bad token', PUBLIC_KEY, 'GET', { authorization: 'Bearer so_bad' }, 401, 'UNAUTHORIZED', 'invalid'],
    ['another scheme', PUBLIC_KEY, 'GET', { authorization: 'Basic YTpi' }, 401, 'UNAUTHORIZED', 'invalid'],
    ['a private read without a token', PRIVATE_KEY, 'GET', {}, 404, 'ARTIFACT_NOT_FOUND', undefined],
    ["a read of somebody else's", PRIVATE_KEY, 'GET', other, 404, 'ARTIFACT_NOT_FOUND', undefined],
    ["a write to somebody else's that is hidden", PRIVATE_KEY, 'DELETE', other, 404, 'ARTIFACT_NOT_FOUND', undefined],
    ["a write to somebody else's that is public", PUBLIC_KEY, 'DELETE', other, 403, 'FORBIDDEN', undefined],
    ['an id that cannot be', '/v1/data/nonsense/json/k', 'GET', owner, 404, 'ARTIFACT_NOT_FOUND', undefined],
    ['a write to an id that cannot be', '/v1/data/nonsense/json/k', 'DELETE', {}, 401, 'UNAUTHORIZED', 'missing'],
    ['an agent where agents may not', '/v1/account', 'GET', agent, 403, 'FORBIDDEN', undefined],
    ['an agent without the scope', '/v1/me', 'GET', agent, 403, 'INSUFFICIENT_SCOPE', undefined],
    ["a restore of somebody else's", `/v1/artifacts/${TRASHED_ID}/restore`, 'POST', other, 404, 'ARTIFACT_NOT_FOUND', undefined],
    ['a restore of what is not in the trash', `/v1/artifacts/${PUBLIC_ID}/restore`, 'POST', owner, 400, 'NOT_DELETED', undefined],
  ])('%s', async (_name, path, method, headers, status, code, reason) => {
    const refused = await failure(call(path, { method, headers: headers as Record<string, string> }));
    expect([refused.status, refused.code, refused.body.reason]).toEqual([status, code, reason]);
    expect(refused.headers.has('www-authenticate')).toBe(status === 401);
    expect(fake.handled).toEqual([]);
  });

  test('the owner restores', async () => {
    expect((await call(`/v1/artifacts/${TRASHED_ID}/restore`, { method: 'POST', headers: owner })).status).toBe(200);
  });
});

describe('errors', () => {
  test('an unknown path', async () => {
    expect(await failure(call('/v1/nothing'))).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  test('a wrong method names the right ones', async () => {
    const refused = await failure(call(PUBLIC_KEY, { method: 'POST' }));
    expect([refused.status, refused.code, refused.headers.get('allow')]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      'GET, HEAD, PUT, PATCH, DELETE',
    ]);
  });

  test('a bug is logged with the request id and shows nothing of itself', async () => {
    const refused = await failure(call(PUBLIC_KEY.replace('/k', '/broken')));
    expect([refused.status, refused.code]).toEqual([500, 'INTERNAL_ERROR']);
    expect(JSON.stringify(refused.body)).not.toContain('secret');
    expect(refused.body.support).toMatchObject({ how: expect.any(String), include: expect.arrayContaining(['request_id']) });
    expect(fake.errors.at(-1)).toMatchObject({ requestId: refused.body.request_id, operation: 'json.get' });
  });

  test('every 503 has Retry-After', async () => {
    const refused = await failure(call(PUBLIC_KEY.replace('/k', '/busy')));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  });

  test('a conflict carries the current ETag', async () => {
    const refused = await failure(call(PUBLIC_KEY, { method: 'PATCH', headers: { ...owner, ...json }, body: '{}' }));
    expect([refused.status, refused.headers.get('etag')]).toEqual([409, '"v2"']);
  });

  test('problem+json has the members of RFC 9457 beside ours', async () => {
    const reply = await call('/v1/nothing', { headers: { accept: 'application/problem+json' } });
    expect(reply.headers.get('content-type')).toBe('application/problem+json');
    expect(await reply.json()).toMatchObject({
      type: 'urn:easel:error:NOT_FOUND',
      title: 'There is nothing at this path.',
      status: 404,
      detail: 'There is nothing at this path.',
      instance: '/v1/nothing',
      success: false,
      code: 'NOT_FOUND',
    });
  });

  test('every issue of a body is named, the first as param', async () => {
    const body = JSON.stringify({ name: '', visibility: 'loud', extra: 1 });
    const refused = await failure(call(`/v1/artifacts/${PUBLIC_ID}`, { method: 'PATCH', headers: { ...owner, ...json }, body }));
    expect(refused.status).toBe(400);
    expect((refused.body.issues as { path: string }[]).map((issue) => issue.path)).toEqual(['name', 'visibility', 'extra']);
    expect(refused.body.param).toBe('name');
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=ten', 'limit'],
    ['count=maybe', 'count'],
    ['limit=1&limit=2', 'limit'],
  ])('the query %s', async (query, param) => {
    const refused = await failure(call(`/v1/artifacts?${query}`, { headers: owner }));
    expect([refused.status, refused.code, refused.body.param]).toEqual([400, 'INVALID_REQUEST', param]);
  });

  test('a key that cannot be', async () => {
    const refused = await failure(call(`/v1/data/${PUBLIC_ID}/json/a%20b`));
    expect([refused.status, refused.code, refused.body.param]).toEqual([400, 'KEY_INVALID', 'key']);
  });

  test('a path that is not UTF-8', async () => {
    expect((await failure(call(`/v1/data/${PUBLIC_ID}/json/%ff`))).code).toBe('KEY_INVALID');
  });
});

describe('conditional reads', () => {
  test.each(['"v1"', 'W/"v1"', '"v0", "v1"', '*'])('If-None-Match: %s answers 304 and spends nothing', async (given) => {
    const reply = await call(PUBLIC_KEY, { headers: { 'if-none-match': given } });
    expect([reply.status, await reply.text(), reply.headers.get('etag')]).toEqual([304, '', '"v1"']);
    expect(reply.headers.has('ratelimit')).toBe(false);
    expect(fake.limit.spent).toBe(0);
  });

  test('another ETag is answered in full and spends', async () => {
    const reply = await call(PUBLIC_KEY, { headers: { 'if-none-match': '"v0"' } });
    expect([reply.status, await reply.text(), fake.limit.spent]).toEqual([200, PAYLOAD, 1]);
  });

  test('a reply without an ETag of its own gets one of its content', async () => {
    const headers = { 'accept-encoding': 'identity' };
    const first = await call('/v1/openapi.json', { headers });
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect((await call('/v1/openapi.json', { headers: { ...headers, 'if-none-match': etag } })).status).toBe(304);
  });

  test('HEAD says what GET would, without the body', async () => {
    const reply = await call(PUBLIC_KEY, { method: 'HEAD' });
    expect([reply.status, reply.headers.get('etag'), reply.headers.get('content-length'), await reply.text()]).toEqual([
      200,
      '"v1"',
      String(PAYLOAD.length),
      '',
    ]);
  });
});

describe('rate limits', () => {
  test('every limited answer says what is left, failures too', async () => {
    const reply = await call(PUBLIC_KEY);
    expect(reply.headers.get('ratelimit-policy')).toBe('"data";q=1000;w=60');
    expect(reply.headers.get('ratelimit')).toBe('"data";r=999;t=42');
    const refused = await failure(call(PUBLIC_KEY.replace('/k', '/missing')));
    expect([refused.status, refused.headers.get('ratelimit')]).toEqual([404, '"data";r=998;t=42']);
  });

  test('beyond it is 429 with the time to wait', async () => {
    fake.limit.remaining = 0;
    const refused = await failure(call(PUBLIC_KEY));
    expect([refused.status, refused.code, refused.headers.get('retry-after'), refused.headers.get('ratelimit')]).toEqual([
      429,
      'RATE_LIMITED',
      '42',
      '"data";r=0;t=42',
    ]);
    expect(fake.handled).toEqual([]);
  });

  test('what is refused by its head spends nothing; a body is spent for before it is received', async () => {
    await call(PRIVATE_KEY);
    await call(PUBLIC_KEY, { method: 'PUT', headers: { ...owner, 'content-type': 'text/plain' }, body: '{' });
    expect(fake.limit.spent).toBe(0);
    await call(PUBLIC_KEY, { method: 'PUT', headers: { ...owner, ...json }, body: '{' });
    expect(fake.limit.spent).toBe(1);
  });

  test('an address may make so many accounts in any hour', async () => {
    const own = await startFakeEdge({
      handlers: { 'accounts.create': () => ({ reply: 'created', body: {} }) },
      settings: { TRUST_PROXY: 'true' },
    });
    const create = (address: string) =>
      fetch(own.url('/v1/auth/create-account'), { method: 'POST', headers: { 'x-forwarded-for': `9.9.9.9, ${address}` } });
    for (let made = 0; made < LIMITS.accountsPerHourPerAddress; made += 1) expect((await create('1.2.3.4')).status).toBe(201);
    expect((await create('1.2.3.4')).status).toBe(429);
    expect((await create('1.2.3.5')).status).toBe(201);
    own.clock.advance(3_600_000);
    expect((await create('1.2.3.4')).status).toBe(201);
    own.close();
  });

  test('without TRUST_PROXY a caller cannot choose its address', async () => {
    const own = await startFakeEdge({
      handlers: { 'accounts.create': (given) => ({ reply: 'created', body: { address: Object(given).address } }) },
    });
    const reply = await fetch(own.url('/v1/auth/create-account'), { method: 'POST', headers: { 'x-forwarded-for': '1.2.3.4' } });
    expect(await reply.json()).toEqual({ address: '127.0.0.1' });
    own.close();
  });
});

describe('pages of other origins', () => {
  const origin = 'https://elsewhere.example';

  test('may read every answer under /v1/data, errors too', async () => {
    for (const path of [PUBLIC_KEY, PRIVATE_KEY]) {
      const reply = await call(path, { headers: { origin } });
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
      expect(reply.headers.has('access-control-allow-credentials')).toBe(false);
      const exposed = reply.headers.get('access-control-expose-headers')?.split(', ');
      expect(exposed).toEqual(
        expect.arrayContaining(['ETag', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id', 'X-Next-Cursor', 'X-Proxy-Cache']),
      );
    }
  });

  test('may not read anything else', async () => {
    expect((await call('/v1/account', { headers: { ...owner, origin } })).headers.has('access-control-allow-origin')).toBe(false);
  });

  test('a preflight needs no token and spends nothing', async () => {
    const headers = { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization,idempotency-key' };
    const reply = await call(PRIVATE_KEY, { method: 'OPTIONS', headers });
    expect([reply.status, fake.limit.spent]).toEqual([204, 0]);
    for (const name of ['Authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'Idempotency-Key', 'Last-Event-ID']) {
      expect(reply.headers.get('access-control-allow-headers')).toContain(name);
    }
    expect(reply.headers.get('access-control-allow-methods')).toContain('PUT');
  });

  test("only the artifact's own page may send credentials", async () => {
    const ownOrigin = `http://shown.localhost:${fake.port}`;
    const own = await call(PUBLIC_KEY, { headers: { origin: ownOrigin } });
    expect([own.headers.get('access-control-allow-origin'), own.headers.get('access-control-allow-credentials')]).toEqual([
      ownOrigin,
      'true',
    ]);
    const foreign = await call(PUBLIC_KEY, { headers: { origin: `http://hidden.localhost:${fake.port}` } });
    expect([foreign.headers.get('access-control-allow-origin'), foreign.headers.has('access-control-allow-credentials')]).toEqual([
      '*',
      false,
    ]);
  });
});

describe("a page's own origin", () => {
  function page(slug: string, path: string, headers = ''): Promise<{ text: string }> {
    return rawRequest(fake.port, `GET ${path} HTTP/1.1\r\nHost: ${slug}.localhost:${fake.port}\r\nConnection: close\r\n${headers}\r\n`);
  }

  test('is served by the content server, whatever the path', async () => {
    expect((await page('shown', '/index.html')).text).toContain('page shown/index.html');
    expect((await page('shown', '/v1/me')).text).toContain('page shown/v1/me');
    expect((await page('a.b', '/')).text).toContain('page a.b/');
  });

  test('has its own data and no other', async () => {
    expect((await page('shown', PUBLIC_KEY)).text).toContain(PAYLOAD);
    // What is another's looks like what is nobody's.
    for (const path of [PRIVATE_KEY, `/v1/data/art_${'0'.repeat(24)}/json`]) {
      expect((await page('shown', path)).text).toContain('ARTIFACT_NOT_FOUND');
    }
  });
});

describe('large answers', () => {
  test('reach a slow reader whole', async () => {
    const socket = new Socket();
    socket.connect(fake.port, '127.0.0.1');
    socket.write(
      `GET /v1/artifacts/${PUBLIC_ID}/export HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${OWNER_TOKEN}\r\nConnection: close\r\n\r\n`,
    );
    socket.pause();
    await expect.poll(() => fake.handled).toEqual(['artifacts.export']);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.resume();
    await expect.poll(() => Buffer.concat(chunks).length - Buffer.concat(chunks).indexOf('\r\n\r\n') - 4).toBe(3_000_000);
    socket.destroy();
  });
});

describe('draining', () => {
  test('open requests are answered, then the edge is idle and takes no more', async () => {
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const own = await startFakeEdge({ handlers: { 'accounts.account': () => held.then(() => ({ reply: 'ok', body: {} })) } });
    const answer = fetch(own.url('/v1/account'), { headers: owner });
    await expect.poll(() => own.handled).toEqual(['accounts.account']);
    own.edge.stopListening();
    let idle = false;
    const drained = own.edge.idle().then(() => {
      idle = true;
    });
    await expect(fetch(own.url('/healthz'))).rejects.toThrow();
    expect(idle).toBe(false);
    release?.();
    expect((await answer).headers.get('connection')).toBe('close');
    await drained;
    own.close();
  });

  test('a second process on the port is refused', async () => {
    await expect(startFakeEdge({ settings: { PORT: String(fake.port) } })).rejects.toThrow(String(fake.port));
  });
});

describe('metrics', () => {
  test('count requests by operation and status, and show the runtime', async () => {
    await call(PUBLIC_KEY);
    const text = await (await call('/metrics')).text();
    expect(text).toMatch(/^easel_requests_total\{operation="json.get",status="200"\} \d+$/m);
    expect(text).toMatch(/^easel_request_seconds_bucket\{operation="json.get",le="\+Inf"\} \d+$/m);
    expect(text).toMatch(/^easel_actors_resident 3$/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m);
    expect(text).not.toContain(OWNER_TOKEN);
  });
});
