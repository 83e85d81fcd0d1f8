/** 60 publishes in any 60 minutes: of a person by all linked accounts together, of an agent by all its tokens. Source: spec.md, "Limits". */
import type { Principal } from '../../../../actors/access/access.ts';
import { RATE_LIMITS } from '../../../../protocol/core/rate-limits.ts';
import { rateHeaders, requireAccepted, type Spent } from '../../../edge/limits.ts';
import type { LimiterDeps, Queries } from '../../deps.ts';

const LIMIT = RATE_LIMITS.publish;
const REFUSAL = `A person may publish ${LIMIT.quota} times an hour.`;

/** What is left of the hour's publishes. Throws RATE_LIMITED when nothing is. */
export async function requireAllowance({ limiters }: LimiterDeps, principal: Principal): Promise<Spent> {
  const spent = await limiters.shared.look(LIMIT, subjectOf(principal));
  requireAccepted(LIMIT, spent, REFUSAL);
  return spent;
}

/** What is left of them, for who does not spend any. */
export function lookAtAllowance({ limiters }: LimiterDeps, principal: Principal): Promise<Spent> {
  return limiters.shared.look(LIMIT, subjectOf(principal));
}

/** Spends one publish in the transaction that makes it: a rollback gives it back. Throws RATE_LIMITED. */
export async function spendPublish(tx: Queries, { limiters }: LimiterDeps, principal: Principal): Promise<Spent> {
  const spent = await limiters.shared.spendIn(tx, LIMIT, subjectOf(principal));
  requireAccepted(LIMIT, spent, REFUSAL);
  return spent;
}

function subjectOf(principal: Principal): string {
  switch (principal.kind) {
    case 'user':
      return principal.person.id;
    case 'agent':
      return principal.principalId;
    case 'guest':
    case 'anonymous':
      throw new Error('only accounts and agents publish');
    default:
      return principal satisfies never;
  }
}

export function publishHeaders(spent: Spent): Record<string, string> {
  return rateHeaders(LIMIT, spent);
}
