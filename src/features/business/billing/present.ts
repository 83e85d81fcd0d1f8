/** What callers are shown of a subscription, a card and an invoice. */
import type { z } from 'zod';
import type { invoice, paymentMethod, subscription } from '../../../../protocol/business/billing.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { InvoiceRow, MethodRow, PayingRow } from './payment-rows.ts';
import type { SubscriptionRow } from './rows.ts';
import { effective, endsAtMs } from './rules.ts';

const time = (ms: number | null) => (ms === null ? null : dateTime(ms));

export function presentSubscription(
  row: SubscriptionRow,
  { hasCard, creditCents }: PayingRow,
  nowMs: number,
): z.input<typeof subscription> {
  const has = effective(row, nowMs);
  const isLess = row.kept !== null && row.kept.untilMs > nowMs;
  return {
    subscription_id: row.id,
    workspace_id: row.workspaceId,
    status: row.status,
    plan: has.planId,
    seats: has.seats,
    trial_ends_at: time(row.trialEndsAtMs),
    has_card: hasCard,
    credit_cents: creditCents,
    period_ends_at: time(row.periodEndsAtMs),
    cancel_at_period_end: row.cancelAtPeriodEnd,
    pending: isLess ? { plan: row.planId, seats: row.seats, at: dateTime(row.kept.untilMs) } : null,
    past_due_since: time(row.pastDueSinceMs),
    ends_at: time(endsAtMs(row, hasCard)),
    action_url: row.actionUrl,
    created_at: dateTime(row.createdAtMs),
    canceled_at: time(row.canceledAtMs),
  };
}

/** One of a provider that is not used any more: it ends with what was paid there. */
export function presentFormer(row: SubscriptionRow, nowMs: number): z.input<typeof subscription> {
  const shown = presentSubscription({ ...row, kept: null, actionUrl: null }, { hasCard: false, creditCents: 0 }, nowMs);
  return { ...shown, cancel_at_period_end: true, ends_at: time(row.periodEndsAtMs) };
}

export function presentMethod(row: MethodRow): z.input<typeof paymentMethod> {
  const { id, brand, last4, expMonth, expYear, isDefault, createdAtMs } = row;
  return {
    id,
    kind: 'card',
    brand,
    last4,
    exp_month: expMonth,
    exp_year: expYear,
    is_default: isDefault,
    created_at: dateTime(createdAtMs),
  };
}

export function presentInvoice(row: InvoiceRow): z.input<typeof invoice> {
  const { id, number, amountCents, currency, status, pageUrl, createdAtMs } = row;
  return { id, number, amount_cents: amountCents, currency, status, pdf_url: pageUrl, created_at: dateTime(createdAtMs) };
}
