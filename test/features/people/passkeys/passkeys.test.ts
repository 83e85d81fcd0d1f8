/** Passkeys: registered from a session, and good for one answer to each challenge. The device is in software; Chromium's is in test/browser. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { Authenticator } from '../../../support/authenticator.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, refusal } from '../../../support/requests.ts';
import { ok, Visitor } from '../../../support/visitor.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

/** The origin of the service's own pages; the relying party is its host. */
const origin = () => `http://localhost:${easel.port}`;
const newDevice = (from = origin()) => new Authenticator(from);

async function register(who: Visitor, device: Authenticator): Promise<Response> {
  const { options } = await json(await ok(who.post('/v1/auth/passkeys/register/start')));
  return who.post('/v1/auth/passkeys/register/finish', { credential: device.create(options) });
}

async function answerOf(device: Authenticator) {
  const { options } = await json(await ok(new Visitor(easel).post('/v1/auth/passkey/sign-in/start')));
  return device.get(options);
}
const finish = (credential: unknown, who = new Visitor(easel)) => who.post('/v1/auth/passkey/sign-in/finish', { credential });

async function withPasskey(email: string): Promise<{ ada: Visitor; id: string; device: Authenticator }> {
  const ada = new Visitor(easel);
  const id = await ada.signInByCode(email);
  const device = newDevice();
  await ok(register(ada, device), 201);
  return { ada, id, device };
}

test('the relying party is the host of the API, and the key names its account', async () => {
  const ada = new Visitor(easel);
  const id = await ada.signInByCode('party@example.com');
  const { options } = await json(await ok(ada.post('/v1/auth/passkeys/register/start')));
  expect(options.rp).toEqual({ name: 'Easel', id: 'localhost' });
  expect(Buffer.from(options.user.id, 'base64url').toString()).toBe(id);
  expect(options.authenticatorSelection).toMatchObject({ residentKey: 'required', userVerification: 'required' });
});

test('a registered key signs in to its account with service_access', async () => {
  const { id, device } = await withPasskey('key@example.com');
  const browser = new Visitor(easel);
  expect((await json(await ok(finish(await answerOf(device), browser)))).user.id).toBe(id);
  expect([...browser.cookies.keys()]).toEqual(['service_access']);
  expect((await json(await ok(browser.fetch('/v1/me')))).token.kind).toBe('session');
});

test('an answer counts once, and not after its time', async () => {
  const { device } = await withPasskey('once-key@example.com');
  const answer = await answerOf(device);
  await ok(finish(answer));
  expect(await refusal(finish(answer))).toEqual([401, 'INVALID_CREDENTIALS', undefined]);
  const late = await answerOf(device);
  easel.clock.advance(LIMITS.passkeyChallengeTtlMs);
  expect((await finish(late)).status).toBe(401);
});

test('a key of another origin, an unknown key and a forged answer sign nobody in', async () => {
  const { ada, device } = await withPasskey('forged@example.com');
  expect(await refusal(register(ada, newDevice(`http://page.localhost:${easel.port}`)))).toEqual([400, 'INVALID_REQUEST', 'credential']);
  expect((await finish(await answerOf(newDevice()))).status).toBe(401);
  const answer = await answerOf(device);
  const other = await answerOf(newDevice());
  expect((await finish({ ...answer, response: { ...answer.response, signature: other.response.signature } })).status).toBe(401);
  expect((await finish({ ...answer, response: { clientDataJSON: 'nonsense' } })).status).toBe(401);
});

test('a copy of a key is found out by its counter', async () => {
  const { device } = await withPasskey('copy@example.com');
  const before = await answerOf(device);
  await ok(finish(await answerOf(device)));
  expect((await finish(before)).status).toBe(401);
});

test('keys are made and removed from a session, not with a token, and only with a proved address', async () => {
  const { ada } = await withPasskey('session-key@example.com');
  const { token } = await json(await ok(ada.post('/v1/me/tokens'), 201));
  const headless = await easel.newUser();
  for (const caller of [token, headless.token]) {
    const reply = easel.fetch('/v1/auth/passkeys/register/start', { method: 'POST', token: caller });
    expect(await refusal(reply)).toEqual([403, 'FORBIDDEN', undefined]);
  }
  const { passkeys } = await json(await ok(easel.fetch('/v1/auth/passkeys', { token })));
  expect(passkeys).toEqual([{ id: expect.any(String), name: 'Firefox on Windows', created_at: expect.any(String), last_used_at: null }]);
  const path = `/v1/auth/passkeys/${passkeys[0].id}`;
  expect(await refusal(easel.fetch(path, { method: 'DELETE', token }))).toEqual([403, 'FORBIDDEN', undefined]);
});

test('a removed key signs nobody in, and nobody removes that of another', async () => {
  const { ada, device } = await withPasskey('removed@example.com');
  const [{ id }] = (await json(await ok(ada.fetch('/v1/auth/passkeys')))).passkeys;
  const { ada: eve } = await withPasskey('eve-key@example.com');
  expect(await refusal(eve.fetch(`/v1/auth/passkeys/${id}`, { method: 'DELETE' }))).toEqual([404, 'PASSKEY_NOT_FOUND', undefined]);
  await ok(ada.fetch(`/v1/auth/passkeys/${id}`, { method: 'DELETE' }));
  expect((await finish(await answerOf(device))).status).toBe(401);
});

test('the same key is registered once', async () => {
  const { ada, device } = await withPasskey('twice@example.com');
  expect(await refusal(register(ada, device))).toEqual([400, 'INVALID_REQUEST', 'credential']);
});
