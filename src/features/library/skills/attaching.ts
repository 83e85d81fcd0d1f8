/** Skills that are attached to an artifact, or to a workspace as a whole. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { SkillId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { lockRow } from '../../artifacts/artifacts/rows.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';
import { lockWorkspace } from '../../workspaces/workspaces/rows.ts';
import { requireSkillIn } from './finding.ts';
import { type AttachedTo, countOtherAttachments, deleteAttachment, insertAttachment } from './rows.ts';

/** `workspaceId`: that of the artifact or workspace it is attached to. Throws SKILL_NOT_FOUND, SKILL_LIMIT_EXCEEDED. */
export async function attachSkill(
  { sql }: Pick<ServiceDeps, 'sql'>,
  call: AuditedCall,
  to: AttachedTo,
  skillId: SkillId,
  workspaceId: WorkspaceId | null,
): Promise<void> {
  await sql.begin(async (tx) => {
    await lock(tx, to);
    const { name } = await requireSkillIn(tx, call.principal, skillId, workspaceId);
    if ((await countOtherAttachments(tx, to, skillId)) >= LIMITS.skillsAttachedMax) {
      throw new Failure('SKILL_LIMIT_EXCEEDED', { message: `There are ${LIMITS.skillsAttachedMax} skills attached already.` });
    }
    if (await insertAttachment(tx, to, skillId, call.nowMs)) await auditIn(tx, call, workspaceId, 'skill.attach', to, { skillId, name });
  });
}

/** Throws SKILL_NOT_FOUND where it is not attached. */
export async function detachSkill(
  { sql }: Pick<ServiceDeps, 'sql'>,
  call: AuditedCall,
  to: AttachedTo,
  skillId: SkillId,
  workspaceId: WorkspaceId | null,
): Promise<void> {
  await sql.begin(async (tx) => {
    if (!(await deleteAttachment(tx, to, skillId))) throw new Failure('SKILL_NOT_FOUND', { message: 'This skill is not attached here.' });
    await auditIn(tx, call, workspaceId, 'skill.detach', to, { skillId, name: null });
  });
}

async function lock(tx: Queries, { artifactId, workspaceId }: AttachedTo): Promise<void> {
  if (artifactId !== null) await lockRow(tx, artifactId);
  if (workspaceId !== null) await lockWorkspace(tx, workspaceId);
}

async function auditIn(
  tx: Queries,
  call: AuditedCall,
  workspaceId: WorkspaceId | null,
  action: string,
  to: AttachedTo,
  { skillId, name }: { readonly skillId: SkillId; readonly name: string | null },
): Promise<void> {
  if (workspaceId === null) return;
  const detail = to.artifactId === null ? {} : { artifact: to.artifactId };
  await audit(tx, call, { workspaceId, action, target: { type: 'skill', id: skillId, name }, detail });
}
