/** Skills in the web app, in Chromium: one is made, a change is proposed, reviewed and merged. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../protocol/core/ids.ts';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

const SKILL = '---\nname: Release notes\ndescription: How we write them.\n---\n# Steps\n\nSay what changed.\n';

describeWith('chromiumPath')('skills in the web app', () => {
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it('one is made, a change is proposed, and merged from its difference', async () => {
    const { page, client, troubles } = await stage.person('skills@example.com');
    await client.workspaces.create({ body: { name: 'Acme', slug: 'acme' } });
    await page.goto(`${stage.origin}/w/acme/skills`);
    await page.getByRole('heading', { name: 'No skills yet' }).waitFor();
    await page.getByRole('button', { name: 'New skill' }).click();
    await page.getByLabel('Markdown').fill('No front matter');
    await page.getByRole('button', { name: 'Make skill' }).click();
    await page.getByText('must begin with front matter').waitFor();
    // The refusal that was asked for.
    expect(troubles.splice(0).join()).toContain('400');
    await page.getByLabel('Markdown').fill(SKILL);
    await page.getByRole('button', { name: 'Make skill' }).click();
    await page.getByText('Release notes is made.').waitFor();
    await keepScreenshot(page, 'skills');
    await page.getByRole('link', { name: 'Read Release notes' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Steps' }).waitFor();
    await keepScreenshot(page, 'skill');
    await dialog.getByRole('button', { name: 'Propose a change' }).click();
    await dialog.getByLabel('What it is about').fill('Name the issue');
    await dialog.getByLabel('Markdown').fill(`${SKILL}\nName the issue.\n`);
    await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
    await dialog.getByRole('button', { name: 'Review Name the issue' }).click();
    await dialog.getByText('+Name the issue.').waitFor();
    await keepScreenshot(page, 'skill-change');
    await dialog.getByRole('button', { name: 'Merge' }).click();
    await dialog.getByText('Merged', { exact: true }).waitFor();
    await dialog.getByRole('paragraph').filter({ hasText: 'Name the issue.' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Version 2').waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });

  it('an approver hears of a change at once, by a notice that leads to it', async () => {
    const owner = await stage.person('approver@example.com');
    const member = await stage.person('proposer@example.com');
    const { id: workspaceId } = (await owner.client.workspaces.create({ body: { name: 'Bells', slug: 'bells' } })).body;
    await stage.easel.sql`
      insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${workspaceId}, ${member.userId}, 'admin', 0)`;
    // This change is told to what knows the roles of the session, which the line above has not.
    await owner.client.members.update({ params: { workspaceId, userId: member.userId }, body: { role: 'member' } });
    const { id: skillId } = (await owner.client.skills.create({ params: { workspaceId }, body: { markdown: SKILL } })).body;
    const { page } = owner;
    await page.goto(`${stage.origin}/my/notifications`);
    await page.getByRole('heading', { name: 'Nothing yet' }).waitFor();
    await member.client.skillChanges.propose({ params: { skillId }, body: { markdown: `${SKILL}More.\n`, title: 'More' } });
    await page.getByRole('link', { name: 'A change of the skill "Release notes" is proposed' }).click();
    const dialog = page.getByRole('dialog', { name: 'Release notes' });
    await dialog.getByRole('button', { name: 'Review More' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await page.getByText('The change is rejected.').waitFor();
    await member.page.goto(`${stage.origin}/my/notifications`);
    await member.page.getByText('Your change of the skill "Release notes" was rejected').waitFor();
    expect([...unexpected(owner.troubles), ...unexpected(member.troubles)]).toEqual([]);
  });

  it.each([
    ['light', 1280],
    ['dark', 360],
  ] as const)('are attached to a page and to the workspace, and detached: %s, %i px', async (colorScheme, width) => {
    const { page, client, troubles } = await stage.person(`attacher-${width}@example.com`, {
      colorScheme,
      reducedMotion: 'reduce',
      viewport: { width, height: 760 },
    });
    const slug = `attach-${width}`;
    const { id: workspace_id } = (await client.workspaces.create({ body: { name: 'Attached', slug } })).body;
    for (const name of ['Release notes', 'Colours']) {
      await client.skills.create({ params: { workspaceId: slug }, body: { markdown: SKILL.replace('Release notes', name) } });
    }
    const artifactId = await publishPage(client, 'Landing page', { workspace_id });
    const attached = async () => (await client.skills.listOfArtifact({ params: { id: artifactId } })).body.skills.map(({ name }) => name);
    await page.goto(`${stage.origin}/p/${artifactId}`);
    await page.getByRole('button', { name: 'Attach skills' }).click();
    const dialog = page.getByRole('dialog', { name: 'Attach skills' });
    await dialog.getByRole('button', { name: 'Attach Colours' }).click();
    await dialog.getByText('Attached', { exact: true }).waitFor();
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await keepScreenshot(page, `attach skills ${colorScheme} ${width}`);
    await dialog.getByRole('button', { name: 'Done' }).click();
    const panel = page.getByRole('region', { name: 'Skills' });
    await panel.getByRole('link', { name: 'Colours' }).waitFor();
    expect(await attached()).toEqual(['Colours']);
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await keepScreenshot(page, `attached skills ${colorScheme} ${width}`);
    await panel.getByRole('button', { name: 'Detach Colours' }).click();
    await panel.getByRole('link', { name: 'Colours' }).waitFor({ state: 'detached' });
    expect(await attached()).toEqual([]);
    await page.goto(`${stage.origin}/w/${slug}/skills`);
    await page.getByRole('button', { name: 'Attach Colours to the whole workspace' }).click();
    await page.getByText('Whole workspace', { exact: true }).waitFor();
    await keepScreenshot(page, `skills of a workspace ${colorScheme} ${width}`);
    await page.getByRole('button', { name: 'Detach Colours from the whole workspace' }).click();
    await page.getByText('Whole workspace', { exact: true }).waitFor({ state: 'detached' });
    expect(unexpected(troubles)).toEqual([]);
  });

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)(
    'a skill says what it is attached to, and is attached and detached there by whoever may: %s, %i px',
    async (colorScheme, width) => {
      const looks = { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 800 } } as const;
      const owner = await stage.person(`uses-${width}@example.com`, looks);
      const member = await stage.person(`reads-${width}@example.com`, looks);
      const slug = `uses-${width}`;
      const { id: workspace_id } = (await owner.client.workspaces.create({ body: { name: 'Uses', slug } })).body;
      await owner.client.members.add({ params: { workspaceId: slug }, body: { email: `reads-${width}@example.com`, role: 'member' } });
      const { id: skillId } = (await owner.client.skills.create({ params: { workspaceId: slug }, body: { markdown: SKILL } })).body;
      const landing = await publishPage(owner.client, 'Landing page', { workspace_id });
      await owner.client.artifacts.update({ params: { id: landing }, body: { visibility: 'workspace' } });
      await publishPage(owner.client, 'Other page', { workspace_id });
      const { page } = owner;
      const dialog = page.getByRole('dialog', { name: 'Release notes' });
      await page.goto(`${stage.origin}/w/${slug}/skills/${skillId}`);
      await dialog.getByText('Attached to no page that you see.').waitFor();
      await dialog.getByRole('button', { name: 'Attach to a page' }).click();
      const chooser = page.getByRole('dialog', { name: 'Attach Release notes to a page' });
      await chooser.getByRole('button', { name: 'Attach to Other page' }).waitFor();
      // The skill itself is no page to attach it to. The field has the focus.
      expect(await chooser.getByRole('listitem').count()).toBe(2);
      await page.keyboard.type('land');
      await chooser.getByRole('button', { name: 'Attach to Other page' }).waitFor({ state: 'detached' });
      await chooser.getByRole('button', { name: 'Attach to Landing page' }).press('Enter');
      await chooser.getByText('Attached', { exact: true }).waitFor();
      expect(await findingsOf(page, await axeSource())).toEqual([]);
      await keepScreenshot(page, `attach skill to a page ${colorScheme} ${width}`);
      await chooser.getByRole('button', { name: 'Done' }).click();
      await dialog.getByRole('link', { name: 'Landing page' }).waitFor();
      await dialog.getByRole('button', { name: 'Attach Release notes to the whole workspace' }).click();
      await dialog.getByRole('button', { name: 'Detach Release notes from the whole workspace' }).waitFor();
      expect(await findingsOf(page, await axeSource())).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      await keepScreenshot(page, `skill uses ${colorScheme} ${width}`);
      // Who changes neither the page nor the workspace sees both, and detaches nothing.
      await member.page.goto(`${stage.origin}/w/${slug}/skills/${skillId}`);
      const read = member.page.getByRole('dialog', { name: 'Release notes' });
      await read.getByRole('link', { name: 'Landing page' }).waitFor();
      await read.getByText('Whole workspace', { exact: true }).waitFor();
      expect(await read.getByRole('button', { name: /^Detach/ }).count()).toBe(0);
      await dialog.getByRole('button', { name: 'Detach from Landing page' }).click();
      await dialog.getByRole('link', { name: 'Landing page' }).waitFor({ state: 'detached' });
      await dialog.getByRole('button', { name: 'Detach Release notes from the whole workspace' }).click();
      await dialog.getByText('Attached to no page that you see.').waitFor();
      expect((await owner.client.skills.uses({ params: { skillId } })).body).toMatchObject({ workspace: false, artifacts: [] });
      expect([...unexpected(owner.troubles), ...unexpected(member.troubles)]).toEqual([]);
    },
  );

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('only pages that the person may edit are offered, and looked for so far by itself: %s, %i px', async (colorScheme, width) => {
    const looks = { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 800 } } as const;
    const owner = await stage.person(`offers-${width}@example.com`, looks);
    const member = await stage.person(`edits-${width}@example.com`, looks);
    const slug = `offers-${width}`;
    const email = `edits-${width}@example.com`;
    const { id: workspace_id } = (await owner.client.workspaces.create({ body: { name: 'Offers', slug } })).body;
    await owner.client.members.add({ params: { workspaceId: slug }, body: { email, role: 'member' } });
    const { id: skillId } = (await owner.client.skills.create({ params: { workspaceId: slug }, body: { markdown: SKILL } })).body;
    const mine = await publishPage(member.client, 'Page of the member', { workspace_id });
    await member.client.artifacts.update({ params: { id: mine }, body: { visibility: 'workspace' } });
    for (const role of ['editor', 'viewer'] as const) {
      const id = await publishPage(owner.client, `Page shared with its ${role}`, { workspace_id });
      await owner.client.collaborators.add({ params: { id }, body: { emails: [email], role } });
    }
    /** Pages that stand before those above in the list. */
    const fill = (count: number, name: string, ownerId: string | null) => stage.easel.sql`
      insert into artifact (id, owner_id, workspace_id, name, slug, visibility, created_at_ms, updated_at_ms)
      select id, ${ownerId}, ${workspace_id}, ${name}, replace(lower(id), '_', '-'), 'workspace', 0, ${stage.easel.clock.nowMs() + 60_000}
      from unnest(${Array.from({ length: count }, () => newId('artifact'))}::text[]) as n (id)`;
    await fill(1, 'Page of the workspace', null);
    await fill(40, 'Page of the owner', owner.userId);
    const lists: string[] = [];
    const { page } = member;
    page.on('request', (request) => request.url().includes('workspace_id=') && lists.push(request.url()));
    const open = async (by: Page) => {
      await by.goto(`${stage.origin}/w/${slug}/skills/${skillId}`);
      await by.getByRole('button', { name: 'Attach to a page' }).click();
      return by.getByRole('dialog', { name: 'Attach Release notes to a page' });
    };
    let chooser = await open(page);
    await chooser.getByRole('button', { name: 'Attach to Page of the member' }).waitFor();
    // The clock of the test stands still, so that these two have no order.
    expect((await chooser.getByRole('listitem').allInnerTexts()).sort()).toEqual([
      expect.stringContaining('Page of the member'),
      expect.stringContaining('Page shared with its editor'),
    ]);
    expect(lists).toHaveLength(2);
    await chooser.getByRole('button', { name: 'Attach to Page shared with its editor' }).click();
    await chooser.getByText('Attached', { exact: true }).waitFor();
    await keepScreenshot(page, `offered pages ${colorScheme} ${width}`);
    // An owner of the workspace sees the pages of its members, and edits those that are the workspace's own.
    const offered = await open(owner.page);
    const search = offered.getByLabel('Find a page by its name');
    await search.fill('page of the w');
    await offered.getByRole('button', { name: 'Attach to Page of the workspace' }).waitFor();
    await search.fill('page of the m');
    await offered.getByRole('heading', { name: 'No such page' }).waitFor();
    // Beyond five lists the person says whether to look on.
    await fill(130, 'Page of the owner', owner.userId);
    lists.length = 0;
    chooser = await open(page);
    await chooser.getByText('no page to attach it to among the first 150').waitFor();
    expect(lists).toHaveLength(5);
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await keepScreenshot(page, `no page to offer so far ${colorScheme} ${width}`);
    await chooser.getByRole('button', { name: 'Load more' }).click();
    await chooser.getByRole('button', { name: 'Attach to Page of the member' }).waitFor();
    await page.keyboard.press('Escape');
    await stage.easel.sql`delete from collaborator where artifact_id in (select id from artifact where workspace_id = ${workspace_id})`;
    await stage.easel.sql`update artifact set owner_id = ${owner.userId} where id = ${mine}`;
    chooser = await open(page);
    await chooser.getByRole('button', { name: 'Load more' }).click();
    await chooser.getByRole('heading', { name: 'No page that you may edit' }).waitFor();
    await keepScreenshot(page, `no page to offer ${colorScheme} ${width}`);
    expect([...unexpected(owner.troubles), ...unexpected(member.troubles)]).toEqual([]);
  });
});
