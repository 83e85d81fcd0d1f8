/** Callers for tests of what is decided about them. */
import { type Grant, grantsOf, type Principal, type UserPrincipal } from '../../actors/access/access.ts';
import type { WorkspaceRole } from '../../protocol/core/endpoint.ts';
import { newId, type TokenId, type UserId, type WorkspaceId } from '../../protocol/core/ids.ts';

interface Standing {
  readonly tokenId?: TokenId;
  readonly isAdmin?: boolean;
  readonly isStaff?: boolean;
  readonly expiresAtMs?: number | null;
  /** Accounts that are linked with this one. */
  readonly linked?: readonly UserId[];
  readonly workspaces?: Readonly<Record<WorkspaceId, WorkspaceRole>>;
  /** What is shared with them from outside. */
  readonly grants?: readonly Grant[];
}

/** An account, alone and in no workspace unless told otherwise. */
export function userPrincipal(userId: UserId, standing: Standing = {}): UserPrincipal {
  const {
    tokenId = newId('token'),
    isAdmin = false,
    isStaff = false,
    expiresAtMs = null,
    linked = [],
    workspaces = {},
    grants = [],
  } = standing;
  return {
    kind: 'user',
    userId,
    person: {
      id: newId('person'),
      accounts: new Set([userId, ...linked]),
      workspaces: new Map(Object.entries(workspaces) as [WorkspaceId, WorkspaceRole][]),
      grants: grantsOf(grants),
    },
    tokenId,
    tokenKind: 'personal',
    isAdmin,
    isStaff,
    expiresAtMs,
  };
}

type Agent = Extract<Principal, { kind: 'agent' }>;

export function agentPrincipal(workspaceId: WorkspaceId, scopes: Agent['scopes'], tokenId: TokenId = newId('token')): Agent {
  return { kind: 'agent', tokenId, workspaceId, scopes, principalId: newId('agent'), name: 'Builder', expiresAtMs: null };
}
