/** Sessions of browsers: what they open, when they end, and who ends them. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, published, refusal } from '../../../support/requests.ts';
import { ok, Visitor } from '../../../support/visitor.ts';

const DAY_MS = 24 * 3600 * 1000;
const SAFARI = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15';

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  const me = (visitor: Visitor) => visitor.fetch('/v1/me');
  const reason = async (reply: Response) => [reply.status, (await json(reply)).reason];

  test('a session is that of its account, and its secret is stored as a digest only', async () => {
    const ada = new Visitor(easel);
    const id = await ada.signInByCode('digest@example.com');
    const body = await json(await ok(me(ada)));
    expect([body.user.id, body.user.email, body.token.kind]).toEqual([id, 'digest@example.com', 'session']);
    const secret = ada.cookies.get('service_access') ?? '';
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const [found] = await easel.sql`select count(*)::int as n from session s where s::text like ${`%${secret}%`}`;
    expect(found?.n).toBe(0);
  });

  test('the cookie is HttpOnly, Lax and of this host; over TLS it is Secure with the prefix', async () => {
    const start = await new Visitor(easel).post('/v1/auth/email/start', { email: 'cookie@example.com' });
    expect(start.headers.getSetCookie()).toEqual([]);
    const visitor = new Visitor(easel);
    await visitor.signInByCode('cookie@example.com');
    const again = await visitor.post('/v1/auth/sign-out');
    for (const line of again.headers.getSetCookie())
      expect(line).toMatch(/^service_(session|access)=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/);
    const secure = await startTestEasel({ database, settings: { BASE_URL: 'https://easel.example.com' } });
    try {
      const ada = new Visitor(secure);
      await ok(ada.post('/v1/auth/email/start', { email: 'ada@example.com' }), 403);
      const post = (path: string, body: object) =>
        secure.fetch(path, {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json', origin: 'https://easel.example.com' },
        });
      await ok(post('/v1/auth/email/start', { email: 'ada@example.com' }), 202);
      const [mail] = await secure.sql<{ text_body: string }[]>`select text_body from mail_outbox`;
      const reply = await ok(post('/v1/auth/email/verify', { email: 'ada@example.com', code: /\d{6}/.exec(mail?.text_body ?? '')?.[0] }));
      expect(reply.headers.getSetCookie()).toEqual([
        '__Host-service_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
        expect.stringMatching(/^__Host-service_access=[\w-]{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax; Secure$/),
      ]);
    } finally {
      await secure.close();
    }
  });

  test('I5: a sign-in makes a new session and ends the one that the browser brought', async () => {
    const ada = new Visitor(easel);
    await ada.signInByCode('fixed@example.com');
    const planted = new Map(ada.cookies);
    await ada.signInByCode('fixed@example.com');
    expect(ada.cookies.get('service_access')).not.toBe(planted.get('service_access'));
    const before = new Visitor(easel);
    for (const [name, value] of planted) before.cookies.set(name, value);
    expect(await reason(await me(before))).toEqual([401, 'revoked']);
    expect((await me(ada)).status).toBe(200);
  });

  test('it ends when it was idle for too long, and at its end in any case', async () => {
    const ada = new Visitor(easel);
    await ada.signInByCode('idle@example.com');
    const stepMs = LIMITS.sessionIdleMs - DAY_MS;
    for (let passedMs = 0; passedMs + stepMs < LIMITS.sessionTtlMs; passedMs += stepMs) {
      await ok(me(ada));
      easel.clock.advance(stepMs);
    }
    await ok(me(ada));
    easel.clock.advance(LIMITS.sessionTtlMs % stepMs);
    expect(await reason(await me(ada))).toEqual([401, 'expired']);
    await ada.signInByCode('idle@example.com');
    easel.clock.advance(LIMITS.sessionIdleMs);
    expect(await reason(await me(ada))).toEqual([401, 'expired']);
  });

  test('a use that another process has seen keeps it', async () => {
    const ada = new Visitor(easel);
    await ada.signInByCode('elsewhere@example.com');
    await ok(me(ada));
    easel.clock.advance(LIMITS.sessionIdleMs);
    await easel.sql`update session set last_used_at_ms = ${easel.clock.nowMs() - 1000}`;
    await ok(me(ada));
  });

  test('they are listed with device and address, and ended one by one or all others', async () => {
    const [phone, laptop, desk] = [
      new Visitor(easel, { userAgent: SAFARI }),
      new Visitor(easel),
      new Visitor(easel, { userAgent: 'curl/8.5.0' }),
    ];
    for (const visitor of [phone, laptop, desk]) {
      await visitor.signInByCode('list@example.com');
      easel.clock.advance(1000);
    }
    const list = async (visitor: Visitor) => (await json(await ok(visitor.fetch('/v1/auth/sessions?count=true')))).sessions;
    const listed = await list(laptop);
    expect(listed.map((one: Record<string, unknown>) => [one.device, one.address, one.current])).toEqual([
      ['curl', '127.0.0.1', false],
      ['Firefox on Windows', '127.0.0.1', true],
      ['Safari on macOS', '127.0.0.1', false],
    ]);
    await ok(laptop.fetch(`/v1/auth/sessions/${listed[2].id}`, { method: 'DELETE' }));
    expect(await reason(await me(phone))).toEqual([401, 'revoked']);
    expect(await refusal(laptop.fetch(`/v1/auth/sessions/${listed[2].id}`, { method: 'DELETE' }))).toEqual([
      404,
      'SESSION_NOT_FOUND',
      undefined,
    ]);
    await ok(laptop.fetch('/v1/auth/sessions', { method: 'DELETE' }));
    expect(await reason(await me(desk))).toEqual([401, 'revoked']);
    expect((await list(laptop)).length).toBe(1);
  });

  test('nobody ends the session of somebody else', async () => {
    const [ada, eve] = [new Visitor(easel), new Visitor(easel)];
    await ada.signInByCode('ada-own@example.com');
    await eve.signInByCode('eve-own@example.com');
    const [own] = (await json(await ok(ada.fetch('/v1/auth/sessions')))).sessions;
    expect(await refusal(eve.fetch(`/v1/auth/sessions/${own.id}`, { method: 'DELETE' }))).toEqual([404, 'SESSION_NOT_FOUND', undefined]);
    await ok(eve.fetch('/v1/auth/sessions', { method: 'DELETE' }));
    await ok(me(ada));
  });

  test('signing out ends it at once, and open sockets with it', async () => {
    const ada = new Visitor(easel);
    await ada.signInByCode('socket@example.com');
    const made = await json(await ok(ada.post('/v1/me/tokens'), 201));
    const { id } = await published(easel, { token: made.token });
    const open = async (headers: Record<string, string>) => {
      const socket = new WebSocket(`${easel.baseUrl.replace('http', 'ws')}/v1/data/${id}/channels`, { headers });
      return Promise.race([
        once(socket, 'open').then(() => socket),
        once(socket, 'unexpected-response').then(([, reply]) => reply.statusCode as number),
      ]);
    };
    expect(await open({ ...ada.headers, origin: 'http://evil.test' })).toBe(403);
    const socket = await open(ada.headers);
    if (typeof socket === 'number') throw new Error(`the socket was refused with ${socket}`);
    const closed = once(socket, 'close');
    await ok(ada.fetch('/v1/auth/sign-out', { method: 'POST' }));
    expect((await closed)[0]).toBe(4401);
    expect(ada.cookies.size).toBe(0);
  });

  test('a write with the cookie needs the origin of this host, and a token wins over the cookie', async () => {
    const ada = new Visitor(easel);
    const id = await ada.signInByCode('origin@example.com');
    const write = (headers: Record<string, string>) =>
      ada.fetch('/v1/auth/profile', {
        method: 'PATCH',
        body: '{"name":"Ada"}',
        headers: { 'content-type': 'application/json', ...headers },
      });
    expect(await refusal(write({ origin: 'http://page.example.com' }))).toEqual([403, 'ORIGIN_REFUSED', undefined]);
    expect(await refusal(write({ origin: `http://page.localhost:${easel.port}` }))).toEqual([403, 'ORIGIN_REFUSED', undefined]);
    expect((await json(await ok(write({})))).id).toBe(id);
    const other = await easel.newUser();
    expect((await json(await ok(write({ authorization: `Bearer ${other.token}`, origin: 'http://page.example.com' })))).id).toBe(
      other.userId,
    );
  });

  test('the sweep deletes those that ended long ago', async () => {
    const ada = new Visitor(easel);
    await ada.signInByCode('swept@example.com');
    easel.clock.advance(LIMITS.sessionTtlMs + 31 * DAY_MS);
    await easel.sweep();
    const [left] =
      await easel.sql`select count(*)::int as n from session s join sign_in i on i.account_id = s.account_id where i.subject = 'swept@example.com'`;
    expect(left?.n).toBe(0);
  });
});
