/** Every endpoint of the table, called by agents: with each single scope, with none, and from another workspace. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Endpoint, SCOPES, type Scope } from '../../protocol/core/endpoint.ts';
import type { EndpointId } from '../../protocol/table.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { agentOf, moveInto, workspaceOf } from '../support/workspaces.ts';
import { expectFailure, send, table } from './calls.ts';
import { type ExampleCall, exampleCall, makeWorld, type World, workspace } from './examples.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

/** Pages have something for everybody, agents included. */
const guarded = table.filter(([, { access }]) => access.who !== 'anyone' && access.who !== 'visitor');

/** What the example names is not the agent's, whatever its scopes: the answer, and why. */
const NOT_THEIRS: Partial<Readonly<Record<EndpointId, readonly [status: number, why: string]>>> = {
  'publish.upload': [404, 'the upload was begun by somebody else'],
  'workspaceAssets.sendPiece': [404, 'the upload was begun by somebody else'],
  'folders.move': [404, 'the artifact is private'],
  'skills.get': [404, 'the skill is of another workspace'],
  'skills.markdown': [404, 'the skill is of another workspace'],
  'skills.attach': [404, 'the skill is of another workspace'],
  'skillChanges.list': [404, 'the skill is of another workspace'],
  'skills.uses': [404, 'the skill is of another workspace'],
  'skillChanges.get': [404, 'the skill is of another workspace'],
  'files.content': [404, 'the file is in another workspace'],
  'files.thumbnail': [404, 'the file is in another workspace'],
  'comments.update': [403, 'only its author edits a comment'],
  'comments.unread': [401, 'agents have read nothing'],
  'comments.markRead': [401, 'agents have read nothing'],
};

/** How rules refuse whose callers are not found by their account. */
const REFUSALS: Partial<Readonly<Record<Endpoint['access']['who'], string>>> = {
  instanceAdmin: 'ADMIN_REQUIRED',
  instanceStaff: 'STAFF_REQUIRED',
};

/** What these concern belongs to an artifact that the path does not name. */
const ABOUT_ARTIFACT = /^(?:jobs|metrics|alerts|watches|email)\./;

/** The scope that the rule names; null where only people may call. */
function scopeOf({ access }: Endpoint): Scope | null {
  return 'scope' in access ? (access.scope ?? null) : null;
}

test('the endpoints that agents may call are known', () => {
  const by = (scope: Scope | null) => guarded.filter(([, endpoint]) => scopeOf(endpoint) === scope).map(([id]) => id);
  expect(Object.fromEntries([...SCOPES, null].map((scope) => [scope ?? 'people only', by(scope)]))).toMatchSnapshot();
});

describe.each(guarded)('%s', (id, endpoint) => {
  const needed = scopeOf(endpoint);
  let world: World;
  let example: ExampleCall;
  let workspaceId: string;
  beforeAll(async () => {
    world = await makeWorld(easel);
    // Prepared before its people call about it again, so that the agents find the artifact in their workspace.
    example = await exampleCall(id, world);
    const isAbout = 'param' in endpoint.access;
    workspaceId = example.params?.workspaceId ?? (isAbout ? (await workspace(world)).ids.workspace : await workspaceOf(easel, []));
    const isOfArtifact = endpoint.access.who === 'artifact' && endpoint.access.trashed !== true;
    if (isOfArtifact || ABOUT_ARTIFACT.test(id)) await moveInto(easel, world.owner, world.artifactId, workspaceId, { isOwned: true });
  });

  const callAs = async (scopes: readonly Scope[], at = workspaceId) =>
    send(easel, id, example, { token: await agentOf(easel, at, scopes) });

  if (needed === null) {
    test('refuses agents, whatever their scopes', async () => {
      const refused = await callAs(SCOPES);
      const { code } = (await refused.json()) as { code: string };
      const isTrashed = endpoint.access.who === 'artifact' && endpoint.access.trashed === true;
      if (isTrashed) expect([refused.status, code]).toEqual([404, 'ARTIFACT_NOT_FOUND']);
      else expect([refused.status, code]).toEqual([403, REFUSALS[endpoint.access.who] ?? 'FORBIDDEN']);
    });
    return;
  }

  test('names the scope that an agent lacks, with none and with each other', async () => {
    for (const scopes of [[], ...SCOPES.filter((scope) => scope !== needed).map((scope) => [scope])]) {
      const refused = await expectFailure(endpoint, await callAs(scopes), 'INSUFFICIENT_SCOPE');
      expect([refused.error, refused.hint]).toEqual([expect.stringContaining(needed), expect.stringContaining(needed)]);
    }
  });

  test('admits an agent with this scope alone, unless it needs more than an editor may', async () => {
    const reply = await callAs([needed]);
    const { access } = endpoint;
    const isOwners = access.who === 'artifact' && (access.need === 'own' || access.need === 'export');
    if (isOwners) await expectFailure(endpoint, reply, 'FORBIDDEN');
    else if (NOT_THEIRS[id] !== undefined) expect(reply.status).toBe(NOT_THEIRS[id][0]);
    else {
      expect(reply.status).not.toBe(401);
      expect(reply.status).not.toBe(403);
      expect(reply.status).not.toBe(404);
      await reply.body?.cancel();
    }
  });

  const { access } = endpoint;
  if (access.who === 'artifact' || access.who === 'workspace' || access.who === 'folder') {
    test('is hidden from agents of another workspace', async () => {
      const other = await workspaceOf(easel, []);
      const reply = await callAs(SCOPES, other);
      const code = { artifact: 'ARTIFACT_NOT_FOUND', workspace: 'WORKSPACE_NOT_FOUND', folder: 'FOLDER_NOT_FOUND' } as const;
      await expectFailure(endpoint, reply, code[access.who]);
    });
  }
});
