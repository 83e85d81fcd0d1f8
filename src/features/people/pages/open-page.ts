/**
 * The page between the app and a page's own origin: it leads there who may see it, asks before a stranger's page learns a name, and offers to
 * ask for access. What does not exist looks like what is not shared.
 */
import type { UserPrincipal } from '../../../../actors/access/access.ts';
import { slugSchema } from '../../../../protocol/core/fields.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { BaseCall, Handlers } from '../../../edge/call.ts';
import { type Html, html } from '../../../edge/html.ts';
import { OPEN_PATH, pagePath } from '../../../edge/page-entry.ts';
import { type Frame, framedPage, PAGE_HEADERS, PAGE_TYPE } from '../../../edge/page-frame.ts';
import { pageUrl } from '../../../platform/config.ts';
import type { Viewing } from '../../artifacts/viewing/viewing.ts';
import type { ServiceDeps } from '../../deps.ts';
import { again, expected, Form, problem, shown } from './forms.ts';
import { failureText, sharingWords } from './sharing-words.ts';
import { type SignedIn, signedIn, toSignIn } from './visitor.ts';

type Ids = 'pages.open' | 'pages.openForm' | 'pages.askForm';

/** Asks whoever may decide for access to the page with this slug. Throws ARTIFACT_NOT_FOUND, and failures that a person can correct. */
export type AskForAccess = (call: BaseCall, wanted: { readonly slug: string; readonly message?: string }) => Promise<unknown>;

interface Deps extends Pick<ServiceDeps, 'sql' | 'config'> {
  readonly viewing: Viewing;
  readonly ask: AskForAccess;
}

interface Wanted {
  readonly slug: string;
  readonly challenge: string | undefined;
  readonly to: string;
}

const ASK_PATH = `${OPEN_PATH}/ask`;

export function openPages(deps: Deps): Handlers<Ids> {
  async function answer(call: BaseCall, visitor: SignedIn, wanted: Wanted, agreed: boolean) {
    const head = await deps.viewing.headOf(wanted.slug);
    // `signedIn` has found that it is the principal of a session.
    const next = await deps.viewing.next(head, call.principal as UserPrincipal, wanted, agreed);
    const frame = frameOf(visitor);
    switch (next.kind) {
      case 'go':
        return forward(next.url, visitor);
      case 'asked':
        return shown(frame, agreeView(visitor, wanted, pageUrl(deps.config, wanted.slug)));
      case 'refused':
        return refused(frame, noAccessView(visitor, wanted));
      default:
        return next satisfies never;
    }
  }

  return {
    'pages.open': async (call) => {
      const { slug = '', challenge, return: to } = call.query;
      const wanted = { slug: slug.toLowerCase(), challenge, to: pagePath(to) };
      const visitor = await signedIn(deps, call);
      return visitor === null ? toSignIn(addressOf(wanted)) : answer(call, visitor, wanted, false);
    },
    'pages.openForm': async (call) => {
      const wanted = wantedIn(new Form(call.body));
      const visitor = await signedIn(deps, call);
      return visitor === null ? toSignIn(addressOf(wanted)) : answer(call, visitor, wanted, true);
    },
    'pages.askForm': async (call) => {
      const form = new Form(call.body);
      const wanted = wantedIn(form);
      const visitor = await signedIn(deps, call);
      if (visitor === null) return toSignIn(addressOf(wanted));
      const frame = frameOf(visitor);
      const message = form.optional('message');
      try {
        // No artifact has another slug.
        if (slugSchema.safeParse(wanted.slug).success)
          await deps.ask(call, { slug: wanted.slug, ...(message !== undefined && { message }) });
      } catch (error) {
        const failure = expected(error);
        if (failure.code !== 'ARTIFACT_NOT_FOUND') {
          const text = failureText(failure, visitor.locale);
          return again(frame, html`${problem(failure, text)}${noAccessView(visitor, wanted)}`);
        }
      }
      return shown(frame, askedView(visitor));
    },
  };
}

function wantedIn(form: Form): Wanted {
  return { slug: form.text('slug').toLowerCase(), challenge: form.optional('challenge'), to: pagePath(form.text('return')) };
}

/** A path of this host that `ownPath` takes: without the way within the page where the whole would be too long. */
function addressOf({ slug, challenge, to }: Wanted): string {
  const query = new URLSearchParams({ slug, ...(challenge !== undefined && { challenge }) });
  const whole = `${OPEN_PATH}?${query}&${new URLSearchParams({ return: to })}`;
  return whole.length <= LIMITS.returnToCharsMax ? whole : `${OPEN_PATH}?${query}`;
}

function frameOf({ shown: signedIn, locale }: SignedIn) {
  return { title: sharingWords(locale).open.title, signedIn, locale };
}

/**
 * Goes on by the document and not by a redirect: browsers hold a redirect that follows a form, such as that of the sign-in, to the form's policy,
 * which admits no other origin.
 */
function forward(url: string, { locale }: SignedIn) {
  const { open } = sharingWords(locale);
  const link = (text: string) => html`<a href="${url}">${text}</a>`;
  const body = framedPage(
    { title: open.title, locale, goTo: url },
    html`<h1>${open.opening}</h1>
<p>${open.goOn(link)}</p>`,
  );
  return { reply: 'page', body, type: PAGE_TYPE, headers: PAGE_HEADERS } as const;
}

function refused(frame: Frame, content: Html) {
  return { reply: 'refused', body: framedPage(frame, content), type: PAGE_TYPE, headers: PAGE_HEADERS } as const;
}

function fields({ slug, challenge = '', to }: Wanted): Html {
  return html`<input type="hidden" name="slug" value="${slug}">
<input type="hidden" name="challenge" value="${challenge}">
<input type="hidden" name="return" value="${to}">`;
}

const strong = (text: string) => html`<strong>${text}</strong>`;

function agreeView({ shown: who, locale }: SignedIn, wanted: Wanted, url: string): Html {
  const { open, signedInAs } = sharingWords(locale);
  return html`<h1>${open.agree}</h1>
<p>${open.agreeText(strong(url))}</p>
<form method="post" action="${OPEN_PATH}" class="card">
${fields(wanted)}
<p>${signedInAs(strong(who))}</p>
<button class="block">${open.goOnAs(who)}</button>
</form>
<p><a href="${url}${wanted.to}">${open.without}</a></p>`;
}

function noAccessView({ shown: who, locale }: SignedIn, wanted: Wanted): Html {
  const { open, useAnother } = sharingWords(locale);
  return html`<h1>${open.none}</h1>
<p>${open.noneText(strong(who))}</p>
<form method="post" action="${ASK_PATH}" class="card">
${fields(wanted)}
<label for="message">${open.message}</label>
<textarea id="message" name="message" rows="3" maxlength="500"></textarea>
<button class="block">${open.ask}</button>
</form>
<p><a href="/sign-in?${new URLSearchParams({ return_to: addressOf(wanted) }).toString()}">${useAnother}</a></p>`;
}

/** The same words whether or not there is such a page, and whether or not it was asked for before. */
function askedView({ locale }: SignedIn): Html {
  const { open } = sharingWords(locale);
  return html`<h1>${open.asked}</h1>
<p class="notice good" role="status">${open.askedText}</p>
<p>${open.askedMail}</p>`;
}
