/** Everything that names a person is exported and removed: no table is forgotten, nothing is left behind, and a crash loses nothing. */
import { createHash } from 'node:crypto';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOLDINGS, NOBODY_ID, OWN_STEPS } from '../../../../src/features/business/person-data/holdings.ts';
import { startTestEasel, type TestEasel, testStorage } from '../../../support/easel.ts';
import { json, post, published, refusal } from '../../../support/requests.ts';
import { ok, Visitor } from '../../../support/visitor.ts';
import { workspaceOf } from '../../../support/workspaces.ts';

const DAY_MS = 24 * 3_600_000;
let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel({ settings: { TRUST_PROXY: 'true' } });
});
afterAll(() => easel.close());

/** Columns that look as if they named a person, and do not, or that are kept for a reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'account.person_id': 'joins linked accounts, goes with them',
  'account_usage.account_id': 'generated from user_id or workspace_id, one of which is listed',
  'artifact.suspended_reason': 'what an administrator wrote about a page',
  'comment_guest.id': 'of a guest, who is found by the address',
  'device_login.address': 'a network address, gone after minutes',
  'session.address': 'goes with the session',
  'service_principal.id': 'a program',
  'job_cursor.source': 'a name of data',
  'passkey.credential_id': 'goes with the passkey',
  'sign_in.subject': 'goes with the sign-in',
  'rate_window.limit_name': 'a name of ours',
  'mail_batch.subject': 'what a page wrote; it goes with the artifact',
  'mail_outbox.subject': 'goes with the mail',
  'template.subject': 'goes with the template',
  'workspace_mail.subject': 'a text of a workspace',
  'storage_reservation.account_id': 'generated from user_id or workspace_id, one of which is listed',
  'asset_upload.holder': 'a process',
  'artifact_version.agent_id': 'a program',
  'publish_upload.agent_id': 'a program',
  'external_token.external_id': 'goes with the external user',
  'import_item.stored_by': 'a run',
  'import_item.seen_by': 'a run',
  'ticket.requester_name': 'goes with the ticket',
  'ticket.subject': 'goes with the ticket',
};
const NAMES_SOMEBODY =
  /(^|_)(user|account|owner|author|creator|sender|requester|actor|heir|person|target_user)_id$|_by$|^by_user$|^principal$|email|address|^recipient$|^sender$|^reply_to$|username|^subject$|_name$/;
const NO_NAMES = /^(table|column|limit|client|host|remote|stored|source)_name$/;

test('every column that may name a person is exported and removed, or excepted with a reason', async () => {
  const columns = await easel.sql<{ place: string; name: string }[]>`
    select c.table_name || '.' || c.column_name as place, c.column_name as name from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
    where c.table_schema = current_schema() and c.data_type in ('text', 'jsonb', 'json', 'ARRAY')`;
  const keys = await easel.sql<{ place: string }[]>`
    select c.conrelid::regclass::text || '.' || a.attname as place from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid = 'account'::regclass`;
  const known = new Set([
    ...HOLDINGS.map(({ table, column }) => `${table}.${column}`),
    ...Object.keys(OWN_STEPS),
    ...Object.keys(EXCEPTIONS),
  ]);
  const named = columns.filter(({ name }) => NAMES_SOMEBODY.test(name) && !NO_NAMES.test(name)).map(({ place }) => place);
  const forgotten = [...new Set([...named, ...keys.map(({ place }) => place)])].filter((place) => !known.has(place)).sort();
  expect(forgotten).toEqual([]);
  // What the list names exists, so that a renamed column cannot be missed.
  const all = new Set(columns.map(({ place }) => place));
  expect([...known].filter((place) => !all.has(place))).toEqual([]);
});

interface Grace {
  readonly userId: string;
  readonly token: string;
  readonly email: string;
  readonly page: string;
  readonly other: { readonly id: string; readonly token: string };
  readonly workspace: string;
}

/** Somebody who has left something nearly everywhere. */
async function makeGrace(name: string): Promise<Grace> {
  const email = `${name}@example.com`;
  const visitor = new Visitor(easel, { address: '198.51.100.9' });
  const userId = await visitor.signUp(email, 'correct horse battery staple');
  await easel.sql`update account set tier = 'team', name = ${`Name of ${name}`}, username = ${`user-${name}`} where id = ${userId}`;
  const { token } = await json(await ok(visitor.post('/v1/me/tokens', { name: 'laptop' }), 201));
  const { id: page } = await published(easel, { token }, { slug: `page-${name}`, visibility: 'private' });
  await ok(easel.fetch(`/v1/data/${page}/json/kept`, { token, ...post({ a: 1 }), method: 'PUT' }), 201);
  const owner = await easel.newUser('team');
  const { id } = await published(easel, owner, { slug: `of-other-${name}`, visibility: 'private' });
  const comment = await json(await easel.fetch(`/v1/data/${id}/comments`, { token: owner.token, ...post({ content: 'First' }) }));
  await ok(easel.fetch(`/v1/artifacts/${id}/collaborators`, { token: owner.token, ...post({ emails: [email], role: 'editor' }) }));
  await ok(easel.fetch(`/v1/data/${id}/comments`, { token, ...post({ content: 'Said by Grace', parentId: comment.data?.id }) }), 201);
  await ok(easel.fetch(`/v1/artifacts/${page}/preview-links`, { token, ...post({}) }), 201).catch(() => undefined);
  await ok(
    easel.fetch('/v1/webhooks', { token, ...post({ url: 'https://hooks.example.com/x', events: ['data.changed'], artifact_id: page }) }),
    201,
  );
  const workspace = await workspaceOf(easel, [
    [{ userId, token } as never, 'owner'],
    [owner as never, 'member'],
  ]);
  await ok(easel.fetch(`/v1/artifacts/${id}`, { token: owner.token }));
  return { userId, token, email, page, other: { id, token: owner.token }, workspace };
}

