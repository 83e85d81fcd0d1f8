/** The screens of one page and of a workspace, in Chromium: visibility, versions, comments, settings, members, agents, approvals. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { UserId } from '../../protocol/core/ids.ts';
import { describeWith } from '../support/services.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';

describeWith('chromiumPath')('the screens of the web app', () => {
  let stage: AppStage;

  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it('visibility says what it means; a password is asked for, and what is held is told', async () => {
    const { page, client, troubles } = await stage.person('visibility@example.com');
    const id = await publishPage(client, 'Wedding');
    await page.goto(`${stage.origin}/p/${id}`);
    await page.getByText('Only you and people you name can open it.').waitFor();
    await expect.poll(() => page.getByRole('radio', { name: /^Workspace/ }).isDisabled()).toBe(true);
    await page.getByRole('radio', { name: /^Password/ }).check();
    await page.getByLabel('Password for visitors').fill('open sesame');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Visibility is “Password” now.').waitFor();
    await expect.poll(async () => (await client.artifacts.get({ params: { id } })).body.visibility).toBe('password');
    await page.getByRole('radio', { name: /^Public/ }).check();
    const planned = page.getByRole('dialog', { name: 'Make it “Public”?' });
    await planned.getByText('Everybody with the link').waitFor();
    await planned.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'The visibility has not changed.' }).waitFor();
    await expect.poll(() => page.getByRole('radio', { name: /^Password/ }).isChecked()).toBe(true);
    await page.getByRole('switch', { name: 'Write data' }).check();
    await expect.poll(async () => (await client.artifacts.get({ params: { id } })).body.allow_anon_write).toBe(true);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('versions: what changed, a preview, another one live, a pin', async () => {
    const { page, client, troubles } = await stage.person('versions@example.com');
    const id = await publishPage(client, 'Numbers', { text: 'first' });
    await publishPage(client, 'Numbers', { artifact_id: id, text: 'second' });
    await page.goto(`${stage.origin}/p/${id}/versions`);
    await page.getByRole('listitem').filter({ hasText: 'Version 2' }).getByRole('button', { name: 'What changed' }).click();
    const diff = page.getByRole('dialog', { name: 'From version 1 to 2' });
    await diff.getByText('+<p>second</p>').waitFor();
    await expect.poll(() => diff.getByText('-<p>first</p>').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for Version 1' }).click();
    await page.getByRole('menuitem', { name: 'Preview link' }).click();
    await page.getByRole('button', { name: 'Preview link' }).click();
    await page.getByText(/^Whoever has this link sees this version until/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for Version 1' }).click();
    await page.getByRole('menuitem', { name: 'Make live' }).click();
    await page.getByText('Version 1 is live').first().waitFor();
    await expect.poll(async () => (await client.artifacts.get({ params: { id } })).body.live_version_no).toBe(1);
    await page.getByRole('button', { name: 'Actions for Version 1' }).click();
    await page.getByRole('menuitem', { name: 'Pin' }).click();
    await page.getByText('Version 1 is pinned').waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });

  it('comments: one from elsewhere appears by itself, is answered, assigned and resolved', async () => {
    const { page, client, userId, troubles } = await stage.person('comments@example.com');
    const id = await publishPage(client, 'Draft');
    await page.goto(`${stage.origin}/p/${id}/comments`);
    await page.getByRole('heading', { name: 'No open comments' }).waitFor();
    await client.comments.create({ params: { artifactId: id }, body: { content: 'A title is missing.' } });
    const thread = page.getByRole('listitem').filter({ hasText: 'A title is missing.' });
    await thread.waitFor();
    await thread.getByRole('button', { name: 'Reply' }).click();
    const reply = thread.getByRole('textbox', { name: 'Reply' });
    await expect.poll(() => reply.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type('I will add one.');
    await thread.getByRole('button', { name: 'Send' }).click();
    await thread.getByText('I will add one.').waitFor();
    await thread.getByRole('button', { name: 'Resolve' }).click();
    await page.getByRole('heading', { name: 'No open comments' }).waitFor();
    await page.getByRole('button', { name: 'Resolved', exact: true }).click();
    await thread.waitFor();
    const [comment] = (await client.comments.list({ params: { artifactId: id } })).body.data.comments;
    expect([comment?.resolved, comment?.authorId]).toEqual([true, userId]);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('what is typed stays: in a form whose save fails, in a dialog that is closed, in a comment of a tab that was left', async () => {
    const { page, client } = await stage.person('typed@example.com');
    const id = await publishPage(client, 'Kept');
    await publishPage(client, 'Taken');
    await page.goto(`${stage.origin}/p/${id}/settings`);
    await page.getByLabel('Address', { exact: true }).fill('taken');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByRole('alert').first().waitFor();
    await expect.poll(() => page.getByLabel('Address', { exact: true }).inputValue()).toBe('taken');
    await page.getByRole('link', { name: 'Comments' }).click();
    await page.getByLabel('Write a comment').fill('Half a thought');
    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByRole('button', { name: 'Actions for Version 1' }).click();
    await page.getByRole('menuitem', { name: 'Label and note' }).click();
    await page.getByLabel('Label', { exact: true }).fill('Release');
    await page.keyboard.press('Escape');
    await page.getByRole('alert').filter({ hasText: 'There are changes that you have not saved.' }).waitFor();
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await expect.poll(() => page.getByLabel('Label', { exact: true }).inputValue()).toBe('Release');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('link', { name: 'Comments' }).click();
    await expect.poll(() => page.getByLabel('Write a comment').inputValue()).toBe('Half a thought');
  });

  it('who may only view sees no controls of owners, and a page that is not theirs is not there', async () => {
    const owner = await stage.person('owner@example.com');
    const member = await stage.person('member@example.com');
    const workspace = await newWorkspace(
      stage.easel,
      { [owner.userId as UserId]: 'owner', [member.userId as UserId]: 'member' },
      { slug: 'studio-view' },
    );
    const fresh = await stage.person('owner@example.com');
    const reader = await stage.person('member@example.com');
    const open = await publishPage(fresh.client, 'For members', { workspace_id: workspace });
    await fresh.client.artifacts.update({ params: { id: open }, body: { visibility: 'workspace' } });
    const hidden = await publishPage(fresh.client, 'For me');
    await reader.page.goto(`${stage.origin}/p/${open}`);
    await reader.page.getByText('You may view this page').waitFor();
    expect(await reader.page.getByRole('link', { name: 'Settings' }).count()).toBe(0);
    expect(await reader.page.getByRole('button', { name: 'New version' }).count()).toBe(0);
    expect(await reader.page.getByRole('radio').count()).toBe(0);
    await reader.page.goto(`${stage.origin}/p/${hidden}`);
    await reader.page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    expect(await reader.page.getByText('For me', { exact: true }).count()).toBe(0);
    await reader.page.goto(`${stage.origin}/w/studio-view/agents`);
    await reader.page.getByRole('heading', { name: 'Only for owners and admins' }).waitFor();
  });

  it('a workspace is made; people are invited; the token of an agent is shown once', async () => {
    const { page, client, troubles } = await stage.person('founder@example.com');
    await page.goto(`${stage.origin}/`);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'New workspace' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('Orchard');
    await page.getByRole('button', { name: 'Make workspace' }).click();
    await page.getByRole('heading', { level: 1, name: 'Orchard' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/w/orchard');
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByRole('button', { name: 'Invite people' }).click();
    await page.getByLabel('E-mail addresses').fill('grace@example.com, not-an-address');
    await page.getByRole('button', { name: 'Send invitations' }).click();
    await page.getByRole('dialog').getByText('Not an address').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('main').getByText('grace@example.com').waitFor();
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.getByRole('button', { name: 'New agent token' }).click();
    await page.getByLabel('Name of the agent').fill('Release bot');
    await page.getByRole('button', { name: 'Make token' }).click();
    await page.getByRole('dialog', { name: 'Your new token' }).waitFor();
    const secret = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
    expect(secret).toMatch(/^sot_[0-9a-f]{64}$/);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog', { name: 'Your new token' }).isVisible()).toBe(true);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByText('Release bot').waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('button', { name: 'Revoke the token of Release bot' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('heading', { name: 'No agents yet' }).waitFor();
    await expect.poll(async () => (await client.agentTokens.list({ params: { workspaceId: 'orchard' } })).body.agent_tokens).toEqual([]);
    await page.getByRole('link', { name: 'Record' }).click();
    await page.getByText('agent_token.revoke').waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });

  it('a version by a member waits, is approved on the screen, and is live', async () => {
    const boss = await stage.person('boss@example.com');
    const worker = await stage.person('worker@example.com');
    await newWorkspace(stage.easel, { [boss.userId as UserId]: 'owner', [worker.userId as UserId]: 'member' }, { slug: 'bakery' });
    const [owner, member] = [await stage.person('boss@example.com'), await stage.person('worker@example.com')];
    await owner.page.goto(`${stage.origin}/w/bakery/approvals`);
    await owner.page.getByRole('radio', { name: /^It waits for approval/ }).check();
    await owner.page.getByText('The rule is saved.').waitFor();
    const id = await publishPage(member.client, 'Bread', { workspace_id: 'bakery' });
    await owner.page.reload();
    await owner.page.getByRole('listitem').filter({ hasText: 'Bread' }).getByRole('button', { name: 'Approve' }).click();
    await owner.page.getByRole('heading', { name: 'Nothing waits' }).waitFor();
    await expect.poll(async () => (await member.client.artifacts.get({ params: { id } })).body.live_version_no).toBe(1);
  });
});
