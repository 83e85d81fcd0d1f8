/** The built collaborative examples, each in two or three browsers, also with a server that is killed in between. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/clients/sdk/client.ts';
import { temporaryDir } from '../support/database.ts';
import { keepablePort } from '../support/ports.ts';
import { type Program, startProgram } from '../support/program.ts';
import { clientOf, type Publication, publishSite, type Site } from '../support/publishing.ts';
import { describeWith, services } from '../support/services.ts';
import { launchBrowser, type Visit, visit } from './browser.ts';

/** Folder for screenshots that a person can look at; none are saved if it is not set. */
const { SCREENSHOT_DIR } = process.env;

/** Browsers wait longer after each failed reconnect. */
const COMES_BACK = { timeout: 60_000 };
const PHONE = { width: 390, height: 800 };

async function screenshot(page: Page, name: string): Promise<void> {
  if (SCREENSHOT_DIR === undefined) return;
  mkdirSync(SCREENSHOT_DIR, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOT_DIR, `${name}.png`), animations: 'disabled' });
}

/** Takes screenshots also in dark mode and at phone size. */
async function screenshots(page: Page, name: string): Promise<void> {
  await screenshot(page, name);
  await page.emulateMedia({ colorScheme: 'dark' });
  await screenshot(page, `${name}-dark`);
  await page.setViewportSize(PHONE);
  await screenshot(page, `${name}-dark-phone`);
}

function builtExample(name: string): Site {
  const folder = join(services().builtDir, 'examples', name);
  return new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))]));
}

/**
 * Errors of a page, except those caused by killing the server. After a socket that did not open, the SDK asks by a plain request why; a server that is
 * back by then answers 426.
 */
function ownTroubles({ troubles }: Visit): readonly string[] {
  return troubles.filter(
    (trouble) => !/^404: .*\/query$|status of 404|^426: .*\/(?:channels|realtime)$|status of 426|net::ERR_|503/.test(trouble),
  );
}

/** The visible text of the editor, without the names at other cursors. */
function linesOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('.cm-line')].map((line) => {
      const copy = line.cloneNode(true) as Element;
      for (const caret of copy.querySelectorAll('.cm-ySelectionCaret')) caret.remove();
      return copy.textContent ?? '';
    }),
  );
}

const peopleOf = (page: Page) => page.locator('#people li');
const cursorsOf = (page: Page) => page.locator('.cm-ySelectionInfo');
const saved = (page: Page) => page.locator('#state').getByText('saved', { exact: true });
const strokesOf = (page: Page) => page.locator('#strokes path');
const shapesOf = (page: Page) => strokesOf(page).evaluateAll((paths) => paths.map((path) => path.getAttribute('d')));
const column = (page: Page, id: string) => page.locator(`[data-column=${id}]`);
const cardsOf = (page: Page, id: string) => column(page, id).locator('.text');
const card = (page: Page, text: string) => page.locator('[data-card]').filter({ hasText: text });

async function type(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').press('Control+End');
  await page.keyboard.type(text);
}

/** Draws a diagonal across a part of the board; coordinates are fractions of its width. */
async function draw(page: Page, from: readonly [number, number], to: readonly [number, number]): Promise<void> {
  const box = await page.locator('#sheet').boundingBox();
  if (box === null) throw new Error('the board is not to be seen');
  const place = ([x, y]: readonly [number, number]) => [box.x + box.width * x, box.y + box.height * y] as const;
  await page.mouse.move(...place(from));
  await page.mouse.down();
  await page.mouse.move(...place(to), { steps: 12 });
  await page.mouse.up();
}

async function addCards(page: Page, id: string, ...texts: readonly string[]): Promise<void> {
  const field = column(page, id).getByPlaceholder('Add a card');
  for (const text of texts) {
    await field.fill(text);
    await field.press('Enter');
    await card(page, text).waitFor();
  }
}

