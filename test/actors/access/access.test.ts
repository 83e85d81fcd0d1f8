/** What people get by linked accounts, workspaces and folders: a readable table, and what holds for any of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ANONYMOUS, type ArtifactHead, type Decision, decide, type Principal, roleOf } from '../../../actors/access/access.ts';
import type { Visibility } from '../../../protocol/artifacts/artifacts.ts';
import type { Need, WorkspaceRole } from '../../../protocol/core/endpoint.ts';
import { SCOPES } from '../../../protocol/core/endpoint.ts';
import { newId, type UserId, type WorkspaceId } from '../../../protocol/core/ids.ts';
import { agentPrincipal, userPrincipal } from '../../support/principals.ts';

const WORKSPACE = newId('workspace');
const [OWNER, TWIN, EDITOR, VIEWER, NOBODY] = Array.from({ length: 5 }, () => newId('user')) as [UserId, UserId, UserId, UserId, UserId];
const role = (seat: WorkspaceRole) => userPrincipal(newId('user'), { workspaces: { [WORKSPACE]: seat } });

const CALLERS = {
  owner: userPrincipal(OWNER),
  'linked twin of the owner': userPrincipal(TWIN, { linked: [OWNER] }),
  editor: userPrincipal(EDITOR),
  'linked twin of editor and viewer': userPrincipal(TWIN, { linked: [VIEWER, EDITOR] }),
  viewer: userPrincipal(VIEWER),
  'workspace owner': role('owner'),
  'workspace admin': role('admin'),
  member: role('member'),
  'member of another workspace': userPrincipal(newId('user'), { workspaces: { [newId('workspace')]: 'owner' } }),
  agent: agentPrincipal(WORKSPACE, SCOPES),
  'agent of another workspace': agentPrincipal(newId('workspace'), SCOPES),
  stranger: userPrincipal(NOBODY),
  anonymous: ANONYMOUS,
} satisfies Readonly<Record<string, Principal>>;
type Caller = keyof typeof CALLERS;

function head(change: Partial<ArtifactHead>): ArtifactHead {
  return {
    id: newId('artifact'),
    slug: 'page',
    ownerId: OWNER,
    workspaceId: WORKSPACE,
    folder: null,
    visibility: 'private',
    allowAnonWrite: false,
    allowAnonCollab: false,
    liveVersionId: null,
    deletedAtMs: null,
    collaborators: new Map([
      [EDITOR, 'editor'],
      [VIEWER, 'viewer'],
    ]),
    ...change,
  };
}

const inFolder = (visibility: 'public' | 'workspace' | 'private' | null) => ({
  id: newId('folder'),
  visibility,
  guestComments: false,
  reach: [],
});

/** The artifacts, by what sets them apart. A `password` page is open to members as a `workspace` one is, and narrowed by no folder. */
const ARTIFACTS = {
  'private, of a person': head({}),
  'private, of the workspace': head({ ownerId: null }),
  'workspace, of a person': head({ visibility: 'workspace' }),
  'password, of a person': head({ visibility: 'password', folder: inFolder('private') }),
  'workspace, of a person, in a private folder': head({ visibility: 'workspace', folder: inFolder('private') }),
  'workspace, of the workspace, in a private folder': head({ ownerId: null, visibility: 'workspace', folder: inFolder('private') }),
  'private, of a person, in a public folder': head({ folder: inFolder('public') }),
  'workspace, of a person, in a personal folder': head({ visibility: 'workspace', folder: inFolder(null) }),
  'public, of a person, in a private folder': head({ visibility: 'public', folder: inFolder('private') }),
} as const;
type Kind = keyof typeof ARTIFACTS;

