/** What a decision about access costs for somebody with many workspaces and grants, beside somebody who has neither. In this process. */
import { type ArtifactHead, decide, type Grant, grantsOf, type UserPrincipal } from '../../actors/access/access.ts';
import { type ArtifactId, type FolderId, newId, type WorkspaceId } from '../../protocol/core/ids.ts';
import { CAPABILITIES } from '../../protocol/sharing/capability.ts';
import { type Spread, spreadOf } from '../report/statistics.ts';

const WORKSPACES = 20;
const GRANTS = 200;
/** Folders above an artifact whose grants reach it. */
const DEPTH = 4;
const DECISIONS = 400_000;

export interface AccessCost {
  /** ns a decision. */
  readonly plain: Spread;
  readonly loaded: Spread;
}

export function measureAccess(rounds: number): AccessCost {
  const workspaces = Array.from({ length: WORKSPACES }, () => newId('workspace'));
  const heads = Array.from({ length: GRANTS }, (_, index) => headIn(workspaces[index % WORKSPACES] as WorkspaceId));
  const plain = person([], []);
  // Half of them on an artifact, half on a folder above one.
  const loaded = person(
    workspaces,
    heads.map((head, index) => grantOn(head, index)),
  );
  const times = { plain: [] as number[], loaded: [] as number[] };
  // The first round only warms the code up.
  for (let round = 0; round <= rounds; round += 1) {
    const measured = { plain: nsEach(heads, plain), loaded: nsEach(heads, loaded) };
    if (round === 0) continue;
    times.plain.push(measured.plain);
    times.loaded.push(measured.loaded);
  }
  return { plain: spreadOf(times.plain), loaded: spreadOf(times.loaded) };
}

function nsEach(heads: readonly ArtifactHead[], principal: UserPrincipal): number {
  let allowed = 0;
  const began = process.hrtime.bigint();
  for (let index = 0; index < DECISIONS; index += 1) {
    if (decide(heads[index % heads.length] ?? null, principal, 'view', null) === 'allowed') allowed += 1;
  }
  const ns = Number(process.hrtime.bigint() - began);
  // What nobody reads, the compiler may leave out.
  const expected = principal.person.grants.byResource.size === 0 ? 0 : DECISIONS;
  if (allowed !== expected) throw new Error(`${allowed} of ${DECISIONS} decisions allowed instead of ${expected}.`);
  return ns / DECISIONS;
}

function headIn(workspaceId: WorkspaceId): ArtifactHead {
  const reach = Array.from({ length: DEPTH }, () => newId('folder'));
  return {
    id: newId('artifact'),
    slug: 'page',
    ownerId: newId('user'),
    workspaceId,
    folder: { id: reach[0] as FolderId, visibility: 'private', guestComments: false, reach },
    visibility: 'private',
    allowAnonWrite: false,
    allowAnonCollab: false,
    liveVersionId: null,
    deletedAtMs: null,
    collaborators: new Map(),
  };
}

function grantOn(head: ArtifactHead, index: number): Grant {
  const resourceId: ArtifactId | FolderId = index % 2 === 0 ? head.id : (head.folder?.reach[index % DEPTH] ?? head.id);
  return {
    id: newId('grant'),
    workspaceId: head.workspaceId as WorkspaceId,
    resourceId,
    capability: CAPABILITIES[index % CAPABILITIES.length] ?? 'view',
    externalId: newId('external'),
    shareeId: null,
    expiresAtMs: null,
  };
}

function person(workspaces: readonly WorkspaceId[], grants: readonly Grant[]): UserPrincipal {
  const userId = newId('user');
  return {
    kind: 'user',
    userId,
    tokenId: newId('token'),
    tokenKind: 'session',
    isAdmin: false,
    person: {
      id: newId('person'),
      accounts: new Set([userId]),
      workspaces: new Map(workspaces.map((id) => [id, 'member'])),
      grants: grantsOf(grants),
    },
  };
}
