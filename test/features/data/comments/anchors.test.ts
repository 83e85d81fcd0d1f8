/** Which comments become outdated when the page is published again. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { squashed, squashedHtml } from '../../../../src/features/data/comments/page-text.ts';
import { published } from '../../../support/requests.ts';
import { ask, must, openStage, type Stage } from './comment-stage.ts';

describe('the text of a page', () => {
  test.each([
    ['<p>one</p><p>two</p>', 'onetwo'],
    ['<p>bo<b>ld</b> and\n  more</p>', 'boldandmore'],
    ['a<!-- b > c -->d', 'ad'],
    ['a<script>if (1<2) "</p>"</script>b<STYLE>p>q{}</STYLE >c', 'abc'],
    ['<head><title>not on the page</title></head>shown', 'shown'],
    ['<p title="1 > 0" data-x=\'</p>\'>text</p>', 'text'],
    ["<p title=it's>still text</p>", 'stilltext'],
    ['1 < 2 && 3 > 2', '1<2&&3>2'],
    ['caf&eacute; &amp;&nbsp;&#8222;x&#x201D; &unknown;', 'café&„x”&unknown;'],
    ['cafe\u0301', 'café'],
    ['text <p', 'text'],
    ['text <script>never ends', 'text'],
    ['<!DOCTYPE html><?xml?>text', 'text'],
    ['soft\u00adhyphen', 'softhyphen'],
  ])('%j', (html, text) => {
    expect(squashedHtml(html)).toBe(text);
  });

  test('is the whole input when it has no markup, and never longer than the input', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('<', '>', '<p>', '</p>', '<!--', '-->', '<script>', '</script>', '"', "'", '&amp;', '&#0;'),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const html = pieces.join('');
        expect(squashedHtml(html).length).toBeLessThanOrEqual(squashed(html).length);
        const plain = html.replace(/[<&]/g, '');
        expect(squashedHtml(plain)).toBe(squashed(plain));
      }),
    );
  });

  test('takes linear time for hostile input', () => {
    // Scanning to the end of the input from each of these would take quadratic time: hours.
    for (const hostile of ['<a ', '<!--', '<p title="', '<script>', '</', '&#1', '<a title=\'"']) {
      expect(squashedHtml(hostile.repeat(300_000))).toBeTypeOf('string');
    }
  });
});

describe('after a republish', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  const html = (body: string) => `<!doctype html><title>Page</title><body>${body}</body>`;

  async function page(files: readonly { readonly path: string; readonly content: string }[]) {
    const user = await stage.easel.newUser('pro');
    const { id } = await published(stage.easel, user, { files });
    const call = (method: string, path = '', body?: object) => must(ask(stage.easel, { id }, user, method, path, body));
    return {
      republish: (next: readonly { readonly path: string; readonly content: string }[]) =>
        published(stage.easel, user, { artifact_id: id, files: next }),
      rollback: (versionNo: number) =>
        stage.easel.fetch(`/v1/artifacts/${id}/rollback`, {
          method: 'POST',
          token: user.token,
          body: JSON.stringify({ version_no: versionNo }),
          headers: { 'content-type': 'application/json' },
        }),
      quote: (exact: string, contextId?: string) =>
        call('POST', '', { content: exact, quote: { exact }, ...(contextId !== undefined && { contextId }) }),
      call,
      /** `outdated` of every comment, by its text. */
      state: async () => {
        const { comments } = await call('GET');
        return Object.fromEntries(comments.map(({ content, outdated }: { content: string; outdated: boolean }) => [content, outdated]));
      },
    };
  }

  test('a comment is outdated when its quotation is gone, but not when the quotation has moved', async () => {
    const { quote, republish, rollback, state, call } = await page([
      { path: 'index.html', content: html('<h1>Stays here</h1><p>Goes <b>away</b> soon</p>') },
    ]);
    await quote('Stays here');
    const gone = await quote('Goes away');
    await call('POST', '', { content: 'about nothing' });
    expect(await state()).toEqual({ 'Stays here': false, 'Goes away': false, 'about nothing': false });
    await republish([{ path: 'index.html', content: html('<p>New</p><div>Stays\n<i>here</i></div>') }]);
    expect(await state()).toEqual({ 'Stays here': false, 'Goes away': true, 'about nothing': false });
    expect((await call('GET', `/${gone.id}`)).outdated).toBe(true);
    // A new quotation anchors the comment to the live version.
    const moved = await call('PATCH', `/${gone.id}`, { quote: { exact: 'New' } });
    expect([moved.outdated, moved.versionId === gone.versionId]).toEqual([false, false]);
    expect((await rollback(1)).status).toBe(200);
    expect((await call('GET', `/${gone.id}`)).outdated).toBe(true);
  });

  test('the quotation is searched in the page that the context names, else in the entry file', async () => {
    const about = { path: 'about/index.html', content: html('On about') };
    const { quote, republish, state } = await page([
      { path: 'index.html', content: html('On entry') },
      about,
      { path: 'notes.txt', content: 'In notes & more' },
    ]);
    await quote('On entry', '/');
    await quote('On about', '/about/?from=menu#top');
    await quote('notes & more', 'notes.txt');
    await quote('On entry', 'some-widget');
    await republish([
      { path: 'index.html', content: html('On about, In notes & more') },
      { ...about, content: html('On entry') },
      { path: 'notes.txt', content: 'On about' },
    ]);
    expect(await state()).toEqual({ 'On entry': true, 'On about': true, 'notes & more': true });
  });

  test('a quotation of script-generated text is never outdated, and a version of another artifact is refused', async () => {
    const { quote, republish, state } = await page([
      { path: 'index.html', content: html('<script>document.body.append("Made " + "up")</script>') },
    ]);
    await quote('Made up');
    await republish([{ path: 'index.html', content: html('something else') }]);
    expect(await state()).toEqual({ 'Made up': false });
    const other = await page([{ path: 'index.html', content: html('x') }]);
    const foreign = await other.quote('x');
    const mine = await page([{ path: 'index.html', content: html('y') }]);
    await expect(mine.call('POST', '', { content: 'y', versionId: foreign.versionId })).rejects.toThrow('VERSION_NOT_FOUND');
  });

  test('the ETag of a comment changes when the page no longer has its quotation', async () => {
    const user = await stage.easel.newUser('pro');
    const { id } = await published(stage.easel, user, { files: [{ path: 'index.html', content: html('quoted') }] });
    const made = await must(ask(stage.easel, { id }, user, 'POST', '', { content: 'x', quote: { exact: 'quoted' } }));
    const get = (etag: string) =>
      stage.easel.fetch(`/v1/data/${id}/comments/${made.id}`, { token: user.token, headers: { 'if-none-match': etag } });
    const etag = (await get('"none"')).headers.get('etag') ?? '';
    expect((await get(etag)).status).toBe(304);
    await published(stage.easel, user, { artifact_id: id, files: [{ path: 'index.html', content: html('other') }] });
    expect((await get(etag)).status).toBe(200);
  });
});
