/** Tickets of other chats, and of the chat of a page: from both sides to the end, and what a stranger can do. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestUser } from '../../../support/easel.ts';
import { type MailStage, publishPage } from '../../automation/email/mail-stage.ts';
import { type Person, person, stageOf } from '../../workspaces/workspace-stage.ts';
import { at, bellOf, call, chat, codeOf, open, read, staffOf, supportStage } from './support-stage.ts';

const DAY_MS = 24 * 3_600_000;

let stage: MailStage;
let staff: Person;
beforeAll(async () => {
  stage = await supportStage();
  staff = await staffOf(stage, 'ada');
});
afterAll(() => stage.close());

const reply = (id: string, by: TestUser, body = 'It is.') => call(stage, by, at(id, '/reply'), { body });

describe('another chat', () => {
  const replies = (thread: string, after?: string) => chat(stage, { thread, ...(after && { after }) }, '/v1/support/inbound/chat/replies');

  it('brings messages and takes replies, in one ticket to the end', async () => {
    const opened = await chat(stage, { thread: 'C1/1', from: 'Grace', text: 'The map stays empty.\nSince today.' });
    expect([opened.status, opened.body.ticket]).toMatchObject([
      201,
      { channel: 'chat', subject: 'The map stays empty.', requester_name: 'Grace', requester_user_id: null },
    ]);
    const { id } = opened.body.ticket;
    expect((await replies('C1/1')).body).toMatchObject({ ticket: { id, status: 'open' }, replies: [], has_more: false });
    await call(stage, staff, at(id, '/reply'), { body: 'A draft.', draft: true });
    expect((await reply(id, staff, 'Which browser?')).body.ticket.status).toBe('pending');
    const first = (await replies('C1/1')).body.replies;
    expect(first.map(({ body, author }: { body: string; author: unknown }) => [body, author])).toEqual([
      ['Which browser?', { kind: 'staff', name: 'ada' }],
    ]);
    const second = await chat(stage, { thread: 'C1/1', from: 'Grace', text: 'Firefox.' });
    expect(second.body.ticket).toMatchObject({ id, status: 'open' });
    await reply(id, staff, 'Thank you.');
    expect((await replies('C1/1', first[0].id)).body.replies.map(({ body }: { body: string }) => body)).toEqual(['Thank you.']);
    await call(stage, staff, at(id, '/status'), { status: 'resolved' });
    expect((await replies('C1/1')).body.ticket.status).toBe('resolved');
    // Its messages and drafts are told to nobody who does not know the thread.
    expect((await replies('C1/2')).body).toEqual({ success: true, ticket: null, replies: [], has_more: false });
  });

  it('of somebody whose proved address it names is theirs in the app too', async () => {
    const grace = await person(stage.easel, 'grace');
    const { body } = await chat(stage, { thread: 'C2', from: { name: 'Grace', email: grace.email }, text: 'Hello' });
    expect((await read(stage, grace, body.ticket.id)).ticket.requester_user_id).toBe(grace.userId);
    await reply(body.ticket.id, staff);
    expect((await bellOf(stage, grace))[0]?.kind).toBe('ticket.reply');
  });

  it('a message is taken once, by its id or by its call, and begins one ticket, however many come at once', async () => {
    const message = { thread: 'C3', from: 'Grace', text: 'Hello', id: '1' };
    const brought = await Promise.all(Array.from({ length: 5 }, () => chat(stage, message)));
    expect(brought.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201]);
    expect(new Set(brought.map(({ body }) => body.ticket.id)).size).toBe(1);
    const replayed = { thread: 'C4', from: 'Grace', text: 'Hello' };
    expect([(await chat(stage, replayed)).status, (await chat(stage, replayed)).status]).toEqual([201, 200]);
    const many = await Promise.all(Array.from({ length: 5 }, (_, n) => chat(stage, { thread: 'C5', from: 'Grace', text: `message ${n}` })));
    expect(many.map(({ status }) => status)).toEqual(Array(5).fill(201));
    expect(new Set(many.map(({ body }) => body.ticket.id)).size).toBe(1);
  });

  it('goes on in a new ticket after a month, and the thread is that one from then on', async () => {
    const { id } = (await chat(stage, { thread: 'C6', from: 'Grace', text: 'One' })).body.ticket;
    await call(stage, staff, at(id, '/status'), { status: 'closed' });
    await stage.easel
      .sql`update ticket set closed_at_ms = closed_at_ms - ${31 * DAY_MS}, created_at_ms = created_at_ms - ${40 * DAY_MS} where id = ${id}`;
    const later = (await chat(stage, { thread: 'C6', from: 'Grace', text: 'Two' })).body.ticket;
    expect(later).toMatchObject({ follows: id, status: 'open' });
    expect((await chat(stage, { thread: 'C6', from: 'Grace', text: 'Three' })).body.ticket.id).toBe(later.id);
  });

  it('writes 120 messages an hour in a thread, and nothing that is wrong or not signed', async () => {
    await chat(stage, { thread: 'C7', from: 'Grace', text: 'Hello' });
    const subject = createHash('sha256').update('C7').digest('hex');
    await stage.easel.sql`
      update rate_window set taken_at_ms = array_fill(${stage.easel.clock.nowMs()}::bigint, array[120]) where limit_name = 'ticketChatsOfThread' and subject = ${subject}`;
    expect(await codeOf(chat(stage, { thread: 'C7', from: 'Grace', text: 'Again' }))).toEqual([429, 'RATE_LIMITED']);
    for (const wrong of [
      {},
      { thread: 'x', from: 'x', text: '' },
      { thread: 'x', from: { name: 'x', email: 'no' }, text: 'x' },
      { thread: 'x', from: 'x', text: 'x', more: 1 },
      { thread: 'a\u0000', from: 'x', text: 'x' },
    ])
      expect(await codeOf(chat(stage, wrong))).toEqual([400, 'INVALID_REQUEST']);
    const unsigned = await stage.easel.fetch('/v1/support/inbound/chat', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect(unsigned.status).toBe(401);
  });
});

describe('the chat of a page', () => {
  let owner: Person;
  let page: { id: string; slug: string };
  beforeEach(async () => {
    await stage.easel.sql`delete from rate_window`;
    owner = await person(stage.easel, 'olive');
    await stage.easel.sql`update account set tier = 'pro' where id = ${owner.userId}`;
    page = await publishPage(stage.easel, owner);
  });

  const path = (rest = '') => `/v1/data/${page.id}/support${rest}`;
  const turn = (enabled: boolean) => call(stage, owner, path('/_config'), { enabled, greeting: 'Ask us.' }, 'PUT');
  async function proof() {
    const { data } = (await call(stage, undefined, path('/challenge'), undefined, 'POST')).body;
    for (let n = 0; ; n += 1) {
      const digest = createHash('sha256').update(`${data.challenge}.${n}`).digest();
      if (digest.readUInt32BE(0) >>> (32 - data.bits) === 0) return { challenge: data.challenge, solution: String(n) };
    }
  }
  const write = (body: Record<string, unknown>, by?: TestUser) => call(stage, by, path(), body);
  const messages = async (secret: string, after?: string) =>
    (await call(stage, undefined, path('/read'), { secret, ...(after && { after }) })).body.data;
  const ticketOf = async () => (await call(stage, owner, '/v1/support/tickets?scope=pages')).body.tickets[0];

  it('a visitor and the owner write to the end, and staff sees it too', async () => {
    await turn(true);
    expect((await call(stage, undefined, path('/_config'))).body.data).toEqual({ enabled: true, greeting: 'Ask us.' });
    const first = await write({ text: 'Open on Mondays?', name: 'Grace', email: 'grace@mail.example', proof: await proof() });
    expect([first.status, first.body.data]).toMatchObject([
      201,
      { status: 'open', message: { author: 'visitor', name: 'Grace', text: 'Open on Mondays?' } },
    ]);
    const { secret } = first.body.data;
    const ticket = await ticketOf();
    expect(ticket).toMatchObject({
      channel: 'chat',
      artifact_id: page.id,
      requester_email: 'grace@mail.example',
      requester_user_id: null,
      may_answer: true,
    });
    expect(ticket).not.toHaveProperty('request_ids');
    expect((await bellOf(stage, owner)).map(({ kind }) => kind)).toEqual(['ticket.opened']);
    expect((await reply(ticket.id, owner)).status).toBe(201);
    const seen = await messages(secret);
    expect(seen).toMatchObject({
      status: 'pending',
      hasMore: false,
      messages: [{ author: 'visitor' }, { author: 'maker', name: 'olive', text: 'It is.' }],
    });
    expect((await messages(secret, seen.messages[1].id)).messages).toEqual([]);
    const second = await write({ text: 'Thanks.', secret });
    expect([second.status, second.body.data.secret, second.body.data.status]).toEqual([201, secret, 'open']);
    await call(stage, owner, at(ticket.id, '/status'), { status: 'resolved' });
    expect((await messages(secret)).status).toBe('resolved');
    expect((await call(stage, staff, at(ticket.id))).status).toBe(200);
    // No mail goes to an address that nobody has proved.
    expect(stage.smtp.taken.filter(({ to }) => to.includes('grace@mail.example'))).toEqual([]);
  });

  it('is off unless its owner turns it on, and off again takes nothing more but can be read', async () => {
    const challenge = call(stage, undefined, path('/challenge'), undefined, 'POST');
    expect(await codeOf(challenge)).toEqual([403, 'SUPPORT_CHAT_OFF']);
    expect(await codeOf(write({ text: 'x' }))).toEqual([403, 'SUPPORT_CHAT_OFF']);
    const eve = await person(stage.easel, 'eve');
    expect((await call(stage, eve, path('/_config'), { enabled: true }, 'PUT')).status).toBe(403);
    await turn(true);
    const { secret } = (await write({ text: 'x', proof: await proof() })).body.data;
    await turn(false);
    expect(await codeOf(write({ text: 'y', secret }))).toEqual([403, 'SUPPORT_CHAT_OFF']);
    expect((await messages(secret)).messages).toHaveLength(1);
  });

  it('costs a visitor work that counts once, and somebody with a proved address none', async () => {
    await turn(true);
    const done = await proof();
    expect(await codeOf(write({ text: 'x' }))).toEqual([400, 'PROOF_INVALID']);
    const both = await Promise.all([write({ text: 'x', proof: done }), write({ text: 'x', proof: done })]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect((await write({ text: 'x' }, await person(stage.easel, 'gail'))).status).toBe(201);
    expect(await codeOf(write({ text: 'x' }, await stage.easel.newUser()))).toEqual([400, 'PROOF_INVALID']);
    const other = await publishPage(stage.easel, owner);
    await call(stage, owner, `/v1/data/${other.id}/support/_config`, { enabled: true }, 'PUT');
    const elsewhere = call(stage, undefined, `/v1/data/${other.id}/support`, { text: 'x', proof: await proof() });
    expect(await codeOf(elsewhere)).toEqual([400, 'PROOF_INVALID']);
  });

  it('a secret opens one chat of one page, and nobody else reads it', async () => {
    await turn(true);
    const { secret } = (await write({ text: 'mine', proof: await proof() })).body.data;
    const other = await publishPage(stage.easel, owner);
    await call(stage, owner, `/v1/data/${other.id}/support/_config`, { enabled: true }, 'PUT');
    const missing = [404, 'TICKET_NOT_FOUND'];
    expect(await codeOf(call(stage, undefined, `/v1/data/${other.id}/support/read`, { secret }))).toEqual(missing);
    expect(await codeOf(call(stage, undefined, `/v1/data/${other.id}/support`, { text: 'x', secret }))).toEqual(missing);
    expect(await codeOf(call(stage, undefined, path('/read'), { secret: 'k'.repeat(43) }))).toEqual(missing);
    expect(await codeOf(write({ text: 'x', secret: 'k'.repeat(43) }))).toEqual(missing);
    const eve = await person(stage.easel, 'eve');
    const { id } = await ticketOf();
    expect(await codeOf(call(stage, eve, at(id)))).toEqual(missing);
    expect((await call(stage, eve, '/v1/support/tickets?scope=pages')).body.tickets).toEqual([]);
    expect(await codeOf(call(stage, owner, at(id, '/message'), { body: 'x' }))).toEqual([403, 'FORBIDDEN']);
    const own = await open(stage, eve);
    expect(await codeOf(reply(own, owner))).toEqual(missing);
  });

  it('of a private page is hidden with it', async () => {
    const hidden = await publishPage(stage.easel, owner, { visibility: 'private' });
    for (const rest of ['', '/read', '/challenge']) {
      expect(await codeOf(call(stage, undefined, `/v1/data/${hidden.id}/support${rest}`, { text: 'x', secret: 'k'.repeat(43) }))).toEqual([
        404,
        'ARTIFACT_NOT_FOUND',
      ]);
    }
  });

  it('of a workspace is answered by its admins, who stop when they leave, and goes with the page to its next owner', async () => {
    const team = await stageOf(stage.easel, `Team ${page.slug}`);
    await turn(true);
    await write({ text: 'x', proof: await proof() });
    const { id } = await ticketOf();
    const moved = await stage.easel.sql`update artifact set workspace_id = ${team.id} where id = ${page.id}`;
    expect(moved.count).toBe(1);
    for (const by of [team.owner, team.admin]) expect((await reply(id, by)).status).toBe(201);
    expect(await codeOf(reply(id, team.member))).toEqual([404, 'TICKET_NOT_FOUND']);
    const listed = await call(stage, team.admin, `/v1/support/tickets?scope=workspace&workspaceId=${team.id}`);
    expect(listed.body.tickets.map((one: { id: string }) => one.id)).toEqual([id]);
    expect((await call(stage, team.owner, at(id, '/assign'), { user_id: team.admin.userId })).status).toBe(200);
    expect(await codeOf(call(stage, team.owner, at(id, '/assign'), { user_id: team.member.userId }))).toEqual([404, 'ASSIGNEE_NOT_FOUND']);
    await stage.easel.fetch(`/v1/workspaces/${team.id}/members/${team.admin.userId}`, { method: 'DELETE', token: team.owner.token });
    expect(await codeOf(reply(id, team.admin))).toEqual([404, 'TICKET_NOT_FOUND']);
    await stage.easel.sql`update artifact set owner_id = ${team.stranger.userId}, workspace_id = null where id = ${page.id}`;
    expect((await reply(id, team.stranger)).status).toBe(201);
    expect(await codeOf(reply(id, owner))).toEqual([404, 'TICKET_NOT_FOUND']);
  });

  it('takes 60 messages an hour from one network and 100 chats a day on one page', async () => {
    await turn(true);
    const gail = await person(stage.easel, 'gail');
    const { secret } = (await write({ text: 'x' }, gail)).body.data;
    const statuses = await Promise.all(Array.from({ length: 65 }, () => write({ text: 'x', secret })));
    expect(statuses.filter(({ status }) => status === 201)).toHaveLength(59);
    expect(statuses.filter(({ status }) => status === 429)).toHaveLength(6);
    await stage.easel.sql`delete from rate_window`;
    await write({ text: 'x' }, gail);
    await stage.easel.sql`
      update rate_window set taken_at_ms = array_fill(${stage.easel.clock.nowMs()}::bigint, array[100]) where limit_name = 'ticketsOfPage'`;
    expect(await codeOf(write({ text: 'x' }, gail))).toEqual([429, 'RATE_LIMITED']);
    expect((await write({ text: 'x', secret })).status).toBe(201);
  });

  it('goes on with its secret in the ticket that follows a closed one', async () => {
    await turn(true);
    const { secret } = (await write({ text: 'One', proof: await proof() })).body.data;
    const { id } = await ticketOf();
    await call(stage, owner, at(id, '/status'), { status: 'closed' });
    await stage.easel.sql`update ticket set closed_at_ms = closed_at_ms - ${31 * DAY_MS} where id = ${id}`;
    stage.easel.clock.set(1000);
    expect((await write({ text: 'Two', secret })).body.data.status).toBe('open');
    expect((await messages(secret)).messages.map(({ text }: { text: string }) => text)).toEqual(['Two']);
    expect((await call(stage, owner, '/v1/support/tickets?scope=pages&count=true')).body).toMatchObject({
      total: 2,
      tickets: [{ follows: id }, {}],
    });
  });
});
