/** The page of an invitation. Its GET changes nothing, because programs that look at mail open every link in it. */
import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import type { Handlers } from '../../../edge/call.ts';
import { type Html, html } from '../../../edge/html.ts';
import type { ServiceDeps } from '../../deps.ts';
import { again, expected, problem, shown } from './forms.ts';
import type { OwnCalls } from './own-calls.ts';
import { failureText, sharingWords } from './sharing-words.ts';
import { type SignedIn, signedIn, toSignIn } from './visitor.ts';

type Ids = 'pages.invite' | 'pages.inviteForm';

export type InviteCalls = OwnCalls<'invites.claim'>;

interface Invitation {
  readonly workspace: string;
  readonly role: WorkspaceRole;
}

/** What an open invitation is to, for a person who has proved one of these addresses; null for everybody else. */
export type InvitePreview = (code: string, emails: readonly string[]) => Promise<Invitation | null>;

interface Deps extends Pick<ServiceDeps, 'sql'> {
  readonly preview: InvitePreview;
  readonly calls: InviteCalls;
}

export function invitePages(deps: Deps): Handlers<Ids> {
  return {
    'pages.invite': async (call) => {
      const path = `/invite/${call.params.code}`;
      const visitor = await signedIn(deps, call);
      if (visitor === null) return toSignIn(path);
      const invitation = await deps.preview(call.params.code, visitor.emails);
      const frame = { title: sharingWords(visitor.locale).invite.title, signedIn: visitor.shown, locale: visitor.locale };
      return invitation === null ? again(frame, notForYou(path, visitor)) : shown(frame, invited(path, visitor, invitation));
    },
    'pages.inviteForm': async (call) => {
      const path = `/invite/${call.params.code}`;
      const visitor = await signedIn(deps, call);
      if (visitor === null) return toSignIn(path);
      const frame = { title: sharingWords(visitor.locale).invite.title, signedIn: visitor.shown, locale: visitor.locale };
      try {
        const { body } = await deps.calls.make('invites.claim', call, { body: { code: call.params.code } });
        return shown(frame, joined(visitor, body.name, body.slug));
      } catch (error) {
        const failure = expected(error);
        const text = problem(failure, failureText(failure, visitor.locale));
        return again(frame, html`<h1>${frame.title}</h1>${text}${otherAccount(path, visitor)}`);
      }
    },
  };
}

const strong = (text: string) => html`<strong>${text}</strong>`;

function invited(path: string, visitor: SignedIn, { workspace, role }: Invitation): Html {
  const { invite, signedInAs } = sharingWords(visitor.locale);
  return html`<h1>${invite.join(workspace)}</h1>
<p>${invite.joinText(strong(workspace), role)}</p>
<form method="post" action="${path}" class="card">
<p>${signedInAs(strong(visitor.shown))}</p>
<button class="block">${invite.joinAction}</button>
</form>
${otherAccount(path, visitor)}`;
}

/** The same words for a code that does not exist, has ended, or is meant for somebody else: a forwarded mail tells nothing. */
function notForYou(path: string, visitor: SignedIn): Html {
  const { invite } = sharingWords(visitor.locale);
  const account = (text: string) => html`<a href="/account">${text}</a>`;
  return html`<h1>${invite.title}</h1>
<p class="notice bad" role="alert">${invite.notForYou(strong(visitor.email ?? visitor.shown))}</p>
<p>${invite.whatToDo(account)}</p>
${otherAccount(path, visitor)}`;
}

function joined({ locale }: SignedIn, name: string, slug: string): Html {
  const { invite } = sharingWords(locale);
  return html`<h1>${invite.welcome(name)}</h1>
<p class="notice good" role="status">${invite.member}</p>
<p>${invite.inLine(html`<code>${slug}</code>`)}</p>`;
}

function otherAccount(path: string, { locale }: SignedIn): Html {
  const address = `/sign-in?${new URLSearchParams({ return_to: path })}`;
  return html`<p><a href="${address}">${sharingWords(locale).useAnother}</a></p>`;
}
