/** What a workspace may use: by its plan, by flags, and by nobody but administrators. Source: contract.md §14. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FEATURES } from '../../../../protocol/workspaces/features.ts';
import { featuresOf, isEnabled } from '../../../../src/features/business/tiers/rules.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, refusal } from '../../../support/requests.ts';
import { stageOf } from '../workspace-stage.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

test('each plan has what the ones before it have, and one that has ended comes to the free one', () => {
  const on = (plan_tier: 'free' | 'pro' | 'team', plan_status: 'active' | 'canceled' = 'active') =>
    FEATURES.filter((feature) => isEnabled({ plan_tier, plan_status, flags: {} }, feature));
  expect(on('free')).toEqual(['collab.guest_comments', 'knowledge', 'agents']);
  expect(on('pro')).toEqual(expect.arrayContaining(on('free')));
  expect(on('pro')).not.toContain('collab.external_sharing');
  expect(on('team')).toEqual([...FEATURES]);
  expect(on('team', 'canceled')).toEqual(on('free'));
});

test('a flag decides before the plan, for and against', () => {
  const flags = { catalog: { enabled: true, source: 'workspace' }, agents: { enabled: false, source: 'instance' } } as const;
  const { catalog, agents, knowledge } = featuresOf({ plan_tier: 'free', plan_status: 'active', flags });
  expect([catalog, agents, knowledge]).toEqual([flags.catalog, flags.agents, { enabled: true, source: 'plan' }]);
});

test('administrators of the installation set flags, members see them at once', async () => {
  const { id, owner, member, stranger } = await stageOf(easel, 'Features');
  const path = `/v1/workspaces/${id}/features`;
  const seen = async () => (await json(await easel.fetch(path, { token: member.token }))).features;
  expect((await seen()).catalog).toEqual({ enabled: false, source: 'plan' });
  expect(await refusal(easel.fetch(path, { token: owner.token, ...patch({ features: { catalog: true } }) }))).toEqual([
    403,
    'ADMIN_REQUIRED',
    undefined,
  ]);
  expect((await easel.fetch(path, { token: stranger.token })).status).toBe(404);
  const set = (features: object) => easel.fetch(path, { token: easel.adminToken, ...patch({ features }) });
  expect((await json(await set({ catalog: true, knowledge: false }))).features.catalog).toEqual({ enabled: true, source: 'instance' });
  expect(await seen()).toMatchObject({ catalog: { enabled: true, source: 'instance' }, knowledge: { enabled: false, source: 'instance' } });
  await set({ catalog: null });
  expect(await seen()).toMatchObject({ catalog: { enabled: false, source: 'plan' }, knowledge: { enabled: false, source: 'instance' } });
  // Administrators read so of workspaces that they are not in: nothing has happened there.
  const told = () => easel.sql`select id from audit_entry where workspace_id = ${id}`;
  const before = (await told()).length;
  expect((await json(await set({}))).features.knowledge).toEqual({ enabled: false, source: 'instance' });
  expect(await told()).toHaveLength(before);
  expect(await refusal(set({ flying: true }))).toEqual([400, 'INVALID_REQUEST', 'features.flying']);
});
