/** What a workspace pays, from a trial to its end, with the embedded provider and with Stripe. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestEasel } from '../../../support/easel.ts';
import { patch, post } from '../../../support/requests.ts';
import { DAY_MS, Paying, type Stage, stages, startStage } from './paying.ts';

describe.each(stages())('billing on $database with $provider', ({ database, provider }) => {
  let stage: Stage;
  let easel: TestEasel;
  beforeAll(async () => {
    stage = await startStage(database, provider);
    easel = stage.easel;
  });
  afterAll(() => stage.close());

  test('plans are told to anybody', async () => {
    const reply = await easel.fetch('/v1/billing/plans');
    expect(reply.status).toBe(200);
    const { plans } = (await reply.json()) as { plans: { id: string; tier: string; trial_days: number }[] };
    expect(plans.map(({ id, tier }) => [id, tier])).toEqual([
      ['pro_monthly', 'pro'],
      ['pro_yearly', 'pro'],
      ['team_monthly', 'team'],
      ['team_yearly', 'team'],
    ]);
  });

  test('a trial gives the plan at once, and without a card it ends in the free plan; nothing is charged', async () => {
    const paying = await Paying.make(stage);
    const begun = await paying.subscribe('team_monthly', { seats: 3 });
    expect(begun.status).toBe(201);
    expect(begun.body).toMatchObject({ status: 'trialing', plan: 'team_monthly', seats: 3, has_card: false });
    expect(Date.parse(begun.body.trial_ends_at ?? '')).toBe(easel.clock.nowMs() + 14 * DAY_MS);
    expect(begun.body.ends_at).toBe(begun.body.trial_ends_at);
    expect(await paying.plan()).toEqual({ tier: 'team', status: 'trialing' });
    await paying.passUntil(14 * DAY_MS, 'canceled');
    expect(await paying.plan()).toEqual({ tier: 'free', status: 'canceled' });
    expect(await paying.notices()).toEqual(['billing.trial_ended']);
    expect(await paying.charges()).toEqual([]);
  });

  test('a trial with a card becomes a paid plan, which is paid once each period', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('team_monthly', { seats: 2 });
    const saved = await paying.card('tok_visa');
    expect(saved.body).toMatchObject({ status: 'trialing', has_card: true, ends_at: null });
    expect(await paying.charges()).toEqual([]);
    await paying.passUntil(14 * DAY_MS, 'active');
    expect(await paying.charges()).toEqual([4000]);
    expect(await paying.plan()).toEqual({ tier: 'team', status: 'active' });
    await paying.pass(30 * DAY_MS, async () => (await paying.invoices()).length === 2);
    expect(await paying.charges()).toEqual([4000, 4000]);
    expect((await paying.invoices()).map(({ status, amount_cents }) => [status, amount_cents])).toEqual([
      ['paid', 4000],
      ['paid', 4000],
    ]);
    const { pathname, origin } = new URL((await paying.invoices())[0]?.pdf_url ?? '');
    if (stage.fake !== null) {
      expect(origin).toBe(stage.fake.url);
      return;
    }
    const page = await easel.fetch(pathname, { headers: { 'accept-language': 'es' } });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('Factura EASEL-000002');
  });

  test('a workspace has one trial, and so has a person: the next subscription waits for a card', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('pro_monthly');
    expect((await paying.subscribe('pro_monthly')).body.code).toBe('SUBSCRIPTION_EXISTS');
    expect((await paying.cancel('now')).body.status).toBe('canceled');
    const again = await paying.subscribe('pro_monthly');
    expect(again.status).toBe(201);
    expect(again.body).toMatchObject({ status: 'incomplete', trial_ends_at: null });
    expect(await paying.plan()).toEqual({ tier: 'free', status: 'incomplete' });
    const other = await Paying.make(stage, paying.owner);
    expect((await other.subscribe('pro_monthly')).body.status).toBe('incomplete');
    expect((await other.card('tok_mastercard')).body).toMatchObject({ status: 'active', has_card: true });
    expect(await other.charges()).toEqual([1200]);
    expect(await other.plan()).toEqual({ tier: 'pro', status: 'active' });
  });

  test('a declined card is told, and nothing changes', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('pro_monthly');
    const declined = await paying.card('tok_declined');
    expect([declined.status, declined.body.code]).toEqual([402, 'CARD_DECLINED']);
    expect((await paying.subscription()).has_card).toBe(false);
    const unknown = await paying.card('tok_unheard_of');
    expect([unknown.status, unknown.body.code, unknown.body.param]).toEqual([400, 'INVALID_REQUEST', 'token']);
    // A refused change is over: the next one is not held up.
    expect((await paying.card('tok_visa')).status).toBe(200);
  });

  test('a card that is declined at the renewal: everything works for two weeks, with reminders, and then ends', async () => {
    const paying = await Paying.make(stage);
    await easel.sql`update account set email = ${`${paying.owner.userId}@example.com`} where id = ${paying.owner.userId}`;
    await paying.subscribe('team_monthly');
    await paying.card('tok_insufficient_funds');
    await paying.passUntil(14 * DAY_MS, 'past_due');
    expect(await paying.plan()).toEqual({ tier: 'team', status: 'past_due' });
    const mails = async () => {
      const rows = await easel.sql<{ kind: string }[]>`
        select kind from mail_outbox where recipient = ${`${paying.owner.userId}@example.com`} order by created_at_ms, kind`;
      return rows.map(({ kind }) => kind);
    };
    expect(await mails()).toEqual(['billing_unpaid']);
    for (const [day, sent] of [
      [3, 2],
      [4, 3],
      [6, 4],
    ] as const) {
      await paying.pass(day * DAY_MS, async () => (await mails()).length === sent);
      expect((await paying.subscription()).status).toBe('past_due');
    }
    await paying.passUntil(DAY_MS, 'canceled');
    expect(await mails()).toEqual(['billing_unpaid', 'billing_unpaid', 'billing_unpaid', 'billing_unpaid', 'billing_ended']);
    expect(await paying.plan()).toEqual({ tier: 'free', status: 'canceled' });
    expect(await paying.notices()).toEqual(['billing.ended_unpaid', 'billing.payment_failed']);
    expect(await paying.charges()).toEqual([]);
  });

  test('another card pays what is past due', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('pro_yearly');
    await paying.card('tok_declined_later');
    await paying.passUntil(14 * DAY_MS, 'past_due');
    expect((await paying.card('tok_visa')).body).toMatchObject({ status: 'active', past_due_since: null });
    expect(await paying.charges()).toEqual([12_000]);
  });

  test('3-D Secure: the payment waits on a page of the bank, and is made when the person confirms it there', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('pro_monthly');
    await paying.cancel('now');
    await paying.subscribe('pro_monthly');
    const waiting = await paying.card('tok_3ds');
    expect(waiting.status).toBe(200);
    expect(waiting.body.status).toBe('incomplete');
    const { action_url: actionUrl } = waiting.body;
    const { pathname, origin } = new URL(actionUrl ?? '');
    if (stage.fake === null) expect(await (await easel.fetch(pathname)).text()).toContain('12.00 USD');
    expect(await paying.charges()).toEqual([]);
    await paying.confirm(actionUrl);
    expect(await paying.subscription()).toMatchObject({ status: 'active', action_url: null });
    expect(await paying.charges()).toEqual([1200]);
    if (stage.fake !== null) return;
    // The page is gone with the question: a second form pays nothing.
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded', origin }, body: 'answer=confirm' };
    expect((await easel.fetch(pathname, form)).status).toBe(404);
    expect(await paying.charges()).toEqual([1200]);
  });

  test('more is there at once and paid in proportion; less comes with the next period', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('team_monthly', { seats: 2 });
    await paying.card('tok_visa');
    await paying.passUntil(14 * DAY_MS, 'active');
    const { period_ends_at: endsAt } = await paying.subscription();
    easel.clock.advance(Date.parse(endsAt ?? '') - easel.clock.nowMs() - 15 * DAY_MS);
    expect((await paying.change({ seats: 4 })).body).toMatchObject({ seats: 4, pending: null });
    expect(await paying.charges()).toEqual([4000, 2000]);
    const less = await paying.change({ plan_id: 'pro_monthly', seats: 1 });
    expect(less.body).toMatchObject({ plan: 'team_monthly', seats: 4, pending: { plan: 'pro_monthly', seats: 1, at: endsAt } });
    expect(await paying.plan()).toEqual({ tier: 'team', status: 'active' });
    // Taken back, and wanted again.
    const resume = post({ workspace_id: paying.workspaceId });
    expect((await paying.call('/v1/billing/resume', resume)).body).toMatchObject({ plan: 'team_monthly', seats: 4, pending: null });
    await paying.change({ plan_id: 'pro_monthly', seats: 1 });
    // What is paid already is not paid again on the way up.
    expect((await paying.change({ seats: 6, plan_id: 'team_monthly' })).body).toMatchObject({ seats: 6, pending: null });
    expect((await paying.charges()).slice(2)).toEqual([2000]);
    await paying.change({ plan_id: 'pro_monthly', seats: 1 });
    // The plan follows what was agreed, also before the provider has taken the money.
    await paying.pass(
      15 * DAY_MS,
      async () => ((await paying.plan()) as { tier: string }).tier === 'pro' && (await paying.charges()).length > 3,
    );
    expect(await paying.plan()).toEqual({ tier: 'pro', status: 'active' });
    expect((await paying.charges()).slice(3)).toEqual([1200]);
  });

  test('a declined change leaves the plan as it was', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('team_monthly');
    await paying.card('tok_visa');
    await paying.passUntil(14 * DAY_MS, 'active');
    expect((await paying.card('tok_declined_later')).status).toBe(200);
    const refused = await paying.change({ seats: 9 });
    expect([refused.status, refused.body.code]).toEqual([402, 'CARD_DECLINED']);
    expect(await paying.subscription()).toMatchObject({ status: 'active', seats: 1 });
    expect(await paying.charges()).toEqual([2000]);
  });

  test('there is a seat for each member', async () => {
    const paying = await Paying.make(stage);
    const colleague = await easel.newUser();
    await easel.sql`
      insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${paying.workspaceId}, ${colleague.userId}, 'member', 1)`;
    expect((await paying.subscribe('team_monthly', { seats: 1 })).body).toMatchObject({ code: 'SEATS_TOO_FEW', param: 'seats' });
    expect((await paying.subscribe('team_monthly')).body.seats).toBe(2);
    expect((await paying.change({ seats: 1 })).body.code).toBe('SEATS_TOO_FEW');
    const third = await easel.newUser();
    await easel.sql`update account set email = 'third@acme.example' where id = ${third.userId}`;
    const add = () => paying.call(`/v1/workspaces/${paying.workspaceId}/members`, post({ email: 'third@acme.example', role: 'member' }));
    expect((await add()).body).toMatchObject({
      code: 'WORKSPACE_LIMIT_EXCEEDED',
      error: 'All 2 seats that the workspace pays for are taken.',
    });
    expect((await paying.change({ seats: 3 })).body.seats).toBe(3);
    expect((await add()).status).toBe(201);
  });

  test('canceled at the end of the period it runs until then, and can be taken back; canceled now it is over', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('pro_monthly');
    await paying.card('tok_visa');
    await paying.passUntil(14 * DAY_MS, 'active');
    const ending = await paying.cancel('period_end');
    expect(ending.body).toMatchObject({ status: 'active', cancel_at_period_end: true, ends_at: ending.body.period_ends_at });
    expect((await paying.call('/v1/billing/resume', post({ workspace_id: paying.workspaceId }))).body).toMatchObject({
      cancel_at_period_end: false,
      ends_at: null,
    });
    await paying.cancel('period_end');
    await paying.passUntil(30 * DAY_MS, 'canceled');
    expect(await paying.charges()).toEqual([1200]);
    expect((await paying.change({ seats: 2 })).body.code).toBe('SUBSCRIPTION_ENDED');
    expect((await paying.cancel('now')).body.code).toBe('SUBSCRIPTION_ENDED');
    expect(await paying.plan()).toEqual({ tier: 'free', status: 'canceled' });
  });

  test('a change by an old state is refused', async () => {
    const paying = await Paying.make(stage);
    await paying.subscribe('pro_monthly');
    const path = `/v1/billing/subscription?workspace_id=${paying.workspaceId}`;
    const etag = (await paying.call(path)).headers.get('etag') ?? '';
    const body = { workspace_id: paying.workspaceId, seats: 2 };
    const change = patch(body);
    const withTag = { ...change, headers: { ...(change.headers as Record<string, string>), 'if-match': etag } };
    expect((await paying.call('/v1/billing/subscription', withTag)).status).toBe(200);
    expect((await paying.call('/v1/billing/subscription', withTag)).body.code).toBe('VERSION_CONFLICT');
  });
});
