/** The cookies of signed-in people, on the API's host only. Source: spec.md, "Authentication". */

/** `session`: signed in at an identity provider. `access`: with a password, a code or a passkey. */
export type SessionCookie = 'session' | 'access';

const KINDS: readonly SessionCookie[] = ['session', 'access'];
/** 32 random bytes in base64url. */
export const SESSION_SECRET = /^[A-Za-z0-9_-]{43}$/;
/** With this prefix browsers take a cookie only from the host itself, over TLS and for all paths: a page on a subdomain cannot set it. */
export const HOST_PREFIX = '__Host-';

/** `isSecure`: the API's address uses TLS. Only the cookies with the prefix are read then. */
function nameOf(kind: SessionCookie, isSecure: boolean): string {
  return `${isSecure ? HOST_PREFIX : ''}service_${kind}`;
}

/** The secret of the session that the cookies name; undefined where none of them has the form of one. */
export function sessionSecretIn(cookies: string, isSecure: boolean): string | undefined {
  for (const kind of KINDS) {
    const value = cookieValue(cookies, nameOf(kind, isSecure));
    if (SESSION_SECRET.test(value)) return value;
  }
  return undefined;
}

/** `Set-Cookie` values that sign in with this secret, and end what the other cookie held. */
export function signInCookies(kind: SessionCookie, secret: string, maxAgeS: number, isSecure: boolean): string[] {
  return KINDS.map((one) =>
    one === kind ? hostCookie(nameOf(one, isSecure), secret, maxAgeS, isSecure) : hostCookie(nameOf(one, isSecure), '', 0, isSecure),
  );
}

export function signOutCookies(isSecure: boolean): string[] {
  return KINDS.map((kind) => hostCookie(nameOf(kind, isSecure), '', 0, isSecure));
}

/** `Max-Age=0` removes it. */
export function hostCookie(name: string, value: string, maxAgeS: number, isSecure: boolean): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

/** The first of its name; empty where there is none. */
export function cookieValue(cookies: string, name: string): string {
  for (const pair of cookies.split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return '';
}
