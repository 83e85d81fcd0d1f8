/** Mail on behalf of pages: who may send it, how much, to whom it never goes, and what a visitor may write to an owner. */
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestUser } from '../../../support/easel.ts';
import { json, post } from '../../../support/requests.ts';
import { type Person, person, stageOf } from '../../workspaces/workspace-stage.ts';
import { headersOf, type MailStage, mailStage, proofFor, publishPage } from './mail-stage.ts';

const DAY_MS = 24 * 3_600_000;

let stage: MailStage;
let owner: Person;
beforeAll(async () => {
  stage = await mailStage();
});
afterAll(() => stage.close());
beforeEach(async () => {
  owner = await person(stage.easel, 'olive');
  await stage.easel.sql`update account set tier = 'pro' where id = ${owner.userId}`;
});

const send = (by: TestUser | undefined, body: Record<string, unknown>) =>
  stage.easel.fetch('/v1/email/send', { ...(by && { token: by.token }), ...post({ subject: 'Hi', text: 'Hello', ...body }) });
const status = async (id: string, by: TestUser) => stage.easel.fetch(`/v1/email/${id}`, { token: by.token });
const codeOf = async (reply: Response) => [reply.status, (await json(reply)).code];
const notify = (artifactId: string, body: Record<string, unknown>, by?: TestUser, headers: Record<string, string> = {}) => {
  const init = post({ text: 'Hello', ...body });
  return stage.easel.fetch(`/v1/data/${artifactId}/email/notify-owner`, {
    ...init,
    ...(by && { token: by.token }),
    headers: { ...(init.headers as Record<string, string>), ...headers },
  });
};
const mailsTo = (address: string) => stage.smtp.taken.filter(({ to }) => to.includes(address)).map(({ text }) => text);
const settled = (id: string, by: TestUser) => expect.poll(async () => (await json(await status(id, by))).status, { timeout: 60_000 });
let people = 0;
const someone = () => {
  people += 1;
  return `someone${people}@example.com`;
};
/** A day passes for the limits, without the work that each of its minutes has. */
const nextDay = () => stage.easel.sql`
  update rate_window set seen_at_ms = seen_at_ms - ${DAY_MS}, taken_at_ms = array(select t - ${DAY_MS}::bigint from unnest(taken_at_ms) as t)`;

