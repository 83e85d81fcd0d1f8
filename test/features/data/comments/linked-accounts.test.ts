/** Comments of a person with several accounts: what one account wrote, marked or read belongs to the person. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TestUser } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { codeFor, ok, Visitor } from '../../../support/visitor.ts';
import { newWorkspace } from '../../../support/workspaces.ts';
import { ask, type Cast, cast, must, openStage, type Stage } from './comment-stage.ts';

let stage: Stage;
let all: Cast;
/** Two accounts of one person, and somebody else; none has a role on the artifact. */
let [one, two, other] = [] as unknown as [TestUser, TestUser, TestUser];
let address: string;
beforeAll(async () => {
  stage = await openStage();
  all = await cast(stage.easel);
});
afterAll(() => stage.close());
let people = 0;
beforeEach(async () => {
  [one, two, other] = [await stage.easel.newUser(), await stage.easel.newUser(), await stage.easel.newUser()];
  people += 1;
  address = `both-${people}@example.com`;
});

async function prove(user: TestUser): Promise<void> {
  const { easel } = stage;
  easel.clock.advance(1);
  await ok(easel.fetch('/v1/auth/link-email/start', { token: user.token, ...post({ email: address }) }));
  const code = await codeFor(easel, address);
  await ok(easel.fetch('/v1/auth/link-email/verify', { token: user.token, ...post({ email: address, code }) }));
}

/** Both prove one address. */
async function link(): Promise<void> {
  await prove(one);
  await prove(two);
}

async function unlink(): Promise<void> {
  const visitor = new Visitor(stage.easel);
  await visitor.signInByCode(address);
  await ok(visitor.fetch(`/v1/auth/linked-accounts/${two.userId}`, { method: 'DELETE' }));
}

const call = (by: TestUser, method: string, path = '', body?: unknown) => ask(stage.easel, all.artifact, by, method, path, body);
const done = (by: TestUser, method: string, path = '', body?: unknown) => must(call(by, method, path, body));
const written = async (by: TestUser, content = 'Hello'): Promise<string> => (await done(by, 'POST', '', { content })).id;
const reactions = async (by: TestUser, id: string) => (await done(by, 'GET', `/${id}`)).reactions;

test('what one account wrote the other edits, reads the history of, resolves and deletes; others do not', async () => {
  await link();
  const id = await written(one);
  const changes = [
    ['PATCH', `/${id}`, { content: 'Better' }],
    ['GET', `/${id}/history`, undefined],
    ['PATCH', `/${id}/resolve`, { resolved: true }],
    ['DELETE', `/${id}`, undefined],
  ] as const;
  for (const [method, path, body] of changes) {
    expect([method, path, (await call(other, method, path, body)).status]).toEqual([method, path, 403]);
    expect([method, path, (await call(two, method, path, body)).status]).toEqual([method, path, 200]);
  }
  expect((await call(one, 'GET', `/${id}`)).status).toBe(404);
});

test('a comment stays that of the account that wrote it, and both know it as their own', async () => {
  await link();
  const id = await written(one);
  await done(two, 'PATCH', `/${id}`, { content: 'Better' });
  expect((await done(two, 'GET', `/${id}`)).authorId).toBe(one.userId);
  for (const [user, twin] of [
    [one, two],
    [two, one],
  ] as const) {
    const { you } = await done(user, 'GET', '/_people');
    expect([you.id, you.ids.toSorted()]).toEqual([user.userId, [user.userId, twin.userId].toSorted()]);
  }
  expect((await done(other, 'GET', '/_people')).you.ids).toEqual([other.userId]);
});

test('a reaction is one of the person, whichever account gave it', async () => {
  await link();
  const id = await written(other);
  await done(one, 'POST', `/${id}/reactions`, { emoji: '👍' });
  expect([await reactions(two, id), await reactions(other, id)]).toEqual([
    { '👍': { count: 1, mine: true } },
    { '👍': { count: 1, mine: false } },
  ]);
  expect((await done(two, 'GET')).comments.find((each: { id: string }) => each.id === id).reactions['👍'].mine).toBe(true);
  expect((await done(two, 'POST', `/${id}/reactions`, { emoji: '👍' })).reactions).toEqual({});
});

