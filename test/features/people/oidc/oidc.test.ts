/** Signing in and linking at a real OpenID provider, over HTTP as a browser does it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atProvider } from '../../../support/at-provider.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { type Person, startProvider, type TestProvider } from '../../../support/oidc.ts';
import { json, published, refusal } from '../../../support/requests.ts';
import { ok, Visitor } from '../../../support/visitor.ts';

const people = new Map<string, Person>([
  ['ada', { sub: 'ada-1', email: 'Ada@Example.com', email_verified: true, name: 'Ada' }],
  ['unverified', { sub: 'un-1', email: 'victim@example.com', email_verified: false, name: 'Eve' }],
  ['silent', { sub: 'si-1', email: 'victim@example.com' }],
  ['second', { sub: 'se-1', email: 'second@example.com', email_verified: true }],
  ['nobody', { sub: 'no-1' }],
]);

let provider: TestProvider;
let other: TestProvider;
let easel: TestEasel;
beforeAll(async () => {
  provider = await startProvider(people);
  other = await startProvider(people);
  easel = await startTestEasel({ settings: { ...other.settings('other'), ...provider.settings('corp'), OIDC_PROVIDERS: 'corp,other' } });
  provider.allow('corp', home());
  other.allow('other', home());
});
afterAll(async () => {
  await easel.close();
  await provider.close();
  await other.close();
});

/** The service's own address, which the provider sends browsers back to. */
const home = () => `http://localhost:${easel.port}`;
const visitor = () => new Visitor(easel, { baseUrl: home() });
const pathOf = (url: string) => url.slice(home().length);

/** Goes to the provider and comes back; answers the address that the browser is sent back to. */
async function callbackFor(
  who: Visitor,
  login: string | null,
  query = '',
  headers: Record<string, string> = {},
  id = 'corp',
): Promise<string> {
  const start = await ok(who.fetch(`/v1/auth/oidc/${id}/start${query}`, { headers }), 302);
  return pathOf(await atProvider(start.headers.get('location') ?? '', login));
}

async function signIn(who: Visitor, login: string, query = '', headers: Record<string, string> = {}): Promise<string> {
  const reply = await ok(who.fetch(await callbackFor(who, login, query, headers)), 302);
  return reply.headers.get('location') ?? '';
}

const me = async (who: Visitor) => (await json(await ok(who.fetch('/v1/me')))).user;
const linked = async (who: Visitor) => (await json(await ok(who.fetch('/v1/auth/linked-accounts')))).accounts;
const LINK = { 'sec-fetch-site': 'same-origin' };

test('the providers are listed, and unknown ones are not there', async () => {
  const { providers } = await json(await ok(visitor().fetch('/v1/auth/providers')));
  expect(providers).toEqual([
    { id: 'corp', name: 'Example Corp' },
    { id: 'other', name: 'Example Corp' },
  ]);
  expect(await refusal(visitor().fetch('/v1/auth/oidc/nowhere/start'))).toEqual([404, 'PROVIDER_NOT_FOUND', undefined]);
});

test('a sign-in makes the account, sets service_session and goes on to return_to', async () => {
  const ada = visitor();
  expect(await signIn(ada, 'ada', '?return_to=/pages%3Fx%3D1&login_hint=ada')).toBe(`${home()}/pages?x=1`);
  expect([...ada.cookies.keys()]).toContain('service_session');
  const user = await me(ada);
  expect([user.name, user.email]).toEqual(['Ada', 'ada@example.com']);
  const again = visitor();
  await signIn(again, 'ada');
  expect((await me(again)).id).toBe(user.id);
  expect(await linked(again)).toEqual([
    { id: user.id, provider: 'corp', email: 'ada@example.com', linked_at: expect.any(String), primary: true },
  ]);
});

test('the request has PKCE, state, nonce and the hint', async () => {
  const start = await ok(visitor().fetch('/v1/auth/oidc/corp/start?login_hint=ada%40example.com'), 302);
  const { searchParams } = new URL(start.headers.get('location') ?? '');
  expect(Object.fromEntries(searchParams)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    login_hint: 'ada@example.com',
    redirect_uri: `${home()}/v1/auth/oidc/corp/callback`,
  });
});

test('what a provider says of itself is read once', async () => {
  await ok(visitor().fetch('/v1/auth/oidc/corp/start'), 302);
  const before = provider.calls.filter((path) => path.startsWith('/.well-known')).length;
  await ok(visitor().fetch('/v1/auth/oidc/corp/start'), 302);
  expect(provider.calls.filter((path) => path.startsWith('/.well-known')).length).toBe(before);
});

test('a sign-in begins at the address that the provider sends back to', async () => {
  const byNumber = new Visitor(easel);
  const start = await ok(byNumber.fetch('/v1/auth/oidc/corp/start?return_to=/a'), 302);
  expect(start.headers.get('location')).toBe(`${home()}/v1/auth/oidc/corp/start?return_to=%2Fa`);
});