describe('sending', () => {
  it('each recipient gets a mail of their own, with its source and a way out, and the log has what became of it', async () => {
    const page = await publishPage(stage.easel, owner);
    const [a, b] = [someone(), someone()];
    const reply = await send(owner, {
      artifact_id: page.id,
      to: [a, b, a.toUpperCase()],
      html: '<p>Hello <b>you</b></p>',
      reply_to: 'olive@example.net',
    });
    expect([reply.status, reply.headers.get('ratelimit')]).toEqual([202, '"email";r=48;t=86400']);
    const { id } = await json(reply);
    await settled(id, owner).toBe('sent');
    expect([mailsTo(a).length, mailsTo(b).length]).toEqual([1, 1]);
    const raw = mailsTo(a)[0] ?? '';
    const headers = headersOf(raw);
    expect(headers.get('to')).toEqual([a]);
    expect(headers.get('reply-to')).toEqual(['olive@example.net']);
    expect(headers.get('list-unsubscribe')?.[0]).toMatch(
      new RegExp(`^<http://localhost:${stage.easel.port}/unsubscribe/[A-Za-z0-9_.-]+>$`),
    );
    expect(headers.get('list-unsubscribe-post')).toEqual(['List-Unsubscribe=One-Click']);
    const parsed = await simpleParser(raw);
    expect(parsed.html).toContain('<b>you</b>');
    expect(parsed.html).toContain('/unsubscribe/');
    expect(parsed.text).toMatch(/olive sent this by the page "Page \d+"/);
    const list = await json(await stage.easel.fetch(`/v1/email?artifact_id=${page.id}&count=true`, { token: owner.token }));
    expect(list.total).toBe(1);
    expect(list.emails[0]).toMatchObject({
      id,
      subject: 'Hi',
      status: 'sent',
      sender_id: owner.userId,
      recipients: [a, b].sort().map((to) => ({ to, status: 'sent', error: null, attempts: 1 })),
    });
  });

  it('is for editors who have proved an address, and hides the artifact from others', async () => {
    const stranger = await person(stage.easel, 'sam');
    const bare = await stage.easel.newUser('pro');
    const hidden = await publishPage(stage.easel, owner, { visibility: 'private' });
    const open = await publishPage(stage.easel, owner);
    const own = await publishPage(stage.easel, bare);
    const to = [someone()];
    expect(await codeOf(await send(stranger, { artifact_id: hidden.id, to }))).toEqual([404, 'ARTIFACT_NOT_FOUND']);
    expect(await codeOf(await send(stranger, { artifact_id: open.id, to }))).toEqual([403, 'FORBIDDEN']);
    expect(await codeOf(await send(undefined, { artifact_id: open.id, to }))).toEqual([401, 'UNAUTHORIZED']);
    expect(await codeOf(await send(bare, { artifact_id: own.id, to }))).toEqual([403, 'EMAIL_NOT_PROVED']);
    const { id } = await json(await send(owner, { artifact_id: open.id, to }));
    expect(await codeOf(await status(id, stranger))).toEqual([404, 'MAIL_NOT_FOUND']);
    expect((await stage.easel.fetch(`/v1/email?artifact_id=${open.id}`, { token: stranger.token })).status).toBe(403);
    expect((await stage.easel.fetch(`/v1/email?artifact_id=${hidden.id}`, { token: stranger.token })).status).toBe(404);
    await stage.easel.fetch(`/v1/artifacts/${open.id}/collaborators`, {
      token: owner.token,
      ...post({ emails: [stranger.email], role: 'editor' }),
    });
    expect((await status(id, stranger)).status).toBe(200);
  });

  it('needs content, and addresses that are one address each', async () => {
    const { id } = await publishPage(stage.easel, owner);
    for (const to of [
      [],
      ['a@example.com, b@example.com'],
      ['A <a@example.com>'],
      ['a@example.com\r\nBcc: b@example.com'],
      Array.from({ length: 11 }, someone),
    ])
      expect((await send(owner, { artifact_id: id, to })).status).toBe(400);
    const to = [someone()];
    for (const body of [{ text: undefined }, { subject: undefined }, { reply_to: 'a@b.example\nX: y' }, { data: {} }])
      expect((await send(owner, { artifact_id: id, to, ...body })).status).toBe(400);
  });

  it('of an artifact is 10 a day, all recipients or none, however many ask at once', async () => {
    const { id } = await publishPage(stage.easel, owner);
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => send(owner, { artifact_id: id, to: [someone(), someone(), someone()] })),
    );
    expect(replies.map((reply) => reply.status).sort()).toEqual([202, 202, 202, 429, 429, 429, 429, 429]);
    expect((await send(owner, { artifact_id: id, to: [someone(), someone()] })).status).toBe(429);
    const [count] = await stage.easel.sql<{ n: number }[]>`select count(*)::int as n from mail_outbox where artifact_id = ${id}`;
    expect(count?.n).toBe(9);
    expect((await send(owner, { artifact_id: id, to: [someone()] })).status).toBe(202);
    await nextDay();
    expect((await send(owner, { artifact_id: id, to: [someone()] })).status).toBe(202);
  });

  it('of a person is 50 a day over all artifacts and linked accounts, and a refusal spends nothing of the artifact', async () => {
    const linked = await person(stage.easel, 'olga');
    await stage.easel.sql`
      update account set person_id = (select person_id from account where id = ${owner.userId}), tier = 'pro' where id = ${linked.userId}`;
    await nextDay();
    for (let n = 0; n < 5; n += 1) {
      const by = n % 2 === 0 ? owner : linked;
      const { id } = await publishPage(stage.easel, by);
      expect((await send(by, { artifact_id: id, to: Array.from({ length: n === 4 ? 9 : 10 }, someone) })).status).toBe(202);
    }
    const { id } = await publishPage(stage.easel, owner);
    const refused = await send(owner, { artifact_id: id, to: [someone(), someone()] });
    expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([429, '"email";q=50;w=86400']);
    expect((await send(linked, { artifact_id: id, to: [someone()] })).status).toBe(202);
    const friend = await person(stage.easel, 'fred');
    await stage.easel.fetch(`/v1/artifacts/${id}/collaborators`, {
      token: owner.token,
      ...post({ emails: [friend.email], role: 'editor' }),
    });
    expect((await send(friend, { artifact_id: id, to: Array.from({ length: 9 }, someone) })).status).toBe(202);
  });
});

