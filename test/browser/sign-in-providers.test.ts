/** Signing in at a real OpenID provider, linking, and passkeys, in Chromium with its own authenticator. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type Person, startProvider, type TestProvider } from '../support/oidc.ts';
import { describeWith } from '../support/services.ts';
import { codeFor } from '../support/visitor.ts';
import { callFrom as call, launchBrowser } from './browser.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const people = new Map<string, Person>([
  ['ada', { sub: 'ada-1', email: 'ada@example.com', email_verified: true, name: 'Ada' }],
  ['work', { sub: 'ada-2', email: 'ada@work.example.com', email_verified: true }],
]);

describeWith('chromiumPath')('signing in from Chromium', () => {
  let provider: TestProvider;
  let easel: TestEasel;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    provider = await startProvider(people);
    [easel, browser] = await Promise.all([startTestEasel({ settings: provider.settings('corp') }), launchBrowser()]);
    origin = `http://localhost:${easel.port}`;
    provider.allow('corp', origin);
  });
  afterAll(async () => {
    await browser?.close();
    await easel?.close();
    await provider?.close();
  });

  async function newPage(): Promise<Page> {
    const context = await browser.newContext();
    return context.newPage();
  }

  async function atProvider(page: Page, login: string): Promise<void> {
    await page.getByLabel('Login').fill(login);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  it('signs in at the provider and comes back to the page that asked for it', async () => {
    const page = await newPage();
    await page.goto(`${origin}/sign-in`);
    await page.getByRole('link', { name: 'Continue with Example Corp' }).click();
    await atProvider(page, 'ada');
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    const { body } = await call(page, 'GET', '/v1/me');
    expect(body.user).toMatchObject({ name: 'Ada', email: 'ada@example.com' });
    const cookies = await page.context().cookies(origin);
    expect(cookies.find(({ name }) => name === 'service_session')).toMatchObject({ httpOnly: true, sameSite: 'Lax', domain: 'localhost' });
    expect(await page.evaluate(() => document.cookie)).toBe('');
  });

  it('links a second sign-in of the provider, proved in the same browser', async () => {
    const page = await newPage();
    await page.goto(`${origin}/sign-in`);
    await page.getByLabel('E-mail address').fill('ada@home.example.com');
    await page.getByRole('button', { name: 'Send me a code instead' }).click();
    await page.getByLabel('Code').fill(await codeFor(easel, 'ada@home.example.com'));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await page.getByRole('link', { name: 'Link Example Corp' }).click();
    await atProvider(page, 'work');
    await page.getByText('ada@work.example.com').first().waitFor();
    const { body } = await call(page, 'GET', '/v1/auth/linked-accounts');
    expect((body.accounts as { email: string }[]).map(({ email }) => email).sort()).toEqual([
      'ada@home.example.com',
      'ada@work.example.com',
    ]);
  });

  it('makes a passkey, signs in with it, and no more once it is removed', async () => {
    const page = await newPage();
    const devices = await page.context().newCDPSession(page);
    await devices.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    } as const;
    await devices.send('WebAuthn.addVirtualAuthenticator', { options: { ...options, automaticPresenceSimulation: true } });
    await page.goto(`${origin}/sign-in`);
    const email = 'keys@passkey.example.com';
    await call(page, 'POST', '/v1/auth/email/start', { email });
    const signedIn = await call(page, 'POST', '/v1/auth/email/verify', { email, code: await codeFor(easel, email) });
    const made = await passkey(page, 'create', '/v1/auth/passkeys/register', { name: 'Laptop' });
    expect([made.status, made.body.passkey]).toEqual([201, expect.objectContaining({ name: 'Laptop', last_used_at: null })]);
    await call(page, 'POST', '/v1/auth/sign-out', {});
    expect((await call(page, 'GET', '/v1/me')).status).toBe(401);
    const again = await passkey(page, 'get', '/v1/auth/passkey/sign-in', {});
    expect(again.body.user).toEqual(signedIn.body.user);
    expect((await call(page, 'GET', '/v1/me')).status).toBe(200);
    const { body } = await call(page, 'GET', '/v1/auth/passkeys');
    const [only] = body.passkeys as { id: string; last_used_at: string | null }[];
    expect(only?.last_used_at).not.toBeNull();
    expect((await call(page, 'DELETE', `/v1/auth/passkeys/${only?.id}`)).status).toBe(200);
    expect((await passkey(page, 'get', '/v1/auth/passkey/sign-in', {})).status).toBe(401);
  });

  /** Gets the options, asks the authenticator, and sends its answer: twice, because an answer counts once. */
  async function passkey(
    page: Page,
    act: 'create' | 'get',
    path: string,
    more: object,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const credential = await page.evaluate(
      async ([what, where]) => {
        const start = await fetch(`${where}/start`, { method: 'POST' });
        const { options } = await start.json();
        const made =
          what === 'create'
            ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
            : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
        return (made as PublicKeyCredential).toJSON() as unknown;
      },
      [act, path] as const,
    );
    const first = await call(page, 'POST', `${path}/finish`, { credential, ...more });
    if (first.status < 300)
      expect((await call(page, 'POST', `${path}/finish`, { credential, ...more })).status).toBeGreaterThanOrEqual(400);
    return first;
  }
});
