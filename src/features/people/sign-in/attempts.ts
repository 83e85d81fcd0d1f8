/** Slows guessing down: attempts are counted for an address, for a network, and for both, whether or not the address has an account. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { type HandlerLimit, SIGN_IN_LIMITS } from '../../../../protocol/core/rate-limits.ts';
import { networkOf } from '../../../edge/address.ts';
import type { Spent } from '../../../edge/limits.ts';
import type { SharedLimiter } from '../../../storage/shared-limiter.ts';

/** Who tries, and for which address. */
export interface Attempt {
  readonly email: string;
  /** The peer's address. */
  readonly address: string;
}

const PASSWORD = [SIGN_IN_LIMITS.passwordTries, SIGN_IN_LIMITS.passwordTriesByNetwork, SIGN_IN_LIMITS.passwordTriesByEmail];
const CODE = [SIGN_IN_LIMITS.signInCodes, SIGN_IN_LIMITS.signInCodesByNetwork, SIGN_IN_LIMITS.signInCodesByEmail];

export class Attempts {
  readonly #limiter: SharedLimiter;

  constructor(limiter: SharedLimiter) {
    this.#limiter = limiter;
  }

  /** Before a password is checked. Throws TOO_MANY_ATTEMPTS. Call the answer where the password is right: then nothing was spent. */
  async password(attempt: Attempt): Promise<() => Promise<void>> {
    const spent = await this.#spend(PASSWORD, attempt);
    return async () => {
      for (const [limit, subject, one] of spent) await this.#limiter.giveBack(limit, subject, one);
    };
  }

  /** Before a code is mailed. Throws TOO_MANY_ATTEMPTS. */
  async mail(attempt: Attempt): Promise<void> {
    await this.#spend(CODE, attempt);
  }

  /** Before a code is compared. Throws TOO_MANY_ATTEMPTS. */
  async code(attempt: Attempt): Promise<void> {
    await this.#spend([SIGN_IN_LIMITS.signInCodeTries], attempt);
  }

  /** The narrowest limit comes first, so that somebody at one network does not use up what the owner of the address has. */
  async #spend(limits: readonly HandlerLimit[], attempt: Attempt): Promise<readonly (readonly [HandlerLimit, string, Spent])[]> {
    const all: (readonly [HandlerLimit, string, Spent])[] = [];
    for (const limit of limits) {
      const subject = subjectOf(limit, attempt);
      const spent = await this.#limiter.spend(limit, subject);
      if (!spent.accepted) throw tooMany(limit, spent);
      all.push([limit, subject, spent]);
    }
    return all;
  }
}

function subjectOf({ by }: HandlerLimit, { email, address }: Attempt): string {
  if (by === 'email') return email;
  return by === 'network' ? networkOf(address) : `${email} ${networkOf(address)}`;
}

function tooMany({ name, quota, windowS }: HandlerLimit, { remaining, resetS, retryAfterS }: Spent): Failure {
  return new Failure('TOO_MANY_ATTEMPTS', { retryAfterS, rate: { name, limit: quota, windowS, remaining, resetS } });
}