/** Somebody else who has typed in this address, and has one that contains it. */
async function makeSquatter(email: string): Promise<{ readonly userId: string; readonly token: string }> {
  const other = await easel.newUser();
  await easel.sql`
    insert into sign_in (account_id, provider, issuer, subject, email, email_proved, linked_at_ms, last_used_at_ms)
    values (${other.userId}, 'google', 'https://id.example.com', ${`sub-${email}`}, ${email}, false, 1, 1)
    on conflict (account_id) do update set email = excluded.email, email_proved = false`;
  await easel.sql`
    insert into ticket (id, subject, status, channel, priority, requester_id, requester_email, mail_token, quiet_since_ms, created_at_ms, updated_at_ms)
    values (${`tkt_${email}`}, 'Ticket of the other', 'open', 'ui', 'normal', ${other.userId}, ${email}, ${`t-${email}`}, 1, 1, 1)`;
  await easel.sql`
    insert into idempotency_record (principal, method, path, key, body_sha256, created_at_ms)
    values (${`guest:jo${email}`}, 'POST', '/', 'k', '', ${easel.clock.nowMs()})`;
  return other;
}

const admin = (path: string, init: RequestInit = {}) => easel.fetch(`/v1/admin/${path}`, { token: easel.adminToken, ...init });

/** Where any of these texts stands, in any table. */
async function whereIs(texts: readonly string[]): Promise<string[]> {
  const tables = await easel.sql<{ name: string }[]>`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`;
  const found = [];
  for (const { name } of tables) {
    const rows = await easel.sql.unsafe<{ text: string }[]>(`select lower(t::text) as text from ${name} t`);
    if (rows.some(({ text }) => texts.some((each) => text.includes(each)))) found.push(name);
  }
  return found.sort();
}

