/** What the publish policy of a workspace makes of somebody's publish. */
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { readPolicy, runsWorkspace } from './rows.ts';

/** `free`: goes live. `waits`: until it is approved. `prohibited`: only owners and admins publish. */
export type PublishRule = 'free' | 'waits' | 'prohibited';

/** The rule for a version by this caller. It is read with the role of now, so that a role which was taken away a moment ago does not count. */
export async function publishRuleFor(sql: Queries, workspaceId: WorkspaceId | null, principal: Principal): Promise<PublishRule> {
  if (workspaceId === null) return 'free';
  const { policy } = await readPolicy(sql, workspaceId);
  if (policy === 'allow' || (await runsWorkspace(sql, workspaceId, accountsOf(principal)))) return 'free';
  return policy === 'prohibit' ? 'prohibited' : 'waits';
}

/** Throws FORBIDDEN. A draft goes nowhere, so anybody who may edit makes one. */
export function requireNotProhibited(rule: PublishRule, draft: boolean): void {
  if (rule !== 'prohibited' || draft) return;
  throw new Failure('FORBIDDEN', {
    message: 'In this workspace only owners and admins publish.',
    hint: 'Publish with "draft": true, and ask an owner or admin of the workspace to make it live.',
  });
}

/** For a version that is made live by name. Throws FORBIDDEN, REVIEW_REQUIRED. */
export function requireMayGoLive(
  rule: PublishRule,
  version: { readonly is_draft: boolean; readonly waiting_since_ms: number | null },
): void {
  // Whoever it is: approvals decide, and their record.
  if (version.waiting_since_ms !== null) throw new Failure('REVIEW_REQUIRED');
  requireNotProhibited(rule, false);
  if (rule !== 'waits' || !version.is_draft) return;
  throw new Failure('REVIEW_REQUIRED', {
    message: 'A draft goes live in this workspace when it has been approved.',
    hint: 'Publish it without "draft", so that it waits for approval.',
  });
}

/** Throws FORBIDDEN for a page that would be live in the workspace without its policy having been asked. */
export function requireMayMoveIn(rule: PublishRule, { live_version_id }: { readonly live_version_id: string | null }): void {
  if (rule === 'free' || live_version_id === null) return;
  throw new Failure('FORBIDDEN', {
    message: 'In this workspace a page goes live by decision of its owners and admins.',
    hint: 'Publish it into the workspace, or ask an owner or admin to move it.',
  });
}

/** Throws INVALID_REQUEST where fewer people can approve than are needed. */
export function requireEnoughReviewers(approvalsRequired: number, reviewers: number): void {
  if (approvalsRequired <= reviewers) return;
  throw new Failure('INVALID_REQUEST', {
    param: 'approvals_required',
    message: `approvals_required: must be at most ${reviewers}, the number of owners and admins.`,
    hint: 'Make more members admins first.',
  });
}
