/** The one layout of mails: a plain text part, and an HTML part that is readable without styles, on a phone, and on a dark background. */
import type { Action, Locale, Message } from './message.ts';

const FONT = "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";
const MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace";

/**
 * Programs that know neither media queries nor `color-scheme` invert the light colours by themselves, so every text has its background set
 * with it and none is pure black or white.
 */
const STYLE = `:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .page, .card { background-color: #1a1918 !important; }
  .card { border-color: #35332f !important; }
  .ink { color: #ece9e2 !important; }
  .soft { color: #b3aea4 !important; }
  .link { color: #ef8a6f !important; }
  .code { background-color: #262421 !important; color: #ece9e2 !important; }
  .quote { border-color: #5a564e !important; }
  .button { background-color: #ef8a6f !important; color: #1a1918 !important; }
}`;

export function textPart({ lead, code, quote, action, otherAction, notes }: Message): string {
  const parts = [
    ...(code === undefined ? [] : [code]),
    lead,
    ...(quote === undefined ? [] : [lines(quote, '> ')]),
    ...[action, otherAction].flatMap((one) => (one === undefined ? [] : [`${one.label}:\n${one.url}`])),
    ...notes,
  ];
  return `${parts.join('\n\n')}\n`;
}

export function htmlPart(message: Message, locale: Locale): string {
  const { subject, heading, lead, code, quote, action, otherAction, notes } = message;
  const blocks = [
    `<h1 class="ink" style="margin:0 0 16px;font-size:22px;line-height:1.3;color:#1c1b1a">${escapeHtml(heading)}</h1>`,
    `<p class="ink" style="margin:0 0 20px;color:#1c1b1a">${escapeHtml(lead)}</p>`,
    ...(code === undefined ? [] : [codeBlock(code)]),
    ...(quote === undefined ? [] : [quoteBlock(quote)]),
    ...[action, otherAction].flatMap((one) => (one === undefined ? [] : [actionBlock(one)])),
    ...notes.map((note) => `<p class="soft" style="margin:0 0 8px;font-size:14px;color:#6b6862">${escapeHtml(note)}</p>`),
  ];
  return `<!doctype html>
<html lang="${locale}" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>${STYLE}</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:#fbfaf7">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" class="page" style="background-color:#fbfaf7">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px">
<tr><td class="soft" style="padding:0 4px 12px;font:600 15px ${FONT};color:#6b6862">Easel</td></tr>
<tr><td class="card" style="padding:28px 24px;border:1px solid #e2dfd8;border-radius:10px;background-color:#fffefb;font:16px/1.6 ${FONT};overflow-wrap:anywhere">
${blocks.join('\n')}
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

function codeBlock(code: string): string {
  const style = `display:inline-block;padding:10px 18px;border-radius:8px;background-color:#f1eee7;color:#1c1b1a;font:600 28px/1.3 ${MONO};letter-spacing:4px`;
  return `<p style="margin:0 0 20px"><span class="code" style="${style}">${escapeHtml(code)}</span></p>`;
}

function quoteBlock(quote: string): string {
  const style = 'margin:0 0 20px;padding:2px 0 2px 14px;border-left:3px solid #d3cec3;color:#1c1b1a;white-space:pre-wrap';
  return `<blockquote class="quote ink" style="${style}">${escapeHtml(quote)}</blockquote>`;
}

/** The address is shown as well, because some programs open no buttons and some people no links that they cannot read. */
function actionBlock({ label, url }: Action): string {
  const href = escapeHtml(url);
  const style =
    'display:inline-block;padding:11px 20px;border-radius:8px;background-color:#b4432a;color:#fffefb;font-weight:600;text-decoration:none';
  return `<p style="margin:0 0 12px"><a class="button" href="${href}" style="${style}">${escapeHtml(label)}</a></p>
<p style="margin:0 0 20px;font-size:14px"><a class="link" href="${href}" style="color:#b4432a">${href}</a></p>`;
}

function lines(text: string, before: string): string {
  return text
    .split('\n')
    .map((line) => before + line)
    .join('\n');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