test('an answer counts once, and only in the browser that asked for it', async () => {
  const [ada, eve] = [visitor(), visitor()];
  const path = await callbackFor(ada, 'ada');
  await ok(eve.fetch('/v1/auth/oidc/corp/start'), 302);
  const tokens = () => provider.calls.filter((one) => one === '/token').length;
  const before = tokens();
  expect(await refusal(eve.fetch(path))).toEqual([400, 'SIGN_IN_FAILED', undefined]);
  expect(await refusal(visitor().fetch(path))).toEqual([400, 'SIGN_IN_FAILED', undefined]);
  expect(tokens()).toBe(before);
  await ok(ada.fetch(path), 302);
  expect(await refusal(ada.fetch(path))).toEqual([400, 'SIGN_IN_FAILED', undefined]);
});

test('an answer that comes too late, or after the person has cancelled, signs nobody in', async () => {
  const late = visitor();
  const path = await callbackFor(late, 'ada');
  easel.clock.advance(11 * 60_000);
  expect(await refusal(late.fetch(path))).toEqual([400, 'SIGN_IN_FAILED', undefined]);
  const cancelled = visitor();
  const back = await callbackFor(cancelled, null);
  expect(await refusal(cancelled.fetch(back))).toEqual([400, 'SIGN_IN_FAILED', undefined]);
  expect([...cancelled.cookies.keys()]).not.toContain('service_session');
  // A person is sent to the page where one signs in.
  const shown = visitor();
  const answer = await shown.fetch(await callbackFor(shown, null), { headers: { accept: 'text/html,*/*' } });
  expect([answer.status, answer.headers.get('location')]).toEqual([302, `${home()}/sign-in?error=SIGN_IN_FAILED`]);
  const page = async (error: string, language = 'en') => {
    const read = await shown.fetch(`/sign-in?error=${error}`, { headers: { accept: 'text/html', 'accept-language': language } });
    return [read.status, /<h1>(.*?)<\/h1>/.exec(await read.clone().text())?.[1], (await read.text()).includes('role="alert" id="problem"')];
  };
  expect(await page('SIGN_IN_FAILED')).toEqual([200, 'Sign in', true]);
  expect(await page('ACCOUNT_SUSPENDED')).toEqual([200, 'Your account is suspended', false]);
  expect(await page('ACCOUNT_SUSPENDED', 'es-MX')).toEqual([200, 'Tu cuenta está suspendida', false]);
  expect(await page('NOTHING_WE_KNOW')).toEqual([200, 'Sign in', false]);
});

test('parameters that a provider adds to its answer are ignored, and a doubled one that counts is not', async () => {
  const added = new URLSearchParams([
    ['session_state', `${'s'.repeat(3000)}.salt`],
    ['scope', 'openid email profile '.repeat(200)],
    ['authuser', '0'],
    ['hd', 'example.com'],
    ['prompt', 'consent'],
    ['client_id', 'easel'],
    ['a-name-of-their-own', '1'],
    ['a-name-of-their-own', '2'],
    ['', ''],
  ]);
  const ada = visitor();
  const path = await callbackFor(ada, 'ada');
  expect((await refusal(ada.fetch(`${path}&state=another&${added}`))).slice(0, 2)).toEqual([400, 'INVALID_REQUEST']);
  const reply = await ok(ada.fetch(`${path}&${added}`), 302);
  expect(reply.headers.get('location')).toBe(`${home()}/`);
  expect((await me(ada)).email).toBe('ada@example.com');
  // Neither do they hide that the person has cancelled.
  const cancelled = visitor();
  expect((await refusal(cancelled.fetch(`${await callbackFor(cancelled, null)}&${added}`))).slice(0, 2)).toEqual([400, 'SIGN_IN_FAILED']);
});

describe('I3: mix-up of providers', () => {
  const tokens = () => [...provider.calls, ...other.calls].filter((one) => one === '/token').length;

  test('an answer at the callback of another provider gets no token request', async () => {
    const ada = visitor();
    const path = await callbackFor(ada, 'ada');
    const before = tokens();
    expect(await refusal(ada.fetch(path.replace('/oidc/corp/', '/oidc/other/')))).toEqual([400, 'SIGN_IN_FAILED', undefined]);
    expect(tokens()).toBe(before);
  });

  test.each([
    ['of another issuer', (url: URL) => url.searchParams.set('iss', other.issuer)],
    ['without an issuer', (url: URL) => url.searchParams.delete('iss')],
  ])('an answer %s gets no token request', async (_name, change) => {
    const ada = visitor();
    const url = new URL((await callbackFor(ada, 'ada')) || '/', home());
    expect(url.searchParams.get('iss')).toBe(provider.issuer);
    change(url);
    const before = tokens();
    expect(await refusal(ada.fetch(url.pathname + url.search))).toEqual([400, 'SIGN_IN_FAILED', undefined]);
    expect(tokens()).toBe(before);
  });

  test('the same subject of two providers is two accounts', async () => {
    const [here, there] = [visitor(), visitor()];
    await signIn(here, 'nobody');
    await ok(there.fetch(await callbackFor(there, 'nobody', '', {}, 'other')), 302);
    expect((await me(there)).id).not.toBe((await me(here)).id);
  });
});

