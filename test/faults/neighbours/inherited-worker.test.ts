/** Found 15: a freed slug does not inherit the service worker of its former owner, who could go on to show the old page for ever. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../browser/browser.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../support/easel.ts';
import { type WireAnswer, wire } from '../../support/page-requests.ts';
import { patch, published } from '../../support/requests.ts';
import { describeWith } from '../../support/services.ts';

/** Answers every navigation from what it stored when it was installed. */
const KEEPER = `self.addEventListener('install', (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open('kept').then((kept) => kept.add('/')));
});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate') event.respondWith(caches.match('/').then((page) => page ?? fetch(event.request)));
});`;
/** The worker of another author, which stores nothing. */
const OTHER_WORKER = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));`;

const page = (text: string) => ({
  path: 'index.html',
  content: `<!doctype html><title>${text}</title><p id="text">${text}</p><script>navigator.serviceWorker?.register('/sw.js')</script>`,
});
const plainPage = (text: string) => ({ path: 'index.html', content: `<!doctype html><title>${text}</title><p id="text">${text}</p>` });
const worker = (content: string) => ({ path: 'sw.js', content });

let easel: TestEasel;
let former: TestUser;
let next: TestUser;
beforeAll(async () => {
  easel = await startTestEasel();
  [former, next] = await Promise.all([easel.newUser('team'), easel.newUser('team')]);
});
afterAll(() => easel.close());

function publishAt(slug: string, user: TestUser, files: readonly object[], more: object = {}) {
  return published(easel, user, { slug, visibility: 'public', files, ...more });
}

/** The former owner takes another slug, so that this one is free. */
async function free(id: string): Promise<void> {
  const reply = await easel.fetch(`/v1/artifacts/${id}`, { token: former.token, ...patch({ slug: `moved-${id.slice(-8)}` }) });
  expect(reply.status).toBe(200);
}

describe('a request for the script of a worker', () => {
  const script = (slug: string, path = '/sw.js', headers: Readonly<Record<string, string>> = {}): Promise<WireAnswer> =>
    wire(easel.port, new URL(easel.contentUrl(slug)).host, path, { headers: { 'service-worker': 'script', ...headers } });
  const endsItself = (answer: WireAnswer) => {
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^text\/javascript/);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body.toString()).toContain('registration.unregister()');
  };

  it('is answered with one that ends itself wherever the page has no such script', async () => {
    await publishAt('scriptless', next, [plainPage('new'), { path: '404.html', content: 'none' }, { path: 'data.txt', content: 'x' }]);
    endsItself(await script('scriptless'));
    // A page in its place, another type, a redirect and a path that is refused all keep a worker alive.
    for (const path of ['/', '/data.txt', '/index.html', '/..%2fsw.js', '/_easel/sdk.js']) endsItself(await script('scriptless', path));
    endsItself(await script('nobody-has-this'));
    const { id } = await publishAt('hidden-page', next, [plainPage('x'), worker(KEEPER)]);
    await easel.fetch(`/v1/artifacts/${id}`, { token: next.token, ...patch({ visibility: 'private' }) });
    endsItself(await script('hidden-page'));
    await easel.fetch(`/v1/artifacts/${id}`, { token: next.token, ...patch({ visibility: 'password', password: 'open sesame' }) });
    endsItself(await script('hidden-page'));
    await easel.fetch(`/v1/artifacts/${id}`, { token: next.token, method: 'DELETE' });
    endsItself(await script('hidden-page'));
  });

  it('of the page’s own worker is answered with it, never from a cache, and with other bytes than for another artifact', async () => {
    await publishAt('same-one', former, [page('one'), worker(KEEPER)]);
    await publishAt('same-two', next, [page('two'), worker(KEEPER)]);
    const [one, two] = [await script('same-one'), await script('same-two')];
    for (const answer of [one, two]) {
      expect(answer.body.toString().startsWith(KEEPER)).toBe(true);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
    expect(one.body.equals(two.body)).toBe(false);
    expect((await script('same-one')).body.equals(one.body)).toBe(true);
  });

  it('does not change what other requests get', async () => {
    await publishAt('plain', next, [plainPage('plain')]);
    expect((await wire(easel.port, new URL(easel.contentUrl('plain')).host, '/sw.js')).status).toBe(404);
  });
});

describeWith('chromiumPath')('a returning visitor of a slug that changed hands', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  const textOf = (visited: Page) => visited.locator('#text').textContent();
  const workers = (visited: Page) => visited.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);
  const kept = (visited: Page) => visited.evaluate(() => caches.keys());

  /** A visitor whose browser has the former's worker, after the slug was freed. */
  async function returning(slug: string): Promise<Page> {
    const { id } = await publishAt(slug, former, [page('former'), worker(KEEPER)]);
    const visited = await (await browser.newContext()).newPage();
    await visited.goto(easel.contentUrl(slug));
    await visited.evaluate(() => navigator.serviceWorker.ready);
    await visited.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await free(id);
    return visited;
  }

  /** The first load, and the second once the browser has looked for a new worker, which it does by itself after a load. */
  async function loadTwice(visited: Page): Promise<void> {
    await visited.addInitScript(() => {
      navigator.serviceWorker.addEventListener('controllerchange', () => document.documentElement.setAttribute('data-changed', ''));
    });
    await visited.reload();
    await visited.waitForSelector('[data-changed], #text:has-text("next")', { state: 'attached' });
    await visited.reload();
  }

  it('sees the new page, and the former worker and what it stored are gone', async () => {
    const visited = await returning('handed-over');
    await publishAt('handed-over', next, [plainPage('next')]);
    await loadTwice(visited);
    expect(await textOf(visited)).toBe('next');
    expect(await workers(visited)).toBe(0);
    expect(await kept(visited)).toEqual([]);
  });

  it('gets the worker of the new page where that has one at the same path', async () => {
    const visited = await returning('worker-too');
    await publishAt('worker-too', next, [page('next'), worker(OTHER_WORKER)]);
    await loadTwice(visited);
    expect(await textOf(visited)).toBe('next');
    expect(await workers(visited)).toBe(1);
  });
});
