/** W6: "who has access" names every way: by name, by the workspace, from outside by the page or a folder. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import type { Person } from '../../workspaces/workspace-stage.ts';
import { made, pageIn, type SharingStage, setFeature, sharePerson, sharingStage, statusOf } from '../external-stage.ts';

let easel: TestEasel;
let stage: SharingStage;
beforeAll(async () => {
  easel = await startTestEasel();
  stage = await sharingStage(easel, 'Accessible');
});
afterAll(() => easel.close());

const access = (id: string, by: Pick<Person, 'token'> = stage.owner, query = '') =>
  easel.fetch(`/v1/artifacts/${id}/access${query}`, { token: by.token });
const shown = async (id: string, by?: Pick<Person, 'token'>) => json(await access(id, by));

test('[W6] grants of a page and of every folder that reaches it are listed with where they come from, and no others', async () => {
  const top = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Top' });
  const below = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Below', parent_id: top.id });
  const closed = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Closed', parent_id: top.id, visibility: 'private' });
  const page = await pageIn(easel, stage, { folder_id: below.id });
  const apart = await pageIn(easel, stage, { folder_id: closed.id });
  const byFolder = await sharePerson(easel, stage, stage.client.email, { resource_type: 'folder', resource_id: top.id });
  const bySelf = await sharePerson(easel, stage, 'paul@client.example', {
    ...{ resource_type: 'artifact', resource_id: page.id, capability: 'comment' },
  });
  await sharePerson(easel, stage, 'other@client.example', { resource_type: 'artifact', resource_id: apart.id });
  const { grants, members, counts_outside } = await shown(page.id);
  const told = (grant: { id: string; subject_name: string; resource_type: string; resource_name: string | null; capability: string }) =>
    [grant.id, grant.subject_name, grant.resource_type, grant.resource_name, grant.capability] as const;
  expect([members, counts_outside]).toEqual([false, true]);
  expect(grants.map(told).sort()).toEqual(
    [
      [byFolder.id, stage.client.email, 'folder', 'Top', 'view'],
      [bySelf.id, 'paul@client.example', 'artifact', 'A page', 'comment'],
    ].sort(),
  );
  // What is listed is what opens it: the folder that is private by itself is not reached from above.
  expect(await statusOf(easel, stage.client, `/v1/artifacts/${page.id}`)).toBe(200);
  expect(await statusOf(easel, stage.client, `/v1/artifacts/${apart.id}`)).toBe(404);
  expect((await shown(apart.id)).grants.map(({ subject_name }: { subject_name: string }) => subject_name)).toEqual([
    'other@client.example',
  ]);
  const first = await json(await access(page.id, stage.owner, '?limit=1&count=true'));
  const rest = await json(await access(page.id, stage.owner, `?limit=1&cursor=${first.next_cursor}`));
  expect([first.total, first.has_more, rest.has_more]).toEqual([2, true, false]);
  expect([...first.grants, ...rest.grants].map(told).sort()).toEqual(grants.map(told).sort());
});

test('[W6] whether all members see it follows visibility and folder, as the decision does', async () => {
  const closed = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Not for all', visibility: 'private' });
  for (const [visibility, folder_id] of [
    ['private', undefined],
    ['workspace', undefined],
    ['workspace', closed.id],
  ] as const) {
    const page = await pageIn(easel, stage, { visibility, ...(folder_id && { folder_id }) });
    const isSeen = (await statusOf(easel, stage.member, `/v1/artifacts/${page.id}`)) === 200;
    expect([visibility, folder_id !== undefined, (await shown(page.id)).members]).toEqual([visibility, folder_id !== undefined, isSeen]);
  }
});

test('[W6] who edits it and does not see the folder reads that there is one and not which; viewers read nothing', async () => {
  const closed = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Secret plans', visibility: 'private' });
  const page = await pageIn(easel, stage, { folder_id: closed.id });
  await sharePerson(easel, stage, stage.client.email, { resource_type: 'folder', resource_id: closed.id });
  const add = { emails: [stage.member.email], role: 'editor' };
  await easel.fetch(`/v1/artifacts/${page.id}/collaborators`, { token: stage.owner.token, ...post(add) });
  const seen = await shown(page.id, stage.member);
  expect(seen.grants).toMatchObject([
    { subject_name: stage.client.email, resource_type: 'folder', resource_id: null, resource_name: null },
  ]);
  expect(JSON.stringify(seen)).not.toContain('Secret plans');
  expect(await refusal(access(page.id, stage.client))).toEqual([403, 'FORBIDDEN', undefined]);
  expect(await refusal(access(page.id, stage.stranger))).toEqual([404, 'ARTIFACT_NOT_FOUND', undefined]);
});

test('[W6] without the entitlement the grants stay in the list, which says that they open nothing', async () => {
  const page = await pageIn(easel, stage);
  await sharePerson(easel, stage, stage.client.email, { resource_type: 'artifact', resource_id: page.id });
  await setFeature(easel, stage.id, false);
  expect(await shown(page.id)).toMatchObject({ counts_outside: false, grants: [{ subject_name: stage.client.email }] });
  expect(await statusOf(easel, stage.client, `/v1/artifacts/${page.id}`)).toBe(404);
  await setFeature(easel, stage.id, true);
  expect(await statusOf(easel, stage.client, `/v1/artifacts/${page.id}`)).toBe(200);
});

test('[W6] a removed collaborator does not come back by another change; what is left to them is said', async () => {
  const page = await pageIn(easel, stage, { visibility: 'private' });
  const call = (method: string, path: string, body?: object) =>
    easel.fetch(`/v1/artifacts/${page.id}${path}`, { token: stage.owner.token, ...(body && post(body)), method });
  await call('POST', '/collaborators', { emails: [stage.client.email], role: 'editor' });
  const grant = await sharePerson(easel, stage, stage.client.email, { resource_type: 'artifact', resource_id: page.id });
  expect(await json(await call('DELETE', `/collaborators/${stage.client.email}`))).toMatchObject({ remaining_role: 'viewer' });
  const rename = await easel.fetch(`/v1/artifacts/${page.id}`, { token: stage.owner.token, ...patch({ name: 'Renamed' }) });
  expect(rename.status).toBe(200);
  // What is left is the grant, as it was given.
  const folder = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Elsewhere' });
  await easel.fetch(`${stage.path}/artifacts/${page.id}/move`, { token: stage.owner.token, ...post({ folder_id: folder.id }) });
  const explained = await json(
    await easel.fetch(`/v1/artifacts/${page.id}/access/explain?email=${stage.client.email}`, { token: stage.owner.token }),
  );
  expect(explained.can).toEqual({ view: true, comment: false, edit: false });
  const ended = await easel.fetch(`${stage.path}/grants/${grant.id}`, { token: stage.admin.token, method: 'DELETE' });
  expect(ended.status).toBe(200);
  expect((await shown(page.id)).grants).toEqual([]);
  expect(await statusOf(easel, stage.client, `/v1/artifacts/${page.id}`)).toBe(404);
});

test('a grant is ended only against what was simulated of its end', async () => {
  const page = await pageIn(easel, stage);
  const grant = await sharePerson(easel, stage, stage.client.email, { resource_type: 'artifact', resource_id: page.id });
  const plan = { grant: { subject_type: grant.subject_type, subject_id: grant.subject_id, capability: null } };
  const simulate = async () =>
    json(await easel.fetch(`/v1/artifacts/${page.id}/access/simulate`, { token: stage.admin.token, ...post(plan) }));
  const { closes, revision } = await simulate();
  expect(closes).toEqual([{ who: { type: 'person', email: stage.client.email, name: expect.any(String) }, can: ['view'] }]);
  const end = (ifMatch: string) =>
    easel.fetch(`${stage.path}/grants/${grant.id}`, { token: stage.admin.token, method: 'DELETE', headers: { 'if-match': ifMatch } });
  // Meanwhile the page opens to all: nobody would lose anything any more.
  await easel.fetch(`/v1/artifacts/${page.id}`, { token: stage.owner.token, ...patch({ visibility: 'public' }) });
  expect(await refusal(end(revision))).toEqual([409, 'VERSION_CONFLICT', undefined]);
  expect(await refusal(end('"1"'))).toEqual([400, 'INVALID_REQUEST', 'If-Match']);
  const again = await simulate();
  expect(again.closes).toEqual([]);
  expect((await end(again.revision)).status).toBe(200);
});
