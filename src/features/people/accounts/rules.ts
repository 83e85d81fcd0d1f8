/** What an account is and may do, decided without I/O. */
import type { Principal } from '../../../../actors/access/access.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';

/** The linked accounts of one person; none for callers without an account. */
export type Accounts = readonly UserId[];

/** What belongs to any of these is the caller's own. */
export function accountsOf(principal: Principal): Accounts {
  return principal.kind === 'user' ? [...principal.person.accounts] : [];
}

/** The caller's account; null for anonymous callers, guests and agents. */
export function userOrNull(principal: Principal): UserId | null {
  return principal.kind === 'user' ? principal.userId : null;
}
