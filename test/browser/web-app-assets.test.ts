/** Files in the web app and the page of a share link, in Chromium. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, allowOutside, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

describeWith('chromiumPath')('files in the web app', () => {
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it('a file is dropped, gets its picture and a version, and a link with a password opens it for a visitor until it is revoked', async () => {
    const { page, troubles } = await stage.person('assets@example.com');
    await page.goto(`${stage.origin}/my/files`);
    await page.getByRole('heading', { name: 'No files yet' }).waitFor();
    // A real drop: the browser draws the image that is dropped.
    await page.evaluate(async () => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 200 });
      const drawing = canvas.getContext('2d');
      if (drawing === null) throw new Error('no canvas');
      drawing.fillStyle = '#c04020';
      drawing.fillRect(0, 0, 320, 200);
      const image = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([image ?? ''], 'poster.png', { type: 'image/png' }));
      document.querySelector('.asset-drop')?.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    });
    const card = page.getByRole('button', { name: 'Open poster.png' });
    await card.getByText('Version 1').waitFor();
    await expect
      .poll(async () => {
        await page.reload();
        await card.waitFor();
        return card.locator('img').count();
      })
      .toBe(1);
    await keepScreenshot(page, 'assets');

    await card.click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('input[type=file]').setInputFiles({ name: 'poster.txt', mimeType: 'text/plain', buffer: Buffer.from('words') });
    await dialog.getByText('Version 2').waitFor();
    await dialog.getByLabel('Who may open it').selectOption('password');
    await dialog.getByLabel('Password').fill('correct horse battery');
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    const url = await dialog.getByText(/\/s\/[\w-]{43}$/).textContent();
    await keepScreenshot(page, 'asset-dialog');
    expect(await findingsOf(page, await axeSource())).toEqual([]);

    const visitor = await stage.visitor();
    await visitor.page.goto(`${stage.origin}${new URL(url ?? '').pathname}`);
    await visitor.page.getByLabel('Password').fill('correct horse battery');
    await visitor.page.getByRole('button', { name: 'Open' }).click();
    await visitor.page.getByRole('heading', { name: 'poster.png' }).waitFor();
    await keepScreenshot(visitor.page, 'share-page');
    const [saved] = await Promise.all([
      visitor.page.waitForEvent('download'),
      visitor.page.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe('poster.txt');

    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByText('Revoked', { exact: true }).waitFor();
    await visitor.page.reload();
    await visitor.page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    expect([...unexpected(troubles), ...unexpected(visitor.troubles).filter((one) => !one.includes('404'))]).toEqual([]);
  });

  it('an upload goes on by itself after a lost connection, and where it stopped in another tab', async () => {
    const { page } = await stage.person('uploads@example.com');
    const content = Buffer.alloc(5 * 1024 * 1024, 'a line of a long file\n');
    const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: content });
    const offsets: number[] = [];
    let cuts = 0;
    let cutsMax = Number.POSITIVE_INFINITY;
    await page.context().route(/\/uploads\/upl_\w+\?offset=/, async (route) => {
      const offset = Number(new URL(route.request().url()).searchParams.get('offset'));
      // The first piece goes through; the second one is cut until the page has been seen to say so.
      if (offset > 0 && cuts < cutsMax) {
        cuts += 1;
        return route.abort('connectionreset');
      }
      offsets.push(offset);
      return route.continue();
    });
    await page.goto(`${stage.origin}/my/files`);
    await page.locator('input[type=file]').setInputFiles(file('long.txt'));
    await page.getByText('The connection is lost. It goes on by itself at 40 %.').waitFor();
    await keepScreenshot(page, 'asset-upload-waits');
    cutsMax = 0;
    await page.getByRole('button', { name: 'Open long.txt' }).getByText('Version 1').waitFor();
    expect(offsets).toEqual([0, 2 * 1024 * 1024, 4 * 1024 * 1024]);

    // A tab that is closed while the connection is lost.
    offsets.length = 0;
    cuts = 0;
    cutsMax = Number.POSITIVE_INFINITY;
    await page.locator('input[type=file]').setInputFiles(file('other.txt'));
    await page.getByText('The connection is lost.').waitFor();
    cutsMax = 0;
    await page.reload();
    await page.locator('input[type=file]').setInputFiles(file('other.txt'));
    await page.getByRole('button', { name: 'Open other.txt' }).waitFor();
    expect(offsets).toEqual([0, 2 * 1024 * 1024, 4 * 1024 * 1024]);

    // Cancelled: nothing of it stays.
    cuts = 0;
    cutsMax = Number.POSITIVE_INFINITY;
    await page.locator('input[type=file]').setInputFiles(file('third.txt'));
    await page.getByText('The connection is lost.').waitFor();
    const ended = page.waitForResponse((reply) => reply.request().method() === 'DELETE');
    await page.getByRole('button', { name: 'Cancel third.txt' }).click();
    expect((await ended).status()).toBe(200);
    await page.getByText('third.txt').waitFor({ state: 'detached' });
  });

  it('files are kept in collections: made, filled by an upload and from a file, and deleted while the files stay', async () => {
    const { page, troubles } = await stage.person('collections@example.com');
    const choose = (name: string) =>
      page.locator('.asset-drop input[type=file]').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(name) });
    await page.goto(`${stage.origin}/my/files`);
    await choose('first.txt');
    const first = page.getByRole('button', { name: 'Open first.txt' });
    await first.waitFor();
    await page.getByRole('button', { name: 'New collection' }).click();
    await page.getByLabel('Name of the collection').fill('Campaign');
    await page.getByRole('dialog').getByRole('button', { name: 'Make', exact: true }).click();
    await page.getByRole('heading', { name: 'Nothing in this collection' }).waitFor();
    await choose('second.txt');
    await page.getByRole('button', { name: 'Open second.txt' }).waitFor();
    expect(await first.count()).toBe(0);

    await page.getByLabel('Show', { exact: true }).selectOption({ label: 'All files' });
    await first.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Put it in' }).click();
    await dialog.getByText('2 files').waitFor();
    await keepScreenshot(page, 'asset-collections');
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByLabel('Show', { exact: true }).selectOption({ label: 'Campaign (2)' });
    await first.waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await keepScreenshot(page, 'asset-collection-phone');

    await page.getByRole('button', { name: 'What can be done with the collection' }).click();
    await page.getByRole('menuitem', { name: 'Delete the collection' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the collection' }).click();
    await page.getByText('Deleted. Its files stay.').waitFor();
    await first.waitFor();
    await page.getByRole('button', { name: 'Open second.txt' }).waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });

  it('a file of a workspace is shared with somebody outside, who finds it until that ends', async () => {
    const { page, client } = await stage.person('outside-owner@example.com');
    const { id } = (await client.workspaces.create({ body: { name: 'Coast', slug: 'coast' } })).body;
    await allowOutside(stage.easel, id);
    const outside = await stage.person('outside-client@example.net');
    await page.goto(`${stage.origin}/w/coast/assets`);
    await page.locator('input[type=file]').setInputFiles({ name: 'chart.txt', mimeType: 'text/plain', buffer: Buffer.from('depths') });
    await page.getByRole('button', { name: 'Open chart.txt' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail address outside').fill('outside-client@example.net');
    await dialog.getByRole('button', { name: 'Share outside' }).click();
    const end = dialog.getByRole('button', { name: 'End the access of outside-client@example.net' });
    await end.waitFor();
    await keepScreenshot(page, 'asset-outside');
    expect(await findingsOf(page, await axeSource())).toEqual([]);

    await outside.page.goto(`${stage.origin}/my/shared`);
    const [saved] = await Promise.all([
      outside.page.waitForEvent('download'),
      outside.page.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe('chart.txt');
    await end.click();
    await dialog.getByText('Nobody outside has access by name.').waitFor();
    await outside.page.reload();
    await outside.page.getByRole('heading', { name: 'Nothing is shared with you' }).waitFor();
  });

  it('the files of a workspace are those of its members', async () => {
    const { page, client, troubles } = await stage.person('chief@example.com');
    await client.workspaces.create({ body: { name: 'Maps', slug: 'maps' } });
    await page.goto(`${stage.origin}/w/maps/assets`);
    await page.locator('input[type=file]').setInputFiles({ name: 'plan.md', mimeType: 'text/markdown', buffer: Buffer.from('# Plan') });
    await page.getByRole('button', { name: 'Open plan.md' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No files yet' }).waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });
});
