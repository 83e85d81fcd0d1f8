/** Our own pages, without a script: what they say, what their forms do, and what they let nobody else do. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type EndpointId, endpoints } from '../../../../protocol/table.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { lastCode, WebPerson } from '../../../support/web-person.ts';

const PASSWORD = 'seven quiet rivers run';

let easel: TestEasel;
let person: WebPerson;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());
beforeEach(() => {
  // Beyond the windows of the limits, so that no test spends another's attempts.
  easel.clock.advance(2 * 3_600_000);
  person = new WebPerson(easel);
});

const me = async (who: WebPerson) => JSON.parse((await who.call('GET', '/v1/me')).text);

async function signedUp(email: string): Promise<void> {
  await person.submit('/sign-up', { do: 'start', email, password: PASSWORD, name: 'Ada' });
  await person.submit('/sign-up', { do: 'verify', email, code: await lastCode(easel, email) });
}

describe('signing in', () => {
  test('an account is made with a password and a code by mail, and the browser goes where it came from', async () => {
    const email = 'new@example.com';
    const return_to = '/device?user_code=BDFH-KMPR';
    const asked = await person.submit('/sign-up', { do: 'start', email, password: PASSWORD, name: 'Ada', return_to });
    expect([asked.status, asked.text.includes('new@example.com')]).toEqual([200, true]);
    const code = await lastCode(easel, email);
    expect(asked.text).not.toContain(code);
    const typed = `${code.slice(0, 3)} ${code.slice(3)}`;
    expect(await person.submit('/sign-up', { do: 'verify', email, code: typed, return_to })).toMatchObject({
      status: 303,
      location: return_to,
    });
    expect((await me(person)).user).toMatchObject({ email, name: 'Ada' });
    expect([...person.cookies.keys()]).toContain('service_access');
  });

  test('a password signs in; a wrong one shows the form again with the address and not the password', async () => {
    const email = 'pass@example.com';
    await signedUp(email);
    const again = new WebPerson(easel);
    const wrong = await again.submit('/sign-in', { do: 'password', email, password: 'not the right one' });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('role="alert"');
    expect(wrong.text).toContain('value="pass@example.com"');
    expect(wrong.text).not.toContain('not the right one');
    expect(await again.submit('/sign-in', { do: 'password', email, password: PASSWORD })).toMatchObject({
      status: 303,
      location: '/account',
    });
    expect((await again.open('/account')).text).toContain('Signed-in browsers');
  });

  test('a code by mail signs in; a wrong one is asked for again', async () => {
    const email = 'code@example.com';
    expect((await person.submit('/sign-in', { do: 'code', email })).text).toContain('Enter the code');
    const code = await lastCode(easel, email);
    const wrong = await person.submit('/sign-in', { do: 'verify', email, code: code === '000000' ? '000001' : '000000' });
    expect([wrong.status, wrong.text.includes('The code is wrong')]).toEqual([400, true]);
    expect((await person.submit('/sign-in', { do: 'verify', email, code })).status).toBe(303);
    expect((await me(person)).user.email).toBe(email);
  });

  test('a new password is set with a code, and the old one signs in no more', async () => {
    const email = 'reset@example.com';
    await signedUp(email);
    const other = new WebPerson(easel);
    await other.submit('/reset', { do: 'start', email });
    const fields = { do: 'finish', email, code: await lastCode(easel, email) };
    expect((await other.submit('/reset', { ...fields, password: 'short' })).status).toBe(400);
    expect((await other.submit('/reset', { ...fields, password: 'another long password' })).status).toBe(303);
    expect((await new WebPerson(easel).submit('/sign-in', { do: 'password', email, password: PASSWORD })).status).toBe(400);
    expect((await person.open('/account')).location).toMatch(/^\/sign-in/);
  });

  test('signing out ends the session, on the server too', async () => {
    const ada = await WebPerson.signedIn(easel, 'out@example.com');
    const cookies = new Map(ada.cookies);
    expect((await ada.open('/sign-out')).text).toContain('You are signed in as');
    expect((await ada.open('/account')).status).toBe(200);
    expect((await ada.submit('/sign-out', {})).text).toContain('Signed out');
    expect(ada.cookies.size).toBe(0);
    for (const [name, value] of cookies) ada.cookies.set(name, value);
    expect((await ada.open('/account')).status).toBe(303);
  });

  // I4
  test.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/%5cevil.example', '/\t/evil.example', 'javascript:alert(1)'])(
    '[I4] does not lead to %j',
    async (return_to) => {
      const email = 'away@example.com';
      await person.submit('/sign-in', { do: 'code', email, return_to });
      const { location } = await person.submit('/sign-in', { do: 'verify', email, code: await lastCode(easel, email), return_to });
      expect(location).toBe('/account');
      for (const path of ['/sign-in', '/sign-up', '/reset']) {
        expect((await person.open(`${path}?${new URLSearchParams({ return_to })}`)).text).not.toContain('evil');
      }
    },
  );

  test('[I4] a forwarded host changes no address', async () => {
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    const { text, location } = await person.submit('/account', {}, { origin: easel.baseUrl, headers });
    expect(`${text}${location}`).not.toContain('evil');
    expect(location).toBe('/sign-in?return_to=%2Faccount');
  });
});

describe('the account page', () => {
  test('lists sessions, and ends another one at once', async () => {
    const ada = await WebPerson.signedIn(easel, 'sessions@example.com');
    const other = await WebPerson.signedIn(easel, 'sessions@example.com');
    const page = (await ada.open('/account')).text;
    const id = /name="id" value="(ses_[a-z0-9]{24})"/.exec(page)?.[1] ?? '';
    expect(page.match(/this one/g)?.length).toBeGreaterThan(0);
    expect((await ada.act('/account', { do: 'end-session', id })).text).toContain('The session has ended.');
    expect((await other.open('/account')).status).toBe(303);
    expect((await ada.open('/account')).status).toBe(200);
  });

  test('makes a token, shows it once, and revokes it', async () => {
    const ada = await WebPerson.signedIn(easel, 'tokens@example.com');
    const made = await ada.submit('/account', { do: 'make-token', name: '<i>deploy</i>' });
    const token = /so_[0-9a-f]{64}/.exec(made.text)?.[0] ?? '';
    expect((await easel.fetch('/v1/me', { token })).status).toBe(200);
    const page = (await ada.open('/account')).text;
    expect(page).not.toContain(token);
    expect(page).toContain('&#60;i&#62;deploy&#60;/i&#62;');
    const id = /name="id" value="(tok_[a-z0-9]{24})"/.exec(page)?.[1] ?? '';
    expect((await ada.act('/account', { do: 'revoke-token', id })).text).toContain('The token is revoked.');
    expect((await easel.fetch('/v1/me', { token })).status).toBe(401);
    expect((await ada.act('/account', { do: 'revoke-token', id })).status).toBe(400);
  });

  test('links an address by a code, unlinks it, and keeps the last sign-in', async () => {
    const ada = await WebPerson.signedIn(easel, 'one@example.com');
    const asked = await ada.act('/account', { do: 'link-email', email: 'two@example.com' });
    expect(asked.text).toContain('Confirm two@example.com');
    const wrong = await ada.act('/account', { do: 'verify-email', email: 'two@example.com', code: '1' });
    expect([wrong.status, wrong.text.includes('Confirm two@example.com')]).toEqual([400, true]);
    const code = await lastCode(easel, 'two@example.com');
    const linked = await ada.act('/account', { do: 'verify-email', email: 'two@example.com', code });
    expect(linked.text).toContain('The sign-in is linked to your account.');
    const ids = [...linked.text.matchAll(/name="id" value="(usr_[a-z0-9]{24})"/g)].map(([, id]) => id ?? '');
    expect(ids).toHaveLength(2);
    const other = ids.find((id) => id !== ada.userId) ?? '';
    const unlinked = await ada.act('/account', { do: 'unlink', id: other });
    expect(unlinked.text).toContain('unlinked');
    expect(unlinked.text).not.toContain(`value="${other}"`);
    expect((await ada.act('/account', { do: 'unlink', id: ada.userId })).status).toBe(400);
  });

  test('sets a password and changes it', async () => {
    const email = 'password@example.com';
    const ada = await WebPerson.signedIn(easel, email);
    expect((await ada.act('/account', { do: 'password', password: PASSWORD })).text).toContain('The password is saved');
    expect((await ada.act('/account', { do: 'password', current: 'wrong', password: 'eight loud waterfalls' })).status).toBe(400);
    const changed = await ada.act('/account', { do: 'password', current: PASSWORD, password: 'eight loud waterfalls' });
    expect(changed.status).toBe(200);
    expect((await new WebPerson(easel).submit('/sign-in', { do: 'password', email, password: 'eight loud waterfalls' })).status).toBe(303);
  });

  test('a token opens no page: it is for programs', async () => {
    const { token } = await easel.newUser();
    const reply = await easel.fetch('/account', { token, redirect: 'manual' });
    expect([reply.status, reply.headers.get('location')]).toEqual([303, '/sign-in?return_to=%2Faccount']);
  });

  test('a form that is none of ours changes nothing and says so', async () => {
    const ada = await WebPerson.signedIn(easel, 'odd@example.com');
    expect((await ada.submit('/account', { do: 'grant-everything' })).status).toBe(400);
    expect((await ada.submit('/account', {})).status).toBe(400);
  });
});

describe('an invitation', () => {
  async function invite(email: string): Promise<{ owner: WebPerson; path: string }> {
    const owner = await WebPerson.signedIn(easel, 'owner@example.com');
    const { id } = JSON.parse((await owner.call('POST', '/v1/workspaces', { name: 'Maps <i>&' })).text) as { id: string };
    await owner.call('POST', `/v1/workspaces/${id}/members/invite`, { emails: [email] });
    const [mail] = await easel.sql<{ text_body: string }[]>`
      select text_body from mail_outbox where recipient = ${email} and kind = 'invite' order by created_at_ms desc limit 1`;
    return { owner, path: /[/]invite[/][a-z0-9-]+/.exec(mail?.text_body ?? '')?.[0] ?? '' };
  }

  test('is accepted by the invited person alone, and opening it changes nothing', async () => {
    const { path } = await invite('bob@example.com');
    expect(await person.open(path)).toMatchObject({ status: 303, location: `/sign-in?return_to=${encodeURIComponent(path)}` });
    const bob = await WebPerson.signedIn(easel, 'bob@example.com');
    for (let times = 0; times < 3; times += 1) expect((await bob.open(path)).text).toContain('Join Maps &#60;i&#62;&#38;');
    expect((await me(bob)).workspaces).toEqual([]);
    expect((await bob.submit(path, {})).text).toContain('You are a member now.');
    expect((await me(bob)).workspaces).toMatchObject([{ name: 'Maps <i>&', role: 'member' }]);
    expect((await bob.open(path)).status).toBe(400);
    expect((await bob.submit(path, {})).status).toBe(400);
  });

  test('tells nothing to whoever it was forwarded to, as a code that does not exist', async () => {
    const { path } = await invite('carol@example.com');
    const eve = await WebPerson.signedIn(easel, 'eve@example.com');
    const [forwarded, invented] = [await eve.open(path), await eve.open('/invite/bcdfg-hjkmn-pqrst-23456')];
    expect(forwarded.status).toBe(400);
    expect(forwarded.text.replaceAll(path.slice(8), 'CODE')).toBe(invented.text.replaceAll('bcdfg-hjkmn-pqrst-23456', 'CODE'));
    expect(forwarded.text).not.toContain('Maps');
    expect((await eve.submit(path, {})).status).toBe(400);
    expect((await me(eve)).workspaces).toEqual([]);
  });
});

const forms = (Object.entries(endpoints) as [EndpointId, { method: string; path: string; group: string }][])
  // Programs of mail post there without an Origin (RFC 8058).
  .filter(([id, { method }]) => id.startsWith('pages.') && method === 'POST' && !/unsubscribe/i.test(id))
  .map(([, { path }]) => path.replace('{code}', 'bcdfg-hjkmn-pqrst-23456'));

test.each(forms)('%s takes a form only from a page of this host', async (path) => {
  const ada = await WebPerson.signedIn(easel, 'origin@example.com');
  for (const origin of ['https://evil.example', `http://page.localhost:${easel.port}`, 'null', undefined]) {
    expect((await ada.submit(path, {}, { origin })).status).toBe(403);
  }
  const sites = { 'sec-fetch-site': 'cross-site' };
  expect((await ada.submit(path, {}, { origin: undefined, headers: sites })).status).toBe(403);
  // A browser that leaves the Origin out says where the form was.
  const own = await ada.submit(path, {}, { origin: undefined, headers: { 'sec-fetch-site': 'same-origin' } });
  expect(own.status).not.toBe(403);
});

test.each(['/sign-in', '/sign-up', '/reset', '/account', '/device', '/device/done', '/sign-out', '/nothing/here'])(
  '%s cannot be framed, loads nothing of others, runs no inline script, and is never stored',
  async (path) => {
    const ada = await WebPerson.signedIn(easel, 'headers@example.com');
    const { headers, text } = await ada.open(path);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toContain('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"])
      expect(policy.split('; ')).toContain(rule);
    expect(policy).not.toContain('unsafe');
    expect(text).not.toMatch(/<script(?![^>]* src="\/_pages\/)|\son\w+=|style=|javascript:/i);
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
  },
);

test('what others have written is escaped on every page', async () => {
  const hint = '"><script>alert(1)</script>';
  for (const path of ['/sign-in', '/sign-up', '/reset']) {
    expect((await person.open(`${path}?${new URLSearchParams({ login_hint: hint, return_to: `/${hint}` })}`)).text).not.toContain(
      '<script>',
    );
  }
  const ada = await WebPerson.signedIn(easel, 'names@example.com');
  await ada.call('PATCH', '/v1/auth/profile', { name: hint });
  for (const path of ['/account', '/sign-in', '/sign-out', `/device?${new URLSearchParams({ user_code: hint })}`]) {
    expect((await ada.open(path)).text).not.toContain('<script>');
  }
});

test('a failure is a page for a browser, and JSON for a program', async () => {
  const page = await person.open('/v1/nothing');
  expect([page.status, page.text.includes('There is nothing at this path.')]).toEqual([404, true]);
  const program = await easel.fetch('/v1/nothing');
  expect(await program.json()).toMatchObject({ code: 'NOT_FOUND' });
  const data = await easel.fetch('/v1/data/x/json', { headers: { accept: 'text/html' } });
  expect(data.headers.get('content-type')).toBe('application/json');
});
