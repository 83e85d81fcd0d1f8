/** The one way into a workspace, for those who are added, invited or join by themselves. */
import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { readPaidSeats } from '../../business/billing/rows.ts';
import type { Queries } from '../../deps.ts';
import { tierIn, tierOf } from '../../people/accounts/rows.ts';
import type { Accounts } from '../../people/accounts/rules.ts';
import { readLinked } from '../../people/persons/rows.ts';
import { countWorkspaces } from '../workspaces/rows.ts';
import { requireRoomForWorkspace } from '../workspaces/rules.ts';
import { countMembers, insertMember, readRole } from './rows.ts';
import { requireRoomForMember, requireSeat } from './rules.ts';

interface Joining {
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  readonly role: WorkspaceRole;
  /** Null where they join by themselves. */
  readonly addedBy: UserId | null;
  readonly nowMs: number;
}

/**
 * Makes an account a member of a workspace that is locked. Answers every account of that person, whom `person.changed` has to name. Throws
 * ALREADY_MEMBER where any of these is a member, WORKSPACE_LIMIT_EXCEEDED.
 */
export async function join(tx: Queries, joining: Joining): Promise<Accounts> {
  const { workspaceId, userId, role } = joining;
  const accounts = await readLinked(tx, [userId]);
  if ((await readRole(tx, workspaceId, accounts)) !== null) throw new Failure('ALREADY_MEMBER');
  const members = await countMembers(tx, workspaceId);
  requireRoomForMember(members, await tierIn(tx, null, workspaceId));
  requireSeat(members, await readPaidSeats(tx, workspaceId));
  requireRoomForWorkspace(await countWorkspaces(tx, accounts), role === 'owner', await tierOf(tx, userId));
  await insertMember(tx, joining);
  return accounts;
}
