/** Skills in the web app, in Chromium: one is made, a change is proposed, reviewed and merged. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, unexpected } from './app-stage.ts';
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
    await page.getByRole('button', { name: 'Read Release notes' }).click();
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
});
