/** The page SDK and the examples that use it, in Chromium. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type * as Yjs from 'yjs';
import type { Easel, SharedDoc } from '../../src/clients/page/api.ts';
import { serverOf } from '../clients/scripted-server.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { wire } from '../support/page-requests.ts';
import { clientOf, type Publication, publishSite, type Site } from '../support/publishing.ts';
import { describeWith } from '../support/services.ts';
import { launchBrowser, type Visit, visit } from './browser.ts';
import { type CuttableProxy, startProxy } from './cuttable-proxy.ts';

/** Folder for screenshots that a person can look at; none are saved if it is not set. */
const { SCREENSHOT_DIR } = process.env;

async function screenshot(page: Page, name: string): Promise<void> {
  if (SCREENSHOT_DIR === undefined) return;
  mkdirSync(SCREENSHOT_DIR, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOT_DIR, `${name}.png`), fullPage: true, animations: 'disabled' });
}

/** Globals of the page. */
interface Scope {
  readonly easel: Easel;
  seen: unknown[];
}

interface Shared {
  readonly shared: SharedDoc<typeof Yjs>;
  readonly isOne: boolean;
}

const PLAIN = new Map([
  [
    'index.html',
    Buffer.from('<!doctype html><html lang="en"><title>Plain</title><link rel="icon" href="data:,"><script src="/sdk.js"></script>'),
  ],
]);

function exampleSite(name: string): Site {
  const folder = join(import.meta.dirname, '../../deploy/examples', name);
  return new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))]));
}