describe('addresses that get no mail', () => {
  const unsubscribeIn = (raw: string) => headersOf(raw).get('list-unsubscribe')?.[0]?.slice(1, -1) ?? '';

  it('are those that opted out of this page: by a POST from anywhere, and never by a GET', async () => {
    const [page, other] = [await publishPage(stage.easel, owner), await publishPage(stage.easel, owner)];
    const to = someone();
    const first = await json(await send(owner, { artifact_id: page.id, to: [to] }));
    await settled(first.id, owner).toBe('sent');
    const link = unsubscribeIn(mailsTo(to)[0] ?? '');
    const shown = await fetch(link, { headers: { 'accept-language': 'es' } });
    expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining(`«Page`)]);
    const second = await json(await send(owner, { artifact_id: page.id, to: [to] }));
    await settled(second.id, owner).toBe('sent');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const done = await fetch(link, { method: 'POST', headers: form, body: 'List-Unsubscribe=One-Click' });
    expect(done.status).toBe(200);
    const third = await send(owner, { artifact_id: page.id, to: [to] });
    expect(await json(third)).toMatchObject({ status: 'suppressed' });
    const mixed = await json(await send(owner, { artifact_id: page.id, to: [to, someone()] }));
    await settled(mixed.id, owner).toBe('partly_sent');
    const elsewhere = await json(await send(owner, { artifact_id: other.id, to: [to] }));
    await settled(elsewhere.id, owner).toBe('sent');
    expect(mailsTo(to)).toHaveLength(3);
    expect(await (await stage.easel.fetch('/dev/mail', { token: stage.easel.adminToken })).status).toBe(404);
  });

  it('are not changed by a link that was not signed here, or is cut', async () => {
    const page = await publishPage(stage.easel, owner);
    const to = someone();
    const { id } = await json(await send(owner, { artifact_id: page.id, to: [to] }));
    await settled(id, owner).toBe('sent');
    const link = unsubscribeIn(mailsTo(to)[0] ?? '');
    const [head = '', signature = ''] = (link.split('/').at(-1) ?? '').split('.');
    const named = Buffer.from(`${page.id} ${someone()}`).toString('base64url');
    for (const token of [`${named}.${signature}`, `${head}.${'A'.repeat(43)}`, head, `${head}.${signature.slice(0, 42)}`]) {
      const reply = await stage.easel.fetch(`/unsubscribe/${token}`, {
        method: 'POST',
        body: 'x',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect(reply.status).toBe(404);
    }
    expect(await json(await send(owner, { artifact_id: page.id, to: [to] }))).toMatchObject({ status: 'queued' });
  });

  it.each([
    ['550 5.1.1 no such user', true],
    ['550 nobody of that name', true],
    ['550 5.7.1 refused by policy', false],
    ['552 5.2.2 mailbox full', false],
    ['552 mailbox full', false],
    ['450 4.2.0 later', false],
  ])('%s: remembered for 90 days is %s', async (answer, isRemembered) => {
    const [page, other] = [await publishPage(stage.easel, owner), await publishPage(stage.easel, owner)];
    const to = someone();
    stage.smtp.refuse(answer, 1, to);
    const { id } = await json(await send(owner, { artifact_id: page.id, to: [to] }));
    const failed = async () => json(await status(id, owner));
    await expect.poll(async () => (await failed()).recipients[0]?.error).toContain(answer.slice(0, 3));
    expect(await json(await send(owner, { artifact_id: other.id, to: [to] }))).toMatchObject({
      status: isRemembered ? 'suppressed' : 'queued',
    });
    if (!isRemembered) return;
    const nowMs = stage.easel.clock.nowMs();
    const [row] = await stage.easel.sql<{ left: number }[]>`select expires_at_ms - ${nowMs} as left from mail_bounce where address = ${to}`;
    expect(row?.left).toBe(90 * DAY_MS);
    await stage.easel.sql`update mail_bounce set expires_at_ms = ${nowMs} where address = ${to}`;
    expect(await json(await send(owner, { artifact_id: other.id, to: [to] }))).toMatchObject({ status: 'queued' });
  });
});

