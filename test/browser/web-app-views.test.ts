/** How often a page is opened, on its screen, in Chromium. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { visit } from './browser.ts';

/** A browser as people use it: one that says that nobody looks at it is taken for a bot. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

describeWith('chromiumPath')('views in the web app', () => {
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it('counts what browsers open, shows it by day and to screen readers, in both languages and on a small window', async () => {
    const { page, client, userId, troubles } = await stage.person('views@example.com', { viewport: { width: 360, height: 760 } });
    await stage.easel.sql`update account set tier = 'pro' where id = ${userId}`;
    const id = await publishPage(client, 'Seen');
    await page.goto(`${stage.origin}/p/${id}`);
    const panel = page.getByRole('region', { name: 'Visits' });
    await panel.getByText('Nobody has opened the page in this time.').waitFor();
    await panel.getByText('0 people here now').waitFor();
    await client.artifacts.update({ params: { id }, body: { visibility: 'public' } });
    const { slug } = (await client.artifacts.get({ params: { id } })).body;
    const origin = stage.easel.contentUrl(slug);
    const reader = await visit(stage.browser, origin, { userAgent: BROWSER });
    for (const _ of [1, 2]) {
      await reader.page.goto(`${origin}/`);
      await reader.page.getByText('Seen').waitFor();
    }
    await reader.page.context().close();
    await expect
      .poll(async () => (await client.analytics.views({ params: { id }, query: { range: '7' } })).body.total)
      .toEqual({
        views: 2,
        visitors: 1,
      });
    await page.reload();
    await panel.getByRole('button', { name: '7 days' }).click();
    const days = panel.getByRole('table', { name: 'Views and visitors of the last 7 days' }).getByRole('row');
    await expect.poll(() => days.count()).toBe(8);
    await expect.poll(() => days.last().getByRole('cell').allTextContents()).toEqual(['2', '1']);
    await expect.poll(() => panel.getByRole('button', { name: '7 days' }).getAttribute('aria-pressed')).toBe('true');
    await expect.poll(() => panel.locator('.chart .is-day').count()).toBe(7);
    await expect.poll(() => panel.locator('.chart .is-views').last().getAttribute('height')).toBe('100');
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitemradio', { name: 'Español' }).click();
    await page.getByRole('region', { name: 'Visitas' }).getByRole('button', { name: '90 días' }).click();
    await expect.poll(() => page.getByRole('region', { name: 'Visitas' }).getByRole('row').count()).toBe(91);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('is not shown to whom the page is only shared with as viewers', async () => {
    const owner = await stage.person('views-owner@example.com');
    const viewer = await stage.person('views-viewer@example.com');
    const id = await publishPage(owner.client, 'Theirs');
    await owner.client.collaborators.add({ params: { id }, body: { emails: ['views-viewer@example.com'], role: 'viewer' } });
    await viewer.page.goto(`${stage.origin}/p/${id}`);
    await viewer.page.getByRole('heading', { name: 'Who may see it' }).waitFor();
    expect(await viewer.page.getByRole('region', { name: 'Visits' }).count()).toBe(0);
    expect(unexpected(viewer.troubles)).toEqual([]);
  });
});
