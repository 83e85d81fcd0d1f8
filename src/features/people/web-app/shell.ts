/** The one document of the web app. Its script fills it; the policy allows nothing inline and nothing of another host. Frames are for previews of mail. */
import { html } from '../../../edge/html.ts';
import { PAGE_SECURITY, PAGE_TYPE } from '../../../edge/page-frame.ts';
import type { AppManifest } from './files.ts';

const HEADERS = {
  ...PAGE_SECURITY,
  'Content-Security-Policy': `${PAGE_SECURITY['Content-Security-Policy']}; manifest-src 'none'; frame-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'`,
  'Cache-Control': 'no-store',
};

export function shellReply({ script, preload, style }: AppManifest) {
  const body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Easel</title>
<link rel="icon" type="image/svg+xml" href="/_app/icon.svg">
<link rel="stylesheet" href="/_app/${style}">
<script src="/_pages/theme.js"></script>
${preload.map((name) => html`<link rel="modulepreload" href="/_app/${name}">\n`)}<script src="/_app/${script}" type="module"></script>
</head>
<body>
<div id="app"><noscript><p class="noscript">This part of Easel needs JavaScript. <a href="/account">Your account</a> and the <a href="/docs">interface</a> work without it.</p></noscript></div>
</body>
</html>
`.text;
  return { reply: 'page', body, type: PAGE_TYPE, headers: HEADERS } as const;
}
