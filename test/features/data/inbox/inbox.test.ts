/** The inbox: which comments of which pages somebody is told of, and why. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { made, pageIn, type SharingStage, sharePerson, sharingStage } from '../../sharing/external-stage.ts';
import { ask, must } from '../comments/comment-stage.ts';

interface Item {
  readonly artifact: { readonly id: string; readonly name: string; readonly slug: string; readonly url: string };
  readonly comment: { readonly id: string; readonly thread_id: string; readonly excerpt: string; readonly resolved: boolean };
  readonly reasons: readonly string[];
  readonly unread: boolean;
  readonly can_resolve: boolean;
}

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  async function inboxOf(user: Pick<TestUser, 'token'>, query = '') {
    const reply = await easel.fetch(`/v1/home/comments${query}`, { token: user.token });
    const body = await json(reply);
    if (reply.status !== 200) throw new Error(`answered ${reply.status}: ${JSON.stringify(body)}`);
    return body as { comments: Item[]; has_more: boolean; next_cursor: string | null; total?: number };
  }
  const excerpts = async (user: Pick<TestUser, 'token'>, query = '') =>
    (await inboxOf(user, query)).comments.map(({ comment }) => comment.excerpt);
  const say = async (by: TestUser, id: string, content: string, more: object = {}) => {
    easel.clock.advance(1);
    return (await must(ask(easel, { id }, by, 'POST', '', { content, ...more }))) as { id: string };
  };
  const mention = ({ userId }: TestUser, name = 'Ada') => `@[${name}](${userId})`;

  /** Gives a role, or takes it with null. */
  async function share(owner: TestUser, id: string, user: TestUser, role: 'viewer' | 'editor' | null): Promise<void> {
    await easel.sql`delete from collaborator where artifact_id = ${id} and user_id = ${user.userId}`;
    if (role !== null) {
      await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${id}, ${user.userId}, ${role}, 0)`;
    }
    const told = await easel.fetch(`/v1/artifacts/${id}`, { token: owner.token, ...patch({ name: `Page ${easel.clock.nowMs()}` }) });
    expect(told.status).toBe(200);
    easel.clock.advance(1);
  }

  async function shared(role: 'viewer' | 'editor' = 'viewer') {
    const [owner, reader] = [await easel.newUser('pro'), await easel.newUser()];
    const { id, slug } = await published(easel, owner);
    await share(owner, id, reader, role);
    return { owner, reader, id, slug };
  }

  test('what mentions or is assigned to the reader, and what others say on their pages, newest first', async () => {
    const { owner, reader, id, slug } = await shared();
    const plain = await say(reader, id, 'Plain words');
    const named = await say(owner, id, `Hello ${mention(reader)},\n  look  here`);
    await say(reader, id, 'An answer', { parentId: named.id });
    await must(ask(easel, { id }, owner, 'PATCH', `/${plain.id}/assign`, { assigneeUserId: reader.userId }));
    const ofReader = (await inboxOf(reader)).comments;
    expect(ofReader.map(({ comment, reasons, unread }) => [comment.excerpt, reasons, unread])).toEqual([
      ['Hello @Ada, look here', ['mention', 'collaborator'], true],
      ['Plain words', ['assigned', 'collaborator'], false],
    ]);
    expect(ofReader[0]?.artifact).toEqual({ id, slug, name: expect.stringMatching(/^Page /), url: `${easel.contentUrl(slug)}` });
    const ofOwner = (await inboxOf(owner)).comments;
    expect(ofOwner.map(({ comment, reasons, unread }) => [comment.excerpt, reasons, unread])).toEqual([
      ['An answer', ['owner'], true],
      ['Plain words', ['owner'], true],
    ]);
    expect(ofOwner[0]?.comment.thread_id).toBe(named.id);
    expect(await excerpts(reader, '?filter=mentions')).toEqual(['Hello @Ada, look here']);
    expect(await excerpts(reader, '?filter=assigned')).toEqual(['Plain words']);
    expect(await excerpts(owner, '?filter=mentions')).toEqual([]);
    expect(await excerpts(await easel.newUser())).toEqual([]);
  });

  test('a comment on a page whose access was lost is not listed, whatever the reason', async () => {
    const { owner, reader, id } = await shared();
    await say(owner, id, `Dear ${mention(reader)}`, { assigneeUserId: reader.userId });
    expect((await inboxOf(reader)).comments).toHaveLength(1);
    await share(owner, id, reader, null);
    for (const filter of ['all', 'mentions', 'assigned']) {
      expect(await inboxOf(reader, `?filter=${filter}&count=true`)).toMatchObject({ comments: [], total: 0, has_more: false });
    }
    await share(owner, id, reader, 'viewer');
    expect((await inboxOf(reader)).comments).toHaveLength(1);
    expect((await easel.fetch(`/v1/artifacts/${id}`, { method: 'DELETE', token: owner.token })).status).toBe(200);
    expect((await inboxOf(reader)).comments).toHaveLength(0);
    expect((await inboxOf(owner)).comments).toHaveLength(0);
  });

  test('a public page stays listed for whom it mentions; comments that are switched off are not', async () => {
    const [owner, other] = [await easel.newUser('pro'), await easel.newUser()];
    const { id } = await published(easel, owner, { visibility: 'public' });
    await say(other, id, 'I was here');
    await say(owner, id, `Thanks, ${mention(other)}`);
    expect(await excerpts(other)).toEqual(['Thanks, @Ada']);
    await must(ask(easel, { id }, owner, 'PUT', '/_config', { enabled: false }));
    expect([await excerpts(other), await excerpts(owner)]).toEqual([[], []]);
    await must(ask(easel, { id }, owner, 'PUT', '/_config', { enabled: true }));
    await easel.fetch(`/v1/artifacts/${id}`, { token: owner.token, ...patch({ visibility: 'private' }) });
    expect(await excerpts(other)).toEqual([]);
  });

  test('linked accounts are one reader: what is for one of them, and nothing that another of them wrote', async () => {
    const { owner, reader, id } = await shared();
    const twin = await easel.newUser();
    await easel.sql`update account set person_id = (select person_id from account where id = ${reader.userId}) where id = ${twin.userId}`;
    await say(owner, id, `For ${mention(reader)}`);
    await say(reader, id, `A note to myself, ${mention(reader)}`);
    expect(await excerpts(twin)).toEqual(['For @Ada']);
    expect((await inboxOf(twin)).comments[0]?.unread).toBe(true);
    await must(ask(easel, { id }, twin, 'POST', '/_read', {}));
    const fresh = await easel.newUser();
    await easel.sql`update account set person_id = (select person_id from account where id = ${reader.userId}) where id = ${fresh.userId}`;
    expect((await inboxOf(fresh)).comments[0]?.unread).toBe(false);
  });

  test('unread until the page is marked as read, by those who did not write it', async () => {
    const { owner, reader, id } = await shared();
    await say(owner, id, `One for ${mention(reader)}`);
    await say(owner, id, 'Two');
    expect(await inboxOf(reader, '?unread=true&count=true&limit=1')).toMatchObject({ total: 2, has_more: true });
    const { seq } = await must(ask(easel, { id }, reader, 'GET', '/_unread'));
    expect(seq).toBe(0);
    await must(ask(easel, { id }, reader, 'POST', '/_read', {}));
    expect(await inboxOf(reader, '?unread=true&count=true')).toMatchObject({ total: 0, comments: [] });
    expect((await inboxOf(reader)).comments.map(({ unread }) => unread)).toEqual([false, false]);
    const third = await say(owner, id, 'Three');
    expect(await excerpts(reader, '?unread=true')).toEqual(['Three']);
    // A reaction is no news, an edit is.
    await must(ask(easel, { id }, reader, 'POST', '/_read', {}));
    await must(ask(easel, { id }, owner, 'POST', `/${third.id}/reactions`, { emoji: '👍' }));
    expect(await excerpts(reader, '?unread=true')).toEqual([]);
    await must(ask(easel, { id }, owner, 'PATCH', `/${third.id}`, { content: 'Three and a half' }));
    expect(await excerpts(reader, '?unread=true')).toEqual(['Three and a half']);
  });

  test('a reply is resolved with its thread; who may resolve is told', async () => {
    const { owner, reader, id } = await shared();
    const root = await say(owner, id, 'A question');
    const reply = await say(owner, id, `Or rather one for ${mention(reader)}`, { parentId: root.id });
    const deeper = await say(owner, id, `At least I think so, ${mention(reader)}`, { parentId: reply.id });
    expect((await inboxOf(reader, '?resolved=false&filter=mentions')).comments.map(({ comment }) => comment.thread_id)).toEqual([
      root.id,
      root.id,
    ]);
    await say(reader, id, 'My own question');
    expect(await excerpts(reader, '?resolved=true')).toEqual([]);
    await must(ask(easel, { id }, owner, 'PATCH', `/${root.id}/resolve`, { resolved: true }));
    expect((await inboxOf(reader, '?resolved=true&filter=mentions')).comments).toMatchObject([
      { comment: { id: deeper.id, thread_id: root.id, resolved: true }, can_resolve: false },
      { comment: { id: reply.id, thread_id: root.id, resolved: true }, can_resolve: false },
    ]);
    expect(await excerpts(reader, '?resolved=false')).toEqual([]);
    expect((await inboxOf(owner)).comments).toMatchObject([{ comment: { excerpt: 'My own question' }, can_resolve: true }]);
  });

  test('pages follow each other without gaps or repetitions, also where copies have the same ids and times', async () => {
    const { owner, reader, id } = await shared();
    const copy = await published(easel, owner);
    await share(owner, copy.id, reader, 'viewer');
    for (let n = 0; n < 5; n += 1) await say(owner, id, `Number ${n} for ${mention(reader)}`);
    await easel.sql`
      insert into comment (artifact_id, id, data, seq, created_at_ms, updated_at_ms)
      select ${copy.id}, id, data, seq, created_at_ms, updated_at_ms from comment where artifact_id = ${id}`;
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await inboxOf(reader, `?limit=3&count=true${cursor}`);
      expect(page.total).toBe(10);
      seen.push(...page.comments.map(({ artifact, comment }) => `${artifact.id} ${comment.excerpt}`));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
      expect(page.has_more).toBe(cursor !== '');
    } while (cursor !== '');
    expect(seen).toHaveLength(10);
    expect(new Set(seen).size).toBe(10);
    expect(seen.map((text) => text.split(' ')[2])).toEqual(['4', '4', '3', '3', '2', '2', '1', '1', '0', '0']);
  });

  test('counts end at a bound, and long texts at theirs', async () => {
    const { owner, reader, id } = await shared();
    await say(owner, id, `${'word '.repeat(1000)}`);
    const [item] = (await inboxOf(reader)).comments;
    expect([...(item?.comment.excerpt ?? '')]).toHaveLength(LIMITS.inboxExcerptCharsMax);
    expect(item?.comment.excerpt.endsWith('…')).toBe(true);
    await easel.sql`
      insert into comment (artifact_id, id, data, seq, created_at_ms, updated_at_ms)
      select artifact_id, 'cmt_' || lpad(n::text, 24, '0'), data, seq, created_at_ms + n, created_at_ms + n
      from comment, generate_series(1, ${LIMITS.inboxCountMax + 10}) n where artifact_id = ${id}`;
    expect((await inboxOf(reader, '?count=true')).total).toBe(LIMITS.inboxCountMax);
  });

  test('callers without an account are refused, and so is a filter that does not exist', async () => {
    expect((await easel.fetch('/v1/home/comments')).status).toBe(401);
    expect(await refusal(easel.fetch('/v1/home/comments?filter=others', { token: (await easel.newUser()).token }))).toEqual([
      400,
      'INVALID_REQUEST',
      'filter',
    ]);
  });
});

describe('within a workspace', () => {
  let easel: TestEasel;
  let stage: SharingStage;
  beforeAll(async () => {
    easel = await startTestEasel();
    stage = await sharingStage(easel, 'Inbox');
  });
  afterAll(() => easel.close());

  const inboxOf = async (user: Pick<TestUser, 'token'>) =>
    (await json(await easel.fetch('/v1/home/comments', { token: user.token }))).comments as Item[];
  const comment = (by: TestUser, id: string, content: string) => must(ask(easel, { id }, by, 'POST', '', { content }));

  test('somebody outside is told of what mentions them, as long as it is shared with them', async () => {
    const page = await pageIn(easel, stage);
    const grant = await sharePerson(easel, stage, stage.client.email, {
      ...{ resource_type: 'artifact', resource_id: page.id, capability: 'comment' },
    });
    await comment(stage.client, page.id, 'Hello from outside');
    await comment(stage.owner, page.id, `Welcome, @[Clara](${stage.client.userId})`);
    expect((await inboxOf(stage.client)).map(({ comment: { excerpt }, reasons }) => [excerpt, reasons])).toEqual([
      ['Welcome, @Clara', ['mention']],
    ]);
    const ended = await easel.fetch(`${stage.path}/grants/${grant.grant?.id ?? grant.id}`, { method: 'DELETE', token: stage.admin.token });
    expect(ended.status).toBe(200);
    expect(await inboxOf(stage.client)).toEqual([]);
  });

  test('a member is told until they leave, or the page is closed to members', async () => {
    const page = await pageIn(easel, stage, { visibility: 'workspace' });
    await comment(stage.member, page.id, 'I have read it');
    await comment(stage.owner, page.id, `And now, @[Mia](${stage.member.userId})?`);
    expect(await inboxOf(stage.member)).toMatchObject([{ comment: { excerpt: 'And now, @Mia?' }, can_resolve: false }]);
    const folder = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Closed', visibility: 'private' });
    const moved = await easel.fetch(`${stage.path}/artifacts/${page.id}/move`, {
      token: stage.owner.token,
      ...post({ folder_id: folder.id }),
    });
    expect(moved.status).toBe(200);
    expect(await inboxOf(stage.member)).toEqual([]);
    await easel.fetch(`${stage.path}/artifacts/${page.id}/move`, { token: stage.owner.token, ...post({ folder_id: null }) });
    expect(await inboxOf(stage.member)).toHaveLength(1);
    const left = await easel.fetch(`${stage.path}/members/${stage.member.userId}`, { method: 'DELETE', token: stage.owner.token });
    expect(left.status).toBe(200);
    expect(await inboxOf(stage.member)).toEqual([]);
  });
});
