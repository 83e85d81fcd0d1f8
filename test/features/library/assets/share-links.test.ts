/** Share links and what is shared with people outside: gates, ends, views, pages. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, post, refusal } from '../../../support/requests.ts';
import { ok, Visitor } from '../../../support/visitor.ts';
import { PNG } from '../../data/blobs/sample-files.ts';
import { made, type SharingStage, sharePerson, sharingStage, statusOf } from '../../sharing/external-stage.ts';
import { person } from '../../workspaces/workspace-stage.ts';
import { delivered, link, MINE, upload } from './asset-stage.ts';

const HOUR_MS = 3_600_000;
const PASSWORD = 'correct horse battery';

let easel: TestEasel;
let user: TestUser;
let stage: SharingStage;
beforeAll(async () => {
  easel = await startTestEasel();
  user = await easel.newUser();
  stage = await sharingStage(easel, 'Assets');
});
afterAll(() => easel.close());

const open = async (path: string, visitor = new Visitor(easel)) => {
  const reply = await visitor.fetch(path);
  return { status: reply.status, text: await reply.text(), to: reply.headers.get('location') };
};
const linksOf = async (id: string) => (await json(await easel.fetch(`${MINE}/${id}/links`, { token: user.token }))).links;
const linked = (id: string, secret: string) => `/v1/files/${id}/content?link=${secret}`;

test('a link opens the newest version to everybody, counts its views, and ends at once', async () => {
  const file = await delivered(easel, user, PNG, { name: 'logo.png', type: 'image/png' });
  const { id, path, secret } = await link(easel, user, file.id);
  const page = await open(path);
  expect(page.status).toBe(200);
  expect(page.text).toContain(`<img class="preview" src="${linked(file.id, secret)}"`);
  const image = await easel.fetch(linked(file.id, secret));
  expect([image.status, image.headers.get('cross-origin-resource-policy')]).toEqual([200, 'cross-origin']);
  expect(Buffer.from(await image.arrayBuffer())).toEqual(PNG);
  // A link of one file opens no other, and no older version.
  const another = await delivered(easel, user, 'other');
  expect((await easel.fetch(linked(another.id, secret))).status).toBe(404);
  expect((await easel.fetch(`${linked(file.id, secret)}&version=1`)).status).toBe(404);

  await open(path, new Visitor(easel, { userAgent: 'Googlebot/2.1 (+http://www.google.com/bot.html)' }));
  expect(await linksOf(file.id)).toMatchObject([
    { id, gate: 'none', views: 1, revokedAt: null, url: expect.stringMatching(new RegExp(`${path}$`)) },
  ]);

  await ok(easel.fetch(`${MINE}/${file.id}/links/${id}`, { method: 'DELETE', token: user.token }));
  expect([(await open(path)).status, (await easel.fetch(linked(file.id, secret))).status]).toEqual([404, 404]);
  expect((await linksOf(file.id))[0].revokedAt).not.toBeNull();
});

test('a link ends at its time, and is forgotten long after', async () => {
  const file = await delivered(easel, user, 'for an hour');
  const past = await easel.fetch(`${MINE}/${file.id}/links`, { token: user.token, ...post({ expiresAt: '2020-01-01T00:00:00Z' }) });
  expect(await refusal(past)).toEqual([400, 'INVALID_REQUEST', 'expiresAt']);
  const { path } = await link(easel, user, file.id, { expiresAt: new Date(easel.clock.nowMs() + HOUR_MS).toISOString() });
  expect((await open(path)).status).toBe(200);
  easel.clock.advance(HOUR_MS);
  expect((await open(path)).status).toBe(404);
  expect(await linksOf(file.id)).toHaveLength(1);
  easel.clock.advance(LIMITS.assetLinksKeptMs);
  await easel.sweep();
  expect(await linksOf(file.id)).toEqual([]);
});

test('a password is asked for, in the language of the visitor, and only a few times', async () => {
  const file = await delivered(easel, user, 'secret words', { name: 'words.txt' });
  const { path, secret } = await link(easel, user, file.id, { gate: 'password', password: PASSWORD });
  const visitor = new Visitor(easel, { languages: 'es-ES,es;q=0.9' });
  const asked = await open(path, visitor);
  expect(asked.text).toContain('Este archivo está protegido');
  expect(asked.text).not.toContain('words.txt');
  const form = (password: string, by = visitor, to = path) =>
    by.fetch(to, {
      method: 'POST',
      body: new URLSearchParams({ password }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const wrong = await form('wrong');
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('La contraseña no es correcta.')]);
  expect((await visitor.fetch(linked(file.id, secret))).status).toBe(404);
  const right = await form(PASSWORD);
  expect([right.status, right.headers.get('location')]).toEqual([303, path]);
  expect((await open(path, visitor)).text).toContain('words.txt');
  expect(await (await visitor.fetch(linked(file.id, secret))).text()).toBe('secret words');
  // A password opens its link alone, and that of another one locks none.
  const second = await link(easel, user, file.id, { gate: 'password', password: PASSWORD });
  expect((await open(second.path, visitor)).text).not.toContain('words.txt');
  expect((await form(PASSWORD, visitor, second.path)).status).toBe(303);
  for (const one of [path, second.path]) expect((await open(one, visitor)).text).toContain('words.txt');

  const guesser = new Visitor(easel);
  for (let at = 0; at < LIMITS.pagePasswordTriesPerQuarter; at += 1) expect((await form('wrong', guesser)).status).toBe(400);
  const late = await form(PASSWORD, guesser);
  expect([late.status, await late.text()]).toEqual([429, expect.stringContaining('too many attempts')]);
  expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('a link takes so many wrong passwords in all, from whatever networks', async () => {
  const file = await delivered(easel, user, 'guessed from everywhere');
  const { path } = await link(easel, user, file.id, { gate: 'password', password: PASSWORD });
  const tries = () => easel.sql<{ tries: number }[]>`
    select cardinality(w.taken_at_ms) as tries from rate_window w where w.limit_name = 'sharePasswordTriesOfLink'
      and w.subject = (select id from asset_link where deliverable_id = ${file.id})`;
  const form = (password: string) =>
    new Visitor(easel).fetch(path, {
      method: 'POST',
      body: new URLSearchParams({ password }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  expect((await form('wrong')).status).toBe(400);
  expect(await tries()).toEqual([{ tries: 1 }]);
  // A right one is none of them.
  expect((await form(PASSWORD)).status).toBe(303);
  expect(await tries()).toEqual([{ tries: 1 }]);
  // As if the others had come from elsewhere.
  await easel.sql`
    update rate_window set taken_at_ms = array_fill(${easel.clock.nowMs()}::bigint, array[${LIMITS.sharePasswordTriesPerLinkPerHour}::int])
    where limit_name = 'sharePasswordTriesOfLink'`;
  expect((await form(PASSWORD)).status).toBe(429);
  easel.clock.advance(HOUR_MS);
  expect((await form(PASSWORD)).status).toBe(303);
});

test('a domain admits who is signed in with a proved address of it', async () => {
  const file = await delivered(easel, user, 'for some');
  const { path, secret } = await link(easel, user, file.id, { gate: 'domain', domain: 'Partner.Example' });
  expect(await open(path)).toMatchObject({ status: 303, to: expect.stringContaining('/sign-in?') });
  const [right, wrong] = [new Visitor(easel), new Visitor(easel)];
  await right.signInByCode('paula@partner.example');
  await wrong.signInByCode('eve@notpartner.example');
  expect((await open(path, right)).text).toContain('Download');
  expect(await (await right.fetch(linked(file.id, secret))).text()).toBe('for some');
  expect((await open(path, wrong)).text).toContain('for some people only');
  expect((await wrong.fetch(linked(file.id, secret))).status).toBe(404);
});

test('what a gate needs is said by name', async () => {
  const file = await delivered(easel, user, 'gated');
  const create = (body: object) => refusal(easel.fetch(`${MINE}/${file.id}/links`, { token: user.token, ...post(body) }));
  expect(await create({ gate: 'password' })).toEqual([400, 'INVALID_REQUEST', 'password']);
  expect(await create({ gate: 'domain' })).toEqual([400, 'INVALID_REQUEST', 'domain']);
  expect(await create({ password: PASSWORD })).toEqual([400, 'INVALID_REQUEST', 'password']);
});

test('a workspace shares a file with a person outside, who sees the newest version until the grant ends', async () => {
  const base = `${stage.path}/assets`;
  const file = await delivered(easel, stage.member, 'for the client', { base, name: 'offer.txt' });
  const resource = { resource_type: 'file', resource_id: file.id };
  const content = `/v1/files/${file.id}/content`;
  expect(await statusOf(easel, stage.client, content)).toBe(404);
  const edit = await easel.fetch(`${stage.path}/share-person`, {
    token: stage.admin.token,
    ...post({ email: stage.client.email, capability: 'edit', ...resource }),
  });
  expect(await refusal(edit)).toEqual([400, 'INVALID_REQUEST', 'capability']);
  const grant = await sharePerson(easel, stage, stage.client.email, resource);
  expect(grant).toMatchObject({ resource_type: 'file', resource_id: file.id, resource_name: 'offer.txt', capability: 'view' });
  expect((await sharePerson(easel, stage, stage.client.email, resource)).id).toBe(grant.id);
  expect(await statusOf(easel, stage.client, content)).toBe(200);
  const { shared } = await json(await easel.fetch('/v1/shared', { token: stage.client.token }));
  // The mail leads to where a person outside signs in, and not to the bytes.
  const [mail] = await easel.sql<{ text: string }[]>`select text_body as text from mail_outbox where recipient = ${stage.client.email}
    and kind = 'shared_outside'`;
  expect([mail?.text.includes('/my/shared'), mail?.text.includes('/v1/files/')]).toEqual([true, false]);
  expect(shared).toMatchObject([
    { grant_id: grant.id, resource_type: 'file', name: 'offer.txt', url: expect.stringMatching(new RegExp(`${content}$`)) },
  ]);
  // Nothing else of the library, and no older version.
  const loose = await json(await upload(easel, stage.member, 'inside', { base }));
  expect(await statusOf(easel, stage.client, `/v1/files/${loose.id}/content`)).toBe(404);
  expect(await statusOf(easel, stage.client, `${content}?version=1`)).toBe(404);
  expect(await statusOf(easel, stage.client, base)).toBe(404);
  await ok(easel.fetch(`${stage.path}/grants/${grant.id}`, { method: 'DELETE', token: stage.admin.token }));
  expect(await statusOf(easel, stage.client, content)).toBe(404);

  const again = await sharePerson(easel, stage, stage.client.email, resource);
  await ok(easel.fetch(`${base}/${file.id}`, { method: 'DELETE', token: stage.member.token }));
  const { grants } = await json(await easel.fetch(`${stage.path}/grants`, { token: stage.admin.token }));
  expect(grants.map(({ id }: { id: string }) => id)).not.toContain(again.id);
});

test('a client organisation opens a file through its members; personal files and those of others cannot be shared so', async () => {
  const base = `${stage.path}/assets`;
  const file = await delivered(easel, stage.owner, 'for all of them', { base });
  const personal = await delivered(easel, stage.admin, 'my own');
  const member = await person(easel, 'cora');
  const sharee = await made(easel, stage.admin, `${stage.path}/sharees`, { name: 'Client Ltd' });
  await made(easel, stage.admin, `${stage.path}/sharees/${sharee.id}/members`, { email: member.email });
  const grant = { subject_type: 'sharee', subject_id: sharee.id, resource_type: 'file', capability: 'view' };
  const refused = await easel.fetch(`${stage.path}/grants`, { token: stage.admin.token, ...post({ ...grant, resource_id: personal.id }) });
  expect(await refusal(refused)).toEqual([404, 'FILE_NOT_FOUND', 'resource_id']);
  await made(easel, stage.admin, `${stage.path}/grants`, { ...grant, resource_id: file.id });
  expect(await statusOf(easel, member, `/v1/files/${file.id}/content`)).toBe(200);
});

test('members who have not stored a file neither see nor make its links', async () => {
  const base = `${stage.path}/assets`;
  const file = await delivered(easel, stage.admin, 'of the admin', { base });
  await link(easel, stage.admin, file.id, {}, base);
  const path = `${base}/${file.id}/links`;
  expect(await statusOf(easel, stage.member, path)).toBe(403);
  expect((await easel.fetch(path, { token: stage.member.token, ...post({}) })).status).toBe(403);
  expect(await statusOf(easel, stage.owner, path)).toBe(200);
});

test('a file has a bounded number of links, with those that have ended', async () => {
  const file = await delivered(easel, user, 'often shared');
  await easel.sql`
    insert into asset_link (id, deliverable_id, secret_sha256, gate, revoked_at_ms, created_by, created_at_ms)
    select 'ended' || n, ${file.id}, sha256(('ended' || n)::bytea), 'none', 0, ${user.userId}, 0
    from generate_series(1, ${LIMITS.assetLinksListedMax}) n`;
  const refused = await easel.fetch(`${MINE}/${file.id}/links`, { token: user.token, ...post({}) });
  expect((await refusal(refused))[1]).toBe('ASSET_LIMIT_EXCEEDED');
});

test('a download ends with its link, its grant or its file', async () => {
  const base = `${stage.path}/assets`;
  // More than the buffers of both sockets hold.
  const content = Buffer.alloc(20 * 1024 * 1024, 'x');
  const [file, other] = [await delivered(easel, stage.admin, content, { base }), await delivered(easel, stage.admin, content, { base })];
  const grant = await sharePerson(easel, stage, stage.client.email, { resource_type: 'file', resource_id: file.id });
  const { id, secret } = await link(easel, stage.admin, file.id, {}, base);
  const begun = [
    await easel.fetch(linked(file.id, secret)),
    await easel.fetch(`/v1/files/${file.id}/content`, { token: stage.client.token }),
    await easel.fetch(`/v1/files/${other.id}/content`, { token: stage.admin.token }),
  ];
  const kept = await easel.fetch(`/v1/files/${file.id}/content`, { token: stage.admin.token });
  expect(begun.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const path of [`${base}/${file.id}/links/${id}`, `${stage.path}/grants/${grant.id}`, `${base}/${other.id}`]) {
    await ok(easel.fetch(path, { method: 'DELETE', token: stage.admin.token }));
  }
  easel.clock.advance(500);
  const ends = await Promise.all(
    begun.map((reply) =>
      reply.arrayBuffer().then(
        ({ byteLength }) => byteLength,
        () => 'ended',
      ),
    ),
  );
  expect(ends).toEqual(['ended', 'ended', 'ended']);
  expect((await kept.arrayBuffer()).byteLength).toBe(content.length);
});
