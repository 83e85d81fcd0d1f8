/** What every screen of the web app must be: within the policy, sound for axe-core, no wider than the window, small, and deaf to HTML in names. */
import { gunzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Client } from '../../src/clients/sdk/client.ts';
import { wire } from '../support/page-requests.ts';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

/** Of everything that the first screen loads, compressed. */
const FIRST_LOAD_BYTES_MAX = 120 * 1024;
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>"'&amp;`;
const LOOKS = [
  ['light', 1280],
  ['light', 360],
  ['dark', 1280],
  ['dark', 360],
] as const;

interface World {
  readonly artifactId: string;
  readonly slug: string;
}

/** A page with versions and comments, folders, a workspace with an agent and an invitation. */
async function furnish(client: Client): Promise<World> {
  const artifactId = await publishPage(client, 'Quarterly numbers with a name that is longer than a card is wide');
  await publishPage(client, 'Quarterly numbers', { artifact_id: artifactId, text: 'second' });
  await publishPage(client, 'Landing page');
  await client.artifacts.favorite({ params: { id: artifactId } });
  await client.comments.create({ params: { artifactId }, body: { content: 'The second chart needs a title.' } });
  const nightly = {
    title: 'Count the orders of the day',
    trigger_type: 'cron',
    schedule: '30 2 * * *',
    timezone: 'Europe/Berlin',
  } as const;
  await client.jobs.create({ body: { artifact_id: artifactId, ...nightly, action: 'script', config: { source: 'return 1;' } } });
  const { id: folder_id } = (await client.personalFolders.create({ body: { name: 'Clients' } })).body;
  await client.personalFolders.file({ params: { id: artifactId }, body: { folder_id } });
  const { slug } = (await client.workspaces.create({ body: { name: `Studio of ${artifactId.slice(-6)}` } })).body;
  const params = { workspaceId: slug };
  await client.folders.create({ params, body: { name: 'Design' } });
  await client.invites.create({ params, body: { emails: [`grace-${artifactId.slice(-6)}@example.com`] } });
  await client.agentTokens.create({ params, body: { name: 'Release bot', scopes: ['artifacts:read', 'data:write'] } });
  await publishPage(client, 'Brand guide', { workspace_id: slug });
  return { artifactId, slug };
}

function screensOf({ artifactId, slug }: World): readonly (readonly [path: string, heading: RegExp])[] {
  const numbers = /^Quarterly numbers/;
  const studio = /^Studio of/;
  return [
    ['/', /^My pages$/],
    ['/ask', /^Ask$/],
    ['/my/favorites', /^Favourites$/],
    ['/my/inbox', /^Inbox$/],
    ['/my/shared', /^Shared with me$/],
    ['/my/trash', /^Trash$/],
    ['/my/support', /^Support$/],
    [`/p/${artifactId}`, numbers],
    [`/p/${artifactId}/versions`, numbers],
    [`/p/${artifactId}/files`, numbers],
    [`/p/${artifactId}/comments`, numbers],
    [`/p/${artifactId}/jobs`, numbers],
    [`/p/${artifactId}/jobs/new`, numbers],
    [`/p/${artifactId}/api`, numbers],
    [`/p/${artifactId}/settings`, numbers],
    [`/w/${slug}`, studio],
    [`/w/${slug}/people`, studio],
    [`/w/${slug}/approvals`, studio],
    [`/w/${slug}/external`, studio],
    [`/w/${slug}/agents`, studio],
    [`/w/${slug}/audit`, studio],
    [`/w/${slug}/settings`, studio],
    ['/design', /^Paper, ink/],
  ];
}

async function isSettled(page: Page): Promise<void> {
  await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
}

