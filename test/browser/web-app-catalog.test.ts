/** The data and the connections of a workspace in the web app, in Chromium. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, unexpected } from './app-stage.ts';
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

    await page.getByRole('link', { name: 'Data' }).click();
    await page.getByRole('button', { name: 'Make the catalog' }).click();
    await page.getByText('3 entries are in the catalog.').waitFor();
    await page.getByLabel('Kind').selectOption({ label: 'Table (1)' });
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
    await page.getByRole('navigation', { name: 'Where it comes from' }).getByText('cities').click();
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
});
