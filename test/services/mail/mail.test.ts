/** Mail leaves once it is committed: by SMTP or into files, again where it failed, and not for ever. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { deleteOldMail, type Mail, queueMail } from '../../../src/services/mail/outbox.ts';
import { MailSender } from '../../../src/services/mail/sender.ts';
import { mailTransport } from '../../../src/services/mail/transports.ts';
import { databaseKinds, openTestDatabase, SILENT, type TestDatabase, temporaryDir } from '../../support/database.ts';
import { startSmtp, type TestSmtp } from '../../support/smtp.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const FROM = 'Easel <easel@pages.example>';
const artifactId = newId('artifact');

const mail = (recipient: string, more: Partial<Mail> = {}): Mail => ({
  artifactId,
  kind: 'mention',
  recipient,
  subject: 'Grüße',
  text: 'First line\n.\n\nÜber alles → last line',
  ...more,
});

describe.each(databaseKinds())('%s', (kind) => {
  let database: TestDatabase;
  let smtp: TestSmtp;
  let clock: VirtualClock;
  let sender: MailSender;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
    const { sql } = database;
    const ownerId = newId('user');
    await sql`insert into account (id, created_at_ms) values (${ownerId}, 0)`;
    await sql`
      insert into artifact (id, owner_id, name, slug, visibility, created_at_ms, updated_at_ms)
      values (${artifactId}, ${ownerId}, 'Mail', 'mail', 'private', 0, 0)`;
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.sql`delete from mail_outbox`;
    smtp = await startSmtp();
    clock = new VirtualClock();
    sender = newSender(smtp.url);
  });
  afterEach(async () => {
    await sender.stop();
    await smtp.close();
  });

  const newSender = (SMTP_URL: string | undefined, DATA_DIR = '') =>
    new MailSender({ sql: database.sql, clock, log: SILENT, transport: mailTransport({ SMTP_URL, DATA_DIR, MAIL_FROM: FROM }) });
  const queue = (...mails: Mail[]) => queueMail(database.sql, mails, clock.nowMs());
  const outbox = () => database.sql<{ recipient: string; attempts: number; sent: boolean; waits: boolean; failure: string | null }[]>`
    select recipient, attempts, sent_at_ms is not null as sent, next_attempt_at_ms is not null as waits, failure from mail_outbox order by recipient`;
  const sent = async () => {
    sender.wake();
    await sender.idle();
  };
  const later = async (ms: number) => {
    clock.advance(ms);
    await sender.idle();
  };

  test('by SMTP each mail leaves once, whole, to its one recipient', async () => {
    await queue(mail('ada@example.com'), mail('bob@example.com'));
    await sent();
    await sent();
    expect(smtp.taken.map(({ to }) => to).sort()).toEqual([['ada@example.com'], ['bob@example.com']]);
    const [first] = smtp.taken;
    expect(first?.from).toBe('easel@pages.example');
    expect(first?.text).toMatch(/^Message-ID: <eml_[a-z2-7]{24}@pages\.example>$/m);
    expect(first?.text).toMatch(/^Auto-Submitted: auto-generated$/m);
    expect(first?.text).toMatch(/^Subject: =\?UTF-8\?/m);
    expect(first?.text).toContain('=C3=9Cber alles');
    expect((await outbox()).map(({ sent: left, attempts, failure }) => [left, attempts, failure])).toEqual([
      [true, 1, null],
      [true, 1, null],
    ]);
  });

  test('nothing leaves of a transaction that was taken back', async () => {
    await database.sql
      .begin(async (tx) => {
        await queueMail(tx, [mail('never@example.com')], clock.nowMs());
        throw new Error('taken back');
      })
      .catch(() => undefined);
    await sent();
    expect([smtp.taken, [...(await outbox())]]).toEqual([[], []]);
  });

  test('what was queued before a restart leaves after it', async () => {
    await queue(mail('ada@example.com'));
    await sender.stop();
    sender.wake();
    await sender.idle();
    expect(smtp.taken).toHaveLength(0);
    sender = newSender(smtp.url);
    await sent();
    expect(smtp.taken).toHaveLength(1);
  });

  test('a failure is tried again after 30 s, then ever later, and no other mail waits for it', async () => {
    smtp.refuse('451 try again', 2);
    await queue(mail('ada@example.com'));
    await sent();
    expect([...(await outbox())]).toEqual([
      { recipient: 'ada@example.com', attempts: 1, sent: false, waits: true, failure: expect.stringContaining('451') },
    ]);
    await later(29_999);
    expect((await outbox())[0]?.attempts).toBe(1);
    await later(1);
    expect((await outbox())[0]?.attempts).toBe(2);
    await queue(mail('bob@example.com'));
    await sent();
    expect(smtp.taken.map(({ to }) => to)).toEqual([['bob@example.com']]);
    // Two minutes; it is looked every minute.
    await later(60_000);
    await later(60_000);
    expect(smtp.taken.map(({ to }) => to)).toEqual([['bob@example.com'], ['ada@example.com']]);
    expect((await outbox())[0]).toMatchObject({ attempts: 3, sent: true, failure: null });
  });

  test('a recipient whom the server does not know is given up at once', async () => {
    smtp.refuse('550 nobody of that name', 1);
    await queue(mail('nobody@example.com'));
    await sent();
    expect((await outbox())[0]).toMatchObject({ attempts: 1, sent: false, waits: false, failure: expect.stringContaining('550') });
  });

  test('after eight tries it is given up, and says why', async () => {
    smtp.refuse(undefined, 100);
    await queue(mail('ada@example.com'));
    await sent();
    for (let hours = 0; hours < 24; hours += 1) for (let minute = 0; minute < 60; minute += 1) await later(60_000);
    const [row] = await outbox();
    expect(row).toMatchObject({ attempts: LIMITS.mailAttemptsMax, sent: false, waits: false, failure: expect.any(String) });
  }, 60_000);

  test('two processes at one outbox send each mail once', async () => {
    const other = newSender(smtp.url);
    await queue(...Array.from({ length: 25 }, (_, index) => mail(`n${index}@example.com`)));
    other.wake();
    await Promise.all([sent(), other.idle()]);
    await other.stop();
    expect(new Set(smtp.taken.map(({ to }) => to[0])).size).toBe(25);
    expect(smtp.taken).toHaveLength(25);
  });

  test('without a server mail becomes files that can be read', async () => {
    const folder = temporaryDir();
    const toFiles = newSender(undefined, folder.path);
    await queue(mail('ada@example.com', { text: 'Plain as it is.\n' }));
    toFiles.wake();
    await toFiles.idle();
    await toFiles.stop();
    const names = await readdir(join(folder.path, 'mail'));
    expect(names).toEqual([expect.stringMatching(/^2026-01-01T000000\.000Z-eml_[a-z2-7]{24}\.eml$/)]);
    const text = (await readFile(join(folder.path, 'mail', names[0] ?? ''), 'utf8')).replaceAll('\r\n', '\n');
    expect(text).toMatch(/^To: ada@example\.com$/m);
    expect(text).toMatch(/^From: Easel <easel@pages\.example>$/m);
    expect(text).toContain('\n\nPlain as it is.\n');
    folder.remove();
  });

  test('what a subject or a name holds makes no header of its own', async () => {
    await queue(mail('ada@example.com', { subject: 'Hello\r\nBcc: eve@example.com' }));
    await sent();
    expect(smtp.taken[0]?.to).toEqual(['ada@example.com']);
    expect(smtp.taken[0]?.text).not.toMatch(/^Bcc:/m);
  });

  test('old mail is forgotten, what still waits is not', async () => {
    smtp.refuse('451 later', 1);
    await queue(mail('waits@example.com'));
    await sent();
    await queue(mail('sent@example.com'));
    await sent();
    expect(await deleteOldMail(database.sql, clock.nowMs())).toBe(1);
    expect((await outbox()).map(({ recipient }) => recipient)).toEqual(['waits@example.com']);
  });
});
