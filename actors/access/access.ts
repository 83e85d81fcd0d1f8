/** Who may do what with an artifact: one pure function, used by every door (HTTP, WebSocket, jobs, published pages). */

import type { Visibility } from '../../protocol/artifacts/artifacts.ts';
import type { Need, Scope, WorkspaceRole } from '../../protocol/core/endpoint.ts';
import type {
  AgentId,
  ArtifactId,
  DeliverableId,
  ExternalId,
  FolderId,
  GrantId,
  GuestId,
  JobId,
  PersonId,
  RunId,
  SessionId,
  ShareeId,
  TokenId,
  UserId,
  VersionId,
  WorkspaceId,
} from '../../protocol/core/ids.ts';
import type { Capability } from '../../protocol/sharing/capability.ts';

/** What a visitor has shown on the page's own origin: the password of the page, or a preview link. */
export interface Pass {
  readonly artifactId: ArtifactId;
  /** Unix ms. */
  readonly expiresAtMs: number;
}

interface Visitor {
  /** The one artifact that a pass opens. It ends also when the artifact changes: look it up again then. */
  readonly letInto?: ArtifactId;
  /** Unix ms; what the credential or the pass has opened ends then. */
  readonly expiresAtMs?: number | null;
}

/** Everything that belongs to one human being. It comes with the token, so that no decision needs a query. */
export interface Person {
  readonly id: PersonId;
  /** All linked accounts, the one that signed in included. */
  readonly accounts: ReadonlySet<UserId>;
  /** The best role of the linked accounts in each workspace. */
  readonly workspaces: ReadonlyMap<WorkspaceId, WorkspaceRole>;
  /** Workspaces of theirs that an administrator of the installation has suspended: they have no role there now. */
  readonly suspendedWorkspaces?: ReadonlySet<WorkspaceId>;
  /** What workspaces share with them from outside. None of it has ended where the principal is decided with (`standingAt`). */
  readonly grants: Grants;
}

/** What can be shared outside. A file opens by itself alone: no artifact is reached by it. */
export type SharedId = ArtifactId | FolderId | DeliverableId;

/** One thing that a workspace shares with somebody outside, directly or through an organisation of theirs. */
export interface Grant {
  readonly id: GrantId;
  readonly workspaceId: WorkspaceId;
  readonly resourceId: SharedId;
  readonly capability: Capability;
  /** As whom the workspace knows the person. */
  readonly externalId: ExternalId;
  /** Null where it is shared with the person alone. */
  readonly shareeId: ShareeId | null;
  /** Unix ms; null never ends. */
  readonly expiresAtMs: number | null;
}

export interface Grants {
  readonly byResource: ReadonlyMap<SharedId, readonly Grant[]>;
  /** Unix ms at which the first of them ends; Infinity where none does. */
  readonly endMs: number;
  /** Workspaces that have shared something with the person, whether or not they may share now: a change of these changes what counts. */
  readonly sharedBy: ReadonlySet<WorkspaceId>;
}

export const NO_GRANTS: Grants = { byResource: new Map(), endMs: Infinity, sharedBy: new Set() };

/** `sharedBy`: workspaces of grants that do not count now. */
export function grantsOf(grants: readonly Grant[], sharedBy: Iterable<WorkspaceId> = []): Grants {
  const byResource = new Map<SharedId, Grant[]>();
  const workspaces = new Set(sharedBy);
  let endMs = Infinity;
  for (const grant of grants) {
    const there = byResource.get(grant.resourceId);
    if (there === undefined) byResource.set(grant.resourceId, [grant]);
    else there.push(grant);
    workspaces.add(grant.workspaceId);
    if (grant.expiresAtMs !== null) endMs = Math.min(endMs, grant.expiresAtMs);
  }
  return byResource.size === 0 && workspaces.size === 0 ? NO_GRANTS : { byResource, endMs, sharedBy: workspaces };
}

/** The same caller without the grants that have ended by then. Decisions have no clock: whoever holds a principal asks this first. */
export function standingAt<P extends Principal>(principal: P, nowMs: number): P {
  if (principal.kind !== 'user' || principal.person.grants.endMs > nowMs) return principal;
  return { ...principal, person: personAt(principal.person, nowMs) };
}

