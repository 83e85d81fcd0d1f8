/** The endpoints of codes by mail, and of signing out. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../edge/call.ts';
import { signOutCookies } from '../../../edge/session-cookies.ts';
import type { ServiceDeps } from '../../deps.ts';
import type { OidcProviders } from '../oidc/providers.ts';
import type { SessionService } from '../sessions/sessions.ts';
import { emailProof } from './arrival.ts';
import type { Attempts } from './attempts.ts';
import { mailCode } from './code-mail.ts';
import { useCode } from './codes.ts';
import type { People } from './people.ts';
import { EMAIL } from './rows.ts';
import { offers, requireOffered } from './rules.ts';

export interface SignInDeps extends Pick<ServiceDeps, 'sql' | 'clock' | 'config' | 'log' | 'bus'> {
  readonly people: People;
  readonly sessions: SessionService;
  readonly attempts: Attempts;
  readonly providers: OidcProviders;
  /** Woken after mail is queued. */
  readonly mail: { wake(): void };
}

type Ids = 'signIn.providers' | 'signIn.emailStart' | 'signIn.emailVerify' | 'signIn.signOut';

export function signInHandlers(deps: SignInDeps): Handlers<Ids> {
  const { sql, people, attempts, config } = deps;
  return {
    'signIn.providers': () => {
      const providers = deps.providers.list.map(({ id, name }) => ({ id, name }));
      return { reply: 'ok', body: { providers, password: offers(config, 'password'), email_code: offers(config, 'email_code') } };
    },
    'signIn.emailStart': async ({ body: { email }, address, acceptLanguage, nowMs }) => {
      requireOffered(config, 'email_code');
      await attempts.mail({ email, address });
      const what = { email, purpose: 'sign_in', accountId: null } as const;
      await sql.begin((tx) => mailCode(tx, config, { what, languages: acceptLanguage, nowMs }));
      deps.mail.wake();
      // The answer is the same for every address, so that it does not reveal who is known here.
      return { reply: 'accepted', body: { ok: true } };
    },
    'signIn.emailVerify': async ({ body: { email, code }, address, userAgent, cookies, nowMs }) => {
      requireOffered(config, 'email_code');
      await attempts.code({ email, address });
      const entered = await sql.begin(async (tx) => {
        const found = await useCode(tx, { email, purpose: 'sign_in', accountId: null }, code, nowMs);
        return found === null ? null : await people.enter(tx, emailProof(email, EMAIL), 'access', { userAgent, address, cookies });
      });
      // Thrown after the transaction: a rollback would give the spent attempt back.
      if (entered === null) throw new Failure('CODE_INVALID', { param: 'code' });
      people.tell(entered, 'code');
      return people.reply(entered);
    },
    'signIn.signOut': async ({ cookies }) => {
      await deps.sessions.signOut(cookies);
      return { reply: 'ok', body: { success: true }, headers: { 'Set-Cookie': signOutCookies(deps.sessions.isSecure) } };
    },
  };
}

/** Seconds for which a cookie of a sign-in that waits for its code is kept. */
export const PENDING_S = LIMITS.signInCodeTtlMs / 1000;
