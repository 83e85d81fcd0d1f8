/** A page that uploads a file with credentials to the API's host: CORS lets it read every answer. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { clientOf, publishSite } from '../support/publishing.ts';
import { describeWith } from '../support/services.ts';
import { launchBrowser } from './browser.ts';

/** Each answer as the page sees it: its status, or the browser's error. */
const PAGE = `<!doctype html><html><head><meta charset="utf-8"><title>Upload</title></head><body>
<script type="module">
  const data = 'API/v1/data/ARTIFACT_ID';
  const seen = [];
  async function call(path, init) {
    try {
      const response = await fetch(path.startsWith('http') ? path : data + path, { credentials: 'include', ...init });
      const body = await response.json();
      seen.push(response.status);
      return body;
    } catch (error) {
      seen.push(error.name);
    }
  }
  const json = { 'content-type': 'application/json' };
  const file = { filename: 'notes.txt', mimeType: 'text/plain', size: 5 };
  const begun = await call('/blobs/upload', { method: 'POST', headers: json, body: JSON.stringify(file) });
  const url = begun?.data?.uploadUrl ?? data + '/none';
  await call(url, { method: 'PUT', body: 'bytes' });
  await call(url, { method: 'PUT', body: 'bytes' });
  await call('/blobs/not-an-id', { method: 'DELETE' });
  await call('/nothing/here');
  await call('/json/a', { method: 'POST', headers: json, body: '1' });
  await call('/json/a', { method: 'PUT', headers: { ...json, authorization: 'Bearer so_9' }, body: '1' });
  document.title = JSON.stringify(seen);
</script></body></html>`;

describeWith('chromiumPath')('a page that uploads to the API', () => {
  let easel: TestEasel;
  let browser: Browser;
  beforeAll(async () => {
    [easel, browser] = await Promise.all([startTestEasel(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await easel?.close();
  });

  it('reads the answer to the upload and to refused requests', async () => {
    const { token } = await easel.newUser('pro');
    const client = clientOf(easel, token);
    const target = { slug: 'uploader', visibility: 'public' } as const;
    const first = await publishSite(client, new Map([['index.html', Buffer.from('coming')]]), target);
    const artifactId = first.artifactId as never;
    const page = Buffer.from(PAGE.replace('ARTIFACT_ID', first.artifactId).replace('API', `http://localhost:${easel.port}`));
    await publishSite(client, new Map([['index.html', page]]), { artifact_id: first.artifactId });
    await client.artifacts.update({ params: { id: artifactId }, body: { allow_anon_write: true } });

    // Not through `visit`, because Playwright answers preflights itself when it intercepts requests.
    const context = await browser.newContext();
    const tab = await context.newPage();
    await tab.goto(first.url);
    await tab.waitForFunction(() => document.title.startsWith('['));
    const stored = await client.blobs.list({ params: { artifactId } });
    expect([await tab.title(), stored.body.data.blobs.length]).toEqual([JSON.stringify([200, 201, 400, 404, 404, 405, 401]), 1]);
    await context.close();
  });
});