test('reactions that both accounts gave before they were linked are taken back together', async () => {
  const id = await written(other);
  for (const user of [one, two, other]) await done(user, 'POST', `/${id}/reactions`, { emoji: '👍' });
  await link();
  expect((await done(two, 'POST', `/${id}/reactions`, { emoji: '👍' })).reactions).toEqual({ '👍': { count: 1, mine: false } });
});

test('what one account has written or read is not unread for the other', async () => {
  await link();
  await written(other, 'News');
  const before = await done(two, 'GET', '/_unread');
  expect(before.unread).toBeGreaterThan(0);
  await done(one, 'POST', '/_read', {});
  expect(await done(two, 'GET', '/_unread')).toEqual({ unread: 0, seq: before.latestSeq, latestSeq: before.latestSeq });
  await written(one, 'More');
  expect([(await done(two, 'GET', '/_unread')).unread, (await done(other, 'GET', '/_unread')).unread > 0]).toEqual([0, true]);
  await written(other, 'Last');
  expect((await done(two, 'GET', '/_unread')).unread).toBe(1);
  // A mark of the account that has read less does not take back what the other has read.
  await done(two, 'POST', '/_read', {});
  const { seq } = await done(one, 'POST', '/_read', { seq: 1 });
  expect([seq, (await done(one, 'GET', '/_unread')).unread]).toEqual([(await done(two, 'GET', '/_unread')).seq, 0]);
});

test('what was unlinked is no longer the own of the other', async () => {
  await link();
  const id = await written(one);
  await done(two, 'PATCH', `/${id}`, { content: 'Ours' });
  await unlink();
  expect((await call(two, 'PATCH', `/${id}`, { content: 'Mine' })).status).toBe(403);
  expect((await done(two, 'GET', '/_people')).you.ids).toEqual([two.userId]);
});

test('nobody gets a mail for mentioning another account of their own, and a person one for all of theirs', async () => {
  await link();
  for (const user of [one, two]) await written(user, 'So that I can be mentioned');
  const mails = async () => (await stage.easel.sql`select 1 from mail_outbox where recipient = ${address} and kind = 'mention'`).length;
  const mention = `Note to @[myself](${two.userId}) and @[me](${one.userId})`;
  expect((await done(one, 'POST', '', { content: mention })).mentions).toEqual([two.userId, one.userId]);
  expect(await mails()).toBe(0);
  await done(other, 'POST', '', { content: mention });
  expect(await mails()).toBe(1);
});

test('who has commented by a linked account or as a member of the workspace can be mentioned where not everybody sees the artifact', async () => {
  const { easel } = stage;
  const owner = await easel.newUser('pro');
  const twin = await easel.newUser();
  await easel.sql`update account set person_id = (select person_id from account where id = ${owner.userId}) where id = ${twin.userId}`;
  const workspaceId = await newWorkspace(easel, { [owner.userId]: 'owner', [one.userId]: 'member', [other.userId]: 'member' });
  const made = await json(
    await easel.fetch('/v1/publish', {
      token: owner.token,
      ...post({ workspace_id: workspaceId, files: [{ path: 'index.html', content: 'x' }], visibility: 'workspace' }),
    }),
  );
  const page = { id: made.artifact.id as string };
  const said = (by: TestUser, content: string) => must(ask(easel, page, by, 'POST', '', { content }));
  for (const user of [twin, one, other]) await said(user, 'Here');
  const everybody = [twin, one, other].map(({ userId }) => userId);
  const mention = everybody.map((id) => `@[x](${id})`).join(' ');
  expect((await said(one, mention)).mentions).toEqual(everybody);
  const roles = async () => {
    const { people } = await must(ask(easel, page, owner, 'GET', '/_people'));
    return Object.fromEntries(people.map(({ userId, role }: { userId: string; role: string }) => [userId, role]));
  };
  expect(await roles()).toEqual({ [owner.userId]: 'owner', [twin.userId]: 'owner', [one.userId]: 'viewer', [other.userId]: 'viewer' });
  // Who cannot see it any more is told of nothing in it.
  await easel.fetch(`/v1/artifacts/${page.id}`, { token: owner.token, ...patch({ visibility: 'private' }) });
  expect((await said(owner, mention)).mentions).toEqual([twin.userId]);
  expect((await refusal(easel.fetch(`/v1/data/${page.id}/comments`, { token: one.token })))[0]).toBe(404);
  expect(Object.keys(await roles()).toSorted()).toEqual([owner.userId, twin.userId].toSorted());
});
