/** Pages of strangers in the browser that pictures them: they are drawn from their own files, and reach nothing, keep nothing and leave nothing behind. */
import { readdirSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryDir } from '../support/database.ts';
import { describeWith, services } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { launchBrowser } from './browser.ts';
import { keepScreenshot } from './screenshot.ts';
import { canary, chromiumRenderer, lookAt, PATIENCE_MS, processesIn, type Site, siteOf } from './thumbnail-stage.ts';

const NEVER = new AbortController().signal;
const GREEN = '<style>html { background: rgb(0, 255, 0) }</style>';
const SEEN = { width: 640, height: 400, colour: 'green' };

describeWith('chromiumPath')('pictures of pages', () => {
  let browser: Browser;
  const folder = temporaryDir();
  const before = process.env.TMPDIR;
  beforeAll(async () => {
    browser = await launchBrowser();
    // Where the browsers of this file have their profiles.
    process.env.TMPDIR = folder.path;
  });
  afterAll(async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await browser?.close();
    folder.remove();
  });

  async function nothingIsLeft(): Promise<void> {
    await expect.poll(() => processesIn(folder.path), { timeout: PATIENCE_MS }).toEqual([]);
    expect(readdirSync(folder.path)).toEqual([]);
  }

  it('show what the files of a page, its styles, images and scripts come to', async () => {
    const { page, asked } = siteOf({
      '/': { status: 302, headers: [['Location', '/start/']], body: null },
      // The page is complete only when all of them are: what comes later would depend on how fast the machine is.
      '/start/': `<link rel="stylesheet" href="style.css"><img src="dot.svg" onload="this.remove()"><p>Hello</p><script src="script.js"></script>`,
      '/start/style.css': 'html { background: red }',
      '/start/script.js': `
        const asking = new XMLHttpRequest();
        asking.open('GET', 'colour.json', false);
        asking.send();
        document.documentElement.style.background = JSON.parse(asking.responseText).colour;`,
      '/start/dot.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
      '/start/colour.json': '{"colour":"rgb(0,255,0)"}',
    });
    const picture = await chromiumRenderer().draw(page, NEVER);
    expect(await lookAt(browser, picture)).toEqual(SEEN);
    expect(asked).toEqual(expect.arrayContaining(['/', '/start/', '/start/style.css', '/start/script.js', '/start/dot.svg']));
    await nothingIsLeft();
  });

  it.each<[what: string, site: (port: number) => Site]>([
    [
      'ask for something on this machine in every way there is',
      (port) => ({
        '/': `${GREEN}
          <link rel="preconnect" href="http://127.0.0.1:${port}"><link rel="prefetch" href="http://localhost:${port}/prefetch">
          <script type="speculationrules">{"prerender":[{"urls":["http://127.0.0.1:${port}/"]}],"prefetch":[{"urls":["http://127.0.0.1:${port}/"]}]}</script>
          <img src="http://127.0.0.1:${port}/image"><iframe src="http://127.0.0.1:${port}/frame"></iframe>
          <iframe sandbox="allow-scripts" srcdoc="<img src='http://127.0.0.1:${port}/inner'>"></iframe>
          <script src="http://localhost:${port}/script"></script>
          <script>
            const all = [
              () => fetch('http://127.0.0.1:${port}/fetch', { mode: 'no-cors' }),
              () => fetch('http://[::ffff:127.0.0.1]:${port}/', { mode: 'no-cors' }),
              () => navigator.sendBeacon('http://127.0.0.1:${port}/beacon', 'x'),
              () => new WebSocket('ws://127.0.0.1:${port}/'),
              () => new EventSource('http://127.0.0.1:${port}/'),
              () => new WebTransport('https://127.0.0.1:${port}/'),
              () => new Worker(URL.createObjectURL(new Blob(["fetch('http://127.0.0.1:${port}/', { mode: 'no-cors' })"]))),
              () => new SharedWorker('/shared.js'),
              async () => {
                const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] });
                peer.createDataChannel('x');
                await peer.setLocalDescription();
              },
            ];
            for (const one of all) try { Promise.resolve(one()).catch(() => 0); } catch {}
          </script>`,
        '/shared.js': `fetch('http://127.0.0.1:${port}/', { mode: 'no-cors' })`,
      }),
    ],
    ['send themselves elsewhere', (port) => ({ '/': `${GREEN}<meta http-equiv="refresh" content="0;url=http://127.0.0.1:${port}/">` })],
    [
      'open windows, dialogs and downloads',
      (port) => ({
        '/': `<script>
          alert('one'); confirm('two'); prompt('three');
          window.open('http://127.0.0.1:${port}/'); window.open('/other'); print();
          const link = document.createElement('a');
          link.download = 'x.txt'; link.href = 'data:text/plain,x'; link.click();
          onbeforeunload = () => 'stay';
        </script>${GREEN}`,
        '/other': '<style>html { background: red }</style>',
      }),
    ],
    [
      'install a service worker',
      (port) => ({
        '/': `${GREEN}<script>navigator.serviceWorker?.register('/worker.js')</script>`,
        '/worker.js': `fetch('http://127.0.0.1:${port}/', { mode: 'no-cors' }); oninstall = () => skipWaiting()`,
      }),
    ],
    [
      'read files of this machine or data of the service',
      () => ({
        '/': `${GREEN}<iframe src="file:///etc/passwd"></iframe><script>
          for (const path of ['file:///etc/passwd', '/v1/data/art_1/json/key', '/_easel/view']) {
            fetch(path).then(() => { document.documentElement.style.background = 'red'; }, () => 0);
          }
        </script>`,
        '/v1/data/art_1/json/key': '{}',
        '/_easel/view': 'x',
      }),
    ],
  ])('are drawn and reach nothing where pages %s', async (_, site) => {
    const there = await canary();
    try {
      const { page, asked } = siteOf(site(there.port));
      const picture = await chromiumRenderer().draw(page, NEVER);
      expect(await lookAt(browser, picture)).toEqual(SEEN);
      expect(asked.filter((path) => path.startsWith('/v1/') || path.startsWith('/_easel/') || path === '/worker.js')).toEqual([]);
      expect(there.visits()).toBe(0);
    } finally {
      there.close();
    }
    await nothingIsLeft();
  });

  it.each([
    ['never come to an end', '<script>for (;;);</script>', 6000, /within 6000 ms|browser/],
    [
      'fill the heap of scripts',
      '<script>const all = []; for (;;) all.push(new Array(1e5).fill({}));</script>',
      PATIENCE_MS,
      /crashed|memory/,
    ],
    [
      'fill the memory beside that heap',
      '<script>const all = []; for (;;) try { all.push(new Uint8Array(2 ** 25).fill(1)); } catch {}</script>',
      PATIENCE_MS,
      /crashed|memory/,
    ],
    [
      'send more than a page needs',
      "<script>const body = 'x'.repeat(2 ** 23); for (let at = 0; at < 8; at += 1) fetch('/', { method: 'POST', body })</script>",
      PATIENCE_MS,
      /more than a page needs/,
    ],
  ])('are not made of pages that %s, and their browser is gone', async (_, html, deadlineMs, why) => {
    await expect(chromiumRenderer(deadlineMs).draw(siteOf({ '/': html }).page, NEVER)).rejects.toThrow(why);
    await nothingIsLeft();
  });

  it('end at once with the service, and leave no process', async () => {
    const stopping = new AbortController();
    const { page } = siteOf({ '/': '<script>for (;;);</script>' });
    const get: typeof page.files.get = (file) => {
      stopping.abort();
      return page.files.get(file);
    };
    await expect(chromiumRenderer().draw({ ...page, files: { get } }, stopping.signal)).rejects.toThrow('the service stops');
    await nothingIsLeft();
    await expect(chromiumRenderer().draw(page, stopping.signal)).rejects.toThrow();
    await nothingIsLeft();
  });
});