describeWith('chromiumPath')('the looks of the web app', () => {
  let stage: AppStage;
  let axe: string;

  beforeAll(async () => {
    [stage, axe] = await Promise.all([AppStage.start(), axeSource()]);
  });
  afterAll(() => stage?.close());

  it.each(LOOKS)(
    'axe-core has no serious finding, nothing is cut off, and the policy refuses nothing: %s, %i px',
    async (colorScheme, width) => {
      const person = await stage.person(`${colorScheme}-${width}@example.com`, {
        colorScheme,
        reducedMotion: 'reduce',
        viewport: { width, height: 760 },
      });
      const { page, troubles } = person;
      const world = await furnish(person.client);
      const findings: string[] = [];
      const look = async (what: string) => {
        for (const finding of await findingsOf(page, axe)) findings.push(`${what}: ${finding}`);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) findings.push(`${what}: ${over} px wider than the window`);
        const named = what.replace(world.artifactId, 'page').replace(world.slug, 'workspace');
        await keepScreenshot(page, `app ${colorScheme} ${width} ${named === '/' ? 'home' : named}`);
      };
      for (const [path, heading] of screensOf(world)) {
        await page.goto(`${stage.origin}${path}`);
        await page.getByRole('heading', { level: 1, name: heading }).waitFor();
        if (path !== '/design') await isSettled(page);
        await look(path);
      }
      await page.goto(`${stage.origin}/`);
      await page.getByRole('button', { name: /^Account of/ }).click();
      await page.getByRole('menu').waitFor();
      await look('account menu');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByRole('option').first().waitFor();
      await look('palette');
      await page.keyboard.press('Escape');
      await page.getByRole('banner').getByRole('button', { name: 'Publish', exact: true }).click();
      await page.getByRole('dialog').waitFor();
      await look('publish');
      expect(findings).toEqual([]);
      expect(unexpected(troubles)).toEqual([]);
    },
  );

  it('the first load is within its bytes, comes from this host alone, and is kept for ever by its names', async () => {
    const person = await stage.person('bytes@example.com');
    await publishPage(person.client, 'One');
    const asked = new Set<string>();
    person.page.on('request', (request) => asked.add(request.url()));
    await person.page.goto(`${stage.origin}/`);
    await person.page.getByRole('link', { name: 'One' }).waitFor();
    expect([...asked].filter((url) => !url.startsWith(`${stage.origin}/`))).toEqual([]);
    const files = [...asked].filter((url) => /\/_(?:app|pages)\//.test(url));
    let bytes = 0;
    for (const url of files) {
      const reply = await gzipped(stage, new URL(url).pathname);
      bytes += reply.bytes;
      if (/-[A-Z0-9]{8}\.(?:js|css)$/.test(url)) expect(reply.caching).toBe('public, max-age=31536000, immutable');
    }
    expect(files.length).toBeGreaterThan(3);
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX);
  });

  it('HTML in names stays text on every screen', async () => {
    const { page, client, troubles } = await stage.person('hostile@example.com');
    await client.accounts.updateProfile({ body: { name: HOSTILE } });
    const id = await publishPage(client, HOSTILE);
    await client.comments.create({ params: { artifactId: id }, body: { content: HOSTILE } });
    const { id: folder_id } = (await client.personalFolders.create({ body: { name: HOSTILE } })).body;
    await client.personalFolders.file({ params: { id }, body: { folder_id } });
    const { slug } = (await client.workspaces.create({ body: { name: HOSTILE.slice(0, 80), slug: 'hostile-studio' } })).body;
    await client.agentTokens.create({ params: { workspaceId: slug }, body: { name: HOSTILE, scopes: ['data:read'] } });
    for (const path of [
      '/',
      `/my/folders/${folder_id}`,
      `/p/${id}`,
      `/p/${id}/comments`,
      `/w/${slug}`,
      `/w/${slug}/people`,
      `/w/${slug}/agents`,
      `/w/${slug}/audit`,
    ]) {
      await page.goto(`${stage.origin}${path}`);
      await page.getByText('onerror', { exact: false }).first().waitFor();
      expect(await page.locator('img[src="x"]').count()).toBe(0);
      expect(await page.title()).not.toBe('taken');
    }
    await page.keyboard.press('Control+k');
    await page.keyboard.type('onerror');
    await page.getByRole('dialog').getByRole('option').first().waitFor();
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    expect(unexpected(troubles)).toEqual([]);
  });

  it('without a connection the app says so, refuses changes, and goes on when it is back', async () => {
    const { page, client } = await stage.person('offline@example.com');
    await publishPage(client, 'Kept in view');
    await page.goto(`${stage.origin}/`);
    await page.getByRole('link', { name: 'Kept in view' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('alert').filter({ hasText: 'You are offline.' }).waitFor();
    await expect.poll(() => page.locator('link[rel="icon"]').getAttribute('href')).toBe('/_app/icon-offline.svg');
    await page.getByRole('button', { name: 'Add Kept in view to the favourites' }).click();
    await page.getByRole('alert').filter({ hasText: 'No connection.' }).waitFor();
    await page.getByRole('button', { name: 'Add Kept in view to the favourites' }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('alert').filter({ hasText: 'You are offline.' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add Kept in view to the favourites' }).click();
    await expect.poll(async () => (await client.artifacts.list({ query: { favorites: true } })).body.artifacts.length).toBe(1);
  });

  it('colours and language are chosen by hand, stay, and the language is that of the account', async () => {
    const { page, client } = await stage.person('choices@example.com');
    await page.goto(`${stage.origin}/`);
    const choose = async (name: string) => {
      await page.getByRole('button', { name: /^(?:Account of|Cuenta de)/ }).click();
      await page.getByRole('menuitemradio', { name }).click();
    };
    await choose('Dark');
    await choose('Español');
    await page.getByRole('heading', { level: 1, name: 'Mis páginas' }).waitFor();
    await expect.poll(async () => (await client.accounts.profile()).body.metadata.locale).toBe('es');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Mis páginas' }).waitFor();
    const root = page.locator('html');
    expect([await root.getAttribute('lang'), await root.getAttribute('data-theme')]).toEqual(['es', 'dark']);
    await page.goto(`${stage.origin}/account`);
    await expect.poll(() => root.getAttribute('data-theme')).toBe('dark');
  });
});

async function gzipped(stage: AppStage, path: string): Promise<{ readonly bytes: number; readonly caching: string | null }> {
  const answer = await wire(stage.easel.port, `localhost:${stage.easel.port}`, path, { headers: { 'accept-encoding': 'gzip' } });
  if (answer.headers['content-encoding'] === 'gzip') gunzipSync(answer.body);
  return { bytes: answer.body.length, caching: String(answer.headers['cache-control']) };
}
