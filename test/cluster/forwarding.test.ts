/** Calls that reach a node which does not own the artifact: the owner answers them, and the caller sees no difference. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../protocol/core/errors.ts';
import type { ReplySink } from '../../src/edge/reply-stream.ts';
import { failure, OWNER_TOKEN, PRIVATE_ID, PUBLIC_ID } from '../edge/fake-edge.ts';
import { frontAndOwner, startNode } from './peer-stage.ts';

const KEY = `/v1/data/${PUBLIC_ID}/json/key`;
const TABLE = `/v1/data/${PRIVATE_ID}/tables/rows`;
const owner = { authorization: `Bearer ${OWNER_TOKEN}` };
const json = { ...owner, 'content-type': 'application/json' };
const MB = 1024 * 1024;

describe('a call', () => {
  test('is answered by the owner as if it had come there', async () => {
    const nodes = await frontAndOwner();
    const init = { headers: { 'x-request-id': 'asked-by-me', origin: 'http://elsewhere.test' } };
    const [there, here] = [await fetch(nodes.owner.fake.url(KEY), init), await fetch(nodes.front.fake.url(KEY), init)];
    const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => !/^(date|(x-)?ratelimit.*)$/.test(name));
    expect([here.status, await here.text(), headersOf(here)]).toEqual([there.status, await there.text(), headersOf(there)]);
    expect(here.headers.get('x-request-id')).toBe('asked-by-me');
    expect([nodes.front.fake.handled, nodes.owner.fake.handled]).toEqual([[], ['json.get', 'json.get']]);
  });

  test('is authenticated and limited by the owner alone', async () => {
    const nodes = await frontAndOwner();
    nodes.owner.fake.limit.remaining = 2;
    const call = () => fetch(nodes.front.fake.url(`/v1/data/${PRIVATE_ID}/json/key`), { headers: owner }).then(({ status }) => status);
    expect([await call(), await call(), await call()]).toEqual([200, 200, 429]);
    expect(await failure(fetch(nodes.front.fake.url(`/v1/data/${PRIVATE_ID}/json/key`)))).toMatchObject({ status: 404 });
    expect(nodes.front.fake.limit).toEqual({ remaining: 1000, spent: 0 });
  });

  test('comes to the owner from the address of the caller', async () => {
    let seen = '';
    const put = (call: object) => {
      seen = (call as { readonly address: string }).address;
      return { reply: 'ok', body: {} };
    };
    const nodes = await frontAndOwner({ handlers: { 'json.put': put } }, { settings: { TRUST_PROXY: 'true' } });
    const headers = { ...json, 'x-forwarded-for': '192.0.2.7' };
    expect((await fetch(nodes.front.fake.url(`/v1/data/${PRIVATE_ID}/json/key`), { method: 'PUT', headers, body: '1' })).status).toBe(200);
    expect(seen).toBe('192.0.2.7');
  });

  test('without live state is answered where it arrives, and so is one for what this node owns', async () => {
    const nodes = await frontAndOwner();
    expect((await fetch(nodes.front.fake.url('/healthz'))).status).toBe(200);
    expect((await fetch(nodes.front.fake.url('/v1/account'), { headers: owner })).status).toBe(200);
    nodes.front.owners = ['here'];
    expect((await fetch(nodes.front.fake.url(KEY))).status).toBe(200);
    expect(nodes.owner.fake.handled).toEqual([]);
  });

  test('HEAD, 304 and an unknown path are answered as ever', async () => {
    const nodes = await frontAndOwner();
    const got = await fetch(nodes.front.fake.url(KEY));
    const etag = got.headers.get('etag') ?? '';
    await got.text();
    const head = await fetch(nodes.front.fake.url(KEY), { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, got.headers.get('content-length'), '']);
    const same = await fetch(nodes.front.fake.url(KEY), { headers: { 'if-none-match': etag } });
    expect([same.status, await same.text()]).toEqual([304, '']);
    expect((await fetch(nodes.front.fake.url(`/v1/data/${PUBLIC_ID}/nothing`))).status).toBe(404);
  });
});

describe('bodies', () => {
  test.each([0, 1, 1000, 64 * 1024, 64 * 1024 + 1, 600_000])('of %i characters arrive whole, and so do answers', async (length) => {
    const echo = ({ body }: { readonly body: unknown }) => ({ reply: 'ok', body: { echoed: body } });
    const nodes = await frontAndOwner({ handlers: { 'json.put': echo } });
    const text = 'äb'.repeat(length / 3).padEnd(length, 'c');
    const reply = await fetch(nodes.front.fake.url(`/v1/data/${PRIVATE_ID}/json/key`), {
      method: 'PUT',
      headers: json,
      body: JSON.stringify(text),
    });
    expect([reply.status, await reply.json()]).toEqual([200, { echoed: text }]);
  });

  test('that arrive byte by byte arrive whole', async () => {
    const echo = ({ body }: { readonly body: unknown }) => ({ reply: 'ok', body: { echoed: body } });
    const nodes = await frontAndOwner({ handlers: { 'json.put': echo } });
    const body = JSON.stringify('0123456789'.repeat(20));
    const socket = connect(nodes.front.fake.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write(
      `PUT /v1/data/${PRIVATE_ID}/json/key HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${OWNER_TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
    );
    for (const char of body) await new Promise<void>((resolve) => socket.write(char, () => resolve()));
    await expect.poll(() => text).toContain(`{"echoed":${body}}`);
    socket.destroy();
  });

  test('a large answer waits for its reader, and both nodes hold little of it', async () => {
    const large = Buffer.alloc(20 * MB, 'abcdefghij');
    const nodes = await frontAndOwner({ handlers: { 'json.get': () => ({ reply: 'ok', json: JSON.stringify(large.toString()) }) } });
    const socket = connect(nodes.front.fake.port, '127.0.0.1');
    socket.write(`GET ${KEY} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    socket.pause();
    await expect.poll(() => nodes.owner.fake.handled).toEqual(['json.get']);
    // Other calls pass by.
    for (let at = 0; at < 5; at += 1) expect((await fetch(nodes.front.fake.url(`/v1/data/${PUBLIC_ID}/tables`))).status).toBe(200);
    expect(nodes.owner.door.queuedBytes + nodes.front.links.queuedBytes).toBeLessThan(MB);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.resume();
    await once(socket, 'close');
    const whole = Buffer.concat(chunks);
    expect(whole.subarray(whole.indexOf('\r\n\r\n') + 4).equals(Buffer.from(JSON.stringify(large.toString())))).toBe(true);
  });

  test('a body that is refused unread does not stop what follows on the connection between the nodes', async () => {
    const nodes = await frontAndOwner();
    const put = () =>
      fetch(nodes.front.fake.url(TABLE), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `["${'x'.repeat(3 * MB)}"]`,
      });
    expect(await failure(put())).toMatchObject({ status: 401 });
    expect((await fetch(nodes.front.fake.url(KEY))).status).toBe(200);
    await expect.poll(() => nodes.front.links.streams).toBe(0);
  });
});

describe('a stream', () => {
  const changes = `/v1/data/${PUBLIC_ID}/changes`;

  async function streaming() {
    const sinks: ReplySink[] = [];
    const state = { closed: 0 };
    const stream = {
      endless: true,
      start: (sink: ReplySink) => {
        sinks.push(sink);
        // The head leaves with the first bytes.
        sink.write('hello');
        sink.onClose(() => {
          state.closed += 1;
        });
      },
    };
    const handlers = { 'data.changes': () => ({ reply: 'stream', body: '', stream, type: 'text/event-stream' }) };
    const nodes = await frontAndOwner({ handlers });
    const answer = await fetch(nodes.front.fake.url(changes), { headers: { accept: 'text/event-stream' } });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('hello');
    return { nodes, answer, reader, sink: sinks[0] as ReplySink, state };
  }

  test('passes each piece on as it comes', async () => {
    const { answer, reader, sink } = await streaming();
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    for (const piece of ['first', 'second']) {
      sink.write(piece);
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(piece);
    }
    sink.end();
    expect((await reader.read()).done).toBe(true);
  });

  test('ends at the owner when its reader leaves', async () => {
    const { reader, nodes, state } = await streaming();
    await reader.cancel();
    await expect.poll(() => state.closed).toBe(1);
    await expect.poll(() => [nodes.front.links.streams, nodes.owner.door.streams]).toEqual([0, 0]);
  });

  test('breaks for its reader when the owner is lost', async () => {
    const { reader, nodes } = await streaming();
    nodes.owner.door.close();
    await expect(reader.read()).rejects.toThrow();
  });
});

describe('the owner', () => {
  const moved = () => {
    throw new Failure('OWNER_MOVED', { retryAfterS: 1 });
  };
  const put = { method: 'PUT', headers: json, body: '{"n":1}' };
  const path = `/v1/data/${PRIVATE_ID}/json/key`;

  test('has moved: the call goes to the new one, with its body', async () => {
    const bodies: unknown[] = [];
    const [first, second] = [
      await startNode({ handlers: { 'json.put': moved } }),
      await startNode({ handlers: { 'json.put': ({ body }) => ({ reply: 'ok', body: bodies.push(body) }) } }),
    ];
    const front = await startNode();
    front.owners = [first, second];
    expect((await fetch(front.fake.url(path), put)).status).toBe(200);
    expect([bodies, front.forgotten]).toEqual([[{ n: 1 }], 1]);
  });

  test('has moved here: the call is answered here, with its body', async () => {
    const bodies: unknown[] = [];
    const first = await startNode({ handlers: { 'json.put': moved } });
    const front = await startNode({ handlers: { 'json.put': ({ body }) => ({ reply: 'ok', body: bodies.push(body) }) } });
    front.owners = [first, 'here'];
    expect((await fetch(front.fake.url(path), put)).status).toBe(200);
    expect(bodies).toEqual([{ n: 1 }]);
  });

  test('has moved twice: the caller is told to come back', async () => {
    const nodes = await frontAndOwner({ handlers: { 'json.put': moved } });
    const told = await failure(fetch(nodes.front.fake.url(path), put));
    expect([told.status, told.code, told.headers.get('retry-after')]).toEqual([503, 'OWNER_MOVED', '1']);
    expect(nodes.owner.fake.handled).toEqual(['json.put', 'json.put']);
  });

  test('has moved before the call comes to it: nothing of the call happens there', async () => {
    const nodes = await frontAndOwner();
    nodes.owner.owns = false;
    expect(await failure(fetch(nodes.front.fake.url(path), put))).toMatchObject({ status: 503, code: 'OWNER_MOVED' });
    expect([nodes.owner.fake.handled, nodes.owner.fake.limit.spent]).toEqual([[], 0]);
  });

  test('C9 never forwards what was forwarded to it', async () => {
    const nodes = await frontAndOwner();
    nodes.owner.owners = [nodes.front];
    expect((await fetch(nodes.front.fake.url(KEY))).status).toBe(200);
    expect([nodes.front.fake.handled, nodes.owner.fake.handled]).toEqual([[], ['json.get']]);
  });

  test('cannot be reached: a call that did not get there is told to come back', async () => {
    const nodes = await frontAndOwner();
    nodes.owner.door.close();
    expect(await failure(fetch(nodes.front.fake.url(path), put))).toMatchObject({ status: 503, code: 'OWNER_MOVED' });
  });

  test('is lost during a write: its outcome is not known, and it is not repeated', async () => {
    let calls = 0;
    const nodes = await frontAndOwner({
      handlers: {
        'json.put': () => {
          calls += 1;
          nodes.owner.door.close();
          return new Promise(() => undefined);
        },
      },
    });
    expect(await failure(fetch(nodes.front.fake.url(path), put))).toMatchObject({ status: 503, code: 'UNAVAILABLE' });
    expect(calls).toBe(1);
  });
});
