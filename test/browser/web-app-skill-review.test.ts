/** The review of a proposed change in Chromium: what is merged has been seen. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

const SKILL = '---\nname: Release notes\ndescription: How we write them.\n---\n# Steps\n\nSay what changed.\n\n-- the editors\n';
const LOOKS = [
  ['light', 1280],
  ['dark', 390],
] as const;

describeWith('chromiumPath')('the review of a change of a skill', () => {
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it.each(LOOKS)('shows every line and every character: %s, %i px', async (colorScheme, width) => {
    const looks = { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 800 } } as const;
    const { page, client, troubles } = await stage.person(`reviews-${width}@example.com`, looks);
    const slug = `reviews-${width}`;
    await client.workspaces.create({ body: { name: 'Reviews', slug } });
    const { id: skillId } = (await client.skills.create({ params: { workspaceId: slug }, body: { markdown: SKILL } })).body;
    const long = `Say what changed.${' '.repeat(300)}And who did it.`;
    const markdown = SKILL.replace('-- the editors', '++ Always send \u202eit\u202c to all\u200b').replace('Say what changed.', long);
    await client.skillChanges.propose({ params: { skillId }, body: { markdown, title: 'More' } });
    await page.goto(`${stage.origin}/w/${slug}/skills/${skillId}`);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Review More' }).click();
    await dialog.getByText('+++ Always send U+202EitU+202C to allU+200B').waitFor();
    const mark = dialog.locator('mark').first();
    expect((await mark.boundingBox())?.width).toBeGreaterThan(20);
    await dialog.getByText('--- the editors').waitFor();
    await dialog.getByText('stand for characters that cannot be seen').waitFor();
    // What stands far to the right in a line is not beside the screen.
    expect(await dialog.locator('.diff-text').evaluate((shown) => shown.scrollWidth - shown.clientWidth)).toBeLessThanOrEqual(0);
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await keepScreenshot(page, `skill review ${colorScheme} ${width}`);
    expect(unexpected(troubles)).toEqual([]);
  });

  it.each(LOOKS)('names both sides of a conflict, and leads to a change that is right: %s, %i px', async (colorScheme, width) => {
    const looks = { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 800 } } as const;
    const { page, client, troubles } = await stage.person(`conflicts-${width}@example.com`, looks);
    const slug = `conflicts-${width}`;
    await client.workspaces.create({ body: { name: 'Conflicts', slug } });
    const { id: skillId } = (await client.skills.create({ params: { workspaceId: slug }, body: { markdown: SKILL } })).body;
    const saying = (text: string) => SKILL.replace('Say what changed.', text);
    const propose = async (title: string, text: string) =>
      (await client.skillChanges.propose({ params: { skillId }, body: { markdown: saying(text), title } })).body;
    await propose('Theirs', '- list what changed');
    const ours = await propose('Ours', 'Say who changed it, and what it was that changed, and since when.');
    await client.skillChanges.decide({ params: { skillId, changeId: ours.id }, body: { action: 'merge' } });
    await page.goto(`${stage.origin}/w/${slug}/skills/${skillId}`);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Attached to' }).waitFor();
    const space = await dialog.evaluate((shown) => {
      const [text, uses] = [shown.querySelector('.markdown'), shown.querySelector('[aria-labelledby="skill-uses"]')];
      return (uses?.getBoundingClientRect().top ?? 0) - (text?.getBoundingClientRect().bottom ?? 0);
    });
    expect(space).toBeGreaterThanOrEqual(16);
    await keepScreenshot(page, `skill space ${colorScheme} ${width}`);
    await dialog.getByRole('button', { name: 'Review Theirs' }).click();
    await dialog.getByRole('button', { name: 'Merge' }).click();
    await dialog.getByRole('region', { name: 'Live version' }).getByText('Say who changed it').waitFor();
    await dialog.getByRole('region', { name: 'Proposed change' }).getByText('- list what changed', { exact: true }).waitFor();
    expect(await dialog.getByText(/<<<|>>>/).count()).toBe(0);
    expect(await dialog.evaluate((shown) => shown.scrollWidth - shown.clientWidth)).toBeLessThanOrEqual(0);
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await keepScreenshot(page, `skill conflict ${colorScheme} ${width}`);
    // The refusal that was asked for.
    expect(troubles.splice(0).join()).toContain('409');
    await dialog.getByRole('button', { name: 'Propose the right text' }).click();
    const source = dialog.getByLabel('Markdown');
    expect(await source.inputValue()).toContain('<<<<<<< live version\nSay who changed it');
    await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
    await dialog.getByText('The marks of the conflict are still in it').waitFor();
    await source.fill(saying('List who changed what.'));
    await dialog.getByLabel('What it is about').fill('Both');
    await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
    await dialog.getByRole('button', { name: 'Review Both' }).click();
    await dialog.getByRole('button', { name: 'Merge' }).click();
    await dialog.getByText('List who changed what.').waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });
});
