/** Artifacts of a workspace: who lists them, how people and agents publish them, and for whom they count. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, publish, published, refusal } from '../../../support/requests.ts';
import { newAgent, newWorkspace, type TestAgent } from '../../../support/workspaces.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

let [owner, ada, ben, stranger] = [] as unknown as [TestUser, TestUser, TestUser, TestUser];
let agent: TestAgent;
let workspaceId: WorkspaceId;
beforeEach(async () => {
  [owner, ada, ben, stranger] = [await easel.newUser(), await easel.newUser(), await easel.newUser(), await easel.newUser()];
  workspaceId = await newWorkspace(easel, { [owner.userId]: 'owner', [ada.userId]: 'member', [ben.userId]: 'member' }, { tier: 'team' });
  agent = await newAgent(easel, workspaceId, ['artifacts:read', 'artifacts:publish']);
});

type Caller = Pick<TestUser, 'token'>;
const call = (who: Caller, path: string, init: RequestInit = {}) => easel.fetch(path, { ...init, token: who.token });
const listed = async (who: Caller, query = `workspace_id=${workspaceId}`): Promise<string[]> =>
  (await json(await call(who, `/v1/artifacts?${query}`))).artifacts.map(({ id }: { id: string }) => id);
const folder = async (who: Caller, body: object) => (await json(await call(who, `/v1/workspaces/${workspaceId}/folders`, post(body)))).id;

test('owners and admins list all, members what is open to them and their own, others nothing', async () => {
  const secret = await folder(ada, { name: 'Secret', visibility: 'private' });
  const into = { workspace_id: workspaceId };
  const closed = (await published(easel, ada, { ...into, visibility: 'private' })).id;
  const open = (await published(easel, ada, { ...into, visibility: 'workspace' })).id;
  const narrowed = (await published(easel, ada, { ...into, folder_id: secret, visibility: 'workspace' })).id;
  const given = (await published(easel, ada, { ...into, visibility: 'private' })).id;
  await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${given}, ${ben.userId}, 'viewer', 0)`;
  const sorted = async (who: Caller, query?: string) => (await listed(who, query)).toSorted();
  expect(await sorted(owner)).toEqual([closed, open, narrowed, given].toSorted());
  expect(await sorted(ada)).toEqual([closed, open, narrowed, given].toSorted());
  expect(await sorted(ben)).toEqual([open, given].toSorted());
  expect(await sorted(agent, '')).toEqual([open]);
  expect((await json(await call(ben, `/v1/artifacts?workspace_id=${workspaceId}&count=true&limit=1`))).total).toBe(2);
  expect(await sorted(ada, `folder_id=${secret}`)).toEqual([narrowed]);
  expect(await refusal(call(stranger, `/v1/artifacts?workspace_id=${workspaceId}`))).toEqual([403, 'FORBIDDEN', 'workspace_id']);
  expect(await refusal(call(stranger, '/v1/artifacts?workspace_id=nowhere'))).toEqual([403, 'FORBIDDEN', 'workspace_id']);
  // A mark outlives neither the membership nor the openness of what is marked.
  await call(ben, `/v1/artifacts/${open}/favorite`, { method: 'POST' });
  expect(await sorted(ben, 'favorites=true')).toEqual([open]);
  await call(ada, `/v1/artifacts/${open}`, patch({ visibility: 'private' }));
  expect([await sorted(ben, 'favorites=true'), await sorted(ben)]).toEqual([[], [given]]);
});

test('what an agent publishes belongs to the workspace and counts for it, until it is purged', async () => {
  const shelf = await folder(ada, { name: 'Shelf' });
  const { id, slug } = await published(easel, agent, { folder_id: shelf, slug: `agent-${shelfName()}` });
  const shown = await json(await call(ben, `/v1/artifacts/${id}`));
  expect(shown).toMatchObject({ owner_id: null, workspace_id: workspaceId, folder_id: shelf, visibility: 'workspace' });
  expect((await published(easel, agent, { slug, files: [{ path: 'index.html', content: 'two' }] })).id).toBe(id);
  expect(await refusal(publish(easel, ben, { slug }))).toEqual([409, 'SLUG_TAKEN', 'slug']);
  const counted = () => easel.sql<{ bytes: number; artifacts: number }[]>`
    select (bytes - coalesce((select sum(bytes) from storage_release r where r.account_id = u.account_id), 0))::bigint as bytes, artifacts
    from account_usage u where account_id = ${workspaceId}`;
  const [before] = await counted();
  expect([before?.artifacts, (before?.bytes ?? 0) > 0]).toEqual([1, true]);
  expect((await easel.sweep()).correctedAccounts).toBe(0);
  const other = await newWorkspace(easel, {});
  expect((await refusal(publish(easel, agent, { workspace_id: other })))[0]).toBe(403);
  expect((await call(ben, `/v1/artifacts/${id}`, { method: 'DELETE' })).status).toBe(403);
  expect((await call(owner, `/v1/artifacts/${id}/export`)).status).toBe(200);
  expect((await call(owner, `/v1/artifacts/${id}`, { method: 'DELETE' })).status).toBe(200);
  expect((await json(await call(owner, '/v1/artifacts/deleted'))).artifacts.map((each: { id: string }) => each.id)).toEqual([id]);
  expect((await json(await call(ben, `/v1/artifacts/deleted?workspace_id=${workspaceId}`))).artifacts).toEqual([]);
  expect((await call(owner, `/v1/artifacts/${id}/restore`, { method: 'POST' })).status).toBe(200);
});

test('a person publishes into a workspace, moves an artifact in and out of it, and its plan allows public ones', async () => {
  const wide = await folder(ada, { name: 'Wide', visibility: 'public' });
  const { id } = await published(easel, ada, { workspace_id: workspaceId, folder_id: wide });
  expect(await json(await call(ada, `/v1/artifacts/${id}`))).toMatchObject({ owner_id: ada.userId, visibility: 'public' });
  const own = await published(easel, ada);
  expect((await refusal(call(ada, `/v1/artifacts/${own.id}`, patch({ visibility: 'workspace' }))))[1]).toBe('INVALID_REQUEST');
  const moved = await json(await call(ada, `/v1/artifacts/${own.id}`, patch({ workspace_id: workspaceId, visibility: 'workspace' })));
  expect([moved.workspace_id, moved.visibility]).toEqual([workspaceId, 'workspace']);
  expect((await call(ben, `/v1/artifacts/${own.id}`)).status).toBe(200);
  const back = await json(await call(ada, `/v1/artifacts/${own.id}`, patch({ workspace_id: null })));
  expect([back.workspace_id, back.visibility]).toEqual([null, 'private']);
  expect((await call(ben, `/v1/artifacts/${own.id}`)).status).toBe(404);
  expect((await refusal(publish(easel, stranger, { workspace_id: workspaceId })))[0]).toBe(403);
  expect((await refusal(publish(easel, stranger, { folder_id: wide })))[1]).toBe('FOLDER_NOT_FOUND');
});

function shelfName(): string {
  return workspaceId.slice(4, 20);
}
