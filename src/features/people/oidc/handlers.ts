/** The endpoints of identity providers. */
import { createHash, randomBytes } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { BaseCall, Handlers } from '../../../edge/call.ts';
import { cookieValue, hostCookie } from '../../../edge/session-cookies.ts';
import type { ServiceDeps } from '../../deps.ts';
import { linkArrived, tellLinked } from '../linked-accounts/handlers.ts';
import type { SessionService } from '../sessions/sessions.ts';
import type { Proof } from '../sign-in/arrival.ts';
import type { People } from '../sign-in/people.ts';
import type { OidcClient, ProvedIdentity } from './client.ts';
import type { OidcProviders } from './providers.ts';
import { returnPath } from './return-to.ts';
import { type AttemptRow, insertAttempt, takeAttempt } from './rows.ts';

export interface OidcDeps extends Pick<ServiceDeps, 'sql' | 'config' | 'log' | 'bus'> {
  readonly people: People;
  readonly sessions: SessionService;
  readonly providers: OidcProviders;
}

/** Names that this machine has for itself. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
const ATTEMPT_S = LIMITS.signInAttemptTtlMs / 1000;

export function oidcHandlers(deps: OidcDeps): Handlers<'oidc.start' | 'oidc.callback'> {
  const { sql, config, providers, sessions } = deps;
  const redirectUri = (provider: string) => `${config.baseUrl}/v1/auth/oidc/${provider}/callback`;
  return {
    'oidc.start': async (call) => {
      const { provider } = call.params;
      const { return_to, login_hint, link } = call.query;
      const client = providers.client(provider);
      const elsewhere = ownAddress(call, config.baseUrl, provider);
      if (elsewhere !== undefined) return redirect(elsewhere);
      const sessionId = link === undefined ? null : await linkingSession(sessions, call);
      const secrets = { state: secret(), nonce: secret(), codeVerifier: oauth.generateRandomCodeVerifier() };
      const url = await client.authorizationUrl(secrets, redirectUri(provider), login_hint);
      const browser = browserSecret(call.cookies, sessions.isSecure) ?? secret();
      await insertAttempt(sql, {
        ...{ stateSha256: digestOf(secrets.state), browserSha256: digestOf(browser), provider },
        ...{ nonce: secrets.nonce, codeVerifier: secrets.codeVerifier, sessionId },
        returnTo: returnPath(return_to, config.baseUrl),
        ...{ nowMs: call.nowMs, expiresAtMs: call.nowMs + LIMITS.signInAttemptTtlMs },
      });
      return redirect(url, [hostCookie(cookieName(sessions.isSecure), browser, ATTEMPT_S, sessions.isSecure)]);
    },
    'oidc.callback': async (call) => {
      const { provider } = call.params;
      const client = providers.client(provider);
      try {
        const attempt = await attemptOf(deps, call, provider);
        const identity = await identityOf(client, attempt, call, redirectUri(provider));
        const proof = proofOf(provider, identity);
        const setCookies = attempt.session_id === null ? await enter(deps, proof, call) : await link(deps, proof, attempt.session_id, call);
        return redirect(config.baseUrl + attempt.return_to, setCookies);
      } catch (error) {
        // A person is looking at this; programs get the failure itself.
        if (!(error instanceof Failure) || !call.accept.includes('text/html')) throw error;
        deps.log.info({ err: error, provider }, 'a sign-in at an identity provider failed');
        return redirect(`${config.baseUrl}/sign-in?error=${error.code}`);
      }
    },
  };
}

function redirect(location: string, setCookies: readonly string[] = []) {
  const cookies = setCookies.length > 0 && { 'Set-Cookie': setCookies };
  return { reply: 'found', body: 'Go on at the address in Location.\n', headers: { Location: location, ...cookies } } as const;
}

/** The same call at the address that the provider sends back to, because a cookie belongs to one host name. Only for names of this machine. */
function ownAddress({ host, query }: BaseCall, baseUrl: string, provider: string): string | undefined {
  const own = new URL(baseUrl).host;
  if (host === own || !LOOPBACK.test(host) || !LOOPBACK.test(own)) return undefined;
  const parameters = new URLSearchParams(query as Readonly<Record<string, string>>);
  return `${baseUrl}/v1/auth/oidc/${provider}/start?${parameters}`;
}

/** Throws ORIGIN_REFUSED: another site could send the browser here after it has signed it in as somebody else at the provider. */
async function linkingSession(sessions: SessionService, call: BaseCall): Promise<string> {
  if (call.fetchSite !== 'same-origin') throw new Failure('ORIGIN_REFUSED', { hint: 'Begin from the settings of your account.' });
  const present = await sessions.present(call.cookies);
  if (present === null) throw new Failure('UNAUTHORIZED', { reason: 'missing', hint: 'Sign in first.' });
  return present.tokenId;
}

type CallbackCall = BaseCall & { readonly query: Readonly<Record<string, string | undefined>> };

/** Throws SIGN_IN_FAILED for an answer that this browser has not asked for, or that has come before. */
async function attemptOf({ sql, sessions }: OidcDeps, call: CallbackCall, provider: string): Promise<AttemptRow> {
  const { state } = call.query;
  const browser = browserSecret(call.cookies, sessions.isSecure);
  if (state !== undefined && browser !== undefined) {
    const spec = { stateSha256: digestOf(state), browserSha256: digestOf(browser), provider, nowMs: call.nowMs };
    const attempt = await takeAttempt(sql, spec);
    if (attempt !== null) return attempt;
  }
  throw new Failure('SIGN_IN_FAILED', { message: 'This browser has not begun this sign-in, or it took too long.', hint: 'Sign in again.' });
}

function identityOf(client: OidcClient, attempt: AttemptRow, { query }: CallbackCall, redirectUri: string): Promise<ProvedIdentity> {
  const answer = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) answer.set(name, value);
  const secrets = { state: query.state ?? '', nonce: attempt.nonce, codeVerifier: attempt.code_verifier };
  return client.redeem(answer, secrets, redirectUri);
}

function proofOf(provider: string, { issuer, subject, email, isVerified, name }: ProvedIdentity): Proof {
  return {
    provider,
    issuer,
    subject,
    email,
    isProved: isVerified,
    name: name?.replaceAll('\u0000', '').trim().slice(0, LIMITS.nameCharsMax) || null,
  };
}

async function enter({ sql, people }: OidcDeps, proof: Proof, call: BaseCall): Promise<readonly string[]> {
  const entered = await sql.begin((tx) => people.enter(tx, proof, 'session', call));
  people.tell(entered, proof.provider);
  return entered.session.setCookies;
}

/** The session that began it must still be the one of this browser: both sign-ins are proved in the same browser. */
async function link(deps: OidcDeps, proof: Proof, sessionId: string, call: BaseCall): Promise<readonly string[]> {
  const { sql, people, sessions } = deps;
  const present = await sessions.present(call.cookies);
  if (present === null || present.tokenId !== sessionId) throw new Failure('UNAUTHORIZED', { reason: 'invalid', hint: 'Sign in again.' });
  const { userId } = present;
  const changed = await sql.begin(async (tx) => linkArrived(tx, userId, await people.arrive(tx, proof)));
  tellLinked(deps, userId, changed);
  return [];
}

function cookieName(isSecure: boolean): string {
  return `${isSecure ? '__Host-' : ''}service_sign_in`;
}

/** Several tabs share it. */
function browserSecret(cookies: string, isSecure: boolean): string | undefined {
  const value = cookieValue(cookies, cookieName(isSecure));
  return /^[A-Za-z0-9_-]{43}$/.test(value) ? value : undefined;
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
