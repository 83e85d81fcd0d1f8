/** Streamed request bodies: their memory, and what happens to unread ones. */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BodyStream } from '../../protocol/core/endpoint.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { IncomingBody } from '../../src/edge/body-stream.ts';
import { pngOf, send } from '../features/data/blobs/sample-files.ts';
import { sha256 } from '../support/requests.ts';
import { type FakeEdge, PUBLIC_ID, startFakeEdge } from './fake-edge.ts';

const PATH = `/v1/data/${PUBLIC_ID}/blobs/_upload/upl_${'a'.repeat(24)}`;
const REFUSED = PATH.replace(/a{24}$/, 'b'.repeat(24));

/** What one read of uWebSockets delivers at most. */
const READ_BYTES = 512 * 1024;

let fake: FakeEdge;
let letGo: () => void = () => undefined;
const gate = new Promise<void>((resolve) => {
  letGo = resolve;
});

beforeAll(async () => {
  fake = await startFakeEdge({
    handlers: {
      'blobs.put': async ({ params, body }) => {
        if (params.tokenId !== `upl_${'a'.repeat(24)}`) throw new Failure('UPLOAD_TOKEN_INVALID');
        await gate;
        const hash = createHash('sha256');
        for await (const chunk of body as BodyStream) {
          hash.update(chunk);
          await new Promise((resolve) => setImmediate(resolve));
        }
        return { reply: 'created', body: { success: true, data: hash.digest('hex') } };
      },
    },
  });
});
afterAll(() => fake.close());

async function bytesInFlight(): Promise<number> {
  const text = await (await fetch(fake.url('/metrics'))).text();
  return Number(/^easel_body_bytes_in_flight (\S+)$/m.exec(text)?.[1]);
}

test('backpressure stops the sender, and all bytes arrive in order', async () => {
  const bytes = pngOf(40_000_001);
  const socket = connect(fake.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  socket.write(`PUT ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes.length}\r\n\r\n`);
  socket.write(bytes);
  await expect.poll(bytesInFlight).toBe(2 * 1024 * 1024);
  // More than the two buffers and the kernel's take, so that only backpressure can hold it.
  await expect.poll(() => socket.bytesWritten - socket.writableLength).toBeGreaterThan(0);
  expect(socket.writableLength).toBeGreaterThan(10_000_000);
  letGo();
  await expect.poll(() => answer).toContain(sha256(bytes));
  expect(await bytesInFlight()).toBe(0);

  // The next request on the connection works.
  answer = '';
  socket.write('GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => answer).toContain('NOT_FOUND');
  socket.destroy();
});

test('an unread body is discarded, and the connection stays usable', async () => {
  const bytes = pngOf(5_000_000);
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => send(fake.url(REFUSED), 'PUT', { 'content-length': bytes.length }, [bytes])),
  );
  expect(replies.map((reply) => reply.status)).toEqual([400, 400, 400, 400, 400]);
  await expect.poll(bytesInFlight).toBe(0);
});

test('an empty body is a stream without chunks', async () => {
  const reply = await send(fake.url(PATH), 'PUT', { 'content-length': 0 });
  expect([reply.status, JSON.parse(reply.body.toString()).data]).toEqual([201, sha256('')]);
});

test('reads that come although the sender is paused are kept, in order, and counted', async () => {
  const lengthBytes = 6 * READ_BYTES;
  let deliver: (chunk: ArrayBuffer) => void = () => undefined;
  const states: string[] = [];
  const held = { bytes: 0, mostBytes: 0 };
  const body = new IncomingBody(
    {
      headers: { contentLength: lengthBytes },
      receive: (onChunk) => {
        deliver = (chunk) => onChunk(chunk, false);
      },
      pauseBody: () => states.push('paused'),
      resumeBody: () => states.push('resumed'),
    },
    {
      arrived(_bytes, overflowBytes) {
        held.bytes += overflowBytes;
        held.mostBytes = Math.max(held.mostBytes, held.bytes);
        return true;
      },
      consumed(overflowBytes) {
        held.bytes -= overflowBytes;
      },
    },
  );
  const sent = Buffer.from(pngOf(lengthBytes));
  // The newer binaries read until the kernel has nothing more, and lend the same memory each time.
  const lent = new Uint8Array(READ_BYTES);
  for (let at = 0; at < lengthBytes; at += READ_BYTES) {
    lent.set(sent.subarray(at, at + READ_BYTES));
    deliver(lent.buffer);
  }
  expect(states.at(-1)).toBe('paused');
  expect(held.mostBytes).toBe(4 * READ_BYTES);
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  expect(hash.digest('hex')).toBe(sha256(sent));
  expect([states.at(-1), held.bytes]).toEqual(['resumed', 0]);
});
