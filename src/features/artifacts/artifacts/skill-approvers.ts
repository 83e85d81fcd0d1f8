/** Who decides what the source of a skill is. The resource of skills asks here, and so does whatever moves or removes versions. */
import { type ArtifactHead, administers, type Principal, workspaceRoleOf } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactRow } from './rows.ts';

export type Owned = Pick<ArtifactHead, 'ownerId' | 'workspaceId'>;

/** The owner of the skill, as long as they are in its workspace, and those who run the workspace. */
export function isApprover(principal: Principal, { ownerId, workspaceId }: Owned): boolean {
  if (principal.kind !== 'user') return false;
  const role = workspaceId === null ? undefined : workspaceRoleOf(principal, workspaceId);
  if (workspaceId !== null && role === undefined) return false;
  return (ownerId !== null && principal.person.accounts.has(ownerId)) || administers(role);
}

/** Editors, and agents, publish pages; what agents read as a skill only its approvers bring back. Throws SKILL_REQUIRES_APPROVAL. */
export function requireSkillApprover(principal: Principal, { kind, owner_id, workspace_id }: ArtifactRow): void {
  if (kind === 'skill' && !isApprover(principal, { ownerId: owner_id, workspaceId: workspace_id })) {
    throw new Failure('SKILL_REQUIRES_APPROVAL');
  }
}
