/** The record of a workspace: who reads it, how it is filtered and paged, as CSV, and that nobody changes it. */
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { moveInto, workspaceOf } from '../../../support/workspaces.ts';

const FORMULA = '=HYPERLINK("https://evil.example")';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  let [owner, admin, member] = [] as unknown as [TestUser, TestUser, TestUser];
  let id: string;
  let path: string;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    [owner, admin, member] = [await easel.newUser('pro'), await easel.newUser(), await easel.newUser()];
    id = await workspaceOf(easel, [
      [owner, 'owner'],
      [admin, 'admin'],
      [member, 'member'],
    ]);
    path = `/v1/workspaces/${id}/audit`;
    for (const [user, name] of [
      [owner, 'First'],
      [admin, FORMULA],
      [admin, 'Third'],
    ] as const) {
      await easel.clock.advance(1000);
      const made = await call(user, `/v1/workspaces/${id}/agent-tokens`, post({ name, scopes: ['data:read'] }));
      expect(made.status).toBe(201);
    }
    await easel.clock.advance(1000);
    await call(admin, `/v1/workspaces/${id}/publish-policy`, patch({ policy: 'prohibit' }));
  });
  afterAll(() => easel.close());

  const call = (user: TestUser, at: string, init: RequestInit = {}) => easel.fetch(at, { token: user.token, ...init });
  const read = async (query: Record<string, string> = {}) => json(await call(owner, `${path}?${new URLSearchParams(query)}`));
  const names = ({ entries }: { entries: { target: { name: string | null } }[] }) => entries.map(({ target }) => target.name);

  test('owners and admins read it; members and others do not', async () => {
    expect((await call(admin, path)).status).toBe(200);
    expect((await refusal(call(member, path))).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
    expect((await refusal(call(await easel.newUser(), path))).slice(0, 2)).toEqual([404, 'WORKSPACE_NOT_FOUND']);
  });

  test('an entry says who did what on what, from where and in which call', async () => {
    const { entries } = await read({ action: 'publish_policy.update' });
    expect(entries).toEqual([
      {
        id: expect.stringMatching(/^aud_/),
        at: expect.any(String),
        actor: { kind: 'user', id: admin.userId, name: null },
        action: 'publish_policy.update',
        target: { type: 'workspace', id, name: null },
        detail: { before: { policy: 'allow', approvals_required: 1 }, after: { policy: 'prohibit', approvals_required: 1 } },
        address: expect.stringContaining('127.0.0.1'),
        request_id: expect.any(String),
      },
    ]);
  });

  test('it is paged, newest first, and filtered by action, resource, actor and time', async () => {
    const first = await read({ action: 'agent_token.', limit: '2', count: 'true' });
    expect([names(first), first.has_more, first.total]).toEqual([['Third', FORMULA], true, 3]);
    const second = await read({ action: 'agent_token.', limit: '2', cursor: first.next_cursor });
    expect([names(second), second.has_more]).toEqual([['First'], false]);
    expect(names(await read({ actor: owner.userId, action: 'agent_token.create' }))).toEqual(['First']);
    const { at } = first.entries[1];
    expect(names(await read({ action: 'agent_token.', from: at }))).toEqual(['Third', FORMULA]);
    expect(names(await read({ action: 'agent_token.', to: at }))).toEqual(['First']);
    expect((await refusal(call(owner, `${path}?from=yesterday`))).slice(1)).toEqual(['INVALID_REQUEST', 'from']);
  });

  test('as CSV it is whole, and no cell is a formula', async () => {
    const reply = await call(owner, path, { headers: { accept: 'text/csv' } });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const rows = parse(await reply.text(), { columns: true }) as Record<string, string>[];
    expect(rows.map(({ action }) => action)).toEqual(['publish_policy.update', ...Array(3).fill('agent_token.create')]);
    expect(rows[2]?.target_name).toBe(`'${FORMULA}`);
    for (const cell of rows.flatMap((row) => Object.values(row))) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  });

  test('what is done with an artifact of the workspace is on record, by its members too', async () => {
    const page = await published(easel, owner, { slug: `audited-${database}` });
    await moveInto(easel, owner, page.id, id, { visibility: 'private' });
    await call(owner, `/v1/artifacts/${page.id}`, patch({ name: 'Renamed', visibility: 'public' }));
    await published(easel, owner, { artifact_id: page.id });
    await call(owner, `/v1/artifacts/${page.id}/rollback`, post({ version_no: 1 }));
    await call(owner, `/v1/artifacts/${page.id}/versions/2`, { method: 'DELETE' });
    await call(owner, `/v1/artifacts/${page.id}`, { method: 'DELETE' });
    await call(owner, `/v1/artifacts/${page.id}/restore`, { method: 'POST' });
    const { entries } = await read();
    const about = entries.filter(({ target }: { target: { id: string } }) => target.id === page.id);
    expect(about.map(({ action }: { action: string }) => action).sort()).toEqual(
      ['artifact.delete', 'artifact.publish', 'artifact.restore', 'artifact.update', 'version.delete', 'version.rollback'].sort(),
    );
    const changed = about.find(({ action }: { action: string }) => action === 'artifact.update');
    expect(changed.detail).toMatchObject({ name: { from: 'A page', to: 'Renamed' }, visibility: { from: 'private', to: 'public' } });
  });

  test('the database refuses to change or remove an entry, until the workspace has been deleted for good', async () => {
    await expect(easel.sql`update audit_entry set action = 'x' where workspace_id = ${id}`).rejects.toThrow('append-only');
    await expect(easel.sql`delete from audit_entry where workspace_id = ${id}`).rejects.toThrow('append-only');
    await expect(easel.sql`truncate audit_entry`).rejects.toThrow('append-only');
    const count = async () => (await easel.sql`select count(*)::int as n from audit_entry where workspace_id = ${id}`)[0]?.n;
    const before = await count();
    await easel.sql`update workspace set deleted_at_ms = ${easel.clock.nowMs()} where id = ${id}`;
    await easel.sweep();
    expect(await count()).toBe(before);
    await easel.clock.advance(31 * 24 * 3_600_000);
    await easel.sweep();
    expect(await count()).toBe(0);
  });
});
