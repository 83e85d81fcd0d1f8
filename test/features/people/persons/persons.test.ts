/** Linked accounts are one person, and agents act for their workspace: what the service makes of what is stored about them. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { RATE_LIMITS } from '../../../../protocol/core/rate-limits.ts';
import { SharedLimiter } from '../../../../src/storage/shared-limiter.ts';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, published } from '../../../support/requests.ts';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  let [ada, twin, stranger] = [] as TestUser[];
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    [ada, twin, stranger] = [await easel.newUser('pro'), await easel.newUser(), await easel.newUser()];
    await easel.sql`
      update account set person_id = (select person_id from account where id = ${who(ada).userId}) where id = ${who(twin).userId}`;
  });
  afterAll(() => easel.close());

  const who = (user: TestUser | undefined) => {
    if (user === undefined) throw new Error('made before all tests');
    return user;
  };
  const call = (user: TestUser | undefined, path: string, init: RequestInit = {}) => easel.fetch(path, { token: who(user).token, ...init });
  const listed = async (user: TestUser | undefined, path: string): Promise<string[]> =>
    (await json(await call(user, path))).artifacts.map(({ id }: { id: string }) => id);

  test('what belongs to one account belongs to the linked one: to change, to list, to mark, to trash and to restore', async () => {
    const { id, slug } = await published(easel, who(ada), { slug: `linked-${database}` });
    expect((await call(twin, `/v1/artifacts/${id}`, patch({ name: 'Renamed' }))).status).toBe(200);
    expect((await call(stranger, `/v1/artifacts/${id}`)).status).toBe(404);
    expect(await listed(twin, '/v1/artifacts')).toEqual([id]);
    expect((await call(twin, `/v1/artifacts/${id}/favorite`, { method: 'POST' })).status).toBe(200);
    expect(await listed(ada, '/v1/artifacts?favorites=true')).toEqual([id]);
    expect((await json(await call(ada, `/v1/artifacts/${id}`))).is_favorite).toBe(true);
    expect((await call(ada, `/v1/artifacts/${id}/favorite`, { method: 'DELETE' })).status).toBe(200);
    expect(await listed(twin, '/v1/artifacts?favorites=true')).toEqual([]);
    const pushed = await published(easel, who(twin), { slug, files: [{ path: 'index.html', content: 'two' }] });
    expect(pushed.id).toBe(id);
    expect((await call(twin, `/v1/artifacts/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await listed(ada, '/v1/artifacts/deleted')).toEqual([id]);
    expect((await call(stranger, `/v1/artifacts/${id}/restore`, { method: 'POST' })).status).toBe(404);
    const restored = await json(await call(twin, `/v1/artifacts/${id}/restore`, { method: 'POST' }));
    expect([restored.id, restored.owner_id]).toEqual([id, who(ada).userId]);
  });

  test('the best tier counts, and what linked accounts use is counted together', async () => {
    const [mine, theirs] = [await json(await call(ada, '/v1/account')), await json(await call(twin, '/v1/account'))];
    expect([mine.tier, mine.usage.artifacts]).toEqual(['pro', 1]);
    expect(theirs).toEqual(mine);
    const [person] = await easel.sql<{ id: string }[]>`select person_id as id from account where id = ${who(twin).userId}`;
    const limiter = new SharedLimiter({ sql: easel.sql, clock: easel.clock });
    // Each of them has published once.
    await limiter.spend(RATE_LIMITS.publish, person?.id ?? '', RATE_LIMITS.publish.quota - 2);
    for (const user of [ada, twin]) {
      const refused = await call(user, '/v1/publish', post({ files: [{ path: 'index.html', content: 'x' }] }));
      expect([refused.status, (await json(refused)).code]).toEqual([429, 'RATE_LIMITED']);
    }
  });

  describe('in a workspace', () => {
    const id = newId('workspace');
    const secret = `sot_${randomBytes(32).toString('hex')}`;
    const agentId = newId('agent');
    beforeAll(async () => {
      const nowMs = easel.clock.nowMs();
      await easel.sql`
        insert into workspace (id, slug, name, plan_tier, created_at_ms, updated_at_ms) values (${id}, 'linked', 'Linked', 'team', ${nowMs}, ${nowMs})`;
      await easel.sql`insert into service_principal (id, workspace_id, name, created_at_ms) values (${agentId}, ${id}, 'Nightly', ${nowMs})`;
      await easel.sql`
        insert into agent_token (id, principal_id, scopes, token_sha256, created_at_ms)
        values (${newId('token')}, ${agentId}, array['artifacts:read'], ${createHash('sha256').update(secret).digest()}, ${nowMs})`;
      [ada, twin] = [await easel.newUser('pro'), await easel.newUser()];
      await easel.sql`
        update account set person_id = (select person_id from account where id = ${ada.userId}) where id = ${twin.userId}`;
      await easel.sql`
        insert into workspace_member (workspace_id, user_id, role, joined_at_ms, billing_manager)
        values (${id}, ${ada.userId}, 'admin', 0, false), (${id}, ${twin.userId}, 'member', 0, true)`;
    });

    test('/v1/me names it with the best of the linked accounts, and says who an agent is', async () => {
      const workspaces = [{ id, name: 'Linked', slug: 'linked', role: 'admin', billing_manager: true }];
      expect(await json(await call(twin, '/v1/me'))).toMatchObject({ token: { kind: 'personal' }, tier: 'pro', workspaces });
      const agent = await json(await easel.fetch('/v1/me', { token: secret }));
      expect(agent).toEqual({
        user: null,
        token: { kind: 'agent', agent: { id: agentId, name: 'Nightly' }, scopes: ['artifacts:read'], workspace_id: id },
        tier: 'team',
        is_admin: false,
        is_staff: false,
        workspaces: [{ ...workspaces[0], role: 'member', billing_manager: false }],
      });
    });

    test('what it owns is run by its admins, by whichever account they sign in with, and seen by its agents within their scopes', async () => {
      const { id: artifactId } = await published(easel, who(ada), { slug: `shared-${database}` });
      await own(easel, artifactId, id);
      expect((await json(await call(twin, `/v1/artifacts/${artifactId}`))).owner_id).toBe(null);
      expect((await call(twin, `/v1/artifacts/${artifactId}`, patch({ name: 'Ours' }))).status).toBe(200);
      expect((await call(stranger, `/v1/artifacts/${artifactId}`)).status).toBe(404);
      expect((await easel.fetch(`/v1/artifacts/${artifactId}`, { token: secret })).status).toBe(200);
      const denied = await easel.fetch(`/v1/data/${artifactId}/json`, { token: secret });
      expect([denied.status, (await json(denied)).code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
      await easel.clock.advance(60_000);
      await expect
        .poll(async () => (await easel.sql`select 1 from agent_token where last_used_at_ms is not null`).length, { timeout: 60_000 })
        .toBe(1);
    });
  });
});

/** Makes an artifact a workspace's own, before anybody has asked for it with the new owner. */
async function own(easel: TestEasel, artifactId: string, workspaceId: WorkspaceId): Promise<void> {
  await easel.sql`update artifact set owner_id = null, workspace_id = ${workspaceId} where id = ${artifactId}`;
}
