/** Mail that comes in and replies that leave: one thread for both, and nothing for machines, strangers and doubles. */
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json } from '../../../support/requests.ts';
import { signedBy } from '../../../support/signed.ts';
import { headersOf, type MailStage } from '../../automation/email/mail-stage.ts';
import { type Person, person } from '../../workspaces/workspace-stage.ts';
import { at, bellOf, bring, call, codeOf, mailOf, mailsTo, read, SUPPORT, staffOf, supportStage } from './support-stage.ts';

let stage: MailStage;
let staff: Person;
beforeAll(async () => {
  stage = await supportStage();
  staff = await staffOf(stage, 'ada');
});
afterAll(() => stage.close());

let people = 0;
const address = () => {
  people += 1;
  return `grace${people}@mail.example`;
};
const reply = (id: string, more: Record<string, unknown> = {}) => call(stage, staff, at(id, '/reply'), { body: 'Which browser?', ...more });
const inbound = async () =>
  (await stage.easel.sql`select outcome, reason, sender from ticket_inbound order by taken_at_ms, ctid`).map((row) => ({ ...row }));

/** A ticket by mail that was answered: the reply as it left. */
async function answered(from: string) {
  const { body } = await bring(stage, mailOf({ from: `Grace <${from}>`, id: `<first-${from}>` }));
  const id: string = body.ticket.id;
  await reply(id);
  const raw = (await mailsTo(stage, from, 1))[0] ?? '';
  const headers = headersOf(raw);
  return { id, raw, headers, messageId: headers.get('message-id')?.[0] ?? '', replyTo: headers.get('reply-to')?.[0] ?? '' };
}

