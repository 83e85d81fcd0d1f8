/** Team Space folders over HTTP: what they are, who sees them, how they move and end. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { newAgent, newWorkspace, type TestAgent } from '../../../support/workspaces.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

let [owner, admin, ada, ben, stranger] = [] as unknown as [TestUser, TestUser, TestUser, TestUser, TestUser];
let agent: TestAgent;
let workspaceId: WorkspaceId;
beforeEach(async () => {
  [owner, admin, ada, ben, stranger] = [
    await easel.newUser('pro'),
    await easel.newUser(),
    await easel.newUser(),
    await easel.newUser(),
    await easel.newUser(),
  ];
  const members = { [owner.userId]: 'owner', [admin.userId]: 'admin', [ada.userId]: 'member', [ben.userId]: 'member' } as const;
  workspaceId = await newWorkspace(easel, members);
  agent = await newAgent(easel, workspaceId, ['artifacts:read', 'artifacts:publish']);
});

type Caller = Pick<TestUser, 'token'> | undefined;
const at = (path = '') => `/v1/workspaces/${workspaceId}/folders${path}`;
const call = (who: Caller, path: string, init: RequestInit = {}) => easel.fetch(path, { ...init, ...(who && { token: who.token }) });

async function made(who: Caller, body: object) {
  const reply = await call(who, at(), post(body));
  const answer = await json(reply);
  if (reply.status !== 201) throw new Error(`${reply.status}: ${JSON.stringify(answer)}`);
  return answer;
}

const changed = async (who: Caller, id: string, body: object) => json(await call(who, at(`/${id}`), patch(body)));
const shown = async (who: Caller, id: string) => json(await call(who, at(`/${id}`)));
const statusOf = async (who: Caller, path: string, init: RequestInit = {}) => (await call(who, path, init)).status;
const names = async (who: Caller, query = '') => (await json(await call(who, at(query)))).folders.map(({ name }: { name: string }) => name);

test('a folder has a path, what its visibility comes to, a readme, and counts of what the caller sees', async () => {
  const plans = await made(ada, { name: 'Pläne 2026!', description: 'All of them', readme: '# Plans' });
  expect(plans).toEqual({
    id: plans.id,
    name: 'Pläne 2026!',
    slug: 'plane-2026',
    description: 'All of them',
    artifact_count: 0,
    parent_id: null,
    visibility: 'inherit',
    subfolder_count: 0,
    guest_comments: null,
    path: 'plane-2026',
    readme: '# Plans',
    effective_visibility: 'workspace',
    created_at: plans.created_at,
  });
  const inner = await made(ben, { name: 'Inner', parent_id: plans.id, visibility: 'public' });
  const deepest = await made(ben, { name: 'Deepest', parent_id: inner.id });
  expect([deepest.path, deepest.effective_visibility]).toEqual(['plane-2026/inner/deepest', 'public']);
  await published(easel, ada, { workspace_id: workspaceId, folder_id: plans.id, visibility: 'workspace' });
  await published(easel, ada, { workspace_id: workspaceId, folder_id: plans.id, visibility: 'private' });
  expect([(await shown(ada, plans.id)).artifact_count, (await shown(ben, plans.id)).artifact_count]).toEqual([2, 1]);
  expect((await shown(admin, plans.id)).artifact_count).toBe(2);
  expect(await json(await call(ben, at('/by-path/plane-2026/inner/deepest')))).toEqual(await shown(ben, deepest.id));
  const listed = await json(await call(ada, at()));
  const { path: _path, readme: _readme, effective_visibility: _effective, ...record } = await shown(ada, plans.id);
  expect(listed).toEqual({ folders: [{ ...record, subfolder_count: 1 }], can_create: true });
  expect(await names(ada, `?parent_id=${plans.id}`)).toEqual(['Inner']);
  expect(await names(ada, '?all=1')).toEqual(['Deepest', 'Inner', 'Pläne 2026!']);
  expect(await names(ada, `?all=1&parent_id=${plans.id}`)).toEqual(['Deepest', 'Inner']);
  expect(await refusal(call(ada, at(`?parent_id=${newId('folder')}`)))).toEqual([404, 'FOLDER_NOT_FOUND', 'parent_id']);
});

test('workspaces are named by id or slug, and folders only together with their own', async () => {
  const { id } = await made(ada, { name: 'One' });
  const slug = workspaceId.replace('_', '-');
  expect(await statusOf(ada, `/v1/workspaces/${slug}/folders/${id}`)).toBe(200);
  const other = await newWorkspace(easel, {});
  expect(await refusal(call(ada, `/v1/workspaces/${other}/folders/${id}`))).toEqual([404, 'FOLDER_NOT_FOUND', undefined]);
  expect(await refusal(call(ada, `/v1/workspaces/${other}/folders/${id}`, patch({ name: 'Two' })))).toEqual([
    404,
    'FOLDER_NOT_FOUND',
    undefined,
  ]);
  expect(await refusal(call(ada, `/v1/workspaces/${other}/folders`))).toEqual([404, 'WORKSPACE_NOT_FOUND', undefined]);
});

describe('who may what', () => {
  const callers = () => ({ owner, admin, ada, ben, agent, stranger, anonymous: undefined });
  const table: readonly [visibility: string, sees: string, changes: string][] = [
    ['inherit', 'owner admin ada ben agent', 'owner admin ada'],
    ['workspace', 'owner admin ada ben agent', 'owner admin ada'],
    ['public', 'owner admin ada ben agent stranger anonymous', 'owner admin ada'],
    ['private', 'owner admin ada', 'owner admin ada'],
  ];

  const refusalOf = (who: unknown, read: number) => {
    if (who === undefined) return 401;
    return who === agent || read === 200 ? 403 : 404;
  };

  test.each(table)('%s: seen by %s, changed by %s', async (visibility, sees, changes) => {
    const seeing: string[] = [];
    const changing: string[] = [];
    for (const [name, who] of Object.entries(callers())) {
      const { id, slug } = await made(ada, { name: `Of ${name}`, visibility });
      const read = await statusOf(who, at(`/${id}`));
      expect(await statusOf(who, at(`/by-path/${slug}`))).toBe(read);
      expect([200, 404]).toContain(read);
      if (read === 200) seeing.push(name);
      const write = await statusOf(who, at(`/${id}`), patch({ description: 'Mine' }));
      if (write === 200) changing.push(name);
      else expect(write, name).toBe(refusalOf(who, read));
      const removal = await statusOf(who, at(`/${id}`), { method: 'DELETE' });
      expect(removal, name).toBe(write);
    }
    expect([seeing.join(' '), changing.join(' ')]).toEqual([sees, changes]);
  });

  test('members list and make folders; agents list them; nobody else is told that there is a workspace', async () => {
    await made(ada, { name: 'Public', visibility: 'public' });
    for (const who of [owner, admin, ada, ben, agent]) expect(await statusOf(who, at())).toBe(200);
    expect((await json(await call(agent, at()))).can_create).toBe(false);
    expect(await statusOf(agent, at(), post({ name: 'By an agent' }))).toBe(403);
    expect(await statusOf(stranger, at())).toBe(404);
    expect(await statusOf(stranger, at(), post({ name: 'Intruder' }))).toBe(404);
    expect(await statusOf(undefined, at())).toBe(401);
    const reader = await newAgent(easel, workspaceId, ['data:read']);
    expect((await refusal(call(reader, at())))[1]).toBe('INSUFFICIENT_SCOPE');
  });
});

describe('slugs', () => {
  test('are unique among siblings: one that is asked for is refused, one that is made is numbered', async () => {
    const first = await made(ada, { name: 'Same' });
    expect(await refusal(call(ben, at(), post({ name: 'Other', slug: 'same' })))).toEqual([409, 'SLUG_TAKEN', 'slug']);
    expect((await made(ben, { name: 'Same' })).slug).toBe('same-2');
    expect((await made(ben, { name: 'Same', parent_id: first.id })).slug).toBe('same');
    const third = await made(ben, { name: 'Third' });
    expect(await refusal(call(ben, at(`/${third.id}`), patch({ slug: 'same' })))).toEqual([409, 'SLUG_TAKEN', 'slug']);
    expect((await changed(ben, third.id, { slug: 'fourth' })).path).toBe('fourth');
    expect((await made(ben, { name: '日本' })).slug).toBe('folder');
    expect(await refusal(call(ben, at(), post({ name: 'x', slug: 'No' })))).toEqual([400, 'INVALID_REQUEST', 'slug']);
  });

  test('that are made at once are all different', async () => {
    const replies = await Promise.all(Array.from({ length: 12 }, () => made(ada, { name: 'Rush' })));
    expect(new Set(replies.map(({ slug }) => slug)).size).toBe(12);
  });

  test('tell nobody of a private folder that has the same name', async () => {
    const secret = await made(ada, { name: 'Merger', visibility: 'private' });
    const open = await made(ben, { name: 'Merger', slug: 'merger' });
    expect([secret.slug, open.slug]).toEqual(['merger', 'merger']);
    expect((await json(await call(ben, at('/by-path/merger')))).id).toBe(open.id);
    // Opened, it would clash, which its maker sees.
    expect(await refusal(call(ada, at(`/${secret.id}`), patch({ visibility: 'workspace' })))).toEqual([409, 'SLUG_TAKEN', 'slug']);
  });
});

describe('places', () => {
  test('a folder does not go into itself or below itself, whether moves come one after the other or at once', async () => {
    for (let round = 0; round < 8; round += 1) {
      const [a, b, c] = [await made(ada, { name: 'A' }), await made(ada, { name: 'B' }), await made(ada, { name: 'C' })];
      expect(await refusal(call(ada, at(`/${a.id}`), patch({ parent_id: a.id })))).toEqual([409, 'FOLDER_CYCLE', 'parent_id']);
      const into = (one: { id: string }, other: { id: string }) => statusOf(ada, at(`/${one.id}`), patch({ parent_id: other.id }));
      const statuses = await Promise.all([into(a, b), into(b, c), into(c, a)]);
      expect(statuses.toSorted()).toEqual([200, 200, 409]);
      const rows = await easel.sql<{ id: string }[]>`
        with recursive up (id, parent_id, steps) as (
          select id, parent_id, 1 from folder where id = any(${[a.id, b.id, c.id]})
          union all select up.id, f.parent_id, steps + 1 from up join folder f on f.id = up.parent_id where steps < 20)
        select id from up where steps >= 20`;
      expect(rows.length).toBe(0);
    }
  });

  test('there are as many levels as there may be, also when a folder with others below it moves', async () => {
    let parent_id: string | null = null;
    const chain: string[] = [];
    for (let level = 0; level < LIMITS.folderDepthMax; level += 1) {
      ({ id: parent_id } = await made(ada, { name: `L${level}`, parent_id }));
      chain.push(parent_id ?? '');
    }
    expect(await refusal(call(ada, at(), post({ name: 'Deeper', parent_id })))).toEqual([409, 'FOLDER_TOO_DEEP', 'parent_id']);
    const top = await made(ada, { name: 'Top' });
    await made(ada, { name: 'Below', parent_id: top.id });
    expect(await refusal(call(ada, at(`/${top.id}`), patch({ parent_id: chain.at(-2) })))).toEqual([409, 'FOLDER_TOO_DEEP', 'parent_id']);
    expect(await statusOf(ada, at(`/${top.id}`), patch({ parent_id: chain.at(-3) }))).toBe(200);
  });

  test('a workspace has as many folders as it may', async () => {
    await easel.sql`
      insert into folder (id, workspace_id, slug, name, created_at_ms, updated_at_ms)
      select 'fld_' || lpad(n::text, 6, '0') || substr(${workspaceId}, 5, 18), ${workspaceId}, 'f' || n, 'F', 0, 0 from generate_series(1, ${LIMITS.foldersMax - 1}) n`;
    expect(await statusOf(ada, at(), post({ name: 'Last' }))).toBe(201);
    expect(await refusal(call(ada, at(), post({ name: 'One more' })))).toEqual([409, 'FOLDER_LIMIT_EXCEEDED', undefined]);
    expect((await names(ada, '?all=1')).length).toBe(LIMITS.foldersMax);
  });

  test('a place that the caller does not see is no place', async () => {
    const secret = await made(ada, { name: 'Secret', visibility: 'private' });
    expect(await refusal(call(ben, at(), post({ name: 'In', parent_id: secret.id })))).toEqual([404, 'FOLDER_NOT_FOUND', 'parent_id']);
    const { id } = await made(ben, { name: 'Out' });
    expect(await refusal(call(ben, at(`/${id}`), patch({ parent_id: secret.id })))).toEqual([404, 'FOLDER_NOT_FOUND', 'parent_id']);
  });
});

describe('conditions', () => {
  test('an answer can be sent back, and a change is refused where the folder has changed', async () => {
    const { id } = await made(ada, { name: 'One', readme: 'text' });
    const reply = await call(ada, at(`/${id}`));
    const etag = reply.headers.get('etag') ?? '';
    const body = await json(reply);
    await published(easel, ada, { workspace_id: workspaceId, folder_id: id });
    // What is in it is no change of the folder itself.
    const same = await call(ada, at(`/${id}`), patch(body, { 'if-match': etag }));
    expect([same.status, (await json(same)).artifact_count]).toEqual([200, 1]);
    expect(await refusal(call(ada, at(`/${id}`), patch({ name: 'Two' }, { 'if-match': etag })))).toEqual([
      409,
      'VERSION_CONFLICT',
      undefined,
    ]);
    const stale = await call(ada, at(`/${id}`), { headers: { 'if-none-match': etag } });
    expect(stale.status).toBe(200);
    const now = stale.headers.get('etag') ?? '';
    expect(await statusOf(ada, at(`/${id}`), { headers: { 'if-none-match': now } })).toBe(304);
    expect(await statusOf(ada, at(`/${id}`), { method: 'DELETE', headers: { 'if-match': now } })).toBe(200);
    expect(await statusOf(ada, at(`/${id}`))).toBe(404);
  });
});

describe('a deleted folder', () => {
  test('leaves its artifacts unfiled and its folders one level up, and settles slugs that clash', async () => {
    const top = await made(ada, { name: 'Top' });
    const doomed = await made(ada, { name: 'Doomed', parent_id: top.id });
    const taken = await made(ada, { name: 'Same', parent_id: top.id });
    const inner = await made(ben, { name: 'Same', parent_id: doomed.id });
    const named = await made(ben, { name: 'Doomed', parent_id: doomed.id });
    const { id } = await published(easel, ada, { workspace_id: workspaceId, folder_id: doomed.id });
    const reply = await json(await call(ada, at(`/${doomed.id}`), { method: 'DELETE' }));
    expect(reply).toEqual({ success: true, deleted: doomed.id, artifacts_unfiled: 1, subfolders_moved: 2 });
    expect((await json(await call(ada, `/v1/artifacts/${id}`))).folder_id).toBe(null);
    expect([(await shown(ada, taken.id)).path, (await shown(ada, inner.id)).path]).toEqual(['top/same', 'top/same-2']);
    expect((await shown(ada, named.id)).parent_id).toBe(top.id);
    expect(await statusOf(ada, at(`/by-path/top/${(await shown(ada, named.id)).slug}`))).toBe(200);
  });

  test('that was private opens nothing that was in it', async () => {
    const secret = await made(ada, { name: 'Secret', visibility: 'private' });
    const inner = await made(ada, { name: 'Inner', parent_id: secret.id });
    const open = await published(easel, ada, { workspace_id: workspaceId, folder_id: secret.id, visibility: 'workspace' });
    const deep = await published(easel, ada, { workspace_id: workspaceId, folder_id: inner.id, visibility: 'workspace' });
    expect([await statusOf(ben, `/v1/artifacts/${open.id}`), await statusOf(ben, `/v1/artifacts/${deep.id}`)]).toEqual([404, 404]);
    expect(await statusOf(ada, at(`/${secret.id}`), { method: 'DELETE' })).toBe(200);
    expect([await statusOf(ben, `/v1/artifacts/${open.id}`), await statusOf(ben, `/v1/artifacts/${deep.id}`)]).toEqual([404, 404]);
    expect([await statusOf(ben, at(`/${inner.id}`)), (await shown(ada, inner.id)).visibility]).toEqual([404, 'private']);
    expect([await statusOf(admin, `/v1/artifacts/${open.id}`), await statusOf(ada, `/v1/artifacts/${open.id}`)]).toEqual([200, 200]);
    expect(await names(ben, '?all=1')).toEqual([]);
  });
});

test('I9: a move never opens what is below', async () => {
  const secret = await made(ada, { name: 'Secret', visibility: 'private' });
  const inner = await made(ada, { name: 'Inner', parent_id: secret.id });
  const deepest = await made(ada, { name: 'Deepest', parent_id: inner.id });
  const { id } = await published(easel, ada, { workspace_id: workspaceId, folder_id: deepest.id, visibility: 'workspace' });
  const hidden = await published(easel, ada, { workspace_id: workspaceId, folder_id: deepest.id, visibility: 'private' });
  const wide = await made(ben, { name: 'Wide', visibility: 'public' });
  const moved = await changed(ada, inner.id, { parent_id: wide.id });
  expect([moved.visibility, moved.effective_visibility, moved.path]).toEqual(['private', 'private', 'wide/inner']);
  expect((await shown(ada, deepest.id)).effective_visibility).toBe('private');
  for (const who of [ben, stranger, undefined]) {
    expect(await statusOf(who, `/v1/artifacts/${id}`)).toBe(404);
    expect(await statusOf(who, at(`/${deepest.id}`))).toBe(404);
    expect(await statusOf(who, at('/by-path/wide/inner'))).toBe(404);
  }
  expect((await shown(ben, wide.id)).subfolder_count).toBe(0);
  // Who asks for it opens it: the folder, and never what is private by itself.
  expect((await changed(ada, inner.id, { visibility: 'inherit' })).effective_visibility).toBe('public');
  expect([await statusOf(ben, `/v1/artifacts/${id}`), await statusOf(ben, `/v1/artifacts/${hidden.id}`)]).toEqual([200, 404]);
  expect([await statusOf(stranger, `/v1/artifacts/${id}`), await statusOf(stranger, at('/by-path/wide/inner/deepest'))]).toEqual([
    404, 200,
  ]);
  expect((await json(await call(ada, `/v1/artifacts/${id}`))).visibility).toBe('workspace');
});

test('I11: nothing tells of a hidden folder above or below one that is seen', async () => {
  const secret = await made(ada, { name: 'Acquisition', slug: 'acquisition', visibility: 'private' });
  const open = await made(ada, { name: 'Handbook', parent_id: secret.id, visibility: 'workspace' });
  const below = await made(ada, { name: 'Layoffs', parent_id: open.id, visibility: 'private' });
  const { id } = await published(easel, ada, { workspace_id: workspaceId, folder_id: below.id, visibility: 'public' });
  await easel.sql`update artifact set visibility = 'public' where id = ${id}`;
  const page = await published(easel, ada, {
    workspace_id: workspaceId,
    folder_id: secret.id,
    visibility: 'password',
    password: 'open sesame',
  });
  const secrets = [secret.id, below.id, 'acquisition', 'Acquisition', 'layoffs', 'Layoffs'];
  const replies = [
    await call(ben, at(`/${open.id}`)),
    await call(ben, at('/by-path/handbook')),
    await call(ben, at('?all=1')),
    await call(ben, at()),
    await call(ben, `/v1/artifacts?workspace_id=${workspaceId}`),
    await call(ben, `/v1/artifacts/${page.id}`),
    await call(ben, at('/by-path/acquisition/handbook')),
    await call(ben, `/v1/artifacts?folder_id=${below.id}`),
    await call(ben, at(`/${below.id}`), patch({ name: 'x' })),
  ];
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 404, 404, 404]);
  for (const reply of replies) {
    const text = `${await reply.text()} ${JSON.stringify([...reply.headers])}`;
    for (const word of secrets) expect(text).not.toContain(word);
  }
  const seen = await shown(ben, open.id);
  expect([seen.parent_id, seen.path, seen.subfolder_count, seen.artifact_count]).toEqual([null, 'handbook', 0, 0]);
  expect(await names(ben)).toEqual(['Handbook']);
  expect((await shown(ada, open.id)).path).toBe('acquisition/handbook');
  // Its maker, who does not see what is above any more, can send back what is shown: nothing moves.
  const above = await made(admin, { name: 'Above' });
  const own = await made(ben, { name: 'Own', parent_id: above.id });
  await changed(admin, above.id, { visibility: 'private' });
  const answer = await shown(ben, own.id);
  expect([answer.parent_id, answer.path]).toEqual([null, 'own']);
  expect((await changed(ben, own.id, answer)).parent_id).toBe(null);
  expect((await shown(admin, own.id)).parent_id).toBe(above.id);
});
