/** What people outside may do by grants, and that it ends at once whichever way it ends. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CAPABILITIES, type Capability } from '../../../../protocol/sharing/capability.ts';
import { ChannelClient } from '../../../realtime/channel-client.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, publish, published, refusal } from '../../../support/requests.ts';
import { person } from '../../workspaces/workspace-stage.ts';
import { made, pageIn, type SharingStage, setFeature, sharePerson, sharingStage, statusOf } from '../external-stage.ts';

let easel: TestEasel;
let stage: SharingStage;
beforeAll(async () => {
  easel = await startTestEasel();
  stage = await sharingStage(easel, 'Grants');
});
afterAll(() => easel.close());

/** What somebody does with an artifact: see it, read a key, comment, write a key, publish a version, rename it, publish into its folder. */
async function triedBy(token: string, id: string, folderId: string): Promise<string> {
  const call = (path: string, init: RequestInit = {}) => easel.fetch(path, { token, ...init });
  const replies = [
    await call(`/v1/artifacts/${id}`),
    await call(`/v1/data/${id}/json/k`),
    await call(`/v1/data/${id}/comments`, post({ content: 'Hello' })),
    await call(`/v1/data/${id}/json/k`, { ...post(2), method: 'PUT' }),
    await publish(easel, { token }, { artifact_id: id }),
    await call(`/v1/artifacts/${id}`, patch({ name: 'Mine now' })),
    await publish(easel, { token }, { folder_id: folderId }),
  ];
  return replies.map(({ status }) => ({ 200: '+', 201: '+', 403: '-', 404: '.' })[status] ?? `[${status}]`).join('');
}

const EXPECTED: Readonly<Record<Capability, { artifact: string; folder: string }>> = {
  view: { artifact: '++----.', folder: '++----.' },
  comment: { artifact: '+++---.', folder: '+++---.' },
  create: { artifact: '+++---.', folder: '+++---+' },
  edit: { artifact: '+++++-.', folder: '+++++-+' },
};

describe.each(CAPABILITIES)('%s', (capability) => {
  test.each(['artifact', 'folder'] as const)('on a %s', async (resource_type) => {
    const outside = await person(easel, 'out');
    const top = await made(easel, stage.owner, `${stage.path}/folders`, {
      name: `Top ${capability} ${resource_type}`,
      visibility: 'private',
    });
    const below = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Below', parent_id: top.id });
    const page = await pageIn(easel, stage, { folder_id: below.id });
    await easel.fetch(`/v1/data/${page.id}/json/k`, { token: stage.owner.token, ...post(1), method: 'PUT' });
    expect(await triedBy(outside.token, page.id, below.id)).toBe('.......');
    const resource_id = resource_type === 'artifact' ? page.id : top.id;
    await sharePerson(easel, stage, outside.email, { resource_type, resource_id, capability });
    expect(await triedBy(outside.token, page.id, below.id)).toBe(EXPECTED[capability][resource_type]);
  });
});

test('what is shared with an organisation counts for its people, and with whoever proves the address later', async () => {
  const org = await made(easel, stage.admin, `${stage.path}/sharees`, { name: 'Client Ltd', type: 'client' });
  const page = await pageIn(easel, stage);
  await made(easel, stage.admin, `${stage.path}/grants`, {
    ...{ subject_type: 'sharee', subject_id: org.id, resource_type: 'artifact', resource_id: page.id, capability: 'view' },
  });
  await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members`, { email: stage.client.email });
  expect(await statusOf(easel, stage.client, `/v1/artifacts/${page.id}`)).toBe(200);
  const later = await easel.newUser();
  await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members`, { email: 'later@client.example' });
  expect(await statusOf(easel, later, `/v1/artifacts/${page.id}`)).toBe(404);
  await made(easel, later, '/v1/auth/link-email/start', { email: 'later@client.example' });
  const [mail] = await easel.sql<{ text_body: string }[]>`
    select text_body from mail_outbox where recipient = 'later@client.example' order by created_at_ms desc limit 1`;
  await made(easel, later, '/v1/auth/link-email/verify', {
    email: 'later@client.example',
    code: /\d{6}/.exec(mail?.text_body ?? '')?.[0] ?? '',
  });
  expect(await statusOf(easel, later, `/v1/artifacts/${page.id}`)).toBe(200);
});

