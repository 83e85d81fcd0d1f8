/** The few pages that the content origin shows in its own name. */
import type { ContentReply } from './types.ts';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:18vh auto 0;padding:0 1.5rem;color:#222;background:#fafafa}' +
  'h1{font-size:1.5rem}input,button{font:inherit;padding:.5rem .75rem;border:1px solid #999;border-radius:.375rem}' +
  'button{background:#222;color:#fff;border-color:#222}.wrong{color:#b00020}' +
  '@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}input{background:#222;color:#eee}}';

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

/** One and the same for what does not exist, is private, is in the trash, or whose preview link has ended: nobody learns which. */
export const NO_PAGE = page(
  404,
  'There is no page here',
  '<p>The address may be mistyped, the page may be private or deleted, or its preview link may have ended.</p>' +
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

export function methodNotAllowed(allow: string): ContentReply {
  return page(405, 'This method is not allowed here', `<p>This address takes ${allow}.</p>`, [['Allow', allow]]);
}

/** `target`: the path and query to go on to. */
export function passwordForm(target: string, state: 'ask' | 'wrong' | { readonly retryAfterS: number }): ContentReply {
  const notes =
    typeof state === 'object' ? `Too many attempts. Try again in ${Math.ceil(state.retryAfterS / 60)} min.` : 'That was not the password.';
  const note = state === 'ask' ? '' : `<p class="wrong" role="alert">${notes}</p>`;
  const form =
    '<p>Its owner has set a password.</p>' +
    `${note}<form method="post" action="/_easel/unlock"><input type="hidden" name="to" value="${escapeHtml(target)}">` +
    '<label>Password <input type="password" name="password" required autofocus autocomplete="current-password"></label> ' +
    '<button>Open</button></form>';
  const title = 'This page is protected';
  if (typeof state === 'object') return page(429, title, form, [['Retry-After', String(state.retryAfterS)]]);
  return page(401, title, form, [['WWW-Authenticate', 'Form realm="page password"']]);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
