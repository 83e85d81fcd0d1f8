/** The script tag of the comment overlay: the pages that get it, its settings, and when it changes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import { CONTENT_CHARS_MAX, NAME_CHARS_MAX } from '../../src/clients/overlay/composer.ts';
import { CONTEXT_CHARS, QUOTE_CHARS_MAX } from '../../src/clients/overlay/page-text.ts';
import { overlayOf, withOverlay } from '../../src/content/overlay.ts';
import { builtPageSdk } from '../support/database.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { wire } from '../support/page-requests.ts';
import { clientOf, publishSite } from '../support/publishing.ts';
import { Stage } from './content-stage.ts';

const PAGE = { artifactId: 'art_a', versionId: 'ver_a', path: 'a "b".html' } as never;
const OPTIONS = { identity: 'named', replies: true, guests: false } as const;
const SCRIPT =
  '<script src="/_easel/overlay.js" defer data-artifact="art_a" data-version="ver_a" data-page="a &#34;b&#34;.html"' +
  ' data-identity="named" data-replies="true" data-guests="false"></script>';

function withScript(html: string): string {
  return withOverlay(Buffer.from(html), PAGE, OPTIONS).toString();
}

describe('[OVERLAY] where the script goes', () => {
  it.each([
    [
      'before a policy in a meta element, which would refuse it',
      '<!doctype html><head>|<meta http-equiv="Content-Security-Policy" content="script-src \'none\'">',
    ],
    ['after the declared encoding', '<head><meta charset="utf-8">|<title>t</title></head>'],
    ['after the doctype where nothing else is', '<!doctype html>|<p>hello'],
    ['at the beginning of a bare text', '|hello'],
  ])('%s', (_, marked) => {
    expect(withScript(marked.replace('|', ''))).toBe(marked.replace('|', SCRIPT));
  });

  it('is for pages that ask for it: comments and overlay both on', () => {
    expect(overlayOf(null, false)).toBeNull();
    expect(overlayOf({ overlayEnabled: true, enabled: false }, false)).toBeNull();
    expect(overlayOf({ overlayEnabled: true }, false)).toEqual({ identity: 'authenticated', replies: true, guests: false });
    expect(overlayOf({ overlayEnabled: true }, true)?.guests).toBe(true);
    expect(overlayOf({ overlayEnabled: true, guestComments: false }, true)?.guests).toBe(false);
    const open = { overlayEnabled: true, identityMode: 'anonymous', allowReplies: false, guestComments: true } as const;
    expect(overlayOf(open, false)).toEqual({ identity: 'anonymous', replies: false, guests: true });
  });
});

it('[OVERLAY] is small, and its own limits are those of the protocol', () => {
  const script = readFileSync(join(builtPageSdk(), 'overlay.js'));
  expect(gzipSync(script).length).toBeLessThan(20 * 1024);
  expect([QUOTE_CHARS_MAX, CONTENT_CHARS_MAX, NAME_CHARS_MAX]).toEqual([
    LIMITS.commentQuoteCharsMax,
    LIMITS.commentCharsMax,
    LIMITS.commentNameCharsMax,
  ]);
  expect(CONTEXT_CHARS).toBeLessThanOrEqual(LIMITS.commentContextCharsMax);
});

describe('[OVERLAY] as served', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.open();
  });
  afterAll(() => stage.close());

  it('stands in every page of the version and in nothing else, beside the tags of link previews', async () => {
    const page = '<!doctype html><head><title>t</title></head><p>text</p>';
    const files = { 'index.html': page, 'docs/other.html': page, '200.html': page, 'a.js': 'script', 'a.txt': page };
    const { id, versionId } = await stage.site('commented', files, { social: { title: 'Card' } });
    await stage.database.sql`
      insert into comment_config (artifact_id, config, seq, updated_at_ms) values (${id}, ${{ overlayEnabled: true } as never}, 1, 0)`;
    await stage.change(id, 'commented', { name: 'Commented' });
    const entry = await stage.ask('commented', '/');
    expect(entry.text).toContain('og:title');
    expect(entry.text).toContain(`defer data-artifact="${id}" data-version="${versionId}" data-page="index.html"`);
    const other = await stage.ask('commented', '/docs/other');
    expect(other.text).toContain('data-page="docs/other.html"');
    expect(other.text).not.toContain('og:title');
    expect((await stage.ask('commented', '/app/route', { headers: { accept: 'text/html' } })).text).toContain('data-page="200.html"');
    for (const path of ['/a.js', '/a.txt']) expect((await stage.ask('commented', path)).text).not.toContain('overlay.js');
    const script = await stage.ask('commented', '/_easel/overlay.js');
    expect([script.status, script.header('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  });
});

describe('[OVERLAY] settings', () => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel();
  });
  afterAll(() => easel.close());

  it('reach the page with the answer that changes them, and with them its ETag', async () => {
    const client = clientOf(easel, (await easel.newUser('pro')).token);
    const site = new Map([['index.html', Buffer.from('<!doctype html><title>t</title>')]]);
    const { artifactId, url } = await publishSite(client, site, { slug: 'settings', visibility: 'public' });
    const params = { artifactId: artifactId as never };
    const configure = (body: object) => client.comments.putConfig({ params, body });
    const page = async (etag = '') => {
      const { status, headers, body } = await wire(easel.port, new URL(url).host, '/', { headers: { 'if-none-match': etag } });
      const told = /data-identity="(\w+)" data-replies="(\w+)" data-guests="(\w+)"/.exec(body.toString())?.slice(1).join(' ');
      return { status, etag: String(headers.etag), told };
    };
    const before = await page();
    expect(before.told).toBeUndefined();
    await configure({ overlayEnabled: true });
    const shown = await page(before.etag);
    expect([shown.status, shown.told]).toEqual([200, 'authenticated true false']);
    expect(await page(shown.etag)).toMatchObject({ status: 304 });
    await configure({ identityMode: 'named', guestComments: true, allowReplies: false });
    const other = await page(shown.etag);
    expect([other.status, other.told]).toEqual([200, 'named false true']);
    await configure({ enabled: false });
    expect(await page()).toEqual(before);
  });
});