test('lists, counts and single decisions agree: the caller sees what is granted, directly and below a folder', async () => {
  const outside = await person(easel, 'lister');
  const top = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Listed' });
  const closed = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Closed', parent_id: top.id, visibility: 'private' });
  const [direct, inTop, inClosed] = [
    await pageIn(easel, stage),
    await pageIn(easel, stage, { folder_id: top.id }),
    await pageIn(easel, stage, { folder_id: closed.id }),
  ];
  await sharePerson(easel, stage, outside.email, { resource_type: 'artifact', resource_id: direct.id });
  easel.clock.advance(1);
  await sharePerson(easel, stage, outside.email, { resource_type: 'folder', resource_id: top.id });
  const listed = async (query: string) => {
    const { artifacts, total } = await json(await easel.fetch(`/v1/artifacts?count=true${query}`, { token: outside.token }));
    return [artifacts.map(({ id }: { id: string }) => id).sort(), total];
  };
  expect(await listed('')).toEqual([[direct.id, inTop.id].sort(), 2]);
  expect(await listed(`&folder_id=${top.id}`)).toEqual([[inTop.id], 1]);
  const inPrivate = await refusal(easel.fetch(`/v1/artifacts?folder_id=${closed.id}`, { token: outside.token }));
  expect(inPrivate.slice(0, 2)).toEqual([404, 'FOLDER_NOT_FOUND']);
  const seen = await Promise.all([direct, inTop, inClosed].map(({ id }) => statusOf(easel, outside, `/v1/artifacts/${id}`)));
  expect(seen).toEqual([200, 200, 404]);
  const { shared, total } = await json(await easel.fetch('/v1/shared?count=true', { token: outside.token }));
  expect(shared.map(({ resource_id, through }: { resource_id: string; through: null }) => [resource_id, through])).toEqual([
    [top.id, null],
    [direct.id, null],
  ]);
  expect(total).toBe(2);
  const folder = await json(await easel.fetch(`${stage.path}/folders/${top.id}`, { token: outside.token }));
  expect([folder.artifact_count, folder.subfolder_count]).toEqual([1, 0]);
});

