/** A visibility that was asked for without a plan: remembered, released once when a plan allows it, forgotten with another choice. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId, type UserId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { releaseHeld } from '../../../../src/features/business/tiers/releasing.ts';
import { type Fact, LocalBus } from '../../../../src/platform/bus.ts';
import { databaseKinds, SILENT } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, published } from '../../../support/requests.ts';
import { newAgent, newWorkspace } from '../../../support/workspaces.ts';

const NEVER = new AbortController().signal;

describe.each(databaseKinds())('held visibility: %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());
  beforeEach(() => easel.clock.advance(3_600_001));

  const change = (user: TestUser, id: string, body: object) => easel.fetch(`/v1/artifacts/${id}`, { token: user.token, ...patch(body) });
  const shown = async (user: TestUser, id: string) => json(await easel.fetch(`/v1/artifacts/${id}`, { token: user.token }));
  const heldPage = async (user: TestUser, body: object = {}) => {
    const { id } = await published(easel, user, body);
    expect((await change(user, id, { visibility: 'public' })).status).toBe(202);
    return id as string;
  };
  const setTier = (userId: UserId, tier: string) => easel.sql`update account set tier = ${tier} where id = ${userId}`;
  const bell = async (user: TestUser) =>
    (await json(await easel.fetch('/v1/notifications', { token: user.token }))).notifications as {
      title: string;
      kind: string;
      url: string;
    }[];
  /** Another process: it has a bus of its own. */
  const process = () => {
    const told: Fact[] = [];
    const bus = new LocalBus(SILENT);
    bus.listen('test', { 'artifact.changed': (fact) => void told.push(fact), resync: () => undefined });
    return { deps: { sql: easel.sql, clock: easel.clock, bus }, told };
  };

  test('is shown to who may change it, and to nobody else', async () => {
    const [owner, viewer] = [await easel.newUser(), await easel.newUser()];
    const id = await heldPage(owner);
    expect(await shown(owner, id)).toMatchObject({ visibility: 'private', requested_visibility: 'public' });
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${id}, ${viewer.userId}, 'viewer', 1)`;
    // Tells that the artifact has changed.
    expect((await change(owner, id, { name: 'Shared' })).status).toBe(200);
    expect(await shown(viewer, id)).toMatchObject({ id, role: 'viewer' });
    expect(await shown(viewer, id)).not.toHaveProperty('requested_visibility');
  });

  test('becomes public when the tier allows it, tells the owner once and drops the wish', async () => {
    const owner = await easel.newUser();
    const id = await heldPage(owner);
    await easel.sweep();
    expect((await shown(owner, id)).visibility).toBe('private');
    await setTier(owner.userId, 'pro');
    await easel.sweep();
    const after = await shown(owner, id);
    expect(after.visibility).toBe('public');
    expect(after).not.toHaveProperty('requested_visibility');
    expect((await bell(owner)).map(({ kind, url }) => [kind, url])).toEqual([['artifact.public', `/p/${id}`]]);
    // Private again by choice: the next look changes nothing.
    expect((await change(owner, id, { visibility: 'private' })).status).toBe(200);
    await easel.sweep();
    expect((await shown(owner, id)).visibility).toBe('private');
    expect(await bell(owner)).toHaveLength(1);
  });

  test('a fact about the person releases it without the sweep, and visitors see the page then', async () => {
    const owner = await easel.newUser();
    const { id, slug } = await published(easel, owner);
    expect((await change(owner, id, { visibility: 'public' })).status).toBe(202);
    const visit = () => easel.fetch(`/v1/artifacts/${id}`);
    expect((await visit()).status).not.toBe(200);
    await setTier(owner.userId, 'team');
    // Whatever tells that this person has changed.
    expect((await easel.fetch('/v1/workspaces', { token: owner.token, ...post({ name: 'New' }) })).status).toBe(201);
    await expect.poll(async () => (await visit()).status).toBe(200);
    expect(slug).toEqual(expect.any(String));
  });

  test('a change of the plan of the workspace releases what its members and agents have asked for', async () => {
    const owner = await easel.newUser();
    const workspace = await newWorkspace(easel, { [owner.userId]: 'owner' });
    const agent = await newAgent(easel, workspace, ['artifacts:read', 'artifacts:publish']);
    const byPerson = await heldPage(owner, { workspace_id: workspace });
    const publishing = await easel.fetch('/v1/publish', {
      token: agent.token,
      ...post({ files: [{ path: 'index.html', content: '<p>hi' }], visibility: 'public', workspace_id: workspace }),
    });
    expect(publishing.status).toBe(202);
    const byAgent = (await json(publishing)).artifact.id;
    await easel.sql`update workspace set plan_tier = 'team' where id = ${workspace}`;
    const flags = { token: easel.adminToken, ...patch({ features: { catalog: true } }) };
    expect((await easel.fetch(`/v1/workspaces/${workspace}/features`, flags)).status).toBe(200);
    await expect.poll(async () => (await shown(owner, byAgent)).visibility).toBe('public');
    expect((await shown(owner, byPerson)).visibility).toBe('public');
    const entries = (await json(await easel.fetch(`/v1/workspaces/${workspace}/audit?action=artifact.update`, { token: owner.token })))
      .entries;
    const released = entries.filter(({ detail }: { detail: { held?: boolean } }) => detail.held === true);
    expect(released.map(({ actor, target }: { actor: { id: string }; target: { id: string } }) => [actor.id, target.id]).sort()).toEqual(
      [
        [owner.userId, byPerson],
        [agent.agentId, byAgent],
      ].sort(),
    );
    expect((await bell(owner)).length).toBeGreaterThan(0);
  });

  test.each([
    ['another visibility', (user: TestUser, id: string) => change(user, id, { visibility: 'password', password: 'open sesame' })],
    ['the same visibility, chosen', (user: TestUser, id: string) => change(user, id, { visibility: 'private' })],
  ])('%s takes the place of the wish', async (_, choose) => {
    const owner = await easel.newUser();
    const id = await heldPage(owner);
    expect((await choose(owner, id)).status).toBe(200);
    await setTier(owner.userId, 'pro');
    await easel.sweep();
    expect((await shown(owner, id)).visibility).not.toBe('public');
  });

  test('a change of something else keeps the wish', async () => {
    const owner = await easel.newUser();
    const id = await heldPage(owner);
    expect((await change(owner, id, { name: 'Another name' })).status).toBe(200);
    await setTier(owner.userId, 'pro');
    await easel.sweep();
    expect((await shown(owner, id)).visibility).toBe('public');
  });

  test('who has lost the artifact gets nothing of it released: neither given away nor as an editor who was removed', async () => {
    const [owner, editor, next] = [await easel.newUser(), await easel.newUser(), await easel.newUser()];
    const mine = await heldPage(owner);
    await easel.sql`update account set email = 'next@example.com' where id = ${next.userId}`;
    const given = await easel.fetch(`/v1/artifacts/${mine}/transfer-ownership`, {
      token: owner.token,
      ...post({ email: 'next@example.com', keep_as: 'editor', confirm: true }),
    });
    expect(given.status).toBe(200);
    const shared = await published(easel, owner);
    await easel.sql`
      update artifact set requested_visibility = 'public', requested_by = ${editor.userId}, requested_at_ms = 1 where id = ${shared.id}`;
    for (const { userId } of [owner, editor]) await setTier(userId, 'pro');
    await easel.sweep();
    expect([(await shown(next, mine)).visibility, (await shown(owner, shared.id)).visibility]).toEqual(['private', 'private']);
    const [row] =
      await easel.sql`select count(*)::int as held from artifact where requested_visibility is not null and id = any(${[mine, shared.id]})`;
    expect(row?.held).toBe(0);
  });

  test('what is in the trash waits, and is released after it was restored', async () => {
    const owner = await easel.newUser();
    const id = await heldPage(owner);
    expect((await easel.fetch(`/v1/artifacts/${id}`, { token: owner.token, method: 'DELETE' })).status).toBe(200);
    await setTier(owner.userId, 'pro');
    await easel.sweep();
    expect((await easel.fetch(`/v1/artifacts/${id}/restore`, { token: owner.token, method: 'POST' })).status).toBe(200);
    expect((await shown(owner, id)).visibility).toBe('private');
    await easel.sweep();
    expect((await shown(owner, id)).visibility).toBe('public');
  });

  /** As publishes would have left them. */
  async function manyHeld(workspace: WorkspaceId, owner: TestUser, pages: number): Promise<void> {
    const ids = Array.from({ length: pages }, () => newId('artifact'));
    await easel.sql`
      insert into artifact (id, owner_id, workspace_id, name, slug, visibility, created_at_ms, updated_at_ms, requested_visibility, requested_by, requested_at_ms)
      select id, ${owner.userId}, ${workspace}, 'Page', replace(id, '_', '-'), 'private', 1, 1, 'public', ${owner.userId}, 1
      from unnest(${ids}::text[]) as u (id)`;
  }
  const visibilities = async (workspace: WorkspaceId) =>
    Object.fromEntries(
      (await easel.sql`select visibility, count(*)::int as n from artifact where workspace_id = ${workspace} group by 1`).map(
        ({ visibility, n }) => [visibility, n],
      ),
    );

  test('two processes at once release each page once', async () => {
    const owner = await easel.newUser();
    const workspace = await newWorkspace(easel, { [owner.userId]: 'owner' }, { tier: 'team' });
    await manyHeld(workspace, owner, 1234);
    const [one, other] = [process(), process()];
    const scope = { of: 'workspace', id: workspace } as const;
    const counts = await Promise.all([releaseHeld(one.deps, scope, NEVER), releaseHeld(other.deps, scope, NEVER)]);
    expect(counts[0] + counts[1]).toBe(1234);
    expect(await visibilities(workspace)).toEqual({ public: 1234 });
    const told = [...one.told, ...other.told].map((fact) => ('artifactId' in fact ? fact.artifactId : ''));
    expect([told.length, new Set(told).size]).toEqual([1234, 1234]);
    // One notice a step, not one a page.
    const [row] = await easel.sql`select count(*)::int as notices from notice where user_id = ${owner.userId}`;
    expect(row?.notices).toBeLessThan(100);
  });

  test('a process that ends between two steps leaves the rest to the next one', async () => {
    const owner = await easel.newUser();
    const workspace = await newWorkspace(easel, { [owner.userId]: 'owner' }, { tier: 'pro' });
    await manyHeld(workspace, owner, 170);
    const ending = new AbortController();
    const { deps, told } = process();
    deps.bus.listen('ending', { 'artifact.changed': () => ending.abort(), resync: () => undefined });
    const scope = { of: 'people', userIds: [owner.userId] } as const;
    expect(await releaseHeld(deps, scope, ending.signal)).toBe(50);
    expect([told.length, await visibilities(workspace)]).toEqual([50, { public: 50, private: 120 }]);
    expect(await releaseHeld(process().deps, scope, NEVER)).toBe(120);
    expect(await visibilities(workspace)).toEqual({ public: 170 });
  });
});