describe('from a mail to the end', () => {
  it('two people write by mail and in the app, in one thread on both sides', async () => {
    const grace = address();
    const opened = await bring(
      stage,
      mailOf({ from: `"Grace H" <${grace}>`, subject: 'Re: The map', id: `<one-${grace}>`, text: 'It stays\nempty.' }),
    );
    expect([opened.status, opened.body.outcome, opened.body.ticket]).toMatchObject([
      200,
      'created',
      {
        subject: 'The map',
        channel: 'email',
        status: 'open',
        requester_user_id: null,
        requester_email: grace,
        requester_name: 'Grace H',
        may_answer: false,
      },
    ]);
    const { id } = opened.body.ticket;
    expect((await reply(id)).body.ticket.status).toBe('pending');
    const raw = (await mailsTo(stage, grace, 1))[0] ?? '';
    const headers = headersOf(raw);
    expect(headers.get('subject')).toEqual(['Re: The map']);
    expect(headers.get('in-reply-to')).toEqual([`<one-${grace}>`]);
    expect(headers.get('references')).toEqual([`<one-${grace}>`]);
    expect(headers.get('reply-to')?.[0]).toMatch(/^help\+[a-z2-7]{24}@pages\.example$/);
    expect(headers.has('auto-submitted')).toBe(false);
    const { text } = await simpleParser(raw);
    expect(text).toMatch(/^Which browser\?\n\nOn 2026-01-01 00:0\d UTC, Grace H wrote:\n> It stays\n> empty\.$/);
    const [messageId = '', replyTo = ''] = [headers.get('message-id')?.[0], headers.get('reply-to')?.[0]];
    const second = await bring(
      stage,
      mailOf({
        from: grace,
        to: replyTo,
        subject: 'Re: The map',
        id: `<two-${grace}>`,
        headers: [`In-Reply-To: ${messageId}`],
        text: `Firefox.\n\nOn Monday, Easel wrote:\n> Which browser?`,
      }),
    );
    expect([second.body.outcome, second.body.ticket.id, second.body.ticket.status]).toEqual(['continued', id, 'open']);
    const { thread } = await read(stage, staff, id);
    expect(thread.at(-1)).toMatchObject({ body: 'Firefox.', quoted: 'On Monday, Easel wrote:\n> Which browser?', channel: 'email' });
    await reply(id, { body: 'Thank you.' });
    const third = headersOf((await mailsTo(stage, grace, 2))[1] ?? '');
    expect(third.get('in-reply-to')).toEqual([`<two-${grace}>`]);
    expect(third.get('references')?.[0]?.split(' ')).toEqual([`<one-${grace}>`, messageId, `<two-${grace}>`]);
    await call(stage, staff, at(id, '/status'), { status: 'resolved' });
    expect((await read(stage, staff, id)).ticket.status).toBe('resolved');
  });

  it('of somebody whose proved address we know is theirs in the app too', async () => {
    const grace = await person(stage.easel, 'grace');
    const { body } = await bring(stage, mailOf({ from: grace.email.toUpperCase() }));
    expect(body.ticket.requester_user_id).toBe(grace.userId);
    expect((await read(stage, grace, body.ticket.id)).thread).toHaveLength(1);
    await reply(body.ticket.id);
    expect((await bellOf(stage, grace))[0]).toMatchObject({ kind: 'ticket.reply' });
    // The reply is a mail, so no other tells of it.
    expect(await mailsTo(stage, grace.email, 1)).toHaveLength(1);
  });

  it('is continued by the address alone, by the answered mail alone, and from any address of who asked', async () => {
    const grace = await person(stage.easel, 'grace');
    const second = await person(stage.easel, 'gracie');
    await stage.easel
      .sql`update account set person_id = (select person_id from account where id = ${grace.userId}) where id = ${second.userId}`;
    const { id, messageId, replyTo } = await answered(grace.email);
    const outcomes = [
      await bring(stage, mailOf({ from: grace.email, to: replyTo })),
      await bring(stage, mailOf({ from: grace.email, headers: [`References: <x@y.example> ${messageId}`] })),
      await bring(stage, mailOf({ from: second.email, headers: [`Delivered-To: ${replyTo.toUpperCase()}`] })),
    ];
    expect(outcomes.map(({ body }) => [body.outcome, body.ticket.id])).toEqual(Array(3).fill(['continued', id]));
  });

  it('keeps its files, and says which were too large or too many', async () => {
    const parts = Array.from({ length: 11 }, (_, n) => [
      '--b',
      'Content-Type: text/plain',
      `Content-Disposition: attachment; filename="../${n}.txt"`,
      '',
      `file ${n}`,
    ]);
    const lines = ['--b', 'Content-Type: text/plain', '', 'See the files.', ...parts.flat(), '--b--'];
    const { body } = await bring(
      stage,
      mailOf({ from: address(), headers: ['Content-Type: multipart/mixed; boundary=b'], text: lines.join('\n') }),
    );
    const { thread } = await read(stage, staff, body.ticket.id);
    expect(thread.map(({ author, body: text }: { author: { kind: string }; body: string }) => [author.kind, text])).toEqual([
      ['customer', 'See the files.'],
      ['system', expect.stringMatching(/left out: \.\.\/9\.txt, \.\.\/10\.txt$/)],
    ]);
    expect(thread[0].attachments).toHaveLength(9);
    const [{ id, filename }] = thread[0].attachments;
    const got = await stage.easel.fetch(at(body.ticket.id, `/attachments/${id}`), { token: staff.token });
    expect([filename, (await got.text()).trim()]).toEqual(['../0.txt', 'file 0']);
  });

  it('a reply with a file has its address, which opens that file alone', async () => {
    const grace = address();
    const { id } = await answered(grace);
    const file = await json(
      await stage.easel.fetch('/v1/support/attachments?filename=fix.txt', { method: 'POST', token: staff.token, body: 'a fix' }),
    );
    await reply(id, { attachment_ids: [file.attachment.id] });
    const { text = '' } = await simpleParser((await mailsTo(stage, grace, 2))[1] ?? '');
    const [, url = ''] = /fix\.txt: (\S+)/.exec(text) ?? [];
    const path = new URL(url).pathname;
    expect(await (await stage.easel.fetch(path)).text()).toBe('a fix');
    expect((await stage.easel.fetch(path.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A')))).status).toBe(404);
    expect((await stage.easel.fetch(path.replace(/tka_.{24}/, `tka_${'a'.repeat(24)}`))).status).toBe(404);
  });

  it('longer than a message may be is kept whole as a file, and HTML becomes text', async () => {
    const long = await bring(stage, mailOf({ from: address(), text: 'word '.repeat(10_000) }));
    const [{ body, attachments }] = (await read(stage, staff, long.body.ticket.id)).thread;
    expect([[...body].length, attachments]).toMatchObject([20_000, [{ filename: 'message.txt', size_bytes: expect.any(Number) }]]);
    const html = await bring(
      stage,
      mailOf({ from: address(), headers: ['Content-Type: text/html'], text: '<p>Hello <b>you</b><script>x</script></p>' }),
    );
    expect((await read(stage, staff, html.body.ticket.id)).thread[0].body).toBe('Hello you');
  });
});

describe('what makes nothing', () => {
  it('machines, lists and our own mail are recorded and answered by nothing', async () => {
    const grace = address();
    const { id, raw } = await answered(grace);
    const left = stage.smtp.taken.length;
    const cases: [string, string][] = [
      ['automatic', mailOf({ from: grace, headers: ['Auto-Submitted: auto-replied'] })],
      ['bulk', mailOf({ from: grace, headers: ['Precedence: bulk'] })],
      ['list', mailOf({ from: grace, headers: ['List-Id: <l.example>'] })],
      ['loop', mailOf({ from: grace, headers: ['X-Loop: help@pages.example'] })],
      ['bounce', mailOf({ from: grace, headers: ['Return-Path: <>'] })],
      ['loop', raw.replace(/^To: .*$/m, `To: ${SUPPORT}`)],
      ['loop', mailOf({ from: SUPPORT })],
      ['no_sender', mailOf({ from: `${grace}, eve@mail.example` })],
      ['no_sender', mailOf({ from: 'nobody' })],
    ];
    for (const [reason, mail] of cases) expect((await bring(stage, mail)).body).toMatchObject({ outcome: 'ignored', reason, ticket: null });
    const ignored = (await inbound()).filter(({ outcome }) => outcome === 'ignored').map(({ reason }) => reason);
    expect(ignored.sort()).toEqual(cases.map(([reason]) => reason).sort());
    expect([(await read(stage, staff, id)).thread.length, stage.smtp.taken.length]).toEqual([2, left]);
  });

  it('two systems that answer each other end at once', async () => {
    const robot = address();
    const { raw, replyTo, messageId } = await answered(robot);
    expect(raw).not.toBe('');
    const auto = () =>
      mailOf({ from: robot, to: replyTo, headers: [`In-Reply-To: ${messageId}`, 'Auto-Submitted: auto-replied'], text: 'I am away.' });
    for (let n = 0; n < 5; n += 1) expect((await bring(stage, auto())).body.outcome).toBe('ignored');
    expect(await mailsTo(stage, robot, 1)).toHaveLength(1);
  });

  it('a doubled mail is taken once, however many bring it at once', async () => {
    const grace = address();
    const mail = mailOf({ from: grace, id: '<same@mail.example>' });
    const brought = await Promise.all(Array.from({ length: 6 }, () => bring(stage, mail)));
    expect(brought.map(({ body }) => body.outcome).sort()).toEqual(['created', ...Array(5).fill('repeated')]);
    const ids = new Set(brought.map(({ body }) => body.ticket.id));
    expect(ids.size).toBe(1);
    expect((await read(stage, staff, [...ids][0])).thread).toHaveLength(1);
    expect((await bring(stage, mail)).body.outcome).toBe('repeated');
    // The same Message-ID of somebody else is another mail.
    expect((await bring(stage, mailOf({ from: address(), id: '<same@mail.example>' }))).body.outcome).toBe('created');
  });

  it('of a storm of one sender 30 an hour are taken and 20 tickets a day, and others are not kept waiting by it', async () => {
    const spammer = address();
    const outcomes: string[] = [];
    for (let n = 0; n < 34; n += 1) {
      const { body } = await bring(stage, mailOf({ from: spammer }));
      outcomes.push(body.reason ?? body.outcome);
    }
    expect(outcomes).toEqual([...Array(20).fill('created'), ...Array(10).fill('too_many_tickets'), ...Array(4).fill('too_many_mails')]);
    expect((await bring(stage, mailOf({ from: address() }))).body.outcome).toBe('created');
  });
});

describe('strangers', () => {
  it('with a forwarded mail, its ids or its address get a ticket of their own and learn nothing', async () => {
    const grace = address();
    const { id, messageId, replyTo } = await answered(grace);
    const eve = address();
    const brought = await bring(stage, mailOf({ from: eve, to: replyTo, headers: [`In-Reply-To: ${messageId}`, `Cc: ${grace}`] }));
    expect([brought.body.outcome, brought.body.ticket.id === id, brought.body.ticket.follows]).toEqual(['created', false, null]);
    expect((await read(stage, staff, id)).thread).toHaveLength(2);
    expect(JSON.stringify(brought.body)).not.toContain(grace);
  });

  it('with a guessed address or a made-up id open a new ticket', async () => {
    const grace = address();
    await answered(grace);
    for (const to of [`help+${'a'.repeat(24)}@pages.example`, `help+@pages.example`, `help+${'a'.repeat(5000)}@pages.example`]) {
      expect(
        (await bring(stage, mailOf({ from: grace, to, headers: ['References: <eml_aaaaaaaaaaaaaaaaaaaaaaaa@pages.example>'] }))).body
          .outcome,
      ).toBe('created');
    }
  });

  it('without the right signature bring nothing', async () => {
    const mail = mailOf({ from: address() });
    const nowS = Math.floor(stage.easel.clock.nowMs() / 1000);
    const right = signedBy(stage.easel, mail);
    const count = (await inbound()).length;
    for (const signature of [
      '',
      'v1=00',
      right.replace(/v1=./, (found) => (found === 'v1=0' ? 'v1=1' : 'v1=0')),
      right.replace(/t=\d+/, `t=${nowS + 1}`),
      signedBy(stage.easel, mail, 'another secret of this length, or so it is'),
      signedBy({ clock: { nowMs: () => (nowS - 301) * 1000 } as never }, mail),
      signedBy({ clock: { nowMs: () => (nowS + 301) * 1000 } as never }, mail),
      `${'v1=0,'.repeat(1000)}${right}`,
    ])
      expect(await codeOf(bring(stage, mail, { 'easel-signature': signature }))).toEqual([401, 'SIGNATURE_INVALID']);
    expect(await codeOf(bring(stage, `${mail}x`, { 'easel-signature': right }))).toEqual([401, 'SIGNATURE_INVALID']);
    expect((await inbound()).length).toBe(count);
    const old = right.split(',')[1]?.replace(/^v1=./, 'v1=x');
    expect((await bring(stage, mail, { 'easel-signature': `t=${nowS},${old},${right.split(',')[1]}` })).status).toBe(200);
  });
});

describe('hostile mail', () => {
  it('that is no mail, nests without end or has endless headers is refused, and the service goes on', async () => {
    const nested = Array.from({ length: 300 }, (_, n) => `--b${n}\r\nContent-Type: multipart/mixed; boundary=b${n + 1}\r\n\r\n`).join('');
    const deep = `From: grace@mail.example\r\nContent-Type: multipart/mixed; boundary=b0\r\n\r\n${nested}`;
    const heads = `From: grace@mail.example\r\n${`X-A: ${'a'.repeat(900)}\r\n`.repeat(400)}\r\nx`;
    const parts = `From: grace@mail.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\nContent-Disposition: attachment\r\n\r\nx\r\n'.repeat(5000)}--b--`;
    for (const mail of [deep, heads, parts]) expect(await codeOf(bring(stage, mail))).toEqual([400, 'INVALID_REQUEST']);
    const none = await bring(stage, Buffer.from([0, 255, 254, 10, 13, 0]));
    expect(none.body).toMatchObject({ outcome: 'ignored', reason: 'no_sender' });
  });

  it('of 15 MB is taken while the service answers others, and a larger one is refused', async () => {
    const file = Buffer.alloc(9 * 1024 * 1024, 7)
      .toString('base64')
      .replace(/.{76}/g, '$&\n');
    const text = [
      '--b',
      '',
      'A large file.',
      '--b',
      'Content-Type: image/png; name=large.png',
      'Content-Transfer-Encoding: base64',
      '',
      file,
      '--b--',
    ].join('\n');
    const mail = mailOf({ from: address(), headers: ['Content-Type: multipart/mixed; boundary=b'], text });
    const { body } = await bring(stage, mail);
    expect((await read(stage, staff, body.ticket.id)).thread[0]).toMatchObject({
      body: 'A large file.',
      attachments: [{ filename: 'large.png', media_type: 'image/png', size_bytes: 9 * 1024 * 1024 }],
    });
    const huge = await bring(stage, Buffer.alloc(15 * 1024 * 1024 + 1, 65)).catch(() => null);
    // The server may end the connection before it has read such a body.
    expect(huge === null || huge.status === 413).toBe(true);
  });

  it('puts no header into our reply', async () => {
    const grace = address();
    const { body } = await bring(
      stage,
      mailOf({
        from: `=?utf-8?Q?Grace=0D=0ABcc:_victim@mail.example?= <${grace}>`,
        subject: '=?utf-8?Q?Map=0D=0ABcc:_victim@mail.example?=',
        id: '<x@y> <z@y>',
      }),
    );
    await reply(body.ticket.id);
    const headers = headersOf((await mailsTo(stage, grace, 1))[0] ?? '');
    expect([headers.has('bcc'), headers.get('to')]).toEqual([false, [grace]]);
    expect(headers.get('in-reply-to')).toEqual(['<x@y>']);
  });
});
