import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from './content-stage.ts';

const PROSE = '<!doctype html><title>t</title><p>All happy families are alike; every unhappy family is unhappy in its own way.</p>'.repeat(
  40,
);
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(() => stage.close());

describe('[TYPE] media types', () => {
  it.each([
    ['page.html', { mime: 'text/html', bytes: 'é' }, 'text/html; charset=utf-8'],
    ['page2.html', { mime: 'text/html; charset=utf-8', bytes: 'é' }, 'text/html; charset=utf-8'],
    ['old.html', { mime: 'text/html; charset=utf-8', bytes: Buffer.from([0xe9]) }, 'text/html'],
    ['said.txt', { mime: 'text/plain; charset=iso-8859-1', bytes: 'a' }, 'text/plain; charset=iso-8859-1'],
    ['data.json', { mime: 'application/json', bytes: '{}' }, 'application/json; charset=utf-8'],
    ['pic.svg', { mime: 'image/svg+xml', bytes: '<svg/>' }, 'image/svg+xml; charset=utf-8'],
    ['pic.png', { mime: 'image/png', bytes: 'png' }, 'image/png'],
  ])('%s', async (path, file, type) => {
    const slug = path.replace('.', '-');
    await stage.site(slug, { [path]: file }, { entrypoint: path });
    const answer = await stage.ask(slug, `/${path}`);
    expect([answer.header('content-type'), answer.header('x-content-type-options')]).toEqual([type, 'nosniff']);
  });
});

