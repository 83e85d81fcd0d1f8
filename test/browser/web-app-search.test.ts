/** The palette finds pages by what they say, in Chromium. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';

describeWith('chromiumPath')('the search of the web app', () => {
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it('finds a page by a misspelt word of its text, in a group, with the word marked, and opens it', async () => {
    const { page, client } = await stage.person('finder@example.com');
    const content = '<title>Handbook</title><p>Everybody may take as much vacation as they need.</p>';
    const { body } = await client.publish.publish({
      body: { name: 'Handbook', files: [{ path: 'index.html', content }], visibility: 'private' },
    });
    await publishPage(client, 'Another page');
    const id = 'artifact' in body ? body.artifact.id : '';
    await page.goto(`${stage.origin}/`);
    await page.getByRole('link', { name: 'Another page' }).waitFor();
    // The index follows within two seconds.
    const isFound = async () => (await client.search.find({ query: { q: 'vacation' } })).body.artifacts.length;
    await expect.poll(isFound, { timeout: 20_000 }).toBe(1);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('vacaton');
    const option = page.getByRole('option', { name: /^Handbook.*vacation/ });
    await option.waitFor();
    expect(await option.locator('mark').allTextContents()).toEqual(['vacation']);
    await page.getByText('Pages', { exact: true }).waitFor();
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Handbook' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/p/${id}`);
  });
});
