/** Sharing a page in the web app, in Chromium: with people without account, roles, removal, requests for access, and why somebody sees it. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { UserId } from '../../protocol/core/ids.ts';
import type { Client } from '../../src/clients/sdk/client.ts';
import { describeWith } from '../support/services.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';

const LOOKS = [
  ['light', 1280],
  ['dark', 360],
] as const;

describeWith('chromiumPath')('sharing in the web app', () => {
  let stage: AppStage;
  let axe: string;

  beforeAll(async () => {
    [stage, axe] = await Promise.all([AppStage.start(), axeSource()]);
  });
  afterAll(() => stage?.close());

  async function openShare(page: Page, id: string): Promise<Locator> {
    await page.goto(`${stage.origin}/p/${id}`);
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: /^Share “/ });
    await dialog.getByRole('heading', { name: 'Who has access' }).waitFor();
    return dialog;
  }

  async function rolesOf(client: Client, id: string): Promise<(readonly [string | null, string, boolean])[]> {
    const { collaborators } = (await client.collaborators.list({ params: { id } })).body;
    return collaborators.map(({ email, role, pending }) => [email, role, pending] as const);
  }

  it.each(LOOKS)('somebody without account is added, made editor, removed and given back: %s, %i px', async (colorScheme, width) => {
    const options = { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 760 } } as const;
    const { page, client, troubles } = await stage.person(`host-${width}@example.com`, options);
    const guest = `guest-${width}@example.com`;
    const id = await publishPage(client, 'Wedding');
    const dialog = await openShare(page, id);
    await dialog.getByText('It is not shared with anybody yet.').waitFor();
    const field = dialog.getByLabel('Add people by e-mail address');
    await expect.poll(() => field.evaluate((input) => input === document.activeElement)).toBe(true);
    await field.fill(`${guest}, nobody`);
    await dialog.getByRole('button', { name: 'Share', exact: true }).click();
    await dialog.getByRole('alert').filter({ hasText: '“nobody” is not an e-mail address.' }).waitFor();
    await field.fill(guest);
    await dialog.getByLabel('A word for the mail (optional)').fill('Save the date.');
    await dialog.getByRole('button', { name: 'Share', exact: true }).click();
    await dialog.getByRole('status').getByText('Waits until they sign in').waitFor();
    await dialog.getByRole('listitem').filter({ hasText: guest }).getByText('Has not signed in yet').waitFor();
    const [mail] = await stage.easel.sql<{ text: string }[]>`select html_body as text from mail_outbox where recipient = ${guest}`;
    expect(mail?.text).toContain('Save the date.');
    await dialog.getByText('Why does somebody see it?').click();
    expect(await findingsOf(page, axe)).toEqual([]);
    expect(await dialog.evaluate((shown) => shown.scrollWidth - shown.clientWidth)).toBe(0);
    await dialog.getByLabel(`Role of ${guest}`).selectOption('editor');
    await dialog.getByText(`${guest} is Editor now.`).waitFor();
    await expect.poll(() => rolesOf(client, id)).toEqual([[guest, 'editor', true]]);
    await dialog.getByRole('button', { name: `Remove ${guest}` }).click();
    await dialog.getByText(`${guest} is removed.`).waitFor();
    await expect.poll(() => rolesOf(client, id)).toEqual([]);
    await dialog.getByRole('button', { name: 'Undo' }).click();
    await dialog.getByText(`${guest} has access again.`).waitFor();
    await expect.poll(() => rolesOf(client, id)).toEqual([[guest, 'editor', true]]);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('a role that the server refuses is taken back, and the reason is told in the dialog', async () => {
    const { page, client } = await stage.person('refused@example.com');
    const id = await publishPage(client, 'Menu');
    await client.collaborators.add({ params: { id }, body: { emails: ['cook@example.com'] } });
    const dialog = await openShare(page, id);
    await page.route('**/collaborators/*', (route) =>
      route.fulfill({ status: 403, json: { success: false, error: 'Only its owner may.', code: 'FORBIDDEN', request_id: 'req_1' } }),
    );
    await dialog.getByLabel('Role of cook@example.com').selectOption('editor');
    await dialog.getByRole('alert').filter({ hasText: 'Only its owner may.' }).waitFor();
    await expect.poll(() => dialog.getByLabel('Role of cook@example.com').inputValue()).toBe('viewer');
    await expect.poll(() => rolesOf(client, id)).toEqual([['cook@example.com', 'viewer', true]]);
  });

  it('requests are approved at "My pages" and denied in the dialog, which also says why somebody sees the page', async () => {
    const owner = await stage.person('keeper@example.com');
    const [ray, kim] = [await stage.person('ray@example.com'), await stage.person('kim@example.com')];
    const id = await publishPage(owner.client, 'Map');
    const { page } = owner;
    await ray.client.accessRequests.create({ body: { artifact_id: id, message: 'May I?' } });
    await page.goto(`${stage.origin}/`);
    const incoming = page.getByRole('region', { name: 'Requests for access' });
    await incoming.getByText('May I?').waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await incoming.getByRole('button', { name: /^Approve the request of/ }).click();
    await incoming.waitFor({ state: 'detached' });
    await page.getByText('is Viewer now.').waitFor();
    await expect.poll(() => rolesOf(owner.client, id)).toEqual([['ray@example.com', 'viewer', false]]);

    await kim.client.accessRequests.create({ body: { artifact_id: id } });
    const dialog = await openShare(page, id);
    await dialog.getByRole('button', { name: /^Deny the request of/ }).click();
    await dialog.getByText(/^The request of .* is denied\.$/).waitFor();
    expect((await kim.client.accessRequests.outgoing()).body.requests.map(({ status }) => status)).toEqual(['denied']);

    await dialog.getByText('Why does somebody see it?').click();
    const explain = async (email: string) => {
      await dialog.getByLabel('E-mail address', { exact: true }).fill(email);
      await dialog.getByRole('button', { name: 'Explain' }).click();
    };
    await explain('ray@example.com');
    await dialog.getByText('ray@example.com can see it and comment.').waitFor();
    await dialog.getByText('The page is shared with them as Viewer.').waitFor();
    await explain('stranger@example.com');
    await dialog.getByText('stranger@example.com cannot open this page.').waitFor();
    await dialog.getByText('Nobody has signed in with this address yet').waitFor();
    expect(unexpected(owner.troubles)).toEqual([]);
  });

  it('whoever is removed and sees the page by the workspace all the same is named so; an editor only looks', async () => {
    const first = await stage.person('chief@example.com');
    const second = await stage.person('mate@example.com');
    await newWorkspace(stage.easel, { [first.userId as UserId]: 'owner', [second.userId as UserId]: 'member' }, { slug: 'harbour' });
    const [chief, mate] = [await stage.person('chief@example.com'), await stage.person('mate@example.com')];
    const id = await publishPage(chief.client, 'Tides', { workspace_id: 'harbour' });
    await chief.client.artifacts.update({ params: { id }, body: { visibility: 'workspace' } });
    await chief.client.collaborators.add({ params: { id }, body: { emails: ['mate@example.com'], role: 'editor' } });
    const seen = await openShare(mate.page, id);
    await seen.getByText('Only the owner can change who has access.').waitFor();
    await seen.getByText('Every member of Ours can open it. Nobody else.').waitFor();
    expect(await seen.getByRole('combobox').count()).toBe(0);
    const dialog = await openShare(chief.page, id);
    await dialog.getByRole('button', { name: /^Remove / }).click();
    const planned = chief.page.getByRole('dialog', { name: /^Remove .*\?$/ });
    await planned.getByText('can then no longer edit it').waitFor();
    await planned.getByRole('button', { name: 'Remove', exact: true }).click();
    await dialog.getByText(/is removed, and still has access as Viewer/).waitFor();
    expect(unexpected([...chief.troubles, ...mate.troubles])).toEqual([]);
  });
});
