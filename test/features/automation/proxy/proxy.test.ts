/** The proxy of a page, against hosts of this suite. What may be reached at all is in test/egress. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';

let easel: TestEasel;
let host: Server;
let origin: string;
let owner: TestUser;
let answers: (request: IncomingMessage, response: ServerResponse) => void;
let asked: IncomingMessage[] = [];

beforeAll(async () => {
  easel = await startTestEasel();
  host = createServer((request, response) => {
    asked.push(request);
    answers(request, response);
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  owner = await easel.newUser('pro');
});
afterAll(async () => {
  await easel?.close();
  host?.close();
  host?.closeAllConnections();
});

const json = { 'content-type': 'application/json' };
let artifactId: string;
beforeEach(async () => {
  const files = [{ path: 'index.html', content: '<h1>Page</h1>' }];
  const body = JSON.stringify({ name: 'Page', visibility: 'public', files });
  const reply = await easel.fetch('/v1/publish', { method: 'POST', token: owner.token, headers: json, body });
  artifactId = ((await reply.json()) as { artifact: { id: string } }).artifact.id;
  asked = [];
  answers = (_, response) => response.end('hello');
});

const configure = (config: unknown, more: RequestInit & { token?: string } = {}) =>
  easel.fetch(`/v1/data/${artifactId}/proxy/config`, {
    method: 'PUT',
    token: owner.token,
    body: JSON.stringify(config),
    ...more,
    headers: { ...json, ...(more.headers as Record<string, string>) },
  });
const read = (url: string, more: RequestInit = {}) => easel.fetch(`/v1/data/${artifactId}/proxy?url=${encodeURIComponent(url)}`, more);
const codeOf = async (reply: Response) => [reply.status, ((await reply.json()) as { code: string }).code];

describe('the proxy of a page', () => {
  it('reads nothing until an editor names hosts, and only those', async () => {
    expect(await codeOf(await read(origin))).toEqual([403, 'HOST_NOT_ALLOWED']);
    expect((await configure({ hosts: ['*.example.com', '127.0.0.1'] })).status).toBe(200);
    const reply = await read(`${origin}/x?a=1&b=2`);
    expect([reply.status, await reply.text(), asked[0]?.url]).toEqual([200, 'hello', '/x?a=1&b=2']);
    expect(await codeOf(await read('http://example.com/'))).toEqual([403, 'HOST_NOT_ALLOWED']);
    expect(await codeOf(await read('http://badexample.com/'))).toEqual([403, 'HOST_NOT_ALLOWED']);
    await configure({ hosts: [] });
    expect(await codeOf(await read(`${origin}/x?a=1&b=2`))).toEqual([403, 'HOST_NOT_ALLOWED']);
  });

  it('settings are of editors alone, conditional, and named hosts only', async () => {
    const stranger = await easel.newUser();
    expect((await configure({ hosts: 'any' }, { token: stranger.token })).status).toBe(403);
    expect((await easel.fetch(`/v1/data/${artifactId}/proxy/config`)).status).toBe(401);
    const before = await easel.fetch(`/v1/data/${artifactId}/proxy/config`, { token: owner.token });
    expect(await before.json()).toEqual({ success: true, data: { hosts: [], cacheS: 0 } });
    const ifMatch = { headers: { 'if-match': before.headers.get('etag') ?? '' } };
    expect((await configure({ hosts: ['A.example', 'a.example'], cacheS: 5 }, ifMatch)).status).toBe(200);
    expect(await codeOf(await configure({ hosts: 'any' }, ifMatch))).toEqual([409, 'VERSION_CONFLICT']);
    const after = await easel.fetch(`/v1/data/${artifactId}/proxy/config`, { token: owner.token });
    expect(await after.json()).toEqual({ success: true, data: { hosts: ['a.example'], cacheS: 5 } });
    for (const hosts of ['all', ['https://a.example'], ['a.example:80'], ['a.example/x'], Array(51).fill('a.example')])
      expect((await configure({ hosts })).status).toBe(400);
  });

  it('passes status, type and validators on, and nothing that acts on the page', async () => {
    await configure({ hosts: 'any' });
    answers = (_, response) => {
      const acting = { 'set-cookie': 'a=1', refresh: '0', 'clear-site-data': '"*"', 'service-worker-allowed': '/' };
      response.writeHead(404, { 'content-type': 'text/html', etag: '"v1"', 'x-total-count': '7', ...acting }).end('<script>1</script>');
    };
    const reply = await read(origin);
    expect([reply.status, reply.headers.get('content-type'), reply.headers.get('etag'), reply.headers.get('x-total-count')]).toEqual([
      404,
      'text/html',
      '"v1"',
      '7',
    ]);
    for (const name of ['set-cookie', 'refresh', 'clear-site-data', 'service-worker-allowed']) expect(reply.headers.has(name)).toBe(false);
    expect(reply.headers.get('content-security-policy')).toContain('sandbox');
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(asked[0]?.headers).not.toHaveProperty('authorization');
    expect(asked[0]?.headers).not.toHaveProperty('cookie');
    answers = (_, response) => response.writeHead(200, { 'content-type': 'text/javascript' }).end('1');
    expect((await read(`${origin}/script.js`)).headers.get('content-type')).toBe('text/plain; charset=utf-8');
    answers = (_, response) => response.writeHead(204).end();
    expect((await read(`${origin}/empty`)).status).toBe(204);
  });

  it('keeps an answer for as long as the host says, then asks whether it still holds', async () => {
    await configure({ hosts: 'any' });
    answers = (request, response) => {
      const headers = { 'cache-control': 'max-age=60', etag: '"v1"' };
      if (request.headers['if-none-match'] === '"v1"') response.writeHead(304, headers).end();
      else response.writeHead(200, headers).end('kept');
    };
    const cached = async () => {
      const reply = await read(`${origin}/kept`);
      return [reply.headers.get('x-proxy-cache'), reply.status, await reply.text(), asked.length];
    };
    expect(await cached()).toEqual(['miss', 200, 'kept', 1]);
    expect(await cached()).toEqual(['hit', 200, 'kept', 1]);
    await easel.clock.advance(61_000);
    expect(await cached()).toEqual(['revalidated', 200, 'kept', 2]);
    expect(await cached()).toEqual(['hit', 200, 'kept', 2]);
    await configure({ hosts: ['elsewhere.example'] });
    expect(await codeOf(await read(`${origin}/kept`))).toEqual([403, 'HOST_NOT_ALLOWED']);
  });

  it('keeps what says nothing for the seconds of the settings, and never what forbids it', async () => {
    await configure({ hosts: 'any', cacheS: 10 });
    expect((await read(`${origin}/a`)).headers.get('x-proxy-cache')).toBe('miss');
    expect((await read(`${origin}/a`)).headers.get('x-proxy-cache')).toBe('hit');
    answers = (_, response) => response.writeHead(200, { 'cache-control': 'no-store' }).end('secret');
    expect((await read(`${origin}/b`)).headers.get('x-proxy-cache')).toBe('bypass');
    expect((await read(`${origin}/b`)).headers.get('x-proxy-cache')).toBe('bypass');
  });

  it('says what went wrong: a host that is not public, one without an answer, and what is no URL', async () => {
    await configure({ hosts: 'any' });
    expect(await codeOf(await read('http://10.1.2.3/'))).toEqual([403, 'BLOCKED_DESTINATION']);
    expect(((await (await read('http://10.1.2.3/')).json()) as { hint: string }).hint).toContain('EGRESS_PRIVATE_NETWORKS');
    expect(await codeOf(await read('http://[::ffff:127.0.0.1]/'))).toEqual([403, 'BLOCKED_DESTINATION']);
    answers = (_, response) => response.destroy();
    expect(await codeOf(await read(origin))).toEqual([502, 'PROXY_ERROR']);
    answers = (_, response) => response.writeHead(200, { 'content-length': String(11 * 1024 * 1024) }).write('x');
    expect(await codeOf(await read(`${origin}/large`))).toEqual([502, 'PROXY_ERROR']);
    expect(await codeOf(await read('file:///etc/passwd'))).toEqual([400, 'INVALID_REQUEST']);
    expect(await codeOf(await read('http://user:pw@127.0.0.1/'))).toEqual([400, 'INVALID_REQUEST']);
  });

  it('a hundred calls a minute, those answered from what is kept included', async () => {
    await configure({ hosts: 'any', cacheS: 60 });
    const statuses: number[] = [];
    for (let call = 0; call < 101; call += 1) statuses.push((await read(origin)).status);
    expect([statuses.filter((status) => status === 200).length, statuses.at(-1), asked.length]).toEqual([100, 429, 1]);
    const private_ = await easel.fetch(`/v1/artifacts/${artifactId}`, {
      method: 'PATCH',
      token: owner.token,
      headers: json,
      body: JSON.stringify({ visibility: 'private' }),
    });
    expect(private_.status).toBe(200);
    await easel.clock.advance(61_000);
    expect((await read(origin)).status).toBe(404);
  });
});
