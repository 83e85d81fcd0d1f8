/** What is proposed to a skill, and what becomes of it. */
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { SkillChangeId, SkillId, UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Fact } from '../../../platform/bus.ts';
import { auditArtifact } from '../../artifacts/artifacts/audit.ts';
import type { PublishDeps, Published } from '../../artifacts/publish/publish.ts';
import type { Queries } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import type { AuditedCall } from '../../workspaces/audit/audit.ts';
import {
  type ChangeRow,
  countOpen,
  type Decision,
  decideChange,
  forgetOldChanges,
  insertChange,
  lockSkill,
  readChange,
} from './change-rows.ts';
import { requireApprover, requireMember, requireSkill } from './finding.ts';
import { mergeSources } from './merge.ts';
import { tellApprovers, tellAuthor } from './notices.ts';
import { type PublishingCall, readMarkdown, renewSkill } from './publishing.ts';
import type { SkillRow } from './rows.ts';
import { readSource } from './source.ts';

export interface Proposal {
  readonly markdown: string;
  readonly title?: string | undefined;
  readonly note?: string | undefined;
}

/** Throws INVALID_REQUEST, FORBIDDEN, SKILL_LIMIT_EXCEEDED. */
export async function propose(
  deps: Pick<PublishDeps, 'sql' | 'objects' | 'bus'>,
  call: AuditedCall & { readonly user: UserId },
  skillId: SkillId,
  proposal: Proposal,
): Promise<ChangeRow> {
  const { principal, user, nowMs } = call;
  const row = await requireSkill(deps.sql, principal, skillId);
  requireMember(principal, row);
  const { markdown, name } = readSource(proposal.markdown);
  const baseMarkdown = await readMarkdown(deps, row);
  if (markdown === baseMarkdown) {
    throw new Failure('INVALID_REQUEST', {
      param: 'markdown',
      message: 'markdown: is what the live version has; there is nothing to change.',
    });
  }
  const { change, told } = await deps.sql.begin(async (tx) => {
    await lockSkill(tx, skillId);
    requireRoom(await countOpen(tx, skillId, accountsOf(principal)));
    const id = await insertChange(tx, {
      skillId,
      title: proposal.title ?? name,
      note: proposal.note ?? '',
      markdown,
      baseVersionNo: row.version_no,
      baseMarkdown,
      authorId: user,
      nowMs,
    });
    await auditSkill(tx, call, row, 'skill.propose', { change: id });
    const change = await requireChange(tx, skillId, id);
    return { change, told: await tellApprovers(tx, row, change, nowMs) };
  });
  deps.bus.tell(told);
  return change;
}

function requireRoom({ total, own }: { readonly total: number; readonly own: number }): void {
  if (total < LIMITS.skillChangesOpenMax && own < LIMITS.skillChangesOpenByPersonMax) return;
  const whose = own >= LIMITS.skillChangesOpenByPersonMax ? 'You have' : 'The skill has';
  throw new Failure('SKILL_LIMIT_EXCEEDED', { message: `${whose} as many open changes here as there may be.` });
}

/** Throws SKILL_CHANGE_NOT_FOUND. */
export async function requireChange(sql: Queries, skillId: SkillId, id: SkillChangeId): Promise<ChangeRow> {
  const row = await readChange(sql, skillId, id);
  if (row === null) throw new Failure('SKILL_CHANGE_NOT_FOUND');
  return row;
}

/** Joins it with the live version. Throws VERSION_CONFLICT, SKILL_CHANGE_CLOSED, and what a publish throws. */
export async function mergeChange(deps: PublishDeps, call: PublishingCall, row: SkillRow, change: ChangeRow): Promise<Published> {
  await requireApprover(deps.sql, call.principal, row);
  requireOpen(change);
  const source = readSource(mergeSources(await readMarkdown(deps, row), change.base_markdown, change.markdown));
  const label = [...change.title].slice(0, LABEL_CHARS_MAX).join('');
  const { note } = change;
  const accounts = accountsOf(call.principal);
  let told: Fact | undefined;
  const beside = async (tx: Queries, { versionNo, nowMs }: { versionNo: number; nowMs: number }) => {
    await settle(tx, change, { status: 'merged', versionNo, nowMs });
    await auditSkill(tx, call, row, 'skill.merge', { change: change.id, version_no: versionNo });
    told = await tellAuthor(tx, row, change, 'merged', { accounts, nowMs });
  };
  const published = await renewSkill(deps, call, { row, source, label, ...(note !== '' && { note }), beside });
  if (told !== undefined) deps.bus.tell(told);
  return published;
}

const LABEL_CHARS_MAX = 100;

/** By an approver. Throws SKILL_REQUIRES_APPROVAL, SKILL_CHANGE_CLOSED. */
export async function rejectChange(
  { sql, bus }: Pick<PublishDeps, 'sql' | 'bus'>,
  call: AuditedCall,
  row: SkillRow,
  change: ChangeRow,
): Promise<void> {
  const { principal, nowMs } = call;
  await requireApprover(sql, principal, row);
  const told = await sql.begin(async (tx) => {
    await close(tx, call, row, change, 'rejected');
    return tellAuthor(tx, row, change, 'rejected', { accounts: accountsOf(principal), nowMs });
  });
  bus.tell(told);
}

/** By its author. Throws FORBIDDEN, SKILL_CHANGE_CLOSED. */
export async function withdrawChange(
  { sql }: Pick<PublishDeps, 'sql'>,
  call: AuditedCall,
  row: SkillRow,
  change: ChangeRow,
): Promise<void> {
  requireAuthor(call.principal, change);
  await sql.begin((tx) => close(tx, call, row, change, 'withdrawn'));
}

function requireAuthor(principal: Principal, { author_id }: ChangeRow): void {
  if (author_id !== null && accountsOf(principal).includes(author_id)) return;
  throw new Failure('FORBIDDEN', { message: 'Only who has proposed a change withdraws it.', hint: 'Approvers reject it.' });
}

async function close(tx: Queries, call: AuditedCall, row: SkillRow, change: ChangeRow, status: 'rejected' | 'withdrawn'): Promise<void> {
  await settle(tx, change, { status, versionNo: null, nowMs: call.nowMs });
  await auditSkill(tx, call, row, status === 'rejected' ? 'skill.reject' : 'skill.withdraw', { change: change.id });
}

/** Throws SKILL_CHANGE_CLOSED where somebody was quicker. */
async function settle(tx: Queries, { id, skill_id }: ChangeRow, decision: Decision): Promise<void> {
  await lockSkill(tx, skill_id);
  requireOpen(await requireChange(tx, skill_id, id));
  await decideChange(tx, id, decision);
  await forgetOldChanges(tx, skill_id);
}

function requireOpen({ status }: ChangeRow): void {
  if (status !== 'open') throw new Failure('SKILL_CHANGE_CLOSED', { message: `This change was ${status} already.` });
}

async function auditSkill(tx: Queries, by: AuditedCall, row: SkillRow, action: string, detail: Record<string, unknown>): Promise<void> {
  await auditArtifact(tx, by, { id: row.artifact_id, name: row.name, workspace_id: row.workspace_id }, action, {
    skill: row.id,
    ...detail,
  });
}
