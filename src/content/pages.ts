/** The content origin's own pages. */
import { TOKENS_STYLE } from '../edge/tokens.ts';
import type { ContentReply } from './types.ts';

/** On the colours of all our pages, which have enough contrast in both themes. */
const STYLE =
  TOKENS_STYLE +
  'body{font:1rem/1.5 var(--sans);max-width:34rem;margin:18vh auto 0;padding:0 1.5rem;color:var(--ink);background:var(--paper)}' +
  'h1{font-size:1.5rem;line-height:1.25}a{color:var(--accent)}' +
  'input,button{font:inherit;min-height:var(--target);padding:.5rem .75rem;border:1px solid var(--edge);border-radius:var(--round-m)}' +
  'input{max-width:100%;box-sizing:border-box;color:var(--ink);background:var(--card)}' +
  'button{font-weight:600;color:var(--on-accent);background:var(--accent);border-color:var(--accent)}.wrong{color:var(--bad)}';

type Headers = readonly (readonly [string, string])[];

function page(status: number, title: string, body: string, headers: Headers = []): ContentReply {
  return {
    status,
    headers: [
      ['Content-Type', 'text/html; charset=utf-8'],
      ['Cache-Control', 'private, no-store'],
      ['X-Content-Type-Options', 'nosniff'],
      ['Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"],
      ['X-Robots-Tag', 'noindex'],
      ...headers,
    ],
    body:
      '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
      `<title>${title}</title><style>${STYLE}</style><h1>${title}</h1>${body}</html>`,
  };
}

/** One page for all that is missing, private, in the trash, or behind an expired preview link, so that nobody can tell which. */
export const NO_PAGE = page(
  404,
  'There is no page here',
  '<p>The address may be mistyped, the page may be private or deleted, or its preview link may have ended.</p>' +
    '<p><a href="/_easel/view">Sign in to see it</a>, if it is yours or somebody has shared it with you.</p>' +
    '<p>If somebody sent you this address, ask them to make the page public or to send a new preview link.</p>',
);

export const NO_FILE = page(
  404,
  'This page does not exist',
  '<p>The site is here, but it has no page at this address.</p><p><a href="/">Go to its start page</a></p>',
);

export const BAD_PATH = page(
  400,
  'This address is not valid',
  '<p>A path may not contain dot segments, backslashes, control characters or encoded slashes, ' +
    'and its percent-encoding must be valid UTF-8.</p><p><a href="/">Go to the start page</a></p>',
);

export const UNAVAILABLE = page(
  503,
  'This page cannot be shown right now',
  '<p>Something failed on our side. Try again in a few seconds.</p>',
  [['Retry-After', '5']],
);

/** For those who might see the page: an administrator of the installation has suspended it. */
export const SUSPENDED = page(
  403,
  'This page has been suspended',
  '<p>Whoever runs this installation has suspended it, so nobody can see it now.</p>' +
    '<p>If it is yours, you have had a mail about it. Nothing has been removed.</p>',
);

/** `again`: the address that begins anew. */
export function notEntered(again: string): ContentReply {
  return page(
    400,
    'You are not signed in here yet',
    '<p>The way here works once, for half a minute, and only in the browser that asked for it. This site must be allowed to keep cookies.</p>' +
      `<p><a href="${escapeHtml(again)}">Try again</a></p>`,
  );
}

export function tooManyEntries(retryAfterS: number): ContentReply {
  return page(429, 'Too many attempts', '<p>Too many people have come from your network at once. Try again in a minute.</p>', [
    ['Retry-After', String(Math.ceil(retryAfterS))],
  ]);
}

export function methodNotAllowed(allow: string): ContentReply {
  return page(405, 'This method is not allowed here', `<p>This address takes ${allow}.</p>`, [['Allow', allow]]);
}

/** `target`: the path and query to redirect to. */
export function passwordForm(target: string, state: 'ask' | 'wrong' | { readonly retryAfterS: number }): ContentReply {
  const notes =
    typeof state === 'object' ? `Too many attempts. Try again in ${Math.ceil(state.retryAfterS / 60)} min.` : 'That was not the password.';
  const note = state === 'ask' ? '' : `<p class="wrong" role="alert">${notes}</p>`;
  const form =
    '<p>Its owner has set a password.</p>' +
    `${note}<form method="post" action="/_easel/unlock"><input type="hidden" name="to" value="${escapeHtml(target)}">` +
    '<label>Password <input type="password" name="password" required autofocus autocomplete="current-password"></label> ' +
    '<button>Open</button></form>' +
    `<p>Is it yours, or shared with you? <a href="/_easel/view?${escapeHtml(String(new URLSearchParams({ to: target })))}">Sign in</a></p>`;
  const title = 'This page is protected';
  if (typeof state === 'object') return page(429, title, form, [['Retry-After', String(state.retryAfterS)]]);
  return page(401, title, form, [['WWW-Authenticate', 'Form realm="page password"']]);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