describeWith('chromiumPath')('pictures of pages in the web app', () => {
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start({ THUMBNAILS: 'on', CHROMIUM_PATH: services().chromiumPath ?? '' });
  });
  afterAll(() => stage?.close());

  it('take the place of the drawing once somebody has looked, and of a new version when it is drawn', async () => {
    const { page, client, troubles } = await stage.person('pictures@example.com');
    const id = await publishPage(client, 'Pictured');
    // A failed attempt on a busy machine is repeated once the service's time has passed.
    const pictured = { timeout: PATIENCE_MS, interval: 3000 };
    const thumbnailOf = async () => {
      stage.easel.clock.advance(10_000);
      const [one] = (await client.artifacts.list({ query: {} })).body.artifacts;
      return one?.thumbnail_url ?? null;
    };
    expect(await thumbnailOf()).toBeNull();
    await page.goto(`${stage.origin}/`);
    const card = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Pictured' }) });
    await card.locator('svg.drawing').waitFor();
    await expect.poll(thumbnailOf, pictured).not.toBeNull();
    await page.reload();
    await card.locator('img.is-shown').waitFor();
    const [width, height] = await card.locator('img').evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight]);
    expect([width, height]).toEqual([640, 400]);
    await keepScreenshot(page, 'app light 1280 pictures');
    await page.emulateMedia({ colorScheme: 'dark' });
    await keepScreenshot(page, 'app dark 1280 pictures');

    const first = await thumbnailOf();
    await publishPage(client, 'Pictured', { artifact_id: id, text: 'Another text' });
    expect(await thumbnailOf()).toBeNull();
    await page.reload();
    await card.locator('svg.drawing').waitFor();
    await expect.poll(thumbnailOf, pictured).not.toBeNull();
    expect(await thumbnailOf()).not.toBe(first);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('give way to the drawing where they cannot be had', async () => {
    const { page, client } = await stage.person('broken-pictures@example.com');
    await publishPage(client, 'Broken');
    await page.route('**/thumbnail?*', (route) => route.abort());
    await page.goto(`${stage.origin}/`);
    const found = async () => {
      stage.easel.clock.advance(10_000);
      return (await client.artifacts.list({ query: {} })).body.artifacts[0]?.thumbnail_url ?? null;
    };
    await expect.poll(found, { timeout: PATIENCE_MS, interval: 3000 }).not.toBeNull();
    const refused = page.waitForEvent('requestfailed', (request) => request.url().includes('/thumbnail?'));
    await page.reload();
    await refused;
    const card = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Broken' }) });
    await expect.poll(() => card.locator('img').count()).toBe(0);
    await expect.poll(() => card.locator('svg.drawing').isVisible()).toBe(true);
  });
});
