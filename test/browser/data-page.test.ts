/** A page whose script reads and writes its own artifact's data on its own origin. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { wire } from '../support/page-requests.ts';
import { clientOf, publishSite } from '../support/publishing.ts';
import { describeWith } from '../support/services.ts';
import { launchBrowser, visit } from './browser.ts';

/** A simple visitor counter. */
const PAGE = `<!doctype html><html><head><meta charset="utf-8"><title>Counter</title></head><body>
<button id="count">…</button>
<script type="module">
  const key = '/v1/data/ARTIFACT_ID/json/visits';
  const button = document.getElementById('count');
  async function show() {
    const response = await fetch(key);
    button.textContent = response.ok ? String((await response.json()).data.value) : '0';
    button.dataset.ready = 'true';
  }
  button.onclick = async () => {
    const current = Number(button.textContent);
    const response = await fetch(key, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(current + 1),
    });
    if (!response.ok) throw new Error('PUT answered ' + response.status);
    await show();
  };
  await show();
</script></body></html>`;

describeWith('chromiumPath')('a page that keeps data', () => {
  let easel: TestEasel;
  let browser: Browser;
  beforeAll(async () => {
    [easel, browser] = await Promise.all([startTestEasel(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await easel?.close();
  });

  it('writes and reads its keys from its own origin, for every visitor, and never has a cookie', async () => {
    const { token } = await easel.newUser('pro');
    const client = clientOf(easel, token);
    const target = { slug: 'counter', visibility: 'public' } as const;
    const first = await publishSite(client, new Map([['index.html', Buffer.from('coming')]]), target);
    const page = Buffer.from(PAGE.replace('ARTIFACT_ID', first.artifactId));
    await publishSite(client, new Map([['index.html', page]]), { artifact_id: first.artifactId });
    await client.artifacts.update({ params: { id: first.artifactId as never }, body: { allow_anon_write: true } });
    await client.json.put({ params: { artifactId: first.artifactId as never, key: 'visits' }, body: 41 });

    const origin = new URL(first.url).origin;
    const one = await visit(browser, origin);
    await one.page.goto(first.url);
    const count = one.page.locator('#count[data-ready]');
    await count.waitFor();
    await expect.poll(() => count.textContent()).toBe('41');
    await count.click();
    await one.page.waitForFunction(() => document.getElementById('count')?.textContent === '42');
    expect(one.troubles).toEqual([]);
    expect(await one.page.context().cookies()).toEqual([]);

    const two = await visit(browser, origin);
    await two.page.goto(first.url);
    const seen = two.page.locator('#count[data-ready]');
    await seen.waitFor();
    await expect.poll(() => seen.textContent()).toBe('42');
    expect(two.troubles).toEqual([]);
  });

  it('reaches no other artifact and no other part of the API from there', async () => {
    const { token } = await easel.newUser('pro');
    const client = clientOf(easel, token);
    const site = new Map([['index.html', Buffer.from('x')]]);
    const mine = await publishSite(client, site, { slug: 'mine-here', visibility: 'public' });
    const other = await publishSite(client, site, { slug: 'other-there', visibility: 'public' });
    const host = new URL(mine.url).host;
    const headers = { authorization: `Bearer ${token}` };
    expect((await wire(easel.port, host, `/v1/data/${mine.artifactId}/json`)).status).toBe(200);
    for (const path of [
      `/v1/data/${other.artifactId}/json`,
      '/v1/me',
      '/v1/artifacts',
      `/v1/artifacts/${mine.artifactId}`,
      '/metrics',
      '/docs',
    ]) {
      expect([path, (await wire(easel.port, host, path, { headers })).status]).toEqual([path, 404]);
    }
  });
});