test('an export holds the person’s data without secrets, with a receipt whose digests are right', async () => {
  const grace = await makeGrace('exported');
  const squatter = await makeSquatter(grace.email);
  await easel.sql`
    insert into mail_outbox (id, kind, recipient, subject, text_body, html_body, reply_to, created_at_ms)
    values ('mail_code', 'password_reset', ${grace.email}, 'Your code for a new password: 123456', '123456', '123456', null, 1),
      ('mail_share', 'share', ${grace.email}, 'A page was shared', 'joined with 7', null, 'secret-of-the-ticket@example.com', 1)`;
  const wanted = await json(await ok(easel.fetch('/v1/me/export', { token: grace.token, method: 'POST' }), 202));
  expect(wanted).toMatchObject({ user_id: grace.userId, asked_by: grace.userId });
  const list = async () => json(await easel.fetch('/v1/me/exports', { token: grace.token }));
  await expect.poll(async () => (await list()).exports[0].status).toBe('done');
  const [{ receipt, sha256, bytes, expires_at }] = (await list()).exports;
  const file = Buffer.from(await (await ok(easel.fetch(`/v1/me/exports/${wanted.id}/file`, { token: grace.token }))).arrayBuffer());
  expect([createHash('sha256').update(file).digest('hex'), file.length]).toEqual([sha256, bytes]);
  const entries = unzipSync(file);
  for (const each of receipt) {
    const entry = entries[each.file] ?? new Uint8Array();
    expect([each.file, createHash('sha256').update(entry).digest('hex'), entry.length]).toEqual([each.file, each.sha256, each.bytes]);
  }
  expect(Object.keys(entries)).toEqual(
    expect.arrayContaining([
      ...[
        'data/account.by_id.jsonl',
        'data/access_token.by_user_id.jsonl',
        'data/session.by_account_id.jsonl',
        'data/webhook.by_user_id.jsonl',
      ],
      ...['data/mail_outbox.by_recipient.jsonl', 'data/comment.by_author.jsonl', 'artifacts/page-exported.zip', 'receipt.json'],
    ]),
  );
  expect(Buffer.from(entries['data/comment.by_author.jsonl'] ?? []).toString()).toContain('Said by Grace');
  const whole = Object.values(entries)
    .map((entry) => Buffer.from(entry).toString('latin1'))
    .join('\n');
  expect(whole).not.toContain('token_sha256');
  expect(whole).not.toContain('argon2');
  // Mails are listed without what they say: it signs in whoever has it.
  const mails = Buffer.from(entries['data/mail_outbox.by_recipient.jsonl'] ?? []).toString();
  expect(mails).toContain('A page was shared');
  expect(whole).not.toMatch(/123456|secret-of-the-ticket|joined with 7/);
  // Another person's sign-in and ticket that have the same address are not theirs.
  expect(whole).not.toContain(squatter.userId);
  expect(whole).not.toContain('Ticket of the other');
  expect(unzipSync(entries['artifacts/page-exported.zip'] ?? new Uint8Array())).toHaveProperty('manifest.json');

  // Nobody else's, not even by its id; an administrator's fetch is recorded; it ends.
  const stranger = await easel.newUser();
  expect(await refusal(easel.fetch(`/v1/me/exports/${wanted.id}/file`, { token: stranger.token }))).toEqual([
    404,
    'EXPORT_NOT_FOUND',
    undefined,
  ]);
  await ok(admin(`exports/${wanted.id}/file`));
  const { entries: record } = await json(await admin('audit?action=person.export_fetched'));
  expect(record).toMatchObject([{ detail: { export_id: wanted.id } }]);
  expect(Date.parse(expires_at) - easel.clock.nowMs()).toBeGreaterThan(6 * DAY_MS);
});

