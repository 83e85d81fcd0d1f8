/** The data and the connections of a workspace in the web app, in Chromium. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

describeWith('chromiumPath')('the data of a workspace in the web app', () => {
  let stage: AppStage;
  let host: Server;
  beforeAll(async () => {
    stage = await AppStage.start();
    host = createServer((_, response) => response.end('[]')).listen(0, '127.0.0.1');
    await once(host, 'listening');
  });
  afterAll(async () => {
    await stage?.close();
    host?.close();
  });

  it('connections are made, tested and deleted; the catalog is made, searched, written in, and shows what comes from what', async () => {
    const { page, client, troubles } = await stage.person('data@example.com');
    await client.workspaces.create({ body: { name: 'Maps', slug: 'maps' } });
    const features = JSON.stringify({ features: { catalog: true } });
    const headers = { 'content-type': 'application/json' };
    await stage.easel.fetch('/v1/workspaces/maps/features', { method: 'PATCH', token: stage.easel.adminToken, headers, body: features });

    await page.goto(`${stage.origin}/w/maps/connections`);
    await page.getByRole('button', { name: 'New connection' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Weather');
    await dialog.getByLabel('Type').selectOption({ label: 'HTTP' });
    await dialog.getByLabel('URL').fill(`http://127.0.0.1:${(host.address() as AddressInfo).port}/v1`);
    await dialog.getByLabel('Signs in with').selectOption({ label: 'Token' });
    await dialog.getByLabel('Token', { exact: true }).fill('se-cret');
    await keepScreenshot(page, 'connection-dialog');
    await dialog.getByRole('button', { name: 'Make connection' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'Weather' });
    await row.getByText('Credentials stored').waitFor();
    expect(await page.content()).not.toContain('se-cret');
    await row.getByRole('button', { name: 'Test Weather' }).click();
    await page.getByText('It works.').waitFor();
    await row.getByText(/^Used/).waitFor();
    await keepScreenshot(page, 'connections');

    const { body } = await client.publish.publish({
      body: { name: 'Shop', workspace_id: 'maps', files: [{ path: 'index.html', content: '<h1>Shop</h1>' }] },
    });
    if (!('artifact' in body)) throw new Error('the page was not published');
    const artifactId = body.artifact.id;
    const columns = [{ name: 'city', type: 'string' as const }];
    await client.tables.putSchema({ params: { artifactId, table: 'orders' }, body: { columns } });
    await client.tables.insert({ params: { artifactId, table: 'orders' }, body: { rows: [{ city: 'Oslo' }] } });
    const made = { title: 'Copy', action: 'materialize' as const, trigger_type: 'cron' as const, schedule: '0 0 1 1 *' };
    const job = await client.jobs.create({ body: { ...made, artifact_id: artifactId, config: { table: 'orders', dataset: 'cities' } } });
    await client.jobs.run({ params: { jobId: job.body.id } });
    await expect.poll(async () => (await client.datasets.list({ params: { artifactId } })).body.data.datasets.length).toBe(1);
    const source =
      "const t = easel.table('orders'); await t.insert({ city: 'Rome' + await t.count() }); await easel.table('sums').insert({ n: 1 });";
    const counted = await client.jobs.create({
      body: { ...made, title: 'Count cities', action: 'script', artifact_id: artifactId, config: { source } },
    });
    await client.jobs.run({ params: { jobId: counted.body.id } });
    await expect.poll(async () => (await stage.easel.sql`select from job_table_use`).length).toBe(3);

    await page.getByRole('link', { name: 'Data' }).click();
    await page.getByRole('button', { name: 'Make the catalog' }).click();
    await page.getByText('4 entries are in the catalog.').waitFor();
    await page.getByLabel('Kind').selectOption({ label: 'Table (2)' });
    await page.getByRole('link', { name: 'orders' }).click();
    await page.getByRole('cell', { name: 'city' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Domain').fill('Sales');
    await dialog.getByLabel('Tags').fill('daily, shop');
    await dialog.getByLabel('Description').fill('All **orders** of the shop.');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('All orders of the shop.').waitFor();
    await keepScreenshot(page, 'catalog-entry');
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    const graph = page.getByRole('navigation', { name: 'Where it comes from' });
    await page.getByText('Count cities reads orders').waitFor({ state: 'attached' });
    await page.getByText('Count cities writes orders').waitFor({ state: 'attached' });
    expect(await graph.getByRole('link', { name: 'Count cities' }).getAttribute('href')).toBe(`/p/${artifactId}/jobs/${counted.body.id}`);
    await graph.getByText('cities', { exact: true }).click();
    await page.getByRole('heading', { name: 'cities' }).waitFor();
    await page.getByRole('link', { name: 'All data' }).click();
    await page.getByLabel('Tags').selectOption({ label: 'daily (1)' });
    await expect
      .poll(() =>
        page
          .getByRole('listitem')
          .filter({ has: page.getByRole('link', { name: /^(orders|cities|Weather)$/ }) })
          .count(),
      )
      .toBe(1);
    await keepScreenshot(page, 'catalog');
    await page.getByRole('button', { name: 'Hide the catalog' }).click();
    await dialog.getByRole('button', { name: 'Hide the catalog' }).click();
    await page.getByRole('heading', { name: 'No catalog yet' }).waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)(
    'a note is given to another member, who alone may go on with it then; a table says whose it is: %s, %i px',
    async (colorScheme, width) => {
      const slug = `notes-${width}`;
      const looks = { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 800 } } as const;
      const { client } = await stage.person(`runs-${width}@example.com`);
      const giver = await stage.person(`giver-${width}@example.com`, looks);
      const taker = await stage.person(`taker-${width}@example.com`, looks);
      await giver.client.accounts.updateProfile({ body: { name: 'Gina' } });
      await taker.client.accounts.updateProfile({ body: { name: 'Theo' } });
      await client.workspaces.create({ body: { name: 'Notes', slug } });
      for (const who of ['giver', 'taker']) {
        await client.members.add({ params: { workspaceId: slug }, body: { email: `${who}-${width}@example.com`, role: 'member' } });
      }
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ features: { catalog: true } });
      await stage.easel.fetch(`/v1/workspaces/${slug}/features`, { method: 'PATCH', token: stage.easel.adminToken, headers, body });
      await client.catalog.enable({ params: { workspaceId: slug } });
      const params = { workspaceId: slug };
      const { id } = (await giver.client.catalog.create({ params, body: { name: 'Glossary' } })).body;
      const { page } = giver;
      await page.goto(`${stage.origin}/w/${slug}/catalog/${id}`);
      await page.getByText('Owner: Gina').waitFor();
      await page.getByRole('button', { name: 'Edit' }).click();
      const dialog = page.getByRole('dialog');
      const owner = dialog.getByLabel('Owner');
      await expect.poll(() => owner.isEnabled()).toBe(true);
      expect(await owner.inputValue()).toBe(giver.userId);
      // From the keyboard.
      await owner.focus();
      await page.keyboard.type('Theo');
      await expect.poll(() => owner.inputValue()).toBe(taker.userId);
      expect(await findingsOf(page, await axeSource())).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      await keepScreenshot(page, `catalog owner ${colorScheme} ${width}`);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Owner: Theo').waitFor();
      expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Edit' }).click();
      await dialog.getByLabel('Description').waitFor();
      expect(await owner.count()).toBe(0);
      await taker.page.goto(`${stage.origin}/my/notifications`);
      await taker.page.getByRole('link', { name: 'The note "Glossary" is yours now' }).click();
      await taker.page.getByRole('button', { name: 'Delete' }).waitFor();
      expect(new URL(taker.page.url()).pathname).toContain(`/catalog/${id}`);
      const artifactId = await publishPage(taker.client, 'Shop', { workspace_id: slug });
      await taker.client.tables.insert({ params: { artifactId, table: 'orders' }, body: { rows: [{ city: 'Oslo' }] } });
      await taker.page.goto(`${stage.origin}/w/${slug}/catalog`);
      await taker.page.getByRole('link', { name: 'orders' }).click();
      await taker.page.getByRole('button', { name: 'Edit' }).click();
      await taker.page.getByText('A table belongs to whoever owns its page.').waitFor();
      expect(await taker.page.getByRole('dialog').getByLabel('Owner').count()).toBe(0);
      expect(unexpected([...giver.troubles, ...taker.troubles])).toEqual([]);
    },
  );
});
