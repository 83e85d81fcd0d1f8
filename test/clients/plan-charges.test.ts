/** What the app says of a change of the plan is what the server decides and the embedded provider charges. */
import { expect, test } from 'vitest';
import { PLANS, type PlanId } from '../../protocol/business/billing-plans.ts';
import { newId } from '../../protocol/core/ids.ts';
import { chargeFor } from '../../src/clients/web/state/charges.ts';
import { Ledger, newLedger } from '../../src/features/business/billing/embedded/ledger.ts';
import { changeTo } from '../../src/features/business/billing/rules.ts';

const DAY_MS = 24 * 3_600_000;
/** A period of the ledger has 30 days, as this month has. */
const ENDS_MS = Date.UTC(2026, 4, 1);

type Held = readonly [PlanId, number];

/** A plan in the middle of a period that is paid, and what a change of it comes to. */
function change([planId, seats]: Held, [wantedId, wantedSeats]: Held, daysLeft: number) {
  const nowMs = ENDS_MS - daysLeft * DAY_MS;
  let no = 0;
  const fresh = (prefix: string) => `${prefix}_${++no}`;
  const begun = new Ledger(newLedger('cus', 'Maps'), ENDS_MS - 30 * DAY_MS, fresh);
  begun.attach('tok_visa');
  begun.subscribe({ id: newId('subscription'), planId, seats, trialEndsAtMs: null });
  const [subscription] = begun.state.subscriptions;
  if (subscription === undefined) throw new Error('there is no subscription');
  const mirrored = { ...subscription, actionUrl: null, pastDueSinceMs: null, dunningSent: 0 };
  const decided = changeTo(mirrored, { planId: wantedId, seats: wantedSeats }, nowMs);
  const ledger = new Ledger(begun.state, nowMs, fresh);
  if (decided.kind === 'now') {
    ledger.change(subscription.ref, { planId: wantedId, seats: wantedSeats, isProrated: decided.isProrated, kept: null });
  }
  const charged = ledger.state.charges.slice(1).reduce((sum, { amountCents }) => sum + amountCents, 0);
  const current = {
    status: subscription.status,
    plan: planId,
    seats,
    pending: null,
    trial_ends_at: null,
    period_ends_at: new Date(subscription.periodEndsAtMs).toISOString(),
  };
  return { charge: chargeFor({ current, has: PLANS[planId], wanted: PLANS[wantedId], seats: wantedSeats, nowMs }), decided, charged };
}

test.each([
  [['team_monthly', 2], ['team_monthly', 5], 10],
  [['pro_monthly', 1], ['team_monthly', 3], 30],
  [['pro_monthly', 1], ['pro_yearly', 1], 20],
  [['team_monthly', 3], ['team_yearly', 3], 1],
] as const)('%j to %j with %i days left is charged now', (has, wanted, daysLeft) => {
  const { charge, decided, charged } = change(has, wanted, daysLeft);
  expect(decided.kind).toBe('now');
  expect(charge).toMatchObject({ nowCents: charged });
  expect(charged).toBeGreaterThan(0);
});

test.each([
  [['team_monthly', 5], ['team_monthly', 2], 'later'],
  [['team_monthly', 2], ['pro_monthly', 2], 'later'],
  [['team_monthly', 2], ['team_monthly', 2], 'same'],
] as const)('%j to %j costs nothing now: %s', (has, wanted, kind) => {
  const { charge, decided, charged } = change(has, wanted, 10);
  expect([charge.kind, decided.kind, charged]).toEqual([kind, kind === 'same' ? 'none' : 'later', 0]);
});
