/** Which accounts may be linked and unlinked. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';

/** Throws INVALID_REQUEST where a person would have more accounts than one may have. */
export function requireRoomToLink(accounts: number): void {
  if (accounts <= LIMITS.linkedAccountsMax) return;
  throw new Failure('INVALID_REQUEST', {
    message: `A person may have ${LIMITS.linkedAccountsMax} linked accounts.`,
    hint: 'Unlink one first.',
  });
}

export interface LinkedAccount {
  readonly id: UserId;
  /** Null for an account that only has tokens. */
  readonly provider: string | null;
}

/** Throws USER_NOT_FOUND, LAST_SIGN_IN. Those that stay must be able to sign in. */
export function requireUnlinkable(accounts: readonly LinkedAccount[], id: UserId): void {
  if (!accounts.some((account) => account.id === id))
    throw new Failure('USER_NOT_FOUND', {
      message: 'No such account is linked to yours.',
      hint: 'GET /v1/auth/linked-accounts lists the linked ones.',
    });
  if (!accounts.some((account) => account.id !== id && account.provider !== null)) throw new Failure('LAST_SIGN_IN');
}
