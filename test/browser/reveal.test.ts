/** A real third-party web site, published and shown in a browser. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Client } from '../../src/clients/sdk/client.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { wire } from '../support/page-requests.ts';
import { clientOf, type Publication, publishSite, revealDemo } from '../support/publishing.ts';
import { describeWith } from '../support/services.ts';
import { launchBrowser, visit } from './browser.ts';

/** The part of the reveal.js API that the tests use inside the page. */
interface Reveal {
  isReady(): boolean;
  getTotalSlides(): number;
  getIndices(): { h: number };
  hasPlugin(id: string): boolean;
  slide(h: number): void;
  on(event: string, listener: () => void): void;
}

/** Folder for screenshots that a person can look at; none are saved if it is not set. */
const SCREENSHOT_DIR = process.env.SCREENSHOT_DIR;

async function screenshot(page: Page, name: string): Promise<void> {
  if (SCREENSHOT_DIR === undefined) return;
  mkdirSync(SCREENSHOT_DIR, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOT_DIR, `${name}.png`) });
}

const ready = (page: Page) => page.waitForFunction(() => (globalThis as unknown as { Reveal?: Reveal }).Reveal?.isReady());
const horizontalIndex = (page: Page) => page.evaluate(() => (globalThis as unknown as { Reveal: Reveal }).Reveal.getIndices().h);

describeWith('chromiumPath')('the demo of reveal.js, published and opened in Chromium', () => {
  let easel: TestEasel;
  let browser: Browser;
  let client: Client;
  let published: Publication;
  const demo = revealDemo();

  beforeAll(async () => {
    [easel, browser] = await Promise.all([startTestEasel(), launchBrowser()]);
    const { token } = await easel.newUser('pro');
    client = clientOf(easel, token);
    published = await publishSite(client, demo, { slug: 'reveal-demo', name: 'reveal.js', entrypoint: 'demo.html', visibility: 'public' });
  });
  afterAll(async () => {
    await browser?.close();
    await easel?.close();
  });

  async function open(url = published.url) {
    const opened = await visit(browser, new URL(url).origin);
    await opened.page.goto(url, { waitUntil: 'load' });
    return opened;
  }

  it('every file loads without errors, and the page’s script runs', async () => {
    expect(published.url).toMatch(/^http:\/\/reveal-demo\.localhost:\d+\/?$/);
    const { page, troubles, answered } = await open();
    await ready(page);
    await expect.poll(() => page.title()).toBe('reveal.js – The HTML Presentation Framework');
    const state = await page.evaluate(() => {
      const { Reveal: reveal } = globalThis as unknown as { Reveal: Reveal };
      return {
        slides: reveal.getTotalSlides(),
        plugins: ['zoom', 'notes', 'search', 'markdown', 'highlight'].filter((id) => reveal.hasPlugin(id)),
        font: [...document.fonts].some((font) => font.family.includes('Source Sans Pro') && font.status === 'loaded'),
        highlighted: document.querySelectorAll('.hljs-keyword').length > 0,
      };
    });
    expect(state).toEqual({
      slides: expect.any(Number),
      plugins: ['zoom', 'notes', 'search', 'markdown', 'highlight'],
      font: true,
      highlighted: true,
    });
    expect(state.slides).toBeGreaterThan(20);
    expect([...answered.keys()]).toEqual(
      expect.arrayContaining(['/', '/dist/reveal.js', '/dist/theme/black.css', '/dist/plugin/markdown.js']),
    );
    await screenshot(page, 'reveal-first');

    const before = await horizontalIndex(page);
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction((h) => (globalThis as unknown as { Reveal: Reveal }).Reveal.getIndices().h === h, before + 1);
    await expect.poll(() => page.locator('section.present h2').first().textContent()).toMatch(/hello there/i);
    await page.evaluate(
      () =>
        new Promise((resolve) => {
          const { Reveal: reveal } = globalThis as unknown as { Reveal: Reveal };
          reveal.on('slidetransitionend', () => resolve(null));
          reveal.slide(4);
        }),
    );
    await expect.poll(() => page.locator('section.present code.hljs').first().isVisible()).toBe(true);
    await screenshot(page, 'reveal-code');
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it('a second visit gets 304s and precompressed scripts', async () => {
    const ask = (headers: Record<string, string>) => wire(easel.port, new URL(published.url).host, '/dist/reveal.js', { headers });
    // The previous visit requested the compressed forms, which are made in the background.
    const compressed = await vi.waitFor(async () => {
      const answer = await ask({ 'accept-encoding': 'br' });
      expect(answer.headers['content-encoding']).toBe('br');
      return answer;
    }, 60_000);
    expect(brotliDecompressSync(compressed.body).equals(demo.get('dist/reveal.js') ?? Buffer.alloc(0))).toBe(true);
    const again = await ask({ 'accept-encoding': 'br', 'if-none-match': String(compressed.headers.etag) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  it('a new version shows immediately, and a rollback shows the first again', async () => {
    const changed = new Map(demo);
    const html = demo.get('demo.html')?.toString('utf8') ?? '';
    changed.set('demo.html', Buffer.from(html.replace('The HTML Presentation Framework</h3>', 'The Second Version</h3>')));
    const second = await publishSite(client, changed, { artifact_id: published.artifactId, entrypoint: 'demo.html' });
    expect(second.sent).toBe(1);

    const { page, troubles } = await open();
    await ready(page);
    const heading = page.locator('section.present h3').first();
    await expect.poll(() => heading.textContent()).toMatch(/the second version/i);

    const params = { id: published.artifactId } as never;
    await client.versions.rollback({ params, body: { version_id: published.versionId as never } });
    await page.reload();
    await ready(page);
    await expect.poll(() => heading.textContent()).toMatch(/the html presentation framework/i);
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it('is the same page after export and import', async () => {
    const elsewhere = await startTestEasel();
    try {
      const exported = await client.artifacts.export({ params: { id: published.artifactId } as never });
      const { token } = await elsewhere.newUser('pro');
      const there = clientOf(elsewhere, token);
      const imported = await there.artifacts.import({ query: { slug: 'moved-here' }, body: exported.body as Uint8Array });
      const { artifact, deployment } = imported.body;
      await there.artifacts.update({ params: { id: artifact.id } as never, body: { visibility: 'public' } });
      const { page, troubles } = await open(deployment.url);
      await ready(page);
      await expect.poll(() => page.title()).toBe('reveal.js – The HTML Presentation Framework');
      for (const path of ['demo.html', 'dist/reveal.js', 'dist/theme/black.css', 'LICENSE']) {
        const copy = await wire(elsewhere.port, new URL(deployment.url).host, `/${path}`);
        expect(copy.body.equals(demo.get(path) ?? Buffer.alloc(0))).toBe(true);
      }
      expect(troubles).toEqual([]);
      await page.context().close();
    } finally {
      await elsewhere.close();
    }
  });

  it('a deleted page is gone immediately', async () => {
    await client.artifacts.delete({ params: { id: published.artifactId } as never });
    const { page } = await open();
    await expect.poll(() => page.locator('h1').textContent()).toBe('There is no page here');
    await page.context().close();
  });
});
