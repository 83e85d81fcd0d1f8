/** What people outside get by grants: a readable table, how far a folder's grants reach, and what holds for any world. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ArtifactHead,
  decide,
  folderGrant,
  type Grant,
  grantsAlone,
  grantsOf,
  type Reason,
  RIGHTS,
  rightsOfPerson,
  roleOf,
  standingAt,
} from '../../../actors/access/access.ts';
import type { Visibility } from '../../../protocol/artifacts/artifacts.ts';
import type { Need, WorkspaceRole } from '../../../protocol/core/endpoint.ts';
import { type ArtifactId, type FolderId, newId, type UserId, type WorkspaceId } from '../../../protocol/core/ids.ts';
import { CAPABILITIES, type Capability } from '../../../protocol/sharing/capability.ts';
import { userPrincipal } from '../../support/principals.ts';

const WORKSPACE = newId('workspace');
const ELSEWHERE = newId('workspace');
const ARTIFACT = newId('artifact');
const [TOP, MIDDLE, BOTTOM] = [newId('folder'), newId('folder'), newId('folder')];

function head(change: Partial<ArtifactHead> = {}): ArtifactHead {
  return {
    id: ARTIFACT,
    slug: 'page',
    ownerId: newId('user'),
    workspaceId: WORKSPACE,
    folder: null,
    visibility: 'private',
    allowAnonWrite: false,
    allowAnonCollab: false,
    liveVersionId: null,
    deletedAtMs: null,
    collaborators: new Map(),
    ...change,
  };
}

function grant(resourceId: ArtifactId | FolderId, capability: Capability, change: Partial<Grant> = {}): Grant {
  return {
    id: newId('grant'),
    workspaceId: WORKSPACE,
    resourceId,
    capability,
    externalId: newId('external'),
    shareeId: null,
    expiresAtMs: null,
    ...change,
  };
}

const outsider = (...grants: Grant[]) => userPrincipal(newId('user'), { grants });

const NEEDS: readonly Need[] = [
  ...(['view', 'data:read', 'collab:read', 'comment', 'comment:write', 'data:write', 'collab:write', 'edit'] as const),
  ...(['manage', 'export', 'oversee', 'own'] as const),
];
/** What each capability allows on a private page; all else is forbidden. */
const TABLE: Readonly<Record<Capability, string>> = {
  view: 'view data:read collab:read comment',
  comment: 'view data:read collab:read comment comment:write',
  create: 'view data:read collab:read comment comment:write',
  edit: 'view data:read collab:read comment comment:write data:write collab:write edit',
};

describe.each(CAPABILITIES)('%s', (capability) => {
  test.each(['itself', 'its folder', 'a folder above'] as const)('by a grant on %s', (where) => {
    const artifact = head({ folder: { id: BOTTOM, visibility: 'private', guestComments: false, reach: [BOTTOM, MIDDLE, TOP] } });
    const resource = { itself: ARTIFACT, 'its folder': BOTTOM, 'a folder above': TOP }[where];
    const principal = outsider(grant(resource, capability));
    const allowed = NEEDS.filter((need) => decide(artifact, principal, need, null) === 'allowed');
    expect(allowed.join(' ')).toBe(TABLE[capability]);
    expect(NEEDS.filter((need) => decide(artifact, principal, need, null) === 'forbidden')).toEqual(
      NEEDS.filter((need) => !allowed.includes(need)),
    );
  });
});

test('a grant counts only for its workspace, and opens nothing beyond what it reaches', () => {
  expect(decide(head(), outsider(grant(ARTIFACT, 'edit', { workspaceId: ELSEWHERE })), 'view', null)).toBe('hidden');
  expect(decide(head({ workspaceId: null }), outsider(grant(ARTIFACT, 'edit')), 'view', null)).toBe('hidden');
  // Below a folder that is private by its own setting, what is shared above does not reach.
  const closed = head({ folder: { id: BOTTOM, visibility: 'private', guestComments: false, reach: [BOTTOM] } });
  expect(decide(closed, outsider(grant(TOP, 'edit')), 'view', null)).toBe('hidden');
  expect(decide(closed, outsider(grant(BOTTOM, 'view')), 'view', null)).toBe('allowed');
});

test('whoever may only see comments where everybody does', () => {
  const principal = outsider(grant(ARTIFACT, 'view'));
  expect(decide(head(), principal, 'comment:write', null)).toBe('forbidden');
  expect(decide(head({ visibility: 'public' }), principal, 'comment:write', null)).toBe('allowed');
  expect(decide(head(), { ...principal, letInto: ARTIFACT }, 'comment:write', null)).toBe('allowed');
});

