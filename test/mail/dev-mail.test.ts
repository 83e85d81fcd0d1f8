/** The pages of mail that was not sent: who may read them, and what a mail may do there. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { queueMail } from '../../src/mail/outbox.ts';
import { composeMail } from '../../src/mail/templates/compose.ts';
import { rawRequest } from '../edge/fake-edge.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';

const facts = { by: '<b>Eve</b>', workspace: '"><script>alert(1)</script>', role: 'member', code: 'abc', days: 14 } as const;

async function send(easel: TestEasel, recipient: string): Promise<void> {
  const mail = composeMail('invite', { ...facts, url: `${easel.baseUrl}/invite/abc` }, { recipient, locale: 'en' });
  await queueMail(easel.sql, [mail], easel.clock.nowMs());
}

const statusOf = async (easel: TestEasel, headers: Readonly<Record<string, string>>, path = '/dev/mail') => {
  const lines = Object.entries({ Host: `localhost:${easel.port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const { text } = await rawRequest(easel.port, `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, '\r\n\r\n');
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
};

describe('on the own machine', () => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel();
  });
  afterAll(() => easel.close());
  beforeEach(() => easel.sql`delete from mail_outbox`);

  test('lists mail, newest first, and shows its two parts', async () => {
    expect(await (await easel.fetch('/dev/mail')).text()).toContain('No mail yet');
    await send(easel, 'first@example.com');
    easel.clock.advance(1000);
    await send(easel, 'second@example.com');
    const list = await (await easel.fetch('/dev/mail')).text();
    expect(list.indexOf('second@example.com')).toBeGreaterThan(0);
    expect(list.indexOf('first@example.com')).toBeGreaterThan(list.indexOf('second@example.com'));
    const path = /\/dev\/mail\/eml_[a-z0-9]{24}/.exec(list)?.[0] ?? '';
    const page = await (await easel.fetch(path)).text();
    expect(page).toContain(
      `<iframe class="mail" title="The mail" src="${path}/html" sandbox="allow-popups allow-popups-to-escape-sandbox">`,
    );
    expect(page).toContain(`${easel.baseUrl}/invite/abc`);
    expect(`${list}${page}`).not.toContain('<script>');
    const body = await easel.fetch(`${path}/html`);
    expect(body.headers.get('content-security-policy')).toMatch(/^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'/);
    expect(await body.text()).toContain('<base target="_blank">');
    expect((await easel.fetch('/dev/mail/eml_aaaaaaaaaaaaaaaaaaaaaaaa')).status).toBe(404);
  });

  test.each([
    ['localhost', {}, 200],
    ['another name that leads here', { Host: 'evil.example' }, 403],
    ['a proxy in between', { 'X-Forwarded-For': '203.0.113.7' }, 403],
    ['a proxy that says so otherwise', { Forwarded: 'for=203.0.113.7' }, 403],
  ])('%s', async (_what, headers, status) => {
    await send(easel, 'ada@example.com');
    expect(await statusOf(easel, headers)).toBe(status);
  });

  test('an administrator may read it from anywhere, other people may not', async () => {
    const { token } = await easel.newUser();
    const from = { Host: 'evil.example' };
    expect(await statusOf(easel, { ...from, Authorization: `Bearer ${token}` })).toBe(403);
    expect(await statusOf(easel, { ...from, Authorization: `Bearer ${easel.adminToken}` })).toBe(200);
  });
});

test.each([
  ['an SMTP server is configured', { SMTP_URL: 'smtp://127.0.0.1:1' }, 404],
  ['the service has a public address', { BASE_URL: 'https://easel.example' }, 403],
  ['it is behind a proxy', { TRUST_PROXY: 'true' }, 403],
])('mail is not shown where %s', async (_what, settings, status) => {
  const easel = await startTestEasel({ settings });
  try {
    await send(easel, 'ada@example.com');
    expect(await statusOf(easel, {})).toBe(status);
  } finally {
    await easel.close();
  }
});
