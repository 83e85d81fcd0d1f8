/** The page on which somebody says that they want no more mail of a page. Its GET changes nothing, because programs open links in mail. */
import type { BaseCall, Handlers } from '../../../edge/call.ts';
import { html } from '../../../edge/html.ts';
import { framedPage, PAGE_HEADERS, PAGE_TYPE } from '../../../edge/page-frame.ts';
import { optOut } from '../../../mail/suppression.ts';
import { localeOf } from '../../../mail/templates/message.ts';
import { UnsubscribeLinks } from '../../../mail/unsubscribe-links.ts';
import type { ServiceDeps } from '../../deps.ts';
import { readNameOf } from './rows.ts';

const WORDS = {
  en: {
    title: 'Unsubscribe',
    ask: (page: string, address: string) => `Shall no more mail of the page "${page}" go to ${address}?`,
    action: 'No more mail of this page',
    done: 'Done',
    doneText: (page: string, address: string) => `No more mail of the page "${page}" goes to ${address}.`,
    unknown: 'This link is not complete, or its page is gone.',
    unknownHint: 'Open it again from the mail, or copy all of it.',
  },
  es: {
    title: 'Darse de baja',
    ask: (page: string, address: string) => `¿Quieres que no llegue más correo de la página «${page}» a ${address}?`,
    action: 'No recibir más correo de esta página',
    done: 'Hecho',
    doneText: (page: string, address: string) => `Ya no llegará correo de la página «${page}» a ${address}.`,
    unknown: 'El enlace no está completo, o su página ya no existe.',
    unknownHint: 'Ábrelo otra vez desde el correo, o cópialo entero.',
  },
} as const;

export function unsubscribePages(deps: ServiceDeps): Handlers<'pages.unsubscribe' | 'pages.unsubscribeForm'> {
  const links = new UnsubscribeLinks(deps);
  const find = async (token: string) => {
    const named = await links.read(token);
    const page = named === null ? null : await readNameOf(deps.sql, named.artifactId);
    return named === null || page === null ? null : { ...named, page };
  };
  return {
    'pages.unsubscribe': async (call) => {
      const { locale, words } = wordsFor(call);
      const found = await find(call.params.token);
      if (found === null) return unknownLink(locale);
      const content = html`<h1>${words.title}</h1>
<p>${words.ask(found.page, found.address)}</p>
<form method="post" action="/unsubscribe/${call.params.token}"><button class="block">${words.action}</button></form>`;
      return { reply: 'page', body: framedPage({ title: words.title, locale }, content), type: PAGE_TYPE, headers: PAGE_HEADERS };
    },
    'pages.unsubscribeForm': async (call) => {
      const { locale, words } = wordsFor(call);
      const found = await find(call.params.token);
      if (found === null) return unknownLink(locale);
      await deps.sql.begin((tx) => optOut(tx, found.artifactId, found.address, call.nowMs));
      const content = html`<h1>${words.done}</h1>
<p class="notice good" role="status">${words.doneText(found.page, found.address)}</p>`;
      return { reply: 'page', body: framedPage({ title: words.done, locale }, content), type: PAGE_TYPE, headers: PAGE_HEADERS };
    },
  };
}

function wordsFor({ acceptLanguage }: Pick<BaseCall, 'acceptLanguage'>) {
  const locale = localeOf(...acceptLanguage.split(',').map((tag) => tag.trim()));
  return { locale, words: WORDS[locale] };
}

function unknownLink(locale: keyof typeof WORDS) {
  const { title, unknown, unknownHint } = WORDS[locale];
  const content = html`<h1>${title}</h1>
<p class="notice bad" role="alert">${unknown}</p>
<p>${unknownHint}</p>`;
  return { reply: 'unknown', body: framedPage({ title, locale }, content), type: PAGE_TYPE, headers: PAGE_HEADERS } as const;
}
