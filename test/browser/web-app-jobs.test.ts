/** The jobs of a page in the web app, in Chromium: made by keyboard, rehearsed, run, looked at in the ledger, changed, stopped and deleted. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { delivered } from '../features/library/assets/asset-stage.ts';
import { HookReceiver } from '../support/hook-receiver.ts';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

const SECRET = 'a secret of 16 characters';
const YEARLY = { trigger_type: 'cron', schedule: '0 0 1 1 *' } as const;
const ONE_TRY = { maxAttempts: 1, backoff: 'fixed', initialDelay: 1 } as const;

describeWith('chromiumPath')('jobs in the web app', () => {
  let stage: AppStage;
  let host: HookReceiver;
  let axe: string;

  beforeAll(async () => {
    host = await HookReceiver.start();
    [stage, axe] = await Promise.all([AppStage.start(host.settings), axeSource()]);
  });
  afterAll(async () => {
    await stage?.close();
    host?.close();
  });

  const entries = (page: Page) => page.getByRole('region', { name: 'Ledger' }).getByRole('listitem');

  it('a script is made by keyboard with its schedule in words, survives a tab that is left, is rehearsed, run and deleted', async () => {
    const { page, client, troubles } = await stage.person('scripts@example.com', { timezoneId: 'Europe/Berlin' });
    const artifactId = await publishPage(client, 'Shop');
    await client.tables.insert({ params: { artifactId, table: 'orders' }, query: {}, body: { rows: [{ n: 1 }, { n: 2 }] } });
    await client.json.put({ params: { artifactId, key: 'orders-today' }, body: { count: 1, unit: 'orders' } });
    await page.goto(`${stage.origin}/p/${artifactId}/jobs`);
    await page.getByText(/easel jobs create -a .* --title "Count orders"/).waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await page.getByRole('link', { name: 'New job' }).press('Enter');
    await expect.poll(() => page.getByLabel('Title').evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type('Count the orders');
    await page.getByLabel('Script', { exact: true }).fill(
      `const count = await easel.table('orders').count();
await easel.json.set('orders-today', { count, unit: 'orders' });
await easel.fetch('${host.url('/told')}', { method: 'POST', body: '{}' });
console.log('counted', count);`,
    );
    await expect.poll(() => page.getByLabel('Time zone').inputValue()).toBe('Europe/Berlin');
    await page.getByText('At 09:00, Monday through Friday').waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'What the schedule means' }).getByRole('listitem').count()).toBe(5);
    await page.getByLabel('Schedule', { exact: true }).fill('nonsense');
    await page.getByRole('alert').filter({ hasText: 'five fields' }).waitFor();
    await page.getByLabel('Schedule', { exact: true }).fill('30 7 1 * *');
    await page.getByText('At 07:30, on day 1 of the month').waitFor();
    // What is typed is still there after another tab was looked at.
    await page.getByRole('link', { name: 'Versions', exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Actions for Version 1' }).waitFor();
    await page.goBack();
    await expect.poll(() => page.getByLabel('Title').inputValue()).toBe('Count the orders');
    await page.getByText('At 07:30, on day 1 of the month').waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'job new');
    await page.getByLabel('Title').press('Enter');

    await page.getByRole('heading', { name: 'Count the orders' }).waitFor();
    await page.getByText('It has not been due yet.').waitFor();
    await page.getByRole('button', { name: 'Rehearse', exact: true }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'What the job would do' });
    await dialog.getByText('json/orders-today (changed)').waitFor();
    await dialog.getByText('-  "count": 1,').waitFor();
    await dialog.getByText('+  "count": 2,').waitFor();
    await dialog.getByText(`POST ${host.url('/told')}`).waitFor();
    await dialog.getByText('counted 2').waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'job rehearsal');
    await page.keyboard.press('Escape');
    expect((await client.json.get({ params: { artifactId, key: 'orders-today' } })).body.data.value).toEqual({ count: 1, unit: 'orders' });
    expect(host.at('/told')).toEqual([]);

    await page.getByRole('button', { name: 'Run now' }).press('Enter');
    const run = entries(page).filter({ hasText: 'by hand' });
    await run.getByText('Succeeded').waitFor();
    await run.getByText('Output and changes').click();
    await run.getByText('put json/orders-today').waitFor();
    await run.getByText('counted 2').waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'job ledger');
    expect(host.at('/told').length).toBe(1);
    await page.getByRole('link', { name: 'All jobs of this page' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'Count the orders' });
    await row.getByText('At 07:30, on day 1 of the month (Europe/Berlin)').waitFor();
    await row.getByText('Succeeded').waitFor();
    await keepScreenshot(page, 'jobs list');
    await row.getByRole('link', { name: 'Count the orders' }).click();
    await page.getByRole('button', { name: 'Delete job' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete job' }).press('Enter');
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });

  it('a webhook after an event keeps its secret through a change; what is wrong is said at its field, and tried before it is saved', async () => {
    const { page, client, troubles } = await stage.person('events@example.com', {
      viewport: { width: 360, height: 760 },
      colorScheme: 'dark',
    });
    const artifactId = await publishPage(client, 'Counter');
    await page.goto(`${stage.origin}/p/${artifactId}/jobs/new`);
    await page.getByLabel('Title').fill('Tell the till');
    await page.getByLabel('Does').selectOption('webhook');
    await page.getByLabel('Address', { exact: true }).fill('not an address');
    await page.getByLabel('Headers').fill('X-Till: hush');
    await page.getByLabel('Secret that signs it').fill(SECRET);
    await page.getByLabel('Data', { exact: true }).fill('{"till": 1');
    await page.getByLabel('When', { exact: true }).selectOption('event');
    await page.getByLabel('Only this table').fill('orders');
    await page.getByRole('button', { name: 'Create job' }).click();
    await page.getByRole('alert').filter({ hasText: 'This is not JSON.' }).waitFor();
    await page.getByLabel('Data', { exact: true }).fill('{"till": 1}');
    await page.getByRole('button', { name: 'Create job' }).click();
    await page.getByRole('alert').filter({ hasText: 'must be a URL' }).waitFor();
    await expect.poll(() => page.getByLabel('Address', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Address', { exact: true }).fill(host.url('/till'));
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'job new dark phone');
    await page.getByRole('button', { name: 'Create job' }).click();
    await page.getByText('When data changes: orders').waitFor();

    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByText('A secret is stored.').waitFor();
    await expect.poll(() => page.getByLabel('Headers').inputValue()).toBe('X-Till: ********');
    await page.getByLabel('Data', { exact: true }).fill('{"till": 2}');
    await page.getByLabel('Tries').fill('5');
    await page.getByRole('button', { name: 'Rehearse what is typed' }).click();
    const dialog = page.getByRole('dialog', { name: 'What the job would do' });
    await dialog.getByText(`POST ${host.url('/till')}`).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await keepScreenshot(page, 'job settings dark phone');

    await page.getByRole('button', { name: 'Ledger' }).click();
    await client.tables.insert({ params: { artifactId, table: 'orders' }, query: {}, body: { rows: [{ n: 1 }] } });
    const gathered = () => {
      stage.easel.clock.advance(1000);
      return host.at('/till').length;
    };
    await expect.poll(gathered).toBe(1);
    const [called] = host.at('/till');
    expect(called?.headers).toMatchObject({ 'x-till': 'hush', 'easel-signature': expect.stringMatching(/^t=\d+,v1=/) });
    expect(called?.event.data).toEqual({ till: 2 });
    const run = entries(page).filter({ hasText: 'after an event' });
    await run.getByText('Succeeded').waitFor();
    await run.getByText('Output and changes').click();
    await run.getByText(/events?: data\.changed/).waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'job ledger dark phone');
    expect(unexpected(troubles).filter((trouble) => !/400/.test(trouble))).toEqual([]);
  });

  it('a run under way is cancelled; due times that were merged, missed or failed are told, and a job that the service paused is resumed', async () => {
    const { page, client, troubles } = await stage.person('ledger@example.com');
    const artifact_id = await publishPage(client, 'Clockwork');
    let release = (): void => undefined;
    host.answers = (_, response) => {
      release = () => response.writeHead(200).end('late');
    };
    const common = { artifact_id, ...YEARLY, retry_config: ONE_TRY };
    const { id: slow } = (
      await client.jobs.create({ body: { ...common, title: 'Slow', action: 'webhook', config: { url: host.url('/slow') } } })
    ).body;
    await page.goto(`${stage.origin}/p/${artifact_id}/jobs/${slow}`);
    await page.getByRole('button', { name: 'Run now' }).click();
    await entries(page).getByText('Running').waitFor();
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('alert').filter({ hasText: 'is under way' }).waitFor();
    await entries(page).getByRole('button', { name: 'Cancel run' }).click();
    await entries(page).getByText('Cancelled', { exact: true }).waitFor();
    await entries(page).getByText('Canceled by a person.').waitFor();
    release();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();

    const config = { source: "throw new Error('no luck');" };
    const { id: failing } = (await client.jobs.create({ body: { ...common, title: 'Failing', action: 'script', config } })).body;
    await stage.easel.sql`update job set failures = 9 where id = ${failing}`;
    await page.goto(`${stage.origin}/p/${artifact_id}/jobs/${failing}`);
    await page.getByRole('button', { name: 'Run now' }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: /^Paused by the service\. It has failed 10 times in a row: .*no luck/ })
      .waitFor();
    await entries(page).getByText('Failed', { exact: true }).waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'job paused by the service');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();

    const hourly = { ...common, schedule: '0 * * * *', title: 'Hourly', action: 'script', config: { source: 'return 1;' } } as const;
    const { id: missing } = (await client.jobs.create({ body: hourly })).body;
    stage.easel.clock.advance(3 * 3600 * 1000);
    await page.goto(`${stage.origin}/p/${artifact_id}/jobs/${missing}`);
    await expect.poll(() => entries(page).getByText('Missed', { exact: true }).count()).toBe(2);
    await entries(page).getByText('Succeeded', { exact: true }).waitFor();
    await keepScreenshot(page, 'job missed');
    await page.getByLabel('Which').selectOption('succeeded');
    await expect.poll(() => entries(page).count()).toBe(1);
    await page.getByLabel('Which').selectOption('skipped');
    await page.getByText('There are none of these.').waitFor();
    expect(unexpected(troubles).filter((trouble) => !/409/.test(trouble))).toEqual([]);
  });

  it('a mail is made of a template with values, and written in the form again', async () => {
    const { page, client, troubles } = await stage.person('mails@example.com');
    const artifact_id = await publishPage(client, 'Shop');
    const source = { subject: 'Sales of {{data.day}}', html: '<p>{{data.day}}</p>', text_body: '{{data.day}}' };
    const { template } = (await client.templates.create({ body: { artifact_id, name: 'Daily sales', ...source } })).body.data;
    const plan = await delivered(stage.easel, { token: (await client.tokens.create({ body: {} })).body.token }, 'a plan', {
      name: 'plan.txt',
    });
    await page.goto(`${stage.origin}/p/${artifact_id}/jobs/new`);
    await page.getByLabel('Title').fill('Mail the sales');
    await page.getByLabel('Does', { exact: true }).selectOption('email');
    await page.getByLabel('Recipients').fill('boss@example.com');
    await page.getByLabel('Template', { exact: true }).selectOption('Daily sales');
    expect(await page.getByLabel('HTML').count()).toBe(0);
    await page.getByLabel('Values for the template').fill('{"day": ');
    await page.getByRole('button', { name: 'Create job' }).click();
    await page.getByRole('alert').filter({ hasText: 'JSON' }).waitFor();
    await page.getByLabel('Values for the template').fill('{"day": "Monday"}');
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'job mail template');
    await page.getByRole('button', { name: 'Create job' }).click();
    await page.getByRole('heading', { name: 'Mail the sales' }).waitFor();
    const stored = async () => (await client.jobs.list({ query: { artifact_id } })).body.jobs[0]?.config;
    expect(await stored()).toEqual({ to: ['boss@example.com'], template_id: template.id, data: { day: 'Monday' } });
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('Template', { exact: true }).selectOption('None: the mail is written here');
    await page.getByLabel('Text', { exact: true }).fill('Nothing was sold.');
    await page.getByLabel('Attach a file').selectOption('plan.txt');
    await page.getByRole('button', { name: 'Do not attach plan.txt' }).waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'job mail files');
    await page.getByRole('button', { name: 'Save' }).click();
    const written = { to: ['boss@example.com'], text: 'Nothing was sold.' };
    await expect.poll(stored).toEqual({ ...written, attachments: [{ file_id: plan.id }] });
    await page.getByRole('button', { name: 'Do not attach plan.txt' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(stored).toEqual(written);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('a mail takes files of both libraries along, with the names by which its HTML shows them', async () => {
    const phone = { viewport: { width: 390, height: 760 }, colorScheme: 'dark' } as const;
    const { page, client, troubles } = await stage.person('files@example.com', phone);
    const { id: workspace_id, slug } = (await client.workspaces.create({ body: { name: 'Mapmakers', slug: 'mapmakers' } })).body;
    const artifact_id = await publishPage(client, 'Atlas', { workspace_id });
    const by = { token: (await client.tokens.create({ body: {} })).body.token };
    const base = `/v1/workspaces/${slug}/assets`;
    const plan = await delivered(stage.easel, by, 'a plan', { name: 'plan.txt' });
    const name = 'the-coast-of-the-northern-islands-at-low-tide-as-surveyed-in-spring.txt';
    const map = await delivered(stage.easel, by, 'a map', { base, name });
    const fileNamed = (file: string) => page.getByRole('list', { name: 'Attached files' }).getByRole('group', { name: file });
    const isWithinScreen = async () => (await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0;
    const stored = async () => (await client.jobs.list({ query: { artifact_id } })).body.jobs[0]?.config;

    await page.goto(`${stage.origin}/p/${artifact_id}/jobs/new`);
    await page.getByLabel('Title').fill('Mail the map');
    await page.getByLabel('Does', { exact: true }).selectOption('email');
    await page.getByLabel('Recipients').fill('boss@example.com');
    const choice = page.getByLabel('Attach a file');
    const offered = () =>
      choice.locator('optgroup').evaluateAll((all) => all.map((one) => [(one as HTMLOptGroupElement).label, one.textContent]));
    await expect.poll(offered).toEqual([
      ['My library', 'plan.txt'],
      ['Mapmakers', name],
    ]);
    await choice.selectOption(name);
    await choice.selectOption('plan.txt');
    await expect.poll(offered).toEqual([]);
    await fileNamed(name).getByLabel('Name in the text').fill('the map');
    await fileNamed(name).getByText('<img src="cid:the map">').waitFor();
    await page.getByLabel('HTML', { exact: true }).fill('<img src="cid:map">');
    await page.getByRole('button', { name: 'Create job' }).click();
    await fileNamed(name).getByRole('alert').filter({ hasText: 'must be 1 to 64 letters' }).waitFor();
    await expect.poll(() => fileNamed(name).getByLabel('Name in the text').getAttribute('aria-invalid')).toBe('true');
    // The problem is told once, where it is.
    expect(await page.getByRole('alert').count()).toBe(1);
    expect(await findingsOf(page, axe)).toEqual([]);
    expect(await isWithinScreen()).toBe(true);
    await keepScreenshot(page, 'job mail cid refused dark phone');
    await fileNamed(name).getByLabel('Name in the text').fill('map');
    await page.getByRole('button', { name: 'Create job' }).click();
    await page.getByRole('heading', { name: 'Mail the map' }).waitFor();
    const written = { to: ['boss@example.com'], html: '<img src="cid:map">' };
    expect(await stored()).toEqual({ ...written, attachments: [{ file_id: map.id, cid: 'map' }, { file_id: plan.id }] });

    await page.reload();
    await page.getByRole('button', { name: 'Settings' }).click();
    await expect.poll(() => fileNamed(name).getByLabel('Name in the text').inputValue()).toBe('map');
    await expect.poll(() => fileNamed('plan.txt').getByLabel('Name in the text').inputValue()).toBe('');
    expect(await findingsOf(page, axe)).toEqual([]);
    expect(await isWithinScreen()).toBe(true);
    await keepScreenshot(page, 'job mail files dark phone');
    await page.getByLabel('Subject').fill('The map');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(stored)
      .toEqual({ ...written, subject: 'The map', attachments: [{ file_id: map.id, cid: 'map' }, { file_id: plan.id }] });
    await fileNamed(name).getByLabel('Name in the text').fill(' ');
    await page.getByRole('button', { name: 'Do not attach plan.txt' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(stored).toEqual({ ...written, subject: 'The map', attachments: [{ file_id: map.id }] });
    expect(unexpected(troubles).filter((trouble) => !/400/.test(trouble))).toEqual([]);
  });

  it('a file of a library that an editor does not see stays with the mail, until they would send it themselves', async () => {
    const owner = await stage.person('mapper@example.com');
    const editor = await stage.person('editor@example.com');
    const { id: workspace_id, slug } = (await owner.client.workspaces.create({ body: { name: 'Survey', slug: 'survey' } })).body;
    const artifact_id = await publishPage(owner.client, 'Sheets', { workspace_id });
    await owner.client.collaborators.add({ params: { id: artifact_id }, body: { emails: ['editor@example.com'], role: 'editor' } });
    const by = { token: (await owner.client.tokens.create({ body: {} })).body.token };
    const map = await delivered(stage.easel, by, 'a map', { base: `/v1/workspaces/${slug}/assets`, name: 'sheet.txt' });
    const own = await delivered(stage.easel, { token: (await editor.client.tokens.create({ body: {} })).body.token }, 'mine', {
      name: 'mine.txt',
    });
    const config = { to: ['boss@example.com'], html: '<img src="cid:map">', attachments: [{ file_id: map.id, cid: 'map' }] };
    const { id } = (await owner.client.jobs.create({ body: { artifact_id, ...YEARLY, title: 'Mail it', action: 'email', config } })).body;
    const stored = async () => (await owner.client.jobs.get({ params: { jobId: id } })).body;

    const { page, troubles } = editor;
    await page.goto(`${stage.origin}/p/${artifact_id}/jobs/${id}`);
    await page.getByRole('button', { name: 'Settings' }).click();
    const hidden = page.getByRole('group', { name: map.id });
    await expect.poll(() => hidden.getByLabel('Name in the text').inputValue()).toBe('map');
    await page.getByLabel('Title').fill('Mail the sheet');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await stored()).title).toBe('Mail the sheet');
    expect((await stored()).config).toEqual(config);
    await page.getByLabel('Attach a file').selectOption('mine.txt');
    expect(await page.getByLabel('Attach a file').locator('optgroup').count()).toBe(0);
    await page.getByRole('button', { name: 'Save' }).click();
    await hidden.getByRole('alert').filter({ hasText: 'there is no such file' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'job mail file of others');
    await page.getByRole('button', { name: `Do not attach ${map.id}` }).click();
    // What was said of the first file is not said of the one that is the first now.
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await stored()).config).toEqual({ ...config, attachments: [{ file_id: own.id }] });
    expect(unexpected(troubles).filter((trouble) => !/404/.test(trouble))).toEqual([]);
  });

  it('jobs are for owner and editors, and are there in Spanish', async () => {
    const owner = await stage.person('job-owner@example.com', { locale: 'es-ES' });
    const viewer = await stage.person('job-viewer@example.com');
    const artifact_id = await publishPage(owner.client, 'Página');
    const script = { action: 'script', config: { source: 'return 1;' } } as const;
    await owner.client.jobs.create({ body: { artifact_id, ...YEARLY, title: 'Contar', ...script } });
    await owner.client.collaborators.add({ params: { id: artifact_id }, body: { emails: ['job-viewer@example.com'], role: 'viewer' } });
    await owner.page.goto(`${stage.origin}/p/${artifact_id}/jobs`);
    await owner.page.getByRole('heading', { name: 'Trabajos' }).waitFor();
    await owner.page.getByText(/^A las 00:00, el día 1 del mes, sólo en enero/i).waitFor();
    await viewer.page.goto(`${stage.origin}/p/${artifact_id}/jobs`);
    await viewer.page.getByRole('link', { name: 'Versions', exact: true }).waitFor();
    expect(await viewer.page.getByRole('link', { name: 'Jobs', exact: true }).count()).toBe(0);
    expect(unexpected([...owner.troubles, ...viewer.troubles])).toEqual([]);
  });
});
