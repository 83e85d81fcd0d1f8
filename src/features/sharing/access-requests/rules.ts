/** Decisions about requests for access that need no I/O, and what callers see of them. */
import { type ArtifactHead, decide, type Principal, roleOf } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { RequestRow } from './rows.ts';

/** Throws ALREADY_HAS_ACCESS. A password that opens the page is no access of the person's own. */
export function requireNoAccess(head: ArtifactHead, principal: Principal): void {
  if (decide(head, principal, 'view', null) === 'allowed') throw new Failure('ALREADY_HAS_ACCESS');
}

/**
 * The artifact of a request, for whoever decides it. Throws FORBIDDEN for others who know of the request or see the artifact, and
 * ACCESS_REQUEST_NOT_FOUND for everybody else.
 */
export function requireDecider(head: ArtifactHead | null, row: RequestRow, principal: Principal): ArtifactHead {
  if (head !== null && head.deletedAtMs === null) {
    if (roleOf(head, principal) === 'owner') return head;
    const hasAsked = principal.kind === 'user' && principal.person.accounts.has(row.requester_id);
    if (hasAsked || roleOf(head, principal) !== 'none') {
      throw new Failure('FORBIDDEN', {
        message: 'Only the owner of the artifact decides.',
        hint: 'Wait for the decision, or ask the owner.',
      });
    }
  }
  throw new Failure('ACCESS_REQUEST_NOT_FOUND');
}

export function presentIncoming(row: RequestRow) {
  return {
    id: row.id,
    artifact_id: row.artifact_id,
    artifact_name: row.artifact_name,
    artifact_slug: row.artifact_slug,
    requester_email: row.requester_email,
    requester_name: row.requester_name,
    message: row.message,
    status: row.status,
    created_at: dateTime(row.created_at_ms),
  };
}

export function presentOutgoing(row: RequestRow) {
  return {
    id: row.id,
    artifact_id: row.artifact_id,
    artifact_slug: row.asked_slug,
    message: row.message,
    status: row.status,
    created_at: dateTime(row.created_at_ms),
    decided_at: row.decided_at_ms === null ? null : dateTime(row.decided_at_ms),
  };
}
