/** What the account page shows. */
import type { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type Html, html } from '../../../edge/html.ts';
import { timeText } from '../../../edge/page-frame.ts';
import { problem } from './forms.ts';
import { newPasswordField } from './sign-in-views.ts';
import type { SignedIn } from './visitor.ts';

export interface SessionShown {
  readonly id: string;
  readonly device: string;
  readonly address: string;
  readonly last_used_at: string;
  readonly current: boolean;
}

export interface TokenShown {
  readonly id: string;
  readonly name: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
}

export interface LinkedShown {
  readonly id: string;
  readonly provider: string | null;
  readonly email: string | null;
  readonly linked_at: string;
  readonly primary: boolean;
}

export interface PasskeyShown {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

export interface AccountState {
  readonly visitor: SignedIn;
  readonly sessions: readonly SessionShown[];
  readonly tokens: readonly TokenShown[];
  readonly hasMoreTokens: boolean;
  readonly accounts: readonly LinkedShown[];
  readonly passkeys: readonly PasskeyShown[];
  readonly providers: readonly { readonly id: string; readonly name: string }[];
  /** Whether people may sign in with a password here. */
  readonly hasPasswords: boolean;
  /** An address that a code was sent to. */
  readonly linking?: string | undefined;
  readonly failure?: Failure | undefined;
  /** What was done, in a sentence. */
  readonly done?: string | undefined;
  /** A token that was made, shown this once. */
  readonly madeToken?: string | undefined;
}

export function accountView(state: AccountState): Html {
  const { visitor, failure, done, madeToken } = state;
  return html`<h1>Your account</h1>
<p class="soft">${visitor.shown}${visitor.email !== null && visitor.email !== visitor.shown && html` · ${visitor.email}`} · <code>${visitor.userId}</code></p>
${problem(failure)}${done !== undefined && html`<p class="notice good" role="status">${done}</p>`}
${madeToken !== undefined && madeTokenView(madeToken)}
${state.linking !== undefined && linkingView(state.linking)}
${linkedView(state)}
${sessionsView(state)}
${tokensView(state)}
${passkeysView(state)}
${state.hasPasswords && passwordView(failure)}`;
}

function madeTokenView(token: string): Html {
  return html`<div class="card">
<h2 id="copy-label">Your new token</h2>
<p>Copy it now: it is shown only this once.</p>
<code class="token" id="token" tabindex="0" role="group" aria-labelledby="copy-label">${token}</code>
<p class="actions"><button type="button" class="second" data-copy="token" hidden>Copy</button><span role="status" data-copied></span></p>
</div>`;
}

function linkedView({ accounts, providers }: AccountState): Html {
  const nameOf = (provider: string | null) => {
    if (provider === null) return 'Tokens only';
    return provider === 'email' ? 'E-mail address' : (providers.find(({ id }) => id === provider)?.name ?? provider);
  };
  return html`<h2 id="sign-ins">Linked sign-ins</h2>
<p class="soft">All of them are you: what belongs to one belongs to you, however you sign in.</p>
<ul class="list" aria-labelledby="sign-ins">
${accounts.map(
  ({
    id,
    provider,
    email,
    linked_at,
    primary,
  }) => html`<li><span>${email ?? nameOf(provider)} ${primary && html`<span class="tag">this one</span>`}<br><span class="soft small">${nameOf(provider)} · since ${timeText(linked_at)} · <code>${id}</code></span></span>
${accounts.length > 1 && actionButton('unlink', id, 'Unlink', `Unlink ${email ?? id}`)}</li>`,
)}
</ul>
${providers.map(({ id, name }) => html`<p><a class="button second" href="/v1/auth/oidc/${encodeURIComponent(id)}/start?link=1&#38;return_to=%2Faccount">Link ${name}</a></p>\n`)}
<form method="post" action="/account" class="card">
<label for="link-address">Link an e-mail address</label>
<div class="inline"><input id="link-address" name="email" type="email" required maxlength="${LIMITS.emailCharsMax}" autocomplete="off"><p><button name="do" value="link-email">Send a code</button></p></div>
</form>`;
}

function linkingView(email: string): Html {
  return html`<form method="post" action="/account" class="card">
<h2>Confirm ${email}</h2>
<p>We have sent a code there. If the address has an account already, it becomes one with yours.</p>
<input type="hidden" name="email" value="${email}">
<label for="code">Code</label>
<input class="digits" id="code" name="code" required inputmode="numeric" pattern="[0-9 ]*" maxlength="8" autocomplete="one-time-code">
<button name="do" value="verify-email">Link the address</button>
</form>`;
}

function sessionsView({ sessions }: AccountState): Html {
  return html`<h2 id="sessions">Signed-in browsers</h2>
<ul class="list" aria-labelledby="sessions">
${sessions.map(
  ({
    id,
    device,
    address,
    last_used_at,
    current,
  }) => html`<li><span>${device} ${current && html`<span class="tag">this one</span>`}<br><span class="soft small">${address} · used ${timeText(last_used_at)}</span></span>
${current ? html`<form method="post" action="/sign-out"><button class="second">Sign out</button></form>` : actionButton('end-session', id, 'End', `End the session of ${device}`)}</li>`,
)}
</ul>
${sessions.length > 1 && html`<form method="post" action="/account"><button class="second" name="do" value="end-others">End all others</button></form>`}`;
}

function tokensView({ tokens, hasMoreTokens }: AccountState): Html {
  return html`<h2 id="tokens">Tokens</h2>
<p class="soft">For programs and scripts. Whoever has a token can do what you can.</p>
${
  tokens.length > 0 &&
  html`<ul class="list" aria-labelledby="tokens">
${tokens.map(
  ({
    id,
    name,
    created_at,
    last_used_at,
    expires_at,
  }) => html`<li><span>${name ?? 'Without a name'}<br><span class="soft small">made ${timeText(created_at)} · ${last_used_at === null ? 'never used' : html`used ${timeText(last_used_at)}`}${expires_at !== null && html` · ends ${timeText(expires_at)}`}</span></span>
${actionButton('revoke-token', id, 'Revoke', `Revoke the token ${name ?? 'without a name'}`)}</li>`,
)}
</ul>`
}
${hasMoreTokens && html`<p class="soft">These are the newest; <code>GET /v1/me/tokens</code> lists all.</p>`}
<form method="post" action="/account" class="card">
<label for="token-name">Name of a new token</label>
<div class="inline"><input id="token-name" name="name" maxlength="100" autocomplete="off"><p><button name="do" value="make-token">Make a token</button></p></div>
</form>`;
}

function passkeysView({ passkeys }: AccountState): Html {
  return html`<h2 id="passkeys">Passkeys</h2>
<p class="soft">Sign in with your device instead of a password.</p>
${
  passkeys.length > 0 &&
  html`<ul class="list" aria-labelledby="passkeys">
${passkeys.map(
  ({
    id,
    name,
    created_at,
    last_used_at,
  }) => html`<li><span>${name}<br><span class="soft small">added ${timeText(created_at)} · ${last_used_at === null ? 'never used' : html`used ${timeText(last_used_at)}`}</span></span>
${actionButton('remove-passkey', id, 'Remove', `Remove the passkey ${name}`)}</li>`,
)}
</ul>`
}
<p><button type="button" class="second" data-add-passkey hidden>Add a passkey</button></p>
<noscript><p class="soft">Adding one needs JavaScript.</p></noscript>
<p role="alert" class="notice bad" data-passkey-problem hidden></p>`;
}

function passwordView(failure: Failure | undefined): Html {
  return html`<h2>Password</h2>
<form method="post" action="/account" class="card">
<label for="current">Current password, if you have one</label>
<input id="current" name="current" type="password" maxlength="${LIMITS.passwordCharsMax}" autocomplete="current-password">
${newPasswordField(failure, 'New password')}
<p class="soft small">All your other sessions end.</p>
<button name="do" value="password">Save the password</button>
</form>`;
}

/** `label`: for people who hear the button without what stands beside it. */
function actionButton(action: string, id: string, text: string, label: string): Html {
  return html`<form method="post" action="/account"><input type="hidden" name="id" value="${id}"><button class="second" name="do" value="${action}" aria-label="${label}">${text}</button></form>`;
}
