/** Decisions about collaborators that need no I/O. */
import { type ArtifactHead, type Role, roleOfPerson } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { CollaboratorRole } from '../../../../protocol/sharing/collaborators.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Standing } from '../../people/persons/rows.ts';
import type { CollaboratorRow } from './rows.ts';

const RANKS: Readonly<Record<CollaboratorRole, number>> = { viewer: 0, editor: 1 };

/** Sharing raises roles and never lowers one: somebody who shares a page to be seen takes nothing away. */
export function isRaised(before: CollaboratorRole, given: CollaboratorRole): boolean {
  return RANKS[given] > RANKS[before];
}

/** Throws COLLABORATOR_LIMIT_EXCEEDED. */
export function requireRoomForCollaborators(there: number): void {
  if (there > LIMITS.collaboratorsMax) throw new Failure('COLLABORATOR_LIMIT_EXCEEDED');
}

/** Throws FORBIDDEN: the role of now is another than the one that the call was admitted with. */
export function requireOwner(role: Role): void {
  if (role !== 'owner') throw new Failure('FORBIDDEN', { hint: 'Only the owner of the artifact shares it and gives it away.' });
}

/** Throws FORBIDDEN. Before anything is told about whom it names. */
export function requireMayRemove(role: Role, isSelf: boolean): void {
  if (isSelf || role === 'owner') return;
  throw new Failure('FORBIDDEN', { message: 'Only the owner removes others.', hint: 'You may remove yourself, by your own address.' });
}

/** What a person may do; null for nothing. Everybody sees what is public. */
export function remainingRole(head: ArtifactHead, standing: Standing | undefined): Exclude<Role, 'none'> | null {
  const role = standing === undefined ? 'none' : roleOfPerson(head, standing.person);
  if (role !== 'none') return role;
  return head.visibility === 'public' ? 'viewer' : null;
}

export function isUserId(who: string): who is UserId {
  return who.startsWith('usr_');
}

export function presentCollaborator({ email, user_id, name, role, added_at_ms }: CollaboratorRow) {
  return { email, user_id, name, role, added_at: dateTime(added_at_ms), pending: user_id === null };
}
