/** Password and preview pages in a real browser, which handles forms, cookies and redirects. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Client } from '../../src/clients/sdk/client.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { clientOf, publishSite } from '../support/publishing.ts';
import { describeWith } from '../support/services.ts';
import { launchBrowser, visit } from './browser.ts';

const site = (text: string) =>
  new Map([
    ['index.html', Buffer.from(`<!doctype html><title>t</title><link rel="stylesheet" href="style.css"><p id="text">${text}</p>`)],
    ['style.css', Buffer.from('#text { color: rgb(1, 2, 3) }')],
  ]);

describeWith('chromiumPath')('pages that are not for everybody', () => {
  let easel: TestEasel;
  let browser: Browser;
  let client: Client;
  beforeAll(async () => {
    [easel, browser] = await Promise.all([startTestEasel(), launchBrowser()]);
    client = clientOf(easel, (await easel.newUser('pro')).token);
  });
  afterAll(async () => {
    await browser?.close();
    await easel?.close();
  });

  it('a password page opens with its form, serves all its files, and redirects to the requested address', async () => {
    const published = await publishSite(client, site('treasure'), { slug: 'guarded', visibility: 'password', password: 'open sesame' });
    const { page, troubles } = await visit(browser, new URL(published.url).origin);
    await page.goto(`${published.url}/?chapter=2`);
    const field = page.getByLabel('Password');
    await field.fill('not it');
    await page.getByRole('button', { name: 'Open' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toBe('That was not the password.');
    await field.fill('open sesame');
    troubles.length = 0;
    await page.getByRole('button', { name: 'Open' }).click();
    await page.locator('#text').waitFor();
    // The text can be there before its stylesheet is.
    await page.waitForLoadState('load');
    expect(page.url()).toBe(`${new URL(published.url).origin}/?chapter=2`);
    await expect
      .poll(() => page.evaluate(() => getComputedStyle(document.querySelector('#text') ?? document.body).color))
      .toBe('rgb(1, 2, 3)');
    expect(await page.evaluate(() => document.cookie)).toBe('');
    expect(troubles).toEqual([]);
  });

  it('a preview link shows the draft at the plain address until the link is deleted', async () => {
    const live = await publishSite(client, site('live'), { slug: 'drafted', visibility: 'private' });
    const draft = await publishSite(client, site('draft'), { artifact_id: live.artifactId, draft: true });
    const params = { id: live.artifactId as never };
    const { body: link } = await client.previewLinks.create({ params, body: { version_id: draft.versionId as never } });
    const { page, troubles } = await visit(browser, new URL(live.url).origin);
    await page.goto(link.url);
    expect(page.url()).toBe(`${new URL(live.url).origin}/`);
    await expect.poll(() => page.locator('#text').textContent()).toBe('draft');
    expect(await page.evaluate(() => document.cookie)).toBe('');
    expect(troubles).toEqual([]);
    await client.previewLinks.delete({ params: { ...params, link: link.id } });
    await page.reload();
    await expect.poll(() => page.locator('h1').textContent()).toBe('There is no page here');
  });
});