export function personAt(person: Person, nowMs: number): Person {
  const { byResource, sharedBy, endMs } = person.grants;
  if (endMs > nowMs) return person;
  const live = [...byResource.values()].flat().filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
  return { ...person, grants: grantsOf(live, sharedBy) };
}

/** A person who was let onto a page's own origin by their session. */
export interface OnPage {
  /** The one artifact that they are themselves on. For any other they are nobody, because its page could act in their name. */
  readonly artifactId: ArtifactId;
  /** What has ended with it. */
  readonly sessionId: SessionId;
}

/** A run of a job, which calls in the name of who has made the job. */
export interface RunOrigin {
  readonly id: RunId;
  readonly jobId: JobId;
  /** The one artifact that it may touch. */
  readonly artifactId: ArtifactId;
  /** The jobs by whose changes it came to this run, this job last: where it grows too long, what the run changes sets off nothing any more. */
  readonly chain: readonly JobId[];
}

/** Who may answer tickets for the installation: not a page, a job or a token for people outside, whoever is behind it. */
export function isInstanceStaff(principal: Principal): boolean {
  if (principal.kind !== 'user' || principal.onPage !== undefined || principal.run !== undefined) return false;
  return principal.tokenKind !== 'external' && (principal.isAdmin || principal.isStaff === true);
}

/** Of what the caller changes: the jobs that have led to it, none where the caller is no run. */
export function chainOf(principal: Principal): readonly JobId[] {
  return (principal.kind === 'user' ? principal.run?.chain : undefined) ?? [];
}

export type Principal =
  | (Visitor & { readonly kind: 'anonymous' })
  | (Visitor & {
      readonly kind: 'user';
      /** The account that signed in. What is the caller's own is what belongs to any account of `person`. */
      readonly userId: UserId;
      readonly person: Person;
      readonly tokenId: TokenId;
      readonly tokenKind: 'personal' | 'session' | 'external';
      readonly isAdmin: boolean;
      /** Answers tickets for the installation; administrators do so too. */
      readonly isStaff?: boolean;
      /** Set where the credential is a cookie of a page's own origin. */
      readonly onPage?: OnPage;
      /** Set where a job calls. */
      readonly run?: RunOrigin;
    })
  /** Somebody without an account who has proved an e-mail address, to comment on one artifact. Anywhere else as good as anonymous. */
  | (Visitor & {
      readonly kind: 'guest';
      readonly guestId: GuestId;
      readonly artifactId: ArtifactId;
      readonly name: string;
      readonly email: string;
      readonly tokenId: TokenId;
      readonly expiresAtMs: number;
    })
  /** A service principal of one workspace. */
  | {
      readonly kind: 'agent';
      readonly tokenId: TokenId;
      readonly workspaceId: WorkspaceId;
      readonly scopes: readonly Scope[];
      readonly principalId: AgentId;
      readonly name: string;
      /** Unix ms; null never expires. */
      readonly expiresAtMs: number | null;
    };

export type UserPrincipal = Extract<Principal, { kind: 'user' }>;
export type AgentPrincipal = Extract<Principal, { kind: 'agent' }>;

export const ANONYMOUS: Principal = { kind: 'anonymous' };

/** The same caller with a pass. Agents need none: they see what their workspace has. */
export function letIn(principal: Principal, pass: Pass): Principal {
  if (principal.kind === 'agent') return principal;
  const expiresAtMs = Math.min(pass.expiresAtMs, principal.expiresAtMs ?? pass.expiresAtMs);
  return { ...principal, letInto: pass.artifactId, expiresAtMs };
}

export type Role = 'owner' | 'editor' | 'viewer' | 'none';

