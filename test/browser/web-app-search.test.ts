/** The palette finds pages by what they say and answers questions from them, in Chromium, without a model and with one of the tests. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { Client } from '../../src/clients/sdk/client.ts';
import { FakeModel } from '../features/library/ask/fake-model.ts';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

const HANDBOOK = '<title>Handbook</title><p>Everybody may take as much vacation as they need.</p>';

/** Published, and found. The index follows within two seconds. */
async function publishFound(client: Client, name: string, content: string, word: string): Promise<string> {
  const { body } = await client.publish.publish({ body: { name, files: [{ path: 'index.html', content }], visibility: 'private' } });
  const isFound = async () => (await client.search.find({ query: { q: word } })).body.artifacts.length;
  await expect.poll(isFound, { timeout: 60_000 }).toBe(1);
  return 'artifact' in body ? body.artifact.id : '';
}

async function openPalette(page: Page, origin: string, text: string): Promise<void> {
  await page.goto(`${origin}/`);
  await page.getByRole('heading', { level: 1, name: 'My pages' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type(text);
}

describeWith('chromiumPath')('the search of the web app', () => {
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it('finds a page by a misspelt word of its text, in a group, with the word marked, and opens it', async () => {
    const { page, client } = await stage.person('finder@example.com');
    await publishPage(client, 'Another page');
    const id = await publishFound(client, 'Handbook', HANDBOOK, 'vacation');
    await openPalette(page, stage.origin, 'vacaton');
    const option = page.getByRole('option', { name: /^Handbook.*vacation/ });
    await option.waitFor();
    expect(await option.locator('mark').allTextContents()).toEqual(['vacation']);
    await page.getByText('Pages', { exact: true }).waitFor();
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Handbook' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/p/${id}`);
  });

  it('finds a connection of a workspace and opens the screen on which it is', async () => {
    const { page, client, troubles } = await stage.person('connected@example.com');
    const { body: workspace } = await client.workspaces.create({ body: { slug: 'tides', name: 'Tides' } });
    const params = { workspaceId: workspace.id };
    await client.connections.create({
      params,
      body: { name: 'Tidal warehouse', type: 'http', config: { url: 'https://api.example.com' } },
    });
    await openPalette(page, stage.origin, 'tidal');
    await page.getByRole('option', { name: /^Tidal warehouse/ }).waitFor();
    await page.getByRole('dialog').getByText('Connections', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Tidal warehouse').waitFor();
    expect(new URL(page.url()).pathname).toBe('/w/tides/connections');
    expect(unexpected(troubles)).toEqual([]);
  });

  it.each([
    ['light', 1280],
    ['dark', 360],
  ] as const)('answers a question with passages, which lead to the page: %s, %i px', async (colorScheme, width) => {
    const person = await stage.person(`asker-${width}@example.com`, {
      colorScheme,
      reducedMotion: 'reduce',
      viewport: { width, height: 760 },
    });
    const { page, client, troubles } = person;
    // The page's own origin is visited too.
    await page.context().unrouteAll();
    const filler = '<p>Nothing of interest.</p>'.repeat(200);
    const id = await publishFound(client, 'Handbook', HANDBOOK.replace('<p>', `${filler}<h2>Time off</h2><p>`), 'vacation');
    await openPalette(page, stage.origin, 'How much vacation may I take?');
    await page.getByRole('option', { name: 'Ask: “How much vacation may I take?”' }).waitFor();
    await keepScreenshot(page, `ask row ${colorScheme} ${width}`);
    await page.keyboard.press('Control+Enter');
    const answer = page.getByRole('region', { name: 'Answer to “How much vacation may I take?”' });
    const source = answer.getByRole('listitem').filter({ hasText: 'as much vacation as they need' });
    await source.waitFor();
    await answer.getByText('No model writes answers here. These passages fit best:', { exact: true }).waitFor();
    await answer.getByText('Passages, word for word').waitFor();
    expect(await answer.getByRole('status').textContent()).toContain('The answer is complete, with 1 source.');
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await keepScreenshot(page, `answer ${colorScheme} ${width}`);
    const opened = page.waitForEvent('popup');
    await source.getByRole('link', { name: 'Read on the page “Handbook”' }).click();
    const popup = await opened;
    await popup.getByRole('heading', { name: 'Time off' }).waitFor();
    // The browser has gone to the passage.
    await expect.poll(() => popup.evaluate(() => scrollY)).toBeGreaterThan(1000);
    await popup.close();
    // What is typed now is a search again.
    await page.getByRole('combobox', { name: 'Search pages and places' }).press('End');
    await page.keyboard.type(' Or');
    await page.getByRole('option', { name: /^Handbook/ }).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog').getByRole('link', { name: 'Handbook', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Handbook' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/p/${id}`);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('says in Spanish that an answer is made of passages, and that too much was asked', async () => {
    const { page, client, troubles } = await stage.person('preguntas@example.com', { locale: 'es' });
    const id = await publishFound(client, 'Handbook', HANDBOOK, 'vacation');
    await page.goto(`${stage.origin}/p/${id}`);
    const panel = page.getByRole('region', { name: 'Pregunta a esta página' });
    await panel.getByLabel('Pregunta', { exact: true }).fill('vacation');
    await page.keyboard.press('Enter');
    await panel.getByText('Aquí ningún modelo redacta respuestas. Estos pasajes son los que mejor encajan:', { exact: true }).waitFor();
    for (let asked = 1; asked < LIMITS.pageAsksPerHour; asked += 1) {
      await client.ask.agent({ params: { artifactId: id }, body: { question: 'vacation' } });
    }
    await panel.getByLabel('Pregunta', { exact: true }).fill('more vacation');
    await page.keyboard.press('Enter');
    await panel.getByRole('alert').filter({ hasText: 'Por ahora no se pueden responder más preguntas.' }).waitFor();
    expect(unexpected(troubles).join()).toContain('429');
  });
});

describeWith('chromiumPath')('questions in the web app, with a model', () => {
  const model = new FakeModel();
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start({ ASK_BASE_URL: await model.listen(), ASK_MODEL: 'small' });
  });
  afterAll(async () => {
    await stage?.close();
    model.close();
  });

  it('an answer is shown while it is written, can be stopped, and cites passages in its text', async () => {
    const { page, client, troubles } = await stage.person('streams@example.com');
    const id = await publishFound(client, 'Handbook', HANDBOOK, 'vacation');
    model.behaviour = { pieces: ['As much vacation ', 'as they '], hangs: true };
    await openPalette(page, stage.origin, 'How much vacation?');
    await page.getByRole('option', { name: /^Ask:/ }).click();
    const answer = page.getByRole('region', { name: 'Answer to “How much vacation?”' });
    await answer.getByText('As much vacation as they').waitFor();
    await keepScreenshot(page, 'answer being written');
    await answer.getByRole('button', { name: 'Stop' }).click();
    await answer.getByText('You stopped the answer.').first().waitFor();
    await expect.poll(() => model.hanging).toBe(0);
    // Where the button was that is gone.
    expect(await answer.evaluate((region) => region === document.activeElement)).toBe(true);
    model.behaviour = { pieces: ['As much vacation as they need [1].'] };
    await answer.getByRole('button', { name: 'Ask again' }).click();
    await answer.getByRole('link', { name: 'Source 1: Handbook' }).waitFor();
    await answer.getByText('Written by a model').waitFor();
    await keepScreenshot(page, 'answer by a model');
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    model.behaviour = { status: 500 };
    await page.getByRole('button', { name: 'Back to the search' }).click();
    await page.keyboard.press('Control+Enter');
    await answer.getByText('The model did not answer. These passages fit best:', { exact: true }).waitFor();
    expect(unexpected(troubles)).toEqual([]);
    model.behaviour = { pieces: ['As much '], hangs: true };
    await page.getByRole('button', { name: 'Back to the search' }).click();
    await page.keyboard.press('Control+Enter');
    await answer.getByText('As much').waitFor();
    // What the answer is made from may not be opened any more.
    await client.artifacts.delete({ params: { id } });
    await answer.getByRole('alert').filter({ hasText: 'The answer ended early. Ask again.' }).waitFor();
  });

  it('a page is asked alone, knowing what was said before', async () => {
    const { page, client, troubles } = await stage.person('panel@example.com');
    const id = await publishFound(client, 'Handbook', HANDBOOK, 'vacation');
    await page.goto(`${stage.origin}/p/${id}`);
    const panel = page.getByRole('region', { name: 'Ask this page', exact: true });
    const ask = async (question: string) => {
      await panel.getByLabel('Question', { exact: true }).fill(question);
      await page.keyboard.press('Enter');
    };
    model.behaviour = { pieces: ['As much as they need [1].'] };
    await ask('How much vacation?');
    await panel.getByRole('link', { name: 'Source 1: Handbook' }).waitFor();
    model.behaviour = { pieces: ['Everybody [1].'] };
    await ask('And who may take vacation?');
    const second = panel.getByRole('region', { name: 'Answer to “And who may take vacation?”' });
    await second.getByText('Everybody').first().waitFor();
    const told = model.calls.at(-1)?.body.messages.map(({ role, content }) => [role, content]);
    expect(told).toEqual(expect.arrayContaining([['assistant', 'As much as they need [1].']]));
    await keepScreenshot(page, 'ask this page');
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    expect(unexpected(troubles)).toEqual([]);
  });
});
