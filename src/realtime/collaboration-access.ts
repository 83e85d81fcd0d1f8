/** What a caller may do with the documents of an artifact. */
import { type ArtifactHead, decide, type Principal } from '../../actors/access.ts';
import { Failure } from '../../protocol/errors.ts';

export type CollaborationScope = 'read-write' | 'readonly';

/** `head` is null where there is no such artifact. Throws UNAUTHORIZED, FORBIDDEN, INSUFFICIENT_SCOPE or ARTIFACT_NOT_FOUND to whoever may not even read. */
export function collaborationScope(head: ArtifactHead | null, principal: Principal): CollaborationScope {
  const decision = decide(head, principal, 'collab:read', 'data:read');
  switch (decision) {
    case 'allowed':
      return decide(head, principal, 'collab:write', 'data:write') === 'allowed' ? 'read-write' : 'readonly';
    case 'unauthenticated':
      throw new Failure('UNAUTHORIZED', { reason: 'missing' });
    case 'hidden':
      throw new Failure('ARTIFACT_NOT_FOUND');
    case 'forbidden':
      throw new Failure('FORBIDDEN');
    case 'insufficient_scope':
      throw new Failure('INSUFFICIENT_SCOPE');
    default:
      return decision satisfies never;
  }
}
