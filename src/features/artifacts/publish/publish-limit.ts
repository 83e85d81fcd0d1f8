/**
 * Publishes in any 60 minutes, as many as the plan allows: of a person by all linked accounts together, of an agent by all its tokens. Source:
 * spec.md, "Limits".
 */
import type { Principal, UserPrincipal } from '../../../../actors/access/access.ts';
import { RATE_LIMITS } from '../../../../protocol/core/rate-limits.ts';
import { rateHeaders, requireAccepted, type Spent } from '../../../edge/limits.ts';
import { rateOf } from '../../business/tiers/rules.ts';
import type { LimiterDeps, Queries, ServiceDeps } from '../../deps.ts';
import { tierIn } from '../../people/accounts/rows.ts';

type Deps = LimiterDeps & Pick<ServiceDeps, 'sql'>;

const LIMIT = RATE_LIMITS.publish;

/** What is left of the hour's publishes. Throws RATE_LIMITED when nothing is. */
export async function requireAllowance(deps: Deps, principal: Principal): Promise<Spent> {
  const spent = await deps.limiters.shared.look(await limitOf(deps.sql, principal), subjectOf(principal));
  requireAccepted({ ...LIMIT, quota: spent.limit }, spent, refusalOf(spent));
  return spent;
}

/** Spends one publish in the transaction that makes it: a rollback gives it back. Throws RATE_LIMITED. */
export async function spendPublish(tx: Queries, { limiters }: LimiterDeps, principal: Principal): Promise<Spent> {
  const limit = await limitOf(tx, principal);
  const spent = await limiters.shared.spendIn(tx, limit, subjectOf(principal));
  requireAccepted(limit, spent, refusalOf(spent));
  return spent;
}

async function limitOf(sql: Queries, principal: Principal) {
  return rateOf(
    LIMIT,
    await (principal.kind === 'agent' ? tierIn(sql, null, principal.workspaceId) : tierIn(sql, userOf(principal).userId, null)),
  );
}

function refusalOf({ limit }: Spent): string {
  return `A person may publish ${limit} times an hour.`;
}

function subjectOf(principal: Principal): string {
  return principal.kind === 'agent' ? principal.principalId : userOf(principal).person.id;
}

function userOf(principal: Principal): UserPrincipal {
  if (principal.kind !== 'user') throw new Error('only accounts and agents publish');
  return principal;
}

export function publishHeaders(spent: Spent | null): Record<string, string> {
  return spent === null ? {} : rateHeaders(LIMIT, spent);
}
