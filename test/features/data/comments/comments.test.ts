/** Comments over HTTP, on every kind of database. Source: contract.md §7. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { callData } from '../../../support/data-client.ts';
import { databaseKinds } from '../../../support/database.ts';
import { ask, type Cast, cast, must, openStage, outcome, type Stage } from './comment-stage.ts';

describe.each(databaseKinds())('%s', (kind) => {
  let stage: Stage;
  let all: Cast;
  beforeAll(async () => {
    stage = await openStage(kind);
  });
  afterAll(() => stage.close());
  beforeEach(async () => {
    all = await cast(stage.easel);
  });

  const by = (who: 'owner' | 'editor' | 'viewer' | 'stranger' | undefined, method: string, path = '', body?: unknown) =>
    ask(stage.easel, all.artifact, who === undefined ? undefined : all[who], method, path, body);
  const write = (who: 'owner' | 'editor' | 'viewer' | 'stranger', content: string, more: object = {}) =>
    must(by(who, 'POST', '', { content, ...more }));
  const contents = (comments: readonly { content: string }[]) => comments.map(({ content }) => content);

  test('a created comment has all its fields, and the author name of the account', async () => {
    const { data: made } = (
      await by('stranger', 'POST', '', {
        content: 'Größer → better 👍',
        contextId: 'index.html',
        authorName: 'Somebody else',
        position: { selector: 'p', at: [1, 2], deep: { a: null } },
        quote: { exact: 'data', prefix: '', suffix: '!' },
        dueAt: '2026-02-03T04:05:06Z',
      })
    ).body;
    expect(made).toMatchObject({
      contextId: 'index.html',
      parentId: null,
      authorId: all.stranger.userId,
      authorName: 'The stranger',
      authorType: 'human',
      content: 'Größer → better 👍',
      position: { selector: 'p', at: [1, 2], deep: { a: null } },
      quote: { exact: 'data', prefix: '', suffix: '!' },
      outdated: false,
      mentions: [],
      reactions: {},
      resolved: false,
      resolvedBy: null,
      resolvedAt: null,
      assigneeUserId: null,
      dueAt: '2026-02-03T04:05:06.000Z',
      edited: false,
      replyCount: 0,
    });
    expect(made.id).toMatch(/^cmt_[a-z2-7]{24}$/);
    expect(made.versionId).toMatch(/^ver_/);
    expect(await must(by(undefined, 'GET', `/${made.id}`))).toEqual(made);
  });

  test('comments and settings are the same after the actor reloads', async () => {
    const first = await write('viewer', 'first');
    const reply = await write('owner', 'reply', { parentId: first.id });
    await must(by('viewer', 'PATCH', `/${first.id}`, { content: 'first, corrected' }));
    await must(by('editor', 'POST', `/${first.id}/reactions`, { emoji: '🎉' }));
    await must(by('owner', 'PATCH', `/${first.id}/resolve`, { resolved: true }));
    await must(by('owner', 'PUT', '/_config', { maxDepth: 1, identityMode: 'named' }));
    const before = await must(by('editor', 'GET'));
    const settings = await must(by(undefined, 'GET', '/_config'));
    await stage.easel.runtime.discard(all.artifact.id);
    expect(await must(by('editor', 'GET'))).toEqual(before);
    expect(await must(by(undefined, 'GET', '/_config'))).toEqual(settings);
    expect(before.comments[0]).toMatchObject({
      replyCount: 1,
      resolved: true,
      edited: true,
      reactions: { '🎉': { count: 1, mine: true } },
    });
    expect(await outcome(by('owner', 'POST', '', { content: 'too deep', parentId: reply.id }))).toBe('400 MAX_DEPTH');
    expect(await must(by('owner', 'GET', `/${first.id}/history`))).toMatchObject({ history: [{ content: 'first' }] });
  });

  test('replies form threads up to the depth in the settings', async () => {
    await must(by('owner', 'PUT', '/_config', { maxDepth: 2 }));
    const root = await write('viewer', 'root', { contextId: 'about.html' });
    const other = await write('viewer', 'other');
    const a = await write('owner', 'a', { parentId: root.id, contextId: 'elsewhere.html' });
    const b = await write('owner', 'b', { parentId: root.id });
    const deep = await write('stranger', 'deep', { parentId: a.id });
    expect([a.contextId, deep.contextId, deep.parentId]).toEqual(['about.html', 'about.html', a.id]);
    expect(await outcome(by('owner', 'POST', '', { content: 'x', parentId: deep.id }))).toBe('400 MAX_DEPTH');
    expect(await outcome(by('owner', 'POST', '', { content: 'x', parentId: `cmt_${'a'.repeat(24)}` }))).toBe('404 COMMENT_NOT_FOUND');
    const thread = await must(by(undefined, 'GET', `/${deep.id}/thread`));
    expect([thread.rootId, contents(thread.comments), thread.count]).toEqual([root.id, ['root', 'a', 'b', 'deep'], 4]);
    expect(contents((await must(by(undefined, 'GET', `/${root.id}/replies`))).comments)).toEqual(['a', 'b']);
    expect(contents((await must(by(undefined, 'GET', '?parentId=root'))).comments)).toEqual(['root', 'other']);
    expect(contents((await must(by(undefined, 'GET', '?contextId=about.html'))).comments)).toEqual(['root', 'a', 'b', 'deep']);
    await must(by('owner', 'PUT', '/_config', { allowReplies: false }));
    expect(await outcome(by('owner', 'POST', '', { content: 'x', parentId: other.id }))).toBe('403 REPLIES_DISABLED');
    // Deleting a comment deletes the replies below it.
    expect(await must(by('owner', 'DELETE', `/${a.id}`))).toEqual({ deleted: 2 });
    expect(contents((await must(by(undefined, 'GET'))).comments)).toEqual(['root', 'other', 'b']);
    expect((await must(by(undefined, 'GET', `/${root.id}`))).replyCount).toBe(1);
    expect(b.id).not.toBe(a.id);
  });

  test('pages have no gaps when comments are deleted between them', async () => {
    const made: { id: string }[] = [];
    for (let index = 0; index < 7; index += 1) made.push(await write('viewer', `n${index}`));
    const first = await must(by(undefined, 'GET', '?limit=3'));
    expect([contents(first.comments), first.count, first.hasMore]).toEqual([['n0', 'n1', 'n2'], 7, true]);
    await must(by('owner', 'DELETE', `/${made[2]?.id}`));
    await must(by('owner', 'DELETE', `/${made[3]?.id}`));
    const second = await must(by(undefined, 'GET', `?limit=3&cursor=${first.nextCursor}`));
    expect([contents(second.comments), second.hasMore, second.nextCursor]).toEqual([['n4', 'n5', 'n6'], false, null]);
    expect(await outcome(by(undefined, 'GET', '?cursor=rubbish'))).toBe('400 INVALID_REQUEST');
    expect(await outcome(by(undefined, 'GET', `?limit=${LIMITS.pageMax + 1}`))).toBe('400 INVALID_REQUEST');
  });

  test('an edit keeps the replaced text, and is refused with a stale ETag', async () => {
    const { data: made } = (await by('viewer', 'POST', '', { content: 'one' })).body;
    const patch = (content: string, ifMatch: string) =>
      callData(stage.easel, all.artifact, 'PATCH', `/comments/${made.id}`, {
        token: all.viewer.token,
        body: { content },
        headers: { 'if-match': ifMatch },
      });
    const got = await by('viewer', 'GET', `/${made.id}`);
    const etag = got.headers.get('etag') ?? '';
    // A reply does not change the comment itself.
    await write('owner', 'reply', { parentId: made.id });
    const edited = await patch('two', etag);
    expect([edited.status, edited.body.data.content, edited.body.data.edited]).toEqual([200, 'two', true]);
    const stale = await patch('three', etag);
    expect([stale.status, stale.body.code]).toEqual([409, 'VERSION_CONFLICT']);
    expect((await patch('three', stale.headers.get('etag') ?? '')).status).toBe(200);
    expect((await patch('four', (await must(by('viewer', 'GET', `/${made.id}`))).updatedAt)).status).toBe(200);
    const { history } = await must(by('editor', 'GET', `/${made.id}/history`));
    expect(history.map(({ content }: { content: string }) => content)).toEqual(['three', 'two', 'one']);
    expect(await outcome(by('stranger', 'GET', `/${made.id}/history`))).toBe('403 FORBIDDEN');
    const unchanged = await callData(stage.easel, all.artifact, 'DELETE', `/comments/${made.id}`, {
      token: all.viewer.token,
      headers: { 'if-match': etag },
    });
    expect(unchanged.body.code).toBe('VERSION_CONFLICT');
  });

  test('updatedAt rises with each change even when the clock stands still', async () => {
    const made = await write('viewer', 'one');
    const next = await write('viewer', 'two');
    expect(next.createdAt > made.createdAt).toBe(true);
    const reacted = await must(by('owner', 'POST', `/${made.id}/reactions`, { emoji: '👍' }));
    const resolved = await must(by('owner', 'PATCH', `/${made.id}/resolve`, { resolved: true }));
    expect([made.updatedAt, reacted.updatedAt, resolved.updatedAt]).toEqual(
      [...new Set([made.updatedAt, reacted.updatedAt, resolved.updatedAt])].sort(),
    );
    expect(resolved.resolvedAt).toBe(resolved.updatedAt);
  });

  test('a reaction is a single emoji, and repeating the call removes it', async () => {
    const { id } = await write('viewer', 'react');
    const react = (who: 'owner' | 'editor' | undefined, emoji: string) => by(who, 'POST', `/${id}/reactions`, { emoji });
    await must(react('owner', '👩‍👩‍👧'));
    const both = await must(react('editor', '👩‍👩‍👧'));
    expect(both.reactions).toEqual({ '👩‍👩‍👧': { count: 2, mine: true } });
    expect((await must(by(undefined, 'GET', `/${id}`))).reactions).toEqual({ '👩‍👩‍👧': { count: 2, mine: false } });
    expect((await must(react('owner', '👩‍👩‍👧'))).reactions).toEqual({ '👩‍👩‍👧': { count: 1, mine: false } });
    expect((await must(react('editor', '👩‍👩‍👧'))).reactions).toEqual({});
    for (const emoji of ['', 'a', '👍👍', '👍 ', 'x👍', '__proto__', '1'])
      expect(await outcome(react('owner', emoji))).toBe('400 INVALID_REQUEST');
    for (const emoji of ['1️⃣', '🇩🇪', '❤️', '👍🏽']) expect(Object.keys((await must(react('owner', emoji))).reactions)).toContain(emoji);
    expect(await outcome(react(undefined, '👍'))).toBe('401 AUTH_REQUIRED');
  });

  test('only people with access can be assigned; the list filters by assignee and by resolved', async () => {
    const a = await write('viewer', 'a');
    const b = await write('viewer', 'b');
    const assign = (who: 'owner' | 'viewer', id: string, userId: string | null) =>
      by(who, 'PATCH', `/${id}/assign`, { assigneeUserId: userId });
    expect((await must(assign('owner', a.id, all.viewer.userId))).assigneeUserId).toBe(all.viewer.userId);
    expect(await outcome(assign('owner', a.id, all.stranger.userId))).toBe('404 ASSIGNEE_NOT_FOUND');
    expect(await outcome(assign('viewer', a.id, all.viewer.userId))).toBe('403 FORBIDDEN');
    expect(await outcome(by('viewer', 'POST', '', { content: 'x', assigneeUserId: all.owner.userId }))).toBe('403 FORBIDDEN');
    expect(contents((await must(by(undefined, 'GET', `?assignee=${all.viewer.userId}`))).comments)).toEqual(['a']);
    // On a public page everybody who has commented can be assigned.
    await write('stranger', 'here');
    expect((await must(assign('owner', b.id, all.stranger.userId))).assigneeUserId).toBe(all.stranger.userId);
    expect((await must(assign('owner', a.id, null))).assigneeUserId).toBeNull();
    await must(by('owner', 'PATCH', `/${b.id}/resolve`, { resolved: true }));
    expect(contents((await must(by(undefined, 'GET', '?resolved=true'))).comments)).toEqual(['b']);
    expect(contents((await must(by(undefined, 'GET', '?resolved=false'))).comments)).toEqual(['a', 'here']);
  });

  test('all resolved comments and their replies are deleted at once', async () => {
    const root = await write('viewer', 'root');
    const reply = await write('owner', 'reply', { parentId: root.id });
    await write('owner', 'open');
    for (const id of [root.id, reply.id]) await must(by('owner', 'PATCH', `/${id}/resolve`, { resolved: true }));
    expect(await outcome(by('owner', 'DELETE', '?resolved=true'))).toBe('400 INVALID_REQUEST');
    expect(await outcome(by('viewer', 'DELETE', '?resolved=true&confirm=true'))).toBe('403 FORBIDDEN');
    expect(await must(by('editor', 'DELETE', '?resolved=true&confirm=true'))).toEqual({ deleted: 2 });
    expect(contents((await must(by(undefined, 'GET'))).comments)).toEqual(['open']);
    await stage.easel.runtime.discard(all.artifact.id);
    expect(contents((await must(by(undefined, 'GET'))).comments)).toEqual(['open']);
    expect(await must(by('editor', 'DELETE', '?resolved=true&confirm=true'))).toEqual({ deleted: 0 });
  });

  test('unread counts comments and edits by others, but no reactions', async () => {
    const first = await write('viewer', 'first');
    await write('owner', 'own');
    expect(await must(by('owner', 'GET', '/_unread'))).toMatchObject({ unread: 1, seq: 0 });
    expect(await must(by('owner', 'POST', '/_read', { seq: first.seq }))).toMatchObject({ unread: 0, seq: first.seq });
    await must(by('editor', 'POST', `/${first.id}/reactions`, { emoji: '👍' }));
    expect((await must(by('owner', 'GET', '/_unread'))).unread).toBe(0);
    await must(by('viewer', 'PATCH', `/${first.id}`, { content: 'first, again' }));
    const { unread, latestSeq } = await must(by('owner', 'GET', '/_unread'));
    expect(unread).toBe(1);
    expect(await must(by('owner', 'POST', '/_read', { seq: 10_000 }))).toEqual({ unread: 0, seq: latestSeq, latestSeq });
    // A device that is behind does not lower the mark.
    expect(await must(by('owner', 'POST', '/_read', { seq: 1 }))).toEqual({ unread: 0, seq: latestSeq, latestSeq });
    await write('stranger', 'new');
    expect((await must(by('owner', 'POST', '/_read', {}))).unread).toBe(0);
    expect(await outcome(by(undefined, 'GET', '/_unread'))).toBe('401 AUTH_REQUIRED');
  });

  test('limits of the text, the position and the quote', async () => {
    const long = 'x'.repeat(LIMITS.commentCharsMax);
    const { id } = await write('viewer', long);
    expect(await outcome(by('viewer', 'POST', '', { content: `${long}x` }))).toBe('413 CONTENT_TOO_LONG');
    expect(await outcome(by('viewer', 'PATCH', `/${id}`, { content: `${long}x` }))).toBe('413 CONTENT_TOO_LONG');
    expect(await outcome(by('viewer', 'POST', '', { content: ' \n' }))).toBe('400 INVALID_REQUEST');
    const place = { selector: 's'.repeat(LIMITS.commentPositionBytesMax - '{"selector":""}'.length) };
    await write('viewer', 'placed', { position: place });
    expect(await outcome(by('viewer', 'POST', '', { content: 'x', position: { selector: `${place.selector}s` } }))).toBe(
      '400 INVALID_REQUEST',
    );
    for (const broken of ['\u0000', 'half \ud83d']) {
      expect(await outcome(by('viewer', 'POST', '', { content: 'x', position: { [broken]: 1 } }))).toBe('400 INVALID_REQUEST');
      expect(await outcome(by('viewer', 'POST', '', { content: 'x', quote: { exact: broken } }))).toBe('400 INVALID_REQUEST');
      expect(await outcome(by('viewer', 'POST', '', { content: broken }))).toBe('400 INVALID_REQUEST');
    }
    expect((await write('viewer', 'a backslash', { position: { path: 'C:\\u0000' } })).position).toEqual({ path: 'C:\\u0000' });
  });

  test('the hundred-and-first edit is refused, which bounds the history', async () => {
    const { id } = await write('viewer', 'v0');
    for (let edit = 1; edit <= LIMITS.commentEditsMax; edit += 1) await must(by('viewer', 'PATCH', `/${id}`, { content: `v${edit}` }));
    expect(await outcome(by('viewer', 'PATCH', `/${id}`, { content: 'once more' }))).toBe('413 COMMENT_LIMIT_EXCEEDED');
    expect((await must(by('viewer', 'GET', `/${id}/history`))).history).toHaveLength(LIMITS.commentEditsMax);
  });
});
