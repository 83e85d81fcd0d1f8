/** Who may what with an artifact of a workspace, over HTTP: each caller, each visibility of the artifact, each effective visibility of its folder. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCOPES } from '../../../../protocol/core/endpoint.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, published } from '../../../support/requests.ts';
import { agentOf, newWorkspace } from '../../../support/workspaces.ts';

const VISIBILITIES = ['private', 'workspace', 'public'] as const;
const FOLDERS = ['workspace', 'private', 'public'] as const;

/**
 * What each caller gets when it reads the artifact, reads its data, writes its data, changes the artifact, and files it in another folder of
 * the same kind. `+` done, `-` FORBIDDEN, `s` INSUFFICIENT_SCOPE, `.` not there (404), `?` UNAUTHORIZED. The owner is a plain member and has
 * made the folders; collaborators are `inside` where they are members too. `shared outside` is what the workspace grants to people outside, of the
 * artifact itself or of the folder at the top.
 */
const EXPECTED = `
                        | private artifact        | workspace artifact      | public artifact
folder                  | workspace private public | workspace private public | workspace private public
owner                   | +++++  +++++  +++++     | +++++  +++++  +++++     | +++++  +++++  +++++
linked twin of owner    | +++++  +++++  +++++     | +++++  +++++  +++++     | +++++  +++++  +++++
editor inside           | +++++  ++++.  +++++     | +++++  ++++.  +++++     | +++++  ++++.  +++++
editor outside          | ++++.  ++++.  ++++.     | ++++.  ++++.  ++++.     | ++++.  ++++.  ++++.
viewer inside           | ++---  ++--.  ++---     | ++---  ++--.  ++---     | ++---  ++--.  ++---
viewer outside          | ++--.  ++--.  ++--.     | ++--.  ++--.  ++--.     | ++--.  ++--.  ++--.
member                  | .....  .....  .....     | ++---  .....  ++---     | ++---  ++--.  ++---
admin                   | ++--+  ++--+  ++--+     | ++--+  ++--+  ++--+     | ++--+  ++--+  ++--+
workspace owner         | ++--+  ++--+  ++--+     | ++--+  ++--+  ++--+     | ++--+  ++--+  ++--+
agent artifacts:read    | ....s  ....s  ....s     | +ss-s  ....s  +ss-s     | +ss-s  +ss-s  +ss-s
agent artifacts:publish | .....  .....  .....     | sss-+  .....  sss-+     | sss-+  sss-.  sss-+
agent data:read         | ....s  ....s  ....s     | s+s-s  ....s  s+s-s     | s+s-s  s+s-s  s+s-s
agent data:write        | ....s  ....s  ....s     | ss+-s  ....s  ss+-s     | ss+-s  ss+-s  ss+-s
agent of another        | .....  .....  .....     | .....  .....  .....     | ++--.  ++--.  ++--.
view shared outside     | ++--.  ++--.  ++--.     | ++--.  ++--.  ++--.     | ++--.  ++--.  ++--.
comment shared outside  | ++--.  ++--.  ++--.     | ++--.  ++--.  ++--.     | ++--.  ++--.  ++--.
create shared outside   | ++--.  ++--.  ++--.     | ++--.  ++--.  ++--.     | ++--.  ++--.  ++--.
edit shared outside     | +++-.  +++-.  +++-.     | +++-.  +++-.  +++-.     | +++-.  +++-.  +++-.
folder shared outside   | +++-.  +++-.  +++-.     | +++-.  +++-.  +++-.     | +++-.  +++-.  +++-.
stranger                | .....  .....  .....     | .....  .....  .....     | ++--.  ++--.  ++--.
anonymous               | ..???  ..???  ..???     | ..???  ..???  ..???     | ++???  ++???  ++???
revoked token of owner  | ?????  ?????  ?????     | ?????  ?????  ?????     | ?????  ?????  ?????
expired token of owner  | ?????  ?????  ?????     | ?????  ?????  ?????     | ?????  ?????  ?????`;

