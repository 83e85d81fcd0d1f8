/** Signing up, in and out with a password, and setting a new one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, refusal } from '../../../support/requests.ts';
import { codeFor, mailsTo, ok, Visitor } from '../../../support/visitor.ts';

const PASSWORD = 'seven quiet rivers';
const OTHER = 'eight loud waterfalls';
const HOUR_MS = 3600_000;

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database, settings: { TRUST_PROXY: 'true' } });
  });
  afterAll(() => easel.close());

  let hosts = 0;
  /** Each at an address of its own, so that the limits of one network do not meet. */
  function visitor(options: { address?: string; languages?: string } = {}): Visitor {
    hosts += 1;
    return new Visitor(easel, { address: `198.51.${hosts >> 8}.${hosts & 255}`, ...options });
  }
  const signIn = (who: Visitor, email: string, password: string) => who.post('/v1/auth/password/sign-in', { email, password });
  const accountsWith = async (email: string) => (await easel.sql`select id from account where email = ${email}`).length;

  test('an account begins when its address is proved, and signs in with its password from then on', async () => {
    const ada = visitor();
    expect(await refusal(signIn(ada, 'ada@example.com', PASSWORD))).toEqual([401, 'INVALID_CREDENTIALS', undefined]);
    const sent = await ok(ada.post('/v1/auth/password/sign-up', { email: 'Ada@Example.com', password: PASSWORD, name: 'Ada' }), 202);
    expect(await json(sent)).toEqual({ ok: true });
    expect(await accountsWith('ada@example.com')).toBe(0);
    const code = await codeFor(easel, 'ada@example.com');
    const { user } = await json(await ok(ada.post('/v1/auth/password/sign-up/verify', { email: 'ada@example.com', code })));
    expect([user.name, user.email]).toEqual(['Ada', 'ada@example.com']);
    expect(ada.cookies.has('service_access')).toBe(true);
    const again = visitor();
    expect((await json(await ok(signIn(again, 'ADA@example.com', PASSWORD)))).user.id).toBe(user.id);
    expect((await json(await ok(again.fetch('/v1/me')))).user.id).toBe(user.id);
    expect(await refusal(signIn(visitor(), 'ada@example.com', OTHER))).toEqual([401, 'INVALID_CREDENTIALS', undefined]);
  });

  test('a known address gets the same answer, and a mail that says so', async () => {
    await visitor().signUp('known@example.com', PASSWORD);
    const eve = visitor();
    const known = await ok(eve.post('/v1/auth/password/sign-up', { email: 'known@example.com', password: OTHER }), 202);
    const unknown = await ok(eve.post('/v1/auth/password/sign-up', { email: 'nobody@example.com', password: OTHER }), 202);
    expect(await known.text()).toBe(await unknown.text());
    const [mail] = await mailsTo(easel, 'known@example.com');
    expect([mail?.kind, /\d{6}/.test(mail?.text ?? '')]).toEqual(['account_exists', false]);
    // Not even the right code of that attempt would change the account.
    const [row] = await easel.sql<{ id: string }[]>`select id from email_code where email = 'known@example.com'`;
    expect(row?.id).toBeDefined();
    await ok(signIn(visitor(), 'known@example.com', PASSWORD));
  });

  test.each([
    ['short', 'must have at least 10 characters'],
    ['password123', 'one of the most common'],
    ['1234567890', 'one of the most common'],
    ['Qwertyuiop!!', 'one of the most common'],
    ['abababababab', 'repeats or counts up'],
    ['abcdefghijkl', 'repeats or counts up'],
    ['weak.person1', 'little more than the e-mail address'],
  ])('refuses the password %s with a clear text', async (password, text) => {
    const reply = await visitor().post('/v1/auth/password/sign-up', { email: 'weak.person@example.com', password });
    const body = await json(reply);
    expect([reply.status, body.code, body.param]).toEqual([400, 'INVALID_REQUEST', 'password']);
    expect(body.error).toContain(text);
    expect(await mailsTo(easel, 'weak.person@example.com')).toEqual([]);
  });

  test('I2: a password that somebody registers before the owner proves the address never counts', async () => {
    const [eve, victim] = [visitor(), visitor()];
    await ok(eve.post('/v1/auth/password/sign-up', { email: 'victim@example.com', password: PASSWORD }), 202);
    const planted = await codeFor(easel, 'victim@example.com');
    const id = await victim.signInByCode('victim@example.com');
    expect(await refusal(signIn(eve, 'victim@example.com', PASSWORD))).toEqual([401, 'INVALID_CREDENTIALS', undefined]);
    // Nor does the code that was mailed for it.
    expect(await refusal(victim.post('/v1/auth/password/sign-up/verify', { email: 'victim@example.com', code: planted }))).toEqual([
      400,
      'CODE_INVALID',
      'code',
    ]);
    expect((await json(await ok(victim.fetch('/v1/me')))).user.id).toBe(id);
  });

  test('I2: a code of somebody else’s sign-up does not count in the browser that has begun its own', async () => {
    const [eve, victim] = [visitor(), visitor()];
    await ok(victim.post('/v1/auth/password/sign-up', { email: 'raced@example.com', password: PASSWORD }), 202);
    const own = await codeFor(easel, 'raced@example.com');
    easel.clock.advance(1000);
    await ok(eve.post('/v1/auth/password/sign-up', { email: 'raced@example.com', password: OTHER }), 202);
    const planted = await codeFor(easel, 'raced@example.com');
    const verify = (code: string) => victim.post('/v1/auth/password/sign-up/verify', { email: 'raced@example.com', code });
    if (planted !== own) expect((await verify(planted)).status).toBe(400);
    await ok(verify(own));
    expect(await refusal(signIn(eve, 'raced@example.com', OTHER))).toEqual([401, 'INVALID_CREDENTIALS', undefined]);
  });

  test('a code counts once, five times wrong at most, and ten minutes long', async () => {
    const verify = (who: Visitor, email: string, code: string) => who.post('/v1/auth/email/verify', { email, code });
    const once = visitor();
    await once.signInByCode('once@example.com');
    expect((await verify(once, 'once@example.com', await codeFor(easel, 'once@example.com'))).status).toBe(400);
    const wrong = visitor();
    await ok(wrong.post('/v1/auth/email/start', { email: 'wrong@example.com' }), 202);
    const right = await codeFor(easel, 'wrong@example.com');
    const other = right === '000000' ? '000001' : '000000';
    for (let tries = 0; tries < LIMITS.signInCodeTries; tries += 1)
      expect((await verify(wrong, 'wrong@example.com', other)).status).toBe(400);
    expect(await refusal(verify(wrong, 'wrong@example.com', right))).toEqual([400, 'CODE_INVALID', 'code']);
    const late = visitor();
    await ok(late.post('/v1/auth/email/start', { email: 'late@example.com' }), 202);
    const expired = await codeFor(easel, 'late@example.com');
    easel.clock.advance(LIMITS.signInCodeTtlMs);
    expect((await verify(late, 'late@example.com', expired)).status).toBe(400);
  });

  test('a code of one purpose or address is none of another', async () => {
    await visitor().signUp('purpose@example.com', PASSWORD);
    const who = visitor();
    await ok(who.post('/v1/auth/password/reset/start', { email: 'purpose@example.com' }), 202);
    const code = await codeFor(easel, 'purpose@example.com');
    expect((await who.post('/v1/auth/email/verify', { email: 'purpose@example.com', code })).status).toBe(400);
    expect((await who.post('/v1/auth/password/sign-up/verify', { email: 'purpose@example.com', code })).status).toBe(400);
    expect((await who.post('/v1/auth/password/reset/finish', { email: 'other@example.com', code, password: OTHER })).status).toBe(400);
  });

  test('a new password by mail ends every session, and signs in with the new one only', async () => {
    const [old, ada] = [visitor(), visitor({ languages: 'es-ES,es;q=0.9,en;q=0.8' })];
    const id = await old.signUp('reset@example.com', PASSWORD);
    await ok(ada.post('/v1/auth/password/reset/start', { email: 'reset@example.com' }), 202);
    const code = await codeFor(easel, 'reset@example.com');
    const finish = (password: string) => ada.post('/v1/auth/password/reset/finish', { email: 'reset@example.com', code, password });
    expect(await refusal(finish('short'))).toEqual([400, 'INVALID_REQUEST', 'password']);
    expect((await json(await ok(finish(OTHER)))).user.id).toBe(id);
    expect((await old.fetch('/v1/me')).status).toBe(401);
    await ok(ada.fetch('/v1/me'));
    expect((await signIn(visitor(), 'reset@example.com', PASSWORD)).status).toBe(401);
    await ok(signIn(visitor(), 'reset@example.com', OTHER));
    expect((await mailsTo(easel, 'reset@example.com')).map(({ kind }) => kind)).toEqual(['password_changed', 'password_reset', 'sign_up']);
    expect((await mailsTo(easel, 'reset@example.com'))[0]?.subject).toBe('Se ha cambiado tu contraseña');
  });

  test('an address without an account gets no code, and its reset ends nowhere', async () => {
    const who = visitor();
    await ok(who.post('/v1/auth/password/reset/start', { email: 'stranger@example.com' }), 202);
    const mails = await mailsTo(easel, 'stranger@example.com');
    expect(mails.map(({ kind, text }) => [kind, /\d{6}/.test(text)])).toEqual([['no_account', false]]);
  });

  test('a password is changed with the current one, and other sessions end', async () => {
    const [here, there] = [visitor(), visitor()];
    await here.signUp('change@example.com', PASSWORD);
    await ok(signIn(there, 'change@example.com', PASSWORD));
    const change = (body: object) => here.send('PUT', '/v1/auth/password', body);
    expect(await refusal(change({ password: OTHER }))).toEqual([401, 'INVALID_CREDENTIALS', 'current']);
    expect(await refusal(change({ current: OTHER, password: OTHER }))).toEqual([401, 'INVALID_CREDENTIALS', 'current']);
    await ok(change({ current: PASSWORD, password: OTHER }));
    await ok(here.fetch('/v1/me'));
    expect((await there.fetch('/v1/me')).status).toBe(401);
    await ok(signIn(visitor(), 'change@example.com', OTHER));
  });

  test('who signs in by code sets a first password from a session, not with a token', async () => {
    const ada = visitor();
    await ada.signInByCode('first@example.com');
    const { token } = await json(await ok(ada.post('/v1/me/tokens'), 201));
    const set = { method: 'PUT', body: JSON.stringify({ password: PASSWORD }), headers: { 'content-type': 'application/json' } };
    expect(await refusal(easel.fetch('/v1/auth/password', { ...set, token }))).toEqual([403, 'FORBIDDEN', undefined]);
    await ok(ada.send('PUT', '/v1/auth/password', { password: PASSWORD }));
    await ok(signIn(visitor(), 'first@example.com', PASSWORD));
    const headless = await easel.newUser();
    expect(await refusal(easel.fetch('/v1/auth/password', { ...set, token: headless.token }))).toEqual([400, 'INVALID_REQUEST', undefined]);
  });

  test('guessing is slowed for one network, while the owner signs in from another', async () => {
    await visitor().signUp('guessed@example.com', PASSWORD);
    const eve = visitor();
    for (let tries = 0; tries < LIMITS.passwordTriesPerQuarter; tries += 1)
      expect((await signIn(eve, 'guessed@example.com', OTHER)).status).toBe(401);
    const refused = await signIn(eve, 'guessed@example.com', PASSWORD);
    expect([refused.status, (await json(refused)).code, Number(refused.headers.get('retry-after')) > 0]).toEqual([
      429,
      'TOO_MANY_ATTEMPTS',
      true,
    ]);
    await ok(signIn(visitor(), 'guessed@example.com', PASSWORD));
    // An unknown address is refused after as many.
    const other = visitor();
    for (let tries = 0; tries < LIMITS.passwordTriesPerQuarter; tries += 1) await signIn(other, 'unknown@example.com', OTHER);
    expect((await signIn(other, 'unknown@example.com', OTHER)).status).toBe(429);
    easel.clock.advance(HOUR_MS);
    await ok(signIn(eve, 'guessed@example.com', PASSWORD));
  });

  test('right passwords are not counted', async () => {
    const ada = visitor();
    await ada.signUp('often@example.com', PASSWORD);
    for (let times = 0; times < LIMITS.passwordTriesPerQuarter + 2; times += 1) await ok(signIn(ada, 'often@example.com', PASSWORD));
  });

  test('codes are mailed a few times an hour, whether or not the address has an account', async () => {
    const eve = visitor();
    const start = () => eve.post('/v1/auth/email/start', { email: 'spammed@example.com' });
    for (let sent = 0; sent < LIMITS.signInCodesPerHour; sent += 1) await ok(start(), 202);
    expect(await refusal(start())).toEqual([429, 'TOO_MANY_ATTEMPTS', undefined]);
    expect((await mailsTo(easel, 'spammed@example.com')).length).toBe(LIMITS.signInCodesPerHour);
  });
});
