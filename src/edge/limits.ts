/** The port through which the edge and the handlers spend limits, and the headers that say how much is left. */
import type { Spent } from '../../actors/runtime/limits-part.ts';
import type { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { RateLimit } from '../../protocol/core/rate-limits.ts';

export type { Spent } from '../../actors/runtime/limits-part.ts';

/** Counts calls in a sliding window. Each kind of `RateLimit.kept` has an implementation; test/edge/limiters.test.ts is their contract. */
export interface Limiter {
  /** Spends `calls` (default 1) of the subject's quota, all of them or none. A refusal is returned, not thrown. */
  spend(limit: RateLimit, subject: string, calls?: number): Spent | Promise<Spent>;
  /** Takes back calls that `spend` has accepted, as if they had not been made. */
  giveBack(limit: RateLimit, subject: string, spent: Spent, calls?: number): void | Promise<void>;
}

export type Limiters = Readonly<Record<RateLimit['kept'], Limiter>>;

/** The limits of artifacts, kept where their actors are. */
export function actorLimiter(runtime: Pick<ActorRuntime, 'spend' | 'giveBack'>): Limiter {
  return {
    spend: (limit, subject, calls) => runtime.spend(subject as ArtifactId, calls, limit),
    giveBack: (limit, subject, spent, calls) => runtime.giveBack(subject as ArtifactId, spent, calls, limit),
  };
}

/** Throws RATE_LIMITED, with the limit's headers, where the calls were not accepted. */
export function requireAccepted(limit: RateLimit, spent: Spent, message?: string): void {
  if (spent.accepted) return;
  const { remaining, resetS, retryAfterS } = spent;
  const { name, quota, windowS } = limit;
  throw new Failure('RATE_LIMITED', {
    ...(message !== undefined && { message }),
    retryAfterS,
    rate: { name, limit: quota, windowS, remaining, resetS },
  });
}

export function rateLines(name: string, windowS: number, spent: Pick<Spent, 'limit' | 'remaining' | 'resetS'>): string {
  return `\r\nRateLimit-Policy: "${name}";q=${spent.limit};w=${windowS}\r\nRateLimit: "${name}";r=${spent.remaining};t=${spent.resetS}`;
}

/** The same headers on a reply, for a limit that the handler spends. */
export function rateHeaders({ name, windowS }: RateLimit, { limit, remaining, resetS }: Spent): Record<string, string> {
  return { 'RateLimit-Policy': `"${name}";q=${limit};w=${windowS}`, RateLimit: `"${name}";r=${remaining};t=${resetS}` };
}