/** For each artifact who may view it, edit it, export it and own it. Everybody who is not named may nothing. */
const TABLE: Readonly<Record<Kind, Readonly<Partial<Record<Caller, string>>>>> = {
  'private, of a person': {
    owner: 'view edit export own',
    'linked twin of the owner': 'view edit export own',
    editor: 'view edit',
    'linked twin of editor and viewer': 'view edit',
    viewer: 'view',
    'workspace owner': 'view export',
    'workspace admin': 'view export',
  },
  'private, of the workspace': {
    editor: 'view edit',
    'linked twin of editor and viewer': 'view edit',
    viewer: 'view',
    'workspace owner': 'view edit export own',
    'workspace admin': 'view edit export own',
    agent: 'view edit',
  },
  'workspace, of a person': {
    owner: 'view edit export own',
    'linked twin of the owner': 'view edit export own',
    editor: 'view edit',
    'linked twin of editor and viewer': 'view edit',
    viewer: 'view',
    'workspace owner': 'view export',
    'workspace admin': 'view export',
    member: 'view',
    agent: 'view edit',
  },
  'password, of a person': {
    owner: 'view edit export own',
    'linked twin of the owner': 'view edit export own',
    editor: 'view edit',
    'linked twin of editor and viewer': 'view edit',
    viewer: 'view',
    'workspace owner': 'view export',
    'workspace admin': 'view export',
    member: 'view',
    agent: 'view edit',
  },
  'workspace, of a person, in a private folder': {
    owner: 'view edit export own',
    'linked twin of the owner': 'view edit export own',
    editor: 'view edit',
    'linked twin of editor and viewer': 'view edit',
    viewer: 'view',
    'workspace owner': 'view export',
    'workspace admin': 'view export',
  },
  'workspace, of the workspace, in a private folder': {
    editor: 'view edit',
    'linked twin of editor and viewer': 'view edit',
    viewer: 'view',
    'workspace owner': 'view edit export own',
    'workspace admin': 'view edit export own',
    agent: 'view edit',
  },
  'private, of a person, in a public folder': {
    owner: 'view edit export own',
    'linked twin of the owner': 'view edit export own',
    editor: 'view edit',
    'linked twin of editor and viewer': 'view edit',
    viewer: 'view',
    'workspace owner': 'view export',
    'workspace admin': 'view export',
  },
  'workspace, of a person, in a personal folder': {
    owner: 'view edit export own',
    'linked twin of the owner': 'view edit export own',
    editor: 'view edit',
    'linked twin of editor and viewer': 'view edit',
    viewer: 'view',
    'workspace owner': 'view export',
    'workspace admin': 'view export',
    member: 'view',
    agent: 'view edit',
  },
  'public, of a person, in a private folder': {
    owner: 'view edit export own',
    'linked twin of the owner': 'view edit export own',
    editor: 'view edit',
    'linked twin of editor and viewer': 'view edit',
    viewer: 'view',
    'workspace owner': 'view export',
    'workspace admin': 'view export',
    member: 'view',
    'member of another workspace': 'view',
    agent: 'view edit',
    'agent of another workspace': 'view',
    stranger: 'view',
    anonymous: 'view',
  },
};

const NEEDS = ['view', 'edit', 'export', 'own'] as const satisfies readonly Need[];

describe.each(Object.keys(TABLE) as Kind[])('%s', (kind) => {
  test.each(Object.keys(CALLERS) as Caller[])('%s', (caller) => {
    const may = NEEDS.filter((need) => decide(ARTIFACTS[kind], CALLERS[caller], need, 'artifacts:read') === 'allowed');
    expect(may.join(' ')).toBe(TABLE[kind][caller] ?? '');
    // Whoever may not even view it does not learn that it exists.
    const refused = decide(ARTIFACTS[kind], CALLERS[caller], 'view', 'artifacts:read');
    expect(refused).toBe(may.includes('view') ? 'allowed' : 'hidden');
  });
});

test('an agent does what its scopes name, and nothing else', () => {
  for (const scope of SCOPES) {
    const agent = agentPrincipal(WORKSPACE, [scope]);
    const decisions = SCOPES.map((needed) => decide(ARTIFACTS['private, of the workspace'], agent, 'view', needed));
    expect(decisions).toEqual(SCOPES.map((needed): Decision => (needed === scope ? 'allowed' : 'insufficient_scope')));
  }
});

const SEEDED = { seed: 20261122, numRuns: 2000 };
const visibilities = fc.constantFrom<Visibility>('private', 'workspace', 'public', 'password');
const folders = fc.constantFrom(null, ...(['public', 'workspace', 'private', null] as const).map(inFolder));
const users = Array.from({ length: 4 }, () => newId('user'));
const workspaces: readonly WorkspaceId[] = [WORKSPACE, newId('workspace')];
const roles = fc.constantFrom<WorkspaceRole>('owner', 'admin', 'member');
const RANKS = { none: 0, viewer: 1, editor: 2, owner: 3 } as const;
const SEATS = { member: 0, admin: 1, owner: 2 } as const;
const needs = fc.constantFrom<Need>('view', 'edit', 'own', 'export', 'data:read', 'data:write', 'collab:read', 'collab:write', 'comment');

const heads = fc
  .record({
    visibility: visibilities,
    folder: folders,
    ownerId: fc.constantFrom(null, ...users),
    workspaceId: fc.constantFrom(null, ...workspaces),
    allowAnonWrite: fc.boolean(),
    allowAnonCollab: fc.boolean(),
    collaborators: fc.uniqueArray(fc.tuple(fc.constantFrom(...users), fc.constantFrom('editor' as const, 'viewer' as const)), {
      selector: ([id]) => id,
    }),
  })
  .map(({ collaborators, ...rest }) => head({ ...rest, collaborators: new Map(collaborators) }));

