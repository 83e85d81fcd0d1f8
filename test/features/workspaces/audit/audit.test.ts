/** The record of what was done: who, what, on what, from where and with which request; it is never changed. Source: contract.md §14. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { patch, post } from '../../../support/requests.ts';
import { auditOf, stageOf } from '../workspace-stage.ts';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  test('an entry says who did what to what, from where, and by which request', async () => {
    const { id, owner, admin, member } = await stageOf(easel, `Record ${database}`);
    const asked = await easel.fetch(`/v1/workspaces/${id}/members/${member.userId}`, {
      token: admin.token,
      ...patch({ role: 'admin' }, { 'x-request-id': `req-of-${database}` }),
    });
    expect(asked.status).toBe(200);
    const [entry] = await easel.sql`
      select at_ms, actor_kind, actor_id, actor_name, action, target_type, target_id, target_name, detail, address, request_id
      from audit_entry where workspace_id = ${id} and action = 'member.update'`;
    expect(entry).toEqual({
      at_ms: easel.clock.nowMs(),
      actor_kind: 'user',
      actor_id: admin.userId,
      actor_name: 'adam',
      action: 'member.update',
      target_type: 'user',
      target_id: member.userId,
      target_name: 'mia',
      detail: { from: 'member', to: 'admin' },
      address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
      request_id: `req-of-${database}`,
    });
    // What is refused is rolled back with its entry.
    const before = (await auditOf(easel, id)).length;
    await easel.fetch(`/v1/workspaces/${id}/members/${owner.userId}`, { token: owner.token, method: 'DELETE' });
    expect(await auditOf(easel, id)).toHaveLength(before);
  });

  test('no secret is in it', async () => {
    const { id, owner } = await stageOf(easel, `Secret ${database}`);
    await easel.fetch(`/v1/workspaces/${id}/members/invite`, { token: owner.token, ...post({ emails: [`s.${database}@example.com`] }) });
    const [mail] = await easel.sql<
      { text_body: string }[]
    >`select text_body from mail_outbox where recipient = ${`s.${database}@example.com`}`;
    const code = /[/]invite[/]([a-z0-9-]+)/.exec(mail?.text_body ?? '')?.[1] ?? 'no code';
    const entries = await easel.sql`select * from audit_entry where workspace_id = ${id}`;
    expect(entries.length).toBe(4);
    expect(JSON.stringify(entries)).not.toContain(code);
  });

  test('the database refuses to change it', async () => {
    await stageOf(easel, `Kept ${database}`);
    await expect(easel.sql`update audit_entry set action = 'nothing'`).rejects.toThrow('append-only');
    await expect(easel.sql`delete from audit_entry`).rejects.toThrow('append-only');
    await expect(easel.sql`truncate audit_entry`).rejects.toThrow('append-only');
  });
});
