/** Who may do what with an artifact: one pure function, used by every door (HTTP, WebSocket, jobs, published pages). */
import type { Need, Scope } from '../protocol/endpoint.ts';
import type { ArtifactId, GuestId, TokenId, UserId, VersionId } from '../protocol/ids.ts';
import type { Visibility } from '../protocol/schemas/artifact.ts';

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

export type Principal =
  | (Visitor & { readonly kind: 'anonymous' })
  | (Visitor & {
      readonly kind: 'user';
      readonly userId: UserId;
      readonly tokenId: TokenId;
      readonly tokenKind: 'personal' | 'session' | 'external';
      readonly isAdmin: boolean;
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
  /** A workspace agent, pinned to one workspace. */
  | { readonly kind: 'agent'; readonly tokenId: TokenId; readonly workspaceId: string; readonly scopes: readonly Scope[] };

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
  readonly ownerId: UserId | null;
  readonly workspaceId: string | null;
  readonly visibility: Visibility;
  readonly allowAnonWrite: boolean;
  readonly allowAnonCollab: boolean;
  readonly liveVersionId: VersionId | null;
  /** Unix ms, null while live. */
  readonly deletedAtMs: number | null;
  readonly collaborators: ReadonlyMap<UserId, 'editor' | 'viewer'>;
}

/** `hidden`: the caller may not know that it exists (404). `unauthenticated`: a credential might help (401). */
export type Decision = 'allowed' | 'unauthenticated' | 'hidden' | 'forbidden' | 'insufficient_scope';

export function roleOf(head: ArtifactHead, principal: Principal): Role {
  if (principal.kind === 'user') {
    if (head.ownerId === principal.userId) return 'owner';
    return head.collaborators.get(principal.userId) ?? 'none';
  }
  // An agent acts for its workspace as an editor; its scopes narrow that.
  if (principal.kind === 'agent' && head.workspaceId === principal.workspaceId) return 'editor';
  return 'none';
}

/** Decides `need` on a live artifact. The trash is looked up apart, by its owner only. `comment`: the comment settings decide the rest. */
export function decide(head: ArtifactHead | null, principal: Principal, need: Need, scope: Scope): Decision {
  const writes = need === 'data:write' || need === 'collab:write' || need === 'edit' || need === 'own';
  if (head === null) return writes && isNobody(principal) ? 'unauthenticated' : 'hidden';
  const role = roleOf(head, principal);
  const visible = role !== 'none' || head.visibility === 'public' || isLetIn(head, principal);
  if (principal.kind === 'agent' && role !== 'none' && !principal.scopes.includes(scope)) return 'insufficient_scope';
  if (writes) return decideWrite(head, principal, need, role, visible);
  if (!visible) return 'hidden';
  return need === 'collab:read' && !head.allowAnonCollab && isNobody(principal) ? 'unauthenticated' : 'allowed';
}

function decideWrite(head: ArtifactHead, principal: Principal, need: Need, role: Role, visible: boolean): Decision {
  if (head.visibility === 'public' && isOpenTo(head, need)) return 'allowed';
  if (isNobody(principal)) return 'unauthenticated';
  if (!visible) return 'hidden';
  if (role === 'owner') return 'allowed';
  if (role === 'editor' && need !== 'own') return 'allowed';
  return 'forbidden';
}

/** Whether everybody who sees the artifact may also do this. */
function isOpenTo(head: ArtifactHead, need: Need): boolean {
  return (need === 'data:write' && head.allowAnonWrite) || (need === 'collab:write' && head.allowAnonCollab);
}

function isNobody({ kind }: Principal): boolean {
  return kind === 'anonymous' || kind === 'guest';
}

function isLetIn(head: ArtifactHead, principal: Principal): boolean {
  return principal.kind !== 'agent' && principal.letInto === head.id;
}

/** Whether a caller stands on a pass, which a change of the artifact may have ended: what is open is closed then, and asked for again. */
export function standsOnPass(principal: Principal): boolean {
  return principal.kind !== 'agent' && principal.letInto !== undefined;
}