/** What a decision needs to know of an artifact. Cached by id; dropped whenever any of it changes. */
export interface ArtifactHead {
  readonly id: ArtifactId;
  readonly slug: string;
  /** Null where the workspace owns it. */
  readonly ownerId: UserId | null;
  readonly workspaceId: WorkspaceId | null;
  readonly folder: FolderOfHead | null;
  readonly visibility: Visibility;
  readonly allowAnonWrite: boolean;
  readonly allowAnonCollab: boolean;
  readonly liveVersionId: VersionId | null;
  /** Unix ms, null while live. */
  readonly deletedAtMs: number | null;
  readonly collaborators: ReadonlyMap<UserId, 'editor' | 'viewer'>;
  /** An administrator of the installation has suspended it, or its workspace: nobody uses it. */
  readonly isSuspended?: boolean;
}

export interface FolderOfHead {
  readonly id: FolderId;
  /** Of a Team Space folder, what its visibility comes to. Personal folders have none. */
  readonly visibility: 'public' | 'workspace' | 'private' | null;
  /** Whether comments of guests are taken in it, where an artifact's own settings do not say. */
  readonly guestComments: boolean;
  /**
   * The folders whose grants reach what is in this one: itself and those above it, up to the first that is private by its own setting, so that
   * a folder which was closed is not opened by what is shared above it.
   */
  readonly reach: readonly FolderId[];
}

/**
 * `hidden`: the caller may not know that it exists (404). `unauthenticated`: a credential might help (401). `suspended`: they might, and nobody
 * may now.
 */
export type Decision = 'allowed' | 'unauthenticated' | 'hidden' | 'forbidden' | 'insufficient_scope' | 'suspended';

/** The role in a workspace; an agent is a member of its own. */
export function workspaceRoleOf(principal: Principal, workspaceId: WorkspaceId): WorkspaceRole | undefined {
  if (principal.kind === 'user' && onlyArtifactOf(principal) !== undefined) return undefined;
  if (principal.kind === 'user') return principal.person.workspaces.get(workspaceId);
  return principal.kind === 'agent' && principal.workspaceId === workspaceId ? 'member' : undefined;
}

export function administers(role: WorkspaceRole | undefined): boolean {
  return role === 'owner' || role === 'admin';
}

/** What somebody may do with an artifact, as a set of bits. */
export const RIGHTS = { see: 1, comment: 2, data: 4, edit: 8, manage: 16, oversee: 32, own: 64 } as const;

const VIEWER = RIGHTS.see | RIGHTS.comment;
const EDITOR = VIEWER | RIGHTS.data | RIGHTS.edit | RIGHTS.manage;
/** Who runs a workspace sees all of it. */
const OVERSEER = VIEWER | RIGHTS.oversee;
const OWNER = EDITOR | RIGHTS.oversee | RIGHTS.own;
/** Grants never let decide who else sees the artifact. */
const GRANTED: Readonly<Record<Capability, number>> = {
  view: RIGHTS.see,
  comment: VIEWER,
  create: VIEWER,
  edit: VIEWER | RIGHTS.data | RIGHTS.edit,
};

/** What each need asks for. Whatever is beyond comments changes something, and needs a credential where it is not open to everybody. */
const NEEDED: Readonly<Record<Need, number>> = {
  view: RIGHTS.see,
  'data:read': RIGHTS.see,
  'collab:read': RIGHTS.see,
  comment: RIGHTS.see,
  'comment:write': RIGHTS.comment,
  'data:write': RIGHTS.data,
  'collab:write': RIGHTS.data,
  edit: RIGHTS.edit,
  manage: RIGHTS.manage,
  export: RIGHTS.oversee,
  oversee: RIGHTS.oversee,
  own: RIGHTS.own,
};

/** One rule that gives a person rights. */
export type Reason = { readonly rights: number } & (
  | { readonly rule: 'owner' | 'collaborator'; readonly account: UserId }
  | { readonly rule: 'role'; readonly workspaceId: WorkspaceId; readonly role: WorkspaceRole }
  | { readonly rule: 'grant'; readonly grant: Grant }
);

/**
 * What a person may do with an artifact, without any pass. The only evaluator: decisions take the set, and `reasons` collects each rule that
 * adds to it.
 */
