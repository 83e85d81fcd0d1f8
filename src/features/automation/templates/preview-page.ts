/** A rendered mail in a frame of the app, whose own policy allows no inline style. */
import type { Handlers } from '../../../edge/call.ts';
import { PAGE_HEADERS, PAGE_TYPE } from '../../../edge/page-frame.ts';

/** No script, no form, and an origin of its own; its links open in tabs. */
const HEADERS = {
  ...PAGE_HEADERS,
  'Content-Security-Policy':
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'",
};

export const mailPreview: Handlers<'pages.mailPreview'> = {
  'pages.mailPreview': ({ body }) => {
    const html = new URLSearchParams(Buffer.from(body).toString()).get('html') ?? '';
    return { reply: 'page', body: html, type: PAGE_TYPE, headers: HEADERS };
  },
};
