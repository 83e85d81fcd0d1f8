/** The frame of our own pages on the API's host: plain HTML that works without a script. */
import { type Html, html } from './html.ts';

export const PAGE_TYPE = 'text/html; charset=utf-8';

/**
 * No inline script or style, and nothing of another host. `same-origin` as referrer policy, because with `no-referrer` browsers send a form
 * without its Origin, by which we know our own pages.
 */
export const PAGE_SECURITY = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const;

export const PAGE_HEADERS = { 'Cache-Control': 'no-store', ...PAGE_SECURITY } as const;

const WORDS = {
  en: { skip: 'Skip to the content', account: 'Account', signIn: 'Sign in', signOut: 'Sign out' },
  es: { skip: 'Ir al contenido', account: 'Cuenta', signIn: 'Iniciar sesión', signOut: 'Cerrar sesión' },
} as const;

export interface Frame {
  readonly title: string;
  /** The language of the content. Default: English. */
  readonly locale?: keyof typeof WORDS;
  /** Who is signed in; null shows a link to the sign-in page, undefined neither. */
  readonly signedIn?: string | null;
  /** Names of files under /_pages that the page loads as scripts. */
  readonly scripts?: readonly string[];
  /** Where the browser goes at once. */
  readonly goTo?: string;
  /** Wider, for pages with tables. */
  readonly wide?: boolean;
}

export function framedPage({ title, locale = 'en', signedIn, scripts = [], goTo, wide = false }: Frame, content: Html): string {
  return html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${goTo !== undefined && html`<meta http-equiv="refresh" content="0;url=${goTo}">\n`}<title>${title} · Easel</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/_pages/pages.css">
<script src="/_pages/theme.js"></script>
<script src="/_pages/banner.js" type="module"></script>
${scripts.map((name) => html`<script src="/_pages/${name}" type="module"></script>\n`)}</head>
<body>
<a class="skip" href="#content">${WORDS[locale].skip}</a>
<header><a class="brand" href="/">Easel</a>${whoLinks(signedIn, WORDS[locale])}</header>
<main id="content"${wide && html` class="wide"`}>
${content}
</main>
</body>
</html>
`.text;
}

function whoLinks(signedIn: string | null | undefined, words: (typeof WORDS)[keyof typeof WORDS]): Html | undefined {
  if (signedIn === undefined) return undefined;
  const { account, signIn, signOut } = words;
  if (signedIn === null) return html`<nav aria-label="${account}"><a href="/sign-in">${signIn}</a></nav>`;
  return html`<nav aria-label="${account}"><a href="/account">${signedIn}</a><form method="post" action="/sign-out"><button class="plain">${signOut}</button></form></nav>`;
}

/** An expected failure, for people. */
export function failurePage(failure: {
  readonly message: string;
  readonly hint: string;
  readonly requestId: string;
  readonly signIn: boolean;
  /** A page of ours where something can be done about it. */
  readonly goTo?: string | undefined;
}): string {
  return framedPage(
    { title: 'This did not work' },
    html`<h1>This did not work</h1>
<p class="notice bad" role="alert">${failure.message}</p>
<p>${failure.hint}</p>
<p>${failure.goTo !== undefined && html`<a href="${failure.goTo}">See the plans</a> · `}${failure.signIn && html`<a href="/sign-in">Sign in</a> · `}<a href="/">Start page</a></p>
<p class="soft small">Request ${failure.requestId}</p>`,
  );
}

/** Without a script the server cannot know the reader's zone, so it says which one it means. */
export function timeText(at: string): Html {
  return html`<time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 16)} UTC</time>`;
}
