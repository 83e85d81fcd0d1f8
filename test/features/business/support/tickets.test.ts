/** Tickets in the app: from the first message to the end, who may what, and how much. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json } from '../../../support/requests.ts';
import type { MailStage } from '../../automation/email/mail-stage.ts';
import { auditOf, type Person, person, type Stage, stageOf } from '../../workspaces/workspace-stage.ts';
import { at, bellOf, call, codeOf, mailsTo, open, read, staffOf, supportStage } from './support-stage.ts';

const DAY_MS = 24 * 3_600_000;

let stage: MailStage;
let staff: Person;
let workspace: Stage;
beforeAll(async () => {
  stage = await supportStage();
  staff = await staffOf(stage, 'ada');
  workspace = await stageOf(stage.easel, 'Maps');
});
afterAll(() => stage.close());

const someone = (name = 'grace') => person(stage.easel, name);
const reply = (id: string, more: Record<string, unknown> = {}, by = staff) =>
  call(stage, by, at(id, '/reply'), { body: 'Try again.', ...more });
const message = (id: string, by: Person, more: Record<string, unknown> = {}) =>
  call(stage, by, at(id, '/message'), { body: 'Still empty.', ...more });
const set = (id: string, by: Person, status: string) => call(stage, by, at(id, '/status'), { status });
async function upload(by: Person, filename = 'map.txt', bytes = 'a map', type = 'text/plain') {
  const init = { method: 'POST', token: by.token, body: bytes, headers: { 'content-type': type } };
  const answer = await stage.easel.fetch(`/v1/support/attachments?filename=${encodeURIComponent(filename)}`, init);
  return { status: answer.status, body: await json(answer) };
}

describe('from the question to the end', () => {
  it('whoever answers for the installation is told so, and nobody else', async () => {
    const isStaff = async (by: Person) => (await call(stage, by, '/v1/me')).body.is_staff;
    expect([await isStaff(staff), await isStaff(await someone())]).toEqual([true, false]);
    const admin = await stage.easel.fetch('/v1/me', { token: stage.easel.adminToken });
    expect((await json(admin)).is_staff).toBe(true);
  });

  it('two people write, the status follows, and both hear of it', async () => {
    const grace = await someone();
    const id = await open(stage, grace, { priority: 'high' });
    expect((await bellOf(stage, staff)).map(({ kind, url }) => [kind, url])).toContainEqual(['ticket.opened', `/my/support/${id}`]);
    const before = await read(stage, grace, id);
    expect(before).toMatchObject({
      ticket: {
        subject: 'The map',
        status: 'open',
        channel: 'ui',
        priority: 'high',
        requester_user_id: grace.userId,
        requester_email: grace.email,
        may_answer: false,
      },
      thread: [{ author: { kind: 'customer', name: 'grace' }, body: 'It stays empty.', draft: false, attachments: [] }],
      thread_has_more: false,
    });
    expect([before.ticket.assignee, before.ticket.request_ids]).toEqual([undefined, undefined]);
    const answered = await reply(id);
    expect([answered.status, answered.body.ticket.status, answered.body.message.author]).toEqual([
      201,
      'pending',
      { kind: 'staff', name: 'ada' },
    ]);
    expect((await bellOf(stage, grace))[0]).toMatchObject({ kind: 'ticket.reply', body: 'Try again.', url: `/my/support/${id}` });
    expect((await mailsTo(stage, grace.email, 1))[0]).toContain('Answer to your ticket: The map');
    expect((await message(id, grace)).body.ticket.status).toBe('open');
    expect((await reply(id)).body.ticket.status).toBe('pending');
    expect((await set(id, grace, 'resolved')).body.ticket.status).toBe('resolved');
    const { thread } = await read(stage, staff, id);
    expect(thread.map(({ author, body }: { author: { kind: string }; body: string }) => [author.kind, body])).toEqual([
      ['customer', 'It stays empty.'],
      ['staff', 'Try again.'],
      ['customer', 'Still empty.'],
      ['staff', 'Try again.'],
    ]);
    const pages: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { body } = await call(stage, grace, at(id, `/messages?limit=3&count=true${cursor && `&cursor=${cursor}`}`));
      pages.push(...body.messages.map((one: { id: string }) => one.id));
      expect(body.total).toBe(4);
      cursor = body.next_cursor ?? undefined;
    }
    expect(pages).toEqual(thread.map((one: { id: string }) => one.id));
  });

  it('resolved is closed after seven quiet days, a message reopens it for 30 days, and later opens one that follows it', async () => {
    const grace = await someone();
    const id = await open(stage, grace);
    await set(id, staff, 'resolved');
    const moved = stage.easel.clock.nowMs();
    const age = (ms: number) =>
      stage.easel.sql`update ticket set quiet_since_ms = ${moved - ms}, closed_at_ms = closed_at_ms - ${ms} where id = ${id}`;
    await age(7 * DAY_MS - 60_000);
    await stage.easel.sweep();
    expect((await read(stage, grace, id)).ticket.status).toBe('resolved');
    await age(7 * DAY_MS);
    await stage.easel.sweep();
    expect((await read(stage, grace, id)).ticket.status).toBe('closed');
    expect(await codeOf(set(id, grace, 'resolved'))).toEqual([409, 'TICKET_STATUS_REFUSED']);
    expect((await message(id, grace)).body.ticket).toMatchObject({ id, status: 'open', follows: null });
    await set(id, staff, 'closed');
    await age(31 * DAY_MS);
    expect(await codeOf(set(id, grace, 'open'))).toEqual([409, 'TICKET_STATUS_REFUSED']);
    const later = await message(id, grace);
    expect(later.body.ticket).toMatchObject({ status: 'open', follows: id, subject: 'The map' });
    expect(later.body.ticket.id).not.toBe(id);
    expect((await read(stage, grace, id)).ticket.status).toBe('closed');
  });

  it('a draft is seen by those who answer, and sent when one of them approves it, once', async () => {
    const grace = await someone();
    const boss = await staffOf(stage, 'boss');
    const id = await open(stage, grace);
    const draft = (await reply(id, { draft: true, body: 'Sory.' })).body;
    expect([draft.ticket.status, draft.message.draft]).toEqual(['open', true]);
    expect([(await read(stage, grace, id)).thread.length, (await read(stage, boss, id)).thread.length]).toEqual([1, 2]);
    expect(await bellOf(stage, grace)).toEqual([]);
    const approve = (by: Person, body: unknown = {}) => call(stage, by, at(id, `/drafts/${draft.message.id}/approve`), body);
    expect(await codeOf(approve(grace))).toEqual([403, 'STAFF_REQUIRED']);
    await message(id, grace);
    const both = await Promise.all([approve(boss, { body: 'Sorry.' }), approve(boss, { body: 'Sorry.' })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    const { thread, ticket } = await read(stage, grace, id);
    expect([ticket.status, thread.at(-1)]).toMatchObject([
      'pending',
      { body: 'Sorry.', author: { kind: 'staff', name: 'boss' }, draft: false },
    ]);
    expect(await bellOf(stage, grace)).toHaveLength(1);
    const other = (await reply(id, { draft: true })).body.message.id;
    expect((await call(stage, boss, at(id, `/drafts/${other}`), undefined, 'DELETE')).body).toEqual({ success: true });
    expect(await codeOf(call(stage, boss, at(id, `/drafts/${other}`), undefined, 'DELETE'))).toEqual([404, 'TICKET_MESSAGE_NOT_FOUND']);
    expect(await codeOf(call(stage, boss, at(id, `/drafts/${thread[0].id}`), undefined, 'DELETE'))).toEqual([
      404,
      'TICKET_MESSAGE_NOT_FOUND',
    ]);
  });

  it('request ids that it quotes lead the staff to the log', async () => {
    const grace = await someone();
    const id = await open(stage, grace, { body: `It said req_${'a'.repeat(16)}00000001.` });
    await message(id, grace, { body: `And req_${'b'.repeat(16)}00000002, req_${'a'.repeat(16)}00000001.` });
    const { ticket } = await read(stage, staff, id);
    expect(ticket.request_ids).toEqual([
      { request_id: `req_${'a'.repeat(16)}00000001`, log_url: `https://logs.example/?q=req_${'a'.repeat(16)}00000001` },
      { request_id: `req_${'b'.repeat(16)}00000002`, log_url: `https://logs.example/?q=req_${'b'.repeat(16)}00000002` },
    ]);
  });
});

describe('who', () => {
  it('asked, runs the workspace or is staff reads it; for everybody else there is no such ticket', async () => {
    const { member, owner, admin, stranger, id: workspaceId } = workspace;
    const id = await open(stage, member, { workspaceId });
    for (const by of [member, owner, admin, staff]) expect((await call(stage, by, at(id))).status).toBe(200);
    const other = await open(stage, owner, { workspaceId });
    expect(await codeOf(call(stage, member, at(other)))).toEqual([404, 'TICKET_NOT_FOUND']);
    for (const [rest, body, method] of [
      ['', undefined, 'GET'],
      ['/messages', undefined, 'GET'],
      ['/message', { body: 'x' }, 'POST'],
      ['/reply', { body: 'x' }, 'POST'],
      ['/status', { status: 'open' }, 'POST'],
      ['/assign', { user_id: null }, 'POST'],
      ['/priority', { priority: 'low' }, 'POST'],
    ] as const) {
      expect(await codeOf(call(stage, stranger, at(id, rest), body, method))).toEqual([404, 'TICKET_NOT_FOUND']);
      expect((await call(stage, undefined, at(id, rest), body, method)).status).toBe(401);
    }
    expect(await codeOf(call(stage, stranger, '/v1/support/tickets', { subject: 'x', body: 'x', workspaceId }))).toEqual([
      404,
      'WORKSPACE_NOT_FOUND',
    ]);
  });

  it('only reads it does not answer it, and staff that did not ask does not ask', async () => {
    const { admin, member, id: workspaceId } = workspace;
    const id = await open(stage, member, { workspaceId });
    for (const by of [admin, member]) {
      expect(await codeOf(reply(id, {}, by))).toEqual([403, 'STAFF_REQUIRED']);
      expect(await codeOf(call(stage, by, at(id, '/assign'), { user_id: staff.userId }))).toEqual([403, 'STAFF_REQUIRED']);
      expect(await codeOf(call(stage, by, at(id, '/priority'), { priority: 'low' }))).toEqual([403, 'STAFF_REQUIRED']);
    }
    expect(await codeOf(message(id, staff))).toEqual([403, 'FORBIDDEN']);
    expect((await message(id, admin)).body.message.author).toEqual({ kind: 'customer', name: 'adam' });
  });

  it('loses the workspace or the office loses its tickets', async () => {
    const { owner, admin, member, id: workspaceId } = await stageOf(stage.easel, 'Leaving');
    const id = await open(stage, member, { workspaceId });
    expect((await call(stage, admin, at(id))).status).toBe(200);
    const removed = await stage.easel.fetch(`/v1/workspaces/${workspaceId}/members/${admin.userId}`, {
      method: 'DELETE',
      token: owner.token,
    });
    expect(removed.status).toBe(200);
    expect(await codeOf(call(stage, admin, at(id)))).toEqual([404, 'TICKET_NOT_FOUND']);
    expect((await call(stage, admin, `/v1/support/tickets?scope=workspace&workspaceId=${workspaceId}`)).status).toBe(404);
    expect((await call(stage, member, at(id))).status).toBe(200);
  });

  it('gets a ticket answers it, hears of it, and is not shown to who asked', async () => {
    const grace = await someone();
    const boss = await staffOf(stage, 'bea');
    const id = await open(stage, grace);
    const assign = (user_id: string | null) => call(stage, staff, at(id, '/assign'), { user_id });
    expect(await codeOf(assign(grace.userId))).toEqual([404, 'ASSIGNEE_NOT_FOUND']);
    expect((await assign(boss.userId)).body.ticket.assignee).toEqual({ user_id: boss.userId, name: 'bea' });
    expect((await bellOf(stage, boss)).map(({ kind }) => kind)).toContain('ticket.assigned');
    expect((await read(stage, grace, id)).ticket).not.toHaveProperty('assignee');
    await reply(id);
    await message(id, grace);
    await message(id, grace);
    expect((await bellOf(stage, boss)).filter(({ kind }) => kind === 'ticket.message')).toHaveLength(1);
    expect((await assign(null)).body.ticket.assignee).toBeNull();
    expect((await call(stage, staff, at(id, '/priority'), { priority: 'urgent' })).body.ticket.priority).toBe('urgent');
  });

  it('runs the workspace finds in its audit what they may know, and the installation has the rest', async () => {
    const { owner, member, id: workspaceId } = await stageOf(stage.easel, 'Audited');
    const id = await open(stage, member, { workspaceId });
    await call(stage, staff, at(id, '/assign'), { user_id: staff.userId });
    await reply(id, { draft: true });
    await reply(id);
    await set(id, owner, 'resolved');
    const actions = (await auditOf(stage.easel, workspaceId)).map(([action]) => action).filter((action) => action.startsWith('ticket.'));
    expect(actions.sort()).toEqual(['ticket.create', 'ticket.status']);
    const inside = await stage.easel
      .sql`select action from audit_entry where workspace_id is null and target_id = ${id} order by at_ms, ctid`;
    expect(inside.map(({ action }) => action).sort()).toEqual(['ticket.assign', 'ticket.draft', 'ticket.reply']);
  });
});

describe('the list', () => {
  it('has by scope what one may read, and by status, words and assignee', async () => {
    const { owner, admin, member, stranger, id: workspaceId } = await stageOf(stage.easel, 'Listed');
    const mine = await open(stage, member, { workspaceId, subject: 'Hundred 100% sure_thing' });
    stage.easel.clock.set(1000);
    const other = await open(stage, owner, { workspaceId });
    const list = async (by: Person, query: string) => {
      const { status, body } = await call(stage, by, `/v1/support/tickets?${query}`);
      return status === 200 ? body.tickets.map((one: { id: string }) => one.id) : [status, body.code];
    };
    expect(await list(member, 'scope=mine')).toEqual([mine]);
    expect(await list(admin, `scope=workspace&workspaceId=${workspaceId}`)).toEqual([other, mine]);
    expect(await list(member, `scope=workspace&workspaceId=${workspaceId}`)).toEqual([403, 'FORBIDDEN']);
    expect(await list(stranger, `scope=workspace&workspaceId=${workspaceId}`)).toEqual([404, 'WORKSPACE_NOT_FOUND']);
    expect(await list(member, 'scope=workspace')).toEqual([400, 'INVALID_REQUEST']);
    expect(await list(admin, 'scope=all')).toEqual([403, 'STAFF_REQUIRED']);
    expect(await list(member, 'scope=mine&assignee=me')).toEqual([400, 'INVALID_REQUEST']);
    const all = `scope=all&workspaceId=${workspaceId}`;
    expect(await list(staff, all)).toEqual([other, mine]);
    expect(await list(staff, `${all}&q=${encodeURIComponent('100% SURE_')}`)).toEqual([mine]);
    expect(await list(staff, `${all}&q=${encodeURIComponent('_00%')}`)).toEqual([]);
    expect(await list(staff, `${all}&q=${encodeURIComponent(member.email)}`)).toEqual([mine]);
    await call(stage, staff, at(other, '/assign'), { user_id: staff.userId });
    await set(mine, staff, 'resolved');
    expect(await list(staff, `${all}&status=resolved`)).toEqual([mine]);
    expect([await list(staff, `${all}&assignee=me`), await list(staff, `${all}&assignee=${staff.userId}`)]).toEqual([[other], [other]]);
    expect([await list(staff, `${all}&assignee=none`), await list(staff, `${all}&assignee=${member.userId}`)]).toEqual([[mine], []]);
    const first = await call(stage, staff, `/v1/support/tickets?${all}&limit=1&count=true`);
    expect([first.body.total, first.body.has_more]).toEqual([2, true]);
    expect(await list(staff, `${all}&limit=1&cursor=${first.body.next_cursor}`)).toHaveLength(1);
  });
});

describe('files', () => {
  it('go with one message of who uploaded them, and are read by who reads the ticket', async () => {
    const [grace, eve] = [await someone(), await someone('eve')];
    const { body } = await upload(grace, 'mäp "1".html', '<script>alert(1)</script>', 'text/html');
    expect(body).toMatchObject({ success: true, attachment: { filename: 'mäp "1".html', media_type: 'text/html', size_bytes: 25 } });
    const fileId = body.attachment.id;
    const missing = [404, 'TICKET_ATTACHMENT_NOT_FOUND'];
    const stolen = call(stage, eve, '/v1/support/tickets', { subject: 'x', body: 'x', attachment_ids: [fileId] });
    expect(await codeOf(stolen)).toEqual(missing);
    const id = await open(stage, grace, { attachment_ids: [fileId] });
    expect(await codeOf(message(id, grace, { attachment_ids: [fileId] }))).toEqual(missing);
    expect((await read(stage, staff, id)).thread).toHaveLength(1);
    const get = (by: Person, ticketId = id) => stage.easel.fetch(at(ticketId, `/attachments/${fileId}`), { token: by.token });
    const got = await get(staff);
    expect([got.status, await got.text()]).toEqual([200, '<script>alert(1)</script>']);
    // A browser never shows what somebody has sent.
    expect(got.headers.get('content-type')).toBe('application/octet-stream');
    expect(got.headers.get('content-disposition')).toBe(`attachment; filename="m_p _1_.html"; filename*=UTF-8''m%C3%A4p%20%221%22.html`);
    expect(got.headers.get('content-security-policy')).toContain('sandbox');
    expect((await get(eve)).status).toBe(404);
    expect((await get(eve, await open(stage, eve))).status).toBe(404);
    const empty = await upload(grace, 'empty.txt', '');
    await message(id, grace, { attachment_ids: [empty.body.attachment.id] });
    const nothing = await stage.easel.fetch(at(id, `/attachments/${empty.body.attachment.id}`), { token: grace.token });
    expect([nothing.status, await nothing.text()]).toEqual([200, '']);
  });

  it('of a draft are not read before it is sent', async () => {
    const grace = await someone();
    const id = await open(stage, grace);
    const file = (await upload(staff)).body.attachment.id;
    const draft = (await reply(id, { draft: true, attachment_ids: [file] })).body.message;
    const get = async () => (await stage.easel.fetch(at(id, `/attachments/${file}`), { token: grace.token })).status;
    expect(await get()).toBe(404);
    await call(stage, staff, at(id, `/drafts/${draft.id}/approve`), {});
    expect(await get()).toBe(200);
  });

  it('are at most so many without a message, also where they end together, and gone after a day', async () => {
    const grace = await someone();
    const statuses = await Promise.all(Array.from({ length: 24 }, () => upload(grace)));
    expect(statuses.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(statuses.find(({ status }) => status !== 201)?.body.code).toBe('TICKET_LIMIT_EXCEEDED');
    const kept = statuses.find(({ status }) => status === 201)?.body.attachment.id;
    const id = await open(stage, grace, { attachment_ids: [kept] });
    await stage.easel.sql`update ticket_attachment set created_at_ms = created_at_ms - ${DAY_MS} where uploader_id = ${grace.userId}`;
    await stage.easel.sweep();
    const [left] = await stage.easel.sql`select count(*)::int as files from ticket_attachment where uploader_id = ${grace.userId}`;
    expect(left?.files).toBe(1);
    // The sweep of bytes that nothing names leaves those of tickets.
    await stage.easel.sql`update stored_object set stored_at_ms = 0`;
    await stage.easel.sweep();
    expect(await (await stage.easel.fetch(at(id, `/attachments/${kept}`), { token: grace.token })).text()).toBe('a map');
  });
});

describe('how much', () => {
  it('a person opens 20 tickets a day, with all linked accounts together', async () => {
    const grace = await someone();
    const alias = await someone('gracie');
    await stage.easel
      .sql`update account set person_id = (select person_id from account where id = ${grace.userId}) where id = ${alias.userId}`;
    const opened = await Promise.all(
      Array.from({ length: 24 }, (_, n) => call(stage, n % 2 === 0 ? grace : alias, '/v1/support/tickets', { subject: 'x', body: 'x' })),
    );
    expect(opened.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(opened.find(({ status }) => status !== 201)?.body.code).toBe('RATE_LIMITED');
  });

  it('a storm of tickets rings the bell 20 times an hour', async () => {
    await stage.easel.sql`delete from notice where user_id = ${staff.userId}`;
    await stage.easel.sql`delete from rate_window where limit_name = 'ticketNotices'`;
    const people = [await someone(), await someone(), await someone()];
    for (const by of people) await Promise.all(Array.from({ length: 12 }, () => open(stage, by)));
    const [row] = await stage.easel
      .sql`select count(*)::int as notices from notice where user_id = ${staff.userId} and kind = 'ticket.opened'`;
    expect(row?.notices).toBe(20);
  });

  it('a full ticket takes no reply, and a message opens one that follows it', async () => {
    const grace = await someone();
    const id = await open(stage, grace);
    await stage.easel.sql`update ticket set last_number = 500 where id = ${id}`;
    expect(await codeOf(reply(id))).toEqual([409, 'TICKET_LIMIT_EXCEEDED']);
    expect((await message(id, grace)).body.ticket).toMatchObject({ follows: id });
  });

  it('a body has 20 000 characters, and a message ten files', async () => {
    const grace = await someone();
    const create = (more: object) => call(stage, grace, '/v1/support/tickets', { subject: 'x', body: 'x', ...more });
    expect((await create({ body: '😀'.repeat(20_000) })).status).toBe(201);
    for (const wrong of [
      { body: '😀'.repeat(20_001) },
      { body: ' ' },
      { subject: '' },
      { subject: 'x'.repeat(201) },
      { attachment_ids: Array.from({ length: 11 }, (_, n) => `tka_${'a'.repeat(22)}${10 + n}`) },
      { body: 'nul \u0000' },
    ])
      expect(await codeOf(create(wrong))).toEqual([400, 'INVALID_REQUEST']);
  });

  it('a doubled call with its key opens one ticket', async () => {
    const grace = await someone();
    const init = {
      method: 'POST',
      token: grace.token,
      body: JSON.stringify({ subject: 'Once', body: 'x' }),
      headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
    };
    const first = await json(await stage.easel.fetch('/v1/support/tickets', init));
    const second = await json(await stage.easel.fetch('/v1/support/tickets', init));
    expect(second).toEqual(first);
    expect((await call(stage, grace, '/v1/support/tickets?count=true')).body.total).toBe(1);
  });

  it('many messages at once are all there, in one order', async () => {
    const grace = await someone();
    const id = await open(stage, grace);
    const written = await Promise.all(Array.from({ length: 20 }, (_, n) => message(id, grace, { body: `message ${n}` })));
    expect(written.map(({ status }) => status)).toEqual(Array(20).fill(201));
    const rows = await stage.easel.sql`select number from ticket_message where ticket_id = ${id} order by number`;
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 21 }, (_, n) => n + 1));
  });
});
