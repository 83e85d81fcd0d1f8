/** I10: what is done for an address does not depend on whether it has an account. Work is counted, not time. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { argon2, DECOY_HASH, PasswordHasher } from '../../../../src/features/people/sign-in/password-hasher.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { codeFor, mailsTo, ok, Visitor } from '../../../support/visitor.ts';

const PASSWORD = 'seven quiet rivers';
const KNOWN = 'known@example.com';
const UNKNOWN = 'unknown@example.com';

let easel: TestEasel;
const hashes = vi.spyOn(argon2, 'hash');
const checks = vi.spyOn(argon2, 'verify');
beforeAll(async () => {
  easel = await startTestEasel();
  await new Visitor(easel).signUp(KNOWN, PASSWORD);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await easel.close();
});

/** Passwords hashed and checked, codes made and mails queued by one call, with its answer. */
async function workOf(path: string, email: string, more: object = {}) {
  const before = { codes: await codes(), mails: (await mailsTo(easel, email)).length };
  hashes.mockClear();
  checks.mockClear();
  const reply = await new Visitor(easel).post(path, { email, ...more });
  return {
    status: reply.status,
    body: (await reply.text()).replace(/"request_id":"[^"]+"/, ''),
    cookies: reply.headers.getSetCookie().map((line) => line.replace(/=[^;]+/, '')),
    hashes: hashes.mock.calls.length,
    checks: checks.mock.calls.length,
    codes: (await codes()) - before.codes,
    mails: (await mailsTo(easel, email)).length - before.mails,
  };
}

async function codes(): Promise<number> {
  const [row] = await easel.sql<{ n: number }[]>`select count(*)::int as n from email_code`;
  return row?.n ?? 0;
}

test.each([
  ['/v1/auth/password/sign-in', { password: 'another password' }, { status: 401, hashes: 0, checks: 1, codes: 0, mails: 0 }],
  ['/v1/auth/password/sign-up', { password: 'another password' }, { status: 202, hashes: 1, checks: 0, codes: 1, mails: 1 }],
  ['/v1/auth/password/reset/start', {}, { status: 202, hashes: 0, checks: 0, codes: 1, mails: 1 }],
  ['/v1/auth/email/start', {}, { status: 202, hashes: 0, checks: 0, codes: 1, mails: 1 }],
  [
    '/v1/auth/password/reset/finish',
    { code: '000000', password: 'another password' },
    { status: 400, hashes: 1, checks: 0, codes: 0, mails: 0 },
  ],
  ['/v1/auth/email/verify', { code: '000000' }, { status: 400, hashes: 0, checks: 0, codes: 0, mails: 0 }],
])('%s', async (path, more, expected) => {
  const known = await workOf(path, KNOWN, more);
  expect(known).toMatchObject(expected);
  expect(await workOf(path, UNKNOWN, more)).toEqual(known);
});

test('an account without a password costs the same as one with a password', async () => {
  await new Visitor(easel).signInByCode('coded@example.com');
  expect(await workOf('/v1/auth/password/sign-in', 'coded@example.com', { password: PASSWORD })).toMatchObject({ status: 401, checks: 1 });
  await ok(new Visitor(easel).post('/v1/auth/email/start', { email: 'coded@example.com' }), 202);
  expect(await codeFor(easel, 'coded@example.com')).toMatch(/^\d{6}$/);
});

test('the hash that stands in for a missing one is as dear as a real one, and nobody’s', async () => {
  const costs = (hashed: string) => hashed.split('$').slice(0, 4);
  expect(costs(await argon2.hash(PASSWORD))).toEqual(costs(DECOY_HASH));
  const hasher = new PasswordHasher({ refusals: { refused: () => undefined }, argon2: { ...argon2, verify: async () => true } });
  expect(await hasher.verify(null, PASSWORD, '203.0.113.7')).toBe(false);
  expect(await hasher.verify(DECOY_HASH, PASSWORD, '203.0.113.7')).toBe(true);
});
