/** Tickets in the web app and the chat box of pages: whoever asks and whoever answers, each in a browser, from the question to the end. */
import { simpleParser } from 'mailparser';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { MailStage } from '../features/automation/email/mail-stage.ts';
import { bring, mailOf, mailsTo, SUPPORT } from '../features/business/support/support-stage.ts';
import { publishSite } from '../support/publishing.ts';
import { describeWith } from '../support/services.ts';
import { startSmtp, type TestSmtp } from '../support/smtp.ts';
import { type AppPerson, AppStage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { type Visit, visit } from './browser.ts';
import { pageOf } from './overlay-stage.ts';
import { keepScreenshot } from './screenshot.ts';

const REQUEST = `req_${'a'.repeat(16)}00000001`;
const THREAD_MAX = LIMITS.ticketThreadMax;
const PHONE = { viewport: { width: 390, height: 780 }, colorScheme: 'dark', reducedMotion: 'reduce' } as const;

describeWith('chromiumPath')('support', () => {
  let smtp: TestSmtp;
  let stage: AppStage;
  let axe: string;
  let staff: AppPerson;

  beforeAll(async () => {
    smtp = await startSmtp();
    stage = await AppStage.start({
      ...{ SUPPORT_ADDRESS: SUPPORT, SMTP_URL: smtp.url, MAIL_FROM: 'Easel <easel@pages.example>' },
      LOG_LINK_TEMPLATE: 'https://logs.example/?q={request_id}',
    });
    axe = await axeSource();
    staff = await stage.person('ada@example.com');
    await staff.client.accounts.updateProfile({ body: { name: 'Ada' } });
    await change(staff, { is_staff: true });
  });
  afterAll(async () => {
    await stage?.close();
    await smtp?.close();
  });

  async function change({ userId }: AppPerson, body: object): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'PATCH', token: stage.easel.adminToken, body: JSON.stringify(body), headers };
    const reply = await stage.easel.fetch(`/v1/admin/people/${userId}`, init);
    if (reply.status !== 200) throw new Error(`the person was not changed: ${await reply.text()}`);
  }

  const mail = (): MailStage => ({ easel: stage.easel, smtp, close: async () => undefined });
  const said = (page: Page, text: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: text });
  const isNoWider = async (page: Page) =>
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);

  /** The ticket with this subject, on the desk. */
  async function openOnDesk({ page }: AppPerson, subject: string): Promise<void> {
    await page.goto(`${stage.origin}/my/support`);
    await page.getByRole('button', { name: 'Desk' }).click();
    await page.getByRole('link', { name: subject }).waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'support-desk');
    await page.getByRole('link', { name: subject }).click();
    await page.getByRole('heading', { name: subject }).waitFor();
  }

  async function setStatus({ page }: AppPerson, label: string): Promise<void> {
    await page.getByLabel('Status').selectOption({ label });
    await page.getByText(`The ticket is ${label.toLowerCase()} now.`).waitFor();
  }

  it('a ticket from the app: written with a file, drafted and answered on the desk, read without a reload, settled, reopened and resolved', async () => {
    const grace = await stage.person('grace@example.com');
    await grace.client.accounts.updateProfile({ body: { name: 'Grace' } });
    await grace.page.goto(stage.origin);
    await grace.page.getByRole('button', { name: 'Account of Grace' }).click();
    await grace.page.getByRole('menuitem', { name: 'Support' }).click();
    await grace.page.getByRole('heading', { name: 'No tickets yet' }).waitFor();
    expect(await grace.page.getByRole('button', { name: 'Desk' }).count()).toBe(0);
    expect(await findingsOf(grace.page, axe)).toEqual([]);
    await grace.page.getByRole('button', { name: 'New ticket' }).click();
    const dialog = grace.page.getByRole('dialog', { name: 'New ticket' });
    await dialog.getByLabel('Subject').fill('The map stays empty');
    await dialog.getByLabel('What happens').fill('Since today it shows no streets.');
    await dialog.getByLabel('Priority').selectOption({ label: 'High' });
    await dialog.getByLabel('Request id').fill(REQUEST);
    await dialog.getByLabel('Add files').setInputFiles([{ name: 'map.txt', mimeType: 'text/plain', buffer: Buffer.from('no streets') }]);
    await dialog.getByText('map.txt').first().waitFor();
    await expect.poll(() => dialog.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true);
    expect(await findingsOf(grace.page, axe)).toEqual([]);
    await keepScreenshot(grace.page, 'support-new-ticket');
    await dialog.getByRole('button', { name: 'Send' }).click();
    await grace.page.getByRole('heading', { name: 'The map stays empty' }).waitFor();
    const download = grace.page.waitForEvent('download');
    await grace.page.getByRole('link', { name: /^Download map\.txt/ }).click();
    expect((await download).suggestedFilename()).toBe('map.txt');

    await openOnDesk(staff, 'The map stays empty');
    const { page } = staff;
    expect(await page.getByRole('link', { name: REQUEST }).first().getAttribute('href')).toBe(`https://logs.example/?q=${REQUEST}`);
    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.getByText('It is assigned to you.').waitFor();
    await page.getByLabel('Reply').fill('Which browser?');
    await page.getByRole('button', { name: 'Keep as draft' }).click();
    const draft = said(page, 'Which browser?');
    await draft.getByText('Draft', { exact: true }).waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'support-desk-ticket');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.reload();
    await draft.getByText('Draft', { exact: true }).waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'support-desk-ticket-dark');
    expect(await said(grace.page, 'Which browser?').count()).toBe(0);
    await draft.getByRole('button', { name: 'Edit draft' }).click();
    await draft.getByLabel('Text of the draft').fill('Which browser do you use?');
    await draft.getByRole('button', { name: 'Send as edited' }).click();
    await page.getByText('Sent.').waitFor();

    // The customer has not reloaded.
    await said(grace.page, 'Which browser do you use?').getByText('Support').waitFor();
    await grace.page.getByRole('main').getByText('Answered', { exact: true }).waitFor();
    await mailsTo(mail(), 'grace@example.com', 1);
    await grace.page.getByLabel('Write').fill('Firefox, and it works again.');
    await grace.page.getByRole('button', { name: 'Send' }).click();
    await said(grace.page, 'Firefox, and it works again.').waitFor();
    await said(page, 'Firefox, and it works again.').waitFor();
    await grace.page.getByRole('button', { name: 'Mark as resolved' }).click();
    await grace.page.getByRole('button', { name: 'Reopen' }).click();
    await grace.page.getByRole('button', { name: 'Mark as resolved' }).waitFor();
    await expect.poll(() => page.getByLabel('Status').inputValue()).toBe('open');
    await setStatus(staff, 'Resolved');
    await grace.page.getByRole('button', { name: 'Reopen' }).waitFor();
    expect(await findingsOf(grace.page, axe)).toEqual([]);
    await keepScreenshot(grace.page, 'support-customer-ticket');
    await grace.page.getByRole('navigation', { name: 'Support' }).getByRole('link', { name: 'Support' }).click();
    await grace.page.getByLabel('Status').selectOption({ label: 'Resolved' });
    await grace.page.getByRole('link', { name: 'The map stays empty' }).waitFor();
    await grace.page.getByLabel('Status').selectOption({ label: 'Open' });
    await grace.page.getByRole('heading', { name: 'No ticket fits' }).waitFor();
    expect(unexpected(grace.troubles)).toEqual([]);
  });

  it('a mail becomes a ticket; what it quotes is folded; the answer from the desk leaves by mail', async () => {
    const text = 'It is empty.\n\nOn Monday, Easel wrote:\n> An old message';
    const brought = await bring(
      mail(),
      mailOf({ from: 'Hopper <hopper@mail.example>', subject: 'The table', id: '<one@mail.example>', text }),
    );
    expect(brought.body.outcome).toBe('created');
    await openOnDesk(staff, 'The table');
    const { page } = staff;
    const message = said(page, 'It is empty.');
    await message.getByText('by e-mail').waitFor();
    expect(await page.getByText('An old message').isVisible()).toBe(false);
    await message.getByText('Show what was quoted').click();
    await page.getByText('An old message').waitFor();
    await page.getByText('It leaves by mail to hopper@mail.example.').waitFor();
    await page.getByLabel('Reply').fill('Please look again.');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await said(page, 'Please look again.').waitFor();
    const [raw = ''] = await mailsTo(mail(), 'hopper@mail.example', 1);
    const left = await simpleParser(raw);
    expect([left.subject, left.inReplyTo]).toEqual(['Re: The table', '<one@mail.example>']);
    expect(left.text).toMatch(/^Please look again\.\n\nOn .+ UTC, Hopper wrote:\n> It is empty\./);
    const reply = { from: 'hopper@mail.example', to: left.replyTo?.text ?? '', subject: 'Re: The table', text: 'It is there, thanks.' };
    expect((await bring(mail(), mailOf(reply))).body.outcome).toBe('continued');
    await said(page, 'It is there, thanks.').waitFor();
    await setStatus(staff, 'Resolved');
    expect(unexpected(staff.troubles)).toEqual([]);
  });

  async function visitPage(url: string, options = {}): Promise<Visit> {
    const one = await visit(stage.browser, new URL(url).origin, options);
    onTestFinished(() => one.page.context().close());
    await one.page.goto(url);
    return one;
  }

  it('a visitor of a page writes in its chat box, is answered on the desk, and reads on after a reload', async () => {
    const olive = await stage.person('olive@example.com');
    await change(olive, { tier: 'pro' });
    const head =
      '<style>:root{--easel-chat-accent:#7a1f5c;--easel-chat-on-accent:#fff} *{color:#0a4d0a!important;text-transform:uppercase!important}</style>';
    const site = pageOf('<main><h1>The museum</h1><button>Of the page</button></main>', head);
    const { artifactId, url } = await publishSite(olive.client, site, { slug: 'museum', name: 'The museum', visibility: 'public' });
    const before = await visitPage(url);
    expect([...before.answered.keys()]).not.toContain('/_easel/chat.js');

    await olive.page.goto(`${stage.origin}/p/${artifactId}/settings`);
    await olive.page.getByRole('switch', { name: 'Show the chat on the page' }).click();
    await olive.page.getByText('The page has a chat now.').waitFor();
    await olive.page.getByLabel('Greeting').fill('Ask us about the museum.');
    await olive.page.getByRole('main').getByRole('button', { name: 'Save' }).last().click();
    await olive.page.getByText('Saved.').waitFor();
    expect(await findingsOf(olive.page, axe)).toEqual([]);
    await keepScreenshot(olive.page, 'page-chat-settings');

    const { page, troubles } = await visitPage(url);
    const launcher = page.getByRole('button', { name: 'Chat', exact: true });
    const box = page.getByRole('dialog', { name: 'Chat' });
    await launcher.click();
    await box.getByText('Ask us about the museum.').waitFor();
    await expect.poll(() => box.getByLabel('Message', { exact: true }).evaluate((field) => field.matches(':focus'))).toBe(true);
    expect(await box.getByRole('button', { name: 'Send' }).evaluate((button) => getComputedStyle(button).backgroundColor)).toBe(
      'rgb(122, 31, 92)',
    );
    await page.keyboard.press('Escape');
    await box.waitFor({ state: 'hidden' });
    await expect.poll(() => launcher.evaluate((button) => button.matches(':focus'))).toBe(true);
    await page.keyboard.press('Enter');
    await box.getByLabel('Your name').fill('Linus');
    await box.getByLabel('Your e-mail').fill('not an address');
    await box.getByLabel('Message', { exact: true }).fill('Open on Mondays?');
    await page.keyboard.press('Enter');
    await box.getByRole('alert').filter({ hasText: /\S/ }).waitFor();
    await box.getByLabel('Your e-mail').fill('linus@mail.example');
    await box.getByRole('alert').filter({ hasText: /\S/ }).waitFor({ state: 'detached' });
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'chat-box-first');
    await box.getByRole('button', { name: 'Send' }).click();
    await box.getByRole('listitem').filter({ hasText: 'Open on Mondays?' }).waitFor();
    await box.getByText('Your message has arrived.').waitFor();
    await box.getByLabel('Your name').waitFor({ state: 'hidden' });

    await openOnDesk(staff, 'Open on Mondays?');
    await staff.page.getByText('from Linus').waitFor();
    await staff.page.getByLabel('Reply').fill('It is closed on Mondays.');
    await staff.page.getByRole('button', { name: 'Send', exact: true }).click();
    await box.getByRole('listitem').filter({ hasText: 'It is closed on Mondays.' }).getByText('Ada').waitFor();
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'chat-box-answered');
    await page.reload();
    await launcher.click();
    await expect.poll(() => box.getByRole('listitem').count()).toBe(2);
    await page.keyboard.press('Escape');

    // Whoever has closed the box sees by the button that there is more; its owner answers too.
    await olive.page.goto(`${stage.origin}/my/support`);
    await olive.page.getByRole('button', { name: 'Chats of my pages' }).click();
    await olive.page.getByRole('link', { name: 'Open on Mondays?' }).click();
    await olive.page.getByLabel('Reply').fill('And on Tuesdays it opens at ten.');
    await olive.page.getByRole('button', { name: 'Send', exact: true }).click();
    await said(olive.page, 'And on Tuesdays it opens at ten.').waitFor();
    // As where the network is back: it need not wait until it asks by itself.
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await page.getByRole('button', { name: 'Chat, 1 new' }).click();
    await box.getByText('And on Tuesdays it opens at ten.').waitFor();
    await expect.poll(() => launcher.count()).toBe(1);
    await staff.page.getByRole('heading', { name: 'Open on Mondays?' }).waitFor();
    await setStatus(staff, 'Resolved');
    await box.getByText('This is settled.').waitFor();
    expect(unexpected(troubles)).toEqual([]);
    expect(unexpected(olive.troubles)).toEqual([]);

    // A page that shows the chat itself has no box; switched off, no page has.
    const own = pageOf('<h1>Own</h1>', '<meta name="easel-chat" content="own">');
    await publishSite(olive.client, own, { artifact_id: artifactId });
    const other = await visitPage(url);
    await expect.poll(() => other.answered.get('/_easel/chat.js')).toBe(200);
    await other.page.waitForLoadState('load');
    expect(await other.page.locator('easel-chat').count()).toBe(0);
  });

  it('is no wider than a phone, speaks Spanish, and stands beside the button of the comments', async () => {
    const hedy = await stage.person('hedy@example.com', { ...PHONE, locale: 'es-ES' });
    await change(hedy, { tier: 'pro' });
    const { page, client } = hedy;
    await client.workspaces.create({ body: { name: 'Estudio' } });
    const body = { subject: 'Un asunto bastante largo sobre mapas que no caben en una línea', body: `Mira ${REQUEST}` };
    const made = (await client.support.create({ body })).body.ticket;
    await page.goto(`${stage.origin}/my/support`);
    await page.getByRole('link', { name: body.subject }).waitFor();
    await isNoWider(page);
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'support-list-phone-dark');
    await page.getByRole('button', { name: 'Espacio de trabajo' }).click();
    await page.getByRole('heading', { name: 'No hay tickets de este espacio' }).waitFor();
    await page.goto(`${stage.origin}/my/support/${made.id}`);
    await page.getByRole('heading', { name: body.subject }).waitFor();
    await isNoWider(page);
    expect(await findingsOf(page, axe)).toEqual([]);
    await keepScreenshot(page, 'support-ticket-phone-dark');
    await page.goto(`${stage.origin}/my/support/tkt_${'a'.repeat(24)}`);
    await page.getByRole('heading', { name: 'No hay tal ticket' }).waitFor();

    const html =
      '<!doctype html><html lang="es"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Ambos</title><link rel="icon" href="data:,"><main><h1>Ambos</h1></main>';
    const both = await publishSite(client, new Map([['index.html', Buffer.from(html)]]), { slug: 'ambos', visibility: 'public' });
    const params = { artifactId: both.artifactId };
    await client.pageChat.putConfig({ params, body: { enabled: true } });
    await client.comments.putConfig({ params, body: { overlayEnabled: true } });
    const visitor = await visitPage(both.url, PHONE);
    const buttons = ['easel-comments', 'easel-chat'].map((name) => visitor.page.locator(`${name} .launcher`));
    for (const button of buttons) await button.waitFor();
    const [comments, chat] = await Promise.all(buttons.map((button) => button.boundingBox()));
    expect((chat?.x ?? 0) + (chat?.width ?? 0)).toBeLessThanOrEqual(comments?.x ?? 0);
    await visitor.page.locator('easel-chat .launcher').click();
    const box = visitor.page.getByRole('dialog', { name: 'Chat' });
    await box.getByLabel('Mensaje', { exact: true }).fill('¿Abrís los lunes?');
    await isNoWider(visitor.page);
    expect(await findingsOf(visitor.page, axe)).toEqual([]);
    await keepScreenshot(visitor.page, 'chat-box-phone-dark');
    await box.getByRole('button', { name: 'Enviar' }).click();
    await box.getByText('Tu mensaje ha llegado.').waitFor();
    await keepScreenshot(visitor.page, 'chat-box-phone-dark-written');
  });

  it('a workspace sees its tickets, a long thread is read from its beginning, the desk is narrowed, and a draft deleted', async () => {
    const { page, client, troubles } = await stage.person('rosa@example.com');
    const { id: workspaceId } = (await client.workspaces.create({ body: { name: 'Studio' } })).body;
    const opened = await client.support.create({ body: { subject: 'A long story', body: 'Message 0', workspaceId } });
    const params = { ticketId: opened.body.ticket.id };
    for (let no = 1; no <= THREAD_MAX; no += 1) await client.support.message({ params, body: { body: `Message ${no}` } });
    await page.goto(`${stage.origin}/my/support`);
    await page.getByRole('button', { name: 'Workspace', exact: true }).click();
    await page.getByRole('link', { name: 'A long story' }).click();
    await page.getByText('Studio', { exact: true }).last().waitFor();
    const messages = page.getByRole('main').getByRole('listitem');
    await expect.poll(() => messages.count()).toBe(THREAD_MAX);
    expect(await page.getByText('Message 0', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show all messages' }).click();
    await page.getByText('Message 0', { exact: true }).waitFor();
    await expect
      .poll(async () => {
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
        return messages.count();
      })
      .toBe(THREAD_MAX + 1);
    expect(unexpected(troubles)).toEqual([]);

    await staff.page.goto(`${stage.origin}/my/support`);
    await staff.page.getByRole('button', { name: 'Desk' }).click();
    await staff.page.getByLabel('Find by subject or person').fill('long story');
    await staff.page.getByLabel('Assigned to').selectOption({ label: 'Assigned to: me' });
    await staff.page.getByRole('heading', { name: 'No ticket fits' }).waitFor();
    await staff.page.getByLabel('Assigned to').selectOption({ label: 'Assigned to: nobody' });
    const main = staff.page.getByRole('main');
    await main.getByRole('link', { name: 'A long story' }).waitFor();
    expect(await main.getByRole('listitem').count()).toBe(1);
    await main.getByRole('link', { name: 'A long story' }).click();
    await staff.page.getByLabel('Reply').fill('Not so.');
    await staff.page.getByRole('button', { name: 'Keep as draft' }).click();
    const draft = said(staff.page, 'Not so.');
    await draft.getByRole('button', { name: 'Delete draft' }).click();
    await draft.waitFor({ state: 'detached' });
    await staff.page.getByLabel('Priority').selectOption({ label: 'Urgent' });
    await expect.poll(async () => (await client.support.get({ params })).body.ticket.priority).toBe('urgent');
    await page.reload();
    await page.getByRole('main').getByText('Urgent', { exact: true }).waitFor();
  });

  it('a fault leads to a ticket about its request', async () => {
    const { page } = await stage.person('fault@example.com');
    const fault = { error: 'Something broke.', code: 'INTERNAL', request_id: REQUEST };
    await page.route('**/v1/support/tickets?**', (route) => route.fulfill({ status: 500, json: fault }), { times: 1 });
    await page.goto(`${stage.origin}/my/support`);
    await page.getByRole('main').getByRole('link', { name: 'Write to support' }).click();
    // The screen is the same, so that the dialog is opened by its new address.
    const dialog = page.getByRole('dialog', { name: 'New ticket' });
    expect(await dialog.getByLabel('Request id').inputValue()).toBe(REQUEST);
    await dialog.getByLabel('Subject').fill('Broken');
    await dialog.getByLabel('What happens').fill('It broke.');
    await dialog.getByRole('button', { name: 'Send' }).click();
    await said(page, `Request: ${REQUEST}`).waitFor();
    await page.route('**/status', (route) => route.fulfill({ status: 500, json: fault }), { times: 1 });
    await page.getByRole('button', { name: 'Mark as resolved' }).click();
    await page.getByRole('alert').getByRole('link', { name: 'Write to support' }).click();
    expect(await page.getByRole('dialog').getByLabel('Request id').inputValue()).toBe(REQUEST);
  });
});
