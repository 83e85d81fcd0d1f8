/** Our own pages in Chromium: device login from the command line, without a script, by keyboard, and what axe-core finds. */

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { beginLogin } from '../clients/begin-login.ts';
import { type CommandLine, commandLine } from '../clients/command-line.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { published } from '../support/requests.ts';
import { describeWith } from '../support/services.ts';
import { lastCode } from '../support/web-person.ts';
import { axeSource, findingsOf } from './axe.ts';
import { launchBrowser, type Visit, visit } from './browser.ts';
import { keepScreenshot } from './screenshot.ts';

// Processes and browsers are slow to start on a busy machine, and a program polls every five seconds.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const PASSWORD = 'seven quiet rivers run';

describeWith('chromiumPath')('pages of our own', () => {
  let easel: TestEasel;
  let browser: Browser;
  let axe: string;
  /** The name under which the service gives its addresses. */
  let origin: string;
  const open: Visit[] = [];
  const lines: CommandLine[] = [];

  beforeAll(async () => {
    [easel, browser, axe] = await Promise.all([startTestEasel(), launchBrowser(), axeSource()]);
    origin = `http://localhost:${easel.port}`;
  });
  afterAll(async () => {
    for (const { page } of open) await page.context().close();
    await browser?.close();
    await Promise.all(lines.map((line) => line.close()));
    await easel?.close();
  });

  async function newVisit(options: BrowserContextOptions = {}): Promise<Visit> {
    const one = await visit(browser, origin, options);
    open.push(one);
    return one;
  }

  async function newLine(): Promise<CommandLine> {
    const line = await commandLine(origin);
    lines.push(line);
    return line;
  }

  async function signUp(page: Page, email: string, name: string): Promise<void> {
    await page.goto(`${origin}/sign-up`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Name (optional)').fill(name);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByLabel('Code').fill(await codeOf(page, email));
    await page.getByRole('button', { name: 'Make the account' }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
  }

  /** Waits until the mail is there, and reads its code as a newcomer does: on the mail page. */
  async function codeOf(page: Page, email: string): Promise<string> {
    await page.getByLabel('Code').waitFor();
    const mail = await page.context().newPage();
    await mail.goto(`${origin}/dev/mail`);
    await mail.getByRole('listitem').filter({ hasText: email }).first().getByRole('link').click();
    const code = mail.frameLocator('iframe').locator('.code');
    const text = (await code.textContent()) ?? '';
    await mail.close();
    return text;
  }

  it('somebody signs up, approves the command line, uses it, and revokes it', async () => {
    const { page, troubles } = await newVisit();
    const line = await newLine();
    const { url, code, done } = await beginLogin(line, '--email', 'ada@example.com');
    expect(url).toBe(`${origin}/device?user_code=${code}`);
    await signUp(page, 'ada@example.com', 'Ada Lovelace');
    await page.goto(url);
    await expect.poll(() => page.locator('.usercode').textContent()).toBe(code);
    for (const shown of ['easel 0.', '127.0.0.1', 'ada@example.com']) expect(await page.locator('main').textContent()).toContain(shown);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Device approved' }).waitFor();
    const token = (await page.locator('#token').textContent()) ?? '';
    expect(token).toMatch(/^so_[0-9a-f]{64}$/);
    const { code: exit, out, err } = await done;
    expect([exit, out]).toEqual([0, expect.stringContaining('Signed in: Ada Lovelace')]);
    expect(err).not.toContain('Note:');
    const who = await line.json(['whoami', '--show-token']);
    expect(who).toMatchObject({ secret: token, user: { email: 'ada@example.com' }, token: { kind: 'personal' } });
    await page.reload();
    expect(await page.locator('#token').count()).toBe(0);
    await page.goto(`${origin}/account`);
    await page.getByRole('button', { name: /^Revoke the token Device login: easel/ }).click();
    await page.getByRole('status').filter({ hasText: 'The token is revoked.' }).waitFor();
    expect((await line.run(['whoami'])).code).toBe(3);
    expect(withoutAborted(troubles)).toEqual([]);
  });

  it('another person is warned, and can deny; the command line says so', async () => {
    const { page } = await newVisit();
    const line = await newLine();
    const { url, done } = await beginLogin(line, '--email', 'ada@example.com');
    await signUp(page, 'eve@example.com', 'Eve');
    await page.goto(url);
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('It expects ada@example.com');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'Denied' }).waitFor();
    const { code, err } = await done;
    expect([code, err]).toEqual([3, expect.stringContaining('The login was denied in the browser.')]);
  });

  it('a person without an account comes back to the device after making one, and the program learns who it was', async () => {
    const { page } = await newVisit();
    const line = await newLine();
    const { url, done } = await beginLogin(line, '--email', 'grace@example.com');
    await page.goto(url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expect.poll(() => page.getByLabel('E-mail address').inputValue()).toBe('grace@example.com');
    await page.getByLabel('E-mail address').fill('hopper@example.com');
    await page.getByRole('button', { name: 'Send me a code instead' }).click();
    await page.getByLabel('Code').fill(await codeOf(page, 'hopper@example.com'));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Device approved' }).waitFor();
    const { code, err } = await done;
    expect([code, err]).toEqual([0, expect.stringContaining('Note: Signed in as hopper@example.com; grace@example.com was expected.')]);
  });

  it('everything works without a script', async () => {
    const { page, troubles } = await newVisit({ javaScriptEnabled: false });
    await signUp(page, 'plain@example.com', 'Plain');
    await page.getByLabel('Name of a new token').fill('ci');
    await page.getByRole('button', { name: 'Make a token' }).click();
    await expect.poll(() => page.locator('#token').textContent()).toMatch(/^so_/);
    expect(await page.getByRole('button', { name: 'Copy' }).isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Revoke the token ci' }).click();
    await page.getByRole('status').filter({ hasText: 'The token is revoked.' }).waitFor();
    await page.getByRole('navigation').getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Signed out' }).waitFor();
    expect(withoutAborted(troubles)).toEqual([]);
  });

  it('a passkey is added, signs in, and is removed', async () => {
    const { page, troubles } = await newVisit();
    const debug = await page.context().newCDPSession(page);
    await debug.send('WebAuthn.enable');
    await debug.send('WebAuthn.addVirtualAuthenticator', {
      options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
    });
    await signUp(page, 'passkey@example.com', 'Key Holder');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('status').filter({ hasText: 'The passkey is added.' }).waitFor();
    await page.getByRole('navigation').getByRole('button', { name: 'Sign out' }).click();
    await page.goto(`${origin}/sign-in?return_to=%2Fdevice`);
    await page.getByRole('button', { name: 'Continue with a passkey' }).click();
    await page.getByRole('heading', { name: 'Approve a device' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/device');
    expect(withoutAborted(troubles)).toEqual([]);
    await page.goto(`${origin}/account`);
    await page.getByRole('button', { name: /^Remove the passkey/ }).click();
    await page.getByRole('status').filter({ hasText: 'The passkey is removed' }).waitFor();
    await page.goto(`${origin}/sign-in`);
    await page.getByRole('button', { name: 'Continue with a passkey' }).click();
    await page.getByRole('alert').filter({ visible: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
  });

  it('a person signs in by keyboard alone, and sees where the focus is', async () => {
    const { page } = await newVisit();
    await page.goto(`${origin}/sign-in`);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('id') ?? document.activeElement?.textContent ?? '');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    // A browser with passkeys offers them first.
    for (let pressed = 0; (await focused()) !== 'email'; pressed += 1) {
      expect(pressed).toBeLessThan(3);
      await page.keyboard.press('Tab');
    }
    await expect.poll(() => page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle)).toBe('solid');
    await page.keyboard.type('keys@example.com');
    for (const next of ['password', 'Sign in', 'Send me a code instead']) {
      await page.keyboard.press('Tab');
      expect(await focused()).toBe(next);
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    const code = await lastCode(easel, 'keys@example.com');
    for (let pressed = 0; (await focused()) !== 'code'; pressed += 1) {
      expect(pressed).toBeLessThan(10);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.type(code);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
  });

  it.each([
    ['light', 1200],
    ['light', 360],
    ['dark', 1200],
    ['dark', 360],
  ] as const)('axe-core has no serious finding, %s and %i px wide, and nothing is cut off', async (colorScheme, width) => {
    const { page } = await newVisit({ colorScheme, viewport: { width, height: 740 } });
    const email = `${colorScheme}-${width}-with-a-rather-long-address@example.com`;
    const findings: string[] = [];
    const look = async (what: string) => {
      await page.waitForLoadState('load');
      findings.push(...(await findingsOf(page, axe)).map((finding) => `${what}: ${finding}`));
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (overflow > 0) findings.push(`${what}: ${overflow} px too wide`);
      await keepScreenshot(page, `page ${colorScheme} ${width} ${what === '/' ? 'start' : what}`);
    };
    for (const path of ['/', '/sign-in', '/sign-up', '/reset', '/sign-out', '/nothing']) {
      await page.goto(origin + path);
      await look(path);
    }
    await page.goto(`${origin}/sign-in`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill('not this one');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await look('a wrong password');
    await signUp(page, email, 'A person with a name that is long enough to need two lines');
    await look('/account');
    await page.getByLabel('Name of a new token').fill('a token');
    await page.getByRole('button', { name: 'Make a token' }).click();
    await page.locator('#token').waitFor();
    await look('a new token');
    await page.getByLabel('Link an e-mail address').fill(`linked-${email}`);
    await page.getByRole('button', { name: 'Send a code' }).click();
    await page.getByRole('heading', { name: /^Confirm/ }).waitFor();
    await look('linking');
    const body = JSON.stringify({
      expected_email: 'ada@example.com',
      client_name: 'easel 0.1.0',
      host_name: 'a-machine-with-a-long-name.example.com',
    });
    const started = await easel.fetch('/v1/auth/device/start', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    const { verification_uri_complete } = (await started.json()) as { verification_uri_complete: string };
    for (const path of ['/device', '/device?user_code=BBBB-BBBB', '/sign-in', '/sign-out', '/dev/mail']) {
      await page.goto(origin + path);
      await look(path);
    }
    await page.getByRole('listitem').filter({ hasText: email }).first().getByRole('link').click();
    await page.frameLocator('iframe').locator('h1').waitFor();
    await look('a mail');
    await page.goto(verification_uri_complete);
    await look('a device');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('#token').waitFor();
    await look('/device/done');
    const stranger = await easel.newUser('pro');
    const { slug } = await published(easel, stranger, { name: 'Somebody else’s page', visibility: 'public' });
    for (const [what, path] of [
      ['to see a page as oneself', `/open?slug=${slug}`],
      ['a page without access', '/open?slug=there-is-no-such-page'],
    ] as const) {
      await page.goto(origin + path);
      await page.getByRole('button').first().waitFor();
      await look(what);
    }
    expect(findings).toEqual([]);
  });

  it.each([
    ['light', 1200],
    ['light', 360],
    ['dark', 1200],
    ['dark', 360],
  ] as const)('the pages that stand for a published one have no serious finding either, %s and %i px wide', async (colorScheme, width) => {
    const owner = await easel.newUser('pro');
    const locked = await published(easel, owner, { visibility: 'password', password: PASSWORD });
    const known = await published(easel, owner, { visibility: 'public' });
    const at = (slug: string, path: string) => `http://${slug}.localhost:${easel.port}${path}`;
    const findings: string[] = [];
    for (const [what, address] of [
      ['a password', at(locked.slug, '/')],
      ['no page', at('there-is-no-such-page', '/')],
      ['no file', at(known.slug, '/there-is-no-such-file')],
    ] as const) {
      const one = await visit(browser, new URL(address).origin, { colorScheme, viewport: { width, height: 740 } });
      open.push(one);
      const { page } = one;
      await page.goto(address);
      await page.getByRole('heading').first().waitFor();
      findings.push(...(await findingsOf(page, axe)).map((finding) => `${what}: ${finding}`));
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (overflow > 0) findings.push(`${what}: ${overflow} px too wide`);
      await keepScreenshot(page, `content ${colorScheme} ${width} ${what}`);
    }
    expect(findings).toEqual([]);
  });
});

/** A page that is left before it has loaded everything aborts the rest. */
function withoutAborted(troubles: readonly string[]): string[] {
  return troubles.filter((trouble) => !trouble.endsWith('net::ERR_ABORTED'));
}
