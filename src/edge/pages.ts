/** The reference page of the API. */
import { BANNER_STYLE } from './site-banner.ts';
import { TOKENS_STYLE } from './tokens.ts';

/** Swagger UI has colours of its own, which are light. */
export const DOCS_STYLE = `${TOKENS_STYLE}body.reference { margin: 0; background: #fff; color-scheme: light; }
${BANNER_STYLE}`;

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

export function docsPage(): string {
  return page(
    'Easel reference',
    'reference',
    '<link rel="stylesheet" href="/docs/swagger-ui.css">\n<script src="/docs/swagger-ui-bundle.js" defer></script>\n<script src="/docs/start.js" defer></script>\n<script src="/_pages/banner.js" type="module"></script>\n',
    '<div id="reference"></div>\n<noscript><p>The reference needs JavaScript. <a href="/v1/openapi.json">openapi.json</a> says the same.</p></noscript>',
  );
}

/** The script that starts Swagger UI. It is a file of its own, so that the page needs no inline script. */
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
