/** Administrators change who may what and suspend people; what is open ends, and lifting a suspension restores everything. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChannelClient } from '../../../realtime/channel-client.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { mailsTo, ok, Visitor } from '../../../support/visitor.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel({ settings: { TRUST_PROXY: 'true' } });
});
afterAll(() => easel.close());

const change = (userId: string, body: object, token = easel.adminToken, headers = {}) =>
  easel.fetch(`/v1/admin/people/${userId}`, { token, ...patch(body, headers) });
const suspend = (userId: string, reason = 'Spam') => ok(change(userId, { suspended: { reason } }));
const lift = (userId: string) => ok(change(userId, { suspended: null }));
const me = (token: string) => easel.fetch('/v1/me', { token });

test('only administrators get in, whatever they call', async () => {
  const { userId, token } = await easel.newUser();
  await easel.sql`update account set is_staff = true where id = ${userId}`;
  for (const path of [
    'people',
    'workspaces',
    'artifacts',
    'mails',
    'deliveries',
    'jobs',
    'quotas',
    'health',
    'flags',
    'audit',
    'slow-turns',
  ]) {
    expect([path, (await easel.fetch(`/v1/admin/${path}`)).status]).toEqual([path, 401]);
    expect(await refusal(easel.fetch(`/v1/admin/${path}`, { token }))).toEqual([403, 'ADMIN_REQUIRED', undefined]);
    expect([path, (await easel.fetch(`/v1/admin/${path}?`, { token: easel.adminToken })).status]).toEqual([path, 200]);
  }
});

test('people are found by a part of their address, by name and by id, page by page', async () => {
  const made = [];
  for (const name of ['Zora', 'Zoran', 'Zorana']) {
    easel.clock.advance(1);
    const user = await easel.newUser('pro');
    await easel.sql`update account set name = ${name}, email = ${`${name}@Zoo.example`} where id = ${user.userId}`;
    made.push(user.userId);
  }
  const find = async (query: string) => json(await ok(easel.fetch(`/v1/admin/people?${query}`, { token: easel.adminToken })));
  const first = await find('q=zoo.EXAMPLE&limit=2&count=true');
  expect([first.people.map(({ name }: { name: string }) => name), first.has_more, first.total]).toEqual([['Zorana', 'Zoran'], true, 3]);
  const rest = await find(`q=zoo.example&limit=2&cursor=${first.next_cursor}`);
  expect([rest.people.map(({ name }: { name: string }) => name), rest.has_more]).toEqual([['Zora'], false]);
  expect((await find(`q=${made[1]}`)).people).toMatchObject([{ id: made[1], tier: 'pro', is_admin: false, suspended: null, linked: [] }]);
  // What patterns of SQL mean is plain text here.
  expect((await find('q=%25zoo')).people).toEqual([]);
  expect((await find('q=zoran&role=admin')).people).toEqual([]);
});

test('a suspended person’s tokens, sessions, sockets and sign-ins end, and come back with the lifting', async () => {
  const visitor = new Visitor(easel, { address: '198.51.100.7' });
  const email = 'mallory@example.com';
  const userId = await visitor.signUp(email, 'correct horse battery staple');
  const { token } = await json(await ok(visitor.post('/v1/me/tokens', { name: 'mine' }), 201));
  await easel.sql`update account set tier = 'pro' where id = ${userId}`;
  const page = await published(easel, { token }, { visibility: 'public', slug: 'mallorys' });
  const socket = await ChannelClient.open(easel.port, page.id, { token });
  const { body: stream } = await easel.fetch(`/v1/data/${page.id}/changes`, { token, headers: { accept: 'text/event-stream' } });

  await suspend(userId, 'Phishing');
  await expect.poll(() => socket.ended?.code).toBe(4401);
  // The stream ends by itself.
  await new Response(stream).text();
  const refused = await me(token);
  expect([refused.status, await json(refused)]).toMatchObject([
    401,
    { code: 'UNAUTHORIZED', reason: 'suspended', hint: expect.any(String) },
  ]);
  expect((await visitor.fetch('/v1/me')).status).toBe(401);
  const again = new Visitor(easel, { address: '198.51.100.8' });
  expect(await refusal(again.post('/v1/auth/password/sign-in', { email, password: 'correct horse battery staple' }))).toEqual([
    403,
    'ACCOUNT_SUSPENDED',
    undefined,
  ]);
  await expect(again.signInByCode(email)).rejects.toThrow('ACCOUNT_SUSPENDED');
  // Its pages are suspended apart.
  expect((await easel.fetch(`/v1/data/${page.id}/json`)).status).toBe(200);
  const [mail] = await mailsTo(easel, email).then((mails) => mails.filter(({ kind }) => kind === 'notice'));
  expect(mail?.text).toContain('Phishing');

  await lift(userId);
  expect((await me(token)).status).toBe(200);
  expect((await visitor.fetch('/v1/me')).status).toBe(200);
  await again.signInByCode(email);
});

test('what applies to a person applies to every linked account, and shows on each', async () => {
  const [one, other] = [await easel.newUser(), await easel.newUser()];
  await easel.sql`update account set person_id = (select person_id from account where id = ${one.userId}) where id = ${other.userId}`;
  await suspend(other.userId);
  expect([(await me(one.token)).status, (await me(other.token)).status]).toEqual([401, 401]);
  const shown = await json(await easel.fetch(`/v1/admin/people/${one.userId}`, { token: easel.adminToken }));
  expect(shown).toMatchObject({ linked: [other.userId], suspended: { reason: 'Spam' } });
  await lift(one.userId);
  expect([(await me(one.token)).status, (await me(other.token)).status]).toEqual([200, 200]);
});

test('a role takes effect at once, and the last administrator stays', async () => {
  const second = await easel.newUser();
  const admin = (await json(await me(easel.adminToken))).user.id;
  const list = (token: string) => easel.fetch('/v1/admin/people', { token });
  expect((await list(second.token)).status).toBe(403);
  expect(await refusal(change(admin, { is_admin: false }))).toEqual([409, 'LAST_ADMIN', undefined]);
  await ok(change(second.userId, { is_admin: true, is_staff: true }));
  expect((await list(second.token)).status).toBe(200);
  // A suspended administrator administers nothing, so the other one is the last again.
  expect(await refusal(change(admin, { suspended: { reason: 'x' } }))).toEqual([409, 'SELF_SUSPENSION', 'suspended']);
  await suspend(second.userId);
  expect(await refusal(change(admin, { is_admin: false }))).toEqual([409, 'LAST_ADMIN', undefined]);
  await lift(second.userId);
  // Two who remove each other at the same time cannot both succeed.
  const both = await Promise.all([change(admin, { is_admin: false }, second.token), change(second.userId, { is_admin: false })]);
  const left = await easel.sql<{ id: string }[]>`select id from account where is_admin`;
  expect([both.map(({ status }) => status).sort(), left.length]).toEqual([[200, 403], 1]);
  await easel.sql`update account set is_admin = (id = ${admin})`;
});

test('all sessions of a person end at once, and tokens stay', async () => {
  const visitor = new Visitor(easel, { address: '198.51.100.8' });
  const userId = await visitor.signUp('everywhere@example.com', 'correct horse battery staple');
  const { token } = await json(await ok(visitor.post('/v1/me/tokens', { name: 'mine' }), 201));
  const signOut = () => ok(easel.fetch(`/v1/admin/people/${userId}/sign-out`, { token: easel.adminToken, method: 'POST' }));
  expect((await visitor.fetch('/v1/me')).status).toBe(200);
  expect(await json(await signOut())).toEqual({ ended: 1 });
  expect([(await visitor.fetch('/v1/me')).status, (await me(token)).status]).toEqual([401, 200]);
  expect(await json(await signOut())).toEqual({ ended: 0 });
  const { entries } = await json(
    await ok(easel.fetch(`/v1/admin/audit?target=${userId}&action=person.sign_out`, { token: easel.adminToken })),
  );
  expect(entries).toMatchObject([{ action: 'person.sign_out', detail: { sessions: 1 } }]);
  const other = '/v1/admin/people/usr_aaaaaaaaaaaaaaaaaaaaaaaa/sign-out';
  expect(await refusal(easel.fetch(other, { token: easel.adminToken, method: 'POST' }))).toEqual([404, 'USER_NOT_FOUND', undefined]);
});

test('a person is told by /v1/me what they may do here', async () => {
  const { userId, token } = await easel.newUser();
  const rights = async () => {
    const { is_admin, is_staff } = await json(await ok(me(token)));
    return [is_admin, is_staff];
  };
  expect(await rights()).toEqual([false, false]);
  await ok(change(userId, { is_staff: true }));
  expect(await rights()).toEqual([false, true]);
  await ok(change(userId, { is_staff: false, is_admin: true }));
  expect(await rights()).toEqual([true, true]);
  await ok(change(userId, { is_admin: false }));
});

test('an answer can be sent back, and a change behind one’s back is refused', async () => {
  const { userId } = await easel.newUser();
  const read = await easel.fetch(`/v1/admin/people/${userId}`, { token: easel.adminToken });
  const etag = read.headers.get('etag') ?? '';
  const shown = await json(read);
  await ok(change(userId, shown, easel.adminToken, { 'if-match': etag }));
  await ok(change(userId, { tier: 'team' }, easel.adminToken, { 'if-match': etag }));
  expect(await refusal(change(userId, { tier: 'pro' }, easel.adminToken, { 'if-match': etag }))).toEqual([
    409,
    'VERSION_CONFLICT',
    undefined,
  ]);
  expect(await refusal(change(userId, { suspended: { reason: ' ' } }))).toEqual([400, 'INVALID_REQUEST', 'suspended.reason']);
  expect(await refusal(change('usr_aaaaaaaaaaaaaaaaaaaaaaaa', { tier: 'pro' }))).toEqual([404, 'USER_NOT_FOUND', undefined]);
});

test('who did what to whom is in the record of the installation, also as CSV', async () => {
  const { userId, token } = await easel.newUser();
  await ok(change(userId, { tier: 'pro' }));
  easel.clock.advance(1);
  await suspend(userId, 'Audited');
  const audit = (query: string, accept = 'application/json') =>
    easel.fetch(`/v1/admin/audit?${query}`, { token: easel.adminToken, headers: { accept } });
  const { entries } = await json(await audit(`target=${userId}`));
  expect(entries).toMatchObject([
    { action: 'person.suspend', workspace_id: null, detail: { reason: 'Audited', public_pages: 0 } },
    { action: 'person.update', target: { type: 'person', id: userId }, detail: { tier: { from: 'free', to: 'pro' } } },
  ]);
  const csv = await (await audit(`target=${userId}&instance=1`, 'text/csv')).text();
  expect(csv.trim().split('\r\n')).toHaveLength(3);
  expect((await audit('', 'text/csv')).status).toBe(200);
  expect((await easel.fetch('/v1/admin/audit', { token })).status).toBe(401);
});

test('the storm: a person who is suspended and restored again and again ends as the last call says', async () => {
  const { userId, token } = await easel.newUser();
  const calls = Array.from({ length: 20 }, (_, at) => change(userId, { suspended: at % 2 === 0 ? { reason: `r${at}` } : null }));
  await Promise.all([...calls, ...Array.from({ length: 20 }, () => me(token))]);
  const shown = await json(await easel.fetch(`/v1/admin/people/${userId}`, { token: easel.adminToken }));
  expect((await me(token)).status).toBe(shown.suspended === null ? 200 : 401);
  await suspend(userId);
  expect(await refusal(easel.fetch('/v1/me/tokens', { token, ...post({ name: 'x' }) }))).toEqual([401, 'UNAUTHORIZED', undefined]);
});
