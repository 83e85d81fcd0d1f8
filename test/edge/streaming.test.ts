/** Streamed answers over a real socket: complete, with backpressure, aborted where they fail, ended by the server where they are endless. */
import { once } from 'node:events';
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReplySink, type ReplyStream, streamOf } from '../../src/edge/reply-stream.ts';
import { type FakeEdge, OWNER_TOKEN, PUBLIC_ID, rawRequest, startFakeEdge } from './fake-edge.ts';

const owner = { authorization: `Bearer ${OWNER_TOKEN}` };
const EXPORT = `/v1/artifacts/${PUBLIC_ID}/export`;
const CHUNK = new Uint8Array(64 * 1024).fill(7);
const CHUNKS = 400;

let fake: FakeEdge;
/** The next answer of the export. */
let next: ReplyStream;
beforeAll(async () => {
  fake = await startFakeEdge({
    handlers: { 'artifacts.export': () => ({ reply: 'ok', body: '', stream: next, type: 'application/octet-stream' }) },
  });
});
afterAll(() => fake.close());

function get(init: RequestInit = {}): Promise<Response> {
  return fetch(fake.url(EXPORT), { ...init, headers: owner });
}

interface Produced {
  chunks: number;
  ended: boolean;
}

async function* produce(produced: Produced, chunks = CHUNKS): AsyncGenerator<Uint8Array> {
  try {
    for (; produced.chunks < chunks; produced.chunks += 1) yield CHUNK;
  } finally {
    produced.ended = true;
  }
}

async function openRequests(): Promise<number> {
  const text = await (await fetch(fake.url('/metrics'))).text();
  return Number(/^easel_requests_open (\S+)$/m.exec(text)?.[1]);
}

/** Sends the request and reads nothing of the answer. */
function stalledReader(): Socket {
  const socket = new Socket();
  socket.connect(fake.port, '127.0.0.1');
  socket.write(`GET ${EXPORT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${OWNER_TOKEN}\r\n\r\n`);
  socket.pause();
  return socket;
}

describe.each([
  ['of unknown length', undefined],
  ['of known length', CHUNK.length * CHUNKS],
])('a stream %s', (_name, lengthBytes) => {
  test('arrives whole', async () => {
    next = streamOf(produce({ chunks: 0, ended: false }), lengthBytes);
    const reply = await get();
    expect(reply.headers.get('content-length')).toBe(lengthBytes === undefined ? null : String(lengthBytes));
    const body = new Uint8Array(await reply.arrayBuffer());
    expect(body.length).toBe(CHUNK.length * CHUNKS);
    expect(body.every((byte) => byte === 7)).toBe(true);
  });

  test.each(['Grüße', 'Größe ☃', 'plain'])('sends the text %s in UTF-8', async (text) => {
    const texts = async function* () {
      yield text;
      yield text;
    };
    next = streamOf(texts(), lengthBytes === undefined ? undefined : 2 * Buffer.byteLength(text));
    expect(await (await get()).text()).toBe(text + text);
  });

  test('is made only as fast as it is read, and goes on when it is', async () => {
    const produced = { chunks: 0, ended: false };
    next = streamOf(produce(produced), lengthBytes);
    const socket = stalledReader();
    await expect.poll(() => produced.chunks).toBeGreaterThan(0);
    // Several turns of the event loop, in which a stream that ignores backpressure would finish.
    for (let trip = 0; trip < 5; trip += 1) await openRequests();
    expect(produced).toMatchObject({ ended: false });
    expect(produced.chunks).toBeLessThan(CHUNKS);
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.resume();
    await expect.poll(() => bytes).toBeGreaterThan(CHUNK.length * CHUNKS);
    expect(produced.ended).toBe(true);
    socket.destroy();
  });

  test('ends its source when the client goes', async () => {
    const produced = { chunks: 0, ended: false };
    next = streamOf(produce(produced), lengthBytes);
    const socket = stalledReader();
    await expect.poll(() => produced.chunks).toBeGreaterThan(0);
    socket.destroy();
    await once(socket, 'close');
    await expect.poll(() => produced.ended).toBe(true);
    await expect.poll(openRequests).toBe(1);
  });

  test('is broken off, not ended, where its source fails', async () => {
    next = streamOf(
      (async function* () {
        yield CHUNK;
        throw new Error('the source is gone');
      })(),
      lengthBytes,
    );
    await expect(get().then((reply) => reply.arrayBuffer())).rejects.toThrow();
    expect(fake.errors.at(-1)).toMatchObject({ operation: 'artifacts.export' });
  });

  test('says its head to HEAD and is not begun', async () => {
    const produced = { chunks: 0, ended: false };
    next = streamOf(produce(produced), lengthBytes);
    const reply = await get({ method: 'HEAD' });
    expect([reply.status, await reply.text(), produced.chunks]).toEqual([200, '', 0]);
    if (lengthBytes !== undefined) expect(reply.headers.get('content-length')).toBe(String(lengthBytes));
  });
});

test('a stream that is shorter than it said is broken off', async () => {
  next = streamOf(produce({ chunks: 0, ended: false }, 2), CHUNK.length * 3);
  await expect(get().then((reply) => reply.arrayBuffer())).rejects.toThrow();
});

test('the connection serves the next request after a stream', async () => {
  next = streamOf(produce({ chunks: 0, ended: false }, 3));
  const one = `GET ${EXPORT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${OWNER_TOKEN}\r\n\r\n`;
  const socket = new Socket();
  socket.connect(fake.port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.write(one);
  await expect.poll(() => text.endsWith('\r\n0\r\n\r\n')).toBe(true);
  text = '';
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => text).toContain('"status":"ok"');
  socket.destroy();
});

test('draining ends what would never end, and waits for what does', async () => {
  let sink: ReplySink | undefined;
  let closed = 0;
  const endless: ReplyStream = {
    endless: true,
    start(opened) {
      sink = opened;
      opened.onClose(() => {
        closed += 1;
      });
      opened.write('event: hello\n\n');
    },
  };
  const own = await startFakeEdge({
    handlers: { 'artifacts.export': () => ({ reply: 'ok', body: '', stream: endless, type: 'text/event-stream' }) },
  });
  const answer = rawRequest(
    own.port,
    `GET ${EXPORT} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${OWNER_TOKEN}\r\n\r\n`,
    '\r\n0\r\n\r\n',
  );
  await expect.poll(() => sink).toBeDefined();
  own.edge.stopListening();
  await own.edge.idle();
  expect((await answer).text).toContain('event: hello');
  expect(closed).toBe(1);
  expect(sink?.write('late')).toBe(false);
  own.close();
});
