/** The endpoints of passwords. What they answer, and the work that they do, is the same for addresses with and without an account. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { networkOf } from '../../../edge/address.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cookieValue, hostCookie } from '../../../edge/session-cookies.ts';
import { queueMail } from '../../../mail/outbox.ts';
import { composeMail } from '../../../mail/templates/compose.ts';
import type { Queries } from '../../deps.ts';
import { accountsOf } from '../accounts/rules.ts';
import { emailProof } from './arrival.ts';
import { localeOfHeader, mailCode, signInUrl } from './code-mail.ts';
import { useCode } from './codes.ts';
import { PENDING_S, type SignInDeps } from './handlers.ts';
import type { PasswordHasher } from './password-hasher.ts';
import { requireGoodPassword } from './password-rules.ts';
import type { Entered } from './people.ts';
import { EMAIL, type EmailSignIn, readEmailSignIn, readEmailSignInOf, usePassword, writePassword } from './rows.ts';
import { requireOffered, requireSession } from './rules.ts';

type Ids =
  | 'signIn.signUp'
  | 'signIn.signUpVerify'
  | 'signIn.password'
  | 'signIn.resetStart'
  | 'signIn.resetFinish'
  | 'signIn.changePassword';

export interface PasswordDeps extends SignInDeps {
  readonly hasher: PasswordHasher;
}

const SIGN_UP = { purpose: 'sign_up', accountId: null } as const;
const RESET = { purpose: 'reset', accountId: null } as const;

export function passwordHandlers(deps: PasswordDeps): Handlers<Ids> {
  return { ...signUpHandlers(deps), ...resetHandlers(deps), ...ownPasswordHandlers(deps) };
}

function signUpHandlers(deps: PasswordDeps): Handlers<'signIn.signUp' | 'signIn.signUpVerify'> {
  const { sql, people, attempts, hasher } = deps;
  const cookieName = `${deps.sessions.isSecure ? '__Host-' : ''}service_sign_up`;
  return {
    'signIn.signUp': async ({ body: { email, password, name }, address, acceptLanguage, nowMs }) => {
      requireOffered(deps.config, 'password');
      await requireGoodPassword(password, email);
      await attempts.mail({ email, address });
      const passwordHash = await hasher.hash(password, networkOf(address));
      const id = await sql.begin(async (tx) => {
        const known = await readEmailSignIn(tx, email);
        const pending = { passwordHash, name: name ?? null };
        const what = { ...SIGN_UP, email };
        return mailCode(tx, deps.config, {
          ...{ what, languages: acceptLanguage, nowMs, pending },
          ...(hasPassword(known) && { instead: 'account_exists' }),
        });
      });
      deps.mail.wake();
      // A code that somebody else has asked for, with a password of theirs, does not count in this browser.
      const pendingCookie = hostCookie(cookieName, id, PENDING_S, deps.sessions.isSecure);
      return { reply: 'accepted', body: { ok: true }, headers: { 'Set-Cookie': pendingCookie } };
    },
    'signIn.signUpVerify': async ({ body: { email, code }, address, userAgent, cookies, nowMs }) => {
      requireOffered(deps.config, 'password');
      await attempts.code({ email, address });
      const own = cookieValue(cookies, cookieName) || undefined;
      const entered = await sql.begin(async (tx) => {
        const found = await useCode(tx, { ...SIGN_UP, email }, code, nowMs, own);
        if (found === null || found.password_hash === null) return null;
        // Its code went to nobody where the address had a password already.
        if (hasPassword(await readEmailSignIn(tx, email))) return null;
        const into = await people.enter(tx, emailProof(email, EMAIL, found.name), 'access', { userAgent, address, cookies });
        await writePassword(tx, into.userId, found.password_hash);
        return into;
      });
      if (entered === null) throw new Failure('CODE_INVALID', { param: 'code' });
      people.tell(entered, 'sign-up');
      return people.reply(entered, [hostCookie(cookieName, '', 0, deps.sessions.isSecure)]);
    },
  };
}

function resetHandlers(deps: PasswordDeps): Handlers<'signIn.resetStart' | 'signIn.resetFinish'> {
  const { sql, people, attempts, hasher } = deps;
  return {
    'signIn.resetStart': async ({ body: { email }, address, acceptLanguage, nowMs }) => {
      requireOffered(deps.config, 'password');
      await attempts.mail({ email, address });
      await sql.begin(async (tx) => {
        const known = await readEmailSignIn(tx, email);
        const what = { ...RESET, email };
        await mailCode(tx, deps.config, { what, languages: acceptLanguage, nowMs, ...(known === null && { instead: 'no_account' }) });
      });
      deps.mail.wake();
      return { reply: 'accepted', body: { ok: true } };
    },
    'signIn.resetFinish': async ({ body: { email, code, password }, address, userAgent, acceptLanguage, cookies, nowMs }) => {
      requireOffered(deps.config, 'password');
      await requireGoodPassword(password, email);
      await attempts.code({ email, address });
      const passwordHash = await hasher.hash(password, networkOf(address));
      const entered = await sql.begin(async (tx): Promise<Entered | null> => {
        const found = await useCode(tx, { ...RESET, email }, code, nowMs);
        const known = found === null ? null : await readEmailSignIn(tx, email);
        if (known === null) return null;
        const { ended } = await changePassword(deps, tx, known, { passwordHash, kept: null, languages: acceptLanguage, nowMs });
        const into = await people.enter(tx, emailProof(email, EMAIL), 'access', { userAgent, address, cookies });
        return { ...into, session: { ...into.session, ended: [...ended, ...into.session.ended] } };
      });
      if (entered === null) throw new Failure('CODE_INVALID', { param: 'code' });
      deps.mail.wake();
      people.tell(entered, 'new password');
      return people.reply(entered);
    },
  };
}

function ownPasswordHandlers(deps: PasswordDeps): Handlers<'signIn.password' | 'signIn.changePassword'> {
  const { sql, people, sessions, attempts, hasher } = deps;
  return {
    'signIn.password': async ({ body: { email, password }, address, userAgent, cookies, nowMs }) => {
      requireOffered(deps.config, 'password');
      const giveBack = await attempts.password({ email, address });
      const known = await readEmailSignIn(sql, email);
      const isRight = await hasher.verify(known?.password_hash ?? null, password, networkOf(address));
      if (known === null || !isRight) throw new Failure('INVALID_CREDENTIALS');
      await giveBack();
      const session = await sql.begin(async (tx) => {
        if (!(await usePassword(tx, known, nowMs))) throw new Failure('INVALID_CREDENTIALS');
        return sessions.begin(tx, known.account_id, 'access', { userAgent, address, cookies });
      });
      const entered = { userId: known.account_id, isNew: false, changed: [], claimed: [], session };
      people.tell(entered, 'password');
      return people.reply(entered);
    },
    'signIn.changePassword': async ({ principal, user, body: { current, password }, address, acceptLanguage, nowMs }) => {
      requireOffered(deps.config, 'password');
      const accounts = accountsOf(principal);
      const known = await readEmailSignInOf(sql, accounts, user);
      if (known === null) {
        throw new Failure('INVALID_REQUEST', {
          message: 'A password belongs to an e-mail address, and this account has proved none.',
          hint: 'Prove one with POST /v1/auth/link-email/start.',
        });
      }
      await requireGoodPassword(password, known.email);
      if (known.password_hash !== null) {
        const giveBack = await attempts.password({ email: known.email, address });
        if (!(await hasher.verify(known.password_hash, current ?? '', networkOf(address)))) {
          throw new Failure('INVALID_CREDENTIALS', { message: 'The current password is wrong.', param: 'current' });
        }
        await giveBack();
      } else requireSession(principal);
      const passwordHash = await hasher.hash(password, networkOf(address));
      const kept = principal.kind === 'user' ? principal.tokenId : null;
      const { ended } = await sql.begin((tx) => changePassword(deps, tx, known, { passwordHash, kept, languages: acceptLanguage, nowMs }));
      deps.mail.wake();
      sessions.tell(ended);
      return { reply: 'ok', body: { success: true } };
    },
  };
}

interface PasswordChange {
  readonly passwordHash: string;
  /** The session that stays. */
  readonly kept: string | null;
  readonly languages: string;
  readonly nowMs: number;
}

/** Every session that the old password may have opened ends, and the owner hears of it. */
async function changePassword({ config, sessions }: PasswordDeps, tx: Queries, known: EmailSignIn, change: PasswordChange) {
  await writePassword(tx, known.account_id, change.passwordHash);
  const ended = await sessions.endAll(tx, [known.account_id], change.kept);
  const to = { recipient: known.email, locale: localeOfHeader(change.languages) };
  await queueMail(tx, [composeMail('password_changed', { url: signInUrl(config) }, to)], change.nowMs);
  return { ended };
}

function hasPassword(known: EmailSignIn | null): boolean {
  return known !== null && known.password_hash !== null;
}
