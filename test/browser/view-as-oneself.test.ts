/** Two people in two browsers on a private page, each as themselves: its data, a document, presence and comments; and the end of it. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Client } from '../../src/clients/sdk/client.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { clientOf, type Publication, publishSite } from '../support/publishing.ts';
import { describeWith } from '../support/services.ts';
import { lastCode } from '../support/web-person.ts';
import { axeSource, findingsOf } from './axe.ts';
import { callFrom, launchBrowser } from './browser.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 });

const HTML = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Plans</title><link rel="icon" href="data:,">
<script src="/sdk.js"></script></head><body><h1>Plans</h1><p>The coast is long.</p><p id="me"></p><p id="people"></p><p id="text"></p><script>
easel.me().then(({ person, role }) => { me.textContent = (person ? person.name : 'nobody') + ' is ' + role; });
easel.presence.on('change', (all) => { people.textContent = all.map(({ name }) => name).sort().join(' and '); });
easel.presence.set({});
easel.doc('notes').then((notes) => {
  const words = notes.doc.getText('text');
  const show = () => { document.getElementById('text').textContent = words.toString(); };
  words.observe(show);
  show();
  window.notes = notes;
});
</script></body></html>`;

describeWith('chromiumPath')('two people on a private page', () => {
  let easel: TestEasel;
  let browser: Browser;
  let axe: string;
  let app: string;
  let client: Client;
  let published: Publication;
  beforeAll(async () => {
    [easel, browser, axe] = await Promise.all([startTestEasel(), launchBrowser(), axeSource()]);
    app = `http://localhost:${easel.port}`;
  });
  afterAll(async () => {
    await browser?.close();
    await easel?.close();
  });

  async function newPage(): Promise<Page> {
    const context = await browser.newContext();
    context.setDefaultTimeout(90_000);
    return context.newPage();
  }

  async function signIn(page: Page, email: string): Promise<void> {
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Send me a code instead' }).click();
    await page.getByLabel('Code').waitFor();
    await page.getByLabel('Code').fill(await lastCode(easel, email));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  /** Presence is told at intervals of the service's clock. */
  const textOf = (page: Page, id: string) =>
    expect.poll(() => {
      easel.clock.advance(100);
      return page.locator(`#${id}`).textContent();
    });
  const share = async (email: string, role: string | null) => {
    await easel.sql`delete from collaborator where user_id in (select id from account where email = ${email})`;
    if (role !== null) {
      await easel.sql`
        insert into collaborator (artifact_id, user_id, role, added_at_ms)
        select ${published.artifactId}, id, ${role}, 0 from account where email = ${email}`;
    }
    // Tells of the change.
    await client.artifacts.update({ params: { id: published.artifactId as never }, body: { name: `Plans ${Math.random()}` } });
  };

  it('are who they are, and are gone with their session', async () => {
    const [ada, bob] = [await newPage(), await newPage()];
    await ada.goto(`${app}/sign-in`);
    await signIn(ada, 'ada@example.com');
    await ada.getByRole('heading', { name: 'Your account' }).waitFor();
    expect((await callFrom(ada, 'PATCH', '/v1/auth/profile', { name: 'Ada' })).status).toBe(200);
    await easel.sql`update account set tier = 'pro'`;
    const made = await callFrom(ada, 'POST', '/v1/me/tokens', {});
    client = clientOf(easel, made.body.token as string);
    published = await publishSite(client, new Map([['index.html', Buffer.from(HTML)]]), { slug: 'plans', visibility: 'private' });
    const params = { artifactId: published.artifactId as never };
    await client.comments.putConfig({ params, body: { overlayEnabled: true, identityMode: 'authenticated', guestComments: false } });

    // Bob opens the address that he was sent. He has no account yet, and no access.
    await bob.goto(`${published.url}/?chapter=2`);
    await bob.getByRole('link', { name: 'Sign in to see it' }).click();
    await signIn(bob, 'bob@example.com');
    await bob.getByRole('heading', { name: 'You have no access to this page' }).waitFor();
    expect(await findingsOf(bob, axe)).toEqual([]);
    await easel.sql`update account set name = 'Bob' where email = 'bob@example.com'`;
    await share('bob@example.com', 'viewer');
    await bob.reload();
    await textOf(bob, 'me').toBe('Bob is viewer');
    expect(new URL(bob.url()).pathname + new URL(bob.url()).search).toBe('/?chapter=2');
    expect(await bob.evaluate(() => document.cookie)).toBe('easel_signed_in=1');

    await ada.goto(`${app}/open?slug=plans`);
    await textOf(ada, 'me').toBe('Ada is owner');
    expect(ada.url()).toBe(`${new URL(published.url).origin}/`);
    for (const page of [ada, bob]) await textOf(page, 'people').toBe('Ada and Bob');

    // The owner writes in the document, and the viewer reads along.
    await ada.evaluate('notes.synced.then(() => notes.doc.getText("text").insert(0, "by the sea"))');
    await textOf(bob, 'text').toBe('by the sea');
    await expect.poll(() => bob.evaluate('notes.readOnly')).toBe(true);

    // Bob comments without being asked for a name; Ada sees it and moderates.
    await bob.locator('easel-comments .launcher').click();
    const panel = bob.getByRole('dialog', { name: 'Comments' });
    await panel.getByText('You are commenting as Bob.').waitFor();
    await panel.getByRole('button', { name: 'Comment on this page' }).click();
    expect(await panel.getByLabel('Your name').isVisible()).toBe(false);
    await panel.getByRole('textbox').fill('How long is it?');
    await panel.getByRole('button', { name: 'Send' }).click();
    await ada.locator('easel-comments .launcher').click();
    const hers = ada.getByRole('dialog', { name: 'Comments' });
    await hers.getByText('How long is it?').waitFor();
    expect(await hers.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await hers.getByRole('button', { name: 'Delete', exact: true }).click();
    await hers.getByRole('button', { name: 'Yes, delete' }).click();
    await expect.poll(() => panel.getByText('How long is it?').count()).toBe(0);

    // The page cannot use the cookie for anything but its own data.
    const tried = await ada.evaluate(
      async ([api, id]) => {
        const statusOf = (url: string) =>
          fetch(url, { credentials: 'include' }).then(
            ({ status }) => status,
            () => 'refused',
          );
        return Promise.all([statusOf('/v1/me'), statusOf(`${api}/v1/me`), statusOf(`/v1/data/${id}/json`), statusOf('/v1/artifacts')]);
      },
      [app, published.artifactId] as const,
    );
    expect(tried).toEqual([404, 'refused', 200, 404]);

    // Ada signs out in another window of her browser.
    const other = await ada.context().newPage();
    await other.goto(`${app}/sign-out`);
    await other.getByRole('main').getByRole('button', { name: 'Sign out' }).click();
    await textOf(bob, 'people').toBe('Bob');
    await expect.poll(() => ada.evaluate('easel.channel().state')).toBe('refused');
    await ada.reload();
    await ada.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(ada, 'ada@example.com');
    await textOf(ada, 'me').toBe('Ada is owner');

    // Bob loses his role while he looks.
    await share('bob@example.com', null);
    await expect.poll(() => bob.evaluate('easel.channel().state')).toBe('refused');
    await bob.reload();
    await bob.getByRole('heading', { name: 'You have no access to this page' }).waitFor();
  });
});
