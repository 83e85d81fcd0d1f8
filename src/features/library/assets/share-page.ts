/** The page of a share link. It works without a script. */
import { isbot } from 'isbot';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { BaseCall, Handlers } from '../../../edge/call.ts';
import { type Html, html } from '../../../edge/html.ts';
import { framedPage, PAGE_HEADERS, PAGE_SECURITY, PAGE_TYPE } from '../../../edge/page-frame.ts';
import type { Locale } from '../../../mail/templates/message.ts';
import type { ServiceDeps } from '../../deps.ts';
import { again, Form, goTo } from '../../people/pages/forms.ts';
import { toSignIn } from '../../people/pages/visitor.ts';
import { localeOfHeader } from '../../people/sign-in/code-mail.ts';
import { countView, type OpenLink } from './link-rows.ts';
import { findReadable, type ReadableFile } from './rows.ts';
import { type ShareLinks, sharePath } from './share-links.ts';
import { type ShareWords, shareWords, sizeText } from './share-words.ts';

interface Deps extends Pick<ServiceDeps, 'sql'> {
  readonly shareLinks: ShareLinks;
}

const HEADERS = {
  ...PAGE_HEADERS,
  'Content-Security-Policy': `${PAGE_SECURITY['Content-Security-Policy']}; media-src 'self'`,
};
/** What every browser shows. */
const SHOWN = /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml|bmp)$/;

export function sharePages({ sql, shareLinks }: Deps): Handlers<'pages.share' | 'pages.shareForm'> {
  return {
    'pages.share': async (call) => {
      const { secret } = call.params;
      const locale = localeOfHeader(call.acceptLanguage);
      const link = await shareLinks.find(secret);
      if (link === null) return ended(locale);
      const words = shareWords(locale);
      switch (await shareLinks.entry(link, call)) {
        case 'password':
          return page(words.passwordTitle, locale, passwordView(secret, words));
        case 'signIn':
          return toSignIn(sharePath(secret));
        case 'otherAddress':
          return page(words.domainTitle, locale, domainView(secret, link.domain ?? '', words));
        default:
          return opened(call, link, locale);
      }
    },
    'pages.shareForm': async (call) => {
      const { secret } = call.params;
      const locale = localeOfHeader(call.acceptLanguage);
      const link = await shareLinks.find(secret);
      if (link === null) return ended(locale);
      const words = shareWords(locale);
      const frame = { title: words.passwordTitle, locale };
      try {
        const cookie = await shareLinks.unlock(link, new Form(call.body).exact('password'), call);
        if (cookie !== null) return goTo(sharePath(secret), { 'Set-Cookie': cookie });
        return again(frame, passwordView(secret, words, words.wrong));
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== 'TOO_MANY_ATTEMPTS') throw error;
        const { retryAfterS = 60 } = error.details;
        const { body, type, headers } = again(frame, passwordView(secret, words, words.wait(Math.ceil(retryAfterS / 60))));
        return { reply: 'wait', body, type, headers: { ...headers, 'Retry-After': String(retryAfterS) } } as const;
      }
    },
  };

  async function opened(call: BaseCall & { readonly params: { readonly secret: string } }, link: OpenLink, locale: Locale) {
    const reader = { accounts: [], workspaces: [], sharedBy: [], linked: link.deliverableId };
    const file = await findReadable(sql, link.deliverableId, undefined, reader);
    if (file === null) return ended(locale);
    if (!isbot(call.userAgent)) await countView(sql, link.id);
    return page(link.name, locale, fileView(link, file, call.params.secret, locale));
  }
}

function page(title: string, locale: Locale, content: Html) {
  return { reply: 'page', body: framedPage({ title, locale, wide: true }, content), type: PAGE_TYPE, headers: HEADERS } as const;
}

function ended(locale: Locale) {
  const words = shareWords(locale);
  const content = html`<h1>${words.none}</h1>\n<p>${words.noneText}</p>`;
  return { reply: 'none', body: framedPage({ title: words.none, locale }, content), type: PAGE_TYPE, headers: PAGE_HEADERS } as const;
}

function passwordView(secret: string, words: ShareWords, problem?: string): Html {
  return html`<h1>${words.passwordTitle}</h1>
<p>${words.passwordText}</p>
${problem !== undefined && html`<p class="notice bad" role="alert" id="problem">${problem}</p>`}
<form method="post" action="${sharePath(secret)}" class="card">
<label for="password">${words.password}</label>
<input id="password" name="password" type="password" autocomplete="off" required autofocus${problem !== undefined && html` aria-describedby="problem"`}>
<button class="block">${words.open}</button>
</form>`;
}

function domainView(secret: string, domain: string, words: ShareWords): Html {
  return html`<h1>${words.domainTitle}</h1>
<p>${words.domainText(domain)}</p>
<p><a href="/sign-in?${new URLSearchParams({ return_to: sharePath(secret) }).toString()}">${words.useAnother}</a></p>`;
}

function fileView(link: OpenLink, file: ReadableFile, secret: string, locale: Locale): Html {
  const words = shareWords(locale);
  const query = new URLSearchParams({ link: secret }).toString();
  const base = `/v1/files/${link.deliverableId}`;
  return html`<h1>${link.name}</h1>
<p class="soft">${words.size(sizeText(file.sizeBytes, locale), file.mimeType)}</p>
${preview(file, `${base}/content?${query}`, `${base}/thumbnail?${query}`, link.name)}
<p><a class="button" href="${base}/content?${query}" download="${file.filename}">${words.download}</a></p>`;
}

function preview({ mimeType, picture }: ReadableFile, content: string, thumbnail: string, name: string): Html | false {
  if (SHOWN.test(mimeType)) return html`<p><img class="preview" src="${content}" alt="${name}"></p>`;
  if (mimeType.startsWith('video/')) return html`<p><video class="preview" src="${content}" controls preload="metadata"></video></p>`;
  if (mimeType.startsWith('audio/')) return html`<p><audio class="preview" src="${content}" controls preload="metadata"></audio></p>`;
  return picture !== null && html`<p><img class="preview" src="${thumbnail}" alt="${name}"></p>`;
}
