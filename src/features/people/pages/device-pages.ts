/** The pages of a device login: enter the code, see what asks, approve or deny. A GET approves nothing. */
import type { Handlers } from '../../../edge/call.ts';
import { type Html, html } from '../../../edge/html.ts';
import { cookieValue, hostCookie } from '../../../edge/session-cookies.ts';
import type { ServiceDeps } from '../../deps.ts';
import type { DeviceApprovals, WaitingLogin } from '../device-login/approvals.ts';
import type { TokenService } from '../tokens/tokens.ts';
import { again, expected, Form, goTo, problem, shown } from './forms.ts';
import { type SignedIn, signedIn, toSignIn } from './visitor.ts';

type Ids = 'pages.device' | 'pages.deviceForm' | 'pages.deviceDone';

/** The token on its way to the page that shows it, and for as long as a reload of it takes. It is stored nowhere on the server in the clear. */
const SHOWN_COOKIE = 'device_token';
const SHOWN_S = 60;

export interface DevicePagesDeps extends Pick<ServiceDeps, 'sql' | 'config'> {
  readonly approvals: DeviceApprovals;
  readonly tokens: TokenService;
}

export function devicePages(deps: DevicePagesDeps): Handlers<Ids> {
  const { approvals, config, tokens } = deps;
  const isSecure = () => config.baseUrl.startsWith('https:');
  const cookieName = () => `${isSecure() ? '__Host-' : ''}${SHOWN_COOKIE}`;
  const home = (code: string | undefined) => (code === undefined ? '/device' : `/device?${new URLSearchParams({ user_code: code })}`);
  return {
    'pages.device': async (call) => {
      const typed = call.query.user_code?.trim() || undefined;
      const login = typed === undefined ? undefined : await approvals.find(typed);
      const visitor = await signedIn(deps, call);
      if (visitor === null) return toSignIn(home(typed), login?.expectedEmail);
      const frame = { title: 'Approve a device', signedIn: visitor.shown };
      if (typed === undefined) return shown(frame, enterCode());
      return login === undefined ? again(frame, enterCode(typed)) : shown(frame, confirm(login, visitor));
    },
    'pages.deviceForm': async (call) => {
      const form = new Form(call.body);
      const typed = form.text('user_code');
      const visitor = await signedIn(deps, call);
      if (visitor === null) return toSignIn(home(typed || undefined));
      const frame = { title: 'Approve a device', signedIn: visitor.shown };
      if (form.text('do') === 'deny')
        return (await approvals.deny(typed)) ? shown({ ...frame, title: 'Denied' }, DENIED) : again(frame, enterCode(typed));
      if (form.text('do') !== 'approve') return again(frame, enterCode(typed));
      try {
        const approved = await approvals.approve(typed, visitor);
        if (approved === undefined) return again(frame, enterCode(typed));
        return goTo('/device/done', { 'Set-Cookie': hostCookie(cookieName(), approved.token, SHOWN_S, isSecure()) });
      } catch (error) {
        return again(frame, html`<h1>Approve a device</h1>${problem(expected(error))}<p><a href="/account">Your account</a></p>`);
      }
    },
    'pages.deviceDone': async (call) => {
      const visitor = await signedIn(deps, call);
      if (visitor === null) return toSignIn('/device/done');
      const token = cookieValue(call.cookies, cookieName());
      const isOwn = token !== '' && (await isTokenOf(tokens, token, visitor));
      const frame = { title: 'Device approved', signedIn: visitor.shown, ...(isOwn && { scripts: ['copy.js'] }) };
      return shown(frame, done(isOwn ? token : undefined), { 'Set-Cookie': hostCookie(cookieName(), '', 0, isSecure()) });
    },
  };
}

/** A page on another host may have planted the cookie, with a token of somebody else. */
async function isTokenOf(tokens: TokenService, token: string, { userId }: SignedIn): Promise<boolean> {
  try {
    const principal = await tokens.authenticate(token);
    return principal.kind === 'user' && principal.userId === userId;
  } catch (error) {
    expected(error);
    return false;
  }
}

/** `wrong`: a code that waits for nothing. */
function enterCode(wrong?: string): Html {
  return html`<h1>Approve a device</h1>
${wrong !== undefined && html`<p class="notice bad" role="alert" id="problem">The code ${wrong.slice(0, 20)} is wrong, has expired, or was used already. Begin again in your program.</p>`}
<p>Enter the code that your program shows.</p>
<form method="get" action="/device" class="card">
<label for="user_code">Code</label>
<input class="code" id="user_code" name="user_code" required maxlength="12" autocomplete="off" autocapitalize="characters" spellcheck="false" placeholder="XXXX-XXXX"${wrong !== undefined && html` aria-invalid="true" aria-describedby="problem"`}>
<button class="block">Continue</button>
</form>`;
}

function confirm(login: WaitingLogin, visitor: SignedIn): Html {
  const { code, client, host, address, expectedEmail } = login;
  const isOther = expectedEmail !== null && !visitor.emails.includes(expectedEmail);
  return html`<h1>Approve this device?</h1>
<p>A program asks to act as <strong>${visitor.shown}</strong>${visitor.email !== null && visitor.email !== visitor.shown && html` (${visitor.email})`}. It will be able to publish, change and delete all that you can.</p>
${isOther && html`<p class="notice bad" role="alert">It expects <strong>${expectedEmail}</strong>, and you are signed in as <strong>${visitor.email ?? visitor.shown}</strong>. If somebody sent you here, do not approve.</p>`}
<div class="card">
<p class="soft small">Compare this code with the one that your program shows:</p>
<p class="usercode">${code}</p>
<dl>
<dt>Program</dt><dd>${client ?? 'does not say'}</dd>
<dt>Machine</dt><dd>${host ?? 'does not say'}</dd>
<dt>Address</dt><dd>${address}</dd>
${expectedEmail !== null && html`<dt>Expects</dt><dd>${expectedEmail}</dd>`}
</dl>
<p class="soft small">Program and machine are its own words. Approve only what you have just started yourself.</p>
<form method="post" action="/device" class="actions">
<input type="hidden" name="user_code" value="${code}">
<button name="do" value="approve">Approve</button>
<button name="do" value="deny" class="second">Deny</button>
</form>
</div>
<p><a href="/sign-in?${new URLSearchParams({ return_to: `/device?user_code=${code}`, ...(expectedEmail !== null && { login_hint: expectedEmail }) }).toString()}">Use another account</a></p>`;
}

const DENIED = html`<h1>Denied</h1>
<p class="notice good" role="status">The program was not signed in.</p>
<p>You can close this page.</p>`;

function done(token: string | undefined): Html {
  return html`<h1>Device approved</h1>
<p class="notice good" role="status">Your program is signed in. You can close this page and return to it.</p>
${
  token === undefined
    ? html`<p class="soft">The token was shown once already. If your program did not get it, begin again there.</p>`
    : html`<div class="card">
<h2 id="copy-label">If your program does not go on by itself</h2>
<p>Copy this token into it, for example with <code>easel login --token so_…</code>. It is shown only this once; treat it like a password.</p>
<code class="token" id="token" tabindex="0" role="group" aria-labelledby="copy-label">${token}</code>
<p class="actions"><button type="button" class="second" data-copy="token" hidden>Copy</button><span role="status" data-copied></span></p>
</div>`
}
<p><a href="/account">Tokens and sessions of your account</a></p>`;
}
