/** Who approves versions, and what an approval can still change. */
import { type ArtifactHead, administers, type Principal, type Role, roleOf, workspaceRoleOf } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { VersionRow } from '../versions/rows.ts';

/** Whoever runs the workspace of an artifact; of an artifact without one, who may edit it. Agents approve nothing. */
export function mayReview({ workspaceId }: Pick<ArtifactHead, 'workspaceId'>, principal: Principal, role: Role): boolean {
  if (principal.kind !== 'user') return false;
  if (workspaceId === null) return role === 'owner' || role === 'editor';
  return administers(workspaceRoleOf(principal, workspaceId));
}

export interface ReviewSight {
  readonly canReview: boolean;
  readonly seesApprovals: boolean;
}

/** Who approved what is told to those who approve, and to those who edit the artifact and wait for it. */
export function sightOfReview(head: ArtifactHead, principal: Principal): ReviewSight {
  const role = roleOf(head, principal);
  const canReview = mayReview(head, principal, role);
  return { canReview, seesApprovals: canReview || role === 'owner' || role === 'editor' };
}

/** Throws FORBIDDEN. */
export function requireReviewer(isReviewer: boolean): void {
  if (isReviewer) return;
  throw new Failure('FORBIDDEN', {
    message: 'You may not approve versions of this artifact.',
    hint: 'Owners and admins of its workspace approve; without a workspace, who may edit it.',
  });
}

/** Throws FORBIDDEN: nobody approves what they have published themselves, by whichever linked account. */
export function requireNotAuthor(isAuthor: boolean): void {
  if (!isAuthor) return;
  throw new Failure('FORBIDDEN', { message: 'You cannot approve your own version.', hint: 'Ask another owner or admin of the workspace.' });
}

/** Throws ALREADY_PUBLISHED. */
export function requireOpen(version: VersionRow): void {
  if (version.approved_at_ms !== null) throw new Failure('ALREADY_PUBLISHED');
}
