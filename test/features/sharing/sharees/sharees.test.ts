/** Client organisations, their people, tokens and notes, and what they opened. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { PageVisitor } from '../../../support/page-visitor.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { auditOf } from '../../workspaces/workspace-stage.ts';
import { made, pageIn, type SharingStage, setFeature, sharePerson, sharingStage, statusOf } from '../external-stage.ts';

let easel: TestEasel;
let stage: SharingStage;
beforeAll(async () => {
  easel = await startTestEasel();
  stage = await sharingStage(easel, 'Sharees');
});
afterAll(() => easel.close());

const there = (path: string, init: RequestInit = {}) => easel.fetch(`${stage.path}/sharees${path}`, { token: stage.admin.token, ...init });

describe('a client organisation', () => {
  test('is made, shown, changed against its version, listed and deleted, each in the audit', async () => {
    const org = await made(easel, stage.admin, `${stage.path}/sharees`, { name: ' Client Ltd ', type: 'client' });
    expect(org).toMatchObject({
      name: 'Client Ltd',
      type: 'client',
      member_count: 0,
      properties: {},
      branding: { logo: null, color: null },
    });
    const shown = await there(`/${org.id}`);
    const etag = shown.headers.get('etag') ?? '';
    expect(await json(shown)).toEqual(org);
    const branding = { logo: 'https://client.example/logo.svg', color: '#0b5fff' };
    easel.clock.advance(1);
    const change = { type: null, properties: { region: 'north', size: 3 }, branding };
    const changed = await there(`/${org.id}`, patch(change, { 'if-match': etag }));
    expect(await json(changed)).toMatchObject({ ...change, name: 'Client Ltd' });
    expect((await refusal(there(`/${org.id}`, patch({ name: 'Late' }, { 'if-match': etag })))).slice(0, 2)).toEqual([
      409,
      'VERSION_CONFLICT',
    ]);
    expect((await json(await there('?count=true'))).total).toBe(1);
    expect((await there(`/${org.id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await refusal(there(`/${org.id}`))).slice(0, 2)).toEqual([404, 'SHAREE_NOT_FOUND']);
    const actions = (await auditOf(easel, stage.id)).map(([action, actor, target]) => [action, actor, target]);
    expect(actions.slice(-3)).toEqual([
      ['sharee.create', 'adam', 'Client Ltd'],
      ['sharee.update', 'adam', 'Client Ltd'],
      ['sharee.delete', 'adam', 'Client Ltd'],
    ]);
  });

  test.each([
    ['a colour that is none', { branding: { color: 'blue' } }],
    ['a logo that is no https address', { branding: { logo: 'javascript:alert(1)' } }],
    ['too many properties', { properties: { all: 'x'.repeat(17_000) } }],
  ])('refuses %s', async (_what, body) => {
    const org = await made(easel, stage.admin, `${stage.path}/sharees`, { name: 'Strict' });
    expect((await refusal(there(`/${org.id}`, patch(body)))).slice(0, 2)).toEqual([400, 'INVALID_REQUEST']);
  });

  test('is for those who run the workspace, and made only where external sharing is on', async () => {
    for (const [who, status] of [[stage.member, 403] as const, [stage.stranger, 404] as const])
      expect(await statusOf(easel, who, `${stage.path}/sharees`)).toBe(status);
    await setFeature(easel, stage.id, false);
    expect((await refusal(there('', post({ name: 'No' })))).slice(0, 2)).toEqual([403, 'EXTERNAL_SHARING_NOT_ENTITLED']);
    expect((await there('')).status).toBe(200);
    await setFeature(easel, stage.id, true);
  });
});

test('people are added once by address, whether or not they have an account, and insiders never', async () => {
  const org = await made(easel, stage.admin, `${stage.path}/sharees`, { name: 'People' });
  const add = (email: string) => there(`/${org.id}/members`, post({ email }));
  const [first, again] = [await add('New@client.example'), await add('new@client.example')];
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(await json(first)).toMatchObject({ email: 'new@client.example', has_account: false, name: null });
  expect(await json(await add(stage.client.email))).toMatchObject({ has_account: true, name: 'clara' });
  expect(await refusal(add(stage.member.email))).toEqual([409, 'ALREADY_MEMBER', 'email']);
  const { members, total } = await json(await there(`/${org.id}/members?count=true`));
  expect([members.map(({ email }: { email: string }) => email).sort(), total]).toEqual([
    [stage.client.email, 'new@client.example'].sort(),
    2,
  ]);
  expect((await json(await there(`/${org.id}`))).member_count).toBe(2);
});

describe('a token of somebody outside', () => {
  test('opens what their organisation was given, and ends by revocation, with their membership and with the organisation', async () => {
    const org = await made(easel, stage.admin, `${stage.path}/sharees`, { name: 'Tokens' });
    const member = await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members`, { email: 'robot@client.example' });
    const page = await pageIn(easel, stage);
    await made(easel, stage.admin, `${stage.path}/grants`, {
      ...{ subject_type: 'sharee', subject_id: org.id, resource_type: 'artifact', resource_id: page.id, capability: 'view' },
    });
    const tokens = `${stage.path}/sharees/${org.id}/members/${member.id}/tokens`;
    const [one, two] = [await made(easel, stage.admin, tokens, { name: 'one' }), await made(easel, stage.admin, tokens, {})];
    expect(one).toMatchObject({ name: 'one', shown_once: true, token: expect.stringMatching(/^sox_[0-9a-f]{64}$/) });
    expect(await statusOf(easel, one, `/v1/artifacts/${page.id}`)).toBe(200);
    const listed = await json(await easel.fetch(tokens, { token: stage.admin.token }));
    expect(listed.tokens.map(({ id }: { id: string }) => id).sort()).toEqual([one.id, two.id].sort());
    expect(JSON.stringify(listed)).not.toContain('sox_');
    expect((await easel.fetch(`${tokens}/${one.id}`, { method: 'DELETE', token: stage.admin.token })).status).toBe(200);
    expect([await statusOf(easel, one, '/v1/me'), await statusOf(easel, two, '/v1/me')]).toEqual([401, 200]);
    await there(`/${org.id}/members/${member.id}`, { method: 'DELETE' });
    expect(await statusOf(easel, two, '/v1/me')).toBe(401);
    const back = await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members`, { email: 'robot@client.example' });
    const three = await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members/${back.id}/tokens`, {});
    expect(await statusOf(easel, three, `/v1/artifacts/${page.id}`)).toBe(200);
    await there(`/${org.id}`, { method: 'DELETE' });
    expect(await statusOf(easel, three, '/v1/me')).toBe(401);
  });
});

test('who opened what is told once in ten minutes for each person and page; insiders are not watched', async () => {
  const page = await pageIn(easel, stage);
  const org = await made(easel, stage.admin, `${stage.path}/sharees`, { name: 'Readers' });
  const member = await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members`, { email: stage.client.email });
  await made(easel, stage.admin, `${stage.path}/grants`, {
    ...{ subject_type: 'sharee', subject_id: org.id, resource_type: 'artifact', resource_id: page.id, capability: 'view' },
  });
  const activity = async (query = '') => {
    const reply = await easel.fetch(`${stage.path}/sharee-activity?count=true&artifact_id=${page.id}${query}`, {
      token: stage.admin.token,
    });
    const body = await json(reply);
    return [body.activity.map(({ email }: { email: string }) => email), body.total];
  };
  const openBy = (who: { token: string }) => statusOf(easel, who, `/v1/artifacts/${page.id}`);
  for (const who of [stage.client, stage.client, stage.owner, stage.admin]) await openBy(who);
  expect(await activity()).toEqual([[stage.client.email], 1]);
  easel.clock.advance(10 * 60_000);
  await openBy(stage.client);
  expect(await activity(`&sharee_id=${org.id}`)).toEqual([[stage.client.email, stage.client.email], 2]);
  expect(await activity(`&member_id=${member.id}`)).toEqual([[stage.client.email, stage.client.email], 2]);
  await easel.sql`update sharee_receipt set opened_at_ms = 0 where artifact_id = ${page.id}`;
  await easel.sweep();
  expect(await activity()).toEqual([[], 0]);
});

test('opening the page itself counts as well', async () => {
  const page = await pageIn(easel, stage);
  easel.clock.advance(3600 * 1000);
  const reader = await PageVisitor.signedIn(easel, 'reader@client.example');
  await sharePerson(easel, stage, 'reader@client.example', { resource_type: 'artifact', resource_id: page.id });
  await reader.enter(page.slug);
  expect((await reader.on(page.slug, '/')).status).toBe(200);
  const reply = await easel.fetch(`${stage.path}/sharee-activity?artifact_id=${page.id}`, { token: stage.admin.token });
  expect((await json(reply)).activity).toEqual([expect.objectContaining({ email: 'reader@client.example' })]);
});

test('notes are Markdown files: created, changed against their version, listed, bounded, and gone with the organisation', async () => {
  const org = await made(easel, stage.admin, `${stage.path}/sharees`, { name: 'Noted' });
  const note = (name: string, init: RequestInit = {}, headers: Record<string, string> = {}) =>
    there(`/${org.id}/context/${name}`, { ...init, headers: { 'content-type': 'text/markdown', ...headers } });
  const put = (name: string, body: BodyInit, headers: Record<string, string> = {}) => note(name, { method: 'PUT', body }, headers);
  const first = await put('index.md', '# Ümlaut', { 'if-none-match': '*' });
  expect([first.status, await json(first)]).toEqual([201, expect.objectContaining({ name: 'index.md', size_bytes: 9 })]);
  const read = await note('index.md');
  expect([read.headers.get('content-type'), await read.text()]).toEqual(['text/markdown; charset=utf-8', '# Ümlaut']);
  const etag = read.headers.get('etag') ?? '';
  expect((await note('index.md', {}, { 'if-none-match': etag })).status).toBe(304);
  easel.clock.advance(1);
  expect((await put('index.md', '# Two', { 'if-match': etag })).status).toBe(200);
  expect((await refusal(put('index.md', '# Late', { 'if-match': etag }))).slice(0, 2)).toEqual([409, 'VERSION_CONFLICT']);
  expect((await refusal(put('big.md', 'x'.repeat(64 * 1024 + 1)))).slice(0, 2)).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  expect((await refusal(put('bad.md', Buffer.from([0xff, 0xfe])))).slice(0, 2)).toEqual([400, 'INVALID_REQUEST']);
  expect((await refusal(put('%2e%2e%2fx.md', 'x'))).slice(0, 2)).toEqual([404, 'NOTE_NOT_FOUND']);
  await put('a.md', 'a');
  const page = await json(await there(`/${org.id}/context?limit=1`));
  expect([page.notes.map(({ name }: { name: string }) => name), page.has_more]).toEqual([['a.md'], true]);
  const next = await json(await there(`/${org.id}/context?limit=1&cursor=${page.next_cursor}`));
  expect([next.notes.map(({ name }: { name: string }) => name), next.has_more]).toEqual([['index.md'], false]);
  expect((await note('a.md', { method: 'DELETE' })).status).toBe(200);
  expect((await refusal(note('a.md'))).slice(0, 2)).toEqual([404, 'NOTE_NOT_FOUND']);
});
