/** The inbox of the web app, with two people, in Chromium. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/services.ts';
import { AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';

describeWith('chromiumPath')('the inbox of the web app', () => {
  let stage: AppStage;
  beforeAll(async () => {
    stage = await AppStage.start();
  });
  afterAll(() => stage?.close());

  it('two people: a mention is counted, opened where it was said, read, answered and resolved', async () => {
    const ada = await stage.person('ada@example.com');
    const grace = await stage.person('grace@example.com');
    await grace.client.accounts.updateProfile({ body: { name: 'Grace' } });
    await ada.page.goto(`${stage.origin}/my/inbox`);
    await ada.page.getByRole('heading', { name: 'Nothing for you' }).waitFor();
    const id = await publishPage(ada.client, 'Plans');
    await ada.client.collaborators.add({ params: { id }, body: { emails: ['grace@example.com'], role: 'viewer' } });
    const params = { artifactId: id };
    await grace.client.comments.create({ params, body: { content: 'Good so far.' } });
    await grace.client.comments.create({ params, body: { content: `Is this the last one, @[Ada](${ada.userId})?` } });
    await ada.page.reload();
    const sidebar = ada.page.getByRole('navigation', { name: 'Main' });
    await sidebar.getByRole('link', { name: /^Inbox.*2 unread/ }).waitFor();
    const items = ada.page.getByRole('main').getByRole('listitem');
    await expect.poll(() => items.count()).toBe(2);
    await ada.page.getByRole('button', { name: 'Mentions' }).click();
    await expect.poll(() => items.count()).toBe(1);
    expect(await findingsOf(ada.page, await axeSource())).toEqual([]);
    await ada.page.getByRole('link', { name: 'Is this the last one, @Ada?' }).click();
    const thread = ada.page.getByRole('listitem').filter({ hasText: 'Is this the last one' });
    await thread.waitFor();
    expect(new URL(ada.page.url()).pathname).toMatch(new RegExp(`^/p/${id}/comments/cmt_`));
    await expect.poll(() => thread.getAttribute('class')).toContain('is-meant');
    // Whoever is on the screen of its comments has read them.
    await sidebar.getByRole('link', { name: 'Inbox', exact: true }).waitFor();
    await thread.getByRole('button', { name: 'Reply' }).click();
    await thread.getByRole('textbox', { name: 'Reply' }).fill('It is.');
    await thread.getByRole('button', { name: 'Send' }).click();
    await thread.getByText('It is.').waitFor();

    // It is a page of Ada's, on which Grace is a viewer: she gets the answer because she collaborates.
    await grace.page.goto(`${stage.origin}/my/inbox`);
    const answer = grace.page.getByRole('main').getByRole('listitem').filter({ hasText: 'It is.' });
    await answer.getByRole('button', { name: 'Resolve “It is.”' }).click();
    await grace.page.getByText('Resolved.').waitFor();
    await grace.page.getByRole('heading', { name: 'Nothing for you' }).waitFor();
    await grace.page.getByRole('button', { name: 'Resolved', exact: true }).click();
    await answer.waitFor();
    const open = async () =>
      (await ada.client.comments.list({ params, query: { resolved: 'false', parentId: 'root' } })).body.data.comments;
    await expect.poll(async () => (await open()).map(({ content }) => content)).toEqual(['Good so far.']);
    expect(unexpected(ada.troubles)).toEqual([]);
    expect(unexpected(grace.troubles)).toEqual([]);
  });

  it('the keyboard moves from one to the next; everything is marked as read at once', async () => {
    const owner = await stage.person('keys@example.com', { viewport: { width: 360, height: 760 }, colorScheme: 'dark' });
    const guest = await stage.person('keys-guest@example.com');
    const id = await publishPage(owner.client, 'Keys');
    await owner.client.collaborators.add({ params: { id }, body: { emails: ['keys-guest@example.com'], role: 'viewer' } });
    for (const content of ['First', 'Second', 'Third'])
      await guest.client.comments.create({ params: { artifactId: id }, body: { content } });
    const { page } = owner;
    await page.goto(`${stage.origin}/my/inbox`);
    await page.getByRole('link', { name: 'Third' }).focus();
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('Second');
    await page.keyboard.press('End');
    expect(await focused()).toBe('First');
    await page.keyboard.press('Home');
    expect(await focused()).toBe('Third');
    await expect.poll(() => page.getByRole('img', { name: 'Unread' }).count()).toBe(3);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    expect(await findingsOf(page, await axeSource())).toEqual([]);
    await page.getByRole('button', { name: 'Mark as read' }).click();
    await expect.poll(() => page.getByRole('img', { name: 'Unread' }).count()).toBe(0);
    await expect.poll(async () => (await owner.client.inbox.list({ query: { unread: 'true' } })).body.comments).toEqual([]);
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Assigned' }).click();
    await page.getByRole('alert').filter({ hasText: 'No connection.' }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Nothing is assigned to you' }).waitFor();
  });
});
