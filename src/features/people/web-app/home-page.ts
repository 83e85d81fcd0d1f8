/** What a visitor without a session sees at `/`: what this is, and the first commands. It works without a script. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { html } from '../../../edge/html.ts';
import { PAGE_HEADERS, PAGE_TYPE } from '../../../edge/page-frame.ts';

/** `baseUrl` is the public URL of the API. */
export function homeReply(baseUrl: string) {
  return { reply: 'page', body: homePage(baseUrl), type: PAGE_TYPE, headers: PAGE_HEADERS } as const;
}

function homePage(url: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="Publishes HTML artifacts and gives each one a living back end.">
<title>Easel</title>
<link rel="icon" type="image/svg+xml" href="/_app/icon.svg">
<link rel="stylesheet" href="/_pages/pages.css">
<link rel="stylesheet" href="/_pages/home.css">
<script src="/_pages/theme.js"></script>
<script src="/_pages/banner.js" type="module"></script>
</head>
<body class="home">
<a class="skip" href="#content">Skip to the content</a>
<header><a class="brand" href="/"><img src="/_app/icon.svg" alt="" width="26" height="26">Easel</a><nav aria-label="Site"><a href="/docs">Reference</a><a class="button second" href="/sign-in?return_to=%2F">Sign in</a></nav></header>
<main id="content">
<section class="hero"><div>
<h1>Publish a page.<br>Give it a life.</h1>
<p class="lead">A folder of HTML gets an address of its own, with data, files, comments and live documents that all its visitors share.</p>
<p class="actions"><a class="button" href="/sign-in?return_to=%2F">Sign in and drop a folder</a><a class="button second" href="#commands">Use the command line</a></p>
</div><img class="hero-art" src="/_app/hero.svg" alt="" width="440" height="420"></section>
<section id="commands" class="steps" aria-label="First commands">
<div class="step"><h2>1. Publish a folder</h2>
<pre tabindex="0"><code>npx easel login --url ${url}
npx easel publish ./my-site</code></pre>
<p>The first command opens your browser, where you sign in or <a href="/sign-up?return_to=%2F">make an account</a>. With <code>--headless</code> it makes one without an e-mail address.</p></div>
<div class="step"><h2>2. Let the page keep data</h2>
<pre tabindex="0"><code>&lt;script src="/sdk.js"&gt;&lt;/script&gt;
&lt;script&gt;
  easel.json.watch('score', (points = 0) =&gt; {
    document.title = points;
  });
  easel.json.increment('score');
&lt;/script&gt;</code></pre>
<p>Every published page finds <code>/sdk.js</code> on its own address. Its types are in <a href="/sdk.d.ts">sdk.d.ts</a>.</p></div>
<div class="step"><h2>3. Or call the interface</h2>
<pre tabindex="0"><code>curl -X POST ${url}/v1/auth/create-account</code></pre>
<p>The <a href="/docs">reference</a> lists every call; <a href="/v1/openapi.json">openapi.json</a> is for tools.</p></div>
</section>
<footer>${LIMITS.publishPerHour} publishes an hour, ${LIMITS.dataPerMinute} data calls a minute for each artifact. <a href="/account">Your account</a> shows sessions and tokens.</footer>
</main>
</body>
</html>
`.text;
}
