/** What a caller may do with the documents of an artifact. */
import { type ArtifactHead, decide, type Principal } from '../../actors/access/access.ts';
import { refusalOf } from '../edge/refusals.ts';

export type CollaborationScope = 'read-write' | 'readonly';

/** `head` is null where there is no such artifact. Throws UNAUTHORIZED, FORBIDDEN, INSUFFICIENT_SCOPE or ARTIFACT_NOT_FOUND to callers who may not read. */
export function collaborationScope(head: ArtifactHead | null, principal: Principal): CollaborationScope {
  const decision = decide(head, principal, 'collab:read', 'data:read');
  if (decision !== 'allowed') throw refusalOf(decision, 'data:read');
  return decide(head, principal, 'collab:write', 'data:write') === 'allowed' ? 'read-write' : 'readonly';
}
