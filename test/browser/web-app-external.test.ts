/** People outside, from three sides: an admin who shares, the owner of a page, and the client, each in a browser of their own. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { type AppPerson, AppStage, allowOutside, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';

const LOOKS = [
  ['light', 1280],
  ['dark', 360],
] as const;

describeWith('chromiumPath')('people outside in the web app', () => {
  let stage: AppStage;
  let axe: string;

  beforeAll(async () => {
    [stage, axe] = await Promise.all([AppStage.start(), axeSource()]);
  });
  afterAll(() => stage?.close());

  /** The owner of a new workspace that may share outside. */
  async function admin(slug: string, options = {}): Promise<AppPerson> {
    const one = await stage.person(`admin-${slug}@example.com`, options);
    await one.client.workspaces.create({ body: { name: 'Ours', slug } });
    await allowOutside(stage.easel, slug);
    return one;
  }

  const look = async (page: Page) => {
    const findings = await findingsOf(page, axe);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    return over > 0 ? [...findings, `${over} px wider than the window`] : findings;
  };

  it.each(LOOKS)(
    'an organisation is made, gets people, a folder, a token, notes and a colour, and is deleted: %s, %i px',
    async (colorScheme, width) => {
      const slug = `atelier-${width}`;
      const params = { workspaceId: slug };
      const { page, client, troubles } = await admin(slug, { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 760 } });
      const { id: folder } = (await client.folders.create({ params, body: { name: 'Deliveries' } })).body;
      await page.goto(`${stage.origin}/w/${slug}/external`);
      await page.getByRole('heading', { name: 'No client organisations yet' }).waitFor();
      expect(await look(page)).toEqual([]);
      await page.getByRole('button', { name: 'New organisation' }).click();
      await page.getByLabel('Name').fill('Client Ltd');
      await page.getByLabel('Type (optional)').fill('client');
      await page.getByRole('button', { name: 'Make organisation' }).click();
      await page.getByRole('link', { name: 'Client Ltd' }).click();
      await page.getByRole('heading', { level: 2, name: /^Client Ltd/ }).waitFor();

      await page.getByLabel('Add a person').fill('clara');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: '“clara” is not an e-mail address.' }).waitFor();
      await page.getByLabel('Add a person').fill(`clara-${width}@client.example`);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText('Has not signed in yet').waitFor();

      await page.getByRole('button', { name: 'Share a page or folder' }).click();
      const sharing = page.getByRole('dialog', { name: 'Share a page or folder' });
      await sharing.getByLabel('Find a page or folder by its name').fill('deliv');
      await sharing.getByRole('button', { name: 'Deliveries' }).click();
      await sharing.getByLabel('They may').selectOption('create');
      await sharing.getByLabel('Ends', { exact: true }).selectOption('date');
      await sharing.getByLabel('Last day').fill('2001-01-31');
      await sharing.getByRole('button', { name: 'Share outside' }).click();
      await sharing.getByRole('alert').filter({ hasText: 'Choose a day that is not over.' }).waitFor();
      await sharing.getByLabel('Last day').fill('2099-12-31');
      expect(await look(page)).toEqual([]);
      await sharing.getByRole('button', { name: 'Share outside' }).click();
      await sharing.getByText('Shared with Client Ltd.').waitFor();
      await sharing.getByRole('button', { name: 'Done' }).click();
      const [grant] = (await client.grants.list({ params })).body.grants;
      expect(grant).toMatchObject({ resource_id: folder, capability: 'create', subject_type: 'sharee' });
      expect(grant?.expires_at).toMatch(/^2099-12-31|^2100-01-01/);

      await page.getByRole('button', { name: `Tokens of clara-${width}@client.example` }).click();
      await page.getByLabel('What it is for').fill('Reporting');
      await page.getByRole('button', { name: 'Make token' }).click();
      const secretDialog = page.getByRole('dialog', { name: 'Your new token' });
      const secret = (await secretDialog.locator('code').textContent()) ?? '';
      expect(secret).toMatch(/^sox_[0-9a-f]{64}$/);
      await page.keyboard.press('Escape');
      await expect.poll(() => secretDialog.isVisible()).toBe(true);
      await secretDialog.getByRole('button', { name: 'I have stored it' }).click();
      await page.getByRole('button', { name: 'Revoke Reporting' }).waitFor();
      expect(await page.content()).not.toContain(secret);
      await page.getByRole('button', { name: 'Revoke Reporting' }).click();
      await page.getByText('No tokens yet.').waitFor();
      // The list shows it before the service has done it.
      await page.getByText('Reporting is revoked.').waitFor();
      const refused = await stage.easel.fetch('/v1/shared', { token: secret });
      expect(refused.status).toBe(401);
      await page.keyboard.press('Escape');

      await page.getByRole('button', { name: 'New note' }).click();
      const note = page.getByRole('dialog', { name: 'New note' });
      await note.getByLabel('Name of the note').fill('index');
      await note.getByLabel('Text, as Markdown').fill('# Habits\n\n- They decide on **Fridays**\n- <script>alert(1)</script>');
      await note.getByRole('button', { name: 'Save' }).click();
      await page.getByText('index.md is saved.').waitFor();
      await page.getByRole('button', { name: 'Read index.md' }).click();
      const read = page.getByRole('dialog', { name: 'index.md' });
      await read.getByRole('heading', { name: 'Habits' }).waitFor();
      await expect.poll(() => read.locator('strong').textContent()).toBe('Fridays');
      await read.getByText('<script>alert(1)</script>').waitFor();
      expect(await read.locator('script').count()).toBe(0);
      await read.getByRole('button', { name: 'Done' }).click();

      await page.getByLabel('Colour').fill('#0b5fff');
      await page.getByLabel('Properties').fill('[1]');
      await page.getByText('This is not a JSON object.').waitFor();
      await page.getByLabel('Properties').fill('{"region": "north"}');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('img', { name: '#0b5fff' }).waitFor();
      const saved = { properties: { region: 'north' }, branding: { color: '#0b5fff', logo: null }, member_count: 1 };
      await expect.poll(async () => (await client.sharees.list({ params })).body.sharees).toMatchObject([saved]);
      expect(await look(page)).toEqual([]);

      await page.getByRole('button', { name: 'Delete organisation' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete organisation' }).click();
      await page.getByRole('heading', { name: 'No client organisations yet' }).waitFor();
      await expect.poll(async () => (await client.grants.list({ params })).body.grants).toEqual([]);
      expect(unexpected(troubles)).toEqual([]);
    },
  );

  it('three sides: the admin shares a page with a simulation before, the client finds and opens it, the owner reads who did', async () => {
    const boss = await admin('press');
    const [writer, client] = await Promise.all([stage.person('writer@example.com'), stage.person('client@outside.example')]);
    await boss.client.members.add({ params: { workspaceId: 'press' }, body: { email: 'writer@example.com', role: 'member' } });
    const id = await publishPage(writer.client, 'Proofs', { workspace_id: 'press' });

    // The admin does not own the page, and shares it from the workspace.
    await boss.page.goto(`${stage.origin}/w/press/external`);
    await boss.page.getByRole('button', { name: 'Share a page or folder' }).click();
    const sharing = boss.page.getByRole('dialog', { name: 'Share a page or folder' });
    await sharing.getByRole('button', { name: 'Proofs' }).click();
    await sharing.getByLabel('E-mail address outside').fill('client@outside.example');
    await sharing.getByLabel('They may').selectOption('comment');
    await sharing.getByRole('button', { name: 'Share outside' }).click();
    const question = boss.page.getByRole('dialog', { name: 'Share with client@outside.example?' });
    await question.getByRole('region', { name: 'Who gains access' }).getByText('see it and comment').waitFor();
    expect(await look(boss.page)).toEqual([]);
    await expect.poll(async () => (await boss.client.grants.list({ params: { workspaceId: 'press' } })).body.grants).toEqual([]);
    await question.getByRole('button', { name: 'Share', exact: true }).click();
    await sharing.getByText('Shared with client@outside.example.').waitFor();

    await client.page.goto(`${stage.origin}/`);
    await client.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Shared with me' }).click();
    const shared = client.page.getByRole('region', { name: 'From workspaces' }).getByRole('listitem').filter({ hasText: 'Proofs' });
    await shared.getByText('from Ours').waitFor();
    await shared.getByText('Comment', { exact: true }).waitFor();
    expect(await look(client.page)).toEqual([]);
    await shared.getByRole('link', { name: 'Proofs' }).click();
    await client.page.getByRole('heading', { level: 1, name: 'Proofs' }).waitFor();
    const context = client.page.context();
    // The page itself is of another origin.
    await context.unrouteAll();
    const opening = await context.newPage();
    await opening.goto(`${stage.origin}/open?slug=${(await client.client.artifacts.get({ params: { id } })).body.slug}`);
    await opening.getByRole('heading', { name: 'Page' }).waitFor();
    await opening.close();

    // The owner is a plain member: reads who has access, and that admins share outside.
    await writer.page.goto(`${stage.origin}/p/${id}`);
    await writer.page.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = writer.page.getByRole('dialog', { name: /^Share “/ });
    const others = dialog.getByRole('region', { name: 'Access by other ways' });
    await others.getByRole('listitem').filter({ hasText: 'client@outside.example' }).getByText('By this page').waitFor();
    expect(await others.getByRole('button', { name: /^End the access/ }).count()).toBe(0);
    await dialog.getByText('Only owners and admins of the workspace share outside.').waitFor();

    await boss.page.reload();
    await boss.page.getByRole('region', { name: 'What was opened' }).getByText('opened “Proofs”').waitFor();
    await boss.page.getByRole('button', { name: 'End the access of client@outside.example: Proofs' }).click();
    const ending = boss.page.getByRole('dialog', { name: 'End the access of client@outside.example?' });
    await ending.getByRole('region', { name: 'Who loses access' }).waitFor();
    await ending.getByRole('button', { name: 'End access' }).click();
    await boss.page.getByText('The access of client@outside.example is ended.').waitFor();
    await client.page.goto(`${stage.origin}/my/shared`);
    await client.page.getByRole('heading', { name: 'Nothing is shared with you' }).waitFor();
    expect(unexpected([...boss.troubles, ...writer.troubles, ...client.troubles])).toEqual([]);
  });

  it('without the plan the screen says what to do, offers nothing that is refused, and still lists what was shared', async () => {
    const { page, client, troubles } = await admin('kiosk');
    const id = await publishPage(client, 'Menu', { workspace_id: 'kiosk' });
    const params = { workspaceId: 'kiosk' };
    await client.grants.sharePerson({
      params,
      body: { email: 'guest@outside.example', resource_type: 'artifact', resource_id: id, capability: 'view' },
    });
    await allowOutside(stage.easel, 'kiosk', false);
    await page.goto(`${stage.origin}/w/kiosk/external`);
    await page.getByRole('status').filter({ hasText: 'External sharing is off.' }).getByText('It comes with the plan “team”.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'New organisation' }).isDisabled()).toBe(true);
    await expect.poll(() => page.getByRole('button', { name: 'Share a page or folder' }).isDisabled()).toBe(true);
    await page.getByText('guest@outside.example').waitFor();
    expect(await look(page)).toEqual([]);
    await page.goto(`${stage.origin}/p/${id}`);
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: /^Share “/ });
    await dialog.getByText('External sharing is off.').waitFor();
    await dialog.getByRole('listitem').filter({ hasText: 'guest@outside.example' }).getByText('so this opens nothing').waitFor();
    expect(unexpected(troubles)).toEqual([]);
  });

  it('speaks Spanish, and a member who is no admin is told whose it is', async () => {
    const { page } = await admin('taller', { locale: 'es-ES' });
    await page.goto(`${stage.origin}/w/taller/external`);
    await page.getByRole('heading', { name: 'Personas de fuera' }).waitFor();
    await page.getByRole('heading', { name: 'Aún no hay clientes' }).waitFor();
    const member = await stage.person('plain@example.com');
    const owner = await admin('others');
    await owner.client.members.add({ params: { workspaceId: 'others' }, body: { email: 'plain@example.com', role: 'member' } });
    await member.page.goto(`${stage.origin}/w/others/external`);
    await member.page.getByRole('heading', { name: 'Only for owners and admins' }).waitFor();
  });
});
