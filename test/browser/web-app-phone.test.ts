/** The web app on a phone and without a connection: the drawer keeps the focus, messages are on top, and nothing that is typed is lost by accident. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

const PHONE = { viewport: { width: 360, height: 640 }, reducedMotion: 'reduce' } as const;

describeWith('chromiumPath')('the web app on a phone', () => {
  let stage: AppStage;
  let axe: string;

  beforeAll(async () => {
    [stage, axe] = await Promise.all([AppStage.start(), axeSource()]);
  });
  afterAll(() => stage?.close());

  const focusIsIn = (page: Page, selector: string) => page.evaluate((within) => document.activeElement?.closest(within) !== null, selector);
  /** What is at the middle of an element: itself or a part of it where nothing covers it. */
  const isOnTop = (page: Page, selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((shown) => {
        const { left, top, width, height } = shown.getBoundingClientRect();
        const at = document.elementFromPoint(left + width / 2, top + height / 2);
        return at !== null && shown.contains(at);
      });

  it('the drawer takes the focus, holds it in both directions, and gives it back to its button', async () => {
    const { page, client } = await stage.person('drawer@example.com', PHONE);
    await client.personalFolders.create({ body: { name: 'Clients' } });
    await page.goto(`${stage.origin}/`);
    const opener = page.getByRole('button', { name: 'Open the menu' });
    const places = page.getByRole('navigation', { name: 'Main' });
    await opener.click();
    await places.getByRole('link', { name: 'Clients' }).waitFor();
    await expect.poll(() => focusIsIn(page, '.sidebar')).toBe(true);
    expect(await findingsOf(page, axe)).toEqual([]);
    const first = await page.evaluate(() => document.activeElement?.outerHTML);
    for (const key of ['Tab', 'Shift+Tab']) {
      const seen = new Set<string>();
      do {
        await page.keyboard.press(key);
        await expect.poll(() => focusIsIn(page, '.sidebar')).toBe(true);
        seen.add((await page.evaluate(() => document.activeElement?.outerHTML)) ?? '');
      } while (!seen.has(first ?? '') && seen.size < 50);
      expect(seen.size).toBeGreaterThan(4);
      expect(seen.has(first ?? '')).toBe(true);
    }
    // What is behind it cannot be reached, and comes back with it closed: by Escape, by its button, by the veil.
    await expect.poll(() => page.locator('.stage').getAttribute('inert')).not.toBeNull();
    for (const close of [
      () => page.keyboard.press('Escape'),
      () => places.getByRole('button', { name: 'Close the menu' }).click(),
      () => page.locator('.veil').click({ position: { x: 350, y: 500 } }),
    ]) {
      if (!(await places.isVisible())) await opener.click();
      await places.waitFor();
      await close();
      await places.waitFor({ state: 'hidden' });
      await expect.poll(() => opener.evaluate((button) => button === document.activeElement)).toBe(true);
    }
    await opener.click();
    await page.setViewportSize({ width: 1280, height: 700 });
    await expect.poll(() => page.locator('.stage').getAttribute('inert')).toBeNull();
  });

  it('messages are above the palette and above a dialog, and can be closed there', async () => {
    const { page, client } = await stage.person('toasts@example.com', PHONE);
    const id = await publishPage(client, 'Shopping');
    await page.goto(`${stage.origin}/`);
    await page.getByRole('link', { name: 'Shopping' }).waitFor();
    await page.route('**/favorite', (route) =>
      route.fulfill({ status: 403, json: { success: false, error: 'Not today.', code: 'FORBIDDEN', request_id: 'req_1' } }),
    );
    await page.getByRole('button', { name: 'Add Shopping to the favourites' }).click();
    const message = page.getByRole('alert').filter({ hasText: 'Not today.' });
    await message.waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Search pages and places' }).waitFor();
    await expect.poll(() => page.locator('.palette .toast').count()).toBe(1);
    await expect.poll(() => isOnTop(page, '.palette .toast')).toBe(true);
    await message.getByRole('button', { name: 'Dismiss' }).click();
    await message.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByRole('dialog', { name: 'Search pages and places' }).isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await page.goto(`${stage.origin}/p/${id}`);
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Share “Shopping”' });
    await dialog.getByLabel('Add people by e-mail address').fill('ann@example.com');
    await dialog.getByRole('button', { name: 'Share', exact: true }).click();
    await dialog.getByRole('button', { name: 'Remove ann@example.com' }).click();
    await dialog.getByText('ann@example.com is removed.').waitFor();
    await expect.poll(() => isOnTop(page, 'dialog .toast')).toBe(true);
  });

  it('[W3] that the connection is gone is in view on a narrow screen: scrolled down, in the drawer, and in a dialog', async () => {
    const { page, client } = await stage.person('narrow@example.com', PHONE);
    for (let at = 0; at < 8; at += 1) await publishPage(client, `Page ${at}`);
    await page.goto(`${stage.origin}/`);
    await page.getByRole('link', { name: 'Page 7' }).waitFor();
    await page.context().setOffline(true);
    const banner = page.locator('.banner');
    await banner.waitFor();
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(100);
    await expect.poll(() => isOnTop(page, '.banner')).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    await page.getByRole('button', { name: 'Open the menu' }).click();
    await page.locator('.sidebar .offline-note').waitFor();
    await expect.poll(() => isOnTop(page, '.sidebar .offline-note')).toBe(true);
    await page.keyboard.press('Escape');
    await page.getByRole('banner').getByRole('button', { name: 'Publish', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish' });
    await dialog.getByText('You are offline.').waitFor();
    await expect.poll(() => isOnTop(page, 'dialog .offline-note')).toBe(true);
    await page.context().setOffline(false);
    await dialog.getByText('You are offline.').waitFor({ state: 'detached' });
    await banner.waitFor({ state: 'detached' });
  });

  it('[W3] what was changed without a connection is refused aloud and shown as it is, and what was typed is still there', async () => {
    const { page, client } = await stage.person('offline-form@example.com', PHONE);
    const id = await publishPage(client, 'Diary');
    await page.goto(`${stage.origin}/p/${id}/settings`);
    await page.getByLabel('Name', { exact: true }).fill('Diary of a year');
    await page.context().setOffline(true);
    await page.locator('.banner').waitFor();
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByRole('main').getByRole('alert').filter({ hasText: 'No connection.' }).waitFor();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Diary of a year');
    await expect.poll(async () => (await client.artifacts.get({ params: { id } })).body.name).toBe('Diary');
    await page.context().setOffline(false);
    await page.locator('.banner').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).first().click();
    await expect.poll(async () => (await client.artifacts.get({ params: { id } })).body.name).toBe('Diary of a year');
  });

  it.each([1280, 390])(
    'the parts of a workspace are all in reach of its owner, with the one that is shown in view: %i px',
    async (width) => {
      const { page, client } = await stage.person(`parts-${width}@example.com`, { viewport: { width, height: 800 } });
      const { slug } = (await client.workspaces.create({ body: { name: `Parts ${width}` } })).body;
      await page.goto(`${stage.origin}/w/${slug}`);
      const parts = page.getByRole('navigation', { name: slug });
      const settings = parts.getByRole('link', { name: 'Settings' });
      await settings.waitFor();
      const isInView = (name: string) =>
        parts.getByRole('link', { name, exact: true }).evaluate((tab) => {
          const [own, around] = [tab.getBoundingClientRect(), tab.closest('nav')?.getBoundingClientRect()];
          return around !== undefined && own.left >= around.left && own.right <= around.right;
        });
      const lines = () => parts.getByRole('link').evaluateAll((tabs) => new Set(tabs.map((tab) => tab.getBoundingClientRect().top)).size);
      const isPhone = width < 480;
      expect(await isInView('Settings')).toBe(!isPhone);
      expect(await lines()).toBe(isPhone ? 1 : 2);
      await keepScreenshot(page, `parts of a workspace ${width} first`);
      await page.goto(`${stage.origin}/w/${slug}/audit`);
      await expect.poll(() => isInView('Record')).toBe(true);
      await keepScreenshot(page, `parts of a workspace ${width} later`);
      await settings.click();
      await expect.poll(() => isInView('Settings')).toBe(true);
      await keepScreenshot(page, `parts of a workspace ${width} last`);
      expect(await findingsOf(page, axe)).toEqual([]);
    },
  );

  it('[W4] a dialog with something typed asks before it is closed, by Escape, beside it, by its cross; and so does the window', async () => {
    const { page, client } = await stage.person('typed-phone@example.com', { ...PHONE, viewport: { width: 900, height: 700 } });
    const { slug } = (await client.workspaces.create({ body: { name: 'Typed here' } })).body;
    await page.goto(`${stage.origin}/w/${slug}/agents`);
    await page.getByRole('button', { name: 'New agent token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New agent token' });
    await dialog.getByLabel('Name of the agent').fill('Nightly build');
    const asks = dialog.getByRole('alert').filter({ hasText: 'There are changes that you have not saved.' });
    for (const close of [
      () => page.keyboard.press('Escape'),
      () => page.mouse.click(5, 5),
      () => dialog.getByRole('button', { name: 'Close', exact: true }).click(),
    ]) {
      await close();
      await asks.waitFor();
      await dialog.getByRole('button', { name: 'Keep editing' }).click();
      await asks.waitFor({ state: 'detached' });
      await expect.poll(() => dialog.getByLabel('Name of the agent').inputValue()).toBe('Nightly build');
    }
    const asked = page.waitForEvent('dialog');
    const leaving = page.close({ runBeforeUnload: true });
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    await leaving;
    await expect.poll(() => dialog.getByLabel('Name of the agent').inputValue()).toBe('Nightly build');
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('[W4] what is typed in the settings of a page outlives the tab that was left, until it is discarded', async () => {
    const { page, client } = await stage.person('tabs@example.com', PHONE);
    const id = await publishPage(client, 'Half done');
    await page.goto(`${stage.origin}/p/${id}/settings`);
    await page.getByLabel('Name', { exact: true }).fill('Wholly done');
    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByRole('button', { name: 'Actions for Version 1' }).waitFor();
    await page.goBack();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Wholly done');
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half done');
    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByRole('button', { name: 'Actions for Version 1' }).waitFor();
    await page.goBack();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half done');
  });

  it('the order of a list is chosen by keyboard, kept for its place alone, and goes on by pages', async () => {
    const { page, client } = await stage.person('order@example.com', PHONE);
    for (const name of ['pear', 'Äpfel', 'Banana', 'apple']) await publishPage(client, name);
    const names = () => page.locator('.card-name').allTextContents();
    await page.goto(`${stage.origin}/`);
    await expect.poll(async () => (await names()).length).toBe(4);
    const order = page.getByRole('combobox', { name: 'Order' });
    await order.focus();
    await order.selectOption('name');
    await expect.poll(names).toEqual(['Äpfel', 'apple', 'Banana', 'pear']);
    await expect.poll(() => order.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.reload();
    await expect.poll(names).toEqual(['Äpfel', 'apple', 'Banana', 'pear']);
    await page.goto(`${stage.origin}/my/favorites`);
    await page.getByRole('heading', { level: 1, name: 'Favourites' }).waitFor();
    await expect.poll(() => page.evaluate(() => localStorage.getItem('easel.sort'))).toBe('[["mine","name"]]');
    await page.goto(`${stage.origin}/`);
    await page.getByLabel('Filter by name').fill('an');
    await expect.poll(names).toEqual(['Banana']);
    await expect.poll(() => page.getByLabel('Filter by name').evaluate((field) => field === document.activeElement)).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  });

  it('[W8] the palette finds no title of a page that is not shared with who searches', async () => {
    const owner = await stage.person('secretive@example.com');
    const other = await stage.person('curious@example.com');
    await publishPage(owner.client, 'Takeover of Zephyr');
    await publishPage(other.client, 'Zephyr notes of mine');
    await other.page.goto(`${stage.origin}/`);
    await other.page.getByRole('link', { name: 'Zephyr notes of mine' }).waitFor();
    await other.page.keyboard.press('Control+k');
    await other.page.keyboard.type('zephyr');
    const palette = other.page.getByRole('dialog', { name: 'Search pages and places' });
    await palette.getByRole('option', { name: /Zephyr notes of mine/ }).waitFor();
    await palette.getByRole('status').filter({ hasText: '1 result' }).waitFor();
    expect(await other.page.content()).not.toContain('Takeover');
  });
});