const texts = (locator: Locator) => expect.poll(() => locator.allTextContents(), COMES_BACK);

describeWith('chromiumPath')('the examples in which many write at once', () => {
  const folder = temporaryDir();
  let program: Program;
  let browser: Browser;
  let port: number;
  const start = () => startProgram({ DATA_DIR: folder.path, PORT: String(port), DEFAULT_TIER: 'pro' });
  beforeAll(async () => {
    port = await keepablePort();
    [program, browser] = await Promise.all([start(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await program?.end('SIGTERM');
    folder.remove();
  });

  async function publish(example: string, slug = example, allow_anon_collab = true): Promise<Publication> {
    const { body } = await createClient({ baseUrl: program.baseUrl }).accounts.create({});
    const client = clientOf(program, body.token);
    const published = await publishSite(client, builtExample(example), { slug, visibility: 'public' });
    await client.artifacts.update({
      params: { id: published.artifactId as never },
      body: { allow_anon_write: true, allow_anon_collab },
    });
    return published;
  }

  async function open({ url }: Publication): Promise<Visit> {
    const opened = await visit(browser, new URL(url).origin);
    onTestFinished(() => opened.page.context().close());
    await opened.page.goto(url);
    return opened;
  }

  async function openEditor(published: Publication, name: string): Promise<Visit> {
    const opened = await open(published);
    await saved(opened.page).waitFor();
    await opened.page.getByLabel('Your name').fill(name);
    await opened.page.locator('.cm-content').click();
    return opened;
  }

  async function openAll(count: number, published: Publication): Promise<readonly Visit[]> {
    const all = await Promise.all(Array.from({ length: count }, () => open(published)));
    for (const { page } of all)
      await peopleOf(page)
        .nth(count - 1)
        .waitFor();
    return all;
  }

  it('three people write one text, see each other’s named cursors, and see who leaves', async () => {
    const published = await publish('editor');
    const ada = await openEditor(published, 'Ada');
    const grace = await openEditor(published, 'Grace');
    // Names are shown as plain text.
    const mallory = await openEditor(published, '<img src=x onerror="pwned=1">');
    await type(ada.page, 'Dear all,\n');
    for (const { page } of [grace, mallory]) await expect.poll(() => linesOf(page)).toEqual(['Dear all,', '']);
    await type(grace.page, 'we meet at noon.\n');
    for (const { page } of [ada, mallory]) await expect.poll(() => linesOf(page)).toEqual(['Dear all,', 'we meet at noon.', '']);
    // All at the same time, in the same place.
    const all = [ada, grace, mallory];
    await Promise.all(all.map(({ page }, i) => type(page, 'abc'.charAt(i).repeat(20))));
    await expect.poll(async () => new Set(await Promise.all(all.map(async ({ page }) => (await linesOf(page)).join('\n')))).size).toBe(1);
    const last = (await linesOf(ada.page)).at(-1) ?? '';
    for (const letter of 'abc') expect(last.split(letter)).toHaveLength(21);
    for (const { page } of all) await saved(page).waitFor();

    await texts(cursorsOf(ada.page)).toEqual(expect.arrayContaining(['Grace', '<img src=x onerror="pwned=1">']));
    await expect.poll(() => peopleOf(ada.page).count()).toBe(3);
    expect(await ada.page.evaluate(() => 'pwned' in globalThis)).toBe(false);
    await expect.poll(() => ada.page.locator('.cm-content img:not(.cm-widgetBuffer), #people img').count()).toBe(0);
    await screenshots(grace.page, 'editor');
    await mallory.page.context().close();
    await texts(cursorsOf(ada.page)).toEqual(['Grace']);
    await expect.poll(() => peopleOf(ada.page).count()).toBe(2);
    // Undo affects only own changes.
    await ada.page.locator('.cm-content').press('Control+z');
    await expect.poll(async () => (await linesOf(grace.page)).join('\n')).not.toContain('a'.repeat(3));
    expect((await linesOf(ada.page)).at(-1)?.split('b')).toHaveLength(21);
    expect([...ada.troubles, ...grace.troubles]).toEqual([]);
  });

  it('a text loses nothing when the server is killed while two people write on', { timeout: 120_000 }, async () => {
    const published = await publish('editor', 'editor-crash');
    const [ada, grace] = [await openEditor(published, 'Ada'), await openEditor(published, 'Grace')];
    await type(ada.page, 'before\n');
    await expect.poll(() => linesOf(grace.page)).toEqual(['before', '']);
    await saved(ada.page).waitFor();
    await Promise.all([type(ada.page, '[ada writes as it dies]'), type(grace.page, '[grace too]'), program.end('SIGKILL')]);
    for (const { page } of [ada, grace]) await page.locator('#state:not([data-state=live], [data-state=saving])').waitFor();
    await type(ada.page, '[ada without a server]');
    await type(grace.page, '[grace without a server]');
    program = await start();
    const [one, two] = [ada, grace].map(({ page }) => page) as [Page, Page];
    for (const page of [one, two]) await saved(page).waitFor(COMES_BACK);
    const letters = [...'before\n[ada writes as it dies][grace too][ada without a server][grace without a server]'].sort().join('');
    const lettersOf = async (page: Page) => [...(await linesOf(page)).join('\n')].sort().join('');
    for (const page of [one, two]) await expect.poll(() => lettersOf(page), COMES_BACK).toBe(letters);
    const text = (await linesOf(one)).join('\n');
    await expect.poll(async () => (await linesOf(two)).join('\n')).toBe(text);
    for (const whole of ['[ada without a server]', '[grace without a server]']) expect(text).toContain(whole);
    const later = await openEditor(published, 'Later');
    await expect.poll(async () => (await linesOf(later.page)).join('\n')).toBe(text);
    await type(later.page, ' after');
    for (const page of [one, two]) await expect.poll(async () => (await linesOf(page)).join('\n')).toBe(`${text} after`);
    await expect.poll(() => cursorsOf(one).allTextContents()).toContain('Grace');
    for (const each of [ada, grace, later]) expect(ownTroubles(each)).toEqual([]);
  });

  it('tells visitors without access, and does not let them write', async () => {
    const [editor, board] = [await publish('editor', 'editor-closed', false), await publish('whiteboard', 'whiteboard-closed', false)];
    for (const { page } of [await open(editor), await open(board)]) {
      await page.getByText(/Visitors cannot (edit|draw) here until the owner allows it/).waitFor();
      await page.locator('#state[data-state=refused]').waitFor();
      if ((await page.locator('.cm-content').count()) === 1) await type(page, 'lost');
      else await draw(page, [0.2, 0.2], [0.8, 0.3]);
      await expect.poll(() => page.locator('#strokes path, .cm-line:not(:empty):has-text("lost")').count()).toBe(0);
    }
  });

  it('strokes and pointers appear in the other window, and undo affects only own strokes', async () => {
    const [one, two] = (await openAll(2, await publish('whiteboard'))) as [Visit, Visit];
    await draw(one.page, [0.2, 0.2], [0.8, 0.3]);
    await strokesOf(two.page).nth(0).waitFor();
    await two.page.getByRole('radio', { name: 'Red' }).check();
    await draw(two.page, [0.2, 0.7], [0.7, 0.6]);
    await strokesOf(one.page).nth(1).waitFor();
    await expect.poll(() => shapesOf(one.page)).toEqual(await shapesOf(two.page));
    expect((await shapesOf(one.page))[0]?.split('L').length).toBeGreaterThan(5);
    await expect.poll(() => strokesOf(one.page).nth(1).getAttribute('data-color')).toBe('red');
    for (const { page } of [one, two]) {
      await page.locator('#hands g').waitFor();
      await expect.poll(() => page.locator('#hands g').count()).toBe(1);
      await saved(page).waitFor();
    }
    await one.page.keyboard.press('Control+z');
    await expect.poll(() => strokesOf(two.page).count()).toBe(1);
    await expect.poll(() => strokesOf(two.page).getAttribute('data-color')).toBe('red');
    await one.page.keyboard.press('Control+Shift+Z');
    await expect.poll(() => strokesOf(two.page).count()).toBe(2);

    // Touch input.
    const touch = await one.page.context().newCDPSession(one.page);
    const box = await one.page.locator('#sheet').boundingBox();
    if (box === null) throw new Error('the board is not to be seen');
    const finger = (part: number) => [{ x: box.x + box.width * part, y: box.y + box.height * 0.85 }];
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: finger(0.2) });
    for (const part of [0.3, 0.4, 0.5]) await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: finger(part) });
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await expect.poll(() => strokesOf(two.page).count()).toBe(3);
    await screenshots(two.page, 'whiteboard');

    // Erases a whole stroke of any author.
    await two.page.setViewportSize({ width: 1200, height: 750 });
    await two.page.keyboard.press('e');
    await draw(two.page, [0.2, 0.2], [0.22, 0.2]);
    await expect.poll(() => strokesOf(one.page).count()).toBe(2);
    await two.page.context().close();
    await expect.poll(() => one.page.locator('#hands g').count()).toBe(0);
    await expect.poll(() => peopleOf(one.page).count()).toBe(1);
    expect(one.troubles).toEqual([]);
  });

  it('strokes drawn while the server is down are kept and sent once', { timeout: 120_000 }, async () => {
    const published = await publish('whiteboard', 'whiteboard-crash');
    const all = (await openAll(3, published)) as [Visit, Visit, Visit];
    await draw(all[0].page, [0.2, 0.2], [0.8, 0.25]);
    for (const { page } of all) {
      await strokesOf(page).nth(0).waitFor();
      await saved(page).waitFor();
    }
    await program.end('SIGKILL');
    for (const { page } of all) await page.locator('#state:not([data-state=live])').waitFor();
    for (const [i, { page }] of all.entries()) await draw(page, [0.2, 0.4 + i * 0.15], [0.8, 0.45 + i * 0.15]);
    program = await start();
    for (const { page } of all) {
      await strokesOf(page).nth(3).waitFor(COMES_BACK);
      await saved(page).waitFor(COMES_BACK);
    }
    const [first, ...others] = await Promise.all(all.map(({ page }) => shapesOf(page)));
    expect(first).toHaveLength(4);
    for (const other of others) expect(other).toEqual(first);
    for (const each of all) await expect.poll(() => peopleOf(each.page).count(), COMES_BACK).toBe(3);
    for (const each of all) expect(ownTroubles(each)).toEqual([]);
  });

  it('cards move in all three windows, by pointer or keyboard, without disturbing text input', async () => {
    const [one, two, three] = (await openAll(3, await publish('kanban'))) as [Visit, Visit, Visit];
    await addCards(one.page, 'todo', 'Write the letter', 'Buy stamps', 'Find the address');
    await addCards(two.page, 'doing', 'Choose a pen');
    await texts(cardsOf(three.page, 'todo')).toEqual(['Write the letter', 'Buy stamps', 'Find the address']);
    await card(two.page, 'Buy stamps').dragTo(column(two.page, 'doing').locator('h2'));
    for (const { page } of [one, two, three]) {
      await texts(cardsOf(page, 'todo')).toEqual(['Write the letter', 'Find the address']);
      await texts(cardsOf(page, 'doing')).toEqual(['Buy stamps', 'Choose a pen']);
    }
    await card(three.page, 'Find the address').press('Alt+ArrowUp');
    await texts(cardsOf(one.page, 'todo')).toEqual(['Find the address', 'Write the letter']);
    await card(three.page, 'Find the address').press('Alt+ArrowRight');
    await texts(cardsOf(one.page, 'doing')).toEqual(['Buy stamps', 'Choose a pen', 'Find the address']);
    await expect.poll(() => three.page.evaluate(() => document.activeElement?.textContent)).toContain('Find the address');

    // One edits a card while another moves the same card and a third adds one above.
    await card(one.page, 'Write the letter').press('Enter');
    await one.page.keyboard.type('Write the ');
    await card(two.page, 'Write the letter').press('Alt+ArrowRight');
    await addCards(three.page, 'todo', 'Lick the envelope');
    await card(one.page, 'Lick the envelope').waitFor();
    await one.page.keyboard.type('postcard');
    await one.page.keyboard.press('Enter');
    for (const { page } of [one, two, three]) {
      await texts(cardsOf(page, 'todo')).toEqual(['Lick the envelope']);
      await texts(cardsOf(page, 'doing')).toEqual(['Buy stamps', 'Choose a pen', 'Find the address', 'Write the postcard']);
    }
    await card(one.page, 'Choose a pen').getByRole('button', { name: 'Delete' }).click();
    await texts(cardsOf(two.page, 'doing')).toEqual(['Buy stamps', 'Find the address', 'Write the postcard']);
    await screenshots(two.page, 'kanban');
    await three.page.context().close();
    await expect.poll(() => peopleOf(one.page).count()).toBe(2);
    for (const each of [one, two]) expect(ownTroubles(each)).toEqual([]);
  });

  it('error notes disappear once the connection is live again', { timeout: 180_000 }, async () => {
    const names = ['poll', 'guestbook', 'kanban', 'editor', 'whiteboard'] as const;
    const opened = new Map<string, Visit>();
    for (const name of names) opened.set(name, await open(await publish(name, `${name}-note`)));
    const pageOf = (name: (typeof names)[number]) => {
      const found = opened.get(name)?.page;
      if (found === undefined) throw new Error(`${name} is not open`);
      return found;
    };
    const live = (page: Page) => page.locator('#state[data-state=live]').waitFor(COMES_BACK);
    for (const { page } of opened.values()) await live(page);
    await program.end('SIGKILL');
    await pageOf('poll').locator('#options button').first().click();
    await pageOf('guestbook').locator('[name=name]').fill('Ada');
    await pageOf('guestbook').locator('[name=message]').fill('Hello');
    await pageOf('guestbook').locator('#form button').click();
    await column(pageOf('kanban'), 'todo').getByPlaceholder('Add a card').fill('Lost');
    await column(pageOf('kanban'), 'todo').getByPlaceholder('Add a card').press('Enter');
    for (const name of ['poll', 'guestbook', 'kanban'] as const) {
      await pageOf(name).locator('#note').getByText('The server did not answer.').waitFor(COMES_BACK);
    }
    program = await start();
    for (const { page } of opened.values()) {
      await live(page);
      await expect.poll(() => page.locator('#note').textContent(), COMES_BACK).toBe('');
    }
    for (const each of opened.values()) expect(ownTroubles(each)).toEqual([]);
  });

  it('cards survive a killed server, and keep moving in the windows that stayed open', { timeout: 120_000 }, async () => {
    const [one, two] = (await openAll(2, await publish('kanban', 'kanban-crash'))) as [Visit, Visit];
    await addCards(one.page, 'todo', 'First', 'Second');
    await card(two.page, 'Second').waitFor();
    await program.end('SIGKILL');
    program = await start();
    await card(two.page, 'First').press('Alt+ArrowRight');
    for (const { page } of [one, two]) {
      await texts(cardsOf(page, 'todo')).toEqual(['Second']);
      await texts(cardsOf(page, 'doing')).toEqual(['First']);
      await expect.poll(() => peopleOf(page).count(), COMES_BACK).toBe(2);
    }
    for (const each of [one, two]) expect(ownTroubles(each)).toEqual([]);
  });
});
