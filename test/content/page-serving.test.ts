/** Pages over HTTP: published through the API, read from their own origin. */
import { randomBytes } from 'node:crypto';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Client } from '../../src/clients/sdk/client.ts';
import { databaseKinds } from '../support/database.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type WireOptions, wire } from '../support/page-requests.ts';
import { clientOf, type Publication, publishSite } from '../support/publishing.ts';

const PAGE = `<!doctype html><html><head><title>Page</title></head><body>${'<p>A line of prose.</p>'.repeat(100)}</body></html>`;

describe.each(databaseKinds())('[HTTP] pages on %s', (database) => {
  let easel: TestEasel;
  let client: Client;
  const get = (slug: string, path: string, options?: WireOptions) => wire(easel.port, new URL(easel.contentUrl(slug)).host, path, options);
  const idOf = (publication: Publication) => ({ id: publication.artifactId as never });
  const publish = (slug: string, files: Readonly<Record<string, string | Buffer>>, target: Parameters<typeof publishSite>[2] = {}) =>
    publishSite(client, new Map(Object.entries(files).map(([path, bytes]) => [path, Buffer.from(bytes)])), {
      slug,
      visibility: 'public',
      ...target,
    });

  beforeAll(async () => {
    easel = await startTestEasel({ database });
    client = clientOf(easel, (await easel.newUser('pro')).token);
    await publish('page', { 'index.html': PAGE, 'docs/index.html': 'docs', 'a.bin': randomBytes(1000), '404.html': 'lost' });
  });
  afterAll(() => easel?.close());

  it('[HTTP1] a page with its headers, HEAD with its length, 304 without a body', async () => {
    const page = await get('page', '/');
    expect([page.status, page.body.toString()]).toEqual([200, PAGE]);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(PAGE.length),
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=0, must-revalidate',
      'accept-ranges': 'bytes',
      vary: 'Accept-Encoding',
      'x-request-id': expect.stringMatching(/./),
    });
    expect(page.headers['set-cookie']).toBeUndefined();
    const head = await get('page', '/', { method: 'HEAD' });
    expect([head.status, head.body.length, head.headers['content-length'], head.headers.etag]).toEqual([
      200,
      0,
      String(PAGE.length),
      page.headers.etag,
    ]);
    const known = await get('page', '/', { headers: { 'if-none-match': String(page.headers.etag) } });
    expect([known.status, known.body.length, known.headers.etag]).toEqual([304, 0, page.headers.etag]);
  });

  it('[HTTP2] Brotli once it is ready, of the same page', async () => {
    const answer = await vi.waitFor(async () => {
      const compressed = await get('page', '/', { headers: { 'accept-encoding': 'gzip, br' } });
      expect(compressed.headers['content-encoding']).toBe('br');
      return compressed;
    }, 60_000);
    expect(brotliDecompressSync(answer.body).toString()).toBe(PAGE);
    expect(Number(answer.headers['content-length'])).toBe(answer.body.length);
  });

  it('[HTTP3] parts: 206, 416, and the whole for several', async () => {
    const whole = (await get('page', '/a.bin')).body;
    const part = await get('page', '/a.bin', { headers: { range: 'bytes=100-199' } });
    expect([part.status, part.headers['content-range'], part.headers['content-length']]).toEqual([206, 'bytes 100-199/1000', '100']);
    expect(part.body.equals(whole.subarray(100, 200))).toBe(true);
    const none = await get('page', '/a.bin', { headers: { range: 'bytes=1000-' } });
    expect([none.status, none.headers['content-range']]).toEqual([416, 'bytes */1000']);
    expect((await get('page', '/a.bin', { headers: { range: 'bytes=0-1,5-6' } })).status).toBe(200);
  });

  it.each([
    '/../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/docs/..%2f..%2findex.html',
    '/%252e%252e/index.html',
    '/..%5cindex.html',
    '/index.html%00.png',
    '/%c0%ae%c0%ae/x',
  ])('[HTTP4] %s does not leave the site', async (path) => {
    const answer = await get('page', path);
    expect(answer.status).toBe(400);
    expect(answer.body.toString()).toContain('This address is not valid');
  });

  it('[HTTP5] folders, missing files, methods and unknown hosts', async () => {
    const folder = await get('page', '/docs?x=1');
    expect([folder.status, folder.headers.location, folder.headers['content-length']]).toEqual([308, '/docs/?x=1', '0']);
    const miss = await get('page', '/none');
    expect([miss.status, miss.body.toString()]).toEqual([404, 'lost']);
    const post = await get('page', '/', { method: 'POST', body: 'a=b' });
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD']);
    for (const host of ['PAGE', 'nobody-here', 'a.b.page']) {
      expect([host, (await get(host, '/')).status]).toEqual([host, host === 'PAGE' ? 200 : 404]);
    }
  });

  it('[HTTP6] odd names, published and found', async () => {
    const names = [
      'Za\u0308hler.txt',
      '\u{1f600}/smile \u{1f680}.txt',
      '\u05e9\u05dc\u05d5\u05dd.txt',
      '100%.txt',
      'a#b?c.txt',
      '.hidden',
      'b&c=d;e,f+g.txt',
    ];
    await publish('odd-names', Object.fromEntries([['index.html', 'x'], ...names.map((name) => [name, `this is ${name}`])]));
    for (const name of names) {
      for (const form of ['NFC', 'NFD']) {
        const path = `/${name.normalize(form).split('/').map(encodeURIComponent).join('/')}`;
        const answer = await get('odd-names', path);
        expect([path, answer.status, answer.body.toString()]).toEqual([path, 200, `this is ${name}`]);
      }
    }
  });

  it('[HTTP7] a file of 25 MB arrives whole and in parts', async () => {
    const film = randomBytes(25 * 1024 * 1024);
    await publish('film', { 'index.html': 'x', 'film.mp4': film });
    const whole = await get('film', '/film.mp4');
    expect([whole.status, whole.headers['content-type'], whole.body.equals(film)]).toEqual([200, 'video/mp4', true]);
    const part = await get('film', '/film.mp4', { headers: { range: 'bytes=-1048576' } });
    expect([part.status, part.body.equals(film.subarray(-1048576))]).toEqual([206, true]);
  });

  it('[HTTP8] a site of 1000 files', async () => {
    const files = Object.fromEntries(Array.from({ length: 999 }, (_, n) => [`f/${n}.txt`, `file ${n % 10}`]));
    await publish('thousand', { 'index.html': 'x', ...files });
    for (const n of [0, 7, 998]) expect((await get('thousand', `/f/${n}.txt`)).body.toString()).toBe(`file ${n % 10}`);
  });

  it('[HTTP9] visibility, slug and trash take effect with the answer to the change', async () => {
    const site = await publish('moving', { 'index.html': 'here' });
    const status = async (slug = 'moving') => (await get(slug, '/')).status;
    expect(await status()).toBe(200);
    await client.artifacts.update({ params: idOf(site), body: { visibility: 'private' } });
    expect(await status()).toBe(404);
    await client.artifacts.update({ params: idOf(site), body: { visibility: 'public', slug: 'moved-away' } });
    expect([await status(), await status('moved-away')]).toEqual([404, 200]);
    await client.artifacts.delete({ params: idOf(site) });
    expect(await status('moved-away')).toBe(404);
    await client.artifacts.restore({ params: idOf(site) });
    expect(await status('moved-away')).toBe(200);
  });

  it('[HTTP10] a draft by its preview link, until the link is deleted', async () => {
    const site = await publish('drafts', { 'index.html': 'live' }, { visibility: 'private' });
    const draft = await publish('drafts', { 'index.html': 'draft' }, { artifact_id: site.artifactId, draft: true, visibility: 'private' });
    const { body: link } = await client.previewLinks.create({
      params: idOf(site),
      body: { version_id: draft.versionId as never, expires_in: 3600 },
    });
    const url = new URL(link.url);
    expect(url.origin).toBe(easel.contentUrl('drafts'));
    const entered = await get('drafts', `${url.pathname}${url.search}`);
    expect([entered.status, entered.headers.location]).toEqual([302, '/']);
    const cookie = String(entered.headers['set-cookie']).split(';')[0] ?? '';
    const page = await get('drafts', '/', { headers: { cookie } });
    expect([page.status, page.body.toString(), page.headers['cache-control']]).toEqual([200, 'draft', 'private, no-store']);
    await client.previewLinks.delete({ params: { ...idOf(site), link: link.id } });
    expect((await get('drafts', '/', { headers: { cookie } })).status).toBe(404);
  });

  it('[HTTP11] a password page by its form', async () => {
    await publish('guarded', { 'index.html': 'treasure' }, { visibility: 'password', password: 'open sesame' });
    expect((await get('guarded', '/')).status).toBe(401);
    const submit = (password: string) =>
      get('guarded', '/_easel/unlock', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ password, to: '/' }).toString(),
      });
    expect((await submit('wrong one')).status).toBe(401);
    const opened = await submit('open sesame');
    expect([opened.status, opened.headers.location]).toEqual([303, '/']);
    const cookie = String(opened.headers['set-cookie']).split(';')[0] ?? '';
    expect((await get('guarded', '/', { headers: { cookie } })).body.toString()).toBe('treasure');
    const oversize = await get('guarded', '/_easel/unlock', { method: 'POST', body: 'x'.repeat(5000) });
    expect(oversize.status).toBe(413);
  });

  it('[HTTP12] link previews follow the social fields', async () => {
    const site = await publish('carded', { 'index.html': PAGE });
    await client.artifacts.update({ params: idOf(site), body: { social_title: 'A & B' } });
    const page = (await get('carded', '/')).body.toString();
    expect(page).toContain('<meta property="og:title" content="A &#38; B">');
    expect(page).toContain(`<meta property="og:url" content="${easel.contentUrl('carded')}/">`);
    expect(page.replace(/<meta [^>]*>/g, '')).toBe(PAGE);
  });
});
