/** The page of a skill. HTML in its Markdown is shown as text, and links lead only where browsers go safely. */
import MarkdownIt from 'markdown-it';
import { Html, html } from '../../../edge/html.ts';
import type { SkillSource } from './source.ts';

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
main { max-width: 44rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1, h2, h3, h4 { line-height: 1.25; margin: 2rem 0 0.75rem; }
header h1 { margin-top: 0; }
header p { opacity: 0.75; font-size: 1.1rem; }
pre { overflow-x: auto; padding: 1rem; border-radius: 8px; background: color-mix(in srgb, currentColor 7%, transparent); }
code { font: 0.9em/1.5 ui-monospace, monospace; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
td, th { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: 0.4rem 0.7rem; text-align: left; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid color-mix(in srgb, currentColor 30%, transparent); }
img { max-width: 100%; height: auto; }
`;

export function skillPage({ name, description, body }: SkillSource): string {
  const markdown = new MarkdownIt({ html: false, linkify: false });
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<meta name="description" content="${description}">
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<header><h1>${name}</h1><p>${description}</p></header>
${new Html(markdown.render(body))}</main>
</body>
</html>
`;
  return page.text;
}
