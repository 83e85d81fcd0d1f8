/** The pages that show imported files. They live on an origin of their own, as every page does. */
import { Html, html } from '../../../edge/html.ts';

export interface PageFile {
  readonly path: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
}

const STYLE =
  'body{font:16px/1.6 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1.5rem;color-scheme:light dark}img{max-width:100%;height:auto}pre{white-space:pre-wrap;overflow-wrap:anywhere}table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid #8888;padding:.25rem .5rem;text-align:start}embed{width:100%;height:85vh;border:0}';

export function page(title: string, body: Html): PageFile {
  const text = html`<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
<main>${body}</main>
`;
  return { path: 'index.html', mime: 'text/html; charset=utf-8', bytes: Buffer.from(text.text) };
}
