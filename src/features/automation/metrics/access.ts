/** Access to artifacts that a body or a query names, which the rule of an endpoint cannot decide. */
import { type ArtifactHead, decide, type Principal } from '../../../../actors/access/access.ts';
import type { Need } from '../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { refusalOf } from '../../../edge/refusals.ts';

export interface Heads {
  get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null>;
}

/** Throws ARTIFACT_NOT_FOUND, FORBIDDEN or INSUFFICIENT_SCOPE. */
export async function requireRight(
  heads: Heads,
  id: ArtifactId,
  principal: Principal,
  need: Extract<Need, 'edit' | 'data:read'>,
): Promise<ArtifactHead> {
  const head = await heads.get(id);
  const scope = need === 'edit' ? 'artifacts:publish' : 'data:read';
  const decision = decide(head, principal, need, scope);
  if (decision === 'allowed' && head !== null) return head;
  const refusal = refusalOf(decision === 'allowed' ? 'hidden' : decision, scope);
  throw refusal.code === 'ARTIFACT_NOT_FOUND' ? new Failure('ARTIFACT_NOT_FOUND', { param: 'artifact_id' }) : refusal;
}
