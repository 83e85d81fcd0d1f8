/** Tokens of a workspace's agents: who makes them, what the list says, and that a revoked one is over at once. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, post, published, refusal } from '../../../support/requests.ts';
import { moveInto, workspaceOf } from '../../../support/workspaces.ts';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  let owner: TestUser;
  let admin: TestUser;
  let member: TestUser;
  let stranger: TestUser;
  let id: string;
  let path: string;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    [owner, admin, member, stranger] = [await easel.newUser('pro'), await easel.newUser(), await easel.newUser(), await easel.newUser()];
    id = await workspaceOf(easel, [
      [owner, 'owner'],
      [admin, 'admin'],
      [member, 'member'],
    ]);
    path = `/v1/workspaces/${id}/agent-tokens`;
  });
  afterAll(() => easel.close());

  const call = (user: Pick<TestUser, 'token'>, at: string, init: RequestInit = {}) => easel.fetch(at, { token: user.token, ...init });
  const make = async (body: object = {}, user = admin) =>
    json(await call(user, path, post({ name: 'Nightly', scopes: ['artifacts:read', 'data:write'], ...body })));

  test('owners and admins make them, shown once; members may not, and others do not learn of the workspace', async () => {
    await call(admin, '/v1/auth/profile', { ...post({ name: 'Ada' }), method: 'PATCH' });
    const made = await make({ name: 'Report' });
    expect(made).toEqual({
      id: expect.stringMatching(/^tok_/),
      agent_id: expect.stringMatching(/^agt_/),
      name: 'Report',
      scopes: ['artifacts:read', 'data:write'],
      created_at: expect.any(String),
      created_by: { id: admin.userId, name: 'Ada' },
      last_used_at: null,
      expires_at: null,
      token: expect.stringMatching(/^sot_[0-9a-f]{64}$/),
      shown_once: true,
    });
    expect((await call(owner, path, post({ name: 'Other', scopes: ['data:read'] }))).status).toBe(201);
    for (const at of [path, `${path}/${made.id}`]) {
      const init = at === path ? post({ name: 'x', scopes: ['data:read'] }) : { method: 'DELETE' };
      expect(await refusal(call(member, at, init))).toEqual([403, 'FORBIDDEN', undefined]);
      expect(await refusal(call(stranger, at, init))).toEqual([404, 'WORKSPACE_NOT_FOUND', undefined]);
      expect((await refusal(call({ token: made.token }, at, init))).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
    }
    const { agent_tokens: listed } = await json(await call(owner, path));
    const { token: _secret, shown_once: _once, ...shown } = made;
    expect(listed).toContainEqual({ ...shown, last_used_at: expect.any(String) });
    expect(JSON.stringify(listed)).not.toContain(made.token);
    const [stored] = await easel.sql`select encode(token_sha256, 'hex') as digest from agent_token where id = ${made.id}`;
    expect(made.token).not.toContain(stored?.digest);
  });

  test.each([
    ['scopes', { scopes: [] }],
    ['scopes.0', { scopes: ['artifacts:write'] }],
    ['scopes', { scopes: ['data:read', 'data:read'] }],
    ['name', { name: ' ' }],
    ['expires_at', { expires_at: '2001-01-01T00:00:00Z' }],
  ])('%s is checked', async (param, body) => {
    expect(await refusal(call(admin, path, post({ name: 'x', scopes: ['data:read'], ...body })))).toEqual([400, 'INVALID_REQUEST', param]);
  });

  test('the list tells when a token was last used, and says who made it; /v1/me says whom it speaks for', async () => {
    const made = await make();
    expect(await json(await call({ token: made.token }, '/v1/me'))).toMatchObject({
      user: null,
      token: { kind: 'agent', agent: { id: made.agent_id, name: 'Nightly' }, scopes: made.scopes, workspace_id: id },
    });
    const { agent_tokens: listed } = await json(await call(owner, path));
    const row = listed.find((one: { id: string }) => one.id === made.id);
    expect(Date.parse(row.last_used_at)).toBeLessThanOrEqual(easel.clock.nowMs());
    expect(row.created_by.id).toBe(admin.userId);
  });

  test('a token ends at its time', async () => {
    const made = await make({ expires_at: new Date(easel.clock.nowMs() + 60_000).toISOString() });
    expect((await call({ token: made.token }, '/v1/me')).status).toBe(200);
    await easel.clock.advance(60_001);
    const over = await json(await call({ token: made.token }, '/v1/me'));
    expect([over.code, over.reason]).toEqual(['UNAUTHORIZED', 'expired']);
  });

  test('I8: after a revocation the next call and the open socket of the agent are over, and what it wrote stays', async () => {
    const page = await published(easel, owner, { slug: `agents-${database}` });
    await moveInto(easel, owner, page.id, id);
    const made = await make({ scopes: ['artifacts:read', 'data:read', 'data:write'] });
    const headers = { authorization: `Bearer ${made.token}`, 'content-type': 'application/json' };
    const key = `/v1/data/${page.id}/json/score`;
    expect((await easel.fetch(key, { method: 'PUT', headers, body: '1' })).status).toBe(201);
    const socket = new WebSocket(`ws://127.0.0.1:${easel.port}/v1/data/${page.id}/channels`, { headers });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const stream = await easel.fetch(`/v1/data/${page.id}/changes`, { headers: { ...headers, accept: 'text/event-stream' } });
    expect(stream.status).toBe(200);
    expect((await call(admin, `${path}/${made.id}`, { method: 'DELETE' })).status).toBe(200);
    for (const at of [key, '/v1/me']) {
      const refused = await json(await easel.fetch(at, { headers }));
      expect([refused.code, refused.reason]).toEqual(['UNAUTHORIZED', 'revoked']);
    }
    expect((await closed)[0]).toBe(4401);
    // The stream ends by itself; without the revocation this waits until the test is over.
    await stream.text();
    expect((await json(await call(owner, key))).data.value).toBe(1);
    expect(await refusal(call(admin, `${path}/${made.id}`, { method: 'DELETE' }))).toEqual([404, 'TOKEN_NOT_FOUND', undefined]);
  });

  test('a token of one workspace is no token of another: neither listed nor revoked there', async () => {
    const other = await easel.newUser();
    const otherId = await workspaceOf(easel, [[other, 'owner']]);
    const made = await make();
    const at = `/v1/workspaces/${otherId}/agent-tokens`;
    expect((await json(await call(other, at))).agent_tokens).toEqual([]);
    expect(await refusal(call(other, `${at}/${made.id}`, { method: 'DELETE' }))).toEqual([404, 'TOKEN_NOT_FOUND', undefined]);
    expect((await call({ token: made.token }, '/v1/me')).status).toBe(200);
  });

  test('what is made and revoked is on record, without the secret', async () => {
    const made = await make({ name: 'Recorded' });
    await call(admin, `${path}/${made.id}`, { method: 'DELETE' });
    const rows = await easel.sql`
      select action, actor_id, target_id, target_name, detail, request_id from audit_entry where target_id = ${made.agent_id} order by at_ms, id`;
    expect(rows.map(({ action }) => action).sort()).toEqual(['agent_token.create', 'agent_token.revoke']);
    expect(rows[0]).toMatchObject({ actor_id: admin.userId, target_name: 'Recorded', request_id: expect.any(String) });
    expect(JSON.stringify(rows)).not.toContain(made.token);
  });
});
