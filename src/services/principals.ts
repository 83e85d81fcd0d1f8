/** Who a call of an account endpoint speaks for. */
import type { Principal } from '../../actors/access.ts';
import { Failure } from '../../protocol/errors.ts';
import type { UserId } from '../../protocol/ids.ts';

/** The caller's account. Throws UNAUTHORIZED for anonymous callers and FORBIDDEN for guests and agents, which have no account of their own. */
export function requireUser(principal: Principal): UserId {
  if (principal.kind === 'user') return principal.userId;
  if (principal.kind === 'anonymous') throw new Failure('UNAUTHORIZED', { reason: 'missing' });
  if (principal.kind === 'guest') throw new Failure('FORBIDDEN', { message: 'This needs an account.', hint: 'Use a personal token.' });
  throw new Failure('FORBIDDEN', { message: 'An agent token cannot do this for its workspace.', hint: 'Use a personal token.' });
}

/** The caller's account, or null where anonymous callers, guests and agents may look too. */
export function userOrNull(principal: Principal): UserId | null {
  return principal.kind === 'user' ? principal.userId : null;
}
