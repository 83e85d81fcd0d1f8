/**
 * Somebody outside sees what was granted and nothing else of the workspace: not its name, members, folders above, search or audit. Asked of every
 * endpoint of the table that names a workspace, a folder or an artifact.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../../../protocol/core/endpoint.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import { EXAMPLES } from '../../../../protocol/examples.ts';
import { type EndpointId, endpoints } from '../../../../protocol/table.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, post } from '../../../support/requests.ts';
import { made, pageIn, type SharingStage, sharingStage, statusOf } from '../external-stage.ts';

const table = Object.entries(endpoints) as [EndpointId, Endpoint][];

let easel: TestEasel;
let stage: SharingStage;
let secret: { readonly page: string; readonly folder: string };
let granted: { readonly page: string; readonly folder: string };
/** By session or personal token of their account, and by a token that the workspace made for them. */
let tokens: Readonly<Record<'account' | 'external token', string>>;

beforeAll(async () => {
  easel = await startTestEasel();
  stage = await sharingStage(easel, 'Hidden Mountain');
  const make = (body: object) => made(easel, stage.owner, `${stage.path}/folders`, body);
  const top = await make({ name: 'Confidential top', visibility: 'private' });
  const shared = await make({ name: 'For Clara', parent_id: top.id });
  const page = await pageIn(easel, stage, { folder_id: shared.id });
  const hidden = await pageIn(easel, stage, { folder_id: top.id });
  const org = await made(easel, stage.admin, `${stage.path}/sharees`, { name: 'Clara and Sons' });
  const member = await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members`, { email: stage.client.email });
  await made(easel, stage.admin, `${stage.path}/grants`, {
    ...{ subject_type: 'sharee', subject_id: org.id, resource_type: 'folder', resource_id: shared.id, capability: 'edit' },
  });
  const { token } = await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members/${member.id}/tokens`, { name: 'reports' });
  tokens = { account: stage.client.token, 'external token': token };
  secret = { page: hidden.id, folder: top.id };
  granted = { page: page.id, folder: shared.id };
});
afterAll(() => easel.close());

const IDS: Readonly<Record<string, () => string>> = {
  workspaceId: () => stage.id,
  id: () => secret.page,
  artifactId: () => secret.page,
  folderId: () => secret.folder,
  version: () => '1',
  a: () => '1',
  b: () => '1',
  shareeId: () => newId('sharee'),
  memberId: () => newId('external'),
  grantId: () => newId('grant'),
  userId: () => stage.member.userId,
};

/** The address of an endpoint about what is hidden. */
function pathOf(id: EndpointId, endpoint: Endpoint): string {
  const shown: Readonly<Record<string, string>> = EXAMPLES[id].params ?? {};
  const path = endpoint.path.replace(/\{([^}*]+)\*?\}/g, (_, name: string) => IDS[name]?.() ?? shown[name] ?? 'x');
  const query = new URLSearchParams(EXAMPLES[id].query ?? {}).toString();
  return query === '' ? path : `${path}?${query}`;
}

const hidden = table.filter(
  ([, { access, socket }]) => (access.who === 'workspace' || access.who === 'folder' || access.who === 'artifact') && socket === undefined,
);

describe.each(['account', 'external token'] as const)('by %s', (how) => {
  test.each(hidden)('%s tells nothing of what is not granted', async (id, endpoint) => {
    const { body } = EXAMPLES[id];
    const isJson = endpoint.body?.kind === 'json';
    const reply = await easel.fetch(pathOf(id, endpoint), {
      method: endpoint.method,
      token: tokens[how],
      ...(endpoint.body !== undefined && {
        headers: { 'content-type': endpoint.body.types?.[0] ?? (isJson ? 'application/json' : 'text/plain') },
      }),
      ...(endpoint.body !== undefined && { body: isJson ? JSON.stringify(body ?? {}) : 'x' }),
    });
    const text = await reply.text();
    // An external token is refused as a whole where a rule is about its account.
    expect([reply.status, text]).toEqual([404, expect.stringMatching(/_NOT_FOUND"/)]);
    expect(text).not.toMatch(/Hidden Mountain|Confidential|olive|mia/);
  });

  test('folders that are not granted are not there, and the granted one tells of none above it', async () => {
    const there = (path: string) => easel.fetch(`${stage.path}/folders/${path}`, { token: tokens[how] });
    expect((await there(secret.folder)).status).toBe(404);
    expect((await there('by-path/confidential-top')).status).toBe(404);
    expect((await there('by-path/confidential-top/for-clara')).status).toBe(404);
    const folder = await json(await there(granted.folder));
    expect([folder.path, folder.parent_id, folder.artifact_count]).toEqual(['for-clara', null, 1]);
  });

  test('lists hold what is granted and nothing else', async () => {
    const { artifacts } = await json(await easel.fetch('/v1/artifacts', { token: tokens[how] }));
    expect(artifacts.map(({ id }: { id: string }) => id)).toEqual([granted.page]);
    const refused = await easel.fetch(`/v1/artifacts?workspace_id=${stage.id}`, { token: tokens[how] });
    expect(refused.status).toBe(403);
    const { shared } = await json(await easel.fetch('/v1/shared', { token: tokens[how] }));
    expect(shared.map(({ resource_id }: { resource_id: string }) => resource_id)).toEqual([granted.folder]);
    const { workspaces } = await json(await easel.fetch('/v1/me', { token: tokens[how] }));
    expect(workspaces).toEqual([]);
  });

  test('the people of a granted page are those who have commented, not those who belong to it', async () => {
    const people = await json(await easel.fetch(`/v1/data/${granted.page}/comments/_people`, { token: tokens[how] }));
    expect(people.data.people.map(({ userId }: { userId: string }) => userId)).not.toContain(stage.owner.userId);
    const comments = `/v1/data/${granted.page}/comments`;
    const { data: written } = await json(await easel.fetch(comments, { token: stage.owner.token, ...post({ content: 'Welcome' }) }));
    const now = await json(await easel.fetch(`/v1/data/${granted.page}/comments/_people`, { token: tokens[how] }));
    expect(now.data.people.map(({ userId }: { userId: string }) => userId)).toContain(stage.owner.userId);
    await easel.fetch(`${comments}/${written.id ?? written.comment?.id}`, { method: 'DELETE', token: stage.owner.token });
  });
});

test('an external token does nothing with an account of its own, and makes no other token', async () => {
  const token = tokens['external token'];
  for (const path of ['/v1/me/tokens', '/v1/workspaces', '/v1/folders', '/v1/auth/sessions', '/v1/account'])
    expect([path, await statusOf(easel, { token }, path)]).toEqual([path, 403]);
  expect((await easel.fetch('/v1/me/tokens', { token, ...post({}) })).status).toBe(403);
  expect((await json(await easel.fetch('/v1/me', { token }))).token.kind).toBe('external');
  expect((await easel.fetch('/account', { token })).status).toBe(403);
});
