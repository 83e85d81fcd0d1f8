/** The secrets of share links, and whom a link lets in. */
import { createHash, createHmac } from 'node:crypto';
import type { Principal } from '../../../../actors/access/access.ts';
import type { Clock } from '../../../../actors/runtime/ports.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ShareLinkId } from '../../../../protocol/core/ids.ts';
import { SHARE_PASSWORD_TRIES, SHARE_PASSWORD_TRIES_OF_LINK } from '../../../../protocol/core/rate-limits.ts';
import { Grants } from '../../../content/grants.ts';
import { networkOf } from '../../../edge/address.ts';
import type { BaseCall } from '../../../edge/call.ts';
import type { SharedLimiter } from '../../../storage/shared-limiter.ts';
import { SigningKey } from '../../../storage/signing-key.ts';
import type { Sql } from '../../../storage/sql.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { readProvedEmails } from '../../people/persons/rows.ts';
import type { PasswordHasher } from '../../people/sign-in/password-hasher.ts';
import { findOpenLink, type OpenLink } from './link-rows.ts';

const KEY_NAME = 'share_link_key';
/** How long a password counts in one browser. */
const UNLOCKED_MS = 24 * 60 * 60 * 1000;
/** Links that one browser has unlocked at once: all are in one cookie, and the earliest gives way. */
const UNLOCKED_MAX = 10;

interface Deps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly config: { readonly baseUrl: string };
  readonly limiter: Pick<SharedLimiter, 'spend' | 'forget' | 'giveBack'>;
  readonly hasher: PasswordHasher;
}

/** What a visitor of a link has to do first. */
export type Entry = 'open' | 'password' | 'signIn' | 'otherAddress';

interface Unlocked {
  readonly id: string;
  readonly untilMs: number;
}

type Visit = Pick<BaseCall, 'principal' | 'cookies'>;

export class ShareLinks {
  readonly #deps: Deps;
  readonly #key: SigningKey;
  readonly #grants: Grants;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#key = new SigningKey(deps.sql, KEY_NAME);
    this.#grants = new Grants(deps);
  }

  /** Follows from the id, so that the address can be shown again although only a digest is stored. */
  async secretOf(id: ShareLinkId): Promise<string> {
    return createHmac('sha256', await this.#key.bytes())
      .update(id)
      .digest('base64url');
  }

  async urlOf(id: ShareLinkId): Promise<string> {
    return `${this.#deps.config.baseUrl}${sharePath(await this.secretOf(id))}`;
  }

  find(secret: string): Promise<OpenLink | null> {
    return findOpenLink(this.#deps.sql, digestOf(secret), this.#deps.clock.nowMs());
  }

  async entry(link: OpenLink, { principal, cookies }: Visit): Promise<Entry> {
    switch (link.gate) {
      case 'none':
        return 'open';
      case 'password': {
        const unlocked = await this.#unlocked(cookies);
        return unlocked.some(({ id }) => id === link.id) ? 'open' : 'password';
      }
      case 'domain':
        if (principal.kind !== 'user') return 'signIn';
        return (await this.#isOfDomain(principal, link.domain)) ? 'open' : 'otherAddress';
      default:
        return link.gate satisfies never;
    }
  }

  /** The cookie of who knows the password; null where it is wrong. Throws TOO_MANY_ATTEMPTS, UNAVAILABLE. */
  async unlock(link: OpenLink, password: string, { address, cookies }: Pick<BaseCall, 'address' | 'cookies'>): Promise<string | null> {
    const { limiter, hasher, clock } = this.#deps;
    const network = networkOf(address);
    const key = `${link.id} ${network}`;
    // Counted before it is checked, so that attempts that come together cannot exceed the limit.
    const { retryAfterS } = await limiter.spend(SHARE_PASSWORD_TRIES, key);
    if (retryAfterS > 0) throw new Failure('TOO_MANY_ATTEMPTS', { retryAfterS });
    // Who has many networks has no more attempts than this.
    const ofLink = await limiter.spend(SHARE_PASSWORD_TRIES_OF_LINK, link.id);
    if (ofLink.retryAfterS > 0) throw new Failure('TOO_MANY_ATTEMPTS', { retryAfterS: ofLink.retryAfterS });
    if (!(await hasher.verify(link.passwordHash, password, network))) return null;
    await limiter.forget(SHARE_PASSWORD_TRIES, key);
    await limiter.giveBack(SHARE_PASSWORD_TRIES_OF_LINK, link.id, ofLink);
    const untilMs = Math.min(clock.nowMs() + UNLOCKED_MS, link.expiresAtMs ?? Number.POSITIVE_INFINITY);
    const others = (await this.#unlocked(cookies)).filter(({ id }) => id !== link.id);
    const unlocked = [{ id: link.id, untilMs }, ...others].slice(0, UNLOCKED_MAX);
    return this.#grants.issue('share', subjectOf(unlocked), Math.max(...unlocked.map((one) => one.untilMs)), this.#isSecure);
  }

  /** What the browser has given the passwords of, the latest first. */
  async #unlocked(cookies: string): Promise<Unlocked[]> {
    const shown = await this.#grants.read('share', cookies, this.#isSecure);
    const nowMs = this.#deps.clock.nowMs();
    return unlockedOf(shown?.subject ?? '').filter(({ untilMs }) => untilMs > nowMs);
  }

  async #isOfDomain(principal: Principal, domain: string | null): Promise<boolean> {
    const proved = await readProvedEmails(this.#deps.sql, accountsOf(principal));
    return [...proved.keys()].some((email) => email.slice(email.lastIndexOf('@') + 1) === domain);
  }

  get #isSecure(): boolean {
    return this.#deps.config.baseUrl.startsWith('https:');
  }
}

export function sharePath(secret: string): string {
  return `/s/${secret}`;
}

export function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Each link with its own end, in Unix seconds: one that is unlocked later makes none before it last longer. */
function subjectOf(unlocked: readonly Unlocked[]): string {
  return unlocked.map(({ id, untilMs }) => `${id}.${Math.floor(untilMs / 1000)}`).join(' ');
}

function unlockedOf(subject: string): Unlocked[] {
  return subject.split(' ').map((one) => {
    const [id = '', untilS = '0'] = one.split('.');
    return { id, untilMs: Number(untilS) * 1000 };
  });
}