test('grants end at their time: those that last stay, and what a workspace shared is known afterwards', () => {
  const [soon, later] = [grant(ARTIFACT, 'edit', { expiresAtMs: 100 }), grant(ARTIFACT, 'view', { expiresAtMs: 200 })];
  const principal = outsider(soon, later);
  const role = (nowMs: number) => roleOf(head(), standingAt(principal, nowMs));
  expect([role(99), role(100), role(199), role(200)]).toEqual(['editor', 'viewer', 'viewer', 'none']);
  expect(standingAt(principal, 99)).toBe(principal);
  expect(standingAt(principal, 200).person.grants).toEqual({ byResource: new Map(), endMs: Infinity, sharedBy: new Set([WORKSPACE]) });
});

test('to publish into a folder takes create or edit', () => {
  const folder = { reach: [MIDDLE, TOP], workspaceId: WORKSPACE };
  const may = (capability: Capability) => folderGrant(folder, outsider(grant(TOP, capability)).person, true) !== undefined;
  expect(CAPABILITIES.filter(may)).toEqual(['create', 'edit']);
  expect(folderGrant({ ...folder, workspaceId: ELSEWHERE }, outsider(grant(TOP, 'edit')).person, true)).toBeUndefined();
});

const users = Array.from({ length: 4 }, () => newId('user'));
const folders = [TOP, MIDDLE, BOTTOM];
const heads = fc
  .record({
    visibility: fc.constantFrom<Visibility>('private', 'workspace', 'public', 'password'),
    ownerId: fc.constantFrom(null, ...users),
    workspaceId: fc.constantFrom<WorkspaceId | null>(null, WORKSPACE, ELSEWHERE),
    allowAnonWrite: fc.boolean(),
    allowAnonCollab: fc.boolean(),
    folder: fc.option(
      fc.record({
        id: fc.constant(BOTTOM),
        visibility: fc.constantFrom('public' as const, 'workspace' as const, 'private' as const),
        guestComments: fc.boolean(),
        reach: fc.subarray(folders),
      }),
    ),
    collaborators: fc
      .array(fc.tuple(fc.constantFrom(...users), fc.constantFrom('editor' as const, 'viewer' as const)))
      .map((all) => new Map(all)),
  })
  .map(head);
const grants = fc.array(
  fc
    .record({
      resource: fc.constantFrom<ArtifactId | FolderId>(ARTIFACT, ...folders),
      capability: fc.constantFrom(...CAPABILITIES),
      workspaceId: fc.constantFrom(WORKSPACE, ELSEWHERE),
    })
    .map(({ resource, capability, workspaceId }) => grant(resource, capability, { workspaceId })),
  { maxLength: 5 },
);
const callers = fc
  .record({
    linked: fc.subarray(users),
    seats: fc.array(fc.tuple(fc.constantFrom(WORKSPACE, ELSEWHERE), fc.constantFrom<WorkspaceRole>('owner', 'admin', 'member'))),
    grants,
  })
  .map(({ linked, seats, grants: given }) =>
    userPrincipal(newId('user'), { linked: linked as UserId[], workspaces: Object.fromEntries(seats), grants: given }),
  );

const SEEDED = { seed: 20261123, numRuns: 3000 };
const union = (reasons: readonly Reason[]) => reasons.reduce((rights, reason) => rights | reason.rights, 0);

test('the reasons add up to exactly what is decided', () => {
  fc.assert(
    fc.property(heads, callers, (artifact, principal) => {
      const reasons: Reason[] = [];
      const told = rightsOfPerson(artifact, principal.person, reasons);
      expect([told, union(reasons)]).toEqual([rightsOfPerson(artifact, principal.person), told]);
      for (const reason of reasons) expect(reason.rights).not.toBe(0);
      if (artifact.visibility === 'public') return;
      expect(decide(artifact, principal, 'view', null) === 'allowed').toBe((told & RIGHTS.see) !== 0);
      expect(decide(artifact, principal, 'edit', null) === 'allowed').toBe((told & RIGHTS.edit) !== 0);
      expect(decide(artifact, principal, 'own', null) === 'allowed').toBe((told & RIGHTS.own) !== 0);
    }),
    SEEDED,
  );
});

test('a grant never takes anything away, and gives nobody the right to decide who else sees the artifact', () => {
  fc.assert(
    fc.property(heads, callers, fc.constantFrom(...NEEDS), (artifact, principal, need) => {
      const without = { ...principal, person: { ...principal.person, grants: grantsOf([]) } };
      const [had, has] = [without, principal].map((one) => decide(artifact, one, need, null));
      if (had === 'allowed') expect(has).toBe('allowed');
      if (need === 'manage' || need === 'own' || need === 'export' || need === 'oversee') expect(has === 'allowed').toBe(had === 'allowed');
      const alone = grantsAlone(artifact, principal);
      expect(alone.length > 0).toBe(roleOf(artifact, without) === 'none' && roleOf(artifact, principal) !== 'none');
    }),
    SEEDED,
  );
});
