/** The account page: it shows what the endpoints of sessions, sign-ins and tokens answer, and its forms call them. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { BaseCall, Handlers } from '../../../edge/call.ts';
import type { ServiceDeps } from '../../deps.ts';
import { type AccountState, accountView } from './account-views.ts';
import { again, digits, expected, Form, goTo, shown } from './forms.ts';
import type { OwnCalls } from './own-calls.ts';
import { type SignedIn, signedIn, toSignIn } from './visitor.ts';

type Ids = 'pages.account' | 'pages.accountForm';

export type AccountCalls = OwnCalls<
  | 'signIn.providers'
  | 'linkedAccounts.list'
  | 'linkedAccounts.unlink'
  | 'linkedAccounts.emailStart'
  | 'linkedAccounts.emailVerify'
  | 'passkeys.list'
  | 'passkeys.remove'
  | 'sessions.list'
  | 'sessions.revoke'
  | 'sessions.revokeOthers'
  | 'tokens.list'
  | 'tokens.create'
  | 'tokens.revoke'
  | 'signIn.changePassword'
>;

interface Deps extends Pick<ServiceDeps, 'sql'> {
  readonly calls: AccountCalls;
}

/** What a form has done. The page that tells it is opened anew, so that a reload does nothing twice. */
const DEEDS = {
  'session-ended': 'The session has ended.',
  'others-ended': 'All other sessions have ended.',
  'token-revoked': 'The token is revoked.',
  'passkey-added': 'The passkey is added.',
  'passkey-removed': 'The passkey is removed and signs in nobody any more.',
  linked: 'The sign-in is linked to your account.',
  unlinked: 'The sign-in is unlinked. What belongs to it stays with it.',
  'password-saved': 'The password is saved, and your other sessions have ended.',
} as const;
type Deed = keyof typeof DEEDS;

type Outcome = Pick<AccountState, 'done' | 'madeToken' | 'failure' | 'linking'>;

export function accountPages(deps: Deps): Handlers<Ids> {
  const { calls } = deps;

  async function view(call: BaseCall, visitor: SignedIn, outcome: Outcome) {
    const { body: listed } = await calls.make('sessions.list', call, { query: { limit: LIMITS.pageMax } });
    const { body: made } = await calls.make('tokens.list', call, { query: { limit: LIMITS.pageMax } });
    const { body: keys } = await calls.make('passkeys.list', call);
    const { body: linked } = await calls.make('linkedAccounts.list', call);
    const { body: ways } = await calls.make('signIn.providers', call);
    const frame = { title: 'Your account', signedIn: visitor.shown, wide: true, scripts: ['copy.js', 'passkey.js'] };
    const content = accountView({
      ...{ visitor, sessions: listed.sessions, tokens: made.tokens, hasMoreTokens: made.has_more },
      ...{ accounts: linked.accounts, providers: ways.providers, hasPasswords: ways.password, passkeys: keys.passkeys },
      ...outcome,
    });
    return outcome.failure === undefined ? shown(frame, content) : again(frame, content);
  }

  async function linkEmail(call: BaseCall, form: Form): Promise<Outcome | Deed> {
    const email = form.text('email');
    if (form.text('do') === 'link-email') {
      await calls.make('linkedAccounts.emailStart', call, { body: { email } });
      return { linking: email };
    }
    try {
      await calls.make('linkedAccounts.emailVerify', call, { body: { email, code: digits(form) } });
      return 'linked';
    } catch (error) {
      return { linking: email, failure: expected(error) };
    }
  }

  async function perform(call: BaseCall, form: Form): Promise<Outcome | Deed> {
    const params = { id: form.text('id') };
    switch (form.text('do')) {
      case 'end-session':
        await calls.make('sessions.revoke', call, { params });
        return 'session-ended';
      case 'end-others':
        await calls.make('sessions.revokeOthers', call);
        return 'others-ended';
      case 'revoke-token':
        await calls.make('tokens.revoke', call, { params });
        return 'token-revoked';
      case 'make-token': {
        const name = form.text('name');
        const { body } = await calls.make('tokens.create', call, { body: name === '' ? {} : { name } });
        return { madeToken: body.token };
      }
      case 'remove-passkey':
        await calls.make('passkeys.remove', call, { params });
        return 'passkey-removed';
      case 'unlink':
        await calls.make('linkedAccounts.unlink', call, { params: { userId: form.text('id') } });
        return 'unlinked';
      case 'link-email':
      case 'verify-email':
        return linkEmail(call, form);
      case 'password': {
        const current = form.exact('current');
        await calls.make('signIn.changePassword', call, { body: { password: form.exact('password'), ...(current !== '' && { current }) } });
        return 'password-saved';
      }
      default:
        throw new Failure('INVALID_REQUEST', { message: 'This form is not known.', param: 'do' });
    }
  }

  return {
    'pages.account': async (call) => {
      const visitor = await signedIn(deps, call);
      if (visitor === null) return toSignIn('/account');
      const deed = Object.keys(DEEDS).find((name): name is Deed => name === call.query.done);
      return view(call, visitor, deed === undefined ? {} : { done: DEEDS[deed] });
    },
    'pages.accountForm': async (call) => {
      const visitor = await signedIn(deps, call);
      if (visitor === null) return toSignIn('/account');
      const outcome = await perform(call, new Form(call.body)).catch((error: unknown) => ({ failure: expected(error) }));
      return typeof outcome === 'string' ? goTo(`/account?done=${outcome}`) : view(call, visitor, outcome);
    },
  };
}
