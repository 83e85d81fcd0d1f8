/** Who may change whom in a workspace, decided without I/O. */
import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';

const RANKS: Readonly<Record<WorkspaceRole, number>> = { member: 0, admin: 1, owner: 2 };

export function outranks(one: WorkspaceRole, other: WorkspaceRole): boolean {
  return RANKS[one] > RANKS[other];
}

/** Admins give and take every role but that of an owner. Throws FORBIDDEN. */
export function requireMayAssign(actor: WorkspaceRole, ...roles: readonly WorkspaceRole[]): void {
  if (actor === 'owner' || (actor === 'admin' && !roles.includes('owner'))) return;
  throw new Failure('FORBIDDEN', { message: 'Only an owner of the workspace may do this.', hint: 'Ask an owner of the workspace.' });
}

/** Everybody may leave; otherwise as `requireMayAssign`. */
export function requireMayRemove(actor: WorkspaceRole, target: WorkspaceRole, isSelf: boolean): void {
  if (!isSelf) requireMayAssign(actor, target);
}

/** Throws LAST_OWNER. */
export function requireOwnerStays(before: WorkspaceRole, after: WorkspaceRole | null, hasOtherOwner: boolean): void {
  if (before === 'owner' && after !== 'owner' && !hasOtherOwner) throw new Failure('LAST_OWNER');
}

/** Throws WORKSPACE_LIMIT_EXCEEDED. */
export function requireRoomForMember(members: number): void {
  if (members < LIMITS.workspaceMembersMax) return;
  throw new Failure('WORKSPACE_LIMIT_EXCEEDED', { message: `A workspace may have ${LIMITS.workspaceMembersMax} members.` });
}
