/** What the sign-in, sign-up and reset pages show. */
import type { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type Html, html } from '../../../edge/html.ts';
import type { Locale } from '../../../mail/templates/message.ts';
import { problem } from './forms.ts';
import type { SignedIn } from './visitor.ts';

export interface SignInState {
  /** A path of ours. */
  readonly returnTo: string;
  readonly email: string;
  readonly visitor: SignedIn | null;
  readonly failure?: Failure | undefined;
  /** Mail is not sent but shown at /dev/mail. */
  readonly mailIsShown: boolean;
  /** Of the browser. */
  readonly locale: Locale;
}

export interface Ways {
  readonly providers: readonly { readonly id: string; readonly name: string }[];
  readonly password: boolean;
  readonly email_code: boolean;
}

const MINUTES = LIMITS.signInCodeTtlMs / 60_000;

function linkTo(path: string, { returnTo, email }: Pick<SignInState, 'returnTo' | 'email'>): string {
  return `${path}?${new URLSearchParams({ return_to: returnTo, ...(email !== '' && { login_hint: email }) })}`;
}

export function signInView(ways: Ways, state: SignInState): Html {
  const { returnTo, email, visitor, failure } = state;
  const hasForm = ways.password || ways.email_code;
  return html`<h1>Sign in</h1>
${visitor !== null && html`<p class="notice good">You are signed in as <strong>${visitor.shown}</strong>. <a href="${returnTo}">Continue</a>, or use another account below.</p>`}
${problem(failure)}
${ways.providers.map(
  ({ id, name }) =>
    html`<a class="button block second" href="/v1/auth/oidc/${encodeURIComponent(id)}/start?${new URLSearchParams({ return_to: returnTo, ...(email !== '' && { login_hint: email }) }).toString()}">Continue with ${name}</a>\n`,
)}
<button type="button" class="second block" data-passkey data-return-to="${returnTo}" hidden>Continue with a passkey</button>
<p role="alert" class="notice bad" data-passkey-problem hidden></p>
${ways.providers.length > 0 && hasForm && html`<p class="or">or</p>`}
${
  hasForm &&
  html`<form method="post" action="/sign-in" class="card">
<input type="hidden" name="return_to" value="${returnTo}">
${emailField(email, failure, ways.password ? 'username' : 'email')}
${
  ways.password &&
  html`<label for="password">Password</label>
<input id="password" name="password" type="password" maxlength="${LIMITS.passwordCharsMax}" autocomplete="current-password">
<button class="block" name="do" value="password">Sign in</button>`
}
${ways.email_code && html`<button class="block${ways.password && ' second'}" name="do" value="code" formnovalidate>${ways.password ? 'Send me a code instead' : 'Send me a code'}</button>`}
</form>`
}
${ways.password ? html`<p>No account yet? <a href="${linkTo('/sign-up', state)}">Make one</a>. Forgot the password? <a href="${linkTo('/reset', state)}">Choose a new one</a>.</p>` : html`<p>No account yet? Your first sign-in makes one.</p>`}`;
}

export function signInCodeView(state: SignInState): Html {
  const { returnTo, email, failure } = state;
  return html`<h1>Enter the code</h1>
${problem(failure)}
<p>We have sent a code to <strong>${email}</strong>. It is valid for ${MINUTES} minutes.</p>
${whereMailIs(state)}
<form method="post" action="/sign-in" class="card">
<input type="hidden" name="return_to" value="${returnTo}">
<input type="hidden" name="email" value="${email}">
${codeField(failure)}
<button class="block" name="do" value="verify">Sign in</button>
<button class="block second" name="do" value="code" formnovalidate>Send another code</button>
</form>
<p><a href="${linkTo('/sign-in', state)}">Use another address</a></p>`;
}

export function signUpView(state: SignInState & { readonly name: string }): Html {
  const { returnTo, email, name, failure } = state;
  return html`<h1>Make an account</h1>
${problem(failure)}
<form method="post" action="/sign-up" class="card">
<input type="hidden" name="return_to" value="${returnTo}">
${emailField(email, failure, 'email')}
<label for="name">Name (optional)</label>
<input id="name" name="name" value="${name}" maxlength="100" autocomplete="name">
${newPasswordField(failure)}
<button class="block" name="do" value="start">Continue</button>
</form>
<p>You have one? <a href="${linkTo('/sign-in', state)}">Sign in</a>.</p>`;
}

export function signUpCodeView(state: SignInState): Html {
  const { returnTo, email, failure } = state;
  return html`<h1>Confirm your address</h1>
${problem(failure)}
<p>We have sent a mail to <strong>${email}</strong>. Enter its code within ${MINUTES} minutes.</p>
${whereMailIs(state)}
<form method="post" action="/sign-up" class="card">
<input type="hidden" name="return_to" value="${returnTo}">
<input type="hidden" name="email" value="${email}">
${codeField(failure)}
<button class="block" name="do" value="verify">Make the account</button>
</form>
<p><a href="${linkTo('/sign-up', state)}">Begin again</a></p>`;
}

