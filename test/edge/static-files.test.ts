/** Files of the edge itself are sent compressed, and as 304 to clients that have them. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type WireAnswer, wire } from '../support/page-requests.ts';
import { type FakeEdge, startFakeEdge } from './fake-edge.ts';

let fake: FakeEdge;
beforeAll(async () => {
  fake = await startFakeEdge();
});
afterAll(() => fake.close());

const COMPRESSED = ['/v1/openapi.json', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/docs/easel.css'];

function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<WireAnswer> {
  return wire(fake.port, `127.0.0.1:${fake.port}`, path, { method, headers });
}

describe.each(COMPRESSED)('%s', (path) => {
  test.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['br;q=0.5, gzip;q=0.9', 'gzip', gunzipSync],
  ])('to whoever takes %s as %s', async (accepted, encoding, decompress) => {
    const whole = await ask(path);
    const compressed = await ask(path, { 'accept-encoding': accepted });
    expect([compressed.status, compressed.headers['content-encoding']]).toEqual([200, encoding]);
    expect(compressed.headers['content-type']).toBe(whole.headers['content-type']);
    expect(Number(compressed.headers['content-length'])).toBe(compressed.body.length);
    expect(compressed.body.length).toBeLessThan(whole.body.length * 0.6);
    expect(decompress(compressed.body).equals(whole.body)).toBe(true);
    const head = await ask(path, { 'accept-encoding': accepted }, 'HEAD');
    expect([head.headers.etag, head.headers['content-length']]).toEqual([compressed.headers.etag, compressed.headers['content-length']]);
  });

  test.each(['', 'identity', 'br;q=0, gzip;q=0', 'zstd'])('is sent unencoded for Accept-Encoding "%s"', async (accepted) => {
    const answer = await ask(path, accepted === '' ? {} : { 'accept-encoding': accepted });
    expect([answer.status, answer.headers['content-encoding'], answer.headers.vary]).toEqual([200, undefined, 'Accept-Encoding']);
  });

  test('each form has a strong ETag of its own, and a client that has it gets 304', async () => {
    const etags = new Set<unknown>();
    for (const accepted of ['br', 'gzip', 'identity']) {
      const headers = { 'accept-encoding': accepted };
      const { etag, vary } = (await ask(path, headers)).headers;
      expect([etag, vary]).toEqual([expect.stringMatching(/^"[\w-]+"$/), 'Accept-Encoding']);
      etags.add(etag);
      const again = await ask(path, { ...headers, 'if-none-match': String(etag) });
      expect([again.status, again.body.length, again.headers.etag, again.headers.vary]).toEqual([304, 0, etag, 'Accept-Encoding']);
      expect(again.headers['content-encoding']).toBeUndefined();
    }
    expect(etags.size).toBe(3);
  });

  test('is made once for concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(path, { 'accept-encoding': 'br' })));
    expect(new Set(answers.map(({ body }) => body.toString('base64'))).size).toBe(1);
  });
});

test('what is compressed already goes as it is', async () => {
  const { status, headers } = await ask('/docs/favicon-32x32.png', { 'accept-encoding': 'br, gzip' });
  expect([status, headers['content-encoding'], headers.vary]).toEqual([200, undefined, undefined]);
});
