/** Who may what and why, what a change would do, and that it is committed only against what was simulated. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { type Person, person } from '../../workspaces/workspace-stage.ts';
import { made, pageIn, type SharingStage, sharePerson, sharingStage } from '../external-stage.ts';

let easel: TestEasel;
let stage: SharingStage;
beforeAll(async () => {
  easel = await startTestEasel();
  stage = await sharingStage(easel, 'Explained');
});
afterAll(() => easel.close());

const ask = (id: string, email: string, by: Pick<Person, 'token'> = stage.owner) =>
  easel.fetch(`/v1/artifacts/${id}/access/explain?email=${encodeURIComponent(email)}`, { token: by.token });
const explained = async (id: string, email: string) => json(await ask(id, email));
const simulate = (id: string, change: object, by: Pick<Person, 'token'> = stage.owner) =>
  easel.fetch(`/v1/artifacts/${id}/access/simulate`, { token: by.token, ...post(change) });

const NOTHING = { view: false, comment: false, edit: false };
const ALL = { view: true, comment: true, edit: true };

describe('explain', () => {
  test('names each rule with its source: direct, linked, role, folder, grant, public', async () => {
    const folder = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Explained' });
    const page = await pageIn(easel, stage, { folder_id: folder.id });
    const twin = await person(easel, 'twin');
    await easel.sql`update account set person_id = (select person_id from account where id = ${stage.owner.userId}) where id = ${twin.userId}`;
    const direct = { rule: 'direct', source: { type: 'owner' }, gives: ['view', 'comment', 'edit'] };
    const asOwner = { rule: 'role', source: { type: 'workspace', id: stage.id, role: 'owner' }, gives: ['view', 'comment'] };
    expect(await explained(page.id, stage.owner.email)).toEqual({
      ...{ email: stage.owner.email, has_account: true, can: ALL },
      because: [direct, asOwner],
    });
    // I11: what is linked is told without the other account's id or address.
    const linked = await explained(page.id, twin.email);
    expect(linked).toMatchObject({ can: ALL, because: [{ ...direct, rule: 'linked' }, asOwner] });
    expect(JSON.stringify(linked)).not.toMatch(new RegExp(`${stage.owner.userId}|${stage.owner.email}`));
    expect(await explained(page.id, stage.member.email)).toMatchObject({ can: NOTHING, because: [] });
    const byFolder = await sharePerson(easel, stage, stage.client.email, { resource_type: 'folder', resource_id: folder.id });
    const bySelf = await sharePerson(easel, stage, stage.client.email, {
      resource_type: 'artifact',
      resource_id: page.id,
      capability: 'edit',
    });
    const source = (grant: { id: string; resource_type: string; resource_id: string; capability: string }) => ({
      ...{ type: 'grant', id: grant.id, resource_type: grant.resource_type, resource_id: grant.resource_id, sharee_id: null },
      ...{ capability: grant.capability, expires_at: null },
    });
    expect(await explained(page.id, stage.client.email)).toEqual({
      ...{ email: stage.client.email, has_account: true, can: ALL },
      because: [
        { rule: 'grant', source: source(bySelf), gives: ['view', 'comment', 'edit'] },
        { rule: 'folder', source: source(byFolder), gives: ['view'] },
      ],
    });
    await sharePerson(easel, stage, 'nobody@client.example', { resource_type: 'artifact', resource_id: page.id });
    expect(await explained(page.id, 'nobody@client.example')).toMatchObject({
      ...{ has_account: false, can: { view: true, comment: false, edit: false } },
      because: [{ rule: 'grant', gives: ['view'] }],
    });
    await easel.fetch(`/v1/artifacts/${page.id}`, { token: stage.owner.token, ...patch({ visibility: 'public' }) });
    expect((await explained(page.id, stage.stranger.email)).because).toEqual([
      { rule: 'public', source: { type: 'visibility', visibility: 'public' }, gives: ['view', 'comment'] },
    ]);
  });

  test('answers who owns it or runs its workspace, and nobody else', async () => {
    const page = await pageIn(easel, stage, { visibility: 'workspace' });
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${page.id}, ${stage.stranger.userId}, 'editor', 0)`;
    for (const [who, status] of [
      [stage.owner, 200],
      [stage.admin, 200],
      [stage.member, 403],
      [stage.stranger, 403],
      [stage.client, 404],
    ] as const) {
      expect([who.email, (await ask(page.id, stage.member.email, who)).status]).toEqual([who.email, status]);
      expect([who.email, (await simulate(page.id, { visibility: 'private' }, who)).status]).toEqual([who.email, status]);
    }
  });
});

describe('simulate', () => {
  const names = (entries: { who: { type: string; email?: string }; can: string[] }[]) =>
    entries.map(({ who, can }) => [who.email ?? who.type, can.join(' ')]).sort();

  test('a visibility: who gains, who loses', async () => {
    const page = await pageIn(easel, stage);
    const opened = await json(await simulate(page.id, { visibility: 'workspace' }));
    expect([names(opened.opens), opened.closes]).toEqual([
      [
        ['agents', 'view comment edit'],
        [stage.member.email, 'view comment'],
      ].sort(),
      [],
    ]);
    await easel.fetch(`/v1/artifacts/${page.id}`, { token: stage.owner.token, ...patch({ visibility: 'public' }) });
    const closed = await json(await simulate(page.id, { visibility: 'private' }));
    expect(closed.opens).toEqual([]);
    expect(names(closed.closes)).toContainEqual(['everybody', 'view comment']);
  });

  test('a grant to an organisation: everybody in it, and an address that nobody has proved', async () => {
    const page = await pageIn(easel, stage);
    const org = await made(easel, stage.admin, `${stage.path}/sharees`, { name: 'Simulated' });
    for (const email of [stage.client.email, 'unproved@client.example'])
      await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members`, { email });
    const grant = { subject_type: 'sharee', subject_id: org.id, capability: 'comment' };
    const { opens, opens_total, revision } = await json(await simulate(page.id, { grant }, stage.admin));
    expect([names(opens), opens_total]).toEqual([
      [
        [stage.client.email, 'view comment'],
        ['unproved@client.example', 'view comment'],
      ].sort(),
      2,
    ]);
    const commit = () =>
      easel.fetch(`${stage.path}/grants`, {
        ...post({ ...grant, resource_type: 'artifact', resource_id: page.id }),
        headers: { 'content-type': 'application/json', 'if-match': revision },
        token: stage.admin.token,
      });
    await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members`, { email: 'third@client.example' });
    expect((await refusal(commit())).slice(0, 2)).toEqual([409, 'VERSION_CONFLICT']);
    const again = await json(await simulate(page.id, { grant }, stage.admin));
    expect(again.opens_total).toBe(3);
    const done = await easel.fetch(`${stage.path}/grants`, {
      ...post({ ...grant, resource_type: 'artifact', resource_id: page.id }),
      headers: { 'content-type': 'application/json', 'if-match': again.revision },
      token: stage.admin.token,
    });
    expect(done.status).toBe(201);
  });

  test('a move to another folder opens what is shared there', async () => {
    const folder = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Goes outside' });
    await sharePerson(easel, stage, stage.client.email, { resource_type: 'folder', resource_id: folder.id, capability: 'comment' });
    const page = await pageIn(easel, stage);
    const { opens, revision } = await json(await simulate(page.id, { folder_id: folder.id }));
    expect(names(opens)).toEqual([[stage.client.email, 'view comment']]);
    const move = (condition: string) =>
      easel.fetch(`${stage.path}/artifacts/${page.id}/move`, {
        ...post({ folder_id: folder.id }),
        headers: { 'content-type': 'application/json', 'if-match': condition },
        token: stage.owner.token,
      });
    expect((await move(revision)).status).toBe(200);
    expect((await refusal(move(revision))).slice(0, 2)).toEqual([409, 'VERSION_CONFLICT']);
    const out = await json(await simulate(page.id, { folder_id: null }));
    expect(names(out.closes)).toEqual([[stage.client.email, 'view comment']]);
  });

  test('a collaborator, added and removed', async () => {
    const page = await pageIn(easel, stage);
    const added = await json(await simulate(page.id, { collaborator: { email: stage.stranger.email, role: 'editor' } }));
    expect(names(added.opens)).toEqual([[stage.stranger.email, 'view comment edit']]);
    const unknown = await json(await simulate(page.id, { collaborator: { email: 'later@example.com', role: 'viewer' } }));
    expect(names(unknown.opens)).toEqual([['later@example.com', 'view comment']]);
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${page.id}, ${stage.stranger.userId}, 'viewer', 0)`;
    const removed = await json(await simulate(page.id, { collaborator: { email: stage.stranger.email, role: null } }));
    expect(names(removed.closes)).toEqual([[stage.stranger.email, 'view comment']]);
  });

  test('a change is committed against the simulated state only, and only the change that was simulated', async () => {
    const page = await pageIn(easel, stage);
    const change = (visibility: string, revision: string) =>
      easel.fetch(`/v1/artifacts/${page.id}`, { token: stage.owner.token, ...patch({ visibility }, { 'if-match': revision }) });
    const { revision } = await json(await simulate(page.id, { visibility: 'workspace' }));
    expect((await refusal(change('public', revision))).slice(0, 2)).toEqual([409, 'VERSION_CONFLICT']);
    const newcomer = await person(easel, 'nora');
    await made(easel, stage.owner, `${stage.path}/members`, { email: newcomer.email, role: 'member' });
    expect((await refusal(change('workspace', revision))).slice(0, 2)).toEqual([409, 'VERSION_CONFLICT']);
    const again = await json(await simulate(page.id, { visibility: 'workspace' }));
    expect(names(again.opens)).toContainEqual([newcomer.email, 'view comment']);
    expect((await change('workspace', again.revision)).status).toBe(200);
  });

  test('a collaborator is added, changed and removed against what was simulated', async () => {
    const page = await pageIn(easel, stage);
    const { email } = stage.stranger;
    const at = `/v1/artifacts/${page.id}/collaborators`;
    const planned = async (role: string | null) => (await json(await simulate(page.id, { collaborator: { email, role } }))).revision;
    const send = (method: string, path: string, revision: string, body?: object) =>
      easel.fetch(path, { token: stage.owner.token, ...patch(body ?? {}, { 'if-match': revision }), method });
    const first = await planned('viewer');
    expect((await refusal(send('POST', at, first, { emails: [email], role: 'editor' }))).slice(0, 2)).toEqual([409, 'VERSION_CONFLICT']);
    const several = { emails: [email, 'other@example.com'], role: 'viewer' };
    expect((await refusal(send('POST', at, first, several))).slice(0, 2)).toEqual([409, 'VERSION_CONFLICT']);
    expect((await send('POST', at, first, { emails: [email], role: 'viewer' })).status).toBe(200);
    expect((await refusal(send('PATCH', `${at}/${email}`, first, { role: 'editor' }))).slice(0, 2)).toEqual([409, 'VERSION_CONFLICT']);
    expect((await send('PATCH', `${at}/${email}`, await planned('editor'), { role: 'editor' })).status).toBe(200);
    const removal = await planned(null);
    await made(easel, stage.owner, at, { emails: ['meanwhile@example.com', stage.client.email] });
    expect((await refusal(send('DELETE', `${at}/${email}`, removal))).slice(0, 2)).toEqual([409, 'VERSION_CONFLICT']);
    expect((await send('DELETE', `${at}/${email}`, await planned(null))).status).toBe(200);
    expect((await refusal(send('DELETE', `${at}/${stage.client.email}`, '"1"'))).slice(0, 2)).toEqual([400, 'INVALID_REQUEST']);
  });

  test('beyond the people whom it looks at it says so', async () => {
    const page = await pageIn(easel, stage);
    await easel.sql`
      insert into collaborator (artifact_id, user_id, role, added_at_ms)
      select ${page.id}, id, 'viewer', 0 from account where id in (select id from account limit 5)
      on conflict do nothing`;
    expect((await simulate(page.id, { visibility: 'public' })).status).toBe(200);
    await easel.sql`
      insert into account (id, person_id, tier, created_at_ms)
      select 'usr_crowd' || lpad(n::text, 19, 'a'), 'per_crowd' || lpad(n::text, 19, 'a'), 'free', 0 from generate_series(1, 1001) n`;
    await easel.sql`
      insert into collaborator (artifact_id, user_id, role, added_at_ms)
      select ${page.id}, id, 'viewer', 0 from account where id like 'usr_crowd%'`;
    expect((await refusal(simulate(page.id, { visibility: 'public' }))).slice(0, 2)).toEqual([400, 'TOO_MANY_PEOPLE']);
  });

  test.each([
    ['nothing', {}],
    ['two changes', { visibility: 'public', folder_id: null }],
    ['a grant to nobody', { grant: { capability: 'view' } }],
  ])('refuses %s', async (_what, change) => {
    const page = await pageIn(easel, stage);
    expect((await refusal(simulate(page.id, change))).slice(0, 2)).toEqual([400, 'INVALID_REQUEST']);
  });
});
