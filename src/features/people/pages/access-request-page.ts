/** The page on which a request for access is decided. Its GET changes nothing, because programs that look at mail open every link in it. */
import type { AccessRequestId } from '../../../../protocol/core/ids.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Handlers, Reply } from '../../../edge/call.ts';
import { type Html, html } from '../../../edge/html.ts';
import { timeText } from '../../../edge/page-frame.ts';
import type { ServiceDeps } from '../../deps.ts';
import { again, expected, Form, problem, shown } from './forms.ts';
import type { OwnCalls } from './own-calls.ts';
import { failureText, type SharingWords, sharingWords } from './sharing-words.ts';
import { type SignedIn, signedIn, toSignIn } from './visitor.ts';

type Ids = 'pages.accessRequest' | 'pages.accessRequestForm';

export type AccessRequestCalls = OwnCalls<'accessRequests.get' | 'accessRequests.decide'>;

interface Deps extends Pick<ServiceDeps, 'sql'> {
  readonly calls: AccessRequestCalls;
}

type Shown = Reply<Endpoints['accessRequests.get'], 'ok'>['body'];

export function accessRequestPages(deps: Deps): Handlers<Ids> {
  const { calls } = deps;
  return {
    'pages.accessRequest': async (call) => {
      const { requestId } = call.params;
      const visitor = await signedIn(deps, call);
      if (visitor === null) return toSignIn(pathOf(requestId, call.query.action));
      const words = sharingWords(visitor.locale);
      const frame = { title: words.request.title, signedIn: visitor.shown, locale: visitor.locale };
      try {
        const { body } = await calls.make('accessRequests.get', call, { params: { requestId } });
        return shown(frame, body.status === 'pending' ? question(words, body, call.query.action === 'deny') : decided(words, body));
      } catch (error) {
        expected(error);
        return again(frame, notForYou(requestId, visitor));
      }
    },
    'pages.accessRequestForm': async (call) => {
      const { requestId } = call.params;
      const visitor = await signedIn(deps, call);
      if (visitor === null) return toSignIn(pathOf(requestId));
      const words = sharingWords(visitor.locale);
      const frame = { title: words.request.title, signedIn: visitor.shown, locale: visitor.locale };
      const params = { requestId };
      try {
        const { body } = await calls.make('accessRequests.get', call, { params });
        const action = new Form(call.body).text('action');
        await calls.make('accessRequests.decide', call, { params, body: { action } });
        return shown(frame, done(words, body, action === 'approve'));
      } catch (error) {
        const failure = expected(error);
        if (failure.code === 'ACCESS_REQUEST_NOT_FOUND' || failure.code === 'FORBIDDEN') return again(frame, notForYou(requestId, visitor));
        return again(frame, html`<h1>${words.request.title}</h1>${problem(failure, failureText(failure, visitor.locale))}`);
      }
    },
  };
}

function pathOf(id: AccessRequestId, action?: string): string {
  const chosen = action === 'approve' || action === 'deny' ? `?action=${action}` : '';
  return `/access-requests/${id}${chosen}`;
}

const strong = (text: string) => html`<strong>${text}</strong>`;

/** `denies`: the button to decline was chosen in the mail, so that it comes first. */
function question(words: SharingWords, request: Shown, denies: boolean): Html {
  const { request: said } = words;
  const allow = html`<button name="action" value="approve"${denies && html` class="second"`}>${said.allow}</button>`;
  const decline = html`<button name="action" value="deny"${!denies && html` class="second"`}>${said.decline}</button>`;
  return html`<h1>${said.asks(whoOf(words, request))}</h1>
<div class="card">
<dl>
<dt>${said.page}</dt><dd>${request.artifact_name}</dd>
<dt>${said.who}</dt><dd>${request.requester_name ?? said.noName}</dd>
<dt>${said.address}</dt><dd>${request.requester_email ?? said.noAddress}</dd>
<dt>${said.asked}</dt><dd>${timeText(String(request.created_at))}</dd>
</dl>
${request.message !== null && html`<blockquote>${request.message}</blockquote>`}
<p class="soft small">${said.ownWords}</p>
<form method="post" action="${pathOf(request.id as AccessRequestId)}" class="actions">
${denies ? [decline, allow] : [allow, decline]}
</form>
</div>`;
}

function whoOf({ request }: SharingWords, { requester_name, requester_email }: Shown): string {
  return requester_name ?? requester_email ?? request.somebody;
}

function decided({ request }: SharingWords, { status, artifact_name }: Shown): Html {
  return html`<h1>${request.title}</h1>
<p class="notice" role="status">${request.decided(strong(artifact_name), status)}</p>`;
}

function done(words: SharingWords, request: Shown, isApproved: boolean): Html {
  const { request: said } = words;
  const text = isApproved ? said.givenText(whoOf(words, request), strong(request.artifact_name)) : said.declinedText;
  return html`<h1>${isApproved ? said.given : said.declined}</h1>
<p class="notice good" role="status">${text}</p>
<p>${said.told}</p>`;
}

/** The same words for a request that does not exist and for one that somebody else decides. */
function notForYou(id: AccessRequestId, visitor: SignedIn): Html {
  const { request, useAnother } = sharingWords(visitor.locale);
  return html`<h1>${request.title}</h1>
<p class="notice bad" role="alert">${request.notForYou(strong(visitor.email ?? visitor.shown))}</p>
<p><a href="/sign-in?${new URLSearchParams({ return_to: pathOf(id) }).toString()}">${useAnother}</a></p>`;
}