describe('I1: an address links only where it is verified', () => {
  test('unverified or silent providers get an account of their own, without the address', async () => {
    const victim = visitor();
    const id = await victim.signInByCode('victim@example.com');
    for (const login of ['unverified', 'silent']) {
      const eve = visitor();
      await signIn(eve, login);
      const user = await me(eve);
      expect([user.id === id, user.email]).toEqual([false, null]);
      expect((await linked(eve)).map((one: { id: string }) => one.id)).toEqual([user.id]);
    }
    expect((await linked(victim)).length).toBe(1);
  });

  test('a verified one joins the person who has proved the same address', async () => {
    const byCode = visitor();
    const id = await byCode.signInByCode('second@example.com');
    const byProvider = visitor();
    easel.clock.advance(1);
    await signIn(byProvider, 'second');
    const own = (await me(byProvider)).id;
    expect(own).not.toBe(id);
    const accounts = await linked(byCode);
    expect(accounts.map((one: Record<string, unknown>) => [one.id, one.provider, one.primary])).toEqual([
      [id, 'email', true],
      [own, 'corp', false],
    ]);
    // Once unlinked, they stay apart at later sign-ins.
    await ok(byCode.fetch(`/v1/auth/linked-accounts/${own}`, { method: 'DELETE' }));
    await signIn(visitor(), 'second');
    expect((await linked(byCode)).length).toBe(1);
  });
});

describe('linking', () => {
  test('joins the sign-in of the provider to the person of the session, with what both have', async () => {
    people.set('linked', { sub: 'li-1', name: 'Linked' });
    const first = visitor();
    await signIn(first, 'linked');
    const theirs = (await me(first)).id;
    const { token } = await json(await ok(first.post('/v1/me/tokens'), 201));
    const page = await published(easel, { token }, { name: 'Theirs' });
    const person = visitor();
    await person.signInByCode('linker@example.com');
    expect((await person.fetch(`/v1/artifacts/${page.id}`)).status).toBe(404);
    expect(await signIn(person, 'linked', '?link=1&return_to=/account', LINK)).toBe(`${home()}/account`);
    expect((await linked(person)).map((one: { id: string }) => one.id)).toContain(theirs);
    expect((await json(await ok(person.fetch(`/v1/artifacts/${page.id}`)))).slug).toBe(page.slug);
    // The session stays that of the account that began.
    expect((await me(person)).email).toBe('linker@example.com');
    expect([...person.cookies.keys()]).not.toContain('service_session');
  });

  test('begins on a page of this host only, and from a session', async () => {
    const person = visitor();
    await person.signInByCode('begin@example.com');
    for (const site of ['cross-site', 'same-site', 'none', '']) {
      const headers: Record<string, string> = site === '' ? {} : { 'sec-fetch-site': site };
      expect(await refusal(person.fetch('/v1/auth/oidc/corp/start?link=1', { headers }))).toEqual([403, 'ORIGIN_REFUSED', undefined]);
    }
    expect((await visitor().fetch('/v1/auth/oidc/corp/start?link=1', { headers: LINK })).status).toBe(401);
  });

  test('needs the session that began it until the end', async () => {
    people.set('late', { sub: 'la-1' });
    const person = visitor();
    await person.signInByCode('until@example.com');
    const path = await callbackFor(person, 'late', '?link=1', LINK);
    await person.signInByCode('somebody-else@example.com');
    expect((await person.fetch(path)).status).toBe(401);
    expect((await linked(person)).length).toBe(1);
  });
});

test('a provider that does not answer, or answers nonsense, is a refusal in time', async () => {
  const nonsense = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"issuer":"x"}'),
  );
  await new Promise<void>((resolve) => nonsense.listen(0, '127.0.0.1', resolve));
  const { port } = nonsense.address() as AddressInfo;
  const settings = {
    OIDC_PROVIDERS: 'gone,odd',
    OIDC_GONE_ISSUER: 'http://127.0.0.1:1',
    OIDC_GONE_CLIENT_ID: 'easel',
    OIDC_ODD_ISSUER: `http://127.0.0.1:${port}`,
    OIDC_ODD_CLIENT_ID: 'easel',
  };
  const lonely = await startTestEasel({ settings });
  try {
    const who = new Visitor(lonely, { baseUrl: `http://localhost:${lonely.port}` });
    expect(await refusal(who.fetch('/v1/auth/oidc/gone/start'))).toEqual([502, 'PROVIDER_UNAVAILABLE', undefined]);
    expect(await refusal(who.fetch('/v1/auth/oidc/odd/start'))).toEqual([502, 'PROVIDER_UNAVAILABLE', undefined]);
  } finally {
    await lonely.close();
    nonsense.close();
  }
});
