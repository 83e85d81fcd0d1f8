/** Hashes and checks passwords with Argon2id, on threads of their own and a few at once. */
import { hash, verify } from '@node-rs/argon2';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { Lanes } from '../../../platform/lanes.ts';
import { type Refusals, Shares } from '../../../platform/shares.ts';

/** OWASP, Password Storage Cheat Sheet: 19 MiB, two passes. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Of a password that nobody knows: checking one for an address without an account costs the same as for one with an account. */
export const DECOY_HASH = '$argon2id$v=19$m=19456,t=2,p=1$UYRnzqHumdRSu8Gj4DPLKQ$xeDVZBrBgDh70CtKEmIh9dwR8RFmWGHUkjcMdNkI84o';

/** The library; tests count its calls. */
export interface Argon2 {
  hash(password: string): Promise<string>;
  verify(hashed: string, password: string): Promise<boolean>;
}

export const argon2: Argon2 = { hash: (password) => hash(password, COST), verify };

export class PasswordHasher {
  readonly #argon2: Argon2;
  readonly #refusals: Refusals;
  readonly #shares = new Shares({
    total: LIMITS.passwordChecksMax + LIMITS.passwordChecksWaitingMax,
    network: LIMITS.passwordChecksPerNetworkMax,
    caller: Number.POSITIVE_INFINITY,
    artifact: Number.POSITIVE_INFINITY,
  });
  readonly #waiting = new Lanes<() => void>();
  #running = 0;

  constructor({ refusals, argon2: library = argon2 }: { readonly refusals: Refusals; readonly argon2?: Argon2 }) {
    this.#argon2 = library;
    this.#refusals = refusals;
  }

  /** Checks that run or wait. */
  get open(): number {
    return this.#shares.total;
  }

  /** Throws UNAVAILABLE. */
  hash(password: string, network: string): Promise<string> {
    return this.#inTurn(network, () => this.#argon2.hash(normal(password)));
  }

  /** `hashed` null: there is no password, and the answer is false after the same work. Throws UNAVAILABLE. */
  async verify(hashed: string | null, password: string, network: string): Promise<boolean> {
    const isRight = await this.#inTurn(network, () => this.#argon2.verify(hashed ?? DECOY_HASH, normal(password)));
    return isRight && hashed !== null;
  }

  async #inTurn<T>(network: string, work: () => Promise<T>): Promise<T> {
    const exhausted = this.#shares.take(1, { network });
    if (exhausted !== undefined) {
      this.#refusals.refused('passwords', exhausted);
      throw new Failure('UNAVAILABLE', { message: 'Too many passwords are being checked at once.', retryAfterS: 1 });
    }
    try {
      if (this.#running >= LIMITS.passwordChecksMax) await new Promise<void>((resolve) => this.#waiting.push(network, resolve));
      else this.#running += 1;
      try {
        return await work();
      } finally {
        // The place goes to the next one without becoming free.
        const next = this.#waiting.take();
        if (next === undefined) this.#running -= 1;
        else next();
      }
    } finally {
      this.#shares.give(1, { network });
    }
  }
}

/** Keyboards write some characters in several ways. */
function normal(password: string): string {
  return password.normalize('NFKC');
}
