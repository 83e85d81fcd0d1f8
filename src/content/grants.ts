/** Signed cookies that grant a visitor access. Those of the content origin belong to one slug's host, never to the API. */
import { errors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../actors/runtime/ports.ts';
import { SigningKey } from '../storage/signing-key.ts';
import type { Sql } from '../storage/sql.ts';

/**
 * `preview`: a preview link, by its id. `unlock`: a password page, by its password's fingerprint. `share`: passwords of share
 * links, by the links' ids and their ends; the only one on the API's host.
 */
export type GrantKind = 'preview' | 'unlock' | 'share';

export interface Grant {
  readonly kind: GrantKind;
  readonly subject: string;
  /** Unix ms. */
  readonly expiresAtMs: number;
}

const KEY_NAME = 'content_cookie_key';
const VERIFIED_MAX = 10_000;
/** Longest cookie that is read; genuine ones have some 200 characters. */
const TOKEN_CHARS_MAX = 1024;

export class Grants {
  readonly #clock: Clock;
  readonly #verified = new LRUCache<string, Grant>({ max: VERIFIED_MAX });
  readonly #key: SigningKey;

  constructor(deps: { readonly sql: Sql; readonly clock: Clock }) {
    this.#key = new SigningKey(deps.sql, KEY_NAME);
    this.#clock = deps.clock;
  }

  /** A `Set-Cookie` value that grants `subject` on this host until `expiresAtMs`. `secure`: the origin uses TLS. */
  async issue(kind: GrantKind, subject: string, expiresAtMs: number, secure: boolean): Promise<string> {
    const nowMs = this.#clock.nowMs();
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(subject)
      .setAudience(kind)
      .setExpirationTime(Math.floor(expiresAtMs / 1000))
      .sign(await this.#key.bytes());
    return cookie(kind, token, Math.floor((expiresAtMs - nowMs) / 1000), secure);
  }

  /** A `Set-Cookie` value that removes the grant. */
  withdraw(kind: GrantKind, secure: boolean): string {
    return cookie(kind, '', 0, secure);
  }

  /** The grant in the request's cookie, or null. The caller checks whether it still applies. */
  read(kind: GrantKind, cookies: string, secure: boolean): Grant | null | Promise<Grant | null> {
    const token = cookies === '' ? '' : cookieValue(cookies, cookieName(kind, secure));
    if (token === '' || token.length > TOKEN_CHARS_MAX) return null;
    const known = this.#verified.get(token);
    if (known) return known.kind === kind && known.expiresAtMs > this.#clock.nowMs() ? known : null;
    return this.#verify(kind, token);
  }

  async #verify(kind: GrantKind, token: string): Promise<Grant | null> {
    try {
      const { payload } = await jwtVerify(token, await this.#key.bytes(), {
        algorithms: ['HS256'],
        audience: kind,
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(this.#clock.nowMs()),
      });
      const { sub: subject = '', exp = 0 } = payload;
      const grant = { kind, subject, expiresAtMs: exp * 1000 };
      this.#verified.set(token, grant);
      return grant;
    } catch (error) {
      // A cookie that is forged, expired or signed by another installation grants nothing.
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}

/** The `__Host-` prefix stops pages on sibling hosts from setting the cookie; browsers accept it only with TLS. */
function cookieName(kind: GrantKind, secure: boolean): string {
  return secure ? `__Host-easel_${kind}` : `easel_${kind}`;
}

function cookie(kind: GrantKind, value: string, maxAgeS: number, secure: boolean): string {
  return `${cookieName(kind, secure)}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

function cookieValue(cookies: string, name: string): string {
  for (const pair of cookies.split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return '';
}