const ROWS = EXPECTED.trimEnd().split('\n').slice(3).map(rowOf);

/** The caller, and its cells in the order of the columns. */
function rowOf(line: string): readonly [caller: string, cells: readonly string[]] {
  const [caller = '', ...groups] = line.split('|');
  return [caller.trim(), groups.join(' ').trim().split(/ +/)];
}

/** One artifact of each column. It is filed back and forth between two folders. */
interface Column {
  readonly name: string;
  readonly id: string;
  readonly top: string;
  readonly folders: readonly [string, string];
  isMoved: boolean;
}

let easel: TestEasel;
let workspaceId: WorkspaceId;
let columns: readonly Column[];
let tokens: Readonly<Record<string, string | undefined>>;
beforeAll(async () => {
  easel = await startTestEasel();
  const users = await Promise.all(Array.from({ length: 10 }, () => easel.newUser('pro')));
  const [owner, twin, editor, guestEditor, viewer, guestViewer, member, admin, runner, stranger] = users as [TestUser, ...TestUser[]];
  const roles = [[owner, 'member'] as const, [editor, 'member'] as const, [viewer, 'member'] as const, [member, 'member'] as const];
  const seats = [...roles, [admin, 'admin'] as const, [runner, 'owner'] as const];
  workspaceId = await newWorkspace(easel, Object.fromEntries(seats.map(([user, role]) => [user?.userId, role])), { tier: 'team' });
  await easel.sql`
    update account set person_id = (select person_id from account where id = ${owner.userId}) where id = ${twin?.userId ?? ''}`;
  columns = await Promise.all(VISIBILITIES.flatMap((visibility) => FOLDERS.map((folder) => columnOf(owner, visibility, folder))));
  for (const { id } of columns) {
    for (const [user, role] of [[editor, 'editor'] as const, [guestEditor, 'editor'] as const]) await give(id, user, role);
    for (const [user, role] of [[viewer, 'viewer'] as const, [guestViewer, 'viewer'] as const]) await give(id, user, role);
    await easel.fetch(`/v1/data/${id}/json/k`, { token: owner.token, ...post(1), method: 'PUT' });
  }
  const expiring = await tokenOf(owner, { expires_at: new Date(easel.clock.nowMs() + 60_000).toISOString() });
  const revoked = await tokenOf(owner);
  // Both have counted, so that what is remembered of them has to go.
  for (const { token } of [expiring, revoked]) expect((await easel.fetch('/v1/me', { token })).status).toBe(200);
  await easel.fetch(`/v1/me/tokens/${revoked.id}`, { method: 'DELETE', token: owner.token });
  await easel.clock.advance(60_001);
  const agents = await Promise.all(SCOPES.map(async (scope) => [`agent ${scope}`, await agentOf(easel, workspaceId, [scope])] as const));
  const people = { editor, guestEditor, viewer, guestViewer, member, admin, runner, stranger, twin };
  const token = (who: keyof typeof people) => people[who]?.token;
  tokens = {
    ...Object.fromEntries(agents),
    owner: owner.token,
    'linked twin of owner': token('twin'),
    'editor inside': token('editor'),
    'editor outside': token('guestEditor'),
    'viewer inside': token('viewer'),
    'viewer outside': token('guestViewer'),
    member: token('member'),
    admin: token('admin'),
    'workspace owner': token('runner'),
    ...(await sharedOutside(runner)),
    'agent of another': await agentOf(easel, await newWorkspace(easel, {}), SCOPES),
    stranger: token('stranger'),
    anonymous: undefined,
    'revoked token of owner': revoked.token,
    'expired token of owner': expiring.token,
  };
});
afterAll(() => easel.close());

