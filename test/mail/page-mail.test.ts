/** Mail on behalf of a page in the outbox: suppression beside sending, and nodes beside each other. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ArtifactId, newId } from '../../protocol/core/ids.ts';
import { queuePageMail } from '../../src/features/automation/email/queue.ts';
import { PageMailFrame } from '../../src/mail/page-mail.ts';
import { MailSender } from '../../src/mail/sender.ts';
import { optOut } from '../../src/mail/suppression.ts';
import type { OutgoingMail } from '../../src/mail/transports.ts';
import type { Config } from '../../src/platform/config.ts';
import { SharedLimiter } from '../../src/storage/shared-limiter.ts';
import { databaseKinds, openTestDatabase, SILENT, type TestDatabase } from '../support/database.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const CONFIG = { baseUrl: 'https://easel.example', contentHost: 'pages.example' } as Config;

describe.each(databaseKinds())('%s', (kind) => {
  let database: TestDatabase;
  let clock: VirtualClock;
  let artifactId: ArtifactId;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    const { sql } = database;
    clock = new VirtualClock();
    artifactId = newId('artifact');
    const ownerId = newId('user');
    await sql`insert into account (id, person_id, name, created_at_ms) values (${ownerId}, ${newId('person')}, 'Olive', 0)`;
    await sql`
      insert into artifact (id, owner_id, name, slug, visibility, created_at_ms, updated_at_ms)
      values (${artifactId}, ${ownerId}, 'Mail', ${artifactId.slice(4)}, 'private', 0, 0)`;
  });

  const senderWith = (send: (mail: OutgoingMail) => Promise<void>, sql = database.sql) =>
    new MailSender({
      sql,
      clock,
      log: SILENT,
      transport: { send },
      pageMail: new PageMailFrame({ sql, config: CONFIG, files: { read: async () => [] } }),
    });
  const queue = (...to: string[]) =>
    database.sql.begin((tx) =>
      queuePageMail(tx, {
        artifactId,
        senderUserId: null,
        to,
        subject: 'News',
        text: 'It is there.',
        nowMs: clock.nowMs(),
        limiters: { shared: new SharedLimiter({ sql: database.sql, clock }) },
      }),
    );
  const rows = () => database.sql<{ recipient: string; state: string; waits: boolean }[]>`
    select recipient, next_attempt_at_ms is not null as waits, case
      when sent_at_ms is not null then 'sent' when suppressed_at_ms is not null then 'suppressed' else 'open' end as state
    from mail_outbox where artifact_id = ${artifactId} order by recipient`;

  test('a mail whose reader opts out while it is in flight is not tried again where that fails', async () => {
    await queue('ada@example.com');
    const sender = senderWith(async ({ recipient }) => {
      await database.sql.begin((tx) => optOut(tx, artifactId, recipient, clock.nowMs()));
      throw new Error('the line was cut');
    });
    sender.wake();
    await sender.idle();
    expect([...(await rows())]).toEqual([{ recipient: 'ada@example.com', state: 'suppressed', waits: false }]);
    await sender.stop();
  });

  test('one that left all the same is recorded as sent', async () => {
    await queue('ada@example.com');
    const sender = senderWith(async ({ recipient }) => {
      await database.sql.begin((tx) => optOut(tx, artifactId, recipient, clock.nowMs()));
    });
    sender.wake();
    await sender.idle();
    expect((await rows())[0]?.state).toBe('sent');
    await sender.stop();
  });

  test('what waits when its reader opts out, or when the address bounces, does not leave', async () => {
    await queue('ada@example.com', 'bob@example.com', 'cy@example.com');
    await database.sql.begin((tx) => optOut(tx, artifactId, 'ada@example.com', clock.nowMs()));
    await database.sql`insert into mail_bounce values ('bob@example.com', '550 no', 0, ${clock.nowMs() + 1000})`;
    const left: string[] = [];
    const sender = senderWith(async ({ recipient }) => void left.push(recipient));
    sender.wake();
    await sender.idle();
    expect(left).toEqual(['cy@example.com']);
    expect((await rows()).map(({ state }) => state)).toEqual(['suppressed', 'suppressed', 'sent']);
    await sender.stop();
    await database.sql`delete from mail_bounce`;
  });

  test('of a page that is removed goes with it', async () => {
    await queue('ada@example.com');
    await database.sql`delete from artifact where id = ${artifactId}`;
    const [count] = await database.sql<
      { n: number }[]
    >`select count(*)::int as n from mail_outbox where recipient = 'ada@example.com' and batch_id is not null and sent_at_ms is null and suppressed_at_ms is null`;
    expect(count?.n).toBe(0);
  });

  test('two nodes with one outbox send each mail once, with its source and the same link', async () => {
    const to = Array.from({ length: 10 }, (_, n) => `r${n}@example.com`);
    await queue(...to);
    const left: OutgoingMail[] = [];
    const take = async (mail: OutgoingMail) => void left.push(mail);
    const nodes = [senderWith(take), senderWith(take, database.journalSql())];
    for (const node of nodes) node.wake();
    for (const node of nodes) await node.idle();
    expect(left.map(({ recipient }) => recipient).sort()).toEqual([...to].sort());
    for (const { text, unsubscribeUrl } of left) {
      expect(text).toContain('Sent by the page "Mail".');
      expect(text).toContain(unsubscribeUrl);
    }
    expect(new Set(left.map(({ unsubscribeUrl }) => unsubscribeUrl)).size).toBe(10);
    for (const node of nodes) await node.stop();
  });
});