test('two who ask for the same export at once get one', async () => {
  const { userId, token } = await easel.newUser();
  const both = await Promise.all([
    admin(`people/${userId}/export`, { method: 'POST' }),
    easel.fetch('/v1/me/export', { token, method: 'POST' }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual([202, 409]);
});

describe('a deletion', () => {
  const want = (userId: string, body: object) => admin(`people/${userId}/deletion`, post(body));
  const shown = async (id: string) => json(await admin(`deletions/${id}`));

  test('needs the address, begins after the grace, and can be canceled until then', async () => {
    const grace = await makeGrace('patient');
    expect(await refusal(want(grace.userId, { confirm: 'other@example.com' }))).toEqual([409, 'CONFIRMATION_WRONG', 'confirm']);
    expect(await refusal(want(grace.userId, { confirm: grace.email, heir_id: grace.userId }))).toEqual([404, 'USER_NOT_FOUND', 'heir_id']);
    const { id } = await json(await ok(want(grace.userId, { confirm: grace.email.toUpperCase(), grace_days: 2 }), 202));
    expect(await refusal(want(grace.userId, { confirm: grace.email }))).toEqual([409, 'DELETION_UNDER_WAY', undefined]);
    easel.clock.advance(DAY_MS);
    expect((await shown(id)).status).toBe('waiting');
    expect((await easel.fetch('/v1/me', { token: grace.token })).status).toBe(200);
    await ok(admin(`deletions/${id}`, { method: 'DELETE' }));
    easel.clock.advance(2 * DAY_MS);
    expect((await shown(id)).status).toBe('canceled');
    expect(await refusal(admin(`deletions/${id}`, { method: 'DELETE' }))).toEqual([409, 'DELETION_BEGUN', undefined]);
    const self = (await json(await easel.fetch('/v1/me', { token: easel.adminToken }))).user.id;
    expect(await refusal(want(self, { confirm: self }))).toEqual([409, 'LAST_ADMIN', undefined]);
  });

  test('leaves nothing that names the person, and keeps what others own', async () => {
    const grace = await makeGrace('removed');
    const squatter = await makeSquatter(grace.email);
    // Ids stand where only the page understands them too.
    const hidden = { content: 'Of the other', position: { at: [{ [grace.userId]: `by ${grace.userId}` }] }, contextId: grace.userId };
    const placed = { ...hidden, quote: { exact: `said ${grace.userId}` } };
    await ok(easel.fetch(`/v1/data/${grace.other.id}/comments`, { token: grace.other.token, ...post(placed) }), 201);
    const { id } = await json(await ok(want(grace.userId, { confirm: grace.email, grace_days: 0 }), 202));
    await expect.poll(async () => (await shown(id)).status).toBe('done');
    const others = await easel.sql`
      select (select email from sign_in where account_id = ${squatter.userId}) as email,
        (select count(*)::int from ticket where requester_id = ${squatter.userId}) as tickets,
        (select count(*)::int from idempotency_record where principal = ${`guest:jo${grace.email}`}) as calls`;
    expect(others).toEqual([{ email: grace.email, tickets: 1, calls: 1 }]);
    await easel.sql`delete from account where id = ${squatter.userId}`;
    await easel.sql`delete from ticket where requester_email = ${grace.email}`;
    await easel.sql`delete from idempotency_record where principal = ${`guest:jo${grace.email}`}`;
    expect(await whereIs([grace.userId, grace.email, 'name of removed', 'user-removed'])).toEqual([]);
    const receipt = await shown(id);
    expect(receipt).toMatchObject({
      user_id: null,
      heir_id: null,
      subject_sha256: createHash('sha256').update(`${grace.userId}\n${grace.email}`).digest('hex'),
    });
    expect(receipt.receipt).toEqual(
      expect.arrayContaining([
        { step: 'artifacts', removed: 1, kept: 0 },
        { step: 'comments', removed: 0, kept: 2 },
        { step: 'access_token.user_id', removed: 1, kept: 0 },
        { step: 'account', removed: 1, kept: 0 },
      ]),
    );
    expect((await easel.fetch('/v1/me', { token: grace.token })).status).toBe(401);
    const { data } = await json(await ok(easel.fetch(`/v1/data/${grace.other.id}/comments`, { token: grace.other.token })));
    const said = (data.comments ?? data.items ?? []).map(({ content, authorId, authorName }: Record<string, unknown>) => [
      content,
      authorId === null,
      authorName,
    ]);
    expect(said).toEqual(expect.arrayContaining([['Said by Grace', true, null]]));
    // The workspace has an owner again.
    const [owner] = await easel.sql`select role from workspace_member where workspace_id = ${grace.workspace}`;
    expect(owner).toEqual({ role: 'owner' });
    // Comments go on where the actor was fenced.
    await ok(easel.fetch(`/v1/data/${grace.other.id}/comments`, { token: grace.other.token, ...post({ content: 'After' }) }), 201);
    const entries = await easel.sql<
      { target_id: string }[]
    >`select target_id from audit_entry where action = 'person.delete' and target_id = ${NOBODY_ID}`;
    expect(entries.length).toBeGreaterThan(0);
  });

  test('leaves a team what is in its workspace, with the metrics and webhooks of the workspace', async () => {
    const grace = await makeGrace('shared');
    const { sql } = easel;
    await sql`update artifact set workspace_id = ${grace.workspace} where id = ${grace.page}`;
    await sql`
      insert into metric_definition (artifact_id, metric_id, name, source, created_by, created_at_ms, updated_at_ms)
      values (${grace.page}, 'sales', 'Sales', '{}', ${grace.userId}, 1, 1)`;
    await sql`update webhook set artifact_id = null, workspace_id = ${grace.workspace} where user_id = ${grace.userId}`;
    const [other] = await sql<{ id: string }[]>`
      select user_id as id from workspace_member where workspace_id = ${grace.workspace} and user_id <> ${grace.userId}`;
    const { id } = await json(await ok(want(grace.userId, { confirm: grace.email, grace_days: 0 }), 202));
    await expect.poll(async () => (await shown(id)).status).toBe('done');
    const rows = await sql`
      select a.owner_id, a.deleted_at_ms, d.created_by, h.user_id from artifact a
      join metric_definition d on d.artifact_id = a.id join webhook h on h.workspace_id = a.workspace_id where a.id = ${grace.page}`;
    expect(rows).toEqual([{ owner_id: null, deleted_at_ms: null, created_by: other?.id, user_id: other?.id }]);
    const [usage] = await sql`select artifacts from account_usage where account_id = ${grace.workspace}`;
    expect(usage).toEqual({ artifacts: 1 });
    expect((await shown(id)).receipt).toEqual(
      expect.arrayContaining([
        { step: 'artifacts', removed: 0, kept: 1 },
        { step: 'metric_definition', removed: 0, kept: 1 },
        { step: 'webhook', removed: 0, kept: 1 },
      ]),
    );
    expect(await whereIs([grace.userId, grace.email])).toEqual([]);
  });

  test('that cannot begin waits to be canceled or asked for anew, and goes off by itself no more', async () => {
    const [grace, heir, next] = [await makeGrace('orphaned'), await easel.newUser('team'), await easel.newUser('team')];
    const ask = (heirId: string) => want(grace.userId, { confirm: grace.email, grace_days: 1, heir_id: heirId });
    // The look at what is due after the request may still be under way, and then plans the next one.
    const becomes = async (id: string, status: string) => {
      easel.clock.advance(DAY_MS);
      const later = async () => {
        easel.clock.advance(30_000);
        return (await shown(id)).status;
      };
      await expect.poll(later).toBe(status);
    };
    const fails = async (id: string) => {
      await easel.sql`update person_deletion set heir_id = null where id = ${id}`;
      await becomes(id, 'failed');
    };
    const { id: first } = await json(await ok(ask(heir.userId), 202));
    await fails(first);
    expect((await easel.fetch('/v1/me', { token: grace.token })).status).toBe(200);
    const [left] = await easel.sql`select next_at_ms, accounts from person_deletion where id = ${first}`;
    expect(left).toEqual({ next_at_ms: null, accounts: [] });
    await ok(admin(`deletions/${first}`, { method: 'DELETE' }));
    const { id: second } = await json(await ok(ask(heir.userId), 202));
    await fails(second);
    expect(await json(await ok(ask(next.userId), 202))).toMatchObject({ id: second, status: 'waiting', heir_id: next.userId });
    await becomes(second, 'done');
    await ok(easel.fetch(`/v1/artifacts/${grace.page}`, { token: next.token }));
    // The heir is nobody in the workspace, where somebody else is.
    const members =
      await easel.sql`select role from workspace_member where workspace_id = ${grace.workspace} and user_id <> ${next.userId}`;
    expect(members).toEqual([{ role: 'owner' }]);
    expect(await easel.sql`select 1 from workspace_member where user_id = ${next.userId}`).toEqual([]);
  });

  test('gives the artifacts to the heir', async () => {
    const [grace, heir] = [await makeGrace('bequeathed'), await easel.newUser('team')];
    const { id } = await json(await ok(want(grace.userId, { confirm: grace.email, grace_days: 0, heir_id: heir.userId }), 202));
    await expect.poll(async () => (await shown(id)).status).toBe('done');
    const artifact = await json(await ok(easel.fetch(`/v1/artifacts/${grace.page}`, { token: heir.token })));
    expect(artifact).toMatchObject({ id: grace.page });
    expect(await json(await ok(easel.fetch(`/v1/data/${grace.page}/json/kept`, { token: heir.token })))).toMatchObject({
      data: expect.anything(),
    });
    const [usage] = await easel.sql`select artifacts from account_usage where account_id = ${heir.userId}`;
    expect(usage).toEqual({ artifacts: 1 });
    expect(await whereIs([grace.userId, grace.email])).toEqual([]);
  });
});

test('a process that dies in the middle of a deletion, or an error in it, loses and repeats nothing', async () => {
  const storage = await testStorage();
  const before = easel;
  easel = await startTestEasel({ storage, settings: { TRUST_PROXY: 'true' } });
  try {
    const grace = await makeGrace('crashed');
    // The account cannot be removed for now: every step before has been done by then.
    await easel.sql.unsafe(`create function hold_on() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$`);
    await easel.sql.unsafe('create trigger held before delete on account for each row execute function hold_on()');
    const { id } = await json(await ok(admin(`people/${grace.userId}/deletion`, post({ confirm: grace.email, grace_days: 0 })), 202));
    await expect.poll(async () => (await json(await admin(`deletions/${id}`))).status).toBe('failed');
    const failed = await json(await admin(`deletions/${id}`));
    expect(failed.error).toContain('not now');
    expect(await refusal(admin(`deletions/${id}`, { method: 'DELETE' }))).toEqual([409, 'DELETION_BEGUN', undefined]);
    const lifted = admin(`people/${grace.userId}`, { ...post({ suspended: null }), method: 'PATCH' });
    expect(await refusal(lifted)).toEqual([409, 'DELETION_UNDER_WAY', 'suspended']);
    const token = easel.adminToken;
    await easel.sql.unsafe('drop function hold_on() cascade');
    await easel.close();
    easel = await startTestEasel({ storage, settings: { TRUST_PROXY: 'true' } });
    const again = (path: string) => easel.fetch(`/v1/admin/${path}`, { token });
    await expect
      .poll(async () => {
        easel.clock.advance(3_600_000);
        return (await json(await again(`deletions/${id}`))).status;
      })
      .toBe('done');
    const done = await json(await again(`deletions/${id}`));
    // What was counted before is counted once.
    expect(done.receipt).toEqual(expect.arrayContaining([...failed.receipt, { step: 'account', removed: 1, kept: 0 }]));
    expect(await whereIs([grace.userId, grace.email])).toEqual([]);
  } finally {
    await easel.close();
    easel = before;
    await storage.remove();
  }
});
