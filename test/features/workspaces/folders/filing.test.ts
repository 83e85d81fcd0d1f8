/** Where artifacts are filed: personal folders, moves within a workspace, and what comments follow. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { wire } from '../../../support/page-requests.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { newAgent, newWorkspace } from '../../../support/workspaces.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

let [owner, admin, ada, ben] = [] as unknown as [TestUser, TestUser, TestUser, TestUser];
let workspaceId: WorkspaceId;
beforeEach(async () => {
  [owner, admin, ada, ben] = [await easel.newUser('pro'), await easel.newUser(), await easel.newUser('pro'), await easel.newUser()];
  const members = { [owner.userId]: 'owner', [admin.userId]: 'admin', [ada.userId]: 'member', [ben.userId]: 'member' } as const;
  workspaceId = await newWorkspace(easel, members);
});

type Caller = Pick<TestUser, 'token'> | undefined;
const call = (who: Caller, path: string, init: RequestInit = {}) => easel.fetch(path, { ...init, ...(who && { token: who.token }) });
const statusOf = async (who: Caller, path: string, init: RequestInit = {}) => (await call(who, path, init)).status;
const made = async (who: Caller, body: object, path = `/v1/workspaces/${workspaceId}/folders`) => json(await call(who, path, post(body)));
const move = (who: Caller, id: string, folder_id: string | null) =>
  call(who, `/v1/workspaces/${workspaceId}/artifacts/${id}/move`, post({ folder_id }));
const folderOf = async (who: Caller, id: string) => (await json(await call(who, `/v1/artifacts/${id}`))).folder_id;

describe('personal folders', () => {
  test('belong to their owner and the linked accounts alone', async () => {
    const twin = await easel.newUser();
    await easel.sql`
      update account set person_id = (select person_id from account where id = ${ada.userId}) where id = ${twin.userId}`;
    const drafts = await made(ada, { name: 'Drafts', readme: 'Mine' }, '/v1/folders');
    expect(drafts).toMatchObject({ slug: 'drafts', path: 'drafts', readme: 'Mine', parent_id: null, artifact_count: 0 });
    const below = await made(twin, { name: 'Old', parent_id: drafts.id }, '/v1/folders');
    expect(below.path).toBe('drafts/old');
    const { folders } = await json(await call(ada, '/v1/folders'));
    expect(folders.map(({ name, subfolder_count }: { name: string; subfolder_count: number }) => [name, subfolder_count])).toEqual([
      ['Drafts', 1],
      ['Old', 0],
    ]);
    for (const init of [{}, patch({ name: 'x' }), { method: 'DELETE' }]) {
      expect(await refusal(call(ben, `/v1/folders/${drafts.id}`, init))).toEqual([404, 'FOLDER_NOT_FOUND', undefined]);
    }
    expect(await refusal(call(ben, '/v1/folders', post({ name: 'x', parent_id: drafts.id })))).toEqual([
      404,
      'FOLDER_NOT_FOUND',
      'parent_id',
    ]);
    expect((await json(await call(ben, '/v1/folders'))).folders).toEqual([]);
    const etag = (await call(ada, `/v1/folders/${drafts.id}`)).headers.get('etag') ?? '';
    expect(await statusOf(ada, `/v1/folders/${drafts.id}`, patch({ name: 'Sketches' }, { 'if-match': etag }))).toBe(200);
    expect(await statusOf(ada, `/v1/folders/${drafts.id}`, patch({ name: 'Late' }, { 'if-match': etag }))).toBe(409);
    // A team's folder is none of these, and one of these is none of a team's.
    const team = await made(ada, { name: 'Team' });
    expect(await refusal(call(ada, `/v1/folders/${team.id}`))).toEqual([404, 'FOLDER_NOT_FOUND', undefined]);
    expect(await statusOf(ada, `/v1/workspaces/${workspaceId}/folders/${drafts.id}`)).toBe(404);
  });

  test('hold what their owner files there, which nobody else learns', async () => {
    const drafts = await made(ada, { name: 'Drafts' }, '/v1/folders');
    const inner = await made(ada, { name: 'Inner', parent_id: drafts.id }, '/v1/folders');
    const { id } = await published(easel, ada, { visibility: 'public' });
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${id}, ${ben.userId}, 'editor', 0)`;
    const file = (who: Caller, folder_id: string | null) => call(who, `/v1/artifacts/${id}/folder`, post({ folder_id }));
    expect(await json(await file(ada, inner.id))).toEqual({ success: true, artifact_id: id, folder_id: inner.id });
    expect([await folderOf(ada, id), await folderOf(ben, id), await folderOf(undefined, id)]).toEqual([inner.id, null, null]);
    const listed = await json(await call(ada, `/v1/artifacts?folder_id=${inner.id}`));
    expect(listed.artifacts.map((each: { id: string }) => each.id)).toEqual([id]);
    expect(await refusal(call(ben, `/v1/artifacts?folder_id=${inner.id}`))).toEqual([404, 'FOLDER_NOT_FOUND', 'folder_id']);
    expect((await file(ben, null)).status).toBe(403);
    const team = await made(ada, { name: 'Team' });
    expect(await refusal(file(ada, team.id))).toEqual([404, 'FOLDER_NOT_FOUND', 'folder_id']);
    expect(await statusOf(ada, `/v1/folders/${inner.id}`, { method: 'DELETE' })).toBe(200);
    expect(await folderOf(ada, id)).toBe(null);
    const anew = await published(easel, ada, { folder_id: drafts.id });
    expect([await folderOf(ada, anew.id), (await json(await call(ada, `/v1/artifacts/${anew.id}`))).visibility]).toEqual([
      drafts.id,
      'private',
    ]);
    expect((await json(await call(ada, `/v1/folders/${drafts.id}`))).artifact_count).toBe(1);
  });
});

describe('moves within a workspace', () => {
  test('are for editors, and for who runs the workspace; agents need a scope', async () => {
    const folder = await made(ada, { name: 'Shelf' });
    const { id } = await published(easel, ada, { workspace_id: workspaceId, visibility: 'workspace' });
    expect(await json(await move(ada, id, folder.id))).toEqual({ success: true, artifact_id: id, folder_id: folder.id });
    expect(await refusal(move(ben, id, null))).toEqual([403, 'FORBIDDEN', undefined]);
    expect((await move(admin, id, null)).status).toBe(200);
    const agent = await newAgent(easel, workspaceId, ['artifacts:publish']);
    const reader = await newAgent(easel, workspaceId, ['artifacts:read']);
    expect((await move(agent, id, folder.id)).status).toBe(200);
    expect((await refusal(move(reader, id, null)))[1]).toBe('INSUFFICIENT_SCOPE');
    expect(await folderOf(ben, id)).toBe(folder.id);
    expect((await move(ada, id, null)).status).toBe(200);
    const stranger = await easel.newUser();
    expect(await refusal(move(stranger, id, null))).toEqual([404, 'WORKSPACE_NOT_FOUND', undefined]);
    // What is not of this workspace is not there, whoever asks.
    const own = await published(easel, ada);
    expect(await refusal(move(ada, own.id, folder.id))).toEqual([404, 'ARTIFACT_NOT_FOUND', undefined]);
    const hidden = await published(easel, ada, { workspace_id: workspaceId, visibility: 'private' });
    expect(await refusal(move(ben, hidden.id, folder.id))).toEqual([404, 'ARTIFACT_NOT_FOUND', undefined]);
    const secret = await made(ada, { name: 'Secret', visibility: 'private' });
    const mine = await published(easel, ben, { workspace_id: workspaceId });
    expect(await refusal(move(ben, mine.id, secret.id))).toEqual([404, 'FOLDER_NOT_FOUND', 'folder_id']);
  });

  test('I9: keep the visibility, and only its editors take an artifact out of a private folder', async () => {
    const secret = await made(ada, { name: 'Secret', visibility: 'private' });
    const wide = await made(ben, { name: 'Wide', visibility: 'public' });
    const { id } = await published(easel, ada, { workspace_id: workspaceId, folder_id: secret.id, visibility: 'workspace' });
    expect(await statusOf(ben, `/v1/artifacts/${id}`)).toBe(404);
    expect((await refusal(move(admin, id, wide.id)))[1]).toBe('FORBIDDEN');
    expect((await refusal(move(owner, id, null)))[1]).toBe('FORBIDDEN');
    const other = await made(admin, { name: 'Other', visibility: 'private' });
    expect((await move(admin, id, other.id)).status).toBe(200);
    // Its owner does not see that folder, but may take the artifact out of it.
    expect(await folderOf(ada, id)).toBe(null);
    expect((await move(ada, id, wide.id)).status).toBe(200);
    expect((await json(await call(ben, `/v1/artifacts/${id}`))).visibility).toBe('workspace');
    expect(await statusOf(undefined, `/v1/artifacts/${id}`)).toBe(404);
    const plain = await published(easel, ada, { workspace_id: workspaceId, folder_id: secret.id });
    expect((await move(admin, plain.id, wide.id)).status).toBe(200);
    expect([await statusOf(ben, `/v1/artifacts/${plain.id}`), await statusOf(ada, `/v1/artifacts/${plain.id}`)]).toEqual([404, 200]);
  });

  test('a folder that becomes private closes what members had open, and every cache forgets it', async () => {
    const folder = await made(ada, { name: 'Shelf' });
    const { id } = await published(easel, ada, { workspace_id: workspaceId, folder_id: folder.id });
    expect((await json(await call(ben, `/v1/artifacts/${id}`))).visibility).toBe('workspace');
    const data = `/v1/data/${id}/json`;
    expect(await statusOf(ben, data)).toBe(200);
    const abort = new AbortController();
    const feed = await call(ben, `/v1/data/${id}/changes`, { headers: { accept: 'text/event-stream' }, signal: abort.signal });
    expect(feed.status).toBe(200);
    const ended = feed.text().then(
      () => 'ended',
      () => 'cut',
    );
    await call(ada, `/v1/workspaces/${workspaceId}/folders/${folder.id}`, patch({ visibility: 'private' }));
    expect(await statusOf(ben, data)).toBe(404);
    expect(['ended', 'cut']).toContain(await ended);
    abort.abort();
    expect(await statusOf(admin, data)).toBe(200);
  });
});

describe('comments of guests', () => {
  const config = async (who: Caller, id: string) => (await json(await call(who, `/v1/data/${id}/comments/_config`))).data;
  const configure = (id: string, body: object) => call(ada, `/v1/data/${id}/comments/_config`, { ...post(body), method: 'PUT' });
  const start = (id: string) =>
    statusOf(undefined, `/v1/data/${id}/comments/_guest/start`, post({ email: 'gail@example.com', name: 'Gail' }));

  test.each(['personal', 'team'])(
    'follow the setting of a %s folder until the artifact says otherwise, at once everywhere',
    async (kind) => {
      const path = kind === 'personal' ? '/v1/folders' : `/v1/workspaces/${workspaceId}/folders`;
      const top = await made(ada, { name: 'Top' }, path);
      const folder = await made(ada, { name: 'In', parent_id: top.id }, path);
      const place = kind === 'personal' ? {} : { workspace_id: workspaceId };
      const { id, slug } = await published(easel, ada, { ...place, folder_id: folder.id, visibility: 'public' });
      await configure(id, { overlayEnabled: true });
      const page = async () => (await wire(easel.port, new URL(easel.contentUrl(slug)).host, '/')).body.toString();
      const all = async () => [
        (await config(ada, id)).guestCommentsEffective,
        (await start(id)) === 202,
        (await page()).includes('data-guests="true"'),
      ];
      expect(await config(ada, id)).toMatchObject({ guestCommentsEffective: false });
      expect(await all()).toEqual([false, false, false]);
      await call(ada, `${path}/${top.id}`, patch({ guest_comments: true }));
      expect(await all()).toEqual([true, true, true]);
      expect('guestComments' in (await config(ada, id))).toBe(false);
      await call(ada, `${path}/${folder.id}`, patch({ guest_comments: false }));
      expect(await all()).toEqual([false, false, false]);
      await configure(id, { guestComments: true });
      expect(await all()).toEqual([true, true, true]);
      await configure(id, { guestComments: null });
      await call(ada, `${path}/${folder.id}`, { method: 'DELETE' });
      expect(await all()).toEqual([false, false, false]);
    },
  );

  test('end for a guest who has a token when the folder says no', async () => {
    const folder = await made(ada, { name: 'Open', guest_comments: true }, '/v1/folders');
    const { id } = await published(easel, ada, { folder_id: folder.id, visibility: 'public' });
    expect(await start(id)).toBe(202);
    const [mail] = await easel.sql<{ text_body: string }[]>`select text_body from mail_outbox where artifact_id = ${id}`;
    const body = { email: 'gail@example.com', code: /\d{6}/.exec(mail?.text_body ?? '')?.[0] };
    const { data } = await json(await call(undefined, `/v1/data/${id}/comments/_guest/verify`, post(body)));
    const write = () => statusOf({ token: data.guestToken }, `/v1/data/${id}/comments`, post({ content: 'Hello' }));
    expect(await write()).toBe(201);
    await call(ada, `/v1/folders/${folder.id}`, patch({ guest_comments: null }));
    expect(await write()).toBe(401);
  });
});
