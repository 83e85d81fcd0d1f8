/** The datasets of a page in the web app, in Chromium: a file is stored, its rows are shown, filtered and downloaded, versions, deletion. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { keepScreenshot } from './screenshot.ts';

describeWith('chromiumPath')('datasets in the web app', () => {
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it('a file becomes a dataset whose rows are shown by filter and version, downloaded and deleted', async () => {
    const { page, client, troubles } = await stage.person('datasets@example.com');
    const id = await publishPage(client, 'Figures');
    await page.goto(`${stage.origin}/p/${id}/datasets`);
    await page.getByRole('heading', { name: 'No datasets yet' }).waitFor();
    const upload = async (name: string, text: string) =>
      page
        .getByRole('dialog')
        .locator('input[type=file]')
        .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
    await page.getByRole('button', { name: 'New dataset' }).click();
    await upload('notes.txt', 'x');
    await page.getByText('The file is neither CSV nor JSON.').waitFor();
    await upload('Sales 2026.csv', 'region,sum,since\nnorth,10,2026-01-31\nsouth,250\n');
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Sales-2026');
    await page.getByLabel('Name').fill('sales');
    await page.getByRole('button', { name: 'Store' }).click();
    await page.getByText('Line 3 has 2 fields').waitFor();
    // The refusal that was asked for.
    expect(troubles.splice(0).join()).toContain('400');
    await upload('sales.csv', 'region,sum,since\nnorth,10,2026-01-31\nsouth,250,2026-02-01\n');
    await page.getByRole('button', { name: 'Store' }).click();
    await page.getByText('Version 1 of sales is stored.').waitFor();
    await page.getByRole('button', { name: 'Actions for sales' }).click();
    await page.getByRole('menuitem', { name: 'New version' }).click();
    await upload('sales.csv', 'region,sum,since\nwest,300,2026-03-01\n');
    await page.getByRole('button', { name: 'Store' }).click();
    await page.getByText('Version 2 of sales is stored.').waitFor();
    await page.getByRole('button', { name: 'Show rows' }).click();
    const rows = page.getByRole('dialog', { name: 'Rows of sales' });
    await rows.getByRole('cell', { name: 'west' }).waitFor();
    await rows.getByLabel('Version').selectOption({ value: '1' });
    await rows.getByRole('cell', { name: 'north' }).waitFor();
    await rows.getByLabel('Filter').fill('{"sum": {"$gte": 100}}');
    await expect.poll(() => rows.getByRole('cell', { name: 'north' }).count()).toBe(0);
    await rows.getByRole('cell', { name: 'south' }).waitFor();
    await keepScreenshot(page, 'dataset-rows');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for sales' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Download CSV' }).click()]);
    expect(download.suggestedFilename()).toBe('sales.csv');
    await keepScreenshot(page, 'datasets');
    await page.getByRole('button', { name: 'Actions for sales' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('sales is deleted.').waitFor();
    await page.getByRole('heading', { name: 'No datasets yet' }).waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });
});
