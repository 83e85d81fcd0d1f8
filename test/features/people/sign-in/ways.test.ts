/** SIGN_IN_WAYS: what an installation does not offer is neither shown nor accepted. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, refusal } from '../../../support/requests.ts';
import { Visitor } from '../../../support/visitor.ts';

const PASSWORD = 'seven quiet rivers run';
const EMAIL = 'ada@example.com';

const CALLS = {
  password: [
    ['POST', '/v1/auth/password/sign-up', { email: EMAIL, password: PASSWORD }],
    ['POST', '/v1/auth/password/sign-up/verify', { email: EMAIL, code: '123456' }],
    ['POST', '/v1/auth/password/sign-in', { email: EMAIL, password: PASSWORD }],
    ['POST', '/v1/auth/password/reset/start', { email: EMAIL }],
    ['POST', '/v1/auth/password/reset/finish', { email: EMAIL, code: '123456', password: PASSWORD }],
  ],
  email_code: [
    ['POST', '/v1/auth/email/start', { email: EMAIL }],
    ['POST', '/v1/auth/email/verify', { email: EMAIL, code: '123456' }],
  ],
} as const;

describe.each(['password', 'email_code'] as const)('with %s alone', (way) => {
  const other = way === 'password' ? 'email_code' : 'password';
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ settings: { SIGN_IN_WAYS: way } });
  });
  afterAll(() => easel.close());

  test('the list of ways says so', async () => {
    const ways = await json(await easel.fetch('/v1/auth/providers'));
    expect(ways).toEqual({ providers: [], password: way === 'password', email_code: way === 'email_code' });
  });

  test('the calls of the other way are refused, and send no mail', async () => {
    for (const [method, path, body] of CALLS[other]) {
      expect(await refusal(new Visitor(easel).send(method, path, body)), path).toEqual([403, 'FORBIDDEN', undefined]);
    }
    const [mails] = await easel.sql<{ total: number }[]>`select count(*)::int as total from mail_outbox`;
    expect(mails?.total).toBe(0);
  });

  test('its own calls are answered', async () => {
    const [method, path, body] = CALLS[way][0];
    expect((await new Visitor(easel).send(method, path, body)).status).toBe(202);
  });

  test('the pages show only what there is', async () => {
    const page = await (await new Visitor(easel).fetch('/sign-in', { headers: { accept: 'text/html' } })).text();
    expect(page.includes('type="password"')).toBe(way === 'password');
    expect(page.includes('value="code"')).toBe(way === 'email_code');
    for (const path of ['/sign-up', '/reset']) {
      expect((await new Visitor(easel).fetch(path, { headers: { accept: 'text/html' } })).status).toBe(way === 'password' ? 200 : 303);
    }
  });
});
