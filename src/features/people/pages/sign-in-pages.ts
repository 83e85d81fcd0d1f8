/** The pages to sign in, to make an account, to choose a new password and to sign out. They call the endpoints of `/v1/auth`. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { BaseCall, Handlers } from '../../../edge/call.ts';
import type { Html } from '../../../edge/html.ts';
import { ownPath } from '../../../edge/return-to.ts';
import { mailIsShown } from '../../../mail/dev-pages.ts';
import type { ServiceDeps } from '../../deps.ts';
import { localeOfHeader } from '../sign-in/code-mail.ts';
import { offers } from '../sign-in/rules.ts';
import { again, digits, expected, Form, goTo, type Headers, shown } from './forms.ts';
import type { OwnCalls } from './own-calls.ts';
import {
  resetCodeView,
  resetView,
  SIGNED_OUT,
  type SignInState,
  signInCodeView,
  signInView,
  signOutView,
  signUpCodeView,
  signUpView,
  suspendedFrame,
  suspendedView,
} from './sign-in-views.ts';
import { signedIn } from './visitor.ts';

type Ids =
  | 'pages.signIn'
  | 'pages.signInForm'
  | 'pages.signUp'
  | 'pages.signUpForm'
  | 'pages.reset'
  | 'pages.resetForm'
  | 'pages.signOut'
  | 'pages.signOutForm';

export type SignInCalls = OwnCalls<
  | 'signIn.providers'
  | 'signIn.password'
  | 'signIn.emailStart'
  | 'signIn.emailVerify'
  | 'signIn.signUp'
  | 'signIn.signUpVerify'
  | 'signIn.resetStart'
  | 'signIn.resetFinish'
  | 'signIn.signOut'
>;

interface Deps extends Pick<ServiceDeps, 'sql' | 'config'> {
  readonly calls: SignInCalls;
}

const SIGN_IN = { title: 'Sign in', scripts: ['passkey.js'] } as const;
const SIGN_UP = { title: 'Make an account' } as const;
const RESET = { title: 'Choose a new password' } as const;
/** Why a sign-in at an identity provider fails, as its callback names it in the address of this page. */
const PROVIDER_ERRORS = ['ACCOUNT_SUSPENDED', 'SWITCHED_OFF', 'PROVIDER_NOT_FOUND', 'PROVIDER_UNAVAILABLE', 'SIGN_IN_FAILED'] as const;

