/** Three people in three browsers: sign-in at a provider, a workspace, invitations, a device login, a page in a folder, and its end. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { beginLogin } from '../clients/begin-login.ts';
import { type CommandLine, commandLine } from '../clients/command-line.ts';
import { codeFor as inviteCodeFor } from '../features/workspaces/workspace-stage.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type Person, startProvider, type TestProvider } from '../support/oidc.ts';
import { describeWith } from '../support/services.ts';
import { lastCode } from '../support/web-person.ts';
import { axeSource, findingsOf } from './axe.ts';
import { callFrom as call, launchBrowser } from './browser.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 });

const people = new Map<string, Person>([
  ['ada', { sub: 'ada-1', email: 'ada@example.com', email_verified: true, name: 'Ada' }],
  ['bob', { sub: 'bob-1', email: 'bob@example.com', email_verified: true, name: 'Bob' }],
]);

describeWith('chromiumPath')('three people in Chromium', () => {
  let provider: TestProvider;
  let easel: TestEasel;
  let browser: Browser;
  let axe: string;
  let origin: string;
  let line: CommandLine;
  let [ada, grace, bob] = [] as unknown as [Page, Page, Page];

  beforeAll(async () => {
    provider = await startProvider(people);
    [easel, browser, axe] = await Promise.all([startTestEasel({ settings: provider.settings('corp') }), launchBrowser(), axeSource()]);
    origin = `http://localhost:${easel.port}`;
    provider.allow('corp', origin);
    line = await commandLine(origin);
    [ada, grace, bob] = await Promise.all([newPage(), newPage(), newPage()]);
  });
  afterAll(async () => {
    await line?.close();
    await browser?.close();
    await easel?.close();
    await provider?.close();
  });

  async function newPage(): Promise<Page> {
    const context = await browser.newContext();
    context.setDefaultTimeout(90_000);
    return context.newPage();
  }

  async function signInAtProvider(page: Page, login: string): Promise<void> {
    await page.getByRole('link', { name: 'Continue with Example Corp' }).click();
    await page.getByLabel('Login').fill(login);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** Looks at a page in both colour schemes and two widths. */
  async function look(page: Page): Promise<string[]> {
    const findings: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1200, 360]) {
        await page.setViewportSize({ width, height: 740 });
        findings.push(...(await findingsOf(page, axe)).map((finding) => `${colorScheme}, ${width} px: ${finding}`));
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        if (overflow > 0) findings.push(`${colorScheme}, ${width} px: ${overflow} px too wide`);
      }
    }
    return findings;
  }

  it('work together in a workspace until one of them is removed', async () => {
    await ada.goto(`${origin}/sign-in`);
    await signInAtProvider(ada, 'ada');
    await ada.getByRole('heading', { name: 'Your account' }).waitFor();
    const made = await call(ada, 'POST', '/v1/workspaces', { name: 'Map makers of the long coast', slug: 'maps' });
    expect(made.status).toBe(201);
    expect((await call(ada, 'POST', '/v1/workspaces/maps/folders', { name: 'Plans' })).status).toBe(201);
    const emails = ['grace@example.com', 'bob@example.com'];
    expect((await call(ada, 'POST', '/v1/workspaces/maps/members/invite', { emails, role: 'member' })).body.sent).toBe(2);

    // Grace has no account yet. The invitation leads to the sign-in and back.
    await grace.goto(`${origin}/invite/${await inviteCodeFor(easel, 'grace@example.com')}`);
    await grace.getByLabel('E-mail address').fill('grace@example.com');
    await grace.getByRole('button', { name: 'Send me a code instead' }).click();
    await grace.getByLabel('Code').waitFor();
    await grace.getByLabel('Code').fill(await lastCode(easel, 'grace@example.com'));
    await grace.getByRole('button', { name: 'Sign in', exact: true }).click();
    await grace.getByRole('heading', { name: 'Join Map makers of the long coast' }).waitFor();
    expect(await look(grace)).toEqual([]);
    await grace.getByRole('button', { name: 'Join the workspace' }).focus();
    await grace.keyboard.press('Enter');
    await grace.getByRole('heading', { name: 'Welcome to Map makers of the long coast' }).waitFor();
    expect(await look(grace)).toEqual([]);

    // Bob opens the link that was sent to Grace, and learns nothing. His own lets him in.
    await bob.goto(`${origin}/invite/${await inviteCodeFor(easel, 'grace@example.com')}`);
    await signInAtProvider(bob, 'bob');
    await bob.getByText('This invitation is not open for you.').waitFor();
    expect(await bob.locator('main').textContent()).not.toContain('Map makers');
    expect(await look(bob)).toEqual([]);
    await bob.goto(`${origin}/invite/${await inviteCodeFor(easel, 'bob@example.com')}`);
    await bob.getByRole('button', { name: 'Join the workspace' }).click();
    await bob.getByRole('heading', { name: /^Welcome/ }).waitFor();

    await signInCommandLine(bob);
    await line.write({ 'coast/index.html': '<h1>The long coast</h1>' });
    const published = await line.json(['publish', 'coast', '-w', 'maps', '--folder', 'plans', '--visibility', 'workspace']);
    const seenBy = async (page: Page) => (await call(page, 'GET', `/v1/artifacts/${published.artifact_id}`)).status;
    expect([await seenBy(grace), await seenBy(ada)]).toEqual([200, 200]);

    const { body } = await call(ada, 'GET', '/v1/workspaces/maps/members');
    const member = (body.members as { user_id: string; email: string }[]).find(({ email }) => email === 'bob@example.com');
    expect((await call(ada, 'DELETE', `/v1/workspaces/maps/members/${member?.user_id}`)).status).toBe(200);
    expect(await line.run(['ls', '-w', 'maps'])).toMatchObject({ code: 3 });
    expect((await call(bob, 'GET', '/v1/workspaces/maps')).status).toBe(404);
    // What he made stays his, and stays in the workspace.
    expect([await seenBy(grace), await seenBy(bob)]).toEqual([200, 200]);
  });

  async function signInCommandLine(page: Page): Promise<void> {
    const { url, done } = await beginLogin(line);
    await page.goto(url);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Device approved' }).waitFor();
    expect((await done).code).toBe(0);
  }
});
