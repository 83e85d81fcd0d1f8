/** The bell: what is in it, who reads it, how it is marked as read and what an open one is told. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { addNotices, type NewNotice } from '../../../../src/features/automation/notifications/notices.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';

interface Shown {
  readonly id: string;
  readonly title: string;
  readonly read_at: string | null;
}

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());
  beforeEach(() => easel.clock.advance(61_000));

  async function ring(userId: UserId, title: string, more: Partial<NewNotice> = {}): Promise<void> {
    easel.clock.advance(1);
    const notice = { userId, kind: 'job.paused', title, body: 'It failed.', artifactId: null, url: '/app', ...more };
    await easel.sql.begin((tx) => addNotices(tx, [notice], easel.clock.nowMs()));
  }
  async function bell(user: Pick<TestUser, 'token'>, query = '') {
    const reply = await easel.fetch(`/v1/notifications${query}`, { token: user.token });
    const body = await json(reply);
    if (reply.status !== 200) throw new Error(`answered ${reply.status}: ${JSON.stringify(body)}`);
    return body as { notifications: Shown[]; unread_count: number; has_more: boolean; next_cursor: string | null; total?: number };
  }
  const titles = async (user: Pick<TestUser, 'token'>, query = '') => (await bell(user, query)).notifications.map(({ title }) => title);
  const read = async (user: Pick<TestUser, 'token'>, body: object) =>
    json(await easel.fetch('/v1/notifications/read', { token: user.token, ...post(body) }));

  test('newest first, in pages, with the number of unread ones', async () => {
    const ada = await easel.newUser();
    expect(await bell(ada)).toEqual({ notifications: [], unread_count: 0, has_more: false, next_cursor: null });
    for (const title of ['one', 'two', 'three']) await ring(ada.userId, title);
    const first = await bell(ada, '?limit=2&count=true');
    expect(first.notifications[0]).toEqual({
      id: expect.stringMatching(/^ntc_/),
      kind: 'job.paused',
      title: 'three',
      body: 'It failed.',
      artifact_id: null,
      url: '/app',
      created_at: new Date(easel.clock.nowMs()).toISOString(),
      read_at: null,
    });
    expect([first.notifications.length, first.unread_count, first.has_more, first.total]).toEqual([2, 3, true, 3]);
    expect(await titles(ada, `?limit=2&cursor=${first.next_cursor}`)).toEqual(['one']);
    expect((await refusal(easel.fetch('/v1/notifications'))).slice(0, 2)).toEqual([401, 'UNAUTHORIZED']);
  });

  test('marked as read by id or all at once, and only by whose they are', async () => {
    const [ada, bob] = [await easel.newUser(), await easel.newUser()];
    for (const title of ['one', 'two', 'three']) await ring(ada.userId, title);
    await ring(bob.userId, "Bob's");
    const [newest] = (await bell(ada)).notifications;
    const [foreign] = (await bell(bob)).notifications;
    expect(await read(ada, { ids: [newest?.id, foreign?.id] })).toEqual({ read: 1, unread_count: 2 });
    expect([await titles(ada, '?unread=true'), (await bell(ada)).notifications[0]?.read_at, (await bell(bob)).unread_count]).toEqual([
      ['two', 'one'],
      expect.any(String),
      1,
    ]);
    expect(await read(ada, { ids: [newest?.id] })).toEqual({ read: 0, unread_count: 2 });
    expect(await read(ada, { all: true })).toEqual({ read: 2, unread_count: 0 });
    expect([await titles(ada, '?unread=true'), await titles(ada)]).toEqual([[], ['three', 'two', 'one']]);
    for (const body of [{}, { ids: [] }, { ids: [newest?.id], all: true }, { all: false }]) {
      expect((await refusal(easel.fetch('/v1/notifications/read', { token: ada.token, ...post(body) }))).slice(0, 2)).toEqual([
        400,
        'INVALID_REQUEST',
      ]);
    }
  });

  test('a person reads the notices of every linked account', async () => {
    const [ada, second] = [await easel.newUser(), await easel.newUser()];
    await easel.sql`update account set person_id = (select person_id from account where id = ${ada.userId}) where id = ${second.userId}`;
    await ring(second.userId, 'to the second');
    await ring(ada.userId, 'to the first');
    const again = await json(await easel.fetch('/v1/me/tokens', { token: second.token, ...post({ name: 'again' }) }));
    expect(await titles({ token: again.token })).toEqual(['to the first', 'to the second']);
    expect(await read({ token: again.token }, { all: true })).toEqual({ read: 2, unread_count: 0 });
  });

  test('notices of an artifact that the reader does not see any more are hidden', async () => {
    const [owner, reader] = [await easel.newUser('team'), await easel.newUser()];
    const { id } = await published(easel, owner, { visibility: 'public' });
    for (const { userId } of [owner, reader]) await ring(userId, 'about a page', { artifactId: id as ArtifactId });
    expect([await titles(owner), await titles(reader)]).toEqual([['about a page'], ['about a page']]);
    await easel.fetch(`/v1/artifacts/${id}`, { token: owner.token, ...patch({ visibility: 'private' }) });
    expect([await titles(owner), await titles(reader), (await bell(reader)).unread_count]).toEqual([['about a page'], [], 0]);
    await easel.fetch(`/v1/artifacts/${id}`, { token: owner.token, method: 'DELETE' });
    expect((await bell(owner)).unread_count).toBe(0);
  });

  test('kept 90 days', async () => {
    const ada = await easel.newUser();
    await ring(ada.userId, 'old');
    easel.clock.advance((LIMITS.noticesKeptDays - 1) * 86_400_000);
    await ring(ada.userId, 'young');
    easel.clock.advance(86_400_000);
    expect(await titles(ada)).toEqual(['young']);
    await easel.sweep();
    expect(await easel.sql`select title from notice where user_id = ${ada.userId}`).toEqual([{ title: 'young' }]);
  });

  describe('live', () => {
    /** Follows the bell; `counts` are the numbers, `banners` the texts that it was told. */
    async function follow(user: Pick<TestUser, 'token'>) {
      const reply = await easel.fetch('/v1/notifications/stream', { token: user.token, headers: { accept: 'text/event-stream' } });
      const counts: number[] = [];
      const banners: (string | null)[] = [];
      let ended = false;
      void (async () => {
        const decoder = new TextDecoder();
        for await (const chunk of reply.body as unknown as AsyncIterable<Uint8Array>) {
          const text = decoder.decode(chunk);
          for (const [, count] of text.matchAll(/event: unread\ndata: {"unread_count":(\d+)}/g)) counts.push(Number(count));
          for (const [, data = ''] of text.matchAll(/event: banner\ndata: (.+)\n/g)) banners.push(JSON.parse(data).banner?.text ?? null);
        }
      })()
        .catch(() => undefined)
        .finally(() => {
          ended = true;
        });
      return { status: reply.status, counts, banners, isOver: () => ended };
    }

    test('an open bell is told of each change, also of one that no fact told', async () => {
      const ada = await easel.newUser();
      const { counts, status } = await follow(ada);
      expect(status).toBe(200);
      await expect.poll(() => counts).toEqual([0]);
      // The heartbeat looks into the store.
      await ring(ada.userId, 'one');
      easel.clock.advance(15_000);
      await expect.poll(() => counts).toEqual([0, 1]);
      await read(ada, { all: true });
      await expect.poll(() => counts).toEqual([0, 1, 0]);
    });

    test('it tells the banner of the installation, at first and after each change, and nothing twice', async () => {
      const ada = await easel.newUser();
      const { banners } = await follow(ada);
      await expect.poll(() => banners).toEqual([null]);
      const put = (text: string) =>
        easel.fetch('/v1/admin/banner', {
          token: easel.adminToken,
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ text }),
        });
      await put('Away on Sunday.');
      await expect.poll(() => banners).toEqual([null, 'Away on Sunday.']);
      await put('Away on Sunday.');
      await easel.fetch('/v1/admin/banner', { token: easel.adminToken, method: 'DELETE' });
      await expect.poll(() => banners).toEqual([null, 'Away on Sunday.', null]);
    });

    test('it ends with its credential', async () => {
      const ada = await easel.newUser();
      const token = await json(await easel.fetch('/v1/me/tokens', { token: ada.token, ...post({ name: 'second' }) }));
      const open = await follow({ token: token.token });
      await expect.poll(() => open.counts).toEqual([0]);
      await easel.fetch(`/v1/me/tokens/${token.id}`, { token: ada.token, method: 'DELETE' });
      await expect.poll(open.isOver).toBe(true);
    });

    test('one person holds only so many open', async () => {
      const [ada, bob] = [await easel.newUser(), await easel.newUser()];
      for (let open = 0; open < LIMITS.bellStreamsPerPersonMax; open += 1) expect((await follow(ada)).status).toBe(200);
      expect((await refusal(easel.fetch('/v1/notifications/stream', { token: ada.token }))).slice(0, 2)).toEqual([503, 'UNAVAILABLE']);
      expect((await follow(bob)).status).toBe(200);
    });
  });
});