export function signInPages(deps: Deps): Handlers<Ids> {
  const { calls } = deps;

  async function stateOf(call: BaseCall, returnTo: string | undefined, email: string | undefined): Promise<SignInState> {
    return {
      returnTo: ownPath(returnTo),
      email: email ?? '',
      visitor: await signedIn(deps, call),
      mailIsShown: mailIsShown(deps.config),
      locale: localeOfHeader(call.acceptLanguage),
    };
  }

  async function signInForm(call: BaseCall, state: SignInState): Promise<Html> {
    return signInView((await calls.make('signIn.providers', call)).body, state);
  }

  /** Makes a call; where it fails as a person can cause it, answers the form again with the reason. */
  async function tried<T>(
    state: SignInState,
    step: () => Promise<T>,
    onFailure: (state: SignInState) => Html | Promise<Html>,
    frame: { title: string },
  ) {
    try {
      return await step();
    } catch (error) {
      const failure = expected(error);
      if (failure.code === 'ACCOUNT_SUSPENDED') return again(suspendedFrame(state.locale), suspendedView(state));
      return again(frame, await onFailure({ ...state, failure }));
    }
  }

  return {
    'pages.signIn': async (call) => {
      const { return_to, login_hint, error } = call.query;
      const state = await stateOf(call, return_to, login_hint);
      const code = PROVIDER_ERRORS.find((one) => one === error);
      if (code === 'ACCOUNT_SUSPENDED') return shown(suspendedFrame(state.locale), suspendedView(state));
      const failed = code === undefined ? {} : { failure: new Failure(code) };
      return shown(SIGN_IN, await signInForm(call, { ...state, ...failed }));
    },
    'pages.signInForm': async (call) => {
      const form = new Form(call.body);
      const state = await stateOf(call, form.optional('return_to'), form.optional('email'));
      const { email, returnTo } = state;
      const retry = (failed: SignInState) => signInForm(call, failed);
      switch (form.text('do')) {
        case 'code':
          return tried(
            state,
            async () => {
              const reply = await calls.make('signIn.emailStart', call, { body: { email } });
              return shown(SIGN_IN, signInCodeView(state), cookiesOf(reply));
            },
            retry,
            SIGN_IN,
          );
        case 'verify':
          return tried(
            state,
            async () => {
              const reply = await calls.make('signIn.emailVerify', call, { body: { email, code: digits(form) } });
              return goTo(returnTo, cookiesOf(reply));
            },
            signInCodeView,
            SIGN_IN,
          );
        default:
          return tried(
            state,
            async () => {
              const reply = await calls.make('signIn.password', call, { body: { email, password: form.exact('password') } });
              return goTo(returnTo, cookiesOf(reply));
            },
            retry,
            SIGN_IN,
          );
      }
    },
    'pages.signUp': async (call) => {
      if (!offers(deps.config, 'password')) return goTo('/sign-in');
      const state = await stateOf(call, call.query.return_to, call.query.login_hint);
      return shown(SIGN_UP, signUpView({ ...state, name: '' }));
    },
    'pages.signUpForm': async (call) => {
      const form = new Form(call.body);
      const state = await stateOf(call, form.optional('return_to'), form.optional('email'));
      const { email, returnTo } = state;
      if (form.text('do') === 'verify') {
        return tried(
          state,
          async () => {
            const reply = await calls.make('signIn.signUpVerify', call, { body: { email, code: digits(form) } });
            return goTo(returnTo, cookiesOf(reply));
          },
          signUpCodeView,
          SIGN_UP,
        );
      }
      const name = form.text('name');
      return tried(
        state,
        async () => {
          const reply = await calls.make('signIn.signUp', call, {
            body: { email, password: form.exact('password'), ...(name !== '' && { name }) },
          });
          return shown(SIGN_UP, signUpCodeView(state), cookiesOf(reply));
        },
        (failed) => signUpView({ ...failed, name }),
        SIGN_UP,
      );
    },
    'pages.reset': async (call) => {
      if (!offers(deps.config, 'password')) return goTo('/sign-in');
      return shown(RESET, resetView(await stateOf(call, call.query.return_to, call.query.login_hint)));
    },
    'pages.resetForm': async (call) => {
      const form = new Form(call.body);
      const state = await stateOf(call, form.optional('return_to'), form.optional('email'));
      const { email, returnTo } = state;
      if (form.text('do') === 'finish') {
        return tried(
          state,
          async () => {
            const body = { email, code: digits(form), password: form.exact('password') };
            return goTo(returnTo, cookiesOf(await calls.make('signIn.resetFinish', call, { body })));
          },
          resetCodeView,
          RESET,
        );
      }
      return tried(
        state,
        async () => {
          const reply = await calls.make('signIn.resetStart', call, { body: { email } });
          return shown(RESET, resetCodeView(state), cookiesOf(reply));
        },
        resetView,
        RESET,
      );
    },
    'pages.signOut': async (call) => {
      const visitor = await signedIn(deps, call);
      return visitor === null ? shown({ title: 'Signed out' }, SIGNED_OUT) : shown({ title: 'Sign out' }, signOutView(visitor));
    },
    'pages.signOutForm': async (call) => {
      const reply = await calls.make('signIn.signOut', call);
      return shown({ title: 'Signed out' }, SIGNED_OUT, cookiesOf(reply));
    },
  };
}

function cookiesOf({ headers }: { readonly headers?: Headers }): Headers {
  const cookies = headers?.['Set-Cookie'];
  return cookies === undefined ? {} : { 'Set-Cookie': cookies };
}
