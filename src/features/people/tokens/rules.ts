/** What a token looks like, whether it still counts, and how many an account may have. */
import type { Principal, UserPrincipal } from '../../../../actors/access/access.ts';
import { ERRORS, Failure, type UnauthorizedReason } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';

export interface KnownToken {
  principal: Exclude<Principal, { kind: 'anonymous' }>;
  /** Unix ms; null never expires. */
  readonly expiresAtMs: number | null;
  readonly revoked: boolean;
  /** Whoever it acts for is suspended. Lifting that makes it count again. */
  readonly suspended?: boolean;
  /** It ends when it was not used for so long; undefined where it does not. */
  readonly idleMs?: number;
  /** Infinity where the time of last use is not kept. */
  lastUsedAtMs: number;
}

/** The token, if it counts now. Throws UNAUTHORIZED with the reason why it does not. */
export function requireUsable(token: KnownToken | null, nowMs: number): KnownToken {
  if (token === null) throw unauthorized('invalid');
  if (token.revoked) throw unauthorized('revoked');
  if (token.expiresAtMs !== null && token.expiresAtMs <= nowMs) throw unauthorized('expired');
  if (wasIdle(token, nowMs)) throw unauthorized('expired');
  if (token.suspended === true) throw unauthorized('suspended');
  return token;
}

export function wasIdle({ idleMs, lastUsedAtMs }: KnownToken, nowMs: number): boolean {
  return idleMs !== undefined && lastUsedAtMs + idleMs <= nowMs;
}

/** When a new token expires, null for never. Throws INVALID_REQUEST for a time that is not in the future. */
export function expiryOf(expiresAt: string | undefined, nowMs: number, param = 'expires_at'): number | null {
  if (expiresAt === undefined) return null;
  const expiresAtMs = Date.parse(expiresAt);
  if (expiresAtMs > nowMs) return expiresAtMs;
  throw new Failure('INVALID_REQUEST', { param, message: `${param}: must be in the future.` });
}

/** The sign-in or token that a new token is made with. Throws FORBIDDEN for others: they cannot give more than they have. */
export function makerOf(principal: Principal): UserPrincipal {
  if (principal.kind === 'user' && principal.tokenKind !== 'external') return principal;
  throw new Failure('FORBIDDEN', { message: 'This token cannot make tokens.', hint: 'Sign in, or use a personal token.' });
}

/** A token cannot be used to outlive itself: what it makes ends with it at the latest. A session makes tokens of any life. Throws INVALID_REQUEST. */
export function boundedBy({ tokenKind, expiresAtMs: ownEndMs = null }: UserPrincipal, expiresAtMs: number | null): number | null {
  if (tokenKind === 'session' || ownEndMs === null) return expiresAtMs;
  if (expiresAtMs === null || expiresAtMs <= ownEndMs) return expiresAtMs ?? ownEndMs;
  throw new Failure('INVALID_REQUEST', {
    param: 'expires_at',
    message: `expires_at: must not be after the end of the token that makes it, ${new Date(ownEndMs).toISOString()}.`,
    hint: 'Sign in with the browser to make a token that lives longer.',
  });
}

/** Throws INVALID_REQUEST when the person already has as many usable tokens as they may. */
export function requireRoomForToken(usableTokens: number): void {
  if (usableTokens < LIMITS.tokensPerUserMax) return;
  throw new Failure('INVALID_REQUEST', {
    message: `A person may have ${LIMITS.tokensPerUserMax} tokens.`,
    hint: 'Revoke one that you do not use any more.',
  });
}

export function unauthorized(reason: UnauthorizedReason): Failure {
  if (reason === 'suspended') {
    const { message, hint } = ERRORS.ACCOUNT_SUSPENDED;
    return new Failure('UNAUTHORIZED', { reason, message, hint });
  }
  return new Failure('UNAUTHORIZED', { reason });
}
