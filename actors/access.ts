/** Who may do what with an artifact: one pure function, used by every door (HTTP, WebSocket, jobs, published pages). */
import type { Need, Scope } from '../protocol/endpoint.ts';
import type { ArtifactId, TokenId, UserId, VersionId } from '../protocol/ids.ts';
import type { Visibility } from '../protocol/schemas/artifact.ts';

export type Principal =
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'user';
      readonly userId: UserId;
      readonly tokenId: TokenId;
      readonly tokenKind: 'personal' | 'session' | 'external';
      readonly isAdmin: boolean;
      /** Unix ms; what the token has opened ends then. */
      readonly expiresAtMs?: number | null;
    }
  /** A workspace agent, pinned to one workspace. */
  | { readonly kind: 'agent'; readonly tokenId: TokenId; readonly workspaceId: string; readonly scopes: readonly Scope[] };

export const ANONYMOUS: Principal = { kind: 'anonymous' };

export type Role = 'owner' | 'editor' | 'viewer' | 'none';

/** What a decision needs to know of an artifact. Cached by id; dropped whenever any of it changes. */
export interface ArtifactHead {
  readonly id: ArtifactId;
  readonly slug: string;
  readonly ownerId: UserId | null;
  readonly workspaceId: string | null;
  readonly visibility: Visibility;
  readonly allowAnonWrite: boolean;
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

/** Decides `need` on a live artifact. The trash is looked up apart, by its owner only. */
export function decide(head: ArtifactHead | null, principal: Principal, need: Need, scope: Scope): Decision {
  const writes = need !== 'view' && need !== 'data:read';
  if (head === null) return writes && principal.kind === 'anonymous' ? 'unauthenticated' : 'hidden';
  const role = roleOf(head, principal);
  const visible = role !== 'none' || head.visibility === 'public';
  if (principal.kind === 'agent' && role !== 'none' && !principal.scopes.includes(scope)) return 'insufficient_scope';
  if (!writes) return visible ? 'allowed' : 'hidden';
  if (need === 'data:write' && head.visibility === 'public' && head.allowAnonWrite) return 'allowed';
  if (principal.kind === 'anonymous') return 'unauthenticated';
  if (!visible) return 'hidden';
  if (role === 'owner') return 'allowed';
  if (role === 'editor' && need !== 'own') return 'allowed';
  return 'forbidden';
}
