/** The two pages that the API's host shows to people: the home page and the frame of the reference. */
import { LIMITS } from '../../protocol/limits.ts';

export const PAGE_STYLE = `:root { color-scheme: light dark; --ink: #1c1b1a; --paper: #fbfaf7; --soft: #6b6862; --line: #e2dfd8; --accent: #b4432a; --code: #f1eee7; }
@media (prefers-color-scheme: dark) { :root { --ink: #ece9e2; --paper: #1a1918; --soft: #a19d94; --line: #35332f; --accent: #ef8a6f; --code: #262421; } }
body.home { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.6 system-ui, sans-serif; }
.home main { max-width: 42rem; margin: 0 auto; padding: 4rem 1.5rem; }
.home h1 { font-size: 2.6rem; line-height: 1.1; margin: 0 0 0.5rem; letter-spacing: -0.02em; }
.home h2 { font-size: 1.1rem; margin: 2.5rem 0 0.5rem; }
.home .lead { font-size: 1.25rem; color: var(--soft); margin: 0; }
.home pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: 0.9rem 1.1rem; overflow-x: auto; font-size: 0.9rem; }
.home code { font-family: ui-monospace, monospace; }
.home a { color: var(--accent); }
.home footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.9rem; }
body.reference { margin: 0; background: #fff; color-scheme: light; }
`;

function page(title: string, bodyClass: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/easel.css">
${head}</head>
<body class="${bodyClass}">
${body}
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** `baseUrl` as users see it. */
export function homePage(baseUrl: string): string {
  const url = escapeHtml(baseUrl);
  return page(
    'Easel',
    'home',
    '<meta name="description" content="Publishes HTML artifacts and gives each one a living back end.">\n',
    `<main>
<h1>Easel</h1>
<p class="lead">Publish a folder of HTML and it is live at its own address, with data of its own.</p>
<h2>Publish a folder</h2>
<pre><code>npx easel login --url ${url}
npx easel publish ./my-site</code></pre>
<h2>Let the page keep data</h2>
<p>Every published page finds <code>/sdk.js</code> on its own address: keys, tables and files that all its visitors share, and are told of as they change.</p>
<pre><code>&lt;script src="/sdk.js"&gt;&lt;/script&gt;
&lt;script&gt;
  easel.json.watch('score', (points = 0) =&gt; { document.title = points });
  easel.json.increment('score');
&lt;/script&gt;</code></pre>
<p>Its types are in <a href="/sdk.d.ts">sdk.d.ts</a>. Without it, the data are plain HTTP at <code>/v1/data/&lt;its id&gt;/</code>.</p>
<h2>Or call the interface</h2>
<p>The <a href="/docs">reference</a> lists every call; <a href="/v1/openapi.json">openapi.json</a> is for tools.</p>
<pre><code>curl -X POST ${url}/v1/auth/create-account</code></pre>
<footer>${LIMITS.publishPerHour} publishes an hour, ${LIMITS.dataPerMinute} data calls a minute for each artifact.</footer>
</main>`,
  );
}

export function docsPage(): string {
  return page(
    'Easel reference',
    'reference',
    '<link rel="stylesheet" href="/docs/swagger-ui.css">\n<script src="/docs/swagger-ui-bundle.js" defer></script>\n<script src="/docs/start.js" defer></script>\n',
    '<div id="reference"></div>\n<noscript><p>The reference needs JavaScript. <a href="/v1/openapi.json">openapi.json</a> says the same.</p></noscript>',
  );
}

/** Starts Swagger UI in the reference page. A file of its own, so that the page needs no inline script. */
export function docsScript(): string {
  const options = {
    url: '/v1/openapi.json',
    dom_id: '#reference',
    deepLinking: true,
    filter: true,
    docExpansion: 'list',
    tryItOutEnabled: false,
  };
  return `SwaggerUIBundle({ ...${JSON.stringify(options)}, presets: [SwaggerUIBundle.presets.apis], validatorUrl: null });\n`;
}
