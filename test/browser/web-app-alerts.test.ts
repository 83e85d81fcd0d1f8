/** Alerts of a page and the bell in the web app, in Chromium. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';

describeWith('chromiumPath')('alerts in the web app', () => {
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it('a rule with a metric of its own is made, tested, run, and heard in the bell at once', async () => {
    const { page, client, troubles } = await stage.person('alerts@example.com');
    const id = await publishPage(client, 'Shop');
    const rows = Array.from({ length: 12 }, (_, at) => ({ at }));
    await client.tables.insert({ params: { artifactId: id, table: 'orders' }, query: {}, body: { rows } });
    await page.goto(`${stage.origin}/p/${id}/alerts`);
    await page.getByRole('heading', { name: 'No alert rules yet' }).waitFor();
    await page.getByRole('link', { name: 'New rule' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Many orders');
    await page.getByRole('textbox', { name: 'Id of the metric' }).fill('orders');
    await page.getByRole('textbox', { name: 'Table' }).fill('orders');
    await page.getByRole('textbox', { name: 'Value' }).fill('10');
    await page.getByRole('textbox', { name: 'Schedule (UTC)' }).fill('nonsense');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').filter({ hasText: 'five fields' }).waitFor();
    await page.getByRole('textbox', { name: 'Schedule (UTC)' }).fill('0 * * * *');
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Evaluations' }).waitFor();
    await page.getByText('Not evaluated yet.').waitFor();
    await page.getByRole('button', { name: 'Show what it would send' }).click();
    const dialog = page.getByRole('dialog', { name: 'What it would send' });
    await dialog.getByText('orders of Shop is 12').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Evaluate now' }).click();
    await page.getByRole('link', { name: 'Notifications, 1 unread' }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Fired' }).waitFor();
    await page.getByRole('button', { name: 'Test over the kept values' }).click();
    await page.getByText(/It would have fired 1 time in \d+ evaluations?\./).waitFor();
    expect(await findingsOf(page, await axeSource())).toEqual([]);

    await page.getByRole('link', { name: 'Notifications, 1 unread' }).click();
    const notice = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Many orders' });
    await notice.getByText('orders of Shop is 12: above 10.').waitFor();
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await notice.getByRole('button', { name: 'Mark “Many orders” as read' }).click();
    await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor();
    await notice.getByRole('link', { name: 'Many orders' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Firing' }).waitFor();
    expect(unexpected(troubles).filter((one) => !one.includes('400'))).toEqual([]);
  });

  it('a table is watched, and the watch is switched off and ended, on a phone too', async () => {
    const { page, client, troubles } = await stage.person('watches@example.com', {
      viewport: { width: 360, height: 760 },
      colorScheme: 'dark',
    });
    const id = await publishPage(client, 'Counter');
    await page.goto(`${stage.origin}/p/${id}/alerts`);
    await page.getByRole('textbox', { name: 'Table' }).fill('visits');
    await page.getByRole('combobox', { name: 'What' }).selectOption('sum');
    await page.getByRole('textbox', { name: 'Column' }).fill('minutes');
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    const watch = page.getByRole('listitem').filter({ hasText: 'Sum of visits.minutes' });
    await watch.getByText('learning what is usual').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await watch.getByRole('button', { name: 'Switch off' }).click();
    await watch.getByRole('button', { name: 'Switch on' }).waitFor();
    await watch.getByRole('button', { name: /^End watch/ }).click();
    await page.getByText('You watch no table of this page.').waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });
});
