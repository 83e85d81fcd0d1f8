/** Questions on a screen of their own, in Chromium: without a model, with one of the tests, and where none is answered. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { Client } from '../../src/clients/sdk/client.ts';
import { FakeModel } from '../features/library/ask/fake-model.ts';
import { describeWith } from '../support/services.ts';
import { AppStage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

const HANDBOOK = '<title>Handbook</title><p>Everybody may take as much vacation as they need.</p>';

/** Published, and found. The index follows within two seconds. */
async function publishFound(client: Client, name: string, content: string, word: string, workspace_id?: string): Promise<string> {
  const { body } = await client.publish.publish({ body: { name, files: [{ path: 'index.html', content }], workspace_id } });
  const isFound = async () => (await client.search.find({ query: { q: word } })).body.artifacts.length;
  await expect.poll(isFound, { timeout: 60_000 }).toBe(1);
  return 'artifact' in body ? body.artifact.id : '';
}

const answerTo = (page: Page, question: string) => page.getByRole('region', { name: `Answer to “${question}”` });
const field = (page: Page) => page.getByRole('main').getByLabel('Question', { exact: true });

/** Texts of the questions that the page sends from now on. */
function questionsOf(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/v1/ask') asked.push((request.postDataJSON() as { readonly question: string }).question);
  });
  return asked;
}

describeWith('chromiumPath')('the screen of questions', () => {
  let stage: AppStage;
  let axe: string;
  beforeAll(async () => {
    [stage, axe] = await Promise.all([AppStage.start(), axeSource()]);
  });
  afterAll(() => stage?.close());

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)(
    'is asked from the keyboard, and its address asks again; Back shows the answer that was: %s, %i px',
    async (colorScheme, width) => {
      const { page, client, troubles } = await stage.person(`asks-${width}@example.com`, {
        colorScheme,
        reducedMotion: 'reduce',
        viewport: { width, height: 800 },
      });
      const id = await publishFound(client, 'Handbook', HANDBOOK, 'vacation');
      const asked = questionsOf(page);
      await page.goto(`${stage.origin}/ask`);
      await page.getByRole('heading', { level: 1, name: 'Ask' }).waitFor();
      await page.getByRole('heading', { name: 'What would you like to know?' }).waitFor();
      await expect.poll(() => field(page).evaluate((input) => input === document.activeElement)).toBe(true);
      expect(await findingsOf(page, axe)).toEqual([]);
      await keepScreenshot(page, `ask screen empty ${colorScheme} ${width}`);
      await page.keyboard.type('How much vacation may I take?');
      await page.keyboard.press('Enter');
      const answer = answerTo(page, 'How much vacation may I take?');
      await answer.getByText('No model writes answers here. These passages fit best:', { exact: true }).waitFor();
      expect(new URL(page.url()).searchParams.get('q')).toBe('How much vacation may I take?');
      expect(await page.title()).toContain('How much vacation may I take?');
      const passage = answer.getByRole('link', { name: 'Read on the page “Handbook”' });
      expect(await passage.getAttribute('href')).toContain('/open?');
      await page.keyboard.type('Vacation of everybody?');
      await page.keyboard.press('Enter');
      await answerTo(page, 'Vacation of everybody?').getByRole('listitem').waitFor();
      expect(await findingsOf(page, axe)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      await keepScreenshot(page, `ask screen ${colorScheme} ${width}`);
      // The one before is still in view, with its address; Back leads to it without another call.
      await page.goBack();
      await expect.poll(() => page.locator('.turn h2').first().textContent()).toBe('How much vacation may I take?');
      await answer.getByRole('listitem').waitFor();
      expect(asked).toEqual(['How much vacation may I take?', 'Vacation of everybody?']);
      await page.reload();
      await answer.getByRole('listitem').waitFor();
      expect(asked).toEqual(['How much vacation may I take?', 'Vacation of everybody?', 'How much vacation may I take?']);
      // The same once more is answered anew.
      await field(page).fill('How much vacation may I take?');
      await page.keyboard.press('Enter');
      await expect.poll(() => asked.length).toBe(4);
      await answer.getByRole('link', { name: 'Handbook', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Handbook' }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/p/${id}`);
      expect(unexpected(troubles)).toEqual([]);
    },
  );

  it('asks one workspace only, says what to try where nothing is found, and is reached from the menu and the palette', async () => {
    const { page, client, troubles } = await stage.person('scope@example.com');
    const { id: workspaceId, slug } = (await client.workspaces.create({ body: { name: 'Studio' } })).body;
    await publishFound(client, 'Handbook', HANDBOOK, 'vacation');
    await publishFound(
      client,
      'Kitchen',
      '<title>Kitchen</title><p>The espresso machine is cleaned on Fridays.</p>',
      'espresso',
      workspaceId,
    );
    await page.goto(`${stage.origin}/`);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Ask', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Ask' }).waitFor();
    await page.getByLabel('Which pages').selectOption('Only Studio');
    await field(page).fill('When is the espresso machine cleaned?');
    await page.keyboard.press('Enter');
    await answerTo(page, 'When is the espresso machine cleaned?').getByText('cleaned on Fridays').waitFor();
    await page.getByText('Asked of Studio only.').waitFor();
    expect(new URL(page.url()).searchParams.get('workspace')).toBe(slug);
    await field(page).fill('vacation');
    await page.keyboard.press('Enter');
    const answer = answerTo(page, 'vacation');
    await answer.getByText('No page that you may open says anything about this.', { exact: true }).waitFor();
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await keepScreenshot(page, 'ask screen nothing found');
    await answer.getByRole('link', { name: 'Ask all pages' }).click();
    await page.getByText('as much vacation as they need').waitFor();
    await expect.poll(() => page.getByLabel('Which pages').inputValue()).toBe('');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('espresso');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog').getByRole('link', { name: 'Ask on a screen of its own' }).click();
    await page.getByRole('main').getByText('cleaned on Fridays').first().waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(unexpected(troubles)).toEqual([]);
    // A workspace that one is not in is as good as none.
    await page.goto(`${stage.origin}/ask?q=vacation&workspace=another-studio`);
    await answerTo(page, 'vacation').getByRole('alert').filter({ hasText: 'You are not a member of this workspace.' }).waitFor();
  });

  it('without a connection it says so, and asks once it is back', async () => {
    const { page, client } = await stage.person('cut-off@example.com');
    await publishFound(client, 'Handbook', HANDBOOK, 'vacation');
    await page.goto(`${stage.origin}/ask`);
    await page.getByRole('heading', { name: 'What would you like to know?' }).waitFor();
    await page.context().setOffline(true);
    await field(page).fill('vacation');
    await page.keyboard.press('Enter');
    await answerTo(page, 'vacation').getByRole('alert').filter({ hasText: 'No connection.' }).waitFor();
    await page.context().setOffline(false);
    await answerTo(page, 'vacation').getByRole('listitem').waitFor();
  });

  it('says in Spanish when to ask again where too much was asked', async () => {
    const { page, client } = await stage.person('limite@example.com', { locale: 'es' });
    await publishFound(client, 'Handbook', HANDBOOK, 'vacation');
    for (let asked = 0; asked < LIMITS.asksPerHour; asked += 1) await client.ask.ask({ body: { question: 'vacation' } });
    await page.goto(`${stage.origin}/ask?q=vacation`);
    const refusal = page.getByRole('alert').filter({ hasText: 'Por ahora no se pueden responder más preguntas.' });
    await refusal.waitFor();
    expect(await refusal.textContent()).toMatch(/Vuelve a preguntar dentro de \d+ (?:minuto|segundo|hora)s?\./);
    await refusal.getByRole('button', { name: 'Preguntar otra vez' }).waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'ask screen limit');
  });

  it('a visitor signs in first, and the question is not lost on the way', async () => {
    const { page } = await stage.visitor();
    await page.goto(`${stage.origin}/ask?q=How+much+vacation%3F`);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    const back = new URL(new URL(page.url()).searchParams.get('return_to') ?? '', stage.origin);
    expect([back.pathname, back.searchParams.get('q')]).toEqual(['/ask', 'How much vacation?']);
  });
});

