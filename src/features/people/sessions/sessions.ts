/** Signed-in browsers: begins and ends their sessions. A session is known by a secret in a cookie, of which only a digest is stored. */
import { randomBytes } from 'node:crypto';
import type { UserPrincipal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type SessionId, type UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type SessionCookie, sessionSecretIn, signInCookies } from '../../../edge/session-cookies.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { isSuspendedPerson } from '../persons/rows.ts';
import { credentialName } from '../tokens/kinds.ts';
import { tokenSha256 } from '../tokens/secret.ts';
import type { TokenService } from '../tokens/tokens.ts';
import { deviceOf } from './device.ts';
import { type EndedSession, insertSession, revokeAll, revokeBeyond, revokeBySecret, revokeSession } from './rows.ts';

/** What a sign-in says about the browser that it comes from. */
export interface Browser {
  readonly userAgent: string;
  readonly address: string;
  /** The Cookie header: what it holds of an earlier sign-in ends. */
  readonly cookies: string;
}

/** A session that a transaction has begun. Its `ended` are to be told after the commit. */
export interface BegunSession {
  readonly id: SessionId;
  readonly setCookies: readonly string[];
  readonly ended: readonly EndedSession[];
}

export interface SessionDeps extends Pick<ServiceDeps, 'sql' | 'clock' | 'bus' | 'config'> {
  readonly tokens: Pick<TokenService, 'authenticateSession'>;
}

export class SessionService {
  readonly #deps: SessionDeps;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  /** Whether the API's address uses TLS. */
  get isSecure(): boolean {
    return this.#deps.config.baseUrl.startsWith('https:');
  }

  /** Begins a session of the account and ends the one that the browser had, in the transaction of the sign-in. Throws ACCOUNT_SUSPENDED. */
  async begin(tx: Queries, accountId: UserId, cookie: SessionCookie, browser: Browser): Promise<BegunSession> {
    if (await isSuspendedPerson(tx, accountId)) throw new Failure('ACCOUNT_SUSPENDED');
    const nowMs = this.#deps.clock.nowMs();
    const secret = randomBytes(32).toString('base64url');
    const id = newId('session');
    const before = sessionSecretIn(browser.cookies, this.isSecure);
    const ended = before === undefined ? null : await revokeBySecret(tx, tokenSha256(before), nowMs);
    const crowded = await revokeBeyond(tx, accountId, LIMITS.sessionsPerAccountMax, nowMs);
    await insertSession(tx, {
      ...{ id, accountId, secretSha256: tokenSha256(secret), cookie },
      ...{ device: deviceOf(browser.userAgent), address: browser.address },
      ...{ nowMs, endsAtMs: nowMs + LIMITS.sessionTtlMs },
    });
    const setCookies = signInCookies(cookie, secret, LIMITS.sessionTtlMs / 1000, this.isSecure);
    return { id, setCookies, ended: ended === null ? crowded : [ended, ...crowded] };
  }

  /** Tells what has ended: caches drop it, and what it has open closes. Call it after the commit. */
  tell(ended: readonly EndedSession[]): void {
    for (const { id, secret_sha256 } of ended) {
      this.#deps.bus.tell({ kind: 'token.revoked', tokenId: id, credential: credentialName('session', secret_sha256) });
    }
  }

  /** False where these accounts have no such session. */
  async revoke(accounts: readonly UserId[], id: SessionId): Promise<boolean> {
    const ended = await revokeSession(this.#deps.sql, accounts, id, this.#deps.clock.nowMs());
    if (ended !== null) this.tell([ended]);
    return ended !== null;
  }

  async revokeAll(accounts: readonly UserId[], kept: string | null): Promise<void> {
    this.tell(await revokeAll(this.#deps.sql, accounts, kept, this.#deps.clock.nowMs()));
  }

  /** The same in a transaction; tell it after the commit. */
  endAll(tx: Queries, accounts: readonly UserId[], kept: string | null): Promise<readonly EndedSession[]> {
    return revokeAll(tx, accounts, kept, this.#deps.clock.nowMs());
  }

  /** Ends the session that the cookies name, if there is one. */
  async signOut(cookies: string): Promise<void> {
    const secret = sessionSecretIn(cookies, this.isSecure);
    const ended = secret === undefined ? null : await revokeBySecret(this.#deps.sql, tokenSha256(secret), this.#deps.clock.nowMs());
    if (ended !== null) this.tell([ended]);
  }

  /** Who the cookies say is signed in, for endpoints that also serve those who are not. */
  async present(cookies: string): Promise<UserPrincipal | null> {
    const secret = sessionSecretIn(cookies, this.isSecure);
    if (secret === undefined) return null;
    try {
      const found = await this.#deps.tokens.authenticateSession(secret);
      return found.kind === 'user' ? found : null;
    } catch (error) {
      if (error instanceof Failure && error.code === 'UNAUTHORIZED') return null;
      throw error;
    }
  }
}