/** Memberships of each account, before any are linked. */
const memberships = fc.array(fc.tuple(fc.constantFrom(...users), fc.constantFrom(...workspaces), roles), { maxLength: 6 });

function seats(of: readonly UserId[], all: readonly (readonly [UserId, WorkspaceId, WorkspaceRole])[]) {
  const best: Record<WorkspaceId, WorkspaceRole> = {};
  for (const [user, workspace, seat] of all) {
    const known = best[workspace];
    if (of.includes(user) && (known === undefined || SEATS[seat] > SEATS[known])) best[workspace] = seat;
  }
  return best;
}

test('after any sequence of links, each account has exactly the union of what the linked ones had alone', () => {
  const links = fc.array(fc.tuple(fc.constantFrom(...users), fc.constantFrom(...users), fc.boolean()), { maxLength: 12 });
  fc.assert(
    fc.property(heads, memberships, links, (artifact, members, sequence) => {
      const persons = new Map(users.map((user) => [user, new Set<UserId>([user])]));
      for (const [one, other, isLink] of sequence) {
        const [mine, theirs] = [persons.get(one) ?? new Set<UserId>(), persons.get(other) ?? new Set<UserId>()];
        if (isLink && mine !== theirs) {
          const joined = new Set([...mine, ...theirs]);
          for (const user of joined) persons.set(user, joined);
        } else if (!isLink && mine.size > 1) {
          mine.delete(one);
          persons.set(one, new Set([one]));
        }
      }
      for (const user of users) {
        const linked = [...(persons.get(user) ?? [])];
        const alone = linked.map((id) => roleOf(artifact, userPrincipal(id, { workspaces: seats([id], members) })));
        const together = roleOf(artifact, userPrincipal(user, { linked, workspaces: seats(linked, members) }));
        expect(together).toBe(alone.reduce((best, one) => (RANKS[one] > RANKS[best] ? one : best), 'none'));
      }
    }),
    SEEDED,
  );
});

test('a folder never widens what anybody may, and narrows only visibility workspace', () => {
  fc.assert(
    fc.property(heads, memberships, needs, (artifact, members, need) => {
      for (const user of users) {
        const principal = userPrincipal(user, { workspaces: seats([user], members) });
        const filed = decide(artifact, principal, need, 'data:read');
        const unfiled = decide({ ...artifact, folder: null }, principal, need, 'data:read');
        if (filed === 'allowed') expect(unfiled).toBe('allowed');
        if (artifact.visibility !== 'workspace' || artifact.folder?.visibility !== 'private') expect(filed).toBe(unfiled);
      }
    }),
    SEEDED,
  );
});

test('who has no role and no membership learns of an artifact only where it is public', () => {
  fc.assert(
    fc.property(heads, needs, (artifact, need) => {
      for (const principal of [userPrincipal(newId('user')), agentPrincipal(newId('workspace'), SCOPES)]) {
        const decision = decide(artifact, principal, need, 'data:read');
        if (artifact.visibility !== 'public') expect(decision).toBe('hidden');
        else if (need === 'edit' || need === 'own' || need === 'export') expect(decision).toBe('forbidden');
      }
    }),
    SEEDED,
  );
});

describe('somebody who is signed in on one page', () => {
  const NEEDS: readonly Need[] = ['view', 'edit', 'own', 'export', 'data:read', 'data:write', 'collab:read', 'collab:write', 'comment'];
  const [shown = head({}), ...others] = Object.values(ARTIFACTS);
  const people = Object.entries(CALLERS).flatMap(([name, caller]) => (caller.kind === 'user' ? [[name, caller] as const] : []));

  test.each(people)('%s is that on its artifact, and nobody on any other', (_name, caller) => {
    const viewer: Principal = { ...caller, isAdmin: true, onPage: { artifactId: shown.id, sessionId: newId('session') } };
    expect(roleOf(shown, viewer)).toBe(roleOf(shown, caller));
    for (const need of NEEDS) {
      // Only a whole export is given for a role in the workspace alone, and not to a page.
      if (need !== 'export') expect(decide(shown, viewer, need, null)).toBe(decide(shown, caller, need, null));
      for (const other of [...others, null]) expect(decide(other, viewer, need, null)).toBe(decide(other, ANONYMOUS, need, null));
    }
    for (const other of others) expect(roleOf(other, viewer)).toBe('none');
  });
});
