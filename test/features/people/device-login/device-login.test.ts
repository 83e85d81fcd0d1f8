/** Device login over HTTP. Source: spec.md "Device login", contract.md §1. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { WebPerson } from '../../../support/web-person.ts';

interface Started {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly interval: number;
  readonly expires_in: number;
}

describe.each(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  let ada: WebPerson & { readonly userId: string };
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    ada = await WebPerson.signedIn(easel, 'ada@example.com');
  });
  afterAll(() => easel.close());
  // Later than every window and lifetime, so that no test meets the codes and limits of another.
  beforeEach(() => easel.clock.advance(LIMITS.deviceCodeTtlMs * 6));

  const post = async (path: string, body: unknown) => {
    const reply = await easel.fetch(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
    // biome-ignore lint/suspicious/noExplicitAny: the tests say what the answer holds.
    return { status: reply.status, headers: reply.headers, body: (await reply.json()) as any };
  };
  const start = async (body: object = {}): Promise<Started> => {
    const reply = await post('/v1/auth/device/start', body);
    expect(reply.status).toBe(201);
    return reply.body;
  };
  const poll = (device_code: string) => post('/v1/auth/device/token', { device_code });
  const wait = (seconds: number) => easel.clock.advance(seconds * 1000);
  const approve = (person: WebPerson, user_code: string) => person.submit('/device', { do: 'approve', user_code });

  test('start answers a secret for the program and a short code for the person', async () => {
    const one = await start();
    const two = await start();
    expect(one).toEqual({
      device_code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `http://localhost:${easel.port}/device`,
      verification_uri_complete: `http://localhost:${easel.port}/device?user_code=${one.user_code}`,
      interval: 5,
      expires_in: 600,
    });
    expect([two.device_code, two.user_code]).not.toEqual([one.device_code, one.user_code]);
    expect(one.verification_uri_complete).not.toContain(one.device_code);
    expect((await easel.fetch('/v1/auth/device/start', { method: 'POST' })).status).toBe(201);
  });

  test('pending, then approved once: the token acts for the person who approved', async () => {
    const { device_code, user_code } = await start();
    expect((await poll(device_code)).body).toEqual({ status: 'pending', interval: 5 });
    expect(await approve(ada, user_code)).toMatchObject({ status: 303, location: '/device/done' });
    wait(5);
    const { status, body } = await poll(device_code);
    expect([status, body]).toEqual([200, { status: 'approved', token: expect.stringMatching(/^so_[0-9a-f]{64}$/), user_id: ada.userId }]);
    const me = await (await easel.fetch('/v1/me', { token: body.token })).json();
    expect(me).toMatchObject({ user: { id: ada.userId }, token: { kind: 'personal' } });
    wait(5);
    expect(await poll(device_code)).toMatchObject({ status: 400, body: { error: 'invalid_grant', code: 'DEVICE_CODE_UNKNOWN' } });
  });

  test('twenty concurrent polls get the token once', async () => {
    const { device_code, user_code } = await start();
    await approve(ada, user_code);
    const replies = await Promise.all(Array.from({ length: 20 }, () => poll(device_code)));
    expect(replies.filter(({ body }) => body.status === 'approved')).toHaveLength(1);
    expect(replies.filter(({ body }) => body.code === 'DEVICE_CODE_UNKNOWN')).toHaveLength(19);
  });

  test('an Idempotency-Key keeps no answer, so that the token is delivered once and stored nowhere', async () => {
    const { device_code, user_code } = await start();
    await approve(ada, user_code);
    const body = JSON.stringify({ device_code });
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'a-key-of-sixteen-characters' };
    const ask = async () => (await easel.fetch('/v1/auth/device/token', { method: 'POST', body, headers })).json();
    expect(await ask()).toMatchObject({ status: 'approved' });
    expect(await ask()).toMatchObject({ code: 'DEVICE_CODE_UNKNOWN' });
  });

  test('the token is nowhere in the database in the clear', async () => {
    const { device_code, user_code } = await start();
    await approve(ada, user_code);
    const rows = await easel.sql<{ all: string }[]>`
      select row_to_json(d)::text || encode(sealed_token, 'escape') as all from device_login d where user_code = ${user_code.replace('-', '')}`;
    const { body } = await poll(device_code);
    expect(body.token).toMatch(/^so_/);
    for (const { all } of rows) for (const secret of [body.token, body.token.slice(3), device_code]) expect(all).not.toContain(secret);
    expect(rows).toHaveLength(1);
  });

  test('a poll that comes too early makes the interval five seconds longer, each time', async () => {
    const { device_code } = await start();
    await poll(device_code);
    wait(4);
    const early = await poll(device_code);
    expect(early).toMatchObject({ status: 400, body: { success: false, error: 'slow_down', code: 'SLOW_DOWN' } });
    expect(early.headers.get('retry-after')).toBe('10');
    wait(9);
    expect((await poll(device_code)).headers.get('retry-after')).toBe('15');
    wait(15);
    expect(await poll(device_code)).toMatchObject({ status: 200, body: { status: 'pending', interval: 15 } });
    for (let tried = 0; tried < 20; tried += 1) await poll(device_code);
    expect((await poll(device_code)).headers.get('retry-after')).toBe(String(LIMITS.devicePollIntervalMaxS));
  });

  test('an approved login is delivered however early the poll comes', async () => {
    const { device_code, user_code } = await start();
    await poll(device_code);
    await approve(ada, user_code);
    expect((await poll(device_code)).body.status).toBe('approved');
  });

  test('after ten minutes the code has expired, for the program and for the page', async () => {
    const { device_code, user_code } = await start();
    wait(599);
    expect((await poll(device_code)).body.status).toBe('pending');
    wait(1);
    expect(await poll(device_code)).toMatchObject({ status: 400, body: { error: 'expired_token', code: 'DEVICE_CODE_EXPIRED' } });
    expect((await ada.open(`/device?user_code=${user_code}`)).status).toBe(400);
    expect((await approve(ada, user_code)).status).toBe(400);
    // A login that was approved in time is not delivered late.
    const late = await start();
    await approve(ada, late.user_code);
    wait(600);
    expect((await poll(late.device_code)).body.code).toBe('DEVICE_CODE_EXPIRED');
    wait(48 * 3600);
    await easel.sweep();
    expect((await poll(late.device_code)).body.code).toBe('DEVICE_CODE_UNKNOWN');
  });

  test('a denied login answers access_denied, once', async () => {
    const { device_code, user_code } = await start();
    const denied = await ada.submit('/device', { do: 'deny', user_code });
    expect([denied.status, denied.text.includes('Denied')]).toEqual([200, true]);
    expect(await poll(device_code)).toMatchObject({ status: 400, body: { error: 'access_denied', code: 'DEVICE_LOGIN_DENIED' } });
    expect((await poll(device_code)).body.code).toBe('DEVICE_CODE_UNKNOWN');
    expect((await approve(ada, user_code)).status).toBe(400);
  });

  test('codes that were never given are unknown', async () => {
    for (const code of ['x', 'A'.repeat(43), 'BDFH-KMPR']) expect((await poll(code)).body.code).toBe('DEVICE_CODE_UNKNOWN');
    // The short code is no secret of the program.
    const { user_code } = await start();
    expect((await poll(user_code)).body.code).toBe('DEVICE_CODE_UNKNOWN');
    expect((await post('/v1/auth/device/token', {})).body).toMatchObject({ code: 'INVALID_REQUEST', param: 'device_code' });
  });

  test('[I6] somebody else than expected signs in: the page warns, and so does the answer', async () => {
    const eve = await WebPerson.signedIn(easel, 'eve@example.com');
    const { device_code, user_code } = await start({ expected_email: 'ADA@example.com' });
    const path = `/device?user_code=${user_code}`;
    expect((await ada.open(path)).text).not.toContain('do not approve');
    const page = await eve.open(path);
    expect(page.text).toContain('It expects <strong>ada@example.com</strong>, and you are signed in as <strong>eve@example.com</strong>');
    await approve(eve, user_code);
    const { body } = await poll(device_code);
    expect(body).toMatchObject({ user_id: eve.userId, warn: 'Signed in as eve@example.com; ada@example.com was expected.' });
    const own = await start({ expected_email: 'ada@example.com' });
    await approve(ada, own.user_code);
    expect((await poll(own.device_code)).body).not.toHaveProperty('warn');
  });

  test('[I6] the page shows code, program, machine and address, and its GET approves nothing', async () => {
    const names = { client_name: 'ship<b>it', host_name: 'build \u202e\n7' };
    const { device_code, user_code } = await start(names);
    for (let times = 0; times < 3; times += 1) {
      const { text, status } = await ada.open(`/device?user_code=${user_code}`);
      expect(status).toBe(200);
      for (const shown of [user_code, 'ship&#60;b&#62;it', 'build 7', '127.0.0.1', 'ada@example.com']) expect(text).toContain(shown);
    }
    await ada.open(`/device?user_code=${user_code}&do=approve`);
    wait(5);
    expect((await poll(device_code)).body.status).toBe('pending');
  });

  test('[I6] only a form of our own page approves, and only for a person with a session', async () => {
    const { device_code, user_code } = await start();
    const fields = { do: 'approve', user_code };
    for (const origin of ['https://evil.example', `http://page.localhost:${easel.port}`, 'null', undefined]) {
      expect((await ada.submit('/device', fields, { origin })).status).toBe(403);
    }
    const toSignIn = `/sign-in?return_to=${encodeURIComponent(`/device?user_code=${user_code}`)}`;
    expect(await new WebPerson(easel).submit('/device', fields)).toMatchObject({ status: 303, location: toSignIn });
    // A token must not beget tokens that outlive it.
    const { token } = await easel.newUser();
    const headers = { authorization: `Bearer ${token}` };
    expect(await new WebPerson(easel).submit('/device', fields, { origin: easel.baseUrl, headers })).toMatchObject({ status: 303 });
    wait(5);
    expect((await poll(device_code)).body.status).toBe('pending');
  });

  test('[I6] a login is approved once, by whoever was first', async () => {
    const bob = await WebPerson.signedIn(easel, 'bob@example.com');
    const { device_code, user_code } = await start();
    const replies = await Promise.all([approve(ada, user_code), approve(bob, user_code), approve(ada, user_code), approve(bob, user_code)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([303, 400, 400, 400]);
    expect((await poll(device_code)).body.status).toBe('approved');
  });

  test('[I6] a token that was revoked before it was fetched is not delivered', async () => {
    const { device_code, user_code } = await start();
    await approve(ada, user_code);
    const { tokens } = JSON.parse((await ada.call('GET', '/v1/me/tokens')).text) as { tokens: { id: string; name: string }[] };
    expect(tokens[0]?.name).toBe('Device login: a program');
    await ada.call('DELETE', `/v1/me/tokens/${tokens[0]?.id}`);
    expect((await poll(device_code)).body.code).toBe('DEVICE_LOGIN_DENIED');
  });

  test('[I6] an account that is gone gets no token', async () => {
    const gone = await WebPerson.signedIn(easel, 'gone@example.com');
    const { device_code, user_code } = await start();
    await approve(gone, user_code);
    await easel.sql`delete from account where id = ${gone.userId}`;
    expect((await poll(device_code)).body.code).toBe('DEVICE_CODE_UNKNOWN');
  });

  test('the page after the approval shows the same token once, and only to that person', async () => {
    const { device_code, user_code } = await start();
    await approve(ada, user_code);
    const kept = [...ada.cookies].find(([, value]) => value.startsWith('so_'));
    expect(kept?.[0]).toBe('device_token');
    const { body } = await poll(device_code);
    const [first, second] = [await ada.open('/device/done'), await ada.open('/device/done')];
    expect(first.text).toContain(body.token);
    expect(first.headers.get('cache-control')).toBe('no-store');
    expect(second.text).not.toContain('so_');
    // A cookie that another host has planted.
    const bob = await WebPerson.signedIn(easel, 'bob@example.com');
    bob.cookies.set('device_token', body.token);
    expect((await bob.open('/device/done')).text).not.toContain(body.token);
    expect(await new WebPerson(easel).open('/device/done')).toMatchObject({ status: 303 });
  });

  test('who is not signed in is sent to sign in, with the expected address as a hint, and back', async () => {
    const { user_code } = await start({ expected_email: 'ada@example.com' });
    const { status, location } = await new WebPerson(easel).open(`/device?user_code=${user_code}`);
    const url = new URL(location ?? '', easel.baseUrl);
    expect([status, url.pathname, url.searchParams.get('return_to'), url.searchParams.get('login_hint')]).toEqual([
      303,
      '/sign-in',
      `/device?user_code=${user_code}`,
      'ada@example.com',
    ]);
  });

  test.each(['lower', 'spaced', 'joined'])('a code may be typed %s', async (how) => {
    const { user_code } = await start();
    const typed =
      { lower: user_code.toLowerCase(), spaced: ` ${user_code.replace('-', ' ')} `, joined: user_code.replace('-', '') }[how] ?? '';
    expect((await ada.open(`/device?${new URLSearchParams({ user_code: typed })}`)).text).toContain('Approve this device?');
  });

  test('one network begins a bounded number of logins', async () => {
    const begin = () => post('/v1/auth/device/start', {});
    for (let begun = 0; begun < LIMITS.deviceLoginsPerNetworkMax; begun += 1) expect((await begin()).status).toBe(201);
    expect(await begin()).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    wait(600);
    expect((await begin()).status).toBe(201);
  });

  test('one network tries a bounded number of short codes, on the page and by its form', async () => {
    const bob = await WebPerson.signedIn(easel, 'guesser@example.com');
    for (let tried = 0; tried < LIMITS.deviceCodesPerTenMinutes; tried += 1) await bob.open('/device?user_code=BBBB-BBBB');
    expect((await bob.open('/device?user_code=BBBB-BBBB')).status).toBe(429);
    const { user_code } = await start();
    expect((await approve(bob, user_code)).status).toBe(429);
    wait(600);
    expect((await bob.open('/device')).status).toBe(200);
  });

  test('one network polls a bounded number of times a minute', async () => {
    const { device_code } = await start();
    const replies = await Promise.all(Array.from({ length: LIMITS.devicePollsPerMinutePerAddress + 1 }, () => poll(device_code)));
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(1);
  });

  test('beyond the logins that may wait in all, starts are refused and what waits goes on', async () => {
    const { device_code, user_code } = await start();
    await easel.sql`
      insert into device_login (device_sha256, user_code, public_key, status, address, network, interval_s, created_at_ms, expires_at_ms)
      select decode(md5(n::text) || md5('x' || n), 'hex'), 'c' || n, '', 'pending', '', 'n' || n, 5, 0, ${easel.clock.nowMs() + 60_000}
      from generate_series(1, ${LIMITS.deviceLoginsMax}) as n`;
    expect(await post('/v1/auth/device/start', {})).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    await approve(ada, user_code);
    expect((await poll(device_code)).body.status).toBe('approved');
    await easel.sql`delete from device_login where network like 'n%'`;
  });
});
