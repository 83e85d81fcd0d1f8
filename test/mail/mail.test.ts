/** Mail is sent after its commit, by SMTP or into files, and retried a limited number of times. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { deleteOldMail, queueMail, queueMailWithin } from '../../src/mail/outbox.ts';
import { PageMailFrame } from '../../src/mail/page-mail.ts';
import { MailSender } from '../../src/mail/sender.ts';
import type { Mail } from '../../src/mail/templates/compose.ts';
import { mailTransport } from '../../src/mail/transports.ts';
import type { Config } from '../../src/platform/config.ts';
import { databaseKinds, openTestDatabase, SILENT, type TestDatabase, temporaryDir } from '../support/database.ts';
import { startSmtp, type TestSmtp } from '../support/smtp.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const FROM = 'Easel <easel@pages.example>';
const CONFIG = { baseUrl: 'https://easel.example', contentHost: 'pages.example' } as Config;
const artifactId = newId('artifact');

const mail = (recipient: string, more: Partial<Mail> = {}): Mail => ({
  artifactId,
  kind: 'mention',
  recipient,
  subject: 'Grüße',
  html: null,
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
    await sql`insert into account (id, person_id, created_at_ms) values (${ownerId}, ${newId('person')}, 0)`;
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
    new MailSender({
      sql: database.sql,
      clock,
      log: SILENT,
      transport: mailTransport({ SMTP_URL, DATA_DIR, MAIL_FROM: FROM }),
      pageMail: new PageMailFrame({ sql: database.sql, config: CONFIG, files: { read: async () => [] } }),
    });
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

  test('SMTP delivers each mail once and complete to its recipient', async () => {
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

  test('a transaction that is rolled back sends no mail', async () => {
    await database.sql
      .begin(async (tx) => {
        await queueMail(tx, [mail('never@example.com')], clock.nowMs());
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    await sent();
    expect([smtp.taken, [...(await outbox())]]).toEqual([[], []]);
  });

  test('twenty concurrent calls over two clients, as from two processes, queue exactly as many mails as the limit admits', async () => {
    const other = database.journalSql();
    const limit = { artifactId, kinds: ['mention', 'assigned'] as const, sinceMs: -1, mailsMax: 7 };
    await queue(mail('before@example.com'));
    const counts = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        queueMailWithin(index % 2 === 0 ? database.sql : other, [mail(`n${index}@example.com`)], limit, clock.nowMs()),
      ),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(6);
    expect(await outbox()).toHaveLength(7);
    // A single call with too many mails queues the first ones.
    await database.sql`delete from mail_outbox`;
    expect(
      await queueMailWithin(
        database.sql,
        Array.from({ length: 9 }, () => mail('ada@example.com')),
        limit,
        clock.nowMs(),
      ),
    ).toBe(7);
  });

  test('mail queued before a restart is sent after it', async () => {
    await queue(mail('ada@example.com'));
    await sender.stop();
    sender.wake();
    await sender.idle();
    expect(smtp.taken).toHaveLength(0);
    sender = newSender(smtp.url);
    await sent();
    expect(smtp.taken).toHaveLength(1);
  });

  test('a failed mail is retried after 30 s, then with growing delays, and does not hold up other mail', async () => {
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
    // The delay is two minutes; the sender polls every minute.
    await later(60_000);
    await later(60_000);
    expect(smtp.taken.map(({ to }) => to)).toEqual([['bob@example.com'], ['ada@example.com']]);
    expect((await outbox())[0]).toMatchObject({ attempts: 3, sent: true, failure: null });
  });

  test('mail to a recipient that the server refuses is not retried', async () => {
    smtp.refuse('550 nobody of that name', 1);
    await queue(mail('nobody@example.com'));
    await sent();
    expect((await outbox())[0]).toMatchObject({ attempts: 1, sent: false, waits: false, failure: expect.stringContaining('550') });
  });

  test('after eight attempts the mail is given up, and its row has the reason', async () => {
    smtp.refuse(undefined, 100);
    await queue(mail('ada@example.com'));
    await sent();
    for (let hours = 0; hours < 24; hours += 1) for (let minute = 0; minute < 60; minute += 1) await later(60_000);
    const [row] = await outbox();
    expect(row).toMatchObject({ attempts: LIMITS.mailAttemptsMax, sent: false, waits: false, failure: expect.any(String) });
  }, 60_000);

  test('two processes with one outbox send each mail once', async () => {
    const other = newSender(smtp.url);
    await queue(...Array.from({ length: 25 }, (_, index) => mail(`n${index}@example.com`)));
    other.wake();
    await Promise.all([sent(), other.idle()]);
    await other.stop();
    expect(new Set(smtp.taken.map(({ to }) => to[0])).size).toBe(25);
    expect(smtp.taken).toHaveLength(25);
  });

  test('without an SMTP server mail is written to readable files', async () => {
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

  test('a line break in a subject does not create a header', async () => {
    await queue(mail('ada@example.com', { subject: 'Hello\r\nBcc: eve@example.com' }));
    await sent();
    expect(smtp.taken[0]?.to).toEqual(['ada@example.com']);
    expect(smtp.taken[0]?.text).not.toMatch(/^Bcc:/m);
  });

  test('old mail is deleted, but not mail that is still waiting', async () => {
    smtp.refuse('451 later', 1);
    await queue(mail('waits@example.com'));
    await sent();
    await queue(mail('sent@example.com'));
    await sent();
    expect(await deleteOldMail(database.sql, clock.nowMs())).toBe(1);
    expect((await outbox()).map(({ recipient }) => recipient)).toEqual(['waits@example.com']);
  });
});
