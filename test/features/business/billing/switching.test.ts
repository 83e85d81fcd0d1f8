/** An installation that changes its payment provider: what was paid before is used up, and nothing of before holds up what comes. */
import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, testStorage } from '../../../support/easel.ts';
import { FakeStripe } from '../../../support/fake-stripe.ts';
import { post } from '../../../support/requests.ts';
import { Paying } from './paying.ts';

describe.each(databaseKinds())('a change of the payment provider on %s', (database) => {
  test('subscriptions of before run until what was paid is used, and what was left open there is settled', async () => {
    const storage = await testStorage(database);
    const before = await startTestEasel({ storage });
    const [old, free] = [await Paying.make({ easel: before, fake: null }), await Paying.make({ easel: before, fake: null })];
    await old.active('team_monthly');
    await free.active('pro_monthly');
    const { period_ends_at: endsAt } = await old.subscription();
    await before.sql`
      insert into billing_operation (id, workspace_id, provider, kind, request, state, address, request_id, lease_until_ms, created_at_ms)
      select 'left-' || w.id, w.id, 'embedded', 'cancel', '{"kind": "cancel", "ref": "psub_1", "at": "now", "wish": ""}', 'open', '', 'r', 0, 1
      from workspace w where w.id = any(${[old.workspaceId, free.workspaceId]}::text[])`;
    await before.close();

    const time = { nowMs: () => 0 };
    const fake = await FakeStripe.start(() => time.nowMs());
    const easel = await startTestEasel({ storage, settings: fake.settings });
    time.nowMs = () => easel.clock.nowMs();
    const paying = new Paying({ easel, fake }, old.owner, old.workspaceId);
    expect(await paying.subscription()).toMatchObject({
      ...{ status: 'active', plan: 'team_monthly', cancel_at_period_end: true, ends_at: endsAt, has_card: false, pending: null },
    });
    const refused = await paying.change({ seats: 3 });
    expect([refused.status, refused.body.code]).toEqual([409, 'SUBSCRIPTION_ENDED']);
    expect(refused.body.error).toContain('does not use any more');
    expect((await paying.call('/v1/billing/resume', post({ workspace_id: paying.workspaceId }))).body.code).toBe('SUBSCRIPTION_ENDED');
    // The new one waits for its first payment; until then the plan is that of before.
    expect((await paying.subscribe('pro_monthly')).body.status).toBe('incomplete');
    expect(await paying.plan()).toEqual({ tier: 'team', status: 'active' });
    const settled = async () => {
      const rows = await easel.sql<{ state: string; failure: string }[]>`
        select state, failure from billing_operation where id like 'left-%' order by id`;
      return rows.map(({ state, failure }) => `${state} ${failure}`);
    };
    await paying.pass(60_000, async () => (await settled()).every((one) => one === 'unknown BILLING_PROVIDER_NOT_FOUND'));
    expect((await paying.card('tok_visa')).body).toMatchObject({ status: 'active', plan: 'pro_monthly' });
    expect(await paying.charges()).toEqual([1200]);
    expect(await paying.plan()).toEqual({ tier: 'pro', status: 'active' });
    // Canceled, what was paid before is there again, and then the plan that the workspace had without a subscription.
    await paying.cancel('now');
    expect(await paying.plan()).toEqual({ tier: 'team', status: 'active' });
    await paying.pass(
      Date.parse(endsAt ?? '') - easel.clock.nowMs(),
      async () => ((await paying.plan()) as { tier: string }).tier === 'free',
    );
    expect((await paying.subscription()).status).toBe('canceled');
    expect(await paying.notices()).toEqual(['billing.ended', 'billing.ended']);
    const other = new Paying({ easel, fake }, free.owner, free.workspaceId);
    const { period_ends_at: otherEndsAt } = await other.subscription();
    await other.pass(
      Date.parse(otherEndsAt ?? '') - easel.clock.nowMs(),
      async () => ((await other.plan()) as { tier: string }).tier === 'free',
    );
    expect((await other.call(`/v1/billing/subscription?workspace_id=${other.workspaceId}`)).body.code).toBe('SUBSCRIPTION_NOT_FOUND');
    await easel.close();
    await fake.close();

    // Back again, the provider of before still has what runs there.
    const again = await startTestEasel({ storage });
    const back = new Paying({ easel: again, fake: null }, free.owner, free.workspaceId);
    await back.pass(60_000, async () => (await back.call(`/v1/billing/subscription?workspace_id=${back.workspaceId}`)).status === 200);
    expect(await back.subscription()).toMatchObject({ status: 'active', plan: 'pro_monthly' });
    expect(await back.plan()).toEqual({ tier: 'pro', status: 'active' });
    await again.close();
    await storage.remove();
  });
});