describeWith('chromiumPath')('the screen of questions, with a model', () => {
  const model = new FakeModel();
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start({ ASK_BASE_URL: await model.listen(), ASK_MODEL: 'small' });
  });
  afterAll(async () => {
    await stage?.close();
    model.close();
  });

  it('an answer is shown while it is written, is stopped, and ends with the screen; what is cited leads to its passage', async () => {
    const { page, client, troubles } = await stage.person('written@example.com');
    await publishFound(client, 'Handbook', HANDBOOK, 'vacation');
    model.behaviour = { pieces: ['As much vacation ', 'as they '], hangs: true };
    await page.goto(`${stage.origin}/ask?q=How+much+vacation%3F`);
    const answer = answerTo(page, 'How much vacation?');
    await answer.getByText('As much vacation as they').waitFor();
    await answer.getByRole('button', { name: 'Stop' }).click();
    await answer.getByText('You stopped the answer.').first().waitFor();
    await expect.poll(() => model.hanging).toBe(0);
    model.behaviour = { pieces: ['As much vacation as they need [1].'] };
    await answer.getByRole('button', { name: 'Ask again' }).click();
    const source = answer.getByRole('link', { name: 'Source 1: Handbook' });
    await source.waitFor();
    expect(decodeURIComponent((await source.getAttribute('href')) ?? '')).toContain('#:~:text=Everybody%20may%20take');
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await keepScreenshot(page, 'ask screen by a model');
    model.behaviour = { pieces: ['As much '], hangs: true };
    await field(page).fill('And who takes vacation?');
    await page.keyboard.press('Enter');
    await answerTo(page, 'And who takes vacation?').getByText('As much').waitFor();
    await expect.poll(() => model.hanging).toBe(1);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'My pages' }).click();
    await page.getByRole('heading', { level: 1, name: 'My pages' }).waitFor();
    await expect.poll(() => model.hanging).toBe(0);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('an answer in Spanish fits a phone', async () => {
    const { page, client } = await stage.person('estrecho@example.com', { locale: 'es', viewport: { width: 390, height: 800 } });
    await publishFound(client, 'Handbook', HANDBOOK, 'vacation');
    model.behaviour = { pieces: ['As much vacation as they need [1].'] };
    await page.goto(`${stage.origin}/ask?q=How+much+vacation%3F`);
    await page.getByText('Redactada por un modelo a partir de estos pasajes; compruébalos', { exact: true }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await keepScreenshot(page, 'ask screen by a model in Spanish');
  });
});
