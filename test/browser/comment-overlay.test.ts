/** The comment overlay in Chromium, used by pointer and by keyboard on different kinds of pages. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { publishSite } from '../support/publishing.ts';
import { describeWith } from '../support/services.ts';
import { launchBrowser } from './browser.ts';
import { pageOf, publishCommented, screenshot, Visitor } from './overlay-stage.ts';

const ESSAY = pageOf(
  '<main style="max-width:34rem;margin:2rem auto;font:18px/1.6 Georgia,serif"><h1>On clocks</h1>' +
    '<p>A clock is a promise that <em>tomorrow</em> will be like today. We keep it by looking.</p>' +
    '<p>Some say that a clock is a promise to be late. They are the ones who wait.</p>' +
    '<p><a href="#x">A link</a> <button>A button of the page</button></p></main>',
);

const HOSTILE = `<style>
  * { all: unset !important; color: red !important; background: lime !important; pointer-events: none !important }
  button, input, textarea, dialog, [role] { display: none !important }
  easel-comments { display: none !important; opacity: 0 !important; visibility: hidden !important; transform: scale(0) !important }
  html { filter: blur(0); transform: translateX(0) } body { display: block !important }
  ::backdrop { background: black !important }
</style>
<script>
  addEventListener('keydown', (event) => { globalThis.typed = (globalThis.typed ?? '') + event.key; }, false);
  document.addEventListener('click', (event) => event.preventDefault());
</script>`;

describeWith('chromiumPath')('the comment overlay', () => {
  let easel: TestEasel;
  let browser: Browser;
  beforeAll(async () => {
    [easel, browser] = await Promise.all([startTestEasel(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await easel?.close();
  });

  const guests = { guestComments: true } as const;

  it('guests comment on a selection, see each other’s comments without a reload, reply and resolve', async () => {
    const site = await publishCommented(easel, 'overlay-guests', ESSAY, guests);
    const [ada, bo] = [await Visitor.open(browser, site), await Visitor.open(browser, site)];
    await ada.startOn('a promise to be late');
    await ada.signIn(easel, site.artifactId, 'Ada');
    await ada.panel.getByLabel('Comment on the selected text').fill('Who says that?');
    await ada.panel.getByRole('button', { name: 'Send' }).click();
    const own = ada.thread('Who says that?');
    await own.getByText('You').waitFor();
    await screenshot(ada.page, 'thread');

    await bo.page.getByRole('button', { name: 'Comments, 1 unread' }).click();
    const seen = bo.thread('Who says that?');
    await seen.getByRole('button', { name: 'Show on the page: a promise to be late' }).waitFor();
    await expect.poll(() => bo.marked()).toEqual(['a promise to be late']);
    await bo.panel.getByRole('button', { name: 'Comment as a guest' }).click();
    await screenshot(bo.page, 'sign-in');
    await bo.signIn(easel, site.artifactId, 'Bo');
    await seen.getByRole('button', { name: 'Reply to Ada' }).click();
    await seen.getByRole('textbox', { name: 'Reply to Ada' }).fill('My grandmother.');
    await seen.getByRole('button', { name: 'Send' }).click();
    // Only the author of a thread can resolve it.
    await seen.getByText('My grandmother.').waitFor();
    await expect.poll(() => seen.getByRole('button', { name: 'Resolve' }).count()).toBe(0);

    await own.getByText('My grandmother.').waitFor();
    await own.getByText('New').waitFor();
    await screenshot(ada.page, 'replied');
    await own.getByRole('button', { name: 'Resolve' }).click();
    const resolved = bo.panel.locator('details', { hasText: 'Resolved' });
    await resolved.getByText('Resolved').click();
    await resolved.getByText('Who says that?').waitFor();
    expect([await ada.marked(), await bo.marked()]).toEqual([[], []]);
    expect([...ada.troubles, ...bo.troubles]).toEqual([]);
  });

  it('own comments are edited and deleted, and all comments take reactions', async () => {
    const site = await publishCommented(easel, 'overlay-own', ESSAY, guests);
    const [ada, bo] = [await Visitor.open(browser, site), await Visitor.open(browser, site)];
    await ada.launcher.click();
    await ada.panel.getByRole('button', { name: 'Comment as a guest' }).click();
    await ada.signIn(easel, site.artifactId, 'Ada');
    await ada.panel.getByRole('button', { name: 'Comment on this page' }).click();
    await ada.panel.getByRole('textbox', { name: 'Comment on this page' }).fill('Nice page');
    await ada.page.keyboard.press('Control+Enter');
    await ada.thread('Nice page').getByRole('button', { name: 'Edit' }).click();
    await ada.panel.getByRole('textbox', { name: 'Edit your comment' }).fill('Very nice page');
    await ada.panel.getByRole('button', { name: 'Save' }).click();
    await ada.thread('Very nice page').getByText('edited').waitFor();
    await bo.launcher.click();
    const seen = bo.thread('Very nice page');
    await seen.waitFor();
    const own = ada.thread('Very nice page');
    await own.getByRole('button', { name: 'Add a reaction' }).click();
    await screenshot(ada.page, 'reactions');
    await own.getByRole('button', { name: 'React with 🎉' }).click();
    await own.getByRole('button', { name: '🎉 1, yours', pressed: true }).waitFor();
    await seen.getByLabel('🎉 1').waitFor();
    await own.getByRole('button', { name: '🎉 1, yours' }).click();
    await own.getByRole('button', { name: '🎉 1, yours' }).waitFor({ state: 'detached' });
    await own.getByRole('button', { name: 'Delete' }).click();
    await own.getByRole('button', { name: 'Yes, delete' }).click();
    await seen.waitFor({ state: 'detached' });
    await bo.panel.getByText('No comments yet').waitFor();
    expect([...ada.troubles, ...bo.troubles]).toEqual([]);
  });

  it('a named visitor comments with the keyboard only', async () => {
    const site = await publishCommented(easel, 'overlay-keys', ESSAY, { identityMode: 'named' });
    const { page, panel, launcher, troubles } = await Visitor.open(browser, site);
    const focusedName = () =>
      page.evaluate(() => {
        const inner = document.activeElement?.shadowRoot?.activeElement ?? document.activeElement;
        return inner?.getAttribute('aria-label') ?? inner?.textContent ?? '';
      });
    // The focus moves when the server has answered, which may be later than the socket shows the comment.
    const focusIsOn = (name: string) => expect.poll(focusedName).toBe(name);
    await page.getByRole('button', { name: 'A button of the page' }).focus();
    await page.keyboard.press('Alt+Shift+C');
    await panel.waitFor();
    await focusIsOn('Comments');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await focusIsOn('Comment on this page');
    await page.keyboard.press('Enter');
    await page.keyboard.type('By keys alone');
    await page.keyboard.press('Control+Enter');
    // A name is required.
    await panel.getByRole('alert').getByText('Enter your name first.').waitFor();
    await page.keyboard.type('Kay');
    await page.keyboard.press('Enter');
    await panel.getByText('By keys alone').waitFor();
    await panel.getByText('Kay', { exact: true }).waitFor();
    await panel.getByRole('textbox', { name: 'Comment on this page' }).waitFor({ state: 'detached' });
    await focusIsOn('Comment on this page');
    await page.keyboard.press('Alt+Shift+J');
    await focusIsOn('A button of the page');
    await page.keyboard.press('Alt+Shift+J');
    await focusIsOn('Comments');
    // Escape leaves the field and then the panel, and the focus returns to the page.
    await panel.getByRole('button', { name: 'Comment on this page' }).press('Enter');
    await page.keyboard.press('Escape');
    await expect.poll(() => panel.isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await focusIsOn('A button of the page');
    await expect.poll(() => launcher.isVisible()).toBe(true);
    // A selection made with the keyboard.
    await page.evaluate(() => getSelection()?.selectAllChildren(document.querySelector('h1') ?? document.body));
    await page.keyboard.press('Alt+Shift+C');
    await focusIsOn('Comment on the selected text');
    await expect.poll(() => panel.getByRole('blockquote').textContent()).toBe('On clocks');
    expect(troubles).toEqual([]);
  });

  it('the panel traps the focus on a small screen until it is closed', async () => {
    const site = await publishCommented(easel, 'overlay-phone', ESSAY, { identityMode: 'anonymous' });
    const phone = { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true } as const;
    const { page, panel, launcher, troubles } = await Visitor.open(browser, site, phone);
    await screenshot(page, 'phone-closed');
    await launcher.tap();
    await expect.poll(() => panel.getAttribute('aria-modal')).toBe('true');
    await screenshot(page, 'phone-open');
    const isWithin = () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.closest('[role=dialog]') !== null);
    const seen = new Set<string>();
    for (let presses = 0; presses < 8; presses += 1) {
      await page.keyboard.press(presses < 5 ? 'Tab' : 'Shift+Tab');
      expect(await isWithin()).toBe(true);
      seen.add(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.outerHTML ?? ''));
    }
    expect(seen.size).toBe(3);
    await panel.getByRole('button', { name: 'Comment on this page' }).tap();
    await screenshot(page, 'phone-composer');
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    expect(troubles).toEqual([]);
  });

  it('unread comments are counted until they are seen, also after a reload', async () => {
    const site = await publishCommented(easel, 'overlay-unread', ESSAY, { identityMode: 'anonymous' });
    const params = { artifactId: site.artifactId as never };
    const say = (content: string) => site.client.comments.create({ params, body: { content, authorName: 'x', contextId: '/' } });
    await say('one');
    await say('two');
    const { page, panel, launcher } = await Visitor.open(browser, site);
    await page.getByRole('button', { name: 'Comments, 2 unread' }).waitFor();
    await say('three');
    await page.getByRole('button', { name: 'Comments, 3 unread' }).click();
    await panel.getByText('three').waitFor();
    await expect.poll(() => panel.getByText('New', { exact: true }).count()).toBe(3);
    await page.reload();
    await launcher.click();
    await panel.getByText('three').waitFor();
    await expect.poll(() => panel.getByText('New', { exact: true }).count()).toBe(0);
    await expect.poll(() => launcher.getAttribute('aria-label')).toBe('Comments');
  });

  it('finds a passage again when the page changes, and marks it when it is outdated', async () => {
    const site = await publishCommented(easel, 'overlay-anchors', ESSAY, { identityMode: 'anonymous' });
    const ada = await Visitor.open(browser, site);
    await ada.startOn('a promise to');
    await ada.panel.getByLabel('Comment on the selected text').fill('the second');
    await ada.panel.getByRole('button', { name: 'Send' }).click();
    await ada.thread('the second').waitFor();
    // The same words are inserted before the passage, with other words around them.
    await ada.page.evaluate(() => {
      const [first, second] = document.querySelectorAll('p');
      second?.insertAdjacentHTML('beforebegin', '<p>What is not a promise to anybody.</p>');
      second?.replaceWith(second.cloneNode(true));
      first?.remove();
    });
    await ada.page.waitForFunction(() =>
      [...(CSS.highlights.get('easel-comment') ?? [])].some(
        (range) =>
          (range as Range).startContainer.isConnected && (range as Range).startContainer.parentElement?.textContent?.startsWith('Some say'),
      ),
    );
    await publishSite(site.client, pageOf('<h1>On clocks</h1><p>They are late.</p>'), { artifact_id: site.artifactId });
    await ada.page.reload();
    await ada.launcher.click();
    await ada.panel.getByRole('heading', { name: 'Outdated: the text has changed' }).waitFor();
    await ada.panel.getByRole('list', { name: 'Outdated: the text has changed' }).getByText('the second').waitFor();
    await screenshot(ada.page, 'outdated');
    await expect.poll(() => ada.marked()).toEqual([]);
  });

  it('a passage is selected by dragging, and a click on it opens its thread', async () => {
    const site = await publishCommented(easel, 'overlay-pointer', ESSAY, { identityMode: 'anonymous' });
    const { page, panel } = await Visitor.open(browser, site);
    const words = await page.locator('p em').boundingBox();
    if (words === null) throw new Error('no words');
    const middle = words.y + words.height / 2;
    await page.mouse.move(words.x + 1, middle);
    await page.mouse.down();
    await page.mouse.move(words.x + words.width + 40, middle, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Comment on the selected text' }).click();
    await expect.poll(() => panel.getByRole('blockquote').textContent()).toMatch(/^tomorrow w/);
    await panel.getByLabel('Comment on the selected text').fill('dragged');
    await panel.getByRole('button', { name: 'Send' }).click();
    await panel.getByText('dragged').waitFor();
    // The socket may show the comment before the form has its answer and closes; until then Escape is the form's.
    await panel.getByLabel('Comment on the selected text').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await page.evaluate(() => getSelection()?.removeAllRanges());
    await page.mouse.click(words.x + 10, middle);
    await panel.getByRole('listitem', { name: 'Thread by Anonymous' }).and(page.locator(':focus')).waitFor();
  });

  it('lists comments on other pages, with links that open them there', async () => {
    const two = new Map([
      ...ESSAY,
      ['docs/more.html', Buffer.from('<!doctype html><title>More</title><link rel="icon" href="data:,"><p>Words of another page.</p>')],
    ]);
    const site = await publishCommented(easel, 'overlay-pages', two, { identityMode: 'anonymous' });
    const params = { artifactId: site.artifactId as never };
    const quote = { exact: 'Words of another' };
    await site.client.comments.create({ params, body: { content: 'elsewhere', contextId: '/docs/more.html', quote } });
    for (let count = 0; count < 53; count += 1) await site.client.comments.create({ params, body: { content: `of many ${count}.` } });
    const { page, panel, launcher } = await Visitor.open(browser, site);
    await launcher.click();
    // A long list shows the first ones, and more on request.
    await panel.getByText('of many 49.').waitFor();
    await expect.poll(() => panel.getByText('of many 50.').count()).toBe(0);
    await panel.getByRole('button', { name: 'Show 3 more' }).click();
    await panel.getByText('of many 52.').waitFor();
    await panel.getByRole('link', { name: 'docs/more.html' }).click();
    await page.waitForURL('**/docs/more.html#comment-*');
    await panel.getByRole('button', { name: 'Show on the page: Words of another' }).waitFor();
    await panel.locator('li:focus', { hasText: 'elsewhere' }).waitFor();
  });

  it('shows comments without WebSockets, and recognises its guest after a reload', async () => {
    const site = await publishCommented(easel, 'overlay-http', ESSAY, guests);
    const ada = await Visitor.open(browser, site, {}, () => {
      globalThis.WebSocket = class extends EventTarget {
        constructor() {
          super();
          queueMicrotask(() => this.dispatchEvent(new Event('close')));
        }
        close() {
          this.dispatchEvent(new Event('close'));
        }
      } as never;
    });
    await ada.startOn('a promise to be late');
    await ada.signIn(easel, site.artifactId, 'Ada');
    await ada.panel.getByLabel('Comment on the selected text').fill('by HTTP');
    await ada.panel.getByRole('button', { name: 'Send' }).click();
    await ada.thread('by HTTP').waitFor();
    await ada.page.reload();
    await ada.launcher.click();
    await ada.panel.getByText('The connection is lost.').waitFor();
    await ada.thread('by HTTP').getByRole('button', { name: 'Edit' }).waitFor();
    await ada.panel.getByText('You are commenting as Ada.').waitFor();
    await ada.panel.getByRole('button', { name: 'Not you?' }).click();
    await ada.panel.getByRole('button', { name: 'Comment as a guest' }).waitFor();
    await expect.poll(() => ada.thread('by HTTP').getByRole('button', { name: 'Edit' }).count()).toBe(0);
  });

  it('draws boxes above the text in browsers without CSS highlights, and changes no element of the page', async () => {
    const site = await publishCommented(easel, 'overlay-boxes', ESSAY, { identityMode: 'anonymous' });
    const ada = await Visitor.open(browser, site, {}, () => Reflect.deleteProperty(CSS, 'highlights'));
    const before = await ada.page.evaluate(() => document.body.innerHTML);
    await ada.startOn('a promise to be late');
    await ada.panel.getByLabel('Comment on the selected text').fill('boxed');
    await ada.panel.getByRole('button', { name: 'Send' }).click();
    await ada.thread('boxed').waitFor();
    const mark = ada.page.locator('easel-comments .mark').first();
    const place = () =>
      ada.page.evaluate(() => {
        const range = document.createRange();
        const node = document.querySelectorAll('p')[1]?.firstChild;
        if (!node) throw new Error('no text');
        const at = (node as Text).data.indexOf('a promise to be late');
        range.setStart(node, at);
        range.setEnd(node, at + 20);
        const { x, y, width, height } = range.getClientRects()[0] as DOMRect;
        return { x, y, width, height };
      });
    // The page may still move when the thread comes; the box follows with the next frame.
    await vi.waitFor(async () => expect(await mark.boundingBox()).toEqual(await place()), { timeout: 60_000, interval: 100 });
    expect(await ada.page.evaluate(() => document.body.innerHTML)).toBe(before);
  });

  it('is not affected by a page that restyles, hides and listens to everything', async () => {
    const hostile = pageOf('<p>Words of a hostile page.</p>', HOSTILE);
    const site = await publishCommented(easel, 'overlay-hostile', hostile, { identityMode: 'anonymous' });
    const ada = await Visitor.open(browser, site);
    await ada.startOn('Words of a hostile');
    await ada.panel.getByLabel('Comment on the selected text').fill('still works');
    await ada.page.keyboard.type(' abc');
    await ada.panel.getByRole('button', { name: 'Send' }).click();
    await ada.thread('still works').waitFor();
    await screenshot(ada.page, 'hostile');
    const looks = await ada.panel.evaluate((panel) => {
      const { color, backgroundColor, position, fontSize } = getComputedStyle(panel);
      const { right, width } = panel.getBoundingClientRect();
      return { color, backgroundColor, position, fontSize, gap: innerWidth - right, width };
    });
    expect(looks).toEqual({
      color: 'rgb(28, 30, 33)',
      backgroundColor: 'rgb(255, 255, 255)',
      position: 'absolute',
      fontSize: '15px',
      gap: 16,
      width: 372,
    });
    expect(await ada.page.evaluate(() => (globalThis as unknown as { typed?: string }).typed)).toBeUndefined();
    // It returns after the page removes everything.
    await ada.page.evaluate(() => document.documentElement.replaceChildren(document.createElement('body')));
    await ada.thread('still works').waitFor();
  });

  it('works with a strict content security policy', async () => {
    const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; connect-src 'self'; require-trusted-types-for 'script'">`;
    const site = await publishCommented(easel, 'overlay-policy', pageOf('<p>Words under a policy.</p>', policy), {
      identityMode: 'anonymous',
    });
    const ada = await Visitor.open(browser, site);
    await ada.startOn('Words under');
    await ada.panel.getByLabel('Comment on the selected text').fill('allowed');
    await ada.panel.getByRole('button', { name: 'Send' }).click();
    await ada.thread('allowed').waitFor();
    expect(ada.troubles.filter((trouble) => !trouble.includes('data:,'))).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('every control has a name, and every text has enough contrast: %s', async (colorScheme) => {
    const site = await publishCommented(easel, `overlay-${colorScheme}`, exampleSite('guestbook'), { identityMode: 'named', ...guests });
    const ada = await Visitor.open(browser, site, { colorScheme });
    await ada.startOn('Everybody who has this page');
    await ada.panel
      .getByLabel('Comment on the selected text')
      .fill('A comment that is long enough to need more than one line of the panel.');
    await ada.panel.getByLabel('Your name').fill('Ada Lovelace');
    await ada.panel.getByRole('button', { name: 'Send' }).click();
    await ada.thread('A comment that').getByRole('button', { name: 'Reply to Ada Lovelace' }).click();
    await ada.panel.getByText('Keyboard shortcuts').click();
    await screenshot(ada.page, `guestbook-${colorScheme}`);
    expect(await unnamed(ada.panel)).toEqual([]);
    expect(await faint(ada.panel)).toEqual([]);
    await ada.panel.getByRole('button', { name: 'Comment as a guest' }).click();
    expect(await unnamed(ada.panel)).toEqual([]);
    expect(await faint(ada.panel)).toEqual([]);
  });
});

