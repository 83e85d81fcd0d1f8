/** Who may change whom in a workspace, decided without I/O. */
import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import { allowanceOf, hasRoom, roomierHint } from '../../business/tiers/rules.ts';

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

/** `seats`: that are paid for; null where the plan is not paid by seats. Throws WORKSPACE_LIMIT_EXCEEDED. */
export function requireSeat(members: number, seats: number | null): void {
  if (seats === null || members < seats) return;
  throw new Failure('WORKSPACE_LIMIT_EXCEEDED', {
    message: `All ${seats} seats that the workspace pays for are taken.`,
    hint: 'An owner buys more seats in billing, with PATCH /v1/billing/subscription, or removes members first.',
  });
}

/** Throws WORKSPACE_LIMIT_EXCEEDED where a workspace whose plan is of this tier has no seat left. */
export function requireRoomForMember(members: number, tier: Tier): void {
  if (hasRoom(tier, 'members', members)) return;
  throw new Failure('WORKSPACE_LIMIT_EXCEEDED', {
    message: `A workspace may have ${allowanceOf(tier).membersMax} members.`,
    hint: `Remove members first.${roomierHint(tier, 'members', members + 1)}`,
  });
}
