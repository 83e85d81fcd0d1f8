/** Request bodies at the edge, over fakes: what is refused, and what happens to bodies that never complete. Source: contract.md §0. */
import { once } from 'node:events';
import { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type FakeEdge, failure, OTHER_TOKEN, OWNER_TOKEN, PUBLIC_ID, rawRequest, startFakeEdge, THIRD_TOKEN } from './fake-edge.ts';

const PUBLIC_KEY = `/v1/data/${PUBLIC_ID}/json/k`;

let fake: FakeEdge;
beforeAll(async () => {
  fake = await startFakeEdge({ handlers: { 'json.put': ({ body }) => ({ reply: 'ok', body: { success: true, data: body } }) } });
});
afterAll(() => fake.close());
beforeEach(() => {
  fake.handled.length = 0;
});

function put(body: BodyInit, headers: Record<string, string> = { 'content-type': 'application/json' }): Promise<Response> {
  return fetch(fake.url(PUBLIC_KEY), { method: 'PUT', headers: { authorization: `Bearer ${OWNER_TOKEN}`, ...headers }, body });
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(fake.url('/metrics'))).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

test.each([
  ['nothing', ''],
  ['half of it', '{"a":'],
  ['two documents', '{} {}'],
  ['not UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
  ['a byte order mark', '\ufeff{}'],
  ['a member twice', '{"a":1,"a":2}'],
  ['a member twice, once escaped', '{"a":1,"\\u0061":2}'],
  ['a member twice, deep', '[{"b":{"c":[1,{"d":1,"d":1}]}}]'],
  ['deeper than is taken', `${'['.repeat(101)}${']'.repeat(101)}`],
])('JSON: %s is refused', async (_name, body) => {
  expect(await failure(put(body))).toMatchObject({ status: 400, code: 'INVALID_JSON' });
  expect(fake.handled).toEqual([]);
});

test.each([
  '{"a":{"a":1},"b":{"a":1}}',
  `${'['.repeat(100)}${']'.repeat(100)}`,
  '"a\\\\"',
  '{"a":"a:b","b":"\\"a\\":1"}',
  '["a","a"]',
  ' null ',
])('JSON: %s is taken', async (body) => {
  const reply = await put(body);
  expect(reply.status).toBe(200);
  expect(((await reply.json()) as { data: unknown }).data).toEqual(JSON.parse(body));
});

test('a value of exactly the limit is taken, one byte more is not', async () => {
  const fits = `"${'x'.repeat(LIMITS.jsonValueBytesMax - 2)}"`;
  expect((await put(fits)).status).toBe(200);
  expect(await failure(put(`${fits.slice(0, -1)}x"`))).toMatchObject({ status: 413, code: 'VALUE_TOO_LARGE' });
});

test('another media type is refused and told what is taken', async () => {
  const refused = await failure(put('a=b', { 'content-type': 'application/x-www-form-urlencoded' }));
  expect([refused.status, refused.code, refused.headers.get('accept')]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE', 'application/json']);
  expect((await failure(put('{}', { 'content-type': 'application/json; charset=latin1' }))).status).toBe(415);
  expect((await put('{}', { 'content-type': 'Application/JSON; charset=UTF-8' })).status).toBe(200);
});

test('a stalled sender is disconnected, and its bytes are released', async () => {
  const reply = rawRequest(
    fake.port,
    `PUT ${PUBLIC_KEY} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${OWNER_TOKEN}\r\nContent-Length: 10\r\n\r\n"abc`,
  );
  await expect.poll(async () => metric('easel_body_bytes_in_flight')).toBe(4);
  fake.clock.advance(60_000);
  expect(await reply).toEqual({ text: '', closed: true });
  expect(await metric('easel_body_bytes_in_flight')).toBe(0);
  expect(fake.handled).toEqual([]);
});

test('an upload that is broken off leaves nothing behind', async () => {
  const socket = new Socket();
  socket.connect(fake.port, '127.0.0.1');
  socket.write(`PUT ${PUBLIC_KEY} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${OWNER_TOKEN}\r\nContent-Length: 1000\r\n\r\n"abc`);
  await expect.poll(async () => metric('easel_body_bytes_in_flight')).toBe(4);
  socket.destroy();
  await once(socket, 'close');
  await expect.poll(async () => metric('easel_body_bytes_in_flight')).toBe(0);
  await expect.poll(async () => metric('easel_requests_open')).toBe(1);
  expect(fake.errors.filter((error) => 'operation' in error && error.operation === 'json.put')).toEqual([]);
});

test('a body is whole when the caller is looked up in the database first, on the API and on the own origin', async () => {
  const own = await startFakeEdge({
    lookUp: () => new Promise((resolve) => setImmediate(resolve)),
    handlers: { 'json.put': ({ body }) => ({ reply: 'ok', body: { length: String(body).length } }) },
  });
  const body = `"${'x'.repeat(900_000)}"`;
  const head = `Authorization: Bearer ${OWNER_TOKEN}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
  for (const host of ['localhost', `shown.localhost:${own.port}`]) {
    const { text } = await rawRequest(own.port, `PUT ${PUBLIC_KEY} HTTP/1.1\r\nHost: ${host}\r\n${head}${body}`);
    expect(text).toContain('{"length":900000}');
  }
  own.close();
});

test('the body of a refused caller is discarded while it arrives', async () => {
  const own = await startFakeEdge({ lookUp: () => new Promise((resolve) => setImmediate(resolve)) });
  const socket = new Socket();
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.connect(own.port, '127.0.0.1');
  socket.write(`PUT ${PUBLIC_KEY} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer so_bad\r\nContent-Length: 6\r\n\r\n"ab`);
  await expect.poll(() => text).toContain('HTTP/1.1 401');
  expect(await (await fetch(own.url('/metrics'))).text()).toMatch(/^easel_body_bytes_in_flight 0$/m);
  socket.write('cd"GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => text).toContain('NOT_FOUND');
  expect(own.handled).toEqual([]);
  socket.destroy();
  own.close();
});

describe('what bodies hold', () => {
  const MB = 1024 * 1024;
  const size = LIMITS.publishBodyBytesMax;
  const headOf = (token: string) =>
    `POST /v1/publish HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`;
  const open = (localAddress: string, bytes: number, token = OWNER_TOKEN): Socket => {
    const socket = new Socket();
    socket.on('error', () => undefined);
    socket.connect({ port: fake.port, host: '127.0.0.1', localAddress });
    socket.write(headOf(token));
    socket.write(Buffer.alloc(bytes, ' '));
    return socket;
  };
  const inFlight = () => metric('easel_body_bytes_in_flight');
  const close = async (sockets: readonly Socket[]) => {
    for (const socket of sockets) socket.destroy();
    await expect.poll(inFlight).toBe(0);
  };

  test('is what has come, not what was announced', async () => {
    const sockets = Array.from({ length: 20 }, () => open('127.0.0.2', 1000));
    await expect.poll(inFlight).toBe(20_000);
    expect((await put('1')).status).toBe(200);
    await close(sockets);
  });

  test('has a share for each network: who has filled his own is told so, and others are served', async () => {
    const sockets = [1, 2].map(() => open('127.0.0.2', 60 * MB));
    await expect.poll(inFlight).toBe(120 * MB);
    const greedy = open('127.0.0.2', 21 * MB);
    let answer = '';
    greedy.on('data', (chunk) => {
      answer += chunk.toString();
    });
    // What it still sends is awaited for a second.
    await expect.poll(() => fake.clock.advance(200) ?? answer).toContain('HTTP/1.1 503 ');
    expect(answer).toContain('"code":"UNAVAILABLE"');
    expect(answer.toLowerCase()).toContain('retry-after: 5');
    const other = open('127.0.0.3', 10 * MB, OTHER_TOKEN);
    await expect.poll(inFlight).toBe(130 * MB);
    await close([...sockets, greedy, other]);
  });

  test('cannot be taken by a few networks together: the greediest is refused for another one', async () => {
    const sockets = [open('127.0.0.2', size - MB), open('127.0.0.3', size - MB, OTHER_TOKEN)];
    await expect.poll(inFlight, { timeout: 30_000 }).toBe(2 * (size - MB));
    const other = open('127.0.0.4', 10 * MB, THIRD_TOKEN);
    await expect.poll(inFlight).toBe(size - MB + 10 * MB);
    await close([...sockets, other]);
  });

  test('must keep coming: who sends less than the slowest rate is disconnected, whatever came before', async () => {
    const slow = open('127.0.0.2', 5 * MB);
    const steady = open('127.0.0.3', 5 * MB);
    await expect.poll(inFlight).toBe(10 * MB);
    const dropped = once(slow, 'close');
    // Two windows, wherever in one of them the sweep stands, and no window without a megabyte of the steady one.
    for (let sentMb = 6; sentMb <= 10; sentMb += 1) {
      fake.clock.advance(7_500);
      steady.write(Buffer.alloc(MB, ' '));
      await expect.poll(async () => [sentMb * MB, (sentMb + 5) * MB].includes(await inFlight())).toBe(true);
    }
    await dropped;
    expect(await inFlight()).toBe(10 * MB);
    await close([steady]);
  });
});

test('unfinished bodies of one network are bounded in number', async () => {
  const head = `PUT ${PUBLIC_KEY} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${OWNER_TOKEN}\r\nContent-Length: 10\r\n\r\n"`;
  let refused = 0;
  const sockets: Socket[] = [];
  for (let index = 0; index < 520; index += 1) {
    const socket = new Socket();
    socket.on('data', (chunk) => {
      if (chunk.toString().startsWith('HTTP/1.1 503 ')) refused += 1;
    });
    socket.connect({ port: fake.port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    socket.write(head);
    // More connections at once than the listening queue holds would wait for the kernel's next attempt.
    if (index % 50 === 0) await once(socket, 'connect');
    sockets.push(socket);
  }
  await expect.poll(() => metric('easel_body_bytes_in_flight')).toBe(520);
  fake.clock.advance(1500);
  await expect.poll(() => refused).toBe(520 - 512);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => metric('easel_body_bytes_in_flight')).toBe(0);
});
