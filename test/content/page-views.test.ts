/** Which requests for a page count as a view of it. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PreviewLinkId } from '../../protocol/core/ids.ts';
import { type AskOptions, cookieOf, Stage } from './content-stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
  await stage.site('viewed', { 'index.html': 'page', 'docs/index.html': 'docs', 'style.css': 'a{}', '404.html': 'lost' });
  await stage.site('application', { 'index.html': 'start', '200.html': 'app' });
});
afterAll(() => stage.close());

const NAVIGATION = { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*' };

/** How many views these requests count. */
async function counted(slug: string, target: string, options: AskOptions = {}): Promise<number> {
  const before = stage.viewed.length;
  await stage.ask(slug, target, options);
  return stage.viewed.length - before;
}

describe('[VIEW] a view', () => {
  it('[VIEW1] is an HTML page that somebody opens, whichever of the live version', async () => {
    expect(await counted('viewed', '/', { headers: NAVIGATION, address: '192.0.2.7' })).toBe(1);
    expect(stage.viewed.at(-1)).toMatchObject({ address: '192.0.2.7' });
    expect(await counted('viewed', '/docs/', { headers: NAVIGATION })).toBe(1);
    expect(await counted('application', '/deep/link', { headers: NAVIGATION })).toBe(1);
    // Browsers without fetch metadata.
    expect(await counted('viewed', '/', { headers: { accept: 'text/html,*/*' } })).toBe(1);
    const elsewhere = { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' };
    expect(await counted('viewed', '/', { headers: elsewhere })).toBe(1);
  });

  it('[VIEW2] is also a page that the browser has kept and revalidates', async () => {
    const { header } = await stage.ask('viewed', '/', { headers: NAVIGATION });
    const headers = { ...NAVIGATION, 'if-none-match': header('etag') ?? '' };
    expect((await stage.ask('viewed', '/', { headers })).status).toBe(304);
    expect(await counted('viewed', '/', { headers })).toBe(1);
  });

  it.each([
    ['HEAD', '/', { method: 'HEAD', headers: NAVIGATION }],
    ['a style sheet', '/style.css', { headers: { 'sec-fetch-dest': 'style' } }],
    ['a style sheet that somebody opens', '/style.css', { headers: NAVIGATION }],
    ['a prefetch', '/', { headers: { ...NAVIGATION, 'sec-purpose': 'prefetch' } }],
    ['a prerendered page', '/', { headers: { ...NAVIGATION, 'sec-purpose': 'prefetch;prerender' } }],
    ['a prefetch of an older browser', '/', { headers: { ...NAVIGATION, purpose: 'prefetch' } }],
    ['what a script reads', '/', { headers: { 'sec-fetch-dest': 'empty', accept: '*/*' } }],
    ['a program that takes anything', '/', { headers: { accept: '*/*' } }],
    ['a page within the page', '/docs/', { headers: { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'same-origin' } }],
    ['a part of a page', '/', { headers: { ...NAVIGATION, range: 'bytes=0-1' } }],
    ['a page that is not there', '/none', { headers: NAVIGATION }],
    ['a redirect', '/docs', { headers: NAVIGATION }],
    ['the page SDK', '/sdk.js', { headers: NAVIGATION }],
  ])('[VIEW3] is not %s', async (_what, target, options) => {
    expect(await counted('viewed', target, options)).toBe(0);
  });

  it('[VIEW4] is not a preview of a version, not even of the live one', async () => {
    const { id, versionId } = await stage.site('previewed', { 'index.html': 'live' });
    const link = 'lnk_w5tz4ndh6b2crpyfk3vq7m2x' as PreviewLinkId;
    await stage.database.sql`
      insert into preview_link (id, artifact_id, version_id, secret_sha256, expires_at_ms, created_at_ms)
      values (${link}, ${id}, ${versionId}, ${createHash('sha256').update('secret').digest()}, ${stage.clock.nowMs() + 60_000}, 0)`;
    const entered = await stage.ask('previewed', '/?_preview=secret', { headers: NAVIGATION });
    const headers = { ...NAVIGATION, cookie: cookieOf(entered) };
    expect((await stage.ask('previewed', '/', { headers })).text).toBe('live');
    expect(await counted('previewed', '/', { headers })).toBe(0);
    expect(await counted('previewed', '/', { headers: NAVIGATION })).toBe(1);
  });

  it('[VIEW7] is not what the service draws for its own picture of the page', async () => {
    const { id, versionId } = await stage.site('pictured', { 'index.html': 'live' });
    const before = stage.viewed.length;
    const drawn = await stage.content.pictured(
      { slug: 'pictured', artifactId: id, versionId },
      { path: '/', query: '', accept: 'text/html' },
    );
    expect([drawn.status, String(drawn.body)]).toEqual([200, 'live']);
    expect(stage.viewed.length).toBe(before);
  });

  it('[VIEW5] is not a page that the visitor may not see', async () => {
    await stage.site('hidden', { 'index.html': 'secret' }, { visibility: 'private' });
    await stage.site('locked', { 'index.html': 'secret' }, { visibility: 'password', passwordHash: 'x' });
    for (const slug of ['hidden', 'locked', 'never-was']) expect(await counted(slug, '/', { headers: NAVIGATION })).toBe(0);
  });

  it('[VIEW6] makes nobody wait: the answer of a page in memory is no promise', async () => {
    await stage.ask('viewed', '/', { headers: NAVIGATION });
    const before = stage.viewed.length;
    expect((await stage.ask('viewed', '/', { headers: NAVIGATION })).reply).not.toBeInstanceOf(Promise);
    expect(stage.viewed.length).toBe(before + 1);
  });
});
