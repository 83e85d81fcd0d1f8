/** Who has access in the web app, in Chromium: what a change opens and closes before it is made, a new owner, leaving, and every other way in. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { wire } from '../support/page-requests.ts';
import { describeWith } from '../support/services.ts';
import { type AppPerson, AppStage, allowOutside, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';

describeWith('chromiumPath')('access in the web app', () => {
  let stage: AppStage;
  let axe: string;

  beforeAll(async () => {
    [stage, axe] = await Promise.all([AppStage.start(), axeSource()]);
  });
  afterAll(() => stage?.close());

  /** Signed in once each: sign-ins of one network are limited. */
  const known = new Map<string, Promise<AppPerson>>();
  function person(name: string): Promise<AppPerson> {
    const found = known.get(name) ?? stage.person(`${name}@example.com`);
    known.set(name, found);
    return found;
  }

  /** Members of a new workspace that may share outside: Olga owns it, Adam is an admin, Mona a member. */
  async function members(slug: string): Promise<readonly [AppPerson, AppPerson, AppPerson]> {
    const people = await Promise.all([person('olga'), person('adam'), person('mona')]);
    const [olga, adam, mona] = people;
    await olga.client.workspaces.create({ body: { name: 'Ours', slug } });
    const params = { workspaceId: slug };
    await olga.client.members.add({ params, body: { email: 'adam@example.com', role: 'admin' } });
    await olga.client.members.add({ params, body: { email: 'mona@example.com', role: 'member' } });
    await allowOutside(stage.easel, slug);
    return [olga, adam, mona];
  }

  async function openShare(page: Page, id: string): Promise<Locator> {
    await page.goto(`${stage.origin}/p/${id}`);
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: /^Share “/ });
    await dialog.getByRole('heading', { name: 'Who has access' }).waitFor();
    return dialog;
  }

  const planned = (page: Page, name: RegExp | string) => page.getByRole('dialog', { name });

  it('a visibility is changed after who gains and who loses is read; what is put aside stays as it was', async () => {
    const [olga, adam] = await members('quarry');
    const { page, client } = olga;
    const before = olga.troubles.length;
    const id = await publishPage(client, 'Seams', { workspace_id: 'quarry' });
    await page.goto(`${stage.origin}/p/${id}`);
    const choose = (name: RegExp) => page.getByRole('radio', { name }).check();
    await choose(/^Workspace/);
    const question = planned(page, 'Make it “Workspace”?');
    await question.getByRole('region', { name: 'Who gains access' }).getByText('mona@example.com').waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await question.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => page.getByRole('radio', { name: /^Private/ }).isChecked()).toBe(true);
    await expect.poll(async () => (await client.artifacts.get({ params: { id } })).body.visibility).toBe('private');
    await choose(/^Workspace/);
    await question.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByText('Visibility is “Workspace” now.').waitFor();
    await choose(/^Private/);
    const closing = planned(page, 'Make it “Private”?');
    await closing.getByRole('region', { name: 'Who loses access' }).getByText('mona@example.com').waitFor();
    // The admin sees it either way, and is not named.
    expect(await closing.getByText('adam@example.com').count()).toBe(0);
    await page.keyboard.press('Escape');
    await expect.poll(async () => (await adam.client.artifacts.get({ params: { id } })).body.visibility).toBe('workspace');
    expect(unexpected(olga.troubles.slice(before))).toEqual([]);
  });

  it('where something has changed meanwhile the change is simulated again, said so, and made against what was read', async () => {
    const [olga, , mona] = await members('delta');
    const { page, client } = olga;
    const id = await publishPage(client, 'Sands', { workspace_id: 'delta' });
    await page.goto(`${stage.origin}/p/${id}`);
    await page.getByRole('radio', { name: /^Workspace/ }).check();
    const question = planned(page, 'Make it “Workspace”?');
    await question.getByText('mona@example.com').waitFor();
    // Mona is given access by name while the question is open: then the change opens nothing to her.
    await client.collaborators.add({ params: { id }, body: { emails: ['mona@example.com'] } });
    await question.getByRole('button', { name: 'Change', exact: true }).click();
    await question.getByText('Something has changed meanwhile.').waitFor();
    await question.getByRole('region', { name: 'Who gains access' }).getByText('The agents of the workspace').waitFor();
    expect(await question.getByText('mona@example.com').count()).toBe(0);
    await expect.poll(async () => (await mona.client.artifacts.get({ params: { id } })).body.visibility).toBe('private');
    await question.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByText('Visibility is “Workspace” now.').waitFor();
    await expect.poll(async () => (await mona.client.artifacts.get({ params: { id } })).body.visibility).toBe('workspace');
  });

  it('a move says whom it opens the page to; one that changes nobody’s access is made at once', async () => {
    const [olga] = await members('mill');
    const { page, client } = olga;
    const params = { workspaceId: 'mill' };
    const { id: closed } = (await client.folders.create({ params, body: { name: 'Closed', visibility: 'private' } })).body;
    await client.folders.create({ params, body: { name: 'Open' } });
    await client.folders.create({ params, body: { name: 'Also open' } });
    const id = await publishPage(client, 'Wheel', { workspace_id: 'mill' });
    await client.artifacts.update({ params: { id }, body: { visibility: 'workspace' } });
    await client.folders.move({ params: { ...params, artifactId: id }, body: { folder_id: closed } });
    const move = async (folder: string) => {
      await page.getByRole('button', { name: 'Actions for Wheel' }).click();
      await page.getByRole('menuitem', { name: 'Move to folder…' }).click();
      await page.getByRole('dialog', { name: 'Move “Wheel”' }).getByRole('button', { name: folder, exact: true }).click();
    };
    await page.goto(`${stage.origin}/w/mill/folders/${closed}`);
    await move('Open');
    const question = planned(page, 'Move “Wheel” to Open?');
    await question.getByText('mona@example.com').waitFor();
    await question.getByRole('button', { name: 'Move', exact: true }).click();
    await page.getByText('“Wheel” is in Open now.').waitFor();
    await page.goto(`${stage.origin}/w/mill`);
    await page.getByRole('main').getByRole('link', { name: /^Open/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Open' }).waitFor();
    await move('Also open');
    await page.getByText('“Wheel” is in Also open now.').waitFor();
  });

  it('a page is given away in two steps that say what changes; the former owner keeps what was chosen and can leave', async () => {
    const [ivy, jon, kit] = await Promise.all([person('ivy'), person('jon'), person('kit')]);
    const id = await publishPage(ivy.client, 'Orchard plan');
    await ivy.client.collaborators.add({ params: { id }, body: { emails: ['kit@example.com'] } });
    const dialog = await openShare(ivy.page, id);
    await dialog.getByRole('button', { name: 'Give it to somebody else' }).click();
    const transfer = planned(ivy.page, 'Give “Orchard plan” to somebody else');
    const to = async (email: string) => {
      await transfer.getByLabel('E-mail address of the new owner').fill(email);
      await transfer.getByRole('radio', { name: /^Viewer/ }).check();
      await transfer.getByRole('button', { name: 'Continue' }).click();
    };
    await to('nobody-there@example.com');
    await transfer.getByText('nobody-there@example.com becomes the owner').waitFor();
    await transfer.getByRole('button', { name: 'Give it away' }).click();
    await transfer.getByRole('alert').filter({ hasText: 'No account has proved this address.' }).waitFor();
    await to('jon@example.com');
    await transfer.getByText('You become Viewer.').waitFor();
    expect(await findingsOf(ivy.page, axe)).toEqual([]);
    await transfer.getByRole('button', { name: 'Give it away' }).click();
    await ivy.page.getByText('jon@example.com owns it now.').waitFor();
    expect((await jon.client.artifacts.get({ params: { id } })).body).toMatchObject({ owner_id: jon.userId, role: 'owner' });
    await ivy.page.getByText('You may view this page').waitFor();

    // Kit leaves by himself, and so does the former owner; the new owner sees both gone.
    for (const { page } of [kit, ivy]) {
      await page.goto(`${stage.origin}/p/${id}`);
      await page.getByRole('button', { name: 'Leave' }).click();
      await planned(page, 'Leave “Orchard plan”?').getByRole('button', { name: 'Leave' }).click();
      await page.getByText('You have left “Orchard plan”.').waitFor();
      await page.getByRole('heading', { level: 1, name: 'My pages' }).waitFor();
    }
    const after = await openShare(jon.page, id);
    await after.getByText('It is not shared with anybody yet.').waitFor();
    expect(
      unexpected([...ivy.troubles, ...jon.troubles, ...kit.troubles]).filter(
        (trouble) => !trouble.includes('transfer-ownership') && !trouble.startsWith('console'),
      ),
    ).toEqual([]);
  });

  it('[W6] "who has access" lists links, what comes by folder and workspace, and people outside; each is ended where it was given', async () => {
    const [olga, adam] = await members('glass');
    const before = olga.troubles.length;
    const params = { workspaceId: 'glass' };
    const { id: folder_id } = (await olga.client.folders.create({ params, body: { name: 'Clients' } })).body;
    const id = await publishPage(olga.client, 'Windows', { workspace_id: 'glass' });
    await olga.client.artifacts.update({ params: { id }, body: { visibility: 'workspace' } });
    await olga.client.folders.move({ params: { ...params, artifactId: id }, body: { folder_id } });
    const share = (email: string, resource_type: 'folder' | 'artifact', resource_id: string) =>
      adam.client.grants.sharePerson({ params, body: { email, resource_type, resource_id, capability: 'comment' } });
    await share('by-folder@client.example', 'folder', folder_id);
    await share('by-page@client.example', 'artifact', id);
    const [version] = (await olga.client.versions.list({ params: { id } })).body.versions;
    const link = await olga.client.previewLinks.create({ params: { id }, body: { version_id: version?.id ?? '' } });
    const dialog = await openShare(olga.page, id);
    const others = dialog.getByRole('region', { name: 'Access by other ways' });
    const row = (text: string) => others.getByRole('listitem').filter({ hasText: text });
    await row('Owners and admins of Ours').waitFor();
    await row('Every member of Ours').getByText('Because the visibility is “Workspace”.').waitFor();
    await row('by-folder@client.example').getByText('By the folder Clients').waitFor();
    await row('by-page@client.example').getByText('By this page').waitFor();
    await row('Whoever has the preview link of Version 1').waitFor();
    expect(await findingsOf(olga.page, axe)).toEqual([]);
    await row('preview link').getByRole('button', { name: 'End the preview link of Version 1' }).click();
    await dialog.getByText('The preview link is ended.').waitFor();
    await expect.poll(async () => (await olga.client.previewLinks.list({ params: { id } })).body.links).toEqual([]);
    const { host, pathname, search } = new URL(link.body.url);
    expect((await wire(stage.easel.port, host, pathname + search)).status).not.toBe(200);
    await row('by-page@client.example').getByRole('button', { name: 'End the access of by-page@client.example' }).click();
    const question = planned(olga.page, 'End the access of by-page@client.example?');
    await question.getByRole('region', { name: 'Who loses access' }).getByText('see it and comment').waitFor();
    await question.getByRole('button', { name: 'End access' }).click();
    await dialog.getByText('The access of by-page@client.example is ended.').waitFor();
    await row('by-page@client.example').waitFor({ state: 'detached' });
    await expect.poll(() => row('by-folder@client.example').getByRole('link', { name: 'Change it at the workspace' }).count()).toBe(1);
    expect(unexpected(olga.troubles.slice(before))).toEqual([]);
  });
});