function exampleSite(name: string): Map<string, Buffer> {
  const folder = join(import.meta.dirname, '../../deploy/examples', name);
  return new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))]));
}

/** Finds controls without a name, duplicate or dangling ids, and invalid roles. */
function unnamed(panel: Locator): Promise<string[]> {
  return panel.evaluate((root) => {
    const controls = [...root.querySelectorAll<HTMLElement>('button,a,input,textarea,summary,[role],ul,section')];
    const nameOf = (control: HTMLElement) => {
      const labels = 'labels' in control ? [...((control as HTMLInputElement).labels ?? [])] : [];
      const referred = control.getAttribute('aria-labelledby');
      const named = referred === null ? '' : (root.querySelector(`#${referred}`)?.textContent ?? '');
      return `${control.getAttribute('aria-label') ?? ''}${named}${labels.map(({ textContent }) => textContent).join('')}${control.textContent}`.trim();
    };
    const silent = new Set(['alert', 'status']);
    return controls
      .filter((control) => control.checkVisibility() && !silent.has(control.getAttribute('role') ?? '') && nameOf(control) === '')
      .map(({ outerHTML }) => outerHTML);
  });
}

/** Finds texts with a contrast ratio below 4.5 to 1. */
function faint(panel: Locator): Promise<string[]> {
  return panel.evaluate((root) => {
    const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = (color: string) => {
      const [r = 0, g = 0, b = 0] = channels(color).map((value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element: Element | null): string => {
      for (let at = element; at !== null; at = at.parentElement) {
        const { backgroundColor } = getComputedStyle(at);
        if ((channels(backgroundColor)[3] ?? 1) === 1) return backgroundColor;
      }
      return 'rgb(255, 255, 255)';
    };
    const found: string[] = [];
    for (const element of root.querySelectorAll('*')) {
      const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '');
      if (!hasText || !element.checkVisibility()) continue;
      const [one, other] = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((a, b) => b - a);
      const contrast = ((one ?? 0) + 0.05) / ((other ?? 0) + 0.05);
      if (contrast < 4.5) found.push(`${contrast.toFixed(2)} ${element.outerHTML}`);
    }
    return found;
  });
}
