/** Webhooks of a page and of a workspace in the web app, and what a page may read of other hosts, in Chromium. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HookReceiver } from '../support/hook-receiver.ts';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { keepScreenshot } from './screenshot.ts';

describeWith('chromiumPath')('webhooks in the web app', () => {
  let stage: AppStage;
  let host: HookReceiver;

  beforeAll(async () => {
    host = await HookReceiver.start();
    stage = await AppStage.start(host.settings);
  });
  afterAll(async () => {
    await stage?.close();
    host?.close();
  });

  it('one is made, its secret shown once, tested, looked at, sent again, given a new secret, turned off and deleted', async () => {
    const { page, client, troubles } = await stage.person('hooks@example.com');
    const id = await publishPage(client, 'Shop');
    await page.goto(`${stage.origin}/p/${id}/hooks`);
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(host.url('/app'));
    await dialog.getByLabel('What it is for').fill('Tells the team');
    await dialog.getByLabel('Somebody comments').check();
    await keepScreenshot(page, 'hook-dialog');
    await dialog.getByRole('button', { name: 'Make webhook' }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'Tells the team' });
    await row.getByText('Somebody comments').waitFor();
    host.answers = (_, response) => response.writeHead(200).end('thank you');
    await row.getByRole('button', { name: /^Test the webhook/ }).click();
    await page.getByText('The test was taken.').waitFor();
    await row.getByText('Deliveries').click();
    await row.getByRole('button', { name: 'Show no. 1' }).click();
    await row.getByText('thank you').waitFor();
    await keepScreenshot(page, 'hook-deliveries');
    await row.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('No. 1 is sent again.').waitFor();
    await expect.poll(() => host.at('/app').length).toBe(2);
    await row.getByRole('button', { name: 'New secret' }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await row.getByRole('button', { name: 'Turn off' }).click();
    await row.getByText('Off', { exact: true }).waitFor();
    await row.getByRole('button', { name: /^Delete the webhook/ }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });

  it('those of a workspace are for its owners and admins', async () => {
    const { page, client, troubles } = await stage.person('chief@example.com');
    await client.workspaces.create({ body: { name: 'Maps', slug: 'maps' } });
    await page.goto(`${stage.origin}/w/maps/hooks`);
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('http://hooks.example.com/');
    await dialog.getByLabel('Somebody joins').check();
    await dialog.getByRole('button', { name: 'Make webhook' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('URL').fill('https://hooks.example.com/');
    await dialog.getByRole('button', { name: 'Make webhook' }).click();
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByText('https://hooks.example.com/').waitFor();
    await keepScreenshot(page, 'workspace-hooks');
    expect(unexpected(troubles).filter((trouble) => !/400/.test(trouble))).toEqual([]);
  });

  it('an editor names the hosts that a page reads', async () => {
    const { page, client, troubles } = await stage.person('reader@example.com');
    const id = await publishPage(client, 'Weather');
    await page.goto(`${stage.origin}/p/${id}/settings`);
    await page.getByLabel('The page may read').selectOption({ label: 'These hosts' });
    await page.getByLabel('Hosts').fill('api.example.com\n*.example.org');
    await page.getByLabel('Keep answers for').fill('60');
    const panel = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Other hosts' }) });
    await panel.getByRole('button', { name: 'Save' }).click();
    const stored = async () => (await client.proxy.getConfig({ params: { artifactId: id } })).body.data;
    await expect.poll(stored).toEqual({ hosts: ['api.example.com', '*.example.org'], cacheS: 60 });
    await keepScreenshot(page, 'proxy-settings');
    expect(unexpected(troubles)).toEqual([]);
  });
});
