/** Asset libraries: who may what, versions, collections, quotas, and what the sweep keeps. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TIERS } from '../../../../protocol/business/tiers.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { agentOf, workspaceOf } from '../../../support/workspaces.ts';
import { leaveRoom } from '../../people/usage/storage-stage.ts';
import { auditOf } from '../../workspaces/workspace-stage.ts';
import { delivered, MINE, upload } from './asset-stage.ts';

const DAY_MS = 24 * 3_600_000;

let easel: TestEasel;
let user: TestUser;
let [owner, admin, member, other, stranger]: TestUser[] = [];
let workspace = '';
let ours = '';
let agent: { token: string };
let reader: { token: string };
beforeAll(async () => {
  easel = await startTestEasel();
  // The sweep of the start, which would correct the counters that these tests set.
  await easel.sweep();
  user = await easel.newUser();
  [owner, admin, member, other, stranger] = await Promise.all(Array.from({ length: 5 }, () => easel.newUser()));
  workspace = await workspaceOf(easel, [
    [owner as TestUser, 'owner'],
    [admin as TestUser, 'admin'],
    [member as TestUser, 'member'],
    [other as TestUser, 'member'],
  ]);
  ours = `/v1/workspaces/${workspace}/assets`;
  agent = { token: await agentOf(easel, workspace, ['artifacts:read', 'artifacts:publish']) };
  reader = { token: await agentOf(easel, workspace, ['artifacts:read']) };
});
afterAll(() => easel.close());

const get = async (by: { token: string }, path: string) => json(await easel.fetch(path, { token: by.token }));
const remove = (by: { token: string }, path: string) => easel.fetch(path, { method: 'DELETE', token: by.token });
const textOf = async (by: { token: string }, path: string) => (await easel.fetch(path, { token: by.token })).text();
const statusOf = async (reply: Promise<Response>) => {
  const settled = await reply;
  await settled.arrayBuffer();
  return settled.status;
};

test('a file is loose until it becomes a deliverable, and then one of its versions', async () => {
  const one = await json(await upload(easel, user, 'first', { name: 'plan.txt' }));
  expect((await get(user, MINE)).loose).toEqual([one]);
  const made = await json(await easel.fetch(`${MINE}/deliverables`, { token: user.token, ...post({ blobId: one.id }) }));
  expect(made).toMatchObject({ name: 'plan.txt', versionNo: 1, sizeBytes: 5, mimeType: 'text/plain', thumbnailUrl: null });
  const again = await easel.fetch(`${MINE}/deliverables`, { token: user.token, ...post({ blobId: one.id }) });
  expect([again.status, await json(again)]).toEqual([
    404,
    expect.objectContaining({ code: 'BLOB_NOT_FOUND', param: 'blobId', hint: expect.stringContaining('/assets') }),
  ]);

  easel.clock.advance(1000);
  const two = await json(await upload(easel, user, 'second', { name: 'plan-2.txt' }));
  const path = `${MINE}/${made.id}`;
  const newer = await json(await easel.fetch(`${path}/version`, { token: user.token, ...post({ blobId: two.id }) }));
  expect(newer).toMatchObject({ id: made.id, versionNo: 2, sizeBytes: 6, contentUrl: made.contentUrl });
  const { versions, hasMore } = await get(user, `${path}/versions`);
  expect(versions.map((version: { versionNo: number; filename: string }) => [version.versionNo, version.filename])).toEqual([
    [2, 'plan-2.txt'],
    [1, 'plan.txt'],
  ]);
  expect(hasMore).toBe(false);
  expect(await textOf(user, new URL(made.contentUrl).pathname)).toBe('second');
  const { pathname, search } = new URL(versions[1].contentUrl);
  expect(await textOf(user, pathname + search)).toBe('first');
  const list = await get(user, `${MINE}?count=true`);
  expect(list).toMatchObject({ deliverables: [newer], loose: [], usedBytes: 11, total: 1 });
});

test('only the newest versions are kept', async () => {
  const { id } = await delivered(easel, user, 'version 1');
  for (let version = 2; version <= LIMITS.assetVersionsKept + 1; version += 1) {
    const { id: blobId } = await json(await upload(easel, user, `version ${version}`));
    await easel.fetch(`${MINE}/${id}/version`, { token: user.token, ...post({ blobId }) });
  }
  const { versions } = await get(user, `${MINE}/${id}/versions`);
  expect([versions.length, versions.at(-1).versionNo]).toEqual([LIMITS.assetVersionsKept, 2]);
  expect(await statusOf(remove(user, `${MINE}/${id}`))).toBe(200);
});

test('a page goes through deliverables and loose files together', async () => {
  const somebody = await easel.newUser();
  const names: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    easel.clock.advance(10);
    const made = at % 2 === 0 ? await delivered(easel, somebody, `${at}`) : await json(await upload(easel, somebody, `${at}`));
    names.unshift(made.id);
  }
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await get(somebody, `${MINE}?limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...[...page.deliverables, ...page.loose].map(({ id }: { id: string }) => id));
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  expect([...seen].sort()).toEqual([...names].sort());
});

test('what linked accounts store stays together: a deliverable with its versions belongs to one of them, and counts there', async () => {
  const [one, two] = [await easel.newUser(), await easel.newUser()];
  await easel.sql`update account set person_id = (select person_id from account where id = ${one.userId}) where id = ${two.userId}`;
  const stored = await json(await upload(easel, two, 'first'));
  const { id } = await json(await easel.fetch(`${MINE}/deliverables`, { token: one.token, ...post({ blobId: stored.id }) }));
  const { id: blobId } = await json(await upload(easel, one, 'second'));
  expect(await statusOf(easel.fetch(`${MINE}/${id}/version`, { token: one.token, ...post({ blobId }) }))).toBe(201);
  const holders = await easel.sql`
    select owner_id as holder from asset_deliverable where id = ${id} union all select owner_id from asset_file where deliverable_id = ${id}`;
  expect(holders.map(({ holder }) => holder)).toEqual([two.userId, two.userId, two.userId]);
  const usage = await easel.sql<{ id: string; bytes: number }[]>`
    select account_id as id, bytes from account_usage where account_id in (${one.userId}, ${two.userId})`;
  expect(new Map(usage.map((row) => [row.id, row.bytes]))).toEqual(
    new Map([
      [one.userId, 0],
      [two.userId, 11],
    ]),
  );
});

test('a version that the database cannot hold is refused', async () => {
  const { id } = await delivered(easel, user, 'one version');
  const reply = await easel.fetch(`/v1/files/${id}/content?version=3000000000`, { token: user.token });
  expect(await refusal(reply)).toEqual([400, 'INVALID_REQUEST', 'version']);
});

test('the record of a workspace tells what comes into a collection and leaves it', async () => {
  const by = await easel.newUser();
  const recorded = await workspaceOf(easel, [[by, 'owner']]);
  const base = `/v1/workspaces/${recorded}/assets`;
  const file = await delivered(easel, by, 'recorded', { base });
  const { id } = await json(await easel.fetch(`${base}/collections`, { token: by.token, ...post({ name: 'Recorded' }) }));
  const items = `${base}/collections/${id}/items`;
  for (let at = 0; at < 2; at += 1) {
    expect(await statusOf(easel.fetch(items, { token: by.token, ...post({ deliverableId: file.id }) }))).toBe(200);
  }
  expect(await statusOf(remove(by, `${items}/${file.id}`))).toBe(200);
  const entries = await easel.sql<{ action: string; detail: { file_id: string } }[]>`
    select action, detail from audit_entry where target_id = ${id} and action <> 'asset_collection.create' order by id`;
  expect(entries.map(({ action, detail }) => [action, detail.file_id]).sort()).toEqual([
    ['asset_collection.add', file.id],
    ['asset_collection.remove', file.id],
  ]);
});

test('a deliverable is renamed under its ETag', async () => {
  const { id } = await delivered(easel, user, 'named');
  const etag = (await easel.fetch(`${MINE}/${id}`, { token: user.token })).headers.get('etag') ?? '';
  const renamed = await easel.fetch(`${MINE}/${id}`, { token: user.token, ...patch({ name: 'Better' }, { 'if-match': etag }) });
  expect((await json(renamed)).name).toBe('Better');
  const late = await easel.fetch(`${MINE}/${id}`, { token: user.token, ...patch({ name: 'Late' }, { 'if-match': etag }) });
  expect((await refusal(late))[1]).toBe('VERSION_CONFLICT');
});

test('collections order deliverables of the same library', async () => {
  const file = await delivered(easel, user, 'collected');
  const foreign = await delivered(easel, stranger as TestUser, 'foreign');
  const made = await json(await easel.fetch(`${MINE}/collections`, { token: user.token, ...post({ name: 'Spring' }) }));
  const items = `${MINE}/collections/${made.id}/items`;
  const add = (deliverableId: string) => easel.fetch(items, { token: user.token, ...post({ deliverableId }) });
  expect((await json(await add(file.id))).itemCount).toBe(1);
  expect((await json(await add(file.id))).itemCount).toBe(1);
  expect((await refusal(add(foreign.id))).slice(0, 2)).toEqual([404, 'FILE_NOT_FOUND']);
  const { deliverables, loose } = await get(user, `${MINE}?collection=${made.id}`);
  expect([deliverables.map(({ id }: { id: string }) => id), loose]).toEqual([[file.id], []]);
  const other = await json(await easel.fetch(`${MINE}/collections`, { token: user.token, ...post({ name: 'Empty' }) }));
  const having = await get(user, `${MINE}/collections?file=${file.id}&count=true`);
  expect([having.collections.map(({ id }: { id: string }) => id), having.total]).toEqual([[made.id], 1]);
  expect(await statusOf(remove(user, `${MINE}/collections/${other.id}`))).toBe(200);
  expect(await statusOf(easel.fetch(`${MINE}?collection=${made.id}`, { token: (stranger as TestUser).token }))).toBe(404);
  expect(await statusOf(remove(user, `${items}/${file.id}`))).toBe(200);
  expect((await get(user, `${MINE}/collections/${made.id}`)).itemCount).toBe(0);
  expect(await statusOf(remove(user, `${MINE}/collections/${made.id}`))).toBe(200);
  expect(await statusOf(easel.fetch(`${MINE}/${file.id}`, { token: user.token }))).toBe(200);
});

test('members read and upload; who has stored a file and who runs the workspace change it; agents by their scopes', async () => {
  const { id } = await delivered(easel, member as TestUser, 'by a member', { base: ours });
  const content = `/v1/files/${id}/content`;
  const people = { owner, admin, member, other, stranger, agent, reader, user } as Record<string, { token: string }>;
  const reads = await Promise.all(
    Object.entries(people).map(async ([name, by]) => [name, await statusOf(easel.fetch(content, { token: by.token }))]),
  );
  expect(Object.fromEntries(reads)).toEqual({
    ...{ owner: 200, admin: 200, member: 200, other: 200, agent: 200, reader: 200 },
    ...{ stranger: 404, user: 404 },
  });
  expect(await statusOf(easel.fetch(content))).toBe(404);

  const rename = (by: { token: string }, name: string) => statusOf(easel.fetch(`${ours}/${id}`, { token: by.token, ...patch({ name }) }));
  expect([await rename(other as TestUser, 'No'), await rename(agent, 'No'), await rename(stranger as TestUser, 'No')]).toEqual([
    403, 403, 404,
  ]);
  expect([await rename(member as TestUser, 'Mine'), await rename(admin as TestUser, 'Ours')]).toEqual([200, 200]);

  expect((await upload(easel, reader, 'no', { base: ours })).status).toBe(403);
  const byAgent = await delivered(easel, agent, 'by an agent', { base: ours });
  expect(byAgent.createdBy).toMatch(/^agt_/);
  expect(await statusOf(easel.fetch(MINE, { token: agent.token }))).toBe(403);
  // A personal library has nothing of a workspace, whoever has stored it.
  expect(await statusOf(easel.fetch(`${MINE}/${id}`, { token: (member as TestUser).token }))).toBe(404);

  expect(await statusOf(remove(other as TestUser, `${ours}/${byAgent.id}`))).toBe(403);
  expect(await statusOf(remove(admin as TestUser, `${ours}/${byAgent.id}`))).toBe(200);
  const actions = (await auditOf(easel, workspace)).map(([action]) => action);
  expect(actions).toEqual(['asset.upload', 'asset.create', 'asset.update', 'asset.update', 'asset.upload', 'asset.create', 'asset.delete']);
});

test('concurrent uploads fill a personal quota exactly, and a deletion makes room again', async () => {
  const somebody = await easel.newUser();
  const { bytesMax } = TIERS.free;
  await leaveRoom(easel, somebody, 300, bytesMax);
  const replies = await Promise.all(Array.from({ length: 6 }, (_, at) => upload(easel, somebody, `${at}`.repeat(100))));
  const refused = replies.filter(({ status }) => status !== 201);
  expect(replies.length - refused.length).toBe(3);
  for (const reply of refused) expect((await refusal(reply)).slice(0, 2)).toEqual([507, 'STORAGE_LIMIT_EXCEEDED']);
  const { loose, usedBytes } = await get(somebody, MINE);
  expect([loose.length, usedBytes]).toEqual([3, 300]);
  await leaveRoom(easel, somebody, 50, bytesMax);
  expect(await statusOf(remove(somebody, `${MINE}/loose/${loose[0].id}`))).toBe(200);
  // What was removed within a day counts against twice the maximum only.
  expect((await get(somebody, '/v1/account')).usage.bytes).toBe(bytesMax - 50 - 100);
});

test('the files of a workspace count for the workspace', async () => {
  const somebody = await easel.newUser();
  const small = await workspaceOf(easel, [[somebody, 'owner']]);
  const base = `/v1/workspaces/${small}/assets`;
  await easel.sql`insert into account_usage (account_id, bytes) values (${small}, ${TIERS.team.bytesMax - 250})`;
  const before = (await get(somebody, '/v1/account')).usage.bytes;
  const by = { token: await agentOf(easel, small, ['artifacts:publish']) };
  const replies = await Promise.all([somebody, by, by].map((one) => upload(easel, one, 'x'.repeat(100), { base })));
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 507]);
  expect((await get(somebody, '/v1/account')).usage.bytes).toBe(before);
});

test('a file of another type than it says is refused and takes no room', async () => {
  const somebody = await easel.newUser();
  const refused = await upload(easel, somebody, 'no image', { type: 'image/png', name: 'a.png' });
  expect((await refusal(refused)).slice(0, 2)).toEqual([400, 'INVALID_MIME_TYPE']);
  expect((await get(somebody, '/v1/account')).usage.bytes).toBe(0);
});

test('content has ranges, an ETag and a disposition, and is asked for each time', async () => {
  const { id } = await delivered(easel, user, '0123456789', { name: 'digits.md', type: 'text/markdown' });
  const path = `/v1/files/${id}/content`;
  const part = await easel.fetch(path, { token: user.token, headers: { range: 'bytes=2-4' } });
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 2-4/10', '234']);
  const whole = await easel.fetch(path, { token: user.token });
  expect(whole.headers.get('content-disposition')).toMatch(/^attachment; filename="digits.md"/);
  expect(whole.headers.get('cache-control')).toBe('private, no-cache');
  expect(whole.headers.get('x-content-type-options')).toBe('nosniff');
  const etag = whole.headers.get('etag') ?? '';
  await whole.arrayBuffer();
  const known = { token: user.token, headers: { 'if-none-match': etag } };
  expect((await easel.fetch(path, known)).status).toBe(304);
  const { id: blobId } = await json(await upload(easel, user, 'newer', { name: 'digits.md', type: 'text/markdown' }));
  await easel.fetch(`${MINE}/${id}/version`, { token: user.token, ...post({ blobId }) });
  expect(await textOf(user, path)).toBe('newer');
  expect((await easel.fetch(path, known)).status).toBe(200);
});

test('the sweep keeps what assets name, corrects nothing, and removes what nothing names any more', async () => {
  const somebody = await easel.newUser();
  const kept = await delivered(easel, somebody, 'kept by the sweep');
  const gone = await delivered(easel, somebody, 'gone with the sweep');
  const stored = async () => {
    const rows = await easel.sql<{ size: number }[]>`
      select size_bytes as size from stored_object where sha256 in (
        sha256('kept by the sweep'::bytea), sha256('gone with the sweep'::bytea)) order by 1`;
    return rows.map(({ size }) => size);
  };
  easel.clock.advance(2 * DAY_MS);
  await easel.sweep();
  expect(await stored()).toEqual([17, 19]);
  expect(await statusOf(remove(somebody, `${MINE}/${gone.id}`))).toBe(200);
  easel.clock.advance(2 * DAY_MS);
  await easel.sweep();
  expect(await stored()).toEqual([17]);
  expect(await textOf(somebody, `/v1/files/${kept.id}/content`)).toBe('kept by the sweep');
  expect((await get(somebody, '/v1/account')).usage.bytes).toBe(17);
});

test('the sweep removes the library of a deleted workspace, and what it counted', async () => {
  const by = await easel.newUser();
  const ended = await workspaceOf(easel, [[by, 'owner']]);
  const base = `/v1/workspaces/${ended}/assets`;
  await delivered(easel, by, 'of a workspace that ends', { base });
  await upload(easel, by, 'loose', { base });
  await easel.fetch(`${base}/collections`, { token: by.token, ...post({ name: 'Ended' }) });
  await easel.sql`update workspace set deleted_at_ms = ${easel.clock.nowMs()} where id = ${ended}`;
  expect(await easel.sweep()).toMatchObject({ assetsOfDeletedWorkspaces: 2, correctedAccounts: 0 });
  const [left] = await easel.sql`
    select (select count(*)::int from asset_file where workspace_id = ${ended}) as files,
      (select count(*)::int from asset_deliverable where workspace_id = ${ended}) as deliverables,
      (select count(*)::int from asset_collection where workspace_id = ${ended}) as collections,
      (select sum(bytes)::int from storage_release where account_id = ${ended}) as released`;
  expect(left).toEqual({ files: 0, deliverables: 0, collections: 0, released: 29 });
});