describeWith('chromiumPath')('the SDK of pages', () => {
  let easel: TestEasel;
  let browser: Browser;
  /** The proxy between the pages and the service. */
  let network: CuttableProxy;
  beforeAll(async () => {
    network = await startProxy();
    const settings = { CONTENT_HOST: `localhost:${network.port}` };
    [easel, browser] = await Promise.all([startTestEasel({ settings }), launchBrowser()]);
    network.lead(easel.port);
  });
  afterAll(async () => {
    await browser?.close();
    await network?.close();
    await easel?.close();
  });

  async function publish(slug: string, site: Site, anonymousWrites = true): Promise<Publication> {
    const client = clientOf(easel, (await easel.newUser('pro')).token);
    const published = await publishSite(client, site, { slug, visibility: 'public' });
    if (anonymousWrites)
      await client.artifacts.update({
        params: { id: published.artifactId as never },
        body: { allow_anon_write: true, allow_anon_collab: true },
      });
    return published;
  }

  async function open({ url }: Publication): Promise<Visit> {
    const opened = await visit(browser, new URL(url).origin);
    onTestFinished(() => opened.page.context().close());
    await opened.page.goto(url);
    return opened;
  }

  it('knows its artifact, reads, writes and counts keys, and throws typed errors', async () => {
    const published = await publish('sdk-keys', PLAIN);
    const { page, troubles } = await open(published);
    const told = await page.evaluate(async () => {
      const { easel } = globalThis as unknown as Scope;
      const written = await easel.json.set('profile', { name: 'Ada', langs: ['en'] });
      const first = await easel.json.entry<{ name: string }>('profile');
      await easel.json.append('profile', 'de', { path: '$.langs' });
      const conflict = await easel.json
        .set('profile', 0, { ifMatch: first?.updatedAt })
        .catch((error) => [error instanceof easel.EaselError, error.code]);
      return {
        artifactId: easel.artifactId,
        created: written.created,
        name: first?.value.name,
        langs: await easel.json.get('profile', { path: '$.langs' }),
        merged: await easel.json.update('profile', { name: null, age: 36 }),
        count: [await easel.json.increment('count'), await easel.json.increment('count', 41)],
        again: await easel.json.set('count', 0, { ifAbsent: true }).catch((error) => error.code),
        conflict,
        keys: (await easel.json.list()).keys,
        deleted: [await easel.json.delete('count'), await easel.json.delete('count'), await easel.json.get('count')],
      };
    });
    expect(told).toEqual({
      artifactId: published.artifactId,
      created: true,
      name: 'Ada',
      langs: ['en', 'de'],
      merged: { langs: ['en', 'de'], age: 36 },
      count: [1, 42],
      again: 'VERSION_CONFLICT',
      conflict: [true, 'VERSION_CONFLICT'],
      keys: ['count', 'profile'],
      deleted: [true, false, undefined],
    });
    // Only the refusals above and the 404 of the deleted key; no other errors.
    expect(troubles.filter((trouble) => !/^(409|404): |^console: Failed to load resource/.test(trouble))).toEqual([]);
  });

  it('delivers writes and deletions of another page immediately', async () => {
    const published = await publish('sdk-watch', PLAIN);
    const [one, two] = [await open(published), await open(published)];
    await one.page.evaluate(() => {
      const scope = globalThis as unknown as Scope;
      scope.seen = [];
      scope.easel.json.watch('score', (value) => scope.seen.push(value ?? null));
    });
    const seen = (length: number) =>
      one.page
        .waitForFunction((wanted) => (globalThis as unknown as Scope).seen.length >= wanted, length)
        .then(() => one.page.evaluate(() => (globalThis as unknown as Scope).seen));
    const set = (value: number) =>
      two.page.evaluate((next) => (globalThis as unknown as Scope).easel.json.set('score', next).then(() => undefined), value);
    await expect.poll(() => seen(1)).toEqual([null]);
    await one.page.waitForFunction(() => (globalThis as unknown as Scope).easel.state === 'live');
    await set(1);
    await expect.poll(() => seen(2)).toEqual([null, 1]);
    await set(2);
    await two.page.evaluate(() => (globalThis as unknown as Scope).easel.json.delete('score'));
    await expect.poll(() => seen(4)).toEqual([null, 1, 2, null]);
    expect([...one.troubles, ...two.troubles]).toEqual([]);
  });

  it('catches up on writes made while the network was down', async () => {
    const { token } = await easel.newUser('pro');
    const published = await publishSite(clientOf(easel, token), PLAIN, { slug: 'sdk-away', visibility: 'public' });
    const { page } = await open(published);
    const set = (key: string, value: number) =>
      clientOf(easel, token).json.put({ params: { artifactId: published.artifactId, key }, body: value });
    await page.evaluate(() => {
      const scope = globalThis as unknown as Scope;
      scope.seen = [];
      scope.easel.on('state', (state) => scope.seen.push(state));
      scope.easel.json.watch('s.*', (value, { key, deleted }) => scope.seen.push([key, deleted ? null : value]));
    });
    const told = (last: unknown) =>
      page.waitForFunction((wanted) => JSON.stringify((globalThis as unknown as Scope).seen).endsWith(`${wanted}]`), JSON.stringify(last));
    await told('live');
    await set('s.gone', 1);
    await told(['s.gone', 1]);
    network.cut();
    await told('connecting');
    for (const value of [1, 2, 3]) await set('s.a', value);
    await clientOf(easel, token).json.delete({ params: { artifactId: published.artifactId, key: 's.gone' } });
    network.restore();
    await told(['s.gone', null]);
    // A key that changed three times is delivered once, with its current value.
    const seen = await page.evaluate(() => (globalThis as unknown as Scope).seen);
    expect(seen).toEqual(['connecting', 'live', ['s.gone', 1], 'connecting', 'live', ['s.a', 3], ['s.gone', null]]);
  });

  it('is also a module; a file of the page can replace the short address but not the reserved one', async () => {
    const page = '<!doctype html><html lang="en"><title>Own</title><link rel="icon" href="data:,"><script src="/sdk.js"></script>';
    const module =
      '<script type="module">import { easel, EaselError, connect } from "/_easel/sdk.mjs"; globalThis.easel = { easel, EaselError, connect };</script>';
    const own = new Map([
      ['index.html', Buffer.from(page + module)],
      ['sdk.js', Buffer.from('globalThis.own = true;')],
      ['_easel/sdk.js', Buffer.from('never')],
    ]);
    const published = await publish('sdk-own', own);
    const { page: shown, troubles } = await open(published);
    const told = await shown.evaluate(() => {
      const { own, easel } = globalThis as unknown as { own: boolean; easel: { easel: Easel; EaselError: unknown; connect: unknown } };
      return [own, easel.easel.artifactId, easel.EaselError === easel.easel.EaselError, easel.connect === easel.easel.connect];
    });
    expect(told).toEqual([true, published.artifactId, true, true]);
    expect(troubles).toEqual([]);
  });

  it('contains the id of its page, and caches do not mix pages up', async () => {
    const [one, two] = [await publish('sdk-one', PLAIN), await publish('sdk-two', PLAIN)];
    const [first, second] = await Promise.all([one, two].map(({ url }) => wire(easel.port, new URL(url).host, '/sdk.js')));
    if (first === undefined || second === undefined) throw new Error('two were asked');
    expect([first.body.includes(one.artifactId), first.body.includes(two.artifactId)]).toEqual([true, false]);
    expect(second.body.includes(two.artifactId)).toBe(true);
    expect(first.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=0, must-revalidate',
    });
    expect(first.headers.etag).not.toBe(second.headers.etag);
    const host = new URL(two.url).host;
    const stale = await wire(easel.port, host, '/sdk.js', { headers: { 'if-none-match': String(first.headers.etag) } });
    const fresh = await wire(easel.port, host, '/sdk.js', { headers: { 'if-none-match': String(second.headers.etag) } });
    expect([stale.status, fresh.status]).toEqual([200, 304]);
    expect((await wire(easel.port, host, '/sdk.d.ts')).body.toString()).toContain('export interface Easel');
    const hidden = await publishSite(clientOf(easel, (await easel.newUser()).token), PLAIN, { slug: 'sdk-hidden', visibility: 'private' });
    expect((await wire(easel.port, new URL(hidden.url).host, '/sdk.js')).status).toBe(404);
  });

  it('works from the API’s host on a page of another site', async () => {
    const published = await publish('sdk-elsewhere', PLAIN);
    const api = `http://localhost:${easel.port}`;
    const html = `<!doctype html><title>x</title><script src="${api}/sdk.js" data-artifact="${published.artifactId}"></script>
      <script type="module">import { connect } from '${api}/sdk.mjs'; globalThis.other = connect({ artifactId: '${published.artifactId}' });</script>`;
    const elsewhere = await serverOf((response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html));
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(elsewhere.baseUrl);
    await page.waitForFunction(() => 'other' in globalThis);
    const told = await page.evaluate(async () => {
      const { easel, other } = globalThis as unknown as Scope & { other: Easel };
      await easel.json.set('from', 'elsewhere');
      return new Promise((resolve) => other.json.watch('from', (value) => resolve([value, other.state])));
    });
    expect(told).toEqual(['elsewhere', 'live']);
  });

  it('inserts, reads, updates and deletes rows; a table without rows reads as empty', async () => {
    const { page } = await open(await publish('sdk-rows', PLAIN));
    const told = await page.evaluate(async () => {
      const { easel } = globalThis as unknown as Scope;
      const scores = easel.table<{ name: string; points: number }>('scores');
      const before = [await scores.count(), (await scores.query()).rows.length];
      const ada = await scores.insert({ name: 'Ada', points: 3 });
      const more = await scores.insert([
        { name: 'Bo', points: 9 },
        { name: 'Cy', points: 5 },
      ]);
      const best = await scores.query({ filter: { points: { $gte: 5 } }, sort: '-points', limit: 1, count: true });
      const changed = await scores.update(ada.id, { points: 10 }, { ifMatch: ada.updatedAt });
      const stale = await scores.update(ada.id, { points: 11 }, { ifMatch: ada.updatedAt }).catch((error) => error.code);
      return {
        before,
        more: more.map(({ name }) => name),
        best: [best.rows.map(({ name }) => name), best.total, best.hasMore],
        changed: [changed.points, changed.createdAt === ada.createdAt, (await scores.get(ada.id))?.points],
        stale,
        deleted: [await scores.delete(ada.id), await scores.delete(ada.id), await scores.get(ada.id), await scores.count({ name: 'Bo' })],
      };
    });
    expect(told).toEqual({
      before: [0, 0],
      more: ['Bo', 'Cy'],
      best: [['Bo'], 2, true],
      changed: [10, true, 10],
      stale: 'VERSION_CONFLICT',
      deleted: [true, false, undefined, 1],
    });
  });

  it('uploads a file with progress, and refuses content that does not match its type', async () => {
    const { page } = await open(await publish('sdk-blobs', PLAIN));
    const told = await page.evaluate(async () => {
      const { easel } = globalThis as unknown as Scope;
      const file = new File(['easel '.repeat(1_000_000)], 'long.txt', { type: 'text/plain' });
      const progress: number[] = [];
      const blob = await easel.blobs.upload(file, { onProgress: ({ sentBytes }) => progress.push(sentBytes) });
      const url = easel.blobs.url(blob);
      const back = await (await fetch(url)).text();
      const fake = await easel.blobs
        .upload(new File(['no picture'], 'a.png', { type: 'image/png' }))
        .catch((error) => [error instanceof easel.EaselError, error.code]);
      const listed = (await easel.blobs.list()).blobs.map(({ filename }) => filename);
      const stop = new AbortController();
      const reason = new Error('enough');
      const aborted = await easel.blobs
        .upload(file, { signal: stop.signal, onProgress: () => stop.abort(reason) })
        .catch((error) => error === reason);
      return {
        blob: [blob.filename, blob.mimeType, blob.sizeBytes],
        rises: progress.every((bytes, at) => at === 0 || bytes >= (progress[at - 1] ?? 0)),
        last: progress.at(-1),
        url,
        same: back === (await file.text()),
        fake,
        aborted,
        listed,
        deleted: [await easel.blobs.delete(blob.id), await easel.blobs.delete(blob.id)],
      };
    });
    expect(told).toEqual({
      blob: ['long.txt', 'text/plain', 6_000_000],
      rises: true,
      last: 6_000_000,
      url: expect.stringMatching(/^\/v1\/data\/art_\w+\/blobs\/blob_\w+\/content$/),
      same: true,
      fake: [true, 'INVALID_MIME_TYPE'],
      aborted: true,
      listed: ['long.txt'],
      deleted: [true, false],
    });
  });

  it('shares documents and presence with the page’s own copy of Yjs', async () => {
    const map = JSON.stringify({ imports: { yjs: '/_easel/sdk-yjs.mjs', 'y-protocols/awareness': '/_easel/sdk-yjs.mjs' } });
    const script = `import * as Y from 'yjs'; import { Awareness } from 'y-protocols/awareness';
      const shared = await easel.doc('notes');
      Object.assign(globalThis, { shared, isOne: shared.doc instanceof Y.Doc && shared.Y.Doc === Y.Doc && shared.awareness instanceof Awareness });`;
    const html = `<!doctype html><html lang="en"><title>Doc</title><link rel="icon" href="data:,"><script type="importmap">${map}</script>
      <script src="/sdk.js"></script><script type="module">${script}</script>`;
    const published = await publish('sdk-doc', new Map([['index.html', Buffer.from(html)]]));
    const plain = await publish('sdk-doc-plain', PLAIN);
    const [one, two] = [await open(published), await open(published)];
    for (const { page } of [one, two]) {
      await page.waitForFunction(() => 'shared' in globalThis);
      expect(
        await page.evaluate(() => (globalThis as unknown as Shared).shared.synced.then(() => (globalThis as unknown as Shared).isOne)),
      ).toBe(true);
    }
    await one.page.evaluate(() => {
      const { shared } = globalThis as unknown as Shared;
      shared.doc.getText('text').insert(0, 'hello');
      return shared.saved();
    });
    await two.page.waitForFunction(() => (globalThis as unknown as Shared).shared.doc.getText('text').toString() === 'hello');
    network.cut();
    await one.page.waitForFunction(() => (globalThis as unknown as Shared).shared.state !== 'live');
    await one.page.evaluate(() => (globalThis as unknown as Shared).shared.doc.getText('text').insert(5, ' again'));
    network.restore();
    await two.page.waitForFunction(() => (globalThis as unknown as Shared).shared.doc.getText('text').toString() === 'hello again');
    const noYjs = await open(plain);
    const told = await noYjs.page.evaluate(async () => {
      const { easel } = globalThis as unknown as Scope;
      const shared = (await easel.doc('plain')) as unknown as Shared['shared'];
      await shared.synced;
      shared.doc.getText('text').insert(0, 'alone');
      await shared.saved();
      easel.presence.set({ cursor: 1 });
      const people = await new Promise<unknown[]>((resolve) => easel.presence.on('change', (now) => resolve([...now])));
      return [shared.state, shared.hasUnsaved, easel.state, people.length];
    });
    expect(told).toEqual(['live', false, 'live', 1]);
    expect(noYjs.troubles).toEqual([]);
  });

  it('the guest book shows entries to the other visitor immediately, as text', async () => {
    const published = await publish('guestbook', exampleSite('guestbook'));
    const [one, two] = [await open(published), await open(published)];
    for (const { page } of [one, two]) {
      await page.locator('#state[data-state=live]').waitFor();
      await page.getByText('Nobody has signed yet').waitFor();
    }
    const sign = async ({ page }: Visit, name: string, message: string) => {
      await page.getByLabel('Your name').fill(name);
      await page.getByLabel('Your message').fill(message);
      await page.getByRole('button', { name: 'Sign' }).click();
    };
    await sign(one, 'Ada', 'What a lovely afternoon.\nSee you in spring!');
    for (const { page } of [one, two]) await page.getByRole('listitem').filter({ hasText: 'What a lovely afternoon.' }).waitFor();
    await one.page.getByText('Thank you.').waitFor();

    const attack = '<img src=x onerror="globalThis.pwned=true"><script>globalThis.pwned=true</script>';
    await sign(two, attack, attack);
    await one.page.getByRole('listitem').filter({ hasText: attack }).waitFor();
    // Writers can bypass the form: fields of other types, an id that is a path.
    await two.page.addScriptTag({ url: '/sdk.js' });
    await two.page.evaluate(() =>
      (globalThis as unknown as Scope).easel
        .table<object>('entries')
        .insert({ name: { toString: 'x' }, message: ['<b>'], picture: '../../../x" onerror="globalThis.pwned=true' })
        .then(() => undefined),
    );
    for (const { page } of [one, two]) await page.locator('#entries li').nth(2).waitFor();
    await expect
      .poll(() => one.page.locator('#entries li .message').allTextContents())
      .toEqual(['', attack, 'What a lovely afternoon.\nSee you in spring!']);
    for (const { page } of [one, two]) {
      expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false);
      await expect.poll(() => page.locator('#entries script, #entries p img, #entries .message *').count()).toBe(0);
    }
  });

  it('the guest book takes a picture, and lists entries newest first for later visitors', async () => {
    const published = await publish('guestbook-picture', exampleSite('guestbook'));
    const one = await open(published);
    const picture = await one.page.screenshot({ clip: { x: 290, y: 60, width: 400, height: 160 } });
    const sign = async (name: string, message: string) => {
      await one.page.getByLabel('Your name').fill(name);
      await one.page.getByLabel('Your message').fill(message);
      await one.page.getByRole('button', { name: 'Sign' }).click();
      await one.page.locator('#entries li', { hasText: message }).waitFor();
    };
    // While it is sent nothing can be typed, which would be lost when the form is emptied.
    const held: Route[] = [];
    await one.page.route(
      (url) => url.pathname.endsWith('/entries'),
      (route) => (route.request().method() === 'POST' && held.length === 0 ? void held.push(route) : route.continue()),
    );
    const signed = sign('Ada', 'What a lovely afternoon. See you in spring!');
    await expect.poll(() => held).toHaveLength(1);
    expect(await one.page.getByLabel('Your message').isDisabled()).toBe(true);
    await held[0]?.continue();
    await signed;
    await one.page.getByText('Thank you.').waitFor();
    expect(await one.page.getByLabel('Your message').isEnabled()).toBe(true);
    expect(await one.page.evaluate(() => document.activeElement?.textContent)).toBe('Sign');
    await one.page.getByLabel('A picture').setInputFiles({ name: 'view.png', mimeType: 'image/png', buffer: picture });
    await sign('Grace', 'The view from up here.');
    const later = await open(published);
    const image = later.page.getByRole('img', { name: 'A picture from Grace' });
    await image.waitFor();
    await later.page.waitForFunction(() => [...document.images].every((img) => img.complete && img.naturalWidth === 400));
    await expect.poll(() => later.page.locator('#entries b').allTextContents()).toEqual(['Grace', 'Ada']);
    await expect.poll(() => later.page.locator('#empty').isHidden()).toBe(true);
    await screenshot(later.page, 'guestbook');
    await later.page.emulateMedia({ colorScheme: 'dark' });
    await later.page.setViewportSize({ width: 390, height: 800 });
    await screenshot(later.page, 'guestbook-dark-phone');
    expect(later.troubles).toEqual([]);
  });

  it('the poll counts simultaneous votes and shows them to all', async () => {
    const published = await publish('poll', exampleSite('poll'));
    const [one, two] = [await open(published), await open(published)];
    for (const { page } of [one, two]) await page.locator('#state[data-state=live]').waitFor();
    await Promise.all([
      one.page.getByRole('button', { name: 'Soup' }).click(),
      two.page.getByRole('button', { name: 'Only cake' }).click(),
    ]);
    for (const { page } of [one, two]) await page.addScriptTag({ url: '/sdk.js' });
    await Promise.all(
      [one, two].map(({ page }) =>
        page.evaluate(async () => {
          const { easel } = globalThis as unknown as Scope;
          await Promise.all(
            Array.from({ length: 40 }, (_, vote) => easel.json.increment('votes', 1, { path: vote % 2 === 0 ? '$.soup' : '$.noodles' })),
          );
        }),
      ),
    );
    for (const { page } of [one, two]) {
      await page.getByText('82 votes so far').waitFor();
      await expect
        .poll(() => page.locator('#options .result').allTextContents())
        .toEqual(['41 votes, 50 %', '40 votes, 49 %', '0 votes, 0 %', '1 vote, 1 %']);
    }
    await expect.poll(() => one.page.locator('#total').textContent()).toBe('82 votes so far. You voted for Soup.');
    await expect.poll(() => one.page.getByRole('button', { name: 'Soup' }).getAttribute('aria-pressed')).toBe('true');
    await screenshot(one.page, 'poll');
    await one.page.reload();
    await one.page.getByText('82 votes so far. You voted for Soup.').waitFor();
    // Leaving the page aborts its stream.
    expect([...one.troubles, ...two.troubles].filter((trouble) => !/^failed: .*\/changes\?.* net::ERR_ABORTED$/.test(trouble))).toEqual([]);
  });

  it('the poll explains why a vote is refused if visitors may not write', async () => {
    const { page } = await open(await publish('poll-closed', exampleSite('poll'), false));
    await page.getByRole('button', { name: 'Soup' }).click();
    await page.getByText('Visitors cannot vote here').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Soup' }).isEnabled()).toBe(true);
  });
});