describe('ends at once', () => {
  interface Shared {
    readonly grantId: string;
    readonly orgId: string;
    readonly memberId: string;
    readonly pageId: string;
  }
  const ENDS: Readonly<Record<string, (shared: Shared) => Promise<unknown>>> = {
    'the grant is revoked': ({ grantId }) => easel.fetch(`${stage.path}/grants/${grantId}`, { method: 'DELETE', token: stage.admin.token }),
    'the person is removed': ({ orgId, memberId }) =>
      easel.fetch(`${stage.path}/sharees/${orgId}/members/${memberId}`, { method: 'DELETE', token: stage.admin.token }),
    'the organisation is deleted': ({ orgId }) =>
      easel.fetch(`${stage.path}/sharees/${orgId}`, { method: 'DELETE', token: stage.admin.token }),
    'the feature is turned off': () => setFeature(easel, stage.id, false),
    'the grant has expired': async () => easel.clock.advance(60_000),
    'the artifact leaves the workspace': ({ pageId }) =>
      easel.fetch(`/v1/artifacts/${pageId}`, { token: stage.owner.token, ...patch({ workspace_id: null }) }),
  };

  test.each(Object.keys(ENDS))('where %s', async (how) => {
    const outside = await person(easel, 'ends');
    const page = await pageIn(easel, stage);
    const org = await made(easel, stage.admin, `${stage.path}/sharees`, { name: how });
    const member = await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members`, { email: outside.email });
    const expires_at = new Date(easel.clock.nowMs() + 60_000).toISOString();
    const grant = await made(easel, stage.admin, `${stage.path}/grants`, {
      ...{ subject_type: 'sharee', subject_id: org.id, resource_type: 'artifact', resource_id: page.id, capability: 'edit', expires_at },
    });
    expect(await statusOf(easel, outside, `/v1/artifacts/${page.id}`)).toBe(200);
    const open = await ChannelClient.open(easel.port, page.id, { token: outside.token });
    const closed = new Promise<number>((resolve) => open.socket.on('close', resolve));
    await ENDS[how]?.({ grantId: grant.id, orgId: org.id, memberId: member.id, pageId: page.id });
    expect(await statusOf(easel, outside, `/v1/artifacts/${page.id}`)).toBe(404);
    expect(await closed).toBeGreaterThanOrEqual(4000);
    expect((await json(await easel.fetch('/v1/shared', { token: outside.token }))).shared).toEqual([]);
    await setFeature(easel, stage.id, true);
  });

  test('and comes back with the plan, but not with an artifact that comes back', async () => {
    const page = await pageIn(easel, stage);
    const outside = await person(easel, 'back');
    await sharePerson(easel, stage, outside.email, { resource_type: 'artifact', resource_id: page.id });
    await setFeature(easel, stage.id, false);
    expect(await statusOf(easel, outside, `/v1/artifacts/${page.id}`)).toBe(404);
    await setFeature(easel, stage.id, true);
    expect(await statusOf(easel, outside, `/v1/artifacts/${page.id}`)).toBe(200);
    for (const workspace_id of [null, stage.id])
      await easel.fetch(`/v1/artifacts/${page.id}`, { token: stage.owner.token, ...patch({ workspace_id }) });
    expect(await statusOf(easel, outside, `/v1/artifacts/${page.id}`)).toBe(404);
  });
});

describe('share-person', () => {
  test('is idempotent, invites once by mail, and changes what is asked for differently', async () => {
    const page = await pageIn(easel, stage);
    const body = { email: 'Grace@Client.example', resource_type: 'artifact', resource_id: page.id, capability: 'view' };
    const share = (change: object = {}) =>
      easel.fetch(`${stage.path}/share-person`, { token: stage.admin.token, ...post({ ...body, ...change }) });
    const [first, again, more] = [await share(), await share(), await share({ capability: 'edit' })];
    expect([first.status, again.status, more.status]).toEqual([201, 200, 200]);
    const [one, two, three] = [await json(first), await json(again), await json(more)];
    expect(one).toMatchObject({
      subject_type: 'external_user',
      subject_name: 'grace@client.example',
      capability: 'view',
      expires_at: null,
    });
    expect(two).toEqual(one);
    expect(three).toMatchObject({ id: one.id, capability: 'edit' });
    const mails = await easel.sql`select kind from mail_outbox where recipient = 'grace@client.example'`;
    expect(mails.map(({ kind }) => kind)).toEqual(['shared_outside']);
    const entries = await easel.sql<{ action: string }[]>`select action from audit_entry where target_id = ${page.id}`;
    expect(entries.map(({ action }) => action).sort()).toEqual(['artifact.create', 'grant.create', 'grant.update']);
  });

  test('refuses insiders, members who may not share, what is not there, and a workspace that is not entitled', async () => {
    const page = await pageIn(easel, stage);
    const share = (token: string, change: object = {}) => {
      const body = { email: 'x@client.example', resource_type: 'artifact', resource_id: page.id, ...change };
      return refusal(easel.fetch(`${stage.path}/share-person`, { token, ...post(body) }));
    };
    expect(await share(stage.admin.token, { email: stage.member.email })).toEqual([409, 'ALREADY_MEMBER', 'email']);
    expect((await share(stage.member.token)).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
    expect((await share(stage.stranger.token)).slice(0, 2)).toEqual([404, 'WORKSPACE_NOT_FOUND']);
    expect(await share(stage.admin.token, { resource_type: 'file', resource_id: 'blob_x' })).toEqual([
      404,
      'FILE_NOT_FOUND',
      'resource_id',
    ]);
    const elsewhere = await published(easel, stage.owner);
    expect(await share(stage.admin.token, { resource_id: elsewhere.id })).toEqual([404, 'ARTIFACT_NOT_FOUND', 'resource_id']);
    expect(await share(stage.admin.token, { expires_at: '2020-01-01T00:00:00Z' })).toEqual([400, 'INVALID_REQUEST', 'expires_at']);
    await setFeature(easel, stage.id, false);
    expect((await share(stage.admin.token)).slice(0, 2)).toEqual([403, 'EXTERNAL_SHARING_NOT_ENTITLED']);
    await setFeature(easel, stage.id, null);
    expect((await share(stage.admin.token)).slice(0, 2)).toEqual([403, 'EXTERNAL_SHARING_NOT_ENTITLED']);
    await easel.sql`update workspace set plan_tier = 'team' where id = ${stage.id}`;
    await setFeature(easel, stage.id, null);
    expect((await share(stage.admin.token))[1]).toBeUndefined();
    await setFeature(easel, stage.id, true);
  });
});

describe('publishing from outside', () => {
  test('what is published into a shared folder is the workspace’s, and its maker edits it as long as the folder is shared', async () => {
    const outside = await person(easel, 'maker');
    const folder = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Deliveries', visibility: 'private' });
    const grant = await sharePerson(easel, stage, outside.email, { resource_type: 'folder', resource_id: folder.id, capability: 'create' });
    const page = await published(easel, outside, { folder_id: folder.id });
    const shown = await json(await easel.fetch(`/v1/artifacts/${page.id}`, { token: stage.admin.token }));
    expect(shown).toMatchObject({ owner_id: null, workspace_id: stage.id, folder_id: folder.id, visibility: 'private' });
    expect((await publish(easel, outside, { artifact_id: page.id })).status).toBe(200);
    expect(await refusal(publish(easel, outside, { artifact_id: page.id, visibility: 'public' }))).toEqual([
      403,
      'FORBIDDEN',
      'visibility',
    ]);
    expect(await refusal(publish(easel, outside, { folder_id: folder.id, visibility: 'workspace' }))).toEqual([
      403,
      'FORBIDDEN',
      'visibility',
    ]);
    await easel.fetch(`${stage.path}/grants/${grant.id}`, { method: 'DELETE', token: stage.admin.token });
    expect(await statusOf(easel, outside, `/v1/artifacts/${page.id}`)).toBe(404);
    expect((await refusal(publish(easel, outside, { folder_id: folder.id }))).slice(0, 2)).toEqual([404, 'FOLDER_NOT_FOUND']);
  });
});

describe('folders', () => {
  test('I9: a closed folder stays closed below a shared one, and only who runs the workspace moves a folder into it', async () => {
    const outside = await person(easel, 'mover');
    const make = (body: object) => made(easel, stage.member, `${stage.path}/folders`, body);
    const [shared, open, closed] = [
      await make({ name: 'Shared' }),
      await make({ name: 'Open' }),
      await make({ name: 'Locked', visibility: 'private' }),
    ];
    const inOpen = await published(easel, stage.member, { workspace_id: stage.id, folder_id: open.id });
    const inClosed = await published(easel, stage.member, { workspace_id: stage.id, folder_id: closed.id });
    await sharePerson(easel, stage, outside.email, { resource_type: 'folder', resource_id: shared.id });
    const move = (token: string, id: string) => easel.fetch(`${stage.path}/folders/${id}`, { token, ...patch({ parent_id: shared.id }) });
    const seen = () => Promise.all([inOpen, inClosed].map(({ id }) => statusOf(easel, outside, `/v1/artifacts/${id}`)));
    expect((await refusal(move(stage.member.token, open.id))).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
    expect((await move(stage.member.token, closed.id)).status).toBe(200);
    expect(await seen()).toEqual([404, 404]);
    const opened = easel.fetch(`${stage.path}/folders/${closed.id}`, { token: stage.member.token, ...patch({ visibility: 'inherit' }) });
    expect((await refusal(opened)).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
    expect((await move(stage.admin.token, open.id)).status).toBe(200);
    expect(await seen()).toEqual([200, 404]);
  });
});

test.each(databaseKinds())('the same on %s: a grant opens, its end closes', async (database) => {
  const other = await startTestEasel({ database });
  try {
    const there = await sharingStage(other, 'Other');
    const page = await pageIn(other, there);
    const grant = await sharePerson(other, there, there.client.email, { resource_type: 'artifact', resource_id: page.id });
    expect(await statusOf(other, there.client, `/v1/artifacts/${page.id}`)).toBe(200);
    const { artifacts } = await json(await other.fetch('/v1/artifacts', { token: there.client.token }));
    expect(artifacts.map(({ id }: { id: string }) => id)).toEqual([page.id]);
    await other.fetch(`${there.path}/grants/${grant.id}`, { method: 'DELETE', token: there.owner.token });
    expect(await statusOf(other, there.client, `/v1/artifacts/${page.id}`)).toBe(404);
    await other.sweep();
  } finally {
    await other.close();
  }
});
