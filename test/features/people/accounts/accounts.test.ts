import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, post } from '../../../support/requests.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

describe('accounts', () => {
  test('a new account needs nothing, has the default tier, and its token speaks for it', async () => {
    const created = await easel.fetch('/v1/auth/create-account', { method: 'POST' });
    expect(created.status).toBe(201);
    const { token, user_id } = await json(created);
    expect(token).toMatch(/^so_[0-9a-f]{64}$/);
    const me = await json(await easel.fetch('/v1/me', { token }));
    expect(me).toMatchObject({ user: { id: user_id, username: null }, token: { kind: 'personal' }, tier: 'free', workspaces: [] });
    expect(await json(await easel.fetch('/v1/account', { token }))).toMatchObject({ tier: 'free', features: { public_artifacts: false } });
  });

  test('the profile changes field by field; a username belongs to one account', async () => {
    const [a, b] = [await easel.newUser(), await easel.newUser()];
    const change = (token: string, body: object) => easel.fetch('/v1/auth/profile', { token, ...post(body), method: 'PATCH' });
    expect(await json(await change(a.token, { username: 'ada', name: 'Ada', metadata: { a: [1] } }))).toMatchObject({
      username: 'ada',
      name: 'Ada',
      metadata: { a: [1] },
    });
    expect(await json(await change(a.token, { name: null }))).toMatchObject({ username: 'ada', name: null, metadata: { a: [1] } });
    const taken = await change(b.token, { username: 'ada' });
    expect([taken.status, await json(taken)]).toMatchObject([409, { code: 'USERNAME_TAKEN', param: 'username' }]);
    expect(await json(await easel.fetch('/v1/auth/profile', { token: b.token }))).toMatchObject({ username: null });
    expect((await change(b.token, { name: 'a\u0000b' })).status).toBe(400);
    expect((await change(b.token, { metadata: { x: '\u0000' } })).status).toBe(400);
  });
});

describe('tokens', () => {
  test('only the digest of a token is stored', async () => {
    const { token } = await easel.newUser();
    const [row] = await easel.sql<{ hits: number }[]>`
      select count(*)::int as hits from access_token t where t::text like ${`%${token.slice(3)}%`}`;
    expect(row?.hits).toBe(0);
  });

  test('a 401 gives the reason why the credential was refused', async () => {
    const { token } = await easel.newUser();
    const reason = async (bearer: string | undefined) => {
      const reply = await easel.fetch('/v1/me', bearer === undefined ? {} : { token: bearer });
      return [reply.status, (await json(reply)).reason];
    };
    const expiring = await json(
      await easel.fetch('/v1/me/tokens', { token, ...post({ expires_at: new Date(easel.clock.nowMs() + 60_000).toISOString() }) }),
    );
    const revoked = await json(await easel.fetch('/v1/me/tokens', { token, ...post({ name: 'short lived' }) }));
    expect(await reason(revoked.token)).toEqual([200, undefined]);
    expect((await easel.fetch(`/v1/me/tokens/${revoked.id}`, { token, method: 'DELETE' })).status).toBe(200);
    expect(await reason(undefined)).toEqual([401, 'missing']);
    expect(await reason('so_123')).toEqual([401, 'invalid']);
    expect(await reason(`so_${'0'.repeat(64)}`)).toEqual([401, 'invalid']);
    expect(await reason(revoked.token)).toEqual([401, 'revoked']);
    expect(await reason(expiring.token)).toEqual([200, undefined]);
    easel.clock.advance(60_000);
    expect(await reason(expiring.token)).toEqual([401, 'expired']);
    expect(await reason(token)).toEqual([200, undefined]);
  });

  test('only the owner lists and revokes; the secret is not listed', async () => {
    const [a, b] = [await easel.newUser(), await easel.newUser()];
    const made = await json(await easel.fetch('/v1/me/tokens', { token: a.token, ...post({ name: 'ci' }) }));
    expect(made).toMatchObject({ ok: true, shown_once: true });
    const stranger = await easel.fetch(`/v1/me/tokens/${made.id}`, { token: b.token, method: 'DELETE' });
    expect([stranger.status, await json(stranger)]).toMatchObject([404, { code: 'TOKEN_NOT_FOUND' }]);
    const listed = await json(await easel.fetch('/v1/me/tokens?count=true', { token: a.token }));
    expect(listed).toMatchObject({ total: 2, has_more: false, next_cursor: null });
    expect(listed.tokens.find((row: { id: string }) => row.id === made.id)).toMatchObject({
      name: 'ci',
      current: false,
      last_used_at: null,
    });
    expect(listed.tokens.filter((row: { current: boolean }) => row.current)).toHaveLength(1);
    expect(JSON.stringify(listed)).not.toContain(made.token.slice(3));
  });

  test('pages list every token once', async () => {
    const { token } = await easel.newUser();
    for (let index = 0; index < 6; index += 1) await easel.fetch('/v1/me/tokens', { token, ...post({ name: `t${index}` }) });
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await json(await easel.fetch(`/v1/me/tokens?limit=3${cursor && `&cursor=${cursor}`}`, { token }));
      seen.push(...page.tokens.map((row: { id: string }) => row.id));
      if (!page.has_more) break;
      cursor = page.next_cursor;
    }
    expect(new Set(seen).size).toBe(7);
    expect(seen).toHaveLength(7);
    const bad = await easel.fetch('/v1/me/tokens?cursor=nonsense', { token });
    expect([bad.status, await json(bad)]).toMatchObject([400, { code: 'INVALID_REQUEST', param: 'cursor' }]);
  });

  test('last_used_at is exact to the minute', async () => {
    const { token } = await easel.newUser();
    const lastUsed = async () => (await json(await easel.fetch('/v1/me/tokens', { token }))).tokens[0].last_used_at;
    const first = await lastUsed();
    expect(first).toBe(new Date(easel.clock.nowMs()).toISOString());
    easel.clock.advance(59_000);
    expect(await lastUsed()).toBe(first);
    easel.clock.advance(1_000);
    expect(await lastUsed()).toBe(new Date(Date.parse(first) + 60_000).toISOString());
  });

  test('an account may have exactly 100 tokens, also under concurrent requests', async () => {
    const { token } = await easel.newUser();
    const asked = await Promise.all(Array.from({ length: 105 }, () => easel.fetch('/v1/me/tokens', { token, ...post({}) })));
    expect(asked.filter((reply) => reply.status === 201)).toHaveLength(99);
    expect(asked.filter((reply) => reply.status === 400)).toHaveLength(6);
    const past = await easel.fetch('/v1/me/tokens', { token, ...post({ expires_at: '2020-01-01T00:00:00Z' }) });
    expect(await json(past)).toMatchObject({ code: 'INVALID_REQUEST', param: 'expires_at' });
  });
});
