/** 60 publishes an hour and account: no hour, wherever it begins, holds more. Source: spec.md, "Limits". */
import { Failure } from '../../../protocol/errors.ts';
import type { UserId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Queries } from '../deps.ts';

const WINDOW_MS = 3_600_000;
const POLICY = `"publish";q=${LIMITS.publishPerHour};w=${WINDOW_MS / 1000}`;

export interface PublishAllowance {
  readonly remaining: number;
  /** Seconds until the oldest publish of the last hour no longer counts. */
  readonly resetS: number;
}

/** Makes the publishes of one account wait for each other until the transaction ends, so that the count stays true. */
export async function lockPublishing(tx: Queries, userId: UserId): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`publish:${userId}`}, 0))`;
}

/** What is left in the hour before `nowMs`. Throws RATE_LIMITED when it is nothing. Exact under `lockPublishing`. */
export async function requireAllowance(sql: Queries, userId: UserId, nowMs: number): Promise<PublishAllowance> {
  // One publish is one version, so the versions are the record; there is no counter to go wrong.
  const rows = await sql<{ created_at_ms: number }[]>`
    select created_at_ms from artifact_version
    where author_id = ${userId} and created_at_ms > ${nowMs - WINDOW_MS}
    order by created_at_ms desc limit ${LIMITS.publishPerHour}`;
  const oldest = rows.at(-1);
  const resetS = oldest === undefined ? WINDOW_MS / 1000 : Math.ceil((oldest.created_at_ms + WINDOW_MS - nowMs) / 1000);
  if (rows.length >= LIMITS.publishPerHour) {
    throw new Failure('RATE_LIMITED', {
      message: `An account may publish ${LIMITS.publishPerHour} times an hour.`,
      retryAfterS: Math.max(1, resetS),
      rate: { name: 'publish', limit: LIMITS.publishPerHour, windowS: WINDOW_MS / 1000, remaining: 0, resetS },
    });
  }
  return { remaining: LIMITS.publishPerHour - rows.length, resetS };
}

/** The allowance after one publish was taken from it. */
export function spendOne(allowance: PublishAllowance): PublishAllowance {
  return { ...allowance, remaining: allowance.remaining - 1 };
}

export function rateHeaders(allowance: PublishAllowance): Record<string, string> {
  return { 'RateLimit-Policy': POLICY, RateLimit: `"publish";r=${allowance.remaining};t=${allowance.resetS}` };
}
