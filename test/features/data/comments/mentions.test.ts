/** Who is mentioned, and who gets a notice. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { mentionsOf } from '../../../../src/features/data/comments/rules.ts';
import { startTestEasel } from '../../../support/easel.ts';
import { startSmtp, type TestSmtp } from '../../../support/smtp.ts';
import { ask, type Cast, cast, guest, must, type Stage } from './comment-stage.ts';

let smtp: TestSmtp;
let stage: Pick<Stage, 'easel'>;
let all: Cast;
beforeAll(async () => {
  smtp = await startSmtp();
  stage = { easel: await startTestEasel({ settings: { SMTP_URL: smtp.url } }) };
});
afterAll(async () => {
  await stage.easel.close();
  await smtp.close();
});
beforeEach(async () => {
  all = await cast(stage.easel);
});

const write = (who: { token: string } | undefined, content: string, more: object = {}) =>
  must(ask(stage.easel, all.artifact, who, 'POST', '', { content, ...more }));
const queued = () => stage.easel.sql<{ recipient: string; kind: string; subject: string; text_body: string }[]>`
  select recipient, kind, subject, text_body from mail_outbox where artifact_id = ${all.artifact.id} order by recipient, kind`;
const told = async () => (await queued()).map(({ recipient, kind }) => [kind, recipient]);

test('mentions are found in a text', () => {
  const id = (letter: string) => `usr_${letter.repeat(24)}` as UserId;
  const member = (letter: string, username: string | null) => ({
    userId: id(letter),
    username,
    name: null,
    email: null,
    locale: null,
    role: 'viewer' as const,
  });
  const members = [member('a', 'ada'), member('b', 'bob-2'), member('c', null)];
  const found = (text: string) => mentionsOf(text, members).map((userId) => userId.charAt(4));
  expect(found('@ada and @Bob-2, hello')).toEqual(['a', 'b']);
  expect(found('(@ada) @ada. @ada!')).toEqual(['a']);
  expect(found(`@[Cy the nameless](${id('c')}) and @[x](${id('d')})`)).toEqual(['c']);
  expect(found('mail@ada, me@example.com, @adam, @@ada, @bob')).toEqual([]);
  const many = Array.from({ length: LIMITS.commentMentionsMax + 5 }, (_, index) => ({
    ...member('a', `n${index}`),
    userId: `usr_${index}` as UserId,
  }));
  expect(mentionsOf(many.map(({ username }) => `@${username}`).join(' '), many)).toHaveLength(LIMITS.commentMentionsMax);
});

test('a mentioned person gets one mail with the text and the page', async () => {
  const before = smtp.taken.length;
  const { id, mentions } = await write(
    all.owner,
    `@${all.editor.username} and @[The viewer](${all.viewer.userId}): look\nhere @${all.owner.username}`,
  );
  expect(mentions).toEqual([all.editor.userId, all.viewer.userId, all.owner.userId]);
  const [mail] = await queued();
  expect(await told()).toEqual([
    ['mention', all.editor.email],
    ['mention', all.viewer.email],
  ]);
  expect(mail?.subject).toBe('The owner mentioned you in a comment on "Commented"');
  expect(mail?.text_body).toContain('> here @');
  expect(mail?.text_body).toContain(`http://${all.artifact.slug}.`);
  // An edit notifies only newly mentioned people.
  await must(ask(stage.easel, all.artifact, all.owner, 'PATCH', `/${id}`, { content: `@${all.editor.username} only` }));
  expect(await told()).toHaveLength(2);
  await smtp.took(before + 2);
  expect(
    smtp.taken
      .slice(before)
      .map(({ to }) => to[0])
      .sort(),
  ).toEqual([all.editor.email, all.viewer.email].sort());
});

test('people without a role can be mentioned, and can mention others, only among those who have commented', async () => {
  expect((await write(all.owner, `@${all.stranger.username}`)).mentions).toEqual([]);
  expect((await write(all.stranger, `@${all.editor.username} @${all.owner.username}`)).mentions).toEqual([all.owner.userId]);
  expect((await write(all.owner, `@${all.stranger.username}`)).mentions).toEqual([all.stranger.userId]);
  expect(await told()).toEqual([
    ['mention', all.owner.email],
    ['mention', all.stranger.email],
  ]);
});

test('a new assignee gets one mail, even when the comment also mentions them', async () => {
  const { id } = await write(all.owner, `@${all.editor.username}`, { assigneeUserId: all.editor.userId, dueAt: '2026-03-01T00:00:00Z' });
  expect(await told()).toEqual([['assigned', all.editor.email]]);
  expect((await queued())[0]?.text_body).toContain('Due 2026-03-01.');
  await must(ask(stage.easel, all.artifact, all.owner, 'PATCH', `/${id}/assign`, { assigneeUserId: all.editor.userId }));
  await must(ask(stage.easel, all.artifact, all.owner, 'PATCH', `/${id}/assign`, { assigneeUserId: all.viewer.userId }));
  expect(await told()).toEqual([
    ['assigned', all.editor.email],
    ['assigned', all.viewer.email],
  ]);
});

test('mentions by an anonymous visitor send no mail, those by a guest do', async () => {
  await write(all.owner, 'here');
  await must(ask(stage.easel, all.artifact, all.owner, 'PUT', '/_config', { identityMode: 'anonymous' }));
  expect((await write(undefined, `@${all.owner.username}`)).mentions).toEqual([all.owner.userId]);
  expect(await told()).toEqual([]);
  const token = await guest(stage, all, 'mentioning@example.com');
  await write({ token }, `@${all.owner.username}`);
  expect(await told()).toEqual([
    ['guest_code', 'mentioning@example.com'],
    ['mention', all.owner.email],
  ]);
});

test('an artifact sends at most its daily limit of notices', async () => {
  await stage.easel.sql`
    insert into mail_outbox (id, artifact_id, recipient, subject, kind, sent_at_ms, created_at_ms)
    select 'eml_' || n, ${all.artifact.id}, 'x@example.com', '', 'mention', 0, ${stage.easel.clock.nowMs()}
    from generate_series(1, ${LIMITS.commentMailsPerDay - 1}) as n`;
  const { mentions } = await write(all.owner, `@${all.editor.username} @${all.viewer.username}`);
  expect(mentions).toHaveLength(2);
  expect((await queued()).length).toBe(LIMITS.commentMailsPerDay);
});

test('twenty concurrent comments stay within the daily limit of notices', async () => {
  await stage.easel.sql`
    insert into mail_outbox (id, artifact_id, recipient, subject, kind, sent_at_ms, created_at_ms)
    select 'eml_at_once_' || n, ${all.artifact.id}, 'x@example.com', '', 'mention', 0, ${stage.easel.clock.nowMs()}
    from generate_series(1, ${LIMITS.commentMailsPerDay - 5}) as n`;
  await Promise.all(Array.from({ length: 20 }, (_, n) => write(all.owner, `${n} @${all.editor.username}`)));
  expect((await queued()).length).toBe(LIMITS.commentMailsPerDay);
});
