/** Signed cookies of the content origin that grant a visitor access. They belong to one slug's host, never to the API. */
import { randomBytes } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../actors/runtime/ports.ts';
import type { Sql } from '../storage/sql.ts';

/** `preview`: a preview link, by its id. `unlock`: a password page, by its password's fingerprint. */
export type GrantKind = 'preview' | 'unlock';

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
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #verified = new LRUCache<string, Grant>({ max: VERIFIED_MAX });
  #key: Promise<Uint8Array> | undefined;

  constructor(deps: { readonly sql: Sql; readonly clock: Clock }) {
    this.#sql = deps.sql;
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
      .sign(await this.#signingKey());
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
      const { payload } = await jwtVerify(token, await this.#signingKey(), {
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

  #signingKey(): Promise<Uint8Array> {
    this.#key ??= this.#readKey().catch((error) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }

  /** Created once for each installation; every node reads the same key. */
  async #readKey(): Promise<Uint8Array> {
    await this.#sql`
      insert into installation (name, value) values (${KEY_NAME}, ${randomBytes(32).toString('base64url')}) on conflict do nothing`;
    const [row] = await this.#sql<{ value: string }[]>`select value from installation where name = ${KEY_NAME}`;
    if (!row) throw new Error(`installation.${KEY_NAME} is missing`);
    return Buffer.from(row.value, 'base64url');
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