export function rightsOfPerson(head: ArtifactHead, person: Person, reasons?: Reason[]): number {
  const { ownerId, workspaceId } = head;
  let rights = 0;
  if (ownerId !== null && person.accounts.has(ownerId)) {
    if (reasons === undefined) return OWNER;
    rights = OWNER;
    reasons.push({ rule: 'owner', account: ownerId, rights });
  }
  if (head.collaborators.size > 0) rights |= collaboration(head, person.accounts, reasons);
  if (workspaceId === null) return rights;
  const role = person.workspaces.get(workspaceId);
  if (role !== undefined) {
    const given = administers(role) ? (ownerId === null ? OWNER : OVERSEER) : isOpenToMembers(head) ? VIEWER : 0;
    if (given !== 0) reasons?.push({ rule: 'role', workspaceId, role, rights: given });
    rights |= given;
  }
  return person.grants.byResource.size === 0 ? rights : rights | granted(head, workspaceId, person.grants, reasons);
}

function collaboration(head: ArtifactHead, accounts: ReadonlySet<UserId>, reasons: Reason[] | undefined): number {
  let rights = 0;
  for (const account of accounts) {
    const role = head.collaborators.get(account);
    if (role === undefined) continue;
    const given = role === 'editor' ? EDITOR : VIEWER;
    reasons?.push({ rule: 'collaborator', account, rights: given });
    rights |= given;
  }
  return rights;
}

/** A grant counts as long as the artifact is in the workspace that gives it. */
function granted(head: ArtifactHead, workspaceId: WorkspaceId, { byResource }: Grants, reasons: Reason[] | undefined): number {
  let rights = given(byResource.get(head.id), workspaceId, reasons);
  if (head.folder !== null) for (const id of head.folder.reach) rights |= given(byResource.get(id), workspaceId, reasons);
  return rights;
}

function given(grants: readonly Grant[] | undefined, workspaceId: WorkspaceId, reasons: Reason[] | undefined): number {
  let rights = 0;
  if (grants === undefined) return rights;
  for (const grant of grants) {
    if (grant.workspaceId !== workspaceId) continue;
    reasons?.push({ rule: 'grant', grant, rights: GRANTED[grant.capability] });
    rights |= GRANTED[grant.capability];
  }
  return rights;
}

/** The first grant by which a person sees what is in a folder of this reach; with `creates`, by which they publish new artifacts there. */
export function folderGrant(
  { reach, workspaceId }: { readonly reach: readonly FolderId[]; readonly workspaceId: WorkspaceId | null },
  { grants }: Person,
  creates: boolean,
): Grant | undefined {
  if (grants.byResource.size === 0) return undefined;
  for (const id of reach) {
    const found = grants.byResource
      .get(id)
      ?.find((grant) => grant.workspaceId === workspaceId && (!creates || grant.capability === 'create' || grant.capability === 'edit'));
    if (found !== undefined) return found;
  }
  return undefined;
}

function rightsOf(head: ArtifactHead, principal: Principal): number {
  if (principal.kind === 'user') return isElsewhere(head, principal) ? 0 : rightsOfPerson(head, principal.person);
  // An agent acts for its workspace as an editor of all that the workspace owns or its members see; its scopes narrow that.
  if (principal.kind !== 'agent' || head.workspaceId !== principal.workspaceId) return 0;
  return head.ownerId === null || isOpenToMembers(head) ? EDITOR : 0;
}

/** The best of what the caller is as a person, as a collaborator, as a member of the artifact's workspace and as somebody it is shared with. */
export function roleOf(head: ArtifactHead, principal: Principal): Role {
  return roleWith(rightsOf(head, principal));
}

/** The role of a person on an artifact, without any pass. */
export function roleOfPerson(head: ArtifactHead, person: Person): Role {
  return roleWith(rightsOfPerson(head, person));
}

function roleWith(rights: number): Role {
  if ((rights & RIGHTS.own) !== 0) return 'owner';
  if ((rights & RIGHTS.data) !== 0) return 'editor';
  return rights === 0 ? 'none' : 'viewer';
}

