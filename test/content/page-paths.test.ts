import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodePath } from '../../src/content/paths.ts';
import { Stage } from './content-stage.ts';

const HTML = { accept: 'text/html,*/*;q=0.8' };
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(() => stage.close());

describe('[PATH] from an address to a file', () => {
  beforeAll(async () => {
    await stage.site('site', {
      'index.html': 'start',
      'about.html': 'about',
      'docs/index.html': 'docs',
      'docs/deep/index.html': 'deep',
      'both.html': 'page',
      'both/index.html': 'folder',
      'a.js': 'script',
      'only/file.txt': 'file',
    });
  });

  it.each([
    ['/', 'start'],
    ['/index.html', 'start'],
    ['/about.html', 'about'],
    ['/about', 'about'],
    ['/docs/', 'docs'],
    ['/docs/deep/', 'deep'],
    ['/docs/index', 'docs'],
    ['/%61bout', 'about'],
    ['/a.js?x=1', 'script'],
  ])('%s is served with 200', async (target, text) => {
    const answer = await stage.ask('site', target);
    expect([answer.status, answer.text]).toEqual([200, text]);
  });

  it.each([
    ['/docs', '/docs/'],
    ['/docs?a=1&b=2', '/docs/?a=1&b=2'],
    ['/docs/deep', '/docs/deep/'],
    ['/both', '/both/'],
    ['/%64ocs', '/docs/'],
  ])('a folder without its slash: %s redirects to %s and keeps the query', async (target, location) => {
    const answer = await stage.ask('site', target);
    expect([answer.status, answer.header('location')]).toEqual([308, location]);
  });

  it.each(['/none', '/About', '/about/', '/only', '/only/', '//docs', '//evil.test', '/docs//', '/a.js/', '/%20', '/index.html/'])(
    'what is not there: %s is a 404 page',
    async (target) => {
      const answer = await stage.ask('site', target, { headers: HTML });
      expect([answer.status, answer.header('location')]).toEqual([404, undefined]);
      expect(answer.text).toContain('This page does not exist');
    },
  );

  it.each([
    '/../index.html',
    '/docs/../index.html',
    '/./index.html',
    '/%2e%2e/index.html',
    '/docs/%2E%2e/index.html',
    '/.%2e/index.html',
    '/%252e%252e/index.html',
    '/docs%2findex.html',
    '/docs%2Findex.html',
    '/docs%5cindex.html',
    '/docs\\index.html',
    '/index.html%00',
    '/index.html%0d%0aSet-Cookie:x',
    '/%',
    '/%zz',
    '/%ff',
    '/%c0%ae%c0%ae/index.html',
    'index.html',
  ])('what tries to leave the site or is malformed: %s is refused with 400', async (target) => {
    const answer = await stage.ask('site', target);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('This address is not valid');
  });

  it('no path whatever decodes to a dot segment, a slash or a control character', () => {
    const piece = fc.constantFrom('.', '..', '%2e', '%2E', '%25', '%2f', '%5c', '\\', '%00', 'a', '/', 'é', '%c3%a9', '%');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const segments = decodePath(`/${pieces.join('')}`);
        for (const segment of segments ?? []) {
          expect(['.', '..']).not.toContain(segment);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not be there.
          expect(segment).not.toMatch(/[/\\\u0000-\u001f]|%2e|%2f|%5c|%00/i);
        }
      }),
      { seed: 7, numRuns: 2000 },
    );
  });
});

describe('[NAME] odd names', () => {
  const NAMES = [
    'caf\u00e9.txt',
    '\u00c5ngstr\u00f6m/\u1e9b\u0323.txt',
    '\u{1f600} smile.txt',
    '\u05e9\u05dc\u05d5\u05dd/\u0645\u0631\u062d\u0628\u0627.txt',
    'with space.txt',
    '100%.txt',
    'a#b.txt',
    'what?.txt',
    'a+b&c=d;e,f.txt',
    'quote\'".txt',
    '~tilde!$().txt',
    'semi:colon@at.txt',
    'no-extension',
    '.well-known/thing.txt',
    'plus%20literal.txt',
  ];
  beforeAll(async () => {
    await stage.site('names', Object.fromEntries(NAMES.map((name) => [name, { mime: 'text/plain', bytes: `I am ${name}` }])));
  });

  it.each(NAMES)('%s is found under its percent-encoded path, in NFC and in NFD', async (name) => {
    for (const form of ['NFC', 'NFD']) {
      const path = `/${name.normalize(form).split('/').map(encodeURIComponent).join('/')}`;
      const answer = await stage.ask('names', path);
      expect([answer.status, answer.text]).toEqual([200, `I am ${name}`]);
    }
  });

  it('a name with a literal percent sign is not mistaken for its decoded neighbour', async () => {
    await stage.site('percent', { 'a b.txt': 'space', 'a%20b.txt': 'percent' });
    expect((await stage.ask('percent', '/a%20b.txt')).text).toBe('space');
    expect((await stage.ask('percent', '/a%2520b.txt')).text).toBe('percent');
  });
});

describe('[ENTRY] the start page', () => {
  it('is the entrypoint, even beside an index.html', async () => {
    await stage.site('main-entry', { 'main.html': 'main', 'index.html': 'index' }, { entrypoint: 'main.html' });
    expect((await stage.ask('main-entry', '/')).text).toBe('main');
    expect((await stage.ask('main-entry', '/index.html')).text).toBe('index');
  });

  it.each([
    ['app/index.html', '/app/?q=1'],
    ['app/start.html', '/app/start.html?q=1'],
    ['my app/d\u00e9but/index.html', '/my%20app/d%C3%A9but/?q=1'],
  ])('in a folder (%s) is reached by a redirect, so that its relative links work', async (entrypoint, location) => {
    const slug = `folder-${Buffer.from(entrypoint).toString('hex').slice(0, 50)}`;
    await stage.site(slug, { [entrypoint]: 'deep start' }, { entrypoint });
    const answer = await stage.ask(slug, '/?q=1');
    expect([answer.status, answer.header('location')]).toEqual([302, location]);
    expect((await stage.ask(slug, location)).text).toBe('deep start');
  });
});

describe('[MISS] what a site does not have', () => {
  it('shows the site’s own 404.html with 404', async () => {
    await stage.site('own-404', { 'index.html': 'x', '404.html': 'lost here' });
    const answer = await stage.ask('own-404', '/a/b/c', { headers: HTML });
    expect([answer.status, answer.text]).toEqual([404, 'lost here']);
    const etag = answer.header('etag') ?? '';
    expect((await stage.ask('own-404', '/a/b/c', { headers: { 'if-none-match': etag } })).status).toBe(404);
  });

  it('answers navigations with 200.html and 200, and missing files and fetches with 404', async () => {
    await stage.site('spa', { 'index.html': 'x', '200.html': 'the application', '404.html': 'lost' });
    const route = await stage.ask('spa', '/users/42', { headers: HTML });
    expect([route.status, route.text]).toEqual([200, 'the application']);
    const script = await stage.ask('spa', '/assets/gone.js', { headers: HTML });
    expect([script.status, script.text]).toEqual([404, 'lost']);
    const fetched = await stage.ask('spa', '/api/users', { headers: { accept: 'application/json' } });
    expect([fetched.status, fetched.text]).toEqual([404, 'lost']);
  });
});