export function resetView(state: SignInState): Html {
  const { returnTo, email, failure } = state;
  return html`<h1>Choose a new password</h1>
${problem(failure)}
<p>We send you a code with which you can set a new one.</p>
<form method="post" action="/reset" class="card">
<input type="hidden" name="return_to" value="${returnTo}">
${emailField(email, failure, 'email')}
<button class="block" name="do" value="start">Send the code</button>
</form>
<p><a href="${linkTo('/sign-in', state)}">Back to sign-in</a></p>`;
}

export function resetCodeView(state: SignInState): Html {
  const { returnTo, email, failure } = state;
  return html`<h1>Choose a new password</h1>
${problem(failure)}
<p>If <strong>${email}</strong> has an account, a code is on its way there. All sessions that are open end when you save.</p>
${whereMailIs(state)}
<form method="post" action="/reset" class="card">
<input type="hidden" name="return_to" value="${returnTo}">
<input type="hidden" name="email" value="${email}">
${codeField(failure)}
${newPasswordField(failure)}
<button class="block" name="do" value="finish">Save and sign in</button>
</form>
<p><a href="${linkTo('/reset', state)}">Send another code</a></p>`;
}

export function signOutView(visitor: SignedIn): Html {
  return html`<h1>Sign out</h1>
<p>You are signed in as <strong>${visitor.shown}</strong>. Pages and programs with a token of their own stay signed in.</p>
<form method="post" action="/sign-out"><button>Sign out</button></form>`;
}

const SUSPENDED = {
  en: {
    title: 'Your account is suspended',
    what: 'Whoever runs this installation has suspended your account, so you cannot sign in now.',
    nothing:
      'The reason is in the mail that you have had about it. Nothing has been removed: once the suspension is lifted, everything is as you left it.',
    write: 'If you think that this is a mistake, answer that mail, or write to whoever runs the installation.',
    other: 'Use another account',
  },
  es: {
    title: 'Tu cuenta está suspendida',
    what: 'Quien administra esta instalación ha suspendido tu cuenta, así que ahora no puedes iniciar sesión.',
    nothing:
      'El motivo está en el correo que recibiste. No se ha borrado nada: cuando se levante la suspensión, todo estará como lo dejaste.',
    write: 'Si crees que es un error, responde a ese correo o escribe a quien administra la instalación.',
    other: 'Usar otra cuenta',
  },
} as const satisfies Readonly<Record<Locale, Readonly<Record<string, string>>>>;

/** In place of the form: another attempt with this account would end the same. */
export function suspendedFrame(locale: Locale) {
  return { title: SUSPENDED[locale].title, locale } as const;
}

export function suspendedView({ locale, returnTo }: SignInState): Html {
  const words = SUSPENDED[locale];
  return html`<h1>${words.title}</h1>
<p class="notice bad" role="alert">${words.what}</p>
<p>${words.nothing}</p>
<p>${words.write}</p>
<p><a class="button second" href="${linkTo('/sign-in', { returnTo, email: '' })}">${words.other}</a></p>`;
}

export const SIGNED_OUT = html`<h1>Signed out</h1>
<p class="notice good" role="status">This browser is signed out.</p>
<p><a href="/sign-in">Sign in again</a></p>`;

function wrong(failure: Failure | undefined, field: string): Html | undefined {
  if (failure?.details.param !== field) return undefined;
  return html` aria-invalid="true" aria-describedby="problem"`;
}

function whereMailIs({ mailIsShown }: SignInState): Html | undefined {
  if (!mailIsShown) return undefined;
  return html`<p class="soft">This installation has no mail server yet: <a href="/dev/mail" target="_blank">its mail is shown here</a>.</p>`;
}

function emailField(email: string, failure: Failure | undefined, autocomplete: string): Html {
  return html`<label for="email">E-mail address</label>
<input id="email" name="email" type="email" required maxlength="${LIMITS.emailCharsMax}" autocomplete="${autocomplete}" value="${email}"${wrong(failure, 'email')}>`;
}

function codeField(failure: Failure | undefined): Html {
  return html`<label for="code">Code</label>
<input class="digits" id="code" name="code" required inputmode="numeric" pattern="[0-9 ]*" maxlength="8" autocomplete="one-time-code"${wrong(failure, 'code')}>`;
}

export function newPasswordField(failure: Failure | undefined, label = 'Password'): Html {
  return html`<label for="password">${label}</label>
<input id="password" name="password" type="password" required minlength="${LIMITS.passwordCharsMin}" maxlength="${LIMITS.passwordCharsMax}" autocomplete="new-password" aria-describedby="password-note"${failure?.details.param === 'password' && html` aria-invalid="true"`}>
<p class="note" id="password-note">At least ${LIMITS.passwordCharsMin} characters. A few words are better than one word with signs.</p>`;
}
