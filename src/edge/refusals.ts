/** The failures of callers who have no access to an artifact. */
import type { Decision } from '../../actors/access/access.ts';
import type { Scope } from '../../protocol/core/endpoint.ts';
import { Failure } from '../../protocol/core/errors.ts';

/** `scope`: the scope that the decision required of agents, null where only people may. */
export function refusalOf(decision: Exclude<Decision, 'allowed'>, scope: Scope | null): Failure {
  switch (decision) {
    case 'unauthenticated':
      return new Failure('UNAUTHORIZED', { reason: 'missing' });
    case 'hidden':
      return new Failure('ARTIFACT_NOT_FOUND');
    case 'forbidden':
      return new Failure('FORBIDDEN');
    case 'insufficient_scope':
      if (scope === null) throw new Error('a rule without a scope cannot lack one');
      return lacksScope(scope);
    case 'suspended':
      return new Failure('ARTIFACT_SUSPENDED');
    default:
      return decision satisfies never;
  }
}

export function lacksScope(scope: Scope): Failure {
  return new Failure('INSUFFICIENT_SCOPE', {
    message: `The token lacks the scope ${scope}.`,
    hint: `Use an agent token with the scope ${scope}; owners and admins of the workspace create them.`,
  });
}
