/** Streamed request bodies: how much of them is held, and what becomes of those that nobody reads. */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BodyStream } from '../../protocol/endpoint.ts';
import { Failure } from '../../protocol/errors.ts';
import { type FakeEdge, PUBLIC_ID, startFakeEdge } from '../contract/fake-edge.ts';
import { sha256 } from '../services/requests.ts';
import { pngOf, send } from './files.ts';

const PATH = `/v1/data/${PUBLIC_ID}/blobs/_upload/upl_${'a'.repeat(24)}`;
const REFUSED = PATH.replace(/a{24}$/, 'b'.repeat(24));

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

test('a sender waits for whoever reads, and everything arrives in order', async () => {
  const bytes = pngOf(40_000_001);
  const socket = connect(fake.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  socket.write(`PUT ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes.length}\r\n\r\n`);
  socket.write(bytes);
  await expect.poll(bytesInFlight).toBe(2 * 1024 * 1024);
  // More than the two buffers and those of the system would take if it were not held up.
  await expect.poll(() => socket.bytesWritten - socket.writableLength, { timeout: 2000 }).toBeGreaterThan(0);
  expect(socket.writableLength).toBeGreaterThan(10_000_000);
  letGo();
  await expect.poll(() => answer, { timeout: 20_000 }).toContain(sha256(bytes));
  expect(await bytesInFlight()).toBe(0);

  // The connection is in step for the next request.
  answer = '';
  socket.write('GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => answer).toContain('NOT_FOUND');
  socket.destroy();
});

test('a body that nobody reads passes by, and the connection goes on', async () => {
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
