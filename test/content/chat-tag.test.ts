/** The script tag of the chat box: the pages that get it, what it is told, and when it changes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import { EMAIL_CHARS_MAX, NAME_CHARS_MAX, TEXT_CHARS_MAX } from '../../src/clients/chat-box/box.ts';
import { chatOf, withChat } from '../../src/content/chat-box.ts';
import { builtPageSdk } from '../support/database.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { wire } from '../support/page-requests.ts';
import { clientOf, publishSite } from '../support/publishing.ts';

it('[CHAT] is for pages whose owner has turned it on, first in the head, with a greeting in any words', () => {
  expect(chatOf(null, null)).toBeNull();
  expect(chatOf(false, 'Ask us.')).toBeNull();
  expect(chatOf(true, null)).toEqual({ greeting: '' });
  const page = withChat(Buffer.from('<head><meta charset="utf-8"><title>t</title>'), 'art_a' as never, { greeting: '¿"Sí"?' }, true);
  expect(page.toString()).toBe(
    '<head><meta charset="utf-8"><script src="/_easel/chat.js" defer data-artifact="art_a" data-greeting="&#191;&#34;S&#237;&#34;?"' +
      ' data-beside="true"></script><title>t</title>',
  );
});

it('[CHAT] is small, and its own limits are those of the protocol', () => {
  const script = readFileSync(join(builtPageSdk(), 'chat.js'));
  expect(gzipSync(script).length).toBeLessThan(10 * 1024);
  expect([TEXT_CHARS_MAX, NAME_CHARS_MAX, EMAIL_CHARS_MAX]).toEqual([LIMITS.chatCharsMax, LIMITS.nameCharsMax, LIMITS.emailCharsMax]);
});

describe('[CHAT] as served', () => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel();
  });
  afterAll(() => easel.close());

  it('stands in the page with the answer that turns it on, and nothing of it is left with the one that turns it off', async () => {
    const client = clientOf(easel, (await easel.newUser('pro')).token);
    const site = new Map([
      ['index.html', Buffer.from('<!doctype html><title>t</title>')],
      ['a.txt', Buffer.from('<!doctype html><title>t</title>')],
    ]);
    const { artifactId, url } = await publishSite(client, site, { slug: 'chatted', visibility: 'public' });
    const turn = (enabled: boolean, greeting = '') =>
      client.pageChat.putConfig({ params: { artifactId: artifactId as never }, body: { enabled, greeting } });
    const get = async (path: string, etag = '') => {
      const { status, headers, body } = await wire(easel.port, new URL(url).host, path, { headers: { 'if-none-match': etag } });
      return { status, etag: String(headers.etag), told: /data-greeting="([^"]*)" data-beside="(\w+)"/.exec(body.toString())?.slice(1) };
    };
    const before = await get('/');
    expect([before.status, before.told]).toEqual([200, undefined]);
    await turn(true, 'Ask us.');
    const shown = await get('/', before.etag);
    expect([shown.status, shown.told]).toEqual([200, ['Ask us.', 'false']]);
    expect((await get('/a.txt')).told).toBeUndefined();
    expect((await wire(easel.port, new URL(url).host, '/_easel/chat.js')).headers['content-type']).toBe('text/javascript; charset=utf-8');
    await client.comments.putConfig({ params: { artifactId: artifactId as never }, body: { overlayEnabled: true } });
    expect((await get('/')).told).toEqual(['Ask us.', 'true']);
    await client.comments.putConfig({ params: { artifactId: artifactId as never }, body: { overlayEnabled: false } });
    await turn(false);
    expect(await get('/')).toEqual(before);
  });
});
