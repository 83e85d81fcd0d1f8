/** A smaller plan takes nothing away, stops what is new and says so; every refusal says where to go. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TIERS } from '../../../../protocol/business/tiers.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, publish, published } from '../../../support/requests.ts';
import { newAgent, newWorkspace } from '../../../support/workspaces.ts';

describe.each(databaseKinds())('plans over HTTP: %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());
  beforeEach(() => easel.clock.advance(3_600_001));

  const get = async (user: { token: string }, path: string) => json(await easel.fetch(path, { token: user.token }));
  const setTier = (userId: UserId, tier: string) => easel.sql`update account set tier = ${tier} where id = ${userId}`;
  const names = (over: readonly { name: string; used: number; max: number }[]) => over.map(({ name, used, max }) => [name, used, max]);
  /** The workspace as everybody reads it again after its plan was changed by hand. */
  const replan = async (workspace: string, tier: string, status = 'active') => {
    await easel.sql`update workspace set plan_tier = ${tier}, plan_status = ${status} where id = ${workspace}`;
    const flags = { token: easel.adminToken, ...patch({ features: { knowledge: null } }) };
    expect((await easel.fetch(`/v1/workspaces/${workspace}/features`, flags)).status).toBe(200);
  };

  test('an account sees its tier, what it allows and what is used of it', async () => {
    const user = await easel.newUser('pro');
    await published(easel, user);
    const account = await get(user, '/v1/account');
    expect(account).toMatchObject({
      tier: 'pro',
      features: { public_artifacts: true, versions_per_artifact_max: TIERS.pro.versionsMax },
      usage: { artifacts: 1, artifacts_max: TIERS.pro.artifactsMax, bytes_max: TIERS.pro.bytesMax, public_artifacts: 0, jobs: 0 },
      allowances: { public_artifacts: true, artifacts: TIERS.pro.artifactsMax, jobs: TIERS.pro.jobsMax },
      over: [],
    });
  });

  test('public pages, artifacts and bytes beyond a smaller tier stay; new ones are refused, and the account lists what is over', async () => {
    const user = await easel.newUser('pro');
    const { id } = await published(easel, user, { visibility: 'public' });
    const other = await published(easel, user);
    // The sweep of the start corrects counters: it has to be over.
    await easel.sweep();
    await easel.sql`update account_usage set artifacts = 150, bytes = bytes + ${2 * TIERS.free.bytesMax} where account_id = ${user.userId}`;
    await setTier(user.userId, 'free');
    const { over, usage } = await get(user, '/v1/account');
    expect(names(over)).toEqual([
      ['bytes', usage.bytes, TIERS.free.bytesMax],
      ['artifacts', 150, TIERS.free.artifactsMax],
      ['public_artifacts', 1, 0],
    ]);
    for (const { message } of over) expect(message).toContain('stay');
    // Still public, and still served to everybody.
    expect((await easel.fetch(`/v1/artifacts/${id}`)).status).toBe(200);
    const renamed = await easel.fetch(`/v1/artifacts/${id}`, { token: user.token, ...patch({ name: 'Renamed' }) });
    expect([renamed.status, (await json(renamed)).visibility]).toEqual([200, 'public']);
    // What is new is stopped.
    const held = await easel.fetch(`/v1/artifacts/${other.id}`, { token: user.token, ...patch({ visibility: 'public' }) });
    expect(held.status).toBe(202);
    const refused = await publish(easel, user);
    expect([refused.status, await json(refused)]).toEqual([
      507,
      expect.objectContaining({ code: 'STORAGE_LIMIT_EXCEEDED', hint: expect.stringContaining('The plan "pro" allows 1000.') }),
    ]);
  });

  test('a workspace without its plan keeps branding, catalog, sources, grants and public pages, and lists them as over', async () => {
    const owner = await easel.newUser();
    const workspace = await newWorkspace(easel, { [owner.userId]: 'owner' }, { tier: 'team', slug: 'mappers' });
    const path = `/v1/workspaces/${workspace}`;
    expect((await get(owner, `${path}/plan`)).over).toEqual([]);
    expect((await easel.fetch(path, { token: owner.token, ...patch({ branding: { hide_footer: true } }) })).status).toBe(200);
    expect((await easel.fetch(`${path}/catalog/enable`, { token: owner.token, method: 'POST' })).status).toBe(200);
    const page = await published(easel, owner, { workspace_id: workspace, visibility: 'public' });
    await replan(workspace, 'team', 'canceled');
    const plan = await get(owner, `${path}/plan`);
    expect(plan).toMatchObject({
      tier: 'team',
      status: 'canceled',
      in_force: 'free',
      usage: { members: 1 },
      features: { catalog: { enabled: false } },
    });
    expect(names(plan.over)).toEqual([
      ['public_artifacts', 1, 0],
      ['catalog', 1, 0],
      ['custom_branding', 1, 0],
    ]);
    expect((await get(owner, path)).branding.hide_footer).toBe(true);
    expect((await easel.fetch(`/v1/artifacts/${page.id}`)).status).toBe(200);
    expect((await easel.fetch(path, { token: owner.token, ...patch({ branding: { logo: 'https://example.com/a.png' } }) })).status).toBe(
      402,
    );
    // Taking it back needs no plan.
    expect((await easel.fetch(path, { token: owner.token, ...patch({ branding: { hide_footer: false } }) })).status).toBe(200);
    await replan(workspace, 'team');
    expect((await get(owner, `${path}/plan`)).over).toEqual([]);
    expect((await get(owner, `${path}/catalog`)).enabled).toBe(true);
  });

  test('more members than a smaller plan has seats for stay, and the next one is refused', async () => {
    const owner = await easel.newUser();
    const workspace = await newWorkspace(easel, { [owner.userId]: 'owner' });
    const { membersMax } = TIERS.free;
    await easel.sql`
      insert into account (id, person_id, tier, is_admin, created_at_ms)
      select 'usr_' || lpad(n::text, 24, '0'), 'prs_' || lpad(n::text, 24, '0'), 'free', false, 1 from generate_series(1, ${membersMax}) n`;
    await easel.sql`
      insert into workspace_member (workspace_id, user_id, role, joined_at_ms)
      select ${workspace}, 'usr_' || lpad(n::text, 24, '0'), 'member', 1 from generate_series(1, ${membersMax}) n`;
    expect(names((await get(owner, `/v1/workspaces/${workspace}/plan`)).over)).toEqual([['members', membersMax + 1, membersMax]]);
    const next = await easel.newUser();
    await easel.sql`update account set email = 'seat@example.com' where id = ${next.userId}`;
    const added = await easel.fetch(`/v1/workspaces/${workspace}/members`, {
      token: owner.token,
      ...post({ email: 'seat@example.com', role: 'member' }),
    });
    expect([added.status, (await json(added)).code]).toEqual([409, 'WORKSPACE_LIMIT_EXCEEDED']);
  });

  describe('402', () => {
    let owner: TestUser;
    let workspace: string;
    beforeAll(async () => {
      owner = await easel.newUser();
      workspace = await newWorkspace(easel, { [owner.userId]: 'owner' }, { slug: `free-${database}` });
    });

    test('says which plan has it and gives the whole address of the billing screen', async () => {
      const reply = await easel.fetch(`/v1/workspaces/${workspace}`, { token: owner.token, ...patch({ branding: { hide_footer: true } }) });
      expect([reply.status, await json(reply)]).toEqual([
        402,
        expect.objectContaining({
          code: 'PLAN_REQUIRED',
          param: 'branding',
          hint: expect.stringContaining('"pro"'),
          redirect_url: expect.stringMatching(new RegExp(`^http://[^/]+:${easel.port}/w/free-${database}/billing$`)),
        }),
      ]);
    });

    test('external sharing keeps its own code and status, and says the same', async () => {
      const reply = await easel.fetch(`/v1/workspaces/${workspace}/sharees`, { token: owner.token, ...post({ name: 'Client' }) });
      expect([reply.status, await json(reply)]).toEqual([
        403,
        expect.objectContaining({
          code: 'EXTERNAL_SHARING_NOT_ENTITLED',
          hint: expect.stringContaining('"team"'),
          redirect_url: expect.stringMatching(new RegExp(`^http://[^/]+:${easel.port}/w/free-${database}/billing$`)),
        }),
      ]);
    });

    test('a browser gets a page with a link to it', async () => {
      const reply = await easel.fetch(`/v1/workspaces/${workspace}/catalog/enable`, {
        token: owner.token,
        method: 'POST',
        headers: { accept: 'text/html' },
      });
      expect(reply.status).toBe(402);
      expect(await reply.text()).toContain(`href="/w/free-${database}/billing"`);
    });

    test('an agent of the workspace reads the plan, and one of another does not', async () => {
      const agent = await newAgent(easel, workspace as never, ['artifacts:read']);
      expect((await get(agent, `/v1/workspaces/${workspace}/plan`)).in_force).toBe('free');
      const stranger = await easel.newUser();
      expect((await easel.fetch(`/v1/workspaces/${workspace}/plan`, { token: stranger.token })).status).toBe(404);
    });
  });
});