describe('a message to the owner', () => {
  it('of somebody without an account needs the owner’s leave and a proof of work that counts once, for one page, for ten minutes', async () => {
    const closed = await publishPage(stage.easel, owner);
    expect(await codeOf(await notify(closed.id, {}))).toEqual([401, 'UNAUTHORIZED']);
    const page = await publishPage(stage.easel, owner, { allow_anon_email: true });
    const other = await publishPage(stage.easel, owner, { allow_anon_email: true });
    expect(await codeOf(await notify(page.id, {}))).toEqual([400, 'PROOF_INVALID']);
    const proof = await proofFor(stage.easel, page.id);
    expect(await codeOf(await notify(page.id, { proof: { ...proof, solution: 'wrong' } }))).toEqual([400, 'PROOF_INVALID']);
    expect(await codeOf(await notify(other.id, { proof }))).toEqual([400, 'PROOF_INVALID']);
    const reply = await notify(page.id, { text: 'Is it open?', replyTo: 'grace@example.com', proof });
    expect(reply.status).toBe(202);
    const { data } = await json(reply);
    expect(data.sent).toBe(true);
    expect(await codeOf(await notify(page.id, { proof }))).toEqual([400, 'PROOF_INVALID']);
    await settled(data.messageId, owner).toBe('sent');
    const raw = mailsTo(owner.email).at(-1) ?? '';
    expect(headersOf(raw).get('reply-to')).toEqual(['grace@example.com']);
    const parsed = await simpleParser(raw);
    expect(parsed.subject).toMatch(/^Message from your page "Page \d+"$/);
    expect(parsed.text).toContain('Is it open?');
    expect(parsed.text).toContain('Nobody has checked who they are.');
    const late = await proofFor(stage.easel, page.id);
    stage.easel.clock.advance(10 * 60_000);
    expect(await codeOf(await notify(page.id, { proof: late }))).toEqual([400, 'PROOF_INVALID']);
  });

  it('of strangers carries no HTML of theirs, and only the owner sees where it went', async () => {
    const page = await publishPage(stage.easel, owner, { allow_anon_email: true });
    const html = '<h1>Your bank</h1><a href="https://evil.example/">Sign in</a>';
    const { data } = await json(await notify(page.id, { text: undefined, html, proof: await proofFor(stage.easel, page.id) }));
    await settled(data.messageId, owner).toBe('sent');
    const parsed = await simpleParser(mailsTo(owner.email).at(-1) ?? '');
    expect(parsed.html).toBe(false);
    expect(parsed.text).toContain('Your bank');
    const editor = await person(stage.easel, 'ed');
    await stage.easel.fetch(`/v1/artifacts/${page.id}/collaborators`, {
      token: owner.token,
      ...post({ emails: [editor.email], role: 'editor' }),
    });
    expect(await json(await status(data.messageId, editor))).toMatchObject({
      purpose: 'owner',
      recipients: [{ to: null, status: 'sent' }],
    });
    expect(await json(await status(data.messageId, owner))).toMatchObject({ recipients: [{ to: owner.email }] });
  });

  it('of people with a proved address needs neither, those without one are visitors, and it is theirs to count', async () => {
    const page = await publishPage(stage.easel, owner);
    const visitor = await person(stage.easel, 'vera');
    const reply = await notify(page.id, { text: undefined, html: '<b>Hi</b>' }, visitor);
    expect(reply.status).toBe(202);
    const { data } = await json(reply);
    await settled(data.messageId, visitor).toBe('sent');
    const parsed = await simpleParser(mailsTo(owner.email).at(-1) ?? '');
    expect(parsed.html).toContain('<b>Hi</b>');
    expect(parsed.text).toContain('vera wrote this on your page');
    expect(await codeOf(await notify(page.id, {}, await stage.easel.newUser()))).toEqual([403, 'EMAIL_NOT_PROVED']);
  });

  it('of one network is bounded, so that it cannot use up what others may send', async () => {
    await nextDay();
    const pages = [
      await publishPage(stage.easel, owner, { allow_anon_email: true }),
      await publishPage(stage.easel, owner, { allow_anon_email: true }),
    ];
    for (let n = 0; n < 10; n += 1) {
      const { id } = pages[n % 2] ?? { id: '' };
      expect((await notify(id, { proof: await proofFor(stage.easel, id) })).status).toBe(202);
    }
    const { id } = pages[0] ?? { id: '' };
    expect(await codeOf(await notify(id, { proof: await proofFor(stage.easel, id) }))).toEqual([429, 'RATE_LIMITED']);
    expect((await notify(id, {}, owner)).status).toBe(202);
  });

  it('cannot reach an owner without an address, or who has unsubscribed; the owner of the workspace gets those of its pages', async () => {
    const bare = await stage.easel.newUser('pro');
    const visitor = await person(stage.easel, 'vera');
    expect(await codeOf(await notify((await publishPage(stage.easel, bare)).id, {}, visitor))).toEqual([409, 'OWNER_UNREACHABLE']);
    const page = await publishPage(stage.easel, owner);
    await stage.easel.sql`insert into mail_opt_out (artifact_id, address, opted_out_at_ms) values (${page.id}, ${owner.email}, 0)`;
    expect(await codeOf(await notify(page.id, {}, visitor))).toEqual([409, 'OWNER_UNREACHABLE']);
    const team = await stageOf(stage.easel, 'Team of mail');
    const shared = await publishPage(stage.easel, owner);
    await stage.easel.sql`update artifact set owner_id = null, workspace_id = ${team.id} where id = ${shared.id}`;
    const { data } = await json(await notify(shared.id, {}, visitor));
    await settled(data.messageId, visitor).toBe('sent');
    expect(mailsTo(team.owner.email)).toHaveLength(1);
  });
});
