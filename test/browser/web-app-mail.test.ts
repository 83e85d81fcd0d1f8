/** The mail of a page in the web app, in Chromium: templates with a live preview, and what was sent. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { keepScreenshot } from './screenshot.ts';

describeWith('chromiumPath')('the mail of a page', () => {
  let stage: AppStage;

  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it('a template is written, seen as a mail while it is typed, stored, changed and deleted', async () => {
    const { page, client, troubles } = await stage.person('templates@example.com');
    const id = await publishPage(client, 'Shop');
    await page.goto(`${stage.origin}/p/${id}/mail`);
    await page.getByText('No templates yet.').waitFor();
    await page.getByRole('link', { name: 'New template' }).click();
    await page.getByLabel('Name').fill('Receipt');
    await page.getByLabel('Subject').fill('Thank you, {{data.name}}');
    await page
      .getByLabel('HTML', { exact: true })
      .fill('<h1 style="color: rgb(1, 2, 3)">Hello {{data.name}}</h1><p>{{data.gone}}</p><script>parent.x = 1</script>');
    await page.getByLabel('Values to try').fill('{"name": "<Ada>"}');
    await page.getByText('Thank you, <Ada>').waitFor();
    await page.getByText('data.gone has no value, so nothing is shown for it.').waitFor();
    const mail = page.frameLocator('iframe[title="The mail with these values"]');
    const heading = mail.getByRole('heading', { name: 'Hello <Ada>' });
    await heading.waitFor();
    expect(await heading.evaluate((element) => getComputedStyle(element).color)).toBe('rgb(1, 2, 3)');
    await page.getByLabel('Subject').fill('Thank you {{{data.name}}}');
    await page.getByRole('alert').filter({ hasText: 'escaped' }).waitFor();
    await page.getByLabel('Subject').fill('Thank you');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Template saved.').waitFor();
    const { templates } = (await client.templates.list({ query: { artifact_id: id } })).body.data;
    expect(templates.map(({ name, subject, artifact_id }) => [name, subject, artifact_id])).toEqual([['Receipt', 'Thank you', id]]);
    await page.getByRole('button', { name: 'Delete template' }).waitFor();
    await keepScreenshot(page, 'template');
    await page.getByRole('button', { name: 'Delete template' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete template' }).click();
    await page.getByText('No templates yet.').waitFor();
    // The wrong template was refused, and the script of the mail does not run.
    expect(unexpected(troubles).filter((trouble) => !/ 400 |^400:.*preview$|sandbox/i.test(trouble))).toEqual([]);
  });

  it('the log has what was sent, what visitors wrote, and what became of it', async () => {
    const { page, client, troubles } = await stage.person('log@example.com');
    const id = await publishPage(client, 'News');
    await page.goto(`${stage.origin}/p/${id}/mail`);
    await page.getByRole('heading', { name: 'No mail yet' }).waitFor();
    await client.email.send({
      body: { artifact_id: id, to: ['ada@example.com', 'grace@example.com'], subject: 'Spring', text: 'It is here.' },
    });
    await client.email.notifyOwner({ params: { artifactId: id }, body: { subject: 'A question', text: 'When?' } });
    await page.reload();
    const row = page.getByRole('listitem').filter({ hasText: 'Spring' });
    await row.getByText('to ada@example.com and 1 other').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'A question' }).getByText('A visitor wrote to the owner').waitFor();
    await expect
      .poll(async () => {
        await page.reload();
        await row.waitFor();
        return row.getByText('Sent').count();
      })
      .toBe(1);
    await keepScreenshot(page, 'mail-log');
    expect(unexpected(troubles)).toEqual([]);
  });
});