describe('[COND] conditional requests', () => {
  it('[COND1] an ETag of any form answers 304; another does not', async () => {
    await stage.site('etags', { 'index.html': PROSE });
    await stage.ask('etags', '/');
    await stage.content.encodingsIdle();
    const tags = new Set<string>();
    for (const encoding of ['', 'gzip', 'br']) {
      const full = await stage.ask('etags', '/', { headers: { 'accept-encoding': encoding } });
      const etag = full.header('etag') ?? '';
      tags.add(etag);
      for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await stage.ask('etags', '/', { headers: { 'accept-encoding': encoding, 'if-none-match': sent } });
        expect([again.status, again.body.length, again.header('cache-control')]).toEqual([304, 0, full.header('cache-control')]);
      }
    }
    expect(tags.size).toBe(3);
    expect((await stage.ask('etags', '/', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    expect((await stage.ask('etags', '/', { headers: { 'if-none-match': `"x${[...tags][0]?.slice(1)}` } })).status).toBe(200);
  });

  it('[COND2] the ETag changes with the bytes and with the media type alone', async () => {
    const { id } = await stage.site('retype', { 'index.html': 'same' });
    const first = (await stage.ask('retype', '/')).header('etag');
    const versionId = await stage.version(id, 'retype', { 'index.html': { mime: 'text/plain', bytes: 'same' } });
    await stage.change(id, 'retype', { live_version_id: versionId });
    const second = await stage.ask('retype', '/', { headers: { 'if-none-match': first ?? '' } });
    expect([second.status, second.header('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  });

  it('[COND3] HEAD answers what GET would', async () => {
    const get = await stage.ask('etags', '/');
    const head = await stage.ask('etags', '/', { method: 'HEAD' });
    expect([head.status, head.header('etag'), head.body.length]).toEqual([200, get.header('etag'), get.body.length]);
  });
});

describe('[RANGE] parts', () => {
  beforeAll(async () => {
    await stage.site('parts', { 'index.html': 'x', 'a.txt': LETTERS, 'empty.txt': '' });
  });

  it.each([
    ['bytes=0-4', 'abcde', 'bytes 0-4/26'],
    ['bytes=20-', 'uvwxyz', 'bytes 20-25/26'],
    ['bytes=-3', 'xyz', 'bytes 23-25/26'],
    ['bytes=-99', LETTERS, 'bytes 0-25/26'],
    ['bytes=25-999', 'z', 'bytes 25-25/26'],
  ])('%s is 206', async (range, text, contentRange) => {
    const answer = await stage.ask('parts', '/a.txt', { headers: { range, 'accept-encoding': 'br' } });
    expect([answer.status, answer.text, answer.header('content-range')]).toEqual([206, text, contentRange]);
    expect(answer.header('content-encoding')).toBeUndefined();
  });

  it.each(['bytes=26-', 'bytes=5-2', 'bytes=-0'])('%s is 416 with the size', async (range) => {
    const answer = await stage.ask('parts', '/a.txt', { headers: { range } });
    expect([answer.status, answer.header('content-range'), answer.body.length]).toEqual([416, 'bytes */26', 0]);
  });

  it.each(['bytes=0-1,4-5', 'lines=1-2', 'bytes', 'bytes=a-b', 'nonsense'])('%s is answered with the whole', async (range) => {
    const answer = await stage.ask('parts', '/a.txt', { headers: { range } });
    expect([answer.status, answer.text]).toEqual([200, LETTERS]);
  });

  it('an empty file has no part', async () => {
    expect((await stage.ask('parts', '/empty.txt', { headers: { range: 'bytes=0-' } })).status).toBe(416);
    expect((await stage.ask('parts', '/empty.txt')).status).toBe(200);
  });

  it('If-Range gives the part only while the file is the same', async () => {
    const etag = (await stage.ask('parts', '/a.txt')).header('etag') ?? '';
    const ask = (ifRange: string) => stage.ask('parts', '/a.txt', { headers: { range: 'bytes=0-0', 'if-range': ifRange } });
    expect((await ask(etag)).status).toBe(206);
    expect((await ask('"other"')).status).toBe(200);
    expect((await ask(`W/${etag}`)).status).toBe(200);
    expect((await ask('Wed, 21 Oct 2026 07:28:00 GMT')).status).toBe(200);
  });
});

describe('[ENC] precompressed forms', () => {
  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['identity', undefined],
    ['identity;q=1, br;q=0.2', undefined],
    ['deflate', undefined],
    ['', undefined],
    ['gzip;q=0', undefined],
  ])('Accept-Encoding "%s" gets %s', async (accepted, encoding) => {
    const slug = `enc${Buffer.from(accepted).toString('hex').slice(0, 50)}`.padEnd(4, '0');
    const page = `${PROSE}${slug}`;
    await stage.site(slug, { 'index.html': page });
    const first = await stage.ask(slug, '/', { headers: { 'accept-encoding': accepted } });
    expect(first.text).toBe(page);
    await stage.content.encodingsIdle();
    const answer = await stage.ask(slug, '/', { headers: { 'accept-encoding': accepted } });
    expect([answer.status, answer.header('content-encoding'), answer.header('vary')]).toEqual([200, encoding, 'Accept-Encoding']);
    const decoded = encoding === 'br' ? brotliDecompressSync(answer.body) : encoding === 'gzip' ? gunzipSync(answer.body) : answer.body;
    expect(decoded.toString()).toBe(page);
    if (encoding) expect(answer.body.length).toBeLessThan(PROSE.length / 5);
  });

  it('are found again after a restart, without another compression', async () => {
    await stage.site('kept', { 'index.html': `${PROSE}kept` });
    await stage.ask('kept', '/');
    await stage.content.encodingsIdle();
    const answer = await stage.ask('kept', '/', { headers: { 'accept-encoding': 'br' } }, stage.restarted());
    expect(answer.header('content-encoding')).toBe('br');
  });

  it('are left out where they would not save a tenth, and that is remembered', async () => {
    await stage.site('noise', { 'index.html': 'x', 'noise.txt': randomBytes(5000) });
    await stage.ask('noise', '/noise.txt');
    await stage.content.encodingsIdle();
    const answer = await stage.ask('noise', '/noise.txt', { headers: { 'accept-encoding': 'br, gzip' } });
    expect(answer.header('content-encoding')).toBeUndefined();
    const rows = await stage.database.sql`
      select e.encoding from object_encoding e join version_file f using (sha256)
      where f.path = 'noise.txt' and e.encoded_sha256 is null order by 1`;
    expect(rows.map((row) => row.encoding)).toEqual(['br', 'gzip']);
  });

  it('a form that has vanished from the store is no loss: the file goes out as it is', async () => {
    await stage.site('vanished', { 'index.html': `${PROSE}vanished` });
    await stage.ask('vanished', '/');
    await stage.content.encodingsIdle();
    const [row] = await stage.database.sql<{ encoded: string }[]>`
      select encode(e.encoded_sha256, 'hex') as encoded from object_encoding e join version_file f using (sha256)
      join artifact a on a.live_version_id = f.version_id where a.slug = 'vanished' and e.encoding = 'br'`;
    await stage.objects.delete(row?.encoded ?? '');
    const restarted = stage.restarted();
    const answer = await stage.ask('vanished', '/', { headers: { 'accept-encoding': 'br' } }, restarted);
    expect([answer.status, answer.text]).toEqual([200, `${PROSE}vanished`]);
    await stage.ask('vanished', '/', {}, restarted);
    await restarted.encodingsIdle();
    expect((await stage.ask('vanished', '/', { headers: { 'accept-encoding': 'br' } }, restarted)).header('content-encoding')).toBe('br');
  });
});

describe('[CACHE] how long a reply may be kept', () => {
  it('an address with the digest for ever, every other until the next look', async () => {
    await stage.site('cache', { 'index.html': 'x', 'app.js': 'let a' });
    const [row] = await stage.database.sql<{ sha256: string }[]>`
      select encode(sha256, 'hex') as sha256 from version_file where path = 'app.js'`;
    const sha256 = row?.sha256 ?? '';
    const cacheOf = async (target: string) => (await stage.ask('cache', target)).header('cache-control');
    expect(await cacheOf('/app.js')).toBe('public, max-age=0, must-revalidate');
    expect(await cacheOf('/')).toBe('public, max-age=0, must-revalidate');
    expect(await cacheOf(`/app.js?v=${sha256.slice(0, 8)}`)).toBe('public, max-age=31536000, immutable');
    expect(await cacheOf(`/app.js?v=${sha256}`)).toBe('public, max-age=31536000, immutable');
    expect(await cacheOf(`/app.js?v=${sha256.slice(0, 7)}`)).toBe('public, max-age=0, must-revalidate');
    expect(await cacheOf('/app.js?v=12345678')).toBe('public, max-age=0, must-revalidate');
    await stage.site('hashed', { 'index.html': 'x', [`app.${sha256.slice(0, 10)}.js`]: 'let a', 'app.1234567890.js': 'let a' });
    expect((await stage.ask('hashed', `/app.${sha256.slice(0, 10)}.js`)).header('cache-control')).toContain('immutable');
    expect((await stage.ask('hashed', '/app.1234567890.js')).header('cache-control')).not.toContain('immutable');
  });
});

describe('[SIZE] the limits of a version', () => {
  it('1000 files are served, each its own', async () => {
    const files = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`f/${n}.txt`, `file ${n}`]));
    await stage.site('thousand', files, { entrypoint: 'f/0.txt' });
    for (const n of [0, 1, 499, 998, 999]) expect((await stage.ask('thousand', `/f/${n}.txt`)).text).toBe(`file ${n}`);
    expect((await stage.ask('thousand', '/f/1000.txt')).status).toBe(404);
  });

  it('a file of 25 MB is served whole and in parts', async () => {
    const bytes = randomBytes(25 * 1024 * 1024);
    await stage.site('large', { 'index.html': 'x', 'film.mp4': { mime: 'video/mp4', bytes } });
    const whole = await stage.ask('large', '/film.mp4', { headers: { 'accept-encoding': 'br' } });
    expect(whole.body.equals(bytes)).toBe(true);
    const part = await stage.ask('large', '/film.mp4', { headers: { range: 'bytes=20000000-20000999' } });
    expect([part.status, part.body.equals(bytes.subarray(20_000_000, 20_001_000))]).toEqual([206, true]);
  });
});

describe('[FAST] a cached file', () => {
  it('is answered without a promise, with headers that are made once', async () => {
    await stage.site('warm', { 'index.html': PROSE });
    await stage.ask('warm', '/');
    await stage.content.encodingsIdle();
    const options = { headers: { 'accept-encoding': 'br' } };
    await stage.ask('warm', '/', options);
    const [one, two] = [(await stage.ask('warm', '/', options)).reply, (await stage.ask('warm', '/', options)).reply];
    if (one instanceof Promise || two instanceof Promise) throw new Error('a warm file was answered with a promise');
    expect(one.headers).toBe(two.headers);
    expect(one.body).toBe(two.body);
  });
});
