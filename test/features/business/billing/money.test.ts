/** What was paid is not lost, what is unpaid is not forgotten, and nobody loses a plan by an old reading. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, Paying, type Stage, stages, startStage } from './paying.ts';

describe.each(stages())('money on $database with $provider', ({ database, provider }) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startStage(database, provider);
  });
  afterAll(() => stage.close());

  test('a declined upgrade leaves what was agreed for the next period', async () => {
    const paying = await Paying.make(stage);
    await paying.active('team_monthly');
    const agreed = (await paying.change({ plan_id: 'pro_monthly' })).body.pending;
    expect(agreed).toMatchObject({ plan: 'pro_monthly' });
    expect((await paying.card('tok_declined_later')).status).toBe(200);
    const refused = await paying.change({ plan_id: 'team_monthly', seats: 9 });
    expect([refused.status, refused.body.code]).toEqual([402, 'CARD_DECLINED']);
    expect(await paying.subscription()).toMatchObject({ status: 'active', plan: 'team_monthly', seats: 1, pending: agreed });
    await paying.refill();
    await paying.pass(31 * DAY_MS, async () => (await paying.charges()).length > 1);
    expect(await paying.charges()).toEqual([2000, 1200]);
  });

  test('from a year to a month: what was paid for the year pays the months', async () => {
    const paying = await Paying.make(stage);
    await paying.active('pro_yearly');
    expect(await paying.charges()).toEqual([12_000]);
    const { period_ends_at: endsAt } = await paying.subscription();
    stage.easel.clock.advance(Date.parse(endsAt ?? '') - stage.easel.clock.nowMs() - 73 * DAY_MS);
    const changed = await paying.change({ plan_id: 'pro_monthly' });
    // A fifth of the year is left, 2400, of which the first month is paid.
    expect(changed.body).toMatchObject({ plan: 'pro_monthly', pending: null, status: 'active', credit_cents: 1200 });
    expect((await paying.invoices()).map(({ amount_cents }) => amount_cents)).toEqual([-1200, 12_000]);
    await paying.pass(30 * DAY_MS, async () => (await paying.subscription()).credit_cents === 0);
    expect((await paying.invoices()).map(({ amount_cents, status }) => [amount_cents, status])).toEqual([
      [1200, 'paid'],
      [-1200, 'paid'],
      [12_000, 'paid'],
    ]);
    expect(await paying.charges()).toEqual([12_000]);
    await paying.pass(30 * DAY_MS, async () => (await paying.charges()).length > 1);
    expect(await paying.charges()).toEqual([12_000, 1200]);
  });

  test('while a payment is past due, more is there when that is paid, and not for a small payment alone', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('team_monthly');
    await paying.card('tok_insufficient_funds');
    await paying.passUntil(14 * DAY_MS, 'past_due');
    const refused = await paying.change({ seats: 2 });
    expect([refused.status, refused.body.code]).toEqual([402, 'CARD_DECLINED']);
    expect(await paying.subscription()).toMatchObject({ status: 'past_due', seats: 1 });
    expect(await paying.charges()).toEqual([]);
    await paying.refill();
    expect((await paying.change({ seats: 2 })).body).toMatchObject({ status: 'active', seats: 2, past_due_since: null });
    const [open, share] = await paying.charges();
    expect(open).toBe(2000);
    expect(share).toBeGreaterThan(1900);
    expect(new Set((await paying.invoices()).map(({ status }) => status))).toEqual(new Set(['paid']));
  });

  test('3-D Secure for what is past due: more waits until it is confirmed', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('team_monthly');
    await paying.card('tok_3ds');
    await paying.passUntil(14 * DAY_MS, 'past_due');
    const waits = await paying.change({ seats: 3 });
    expect([waits.status, waits.body.code, waits.body.error]).toEqual([
      402,
      'CARD_DECLINED',
      'The unpaid invoice waits for a confirmation by the person.',
    ]);
    await paying.confirm((await paying.subscription()).action_url);
    expect(await paying.subscription()).toMatchObject({ status: 'active', seats: 1 });
    expect((await paying.change({ seats: 3 })).body.seats).toBe(3);
  });

  test('what ends unpaid is not taken later', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('team_monthly');
    await paying.card('tok_insufficient_funds');
    await paying.passUntil(14 * DAY_MS, 'past_due');
    expect((await paying.cancel('now')).body.status).toBe('canceled');
    expect((await paying.invoices()).map(({ status }) => status)).toEqual(['void']);
  });

  test('a card that is removed leaves the newest of the others as the default', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('team_monthly');
    for (const token of ['tok_visa', 'tok_mastercard']) await paying.card(token);
    const list = async () => {
      const path = `/v1/billing/payment-methods?workspace_id=${paying.workspaceId}`;
      const { body } = await paying.call<{ payment_methods: { id: string; last4: string; is_default: boolean }[] }>(path);
      return body.payment_methods;
    };
    const last = (await list()).find(({ is_default }) => is_default);
    expect(last?.last4).toBe('4444');
    expect((await paying.call(`/v1/billing/payment-methods/${last?.id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await list()).map(({ last4, is_default }) => [last4, is_default])).toEqual([['4242', true]]);
    await paying.passUntil(14 * DAY_MS, 'active');
  });
});

describe('an old reading', () => {
  test('who has paid unheard is read again before the subscription would end', async () => {
    const [{ database }] = [...stages()] as [ReturnType<typeof stages>[number]];
    const stage = await startStage(database, 'stripe');
    const { easel, fake } = stage;
    const paying = await Paying.make(stage);
    await paying.subscribe('team_monthly');
    await paying.card('tok_insufficient_funds');
    await paying.passUntil(14 * DAY_MS, 'past_due');
    const { ends_at: endsAt } = await paying.subscription();
    const reminders = async () => {
      const [row] = await easel.sql<
        { sent: number }[]
      >`select dunning_sent as sent from billing_subscription where workspace_id = ${paying.workspaceId}`;
      return row?.sent;
    };
    await paying.pass(13 * DAY_MS, async () => (await reminders()) === 4);
    expect((await paying.subscription()).status).toBe('past_due');
    await paying.refill();
    const open = [...(fake?.books.invoices.values() ?? [])].find(({ status }) => status === 'open');
    fake?.books.pay(open?.id ?? '');
    // Nothing but the end itself looks again.
    await easel.sql`update billing_customer set looked_at_ms = ${Date.parse(endsAt ?? '')}`;
    await paying.pass(Date.parse(endsAt ?? '') - easel.clock.nowMs(), async () => (await paying.subscription()).status !== 'past_due');
    expect(await paying.subscription()).toMatchObject({ status: 'active', past_due_since: null });
    expect(await paying.plan()).toEqual({ tier: 'team', status: 'active' });
    await stage.close();
  });
});
