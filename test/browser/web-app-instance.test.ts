/** The instance's own screens for its administrators, the banner that everybody sees, and what who is suspended sees, in Chromium. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { patch } from '../support/requests.ts';
import { describeWith } from '../support/services.ts';
import { lastCode } from '../support/web-person.ts';
import { type AppPerson, AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { visit } from './browser.ts';
import { keepScreenshot } from './screenshot.ts';

const PARTS = ['', 'people', 'workspaces', 'pages', 'data', 'mail', 'work', 'flags', 'audit'] as const;
const LOOKS = [
  ['light', 1280],
  ['light', 390],
  ['dark', 1280],
  ['dark', 390],
] as const;

describeWith('chromiumPath')('the screens of the instance', () => {
  let stage: AppStage;
  let axe: string;

  beforeAll(async () => {
    [stage, axe] = await Promise.all([AppStage.start(), axeSource()]);
  });
  afterAll(() => stage?.close());

  async function admin(email: string, options: Parameters<AppStage['person']>[1] = {}): Promise<AppPerson> {
    // A message that is still fading in has no contrast yet.
    const person = await stage.person(email, { reducedMotion: 'reduce', ...options });
    const { easel } = stage;
    const made = await easel.fetch(`/v1/admin/people/${person.userId}`, { token: easel.adminToken, ...patch({ is_admin: true }) });
    expect(made.status).toBe(200);
    return person;
  }

  const isSettled = (page: Page) => expect.poll(() => page.locator('.skeletons, [aria-busy="true"]').count(), { timeout: 60_000 }).toBe(0);
  /** The dialog on top. */
  const topOf = (page: Page) => page.getByRole('dialog').last();

  async function openPerson(page: Page, email: string): Promise<void> {
    await page.goto(`${stage.origin}/instance/people`);
    await page.getByRole('searchbox', { name: 'Address, name, username or id' }).fill(email);
    await page.getByRole('button', { name: `Open ${email}` }).click();
    await page.getByRole('heading', { level: 2, name: email }).waitFor();
  }

  async function suspendIn(page: Page, typed: string, reason: string): Promise<void> {
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    const asked = topOf(page);
    await asked.getByLabel('Reason').fill(reason);
    expect(await asked.getByRole('button', { name: 'Suspend', exact: true }).isDisabled()).toBe(true);
    await asked.getByLabel(`Type ${typed} to confirm`).fill(typed);
    await asked.getByRole('button', { name: 'Suspend', exact: true }).click();
  }

  async function signIn(page: Page, email: string): Promise<void> {
    // Another code is sent only after a while.
    stage.easel.clock.advance(180_000);
    await page.goto(`${stage.origin}/sign-in?return_to=%2F`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: /^Send me a code/ }).click();
    await page.getByLabel('Code').fill(await lastCode(stage.easel, email));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  it('who is no administrator gets nothing: no entry in the menu, no screen, no answer', async () => {
    const { page, client } = await stage.person('plain@example.com');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    for (const path of ['/instance', '/instance/people', '/instance/nowhere']) {
      await page.goto(`${stage.origin}${path}`);
      await page.getByRole('heading', { name: 'This is not here.' }).waitFor();
    }
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Design' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Instance' }).count()).toBe(0);
    expect(asked.filter((path) => path.startsWith('/v1/admin'))).toEqual([]);
    await expect(client.instancePeople.list()).rejects.toMatchObject({ code: 'ADMIN_REQUIRED' });
    const visitor = await stage.visitor();
    await visitor.page.goto(`${stage.origin}/instance/people`);
    expect(new URL(visitor.page.url()).searchParams.get('return_to')).toBe('/instance/people');
  });

  it('a person is found, suspended and let in again; at the sign-in they read what has happened', async () => {
    const email = 'mallory@example.com';
    const mallory = await stage.person(email);
    await mallory.page.goto(`${stage.origin}/`);
    await mallory.page.getByRole('heading', { name: 'My pages' }).waitFor();
    const { page, troubles } = await admin('chief@example.com');
    await page.goto(`${stage.origin}/`);
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Instance' }).click();
    await page.getByRole('link', { name: 'People' }).click();
    await openPerson(page, email);
    await isSettled(page);
    await keepScreenshot(page, 'instance person');
    expect(await findingsOf(page, axe)).toEqual([]);
    await suspendIn(page, email, 'Sends spam to strangers');
    await page.getByText('Reason: Sends spam to strangers').waitFor();
    await topOf(page).getByRole('button', { name: 'Close' }).click();
    await page.getByRole('listitem').filter({ hasText: email }).getByText('Suspended', { exact: true }).waitFor();
    // Their session has ended, and another one does not begin.
    await mallory.page.goto(`${stage.origin}/`);
    await signIn(mallory.page, email);
    await mallory.page.getByRole('heading', { name: 'Your account is suspended' }).waitFor();
    expect(await findingsOf(mallory.page, axe)).toEqual([]);
    await keepScreenshot(mallory.page, 'suspended sign-in');
    await page.getByRole('button', { name: `Open ${email}` }).click();
    await page.getByRole('button', { name: 'Lift the suspension' }).click();
    await page.getByRole('button', { name: 'Suspend', exact: true }).waitFor();
    await signIn(mallory.page, email);
    await mallory.page.getByRole('heading', { name: 'My pages' }).waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });

  it('plan and marks of a person are changed, and all their sessions end', async () => {
    const email = 'helper@example.com';
    const helper = await stage.person(email);
    await helper.page.goto(`${stage.origin}/`);
    await helper.page.getByRole('heading', { name: 'My pages' }).waitFor();
    const { page, client } = await admin('marks@example.com');
    await openPerson(page, email);
    const read = async () => (await client.instancePeople.get({ params: { userId: helper.userId as never } })).body;
    await topOf(page).getByLabel('Plan', { exact: true }).selectOption({ label: 'Pro' });
    await expect.poll(async () => (await read()).tier).toBe('pro');
    await page.getByRole('switch', { name: 'Staff' }).check();
    await expect.poll(async () => (await read()).is_staff).toBe(true);
    await page.getByRole('switch', { name: 'Administrator' }).click();
    await topOf(page).getByLabel(`Type ${email} to confirm`).fill(email);
    await topOf(page).getByRole('button', { name: 'Make administrator' }).click();
    await expect.poll(async () => (await read()).is_admin).toBe(true);
    await expect.poll(() => page.getByRole('switch', { name: 'Administrator' }).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByText('1 session has ended.').waitFor();
    await helper.page.reload();
    await helper.page.getByRole('link', { name: 'Sign in' }).first().waitFor();
  });

  it('a page is suspended, a visitor in another browser reads so, and sees it again afterwards', async () => {
    const owner = await stage.person('owner@example.com');
    const { easel } = stage;
    await easel.fetch(`/v1/admin/people/${owner.userId}`, { token: easel.adminToken, ...patch({ tier: 'pro' }) });
    const id = await publishPage(owner.client, 'Free prizes');
    const { body } = await owner.client.artifacts.update({ params: { id: id as ArtifactId }, body: { visibility: 'public' } });
    const { slug, url, visibility } = body;
    expect(visibility).toBe('public');
    const visitor = await visit(stage.browser, new URL(url).origin);
    try {
      await visitor.page.goto(url);
      await visitor.page.getByText('Free prizes').waitFor();
      const { page, troubles } = await admin('pages@example.com');
      // The address of what is looked for can be kept and opened again.
      await page.goto(`${stage.origin}/instance/pages?q=${slug}`);
      await page.getByRole('button', { name: 'Open Free prizes' }).click();
      expect(await page.getByRole('link', { name: 'See what a visitor sees' }).getAttribute('href')).toBe(url);
      await suspendIn(page, slug, 'It asks visitors for passwords');
      await page.getByText('Reason: It asks visitors for passwords').waitFor();
      await isSettled(page);
      await keepScreenshot(page, 'instance page suspended');
      await visitor.page.reload();
      await visitor.page.getByRole('heading', { name: 'This page has been suspended' }).waitFor();
      expect(await visitor.page.getByText('Free prizes').count()).toBe(0);
      await keepScreenshot(visitor.page, 'suspended page');
      await page.getByRole('button', { name: 'Lift the suspension' }).click();
      await page.getByRole('button', { name: 'Suspend', exact: true }).waitFor();
      await visitor.page.reload();
      await visitor.page.getByText('Free prizes').waitFor();
      expect(unexpected(troubles)).toEqual([]);
    } finally {
      await visitor.page.context().close();
    }
  });

  it('the banner comes and goes by itself for another person, in their language, and stands on our own pages until it is put away', async () => {
    const other = await stage.person('reader@example.com', { locale: 'es-ES' });
    await other.page.goto(`${stage.origin}/`);
    await other.page.getByRole('heading', { name: 'Mis páginas' }).waitFor();
    const { page, troubles } = await admin('crier@example.com');
    await page.goto(`${stage.origin}/instance`);
    const form = page.getByRole('region', { name: 'Banner' });
    await form.getByText('There is no banner.').waitFor();
    await form.getByLabel('Text').fill('Away on Sunday from 6 to 7.');
    await form.getByLabel('Look').selectOption({ label: 'Warning' });
    await form.getByRole('button', { name: 'Put it up' }).click();
    const shown = other.page.getByRole('complementary', { name: 'Advertencia' });
    await shown.getByText('Away on Sunday from 6 to 7.').waitFor();
    await page.getByRole('complementary', { name: 'Warning' }).waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(other.page, 'banner app');

    const visitor = await stage.visitor();
    for (const path of ['/sign-in', '/status', '/limits', '/docs', '/', '/design']) {
      await visitor.page.goto(`${stage.origin}${path}`);
      const banner = visitor.page.getByRole('complementary', { name: 'Warning' });
      await banner.getByText('Away on Sunday from 6 to 7.').waitFor();
      if (path === '/sign-in') expect(await findingsOf(visitor.page, axe)).toEqual([]);
      await keepScreenshot(visitor.page, `banner ${path === '/' ? 'home' : path}`);
    }
    await visitor.page.goto(`${stage.origin}/sign-in`);
    await visitor.page.getByRole('button', { name: 'Dismiss' }).click();
    const answered = visitor.page.waitForResponse((reply) => reply.url().endsWith('/v1/banner'));
    await visitor.page.goto(`${stage.origin}/status`);
    await answered;
    expect(await visitor.page.getByRole('complementary').count()).toBe(0);

    await other.page.getByRole('button', { name: 'Cerrar aviso' }).click();
    await shown.waitFor({ state: 'detached' });
    // Another text is another banner.
    await form.getByLabel('Text').fill('Away on Monday instead.');
    await form.getByRole('button', { name: 'Change it' }).click();
    await shown.getByText('Away on Monday instead.').waitFor();
    await form.getByRole('button', { name: 'Take it down' }).click();
    await shown.waitFor({ state: 'detached' });
    await form.getByText('There is no banner.').waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });

  it('a workspace is provisioned by a form, with the outcome of every step, and then suspended', async () => {
    const { page, client, troubles } = await admin('maker@example.com');
    await page.goto(`${stage.origin}/instance/workspaces`);
    await page.getByRole('button', { name: 'Provision a workspace' }).first().click();
    const dialog = topOf(page);
    await dialog.getByLabel('Name').fill('Acme Maps');
    await dialog.getByLabel('Address', { exact: true }).fill('acme-maps');
    await dialog.getByLabel('Administrators').fill('boss@acme.example\nsecond@acme.example');
    await dialog.getByLabel('Folders').fill('Clients\nTemplates');
    await dialog.getByText('Branding').click();
    await dialog.getByLabel('Accent colour').fill('#225588');
    await keepScreenshot(page, 'instance provision form');
    expect(await findingsOf(page, axe)).toEqual([]);
    await dialog.getByRole('button', { name: 'Provision', exact: true }).click();
    await dialog.getByText('Acme Maps is made').waitFor();
    const steps = dialog.getByRole('list', { name: 'Steps' });
    await steps.getByRole('listitem').filter({ hasText: 'Folders' }).getByText('Made').waitFor();
    await dialog.getByRole('listitem').filter({ hasText: 'boss@acme.example' }).getByText('Invited').waitFor();
    await keepScreenshot(page, 'instance provision outcome');
    expect(await findingsOf(page, axe)).toEqual([]);
    await dialog.getByRole('link', { name: 'Show it in the list' }).click();
    await page.getByRole('button', { name: 'Open Acme Maps' }).click();
    const read = async () => (await client.instanceWorkspaces.list({ query: { q: 'acme-maps' } })).body.workspaces[0];
    await topOf(page).getByLabel('Plan', { exact: true }).selectOption({ label: 'Team' });
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await read())?.plan_tier).toBe('team');
    await page.getByLabel('Data catalog').selectOption({ label: 'Off' });
    await page.getByText('Saved.').first().waitFor();
    await isSettled(page);
    await keepScreenshot(page, 'instance workspace');
    expect(await findingsOf(page, axe)).toEqual([]);
    await suspendIn(page, 'acme-maps', 'Unpaid for months');
    await expect.poll(async () => (await read())?.suspended?.reason).toBe('Unpaid for months');
    expect(unexpected(troubles)).toEqual([]);
  });

  it('what cannot be provisioned is told in the words of the server, with what was typed still there', async () => {
    const { page } = await admin('retry@example.com');
    await page.goto(`${stage.origin}/instance/workspaces`);
    await page.getByRole('button', { name: 'Provision a workspace' }).first().click();
    const dialog = topOf(page);
    await dialog.getByLabel('Name').fill('Admin');
    await dialog.getByLabel('Address', { exact: true }).fill('No Slug');
    await dialog.getByLabel('Administrators').fill('boss@acme.example');
    await dialog.getByRole('button', { name: 'Provision', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Admin');
  });

  it('a person’s data is exported to its receipt, and a deletion is asked for, cancelled, and done', async () => {
    const email = 'grace@example.com';
    const grace = await stage.person(email);
    await publishPage(grace.client, 'Compilers');
    const { page, troubles } = await admin('keeper@example.com');
    await openPerson(page, email);
    await page.getByRole('button', { name: 'Export their data' }).click();
    const row = topOf(page).getByRole('listitem');
    await row.getByText('Done', { exact: true }).waitFor();
    await row.getByText(/^Receipt: \d+ files$/).click();
    const receiptSaved = page.waitForEvent('download');
    await row.getByRole('button', { name: 'Download the receipt' }).click();
    const receipt = JSON.parse(await readFile(await (await receiptSaved).path(), 'utf8')) as { file: string; sha256: string }[];
    expect(receipt.map(({ file }) => file)).toContain('data/account.by_id.jsonl');
    const zipSaved = page.waitForEvent('download');
    await row.getByRole('link', { name: 'Download', exact: true }).click();
    const zip = await readFile(await (await zipSaved).path());
    expect(zip.subarray(0, 2).toString()).toBe('PK');
    await keepScreenshot(page, 'instance person export');

    const ask = async (days: string) => {
      await page.getByRole('button', { name: 'Delete this person…' }).click();
      const asked = topOf(page);
      await asked.getByLabel('Days until it begins').fill(days);
      await asked.getByLabel(`Type ${email} to confirm`).fill(email);
      await keepScreenshot(page, 'instance person deletion');
      await asked.getByRole('button', { name: `Delete ${email}` }).click();
      await page
        .getByText(/^The deletion begins/)
        .first()
        .waitFor();
    };
    await ask('7');
    await page.goto(`${stage.origin}/instance/data`);
    const deletions = page.getByRole('region', { name: 'Deletions' });
    await deletions.getByText('Waiting', { exact: true }).waitFor();
    await deletions.getByRole('button', { name: 'Cancel the deletion' }).click();
    await topOf(page).getByRole('button', { name: 'Cancel the deletion' }).click();
    await deletions.getByText('Cancelled', { exact: true }).waitFor();
    await openPerson(page, email);
    await ask('0');
    await page.goto(`${stage.origin}/instance/data`);
    await deletions.getByText('Done', { exact: true }).waitFor();
    await deletions.getByText('Receipt', { exact: true }).click();
    const removalSaved = page.waitForEvent('download');
    await deletions.getByRole('button', { name: 'Download the receipt' }).click();
    const removal = JSON.parse(await readFile(await (await removalSaved).path(), 'utf8')) as { receipt: { step: string }[]; user_id: null };
    expect([removal.user_id, removal.receipt.map(({ step }) => step)]).toEqual([null, expect.arrayContaining(['account', 'artifacts'])]);
    await keepScreenshot(page, 'instance data');
    // The screen of the person may read them once more when they are gone.
    const others = unexpected(troubles).filter((trouble) => !/^404: .*\/v1\/admin\/people\/usr_\w+$|status of 404/.test(trouble));
    expect(others).toEqual([]);
  });

  it('mail that was given up is sent again or dropped, and an offer is switched off and on', async () => {
    const { page, client, troubles } = await admin('post@example.com');
    const queue = (id: string, recipient: string) => stage.easel.sql`
      insert into mail_outbox (id, kind, recipient, subject, text_body, html_body, created_at_ms, attempts, failure)
      values (${id}, 'notice', ${recipient}, 'Your numbers', 'x', 'x', ${stage.easel.clock.nowMs()}, 8, 'The mailbox is full.')`;
    await queue('eml_aaaaaaaaaaaaaaaaaaaaaaaa', 'full@example.com');
    await queue('eml_bbbbbbbbbbbbbbbbbbbbbbbb', 'gone@example.com');
    await page.goto(`${stage.origin}/instance/mail`);
    await page.getByLabel('State').selectOption({ label: 'Given up' });
    await page.getByText('The mailbox is full.').first().waitFor();
    await keepScreenshot(page, 'instance mail failed');
    await page.getByRole('button', { name: 'Drop “Your numbers” to gone@example.com' }).click();
    await topOf(page).getByRole('button', { name: 'Drop' }).click();
    await page.getByText('The mail is dropped.').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'gone@example.com' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send “Your numbers” to full@example.com again' }).click();
    await page.getByText('It is sent as soon as possible.').waitFor();
    await page.getByRole('heading', { name: 'Nothing was found' }).waitFor();

    await page.getByRole('link', { name: 'Flags' }).click();
    const flag = async () => (await client.instanceFlags.get()).body.flags.ask.enabled;
    await page.getByRole('switch', { name: 'Questions to the model' }).uncheck();
    await expect.poll(flag).toBe(false);
    await page.getByText(/by post@example.com$/).waitFor();
    await page.getByRole('switch', { name: 'Questions to the model' }).check();
    await expect.poll(flag).toBe(true);

    await page.getByRole('link', { name: 'Record' }).click();
    await page.getByLabel('What', { exact: true }).selectOption({ label: 'Flags' });
    await page.getByText('flags.update').first().waitFor();
    expect(await page.getByText('mail.drop').count()).toBe(0);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as CSV' }).click();
    const csv = await readFile(await (await saved).path(), 'utf8');
    expect([csv.includes('flags.update'), csv.includes('mail.drop')]).toEqual([true, false]);
    expect(unexpected(troubles)).toEqual([]);
  });

  it.each(LOOKS)('axe-core has no serious finding and nothing is cut off: %s, %i px', async (colorScheme, width) => {
    const options = { colorScheme, viewport: { width, height: 800 } } as const;
    const { page, client, troubles } = await admin(`look-${colorScheme}-${width}@example.com`, options);
    await publishPage(client, `Seen ${colorScheme} ${width}`);
    await client.workspaces.create({ body: { name: `Studio ${colorScheme} ${width}` } });
    const findings: string[] = [];
    for (const part of PARTS) {
      await page.goto(`${stage.origin}/instance${part === '' ? '' : `/${part}`}`);
      await page.getByRole('heading', { level: 1, name: 'Instance' }).waitFor();
      await isSettled(page);
      for (const finding of await findingsOf(page, axe)) findings.push(`${part}: ${finding}`);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (over > 0) findings.push(`${part}: ${over} px wider than the window`);
      await keepScreenshot(page, `instance ${colorScheme} ${width} ${part || 'overview'}`);
    }
    expect(findings).toEqual([]);
    expect(unexpected(troubles)).toEqual([]);
  });
});
