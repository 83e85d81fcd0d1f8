/** What Stripe's objects are to us. */
import type Stripe from 'stripe';
import { invoice, type SubscriptionStatus } from '../../../../../protocol/business/billing.ts';
import { planId } from '../../../../../protocol/business/billing-plans.ts';
import { idSchema } from '../../../../../protocol/core/ids.ts';
import type { Kept, SeenInvoice, SeenMethod, SeenSubscription } from '../provider.ts';

const STATES: Readonly<Record<string, SubscriptionStatus>> = {
  trialing: 'trialing',
  active: 'active',
  past_due: 'past_due',
  unpaid: 'past_due',
  paused: 'past_due',
  incomplete: 'incomplete',
  incomplete_expired: 'canceled',
  canceled: 'canceled',
};

const ms = (seconds: number | null | undefined) => (seconds === null || seconds === undefined ? null : seconds * 1000);

/** The id of what is named, or given whole. */
export function refOf(thing: unknown): string | null {
  if (typeof thing === 'string') return thing;
  const { id } = (thing ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' ? id : null;
}

/** Null for one that was not made by us. */
export function seenSubscription(one: Stripe.Subscription): SeenSubscription | null {
  const [item] = one.items.data;
  const id = idSchema('subscription').safeParse(one.metadata.subscription);
  const plan = planId.safeParse(one.metadata.plan);
  const seats = Number(one.metadata.seats);
  if (item === undefined || !id.success || !plan.success || !(seats > 0)) return null;
  // A state that Stripe has added since: what is unpaid is not taken away.
  const status = STATES[one.status] ?? 'past_due';
  const last = typeof one.latest_invoice === 'string' ? null : one.latest_invoice;
  const waits = last?.status === 'open' && (status === 'incomplete' || status === 'past_due');
  return {
    ref: one.id,
    id: id.data,
    status,
    planId: plan.data,
    seats,
    kept: status === 'canceled' ? null : keptIn(one.metadata),
    trialEndsAtMs: ms(one.trial_end),
    periodEndsAtMs: ms(item.current_period_end),
    cancelAtPeriodEnd: one.cancel_at_period_end,
    actionUrl: waits ? (last.hosted_invoice_url ?? null) : null,
    canceledAtMs: status === 'canceled' ? ms(one.ended_at ?? one.canceled_at) : null,
    createdAtMs: one.created * 1000,
  };
}

function keptIn({ kept_plan, kept_seats, kept_until }: Stripe.Metadata): Kept | null {
  const plan = planId.safeParse(kept_plan);
  const seats = Number(kept_seats);
  const untilMs = Number(kept_until);
  return plan.success && seats > 0 && untilMs > 0 ? { planId: plan.data, seats, untilMs } : null;
}

export function seenMethod(one: Stripe.PaymentMethod, defaultRef: string | null): SeenMethod | null {
  if (one.card === undefined) return null;
  const { brand, last4, exp_month: expMonth, exp_year: expYear } = one.card;
  return { ref: one.id, brand, last4, expMonth, expYear, isDefault: one.id === defaultRef, createdAtMs: one.created * 1000 };
}

/** Null for one of nothing, with which Stripe begins a trial. */
export function seenInvoice(one: Stripe.Invoice): SeenInvoice | null {
  if (one.total === 0) return null;
  const status = invoice.shape.status.safeParse(one.status);
  if (one.id === undefined || !status.success) return null;
  const { id: ref, number, total: amountCents, currency } = one;
  return {
    ref,
    number,
    amountCents,
    currency,
    status: status.data,
    pageUrl: one.invoice_pdf ?? one.hosted_invoice_url ?? null,
    createdAtMs: one.created * 1000,
  };
}