/** The grants by which alone a person sees the artifact; none where they are its owner, a collaborator or a member. */
export function grantsAlone(head: ArtifactHead, principal: Principal): readonly Grant[] {
  if (principal.kind !== 'user' || principal.person.grants.byResource.size === 0) return [];
  const reasons: Reason[] = [];
  rightsOfPerson(head, principal.person, reasons);
  const grants = reasons.flatMap((reason) => (reason.rule === 'grant' ? [reason.grant] : []));
  return grants.length === reasons.length ? grants : [];
}

/** Whether every member of its workspace sees the artifact. An effectively private folder narrows visibility `workspace`, and nothing else. */
export function isOpenToMembers({ visibility, folder }: ArtifactHead): boolean {
  if (visibility === 'workspace') return folder?.visibility !== 'private';
  return visibility !== 'private';
}

/**
 * Decides `need` on a live artifact. The trash is looked up apart, by its owner only. `scope`: what an agent's token needs, null where scopes are
 * not asked for. `comment`: the comment settings decide the rest.
 */
export function decide(head: ArtifactHead | null, principal: Principal, need: Need, scope: Scope | null): Decision {
  const decision = decideUnsuspended(head, principal, need, scope);
  // Strangers are answered as ever: that there is something to suspend is told only to those who might use it.
  return decision === 'allowed' && head?.isSuspended === true ? 'suspended' : decision;
}

function decideUnsuspended(head: ArtifactHead | null, principal: Principal, need: Need, scope: Scope | null): Decision {
  const needed = NEEDED[need];
  const changes = needed > RIGHTS.comment;
  if (head === null) return changes && isNobody(principal, head) ? 'unauthenticated' : 'hidden';
  const rights = rightsOf(head, principal);
  if (principal.kind === 'agent' && scope !== null && rights !== 0 && !principal.scopes.includes(scope)) return 'insufficient_scope';
  const isOpen = head.visibility === 'public' || isLetIn(head, principal);
  if (changes) return decideChange(head, principal, need, rights, rights !== 0 || isOpen);
  // Whoever opens a page that is open to them may comment, whatever else they were given.
  if (!isOpen && (rights & needed) === 0) return rights === 0 ? 'hidden' : 'forbidden';
  return need === 'collab:read' && !head.allowAnonCollab && isNobody(principal, head) ? 'unauthenticated' : 'allowed';
}

function decideChange(head: ArtifactHead, principal: Principal, need: Need, rights: number, visible: boolean): Decision {
  if (head.visibility === 'public' && isOpenTo(head, need)) return 'allowed';
  if (isNobody(principal, head)) return 'unauthenticated';
  if (!visible) return 'hidden';
  return (rights & NEEDED[need]) === 0 ? 'forbidden' : 'allowed';
}

/** Whether everybody who sees the artifact may also do this. */
function isOpenTo(head: ArtifactHead, need: Need): boolean {
  return (need === 'data:write' && head.allowAnonWrite) || (need === 'collab:write' && head.allowAnonCollab);
}

function isNobody(principal: Principal, head: ArtifactHead | null): boolean {
  return principal.kind === 'anonymous' || principal.kind === 'guest' || isElsewhere(head, principal);
}

/** Whether the caller is signed in on the page of another artifact only, or a job of another artifact. */
function isElsewhere(head: ArtifactHead | null, principal: Principal): boolean {
  if (principal.kind !== 'user') return false;
  const only = onlyArtifactOf(principal);
  return only !== undefined && only !== head?.id;
}

/** The one artifact that the caller is themselves on; undefined where there is no such bound. */
function onlyArtifactOf({ onPage, run }: UserPrincipal): ArtifactId | undefined {
  return onPage?.artifactId ?? run?.artifactId;
}

function isLetIn(head: ArtifactHead, principal: Principal): boolean {
  return principal.kind !== 'agent' && principal.letInto === head.id;
}

/** Whether a caller's access depends on a pass. A change of the artifact may end the pass: open connections then close and must be authorized again. */
export function standsOnPass(principal: Principal): boolean {
  return principal.kind !== 'agent' && principal.letInto !== undefined;
}
