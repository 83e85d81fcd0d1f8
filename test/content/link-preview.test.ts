import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withLinkPreview } from '../../src/content/link-preview.ts';
import { Stage } from './content-stage.ts';

const CARD = {
  name: 'My page',
  url: 'http://card.pages.test/',
  social: { title: 'A "title" <&>', description: 'Grüße \u{1f600}', imageUrl: 'https://img.test/a.png?x=1&y=2' },
};
const TAGS =
  '<meta property="og:type" content="website">' +
  '<meta property="og:title" content="A &#34;title&#34; &#60;&#38;&#62;">' +
  '<meta property="og:url" content="http://card.pages.test/">' +
  '<meta name="twitter:card" content="summary_large_image">' +
  '<meta property="og:description" content="Gr&#252;&#223;e &#128512;">' +
  '<meta property="og:image" content="https://img.test/a.png?x=1&#38;y=2">';

function tagged(html: string): string {
  return withLinkPreview(Buffer.from(html), CARD).toString();
}

describe('[CARD] where the tags go', () => {
  it.each([
    ['after <head>', '<!doctype html><html><head>|<title>t</title></head><body>b'],
    ['after a head with attributes', '<HTML lang="a>b"><HEAD data-x=\'>\'>|<title>t</title>'],
    ['after the declared encoding, which must stay early', '<head><meta charset="utf-8">|<title>t</title></head>'],
    ['after an http-equiv encoding', '<head><title>t</title><META HTTP-EQUIV=Content-Type content="text/html">|<link></head>'],
    ['not into a comment', '<!-- <head> --><head>|<!-- <meta charset=x> --></head>'],
    ['not into a script', '<head>|<script>"<meta charset=x>"</script></head>'],
    ['not into a title', '<head>|<title><meta charset=x></title></head>'],
    ['after the doctype where nothing else is', '<!DOCTYPE html>|<p>hello'],
    ['after <html> without a head', '<!doctype html><html>|<body><meta charset=x>'],
    ['at the beginning of a bare text', '|hello'],
    ['behind a byte order mark', '\ufeff|<p>hello'],
    ['before a tag that never ends', '<head>|<meta "'],
  ])('%s', (_, marked) => {
    expect(tagged(marked.replace('|', ''))).toBe(marked.replace('|', TAGS));
  });

  it('leaves alone what the page says itself', () => {
    const own = '<head><meta property="og:title" content="mine"><meta NAME=\'Twitter:Card\' content=summary></head>';
    const html = tagged(own);
    expect(html).not.toContain('A &#34;title');
    expect(html.match(/twitter:card/gi)).toHaveLength(1);
    expect(html).toContain('<meta property="og:description"');
    expect(html.endsWith(own.slice('<head>'.length))).toBe(true);
  });

  it('takes the name for a title, and a small card without a picture', () => {
    const card = { ...CARD, social: { title: null, description: 'd', imageUrl: null } };
    const html = withLinkPreview(Buffer.from('<head></head>'), card).toString();
    expect(html).toContain('<meta property="og:title" content="My page">');
    expect(html).toContain('<meta name="twitter:card" content="summary">');
    expect(html).not.toContain('og:image');
  });

  it('gives back the very same bytes without social fields, for UTF-16, and for what is too large', () => {
    const none = { ...CARD, social: { title: null, description: null, imageUrl: null } };
    const page = Buffer.from('<head></head>');
    expect(withLinkPreview(page, none)).toBe(page);
    const utf16 = Buffer.from('\ufeff<head></head>', 'utf16le');
    expect(withLinkPreview(utf16, CARD)).toBe(utf16);
    const large = Buffer.alloc(4 * 1024 * 1024 + 1, 'a');
    expect(withLinkPreview(large, CARD)).toBe(large);
  });

  it('keeps every other byte of a page in an older encoding', () => {
    const page = Buffer.from('<head><meta charset=iso-8859-1></head>caf\u00e9', 'latin1');
    const result = withLinkPreview(page, CARD);
    expect(Buffer.from(result.toString('latin1').replace(TAGS, ''), 'latin1').equals(page)).toBe(true);
  });

  it('is linear in hostile pages', () => {
    // Quadratic work on these would run into the time limit of the test.
    for (const piece of ['<', '<!--', '<meta "', '<a ', '<title>', '</', '<meta x', "<meta a='"]) {
      const page = Buffer.from(piece.repeat(500_000 / piece.length));
      expect(withLinkPreview(page, CARD).length).toBe(page.length + TAGS.length);
    }
  });
});

describe('[CARD] as served', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.open();
  });
  afterAll(() => stage.close());

  it('the entry page alone has the tags; its ETag covers them; other pages keep their bytes', async () => {
    const page = `<!doctype html><head><title>t</title></head>${'<p>text</p>'.repeat(100)}`;
    const files = { 'index.html': page, 'other.html': page };
    const { id } = await stage.site('card', files, { social: { title: 'First' } });
    const first = await stage.ask('card', '/');
    expect(first.text).toContain('<meta property="og:title" content="First">');
    expect(first.text).toContain('<meta property="og:url" content="http://card.pages.test/">');
    expect((await stage.ask('card', '/other')).text).toBe(page);

    await stage.content.encodingsIdle();
    expect((await stage.ask('card', '/', { headers: { 'accept-encoding': 'br' } })).header('content-encoding')).toBe('br');

    await stage.change(id, 'card', { social_title: 'Second' });
    const second = await stage.ask('card', '/', { headers: { 'if-none-match': first.header('etag') ?? '' } });
    expect(second.status).toBe(200);
    expect(second.text).toContain('content="Second"');

    await stage.change(id, 'card', { social_title: null });
    expect((await stage.ask('card', '/')).text).toBe(page);
  });
});
