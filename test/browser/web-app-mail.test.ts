/** The mail of a page in the web app, in Chromium: templates with a live preview, and what was sent. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { delivered } from '../features/library/assets/asset-stage.ts';
import { describeWith } from '../support/services.ts';
import { startSmtp, type TestSmtp } from '../support/smtp.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

/** Longer than the pause before the second attempt. */
const RETRY_MS = 60_000;

describeWith('chromiumPath')('the mail of a page', () => {
  let stage: AppStage;
  let smtp: TestSmtp;

  beforeAll(async () => {
    smtp = await startSmtp();
    stage = await AppStage.start({ SMTP_URL: smtp.url, MAIL_FROM: 'Easel <easel@pages.example>' });
  });
  afterAll(async () => {
    await stage?.close();
    await smtp?.close();
  });

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

  it('the log names the files that went along, and the one that could not any more', async () => {
    const phone = { viewport: { width: 390, height: 760 }, colorScheme: 'dark' } as const;
    const { page, client, troubles } = await stage.person('attached@example.com', phone);
    const id = await publishPage(client, 'Plans');
    const by = { token: (await client.tokens.create({ body: {} })).body.token };
    const plan = await delivered(stage.easel, by, 'a plan', { name: 'plan.txt' });
    const survey = await delivered(stage.easel, by, 'a survey '.repeat(500), {
      name: 'the-coast-of-the-northern-islands-at-low-tide-as-surveyed-in-spring.txt',
    });
    const send = (subject: string, more: object) =>
      client.email.send({ body: { artifact_id: id, to: ['ada@example.com'], subject, html: '<p>Here</p><img src="cid:plan">', ...more } });
    const statusOf = async (subject: string) =>
      (await client.email.list({ query: { artifact_id: id } })).body.emails.find((email) => email.subject === subject)?.status;
    await send('Both', { attachments: [{ file_id: plan.id, cid: 'plan' }, { file_id: survey.id }] });
    await expect.poll(() => statusOf('Both')).toBe('sent');
    smtp.refuse('451 later', 1);
    await send('One', { attachments: [{ file_id: plan.id }] });
    const attempts = async () => (await stage.easel.sql`select 1 from mail_outbox where failure like '%later%'`).length;
    await expect.poll(attempts).toBe(1);
    await client.assets.remove({ params: { fileId: plan.id } });
    stage.easel.clock.advance(RETRY_MS);
    await expect.poll(() => statusOf('One')).toBe('failed');

    await page.goto(`${stage.origin}/p/${id}/mail`);
    const row = (subject: string) => page.getByRole('listitem').filter({ hasText: subject });
    const files = (subject: string) => row(subject).getByRole('list', { name: 'Attached files' }).getByRole('listitem');
    await expect
      .poll(() => files('Both').allTextContents())
      .toEqual(['plan.txt (6 B)', 'the-coast-of-the-northern-islands-at-low-tide-as-surveyed-in-spring.txt (4.4 KB)']);
    await expect.poll(() => files('One').allTextContents()).toEqual(['plan.txt (6 B)']);
    await row('One')
      .getByText(/^plan\.txt is gone/)
      .waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await keepScreenshot(page, 'mail-log-files dark phone');
    expect(unexpected(troubles)).toEqual([]);
  });
});
