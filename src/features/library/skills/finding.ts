/** Who sees, proposes to and approves which skill. */
import { type Principal, workspaceRoleOf } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { SkillId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { viewerOf } from '../../artifacts/artifacts/lists.ts';
import { isApprover, type Owned } from '../../artifacts/artifacts/skill-approvers.ts';
import type { Queries } from '../../deps.ts';
import { publishRuleFor } from '../../workspaces/publish-policy/rules.ts';
import { readSkill, type SkillRow } from './rows.ts';

/** Throws SKILL_NOT_FOUND, also for one that the caller does not see. */
export async function requireSkill(sql: Queries, principal: Principal, id: SkillId): Promise<SkillRow> {
  const row = await readSkill(sql, viewerOf(principal), id);
  if (row === null) throw new Failure('SKILL_NOT_FOUND');
  return row;
}

/** The same of one workspace. */
export async function requireSkillIn(sql: Queries, principal: Principal, id: SkillId, workspaceId: WorkspaceId | null): Promise<SkillRow> {
  const row = await requireSkill(sql, principal, id);
  if (workspaceId === null || row.workspace_id !== workspaceId) {
    throw new Failure('SKILL_NOT_FOUND', { message: 'The workspace has no such skill.' });
  }
  return row;
}

/** Whose versions the policy of the workspace lets go live at once. */
export async function mayApprove(sql: Queries, principal: Principal, row: SkillRow): Promise<boolean> {
  return isApprover(principal, ownedBy(row)) && (await publishRuleFor(sql, row.workspace_id, principal)) === 'free';
}

/** Throws SKILL_REQUIRES_APPROVAL, and FORBIDDEN for who could not propose either. */
export async function requireApprover(sql: Queries, principal: Principal, row: SkillRow): Promise<void> {
  requireMember(principal, row);
  if (!(await mayApprove(sql, principal, row))) throw new Failure('SKILL_REQUIRES_APPROVAL');
}

/** Throws FORBIDDEN: a public skill is read by everybody, and worked on in its workspace. */
export function requireMember(principal: Principal, row: SkillRow): void {
  const { workspace_id } = row;
  if (isApprover(principal, ownedBy(row)) || (workspace_id !== null && workspaceRoleOf(principal, workspace_id) !== undefined)) return;
  throw new Failure('FORBIDDEN', { message: 'Only members of its workspace work on a skill.' });
}

function ownedBy({ owner_id, workspace_id }: SkillRow): Owned {
  return { ownerId: owner_id, workspaceId: workspace_id };
}
