/** What people do in the web app, in Chromium: find, rename, file, trash and restore pages, and publish by choosing files. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../protocol/core/ids.ts';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';

describeWith('chromiumPath')('the web app', () => {
  let stage: AppStage;

  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it('a visitor sees how to begin, and a screen leads to the sign-in page and back', async () => {
    const { page } = await stage.visitor();
    await page.goto(`${stage.origin}/`);
    await expect.poll(() => page.locator('main').textContent()).toContain(`npx easel login --url ${stage.origin}`);
    await page.goto(`${stage.origin}/my/trash`);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    expect(new URL(page.url()).searchParams.get('return_to')).toBe('/my/trash');
  });

  it('a newcomer reads the exact next step, by screen and by command', async () => {
    const { page, troubles } = await stage.person('newcomer@example.com');
    await page.goto(`${stage.origin}/`);
    await page.getByRole('heading', { name: 'Nothing here yet' }).waitFor();
    await expect
      .poll(() => page.locator('.empty code').textContent())
      .toBe(`npx easel login --url ${stage.origin}\nnpx easel publish ./my-site`);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('somebody chooses files, publishes them, and a second time as a new version of the page that is open', async () => {
    const { page, client, troubles } = await stage.person('publisher@example.com');
    const file = (text: string) => ({ name: 'hello.html', mimeType: 'text/html', buffer: Buffer.from(`<h1>${text}</h1>`) });
    await page.goto(`${stage.origin}/`);
    await page.getByRole('banner').getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByLabel('Choose files').setInputFiles([file('one')]);
    await page.getByLabel('Name').fill('Greeting');
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('heading', { name: '“Greeting” is live' }).waitFor();
    await page.getByRole('link', { name: 'Go to its screen' }).click();
    await page.getByRole('heading', { level: 1, name: 'Greeting' }).waitFor();
    await page.getByRole('button', { name: 'New version' }).click();
    await page.getByLabel('Choose files').setInputFiles([file('two')]);
    await expect.poll(() => page.getByLabel('As', { exact: true }).inputValue()).toBe('version');
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('dialog').getByText('Version 2, 1 file.').waitFor();
    const { artifacts } = (await client.artifacts.list()).body;
    expect(artifacts.map(({ name, live_version_no }) => [name, live_version_no])).toEqual([['Greeting', 2]]);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('a zip is unpacked, and hidden files are left out of it', async () => {
    const { page, client } = await stage.person('zip@example.com');
    const { zipSync, strToU8 } = await import('fflate');
    const zip = zipSync({
      'site/index.html': strToU8('<h1>zipped</h1>'),
      'site/.env': strToU8('SECRET=1'),
      'site/css/a.css': strToU8('a{}'),
    });
    await page.goto(`${stage.origin}/`);
    await page.getByRole('banner').getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByLabel('Choose files').setInputFiles([{ name: 'site.zip', mimeType: 'application/zip', buffer: Buffer.from(zip) }]);
    await page.getByText('1 file is left out').waitFor();
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('site');
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('link', { name: 'Go to its screen' }).waitFor();
    const [artifact] = (await client.artifacts.list()).body.artifacts;
    const { files } = (await client.versions.files({ params: { id: artifact?.id ?? '' } })).body;
    expect(files.map(({ path }) => path).sort()).toEqual(['css/a.css', 'index.html']);
  });

  it('files without a page are refused in words, and nothing is sent', async () => {
    const { page, client } = await stage.person('nopage@example.com');
    await page.goto(`${stage.origin}/`);
    await page.getByRole('banner').getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByLabel('Choose files').setInputFiles([{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') }]);
    await page.getByRole('alert').filter({ hasText: 'There is no .html file among them.' }).waitFor();
    await expect.poll(async () => (await client.artifacts.list()).body.artifacts).toEqual([]);
  });

  it('by keyboard alone: find a page in the palette, open it, and go through its menu', async () => {
    const { page, client, troubles } = await stage.person('keys@example.com');
    await publishPage(client, 'Garden planner');
    const wanted = await publishPage(client, 'Recipe box');
    await page.goto(`${stage.origin}/`);
    await page.getByRole('link', { name: 'Recipe box' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('recipe');
    await page.getByRole('option', { name: /Recipe box/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Recipe box' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/p/${wanted}`);
    await page.goBack();
    await page.getByRole('button', { name: 'Actions for Garden planner' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menu').waitFor();
    await page.keyboard.press('r');
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Rename');
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Actions for Garden planner');
    expect(unexpected(troubles)).toEqual([]);
  });

  it('the palette and a menu take the very next key, before anything is painted', async () => {
    const { page, client } = await stage.person('quick@example.com');
    await publishPage(client, 'Quick page');
    await page.goto(`${stage.origin}/`);
    await page.getByRole('link', { name: 'Quick page' }).waitFor();
    // Only microtasks run between the key and the question; a frame would be a task.
    const focusAfter = (act: string) =>
      page.evaluate(async (todo) => {
        if (todo === 'palette') document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }));
        else document.querySelector<HTMLElement>('[aria-label="Actions for Quick page"]')?.click();
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
        return document.activeElement?.getAttribute('role');
      }, act);
    expect(await focusAfter('palette')).toBe('combobox');
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    expect(await focusAfter('menu')).toBe('menuitem');
  });

  it('a rename is shown at once, and taken back where the server refuses it', async () => {
    const { page, client } = await stage.person('rename@example.com');
    await publishPage(client, 'Before');
    await page.goto(`${stage.origin}/`);
    const rename = async (name: string) => {
      await page.getByRole('button', { name: /^Actions for/ }).click();
      await page.getByRole('menuitem', { name: 'Rename' }).click();
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByRole('button', { name: 'Save' }).click();
    };
    await page.route('**/v1/artifacts/art_*', (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({
            status: 403,
            json: { success: false, error: 'Only its owner may do this.', code: 'FORBIDDEN', request_id: 'req_1' },
          })
        : route.continue(),
    );
    await rename('Refused');
    await page.getByRole('alert').filter({ hasText: 'Only its owner may do this.' }).waitFor();
    await page.getByRole('link', { name: 'Before' }).waitFor();
    await page.unroute('**/v1/artifacts/art_*');
    await rename('After');
    await page.getByText('Renamed.').waitFor();
    expect((await client.artifacts.list()).body.artifacts.map(({ name }) => name)).toEqual(['After']);
  });

  it('a page goes into a new folder, by menu and by dragging', async () => {
    const { page, client } = await stage.person('folders@example.com');
    const [first, second] = [await publishPage(client, 'First'), await publishPage(client, 'Second')];
    await page.goto(`${stage.origin}/`);
    await page.getByRole('main').getByRole('button', { name: 'New folder' }).click();
    await page.getByLabel('Name of the folder').fill('Clients');
    await page.keyboard.press('Enter');
    await page
      .getByRole('main')
      .getByRole('link', { name: /^Clients/ })
      .waitFor();
    await page.getByRole('button', { name: 'Actions for First' }).click();
    await page.getByRole('menuitem', { name: 'Move to folder…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Clients' }).click();
    await page.getByText('“First” is in Clients now.').waitFor();
    await page.locator('.card', { hasText: 'Second' }).dragTo(page.getByRole('main').getByRole('link', { name: /^Clients/ }));
    await page.getByText('“Second” is in Clients now.').waitFor();
    const [folder] = (await client.personalFolders.list()).body.folders;
    const filed = (await client.artifacts.list({ query: { folder_id: folder?.id } })).body.artifacts;
    expect(new Set(filed.map(({ id }) => id))).toEqual(new Set([first, second]));
    await page
      .getByRole('main')
      .getByRole('link', { name: /^Clients/ })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Clients' }).waitFor();
    await expect.poll(() => page.locator('.card').count()).toBe(2);
  });

  it('what is trashed comes back by the notice, and from the trash', async () => {
    const { page, client } = await stage.person('trash@example.com');
    const id = await publishPage(client, 'Fallen leaf');
    await page.goto(`${stage.origin}/`);
    const trash = async () => {
      await page.getByRole('button', { name: 'Actions for Fallen leaf' }).click();
      await page.getByRole('menuitem', { name: 'Move to trash' }).click();
      await page.getByText('“Fallen leaf” is in the trash.').last().waitFor();
    };
    await trash();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('“Fallen leaf” is back.').waitFor();
    await page.getByRole('link', { name: 'Fallen leaf' }).waitFor();
    await trash();
    await page.goto(`${stage.origin}/my/trash`);
    await page.getByRole('button', { name: 'Restore Fallen leaf' }).click();
    await page.getByText('“Fallen leaf” is back.').waitFor();
    await page.getByRole('heading', { name: 'The trash is empty' }).waitFor();
    await expect.poll(async () => (await client.artifacts.get({ params: { id } })).body.name).toBe('Fallen leaf');
  });

  it('five hundred pages are listed by cursor: sixty at first, more on the way down, each once', async () => {
    const { page, userId, troubles } = await stage.person('many@example.com');
    const rows = Array.from({ length: 500 }, (_, at) => {
      const number = String(at).padStart(3, '0');
      return {
        id: newId('artifact'),
        owner_id: userId,
        name: `Page ${number}`,
        slug: `many-${number}`,
        visibility: 'private',
        created_at_ms: at,
        updated_at_ms: at,
      };
    });
    await stage.easel.sql`insert into artifact ${stage.easel.sql(rows)}`;
    // A busy window tells of several frames at once: of the end, that it was out of sight and is not any more.
    await page.addInitScript(() => {
      const Observer = globalThis.IntersectionObserver;
      globalThis.IntersectionObserver = class extends Observer {
        constructor(callback: IntersectionObserverCallback, options?: IntersectionObserverInit) {
          const before = { isIntersecting: false } as IntersectionObserverEntry;
          super((entries, observer) => callback([before, ...entries], observer), options);
        }
      };
    });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${stage.origin}/`);
    await page.getByRole('link', { name: 'Page 499' }).waitFor();
    await expect.poll(() => page.locator('.card').count()).toBe(60);
    expect(asked.filter((url) => url.includes('/v1/artifacts') && url.includes('count='))).toEqual([]);
    // The parts of the app, and one call for each list and number on the screen; none for a card.
    expect(asked.length).toBeLessThan(25);
    await expect
      .poll(async () => {
        await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
        return page.locator('.card').count();
      })
      .toBe(500);
    const names = await page.locator('.card-name').allTextContents();
    expect(new Set(names).size).toBe(500);
    await page.getByLabel('Filter by name').fill('page 01');
    await expect.poll(() => page.locator('.card').count()).toBe(10);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('a change in one window is seen in another', async () => {
    const { page, client } = await stage.person('windows@example.com');
    await publishPage(client, 'Shared view');
    const other = await page.context().newPage();
    await page.goto(`${stage.origin}/`);
    await other.goto(`${stage.origin}/`);
    await other.getByRole('link', { name: 'Shared view' }).waitFor();
    await page.getByRole('button', { name: 'Add Shared view to the favourites' }).click();
    await other.getByRole('button', { name: 'Remove Shared view from the favourites' }).waitFor();
  });

  it('on a phone the places are in a drawer: opened, gone through and closed by keyboard', async () => {
    const { page, client } = await stage.person('phone@example.com', { viewport: { width: 360, height: 740 }, reducedMotion: 'reduce' });
    await client.personalFolders.create({ body: { name: 'Clients' } });
    await page.goto(`${stage.origin}/`);
    const places = page.getByRole('navigation', { name: 'Main' });
    expect(await places.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Open the menu' }).focus();
    await page.keyboard.press('Enter');
    await places.waitFor();
    await page.keyboard.press('Escape');
    await places.waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Open the menu');
    await page.keyboard.press('Enter');
    await places.getByRole('link', { name: 'Clients' }).click();
    await page.getByRole('heading', { level: 1, name: 'Clients' }).waitFor();
    await places.waitFor({ state: 'hidden' });
  });
});
