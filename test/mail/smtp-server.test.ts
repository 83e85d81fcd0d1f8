/** Mail through a real SMTP server: TLS, sign-in, and what a mail program makes of it. */
import type { AddressInfo } from 'node:net';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DueMail, queueMail } from '../../src/mail/outbox.ts';
import { MailSender } from '../../src/mail/sender.ts';
import { composeMail } from '../../src/mail/templates/compose.ts';
import { mailTransport } from '../../src/mail/transports.ts';
import { openTestDatabase, SILENT, type TestDatabase } from '../support/database.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

interface Delivered {
  readonly user: string | undefined;
  readonly secure: boolean;
  readonly to: readonly string[];
  readonly raw: Buffer;
}

let database: TestDatabase;
let server: SMTPServer;
let port: number;
const delivered: Delivered[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  server = new SMTPServer({
    onAuth: ({ username, password }, _session, done) =>
      password === 'right' ? done(null, { user: username }) : done(new Error('Invalid username or password')),
    onRcptTo: ({ address }, _session, done) => (address.startsWith('nobody@') ? done(refused()) : done()),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        delivered.push({ user: session.user as string | undefined, secure: session.secure, to, raw: Buffer.concat(chunks) });
        done();
      });
    },
    logger: false,
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  port = (server.server.address() as AddressInfo).port;
});
afterAll(async () => {
  await new Promise<void>((done) => server.close(done));
  await database.close();
});
beforeEach(async () => {
  delivered.length = 0;
  await database.sql`delete from mail_outbox`;
});

function refused(): Error {
  return Object.assign(new Error('nobody of that name'), { responseCode: 550 });
}

async function send(recipient: string, password = 'right') {
  const clock = new VirtualClock();
  // Its certificate is its own, which a program on the open network must not accept.
  const settings = {
    SMTP_URL: `smtp://easel:${password}@127.0.0.1:${port}?tls.rejectUnauthorized=false`,
    DATA_DIR: '',
    MAIL_FROM: 'Easel <easel@pages.example>',
  };
  // None of its mail is sent on behalf of a page.
  const pageMail = { complete: async (mail: DueMail) => ({ ...mail, unsubscribeUrl: null, files: [] }) };
  const sender = new MailSender({ sql: database.sql, clock, log: SILENT, transport: mailTransport(settings), pageMail });
  const facts = {
    by: 'Zoë',
    workspace: 'Días & Noches',
    role: 'admin',
    code: 'abc-def',
    url: 'https://easel.example/invite/abc-def',
    days: 14,
  } as const;
  await queueMail(database.sql, [composeMail('invite', facts, { recipient, locale: 'es' })], clock.nowMs());
  sender.wake();
  await sender.idle();
  await sender.stop();
  const [row] = await database.sql<{ sent: boolean; waits: boolean; failure: string | null }[]>`
    select sent_at_ms is not null as sent, next_attempt_at_ms is not null as waits, failure from mail_outbox`;
  return row;
}

test('an invitation arrives over TLS, signed in, with both parts in its language', async () => {
  expect(await send('ana@example.com')).toEqual({ sent: true, waits: false, failure: null });
  const [mail] = delivered;
  expect(mail).toMatchObject({ user: 'easel', secure: true, to: ['ana@example.com'] });
  const parsed = await simpleParser(mail?.raw ?? '');
  expect(parsed.subject).toBe('Zoë te invita a Días & Noches');
  expect(parsed.from?.text).toBe('"Easel" <easel@pages.example>');
  expect(parsed.text).toContain('https://easel.example/invite/abc-def');
  expect(parsed.html).toContain('<html lang="es"');
  expect(parsed.html).toContain('Días &#38; Noches');
  expect(mail?.raw.toString('latin1')).toMatch(/^Content-Type: multipart\/alternative;/m);
});

test('a wrong password of the account is tried again; a refused recipient is not', async () => {
  expect(await send('ana@example.com', 'wrong')).toEqual({ sent: false, waits: true, failure: expect.stringMatching(/Invalid|535/) });
  await database.sql`delete from mail_outbox`;
  expect(await send('nobody@example.com')).toEqual({ sent: false, waits: false, failure: expect.stringContaining('nobody of that name') });
  expect(delivered).toEqual([]);
});
