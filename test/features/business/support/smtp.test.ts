/** The receiver of mail: what a mail server on the other side sees, and that a ticket by it ends like any other. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keepablePort } from '../../../support/ports.ts';
import { headersOf, type MailStage } from '../../automation/email/mail-stage.ts';
import type { Person } from '../../workspaces/workspace-stage.ts';
import { at, call, mailsTo, read, SUPPORT, staffOf, supportStage } from './support-stage.ts';

let stage: MailStage;
let staff: Person;
let port: number;
beforeAll(async () => {
  port = await keepablePort();
  stage = await supportStage({ settings: { SUPPORT_SMTP_PORT: String(port) } });
  staff = await staffOf(stage, 'ada');
});
afterAll(() => stage.close());

const send = async (mail: Parameters<ReturnType<typeof createTransport>['sendMail']>[0]) => {
  const transport = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true });
  try {
    return await transport.sendMail(mail);
  } finally {
    transport.close();
  }
};
const refused = (mail: Parameters<typeof send>[0]) =>
  send(mail).then(
    () => 'taken',
    (error: { responseCode?: number; rejected?: unknown }) => error.responseCode,
  );
const tickets = async (email: string) =>
  (await stage.easel.sql<{ id: string }[]>`select id from ticket where requester_email = ${email} order by created_at_ms, id`).map(
    ({ id }) => id,
  );

/** Says lines and answers what the server says to each. */
async function converse(lines: readonly string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  const answers = socket[Symbol.asyncIterator]();
  const said: string[] = [];
  const hear = async () => said.push(String((await answers.next()).value ?? '').trim());
  await once(socket, 'connect');
  await hear();
  for (const line of lines) {
    socket.write(`${line}\r\n`);
    await hear();
  }
  socket.destroy();
  return said;
}

it('from a mail to the end, with what a real client sends', async () => {
  const from = 'grace@mail.example';
  await send({
    from: `Grace <${from}>`,
    to: SUPPORT,
    subject: 'The map',
    text: 'It stays empty.',
    attachments: [{ filename: 'a.txt', content: 'a map' }],
  });
  const [id = ''] = await tickets(from);
  expect(await read(stage, staff, id)).toMatchObject({
    ticket: { channel: 'email', requester_name: 'Grace' },
    thread: [{ body: 'It stays empty.', attachments: [{ filename: 'a.txt', media_type: 'text/plain', size_bytes: 5 }] }],
  });
  await call(stage, staff, at(id, '/reply'), { body: 'Which browser?' });
  const reply = headersOf((await mailsTo(stage, from, 1))[0] ?? '');
  await send({ from, to: reply.get('reply-to')?.[0], subject: 'Re: The map', text: 'Firefox.', inReplyTo: reply.get('message-id')?.[0] });
  expect((await read(stage, staff, id)).thread.map(({ body }: { body: string }) => body)).toEqual([
    'It stays empty.',
    'Which browser?',
    'Firefox.',
  ]);
  // Where only the envelope names the ticket, as with a blind copy.
  await send({
    envelope: { from, to: reply.get('reply-to')?.[0] ?? '' },
    from,
    to: 'list@elsewhere.example',
    subject: 'x',
    text: 'By the envelope.',
  });
  expect((await read(stage, staff, id)).thread.at(-1)).toMatchObject({ body: 'By the envelope.' });
  expect(await tickets(from)).toEqual([id]);
});

it('relays nothing, and takes mail to addresses of tickets that exist as to those that do not', async () => {
  const from = 'eve@mail.example';
  expect(await refused({ from, to: 'victim@elsewhere.example', text: 'x' })).toBe(550);
  expect(await refused({ from, to: 'other@pages.example', text: 'x' })).toBe(550);
  expect(await refused({ from, to: `help+${'a'.repeat(24)}@pages.example`, text: 'x' })).toBe('taken');
  const answers = await converse(['EHLO x', 'AUTH PLAIN AAAA', 'STARTTLS', 'VRFY help']);
  expect(answers[1]).not.toMatch(/AUTH|STARTTLS/);
  expect(answers.slice(2).every((answer) => /^(?:5\d\d|252)/.test(answer))).toBe(true);
});

it('a bounce makes nothing, and its server is told that it was taken', async () => {
  const from = 'gone@mail.example';
  await send({ envelope: { from: '', to: SUPPORT }, from, to: SUPPORT, subject: 'Undelivered', text: 'x' });
  expect(await tickets(from)).toEqual([]);
  const [row] = await stage.easel.sql`select outcome, reason from ticket_inbound where sender = ${from}`;
  expect(row).toEqual({ outcome: 'ignored', reason: 'bounce' });
});

it('a mail that is too large, and one recipient too many, are refused with the codes for it', async () => {
  const from = 'big@mail.example';
  expect(
    await refused({ from, to: SUPPORT, text: 'x', attachments: [{ filename: 'big', content: Buffer.alloc(12 * 1024 * 1024, 7) }] }),
  ).toBe(552);
  const answers = await converse([
    'EHLO x',
    `MAIL FROM:<${from}> SIZE=99999999999`,
    `MAIL FROM:<${from}>`,
    ...Array(11).fill(`RCPT TO:<${SUPPORT}>`),
  ]);
  expect(answers[2]).toMatch(/^552/);
  expect(await tickets(from)).toEqual([]);
});

it('a sender who leaves in the middle has sent nothing', async () => {
  const from = 'left@mail.example';
  await converse(['EHLO x', `MAIL FROM:<${from}>`, `RCPT TO:<${SUPPORT}>`, 'DATA']);
  await send({ from: 'after@mail.example', to: SUPPORT, subject: 'x', text: 'x' });
  expect([await tickets(from), (await tickets('after@mail.example')).length]).toEqual([[], 1]);
});

it('one network has five connections at once, and leaves room when they end', async () => {
  const open = await Promise.all(
    Array.from({ length: 7 }, async () => {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8');
      const [greeting] = await once(socket, 'data');
      return { socket, greeting: String(greeting) };
    }),
  );
  expect(open.map(({ greeting }) => greeting.slice(0, 3)).sort()).toEqual(['220', '220', '220', '220', '220', '421', '421']);
  for (const { socket } of open) socket.destroy();
  const from = 'later@mail.example';
  await expect.poll(() => refused({ from, to: SUPPORT, subject: 'x', text: 'x' }), { timeout: 60_000 }).toBe('taken');
  expect(await tickets(from)).toHaveLength(1);
});