/** Below a folder that has the visibility, two that take it from there. */
async function columnOf(owner: TestUser, visibility: string, folder: (typeof FOLDERS)[number]): Promise<Column> {
  const make = async (body: object) => {
    const made = await easel.fetch(`/v1/workspaces/${workspaceId}/folders`, { token: owner.token, ...post(body) });
    expect(made.status).toBe(201);
    return json(made);
  };
  const name = `${visibility} artifact in ${folder} folder`;
  const top = await make({ name, visibility: folder });
  const [first, second] = [await make({ name: 'First', parent_id: top.id }), await make({ name: 'Second', parent_id: top.id })];
  expect([first.effective_visibility, second.effective_visibility]).toEqual([folder, folder]);
  const { id } = await published(easel, owner, { workspace_id: workspaceId, folder_id: first.id, visibility });
  return { name, id, top: top.id, folders: [first.id, second.id], isMoved: false };
}

/** People outside, each with one capability on every artifact, and one to whom the folders are shared. */
async function sharedOutside(by: TestUser | undefined): Promise<Readonly<Record<string, string>>> {
  const shared: Record<string, string> = {};
  const path = `/v1/workspaces/${workspaceId}/share-person`;
  for (const name of ['view', 'comment', 'create', 'edit', 'folder']) {
    const user = await easel.newUser();
    const email = `${name}@outside.example`;
    await easel.sql`update account set email = ${email} where id = ${user.userId}`;
    for (const { id, top } of columns) {
      const resource = name === 'folder' ? { resource_type: 'folder', resource_id: top } : { resource_type: 'artifact', resource_id: id };
      const body = { email, ...resource, capability: name === 'folder' ? 'edit' : name };
      expect((await easel.fetch(path, { token: by?.token ?? '', ...post(body) })).status).toBe(201);
    }
    shared[`${name} shared outside`] = user.token;
  }
  return shared;
}

async function give(artifactId: string, user: TestUser | undefined, role: string): Promise<void> {
  await easel.sql`
    insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${artifactId}, ${user?.userId ?? ''}, ${role}, 0)`;
}

async function tokenOf(user: TestUser, body: object = {}): Promise<{ readonly id: string; readonly token: string }> {
  return json(await easel.fetch('/v1/me/tokens', { token: user.token, ...post(body) }));
}

async function tried(caller: string, column: Column): Promise<string> {
  const token = tokens[caller];
  const call = (path: string, init: RequestInit = {}) => easel.fetch(path, { ...init, ...(token !== undefined && { token }) });
  const there = `/v1/artifacts/${column.id}`;
  const key = `/v1/data/${column.id}/json/k`;
  const to = column.folders[column.isMoved ? 0 : 1];
  const replies = [
    await call(there),
    await call(key),
    await call(key, { ...post(1), method: 'PUT' }),
    await call(there, patch({ name: column.name })),
    await call(`/v1/workspaces/${workspaceId}/artifacts/${column.id}/move`, post({ folder_id: to })),
  ];
  if (replies.at(-1)?.ok) column.isMoved = !column.isMoved;
  return (await Promise.all(replies.map(signOf))).join('');
}

async function signOf(reply: Response): Promise<string> {
  const { code } = await json(reply);
  if (reply.status === 200) return '+';
  const signs: Readonly<Record<string, string>> = {
    FORBIDDEN: '-',
    INSUFFICIENT_SCOPE: 's',
    UNAUTHORIZED: '?',
    ARTIFACT_NOT_FOUND: '.',
    WORKSPACE_NOT_FOUND: '.',
    FOLDER_NOT_FOUND: '.',
  };
  return signs[code] ?? `[${reply.status} ${code}]`;
}

test('the table has a row for every caller', () => {
  expect(ROWS.map(([caller]) => caller).toSorted()).toEqual(Object.keys(tokens).toSorted());
  for (const [, cells] of ROWS) expect(cells.length).toBe(columns.length);
});

test.each(ROWS)('%s', async (caller, cells) => {
  const found = await Promise.all(columns.map(async (column) => [column.name, await tried(caller, column)]));
  expect(found).toEqual(columns.map(({ name }, at) => [name, cells[at]]));
});
