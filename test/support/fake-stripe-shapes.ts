/** Stripe's objects as its REST API writes them, checked against the types of the package. */
import type Stripe from 'stripe';
import type { Charge, Customer, Invoice, Method, Price, Session, Subscription } from './fake-stripe-things.ts';

/** Fields of the type alone. */
type Shape<T> = { [Name in keyof T]?: unknown };

export const list = (url: string, data: readonly unknown[], limit: number) => {
  return { object: 'list', url, has_more: data.length > limit, data: data.slice(0, limit) };
};

export function customerShape({ id, name, metadata, defaultMethod, balance, isDeleted, created }: Customer): Shape<Stripe.Customer> {
  if (isDeleted) return { id, object: 'customer', deleted: true } as Shape<Stripe.Customer>;
  return {
    ...{ id, object: 'customer', name, metadata, balance, created, livemode: false, delinquent: false, email: null, currency: 'usd' },
    invoice_settings: { custom_fields: null, default_payment_method: defaultMethod, footer: null, rendering_options: null },
  };
}

export function methodShape({ id, customer, brand, last4, created }: Method): Shape<Stripe.PaymentMethod> {
  const card = {
    brand,
    last4,
    exp_month: 12,
    exp_year: 2034,
    country: 'US',
    funding: 'credit',
    fingerprint: 'f',
    checks: null,
    wallet: null,
  };
  return {
    id,
    object: 'payment_method',
    type: 'card',
    customer,
    card,
    created,
    livemode: false,
    metadata: {},
    allow_redisplay: 'unspecified',
  };
}

export function priceShape({ id, lookupKey, unitAmount, interval }: Price): Shape<Stripe.Price> {
  return {
    ...{
      id,
      object: 'price',
      active: true,
      currency: 'usd',
      lookup_key: lookupKey,
      unit_amount: unitAmount,
      type: 'recurring',
      livemode: false,
    },
    recurring: { interval, interval_count: 1, meter: null, usage_type: 'licensed', trial_period_days: null },
  };
}

/** `latest`: the invoice itself where it was asked for by `expand`. */
export function subscriptionShape(one: Subscription, latest: Shape<Stripe.Invoice> | null): Shape<Stripe.Subscription> {
  const { id, itemId, customer, price, quantity, status, metadata, trialEnd, periodStart, periodEnd } = one;
  const item = { id: itemId, object: 'subscription_item', subscription: id, price: priceShape(price), quantity, metadata: {} };
  return {
    ...{
      id,
      object: 'subscription',
      customer,
      status,
      metadata,
      currency: 'usd',
      livemode: false,
      collection_method: 'charge_automatically',
    },
    ...{ billing_mode: { type: 'flexible' }, default_payment_method: null, schedule: null, pending_update: null, created: one.created },
    ...{ cancel_at_period_end: one.cancelAtPeriodEnd, canceled_at: one.canceledAt, ended_at: one.endedAt, cancel_at: null },
    ...{
      trial_end: trialEnd,
      trial_start: trialEnd === null ? null : one.created,
      start_date: one.created,
      billing_cycle_anchor: periodEnd,
    },
    items: list(
      `/v1/subscription_items?subscription=${id}`,
      [{ ...item, current_period_start: periodStart, current_period_end: periodEnd }],
      20,
    ),
    latest_invoice: latest ?? one.latestInvoice,
  };
}

export function invoiceShape(one: Invoice, baseUrl: string): Shape<Stripe.Invoice> {
  const { id, customer, subscription, number, reason, total, startingBalance, amountDue, status, attempted, created } = one;
  const paid = status === 'paid' ? amountDue : 0;
  return {
    ...{ id, object: 'invoice', customer, number, billing_reason: reason, total, subtotal: total, starting_balance: startingBalance },
    ...{ amount_due: amountDue, amount_paid: paid, amount_remaining: amountDue - paid, currency: 'usd', status, attempted, created },
    ...{ collection_method: 'charge_automatically', auto_advance: status === 'open', livemode: false, metadata: {} },
    parent: { type: 'subscription_details', quote_details: null, subscription_details: { subscription, metadata: {} } },
    hosted_invoice_url: `${baseUrl}/i/${id}`,
    invoice_pdf: `${baseUrl}/i/${id}/pdf`,
  };
}

export function chargeShape({ id, customer, amount, created }: Charge): Shape<Stripe.Charge> {
  return { id, object: 'charge', customer, amount, amount_captured: amount, currency: 'usd', status: 'succeeded', paid: true, created };
}

export function sessionShape(
  { id, customer, successUrl, status, method, expires }: Session,
  baseUrl: string,
): Shape<Stripe.Checkout.Session> {
  return {
    ...{ id, object: 'checkout.session', mode: 'setup', customer, status, success_url: successUrl, expires_at: expires, livemode: false },
    ...{
      payment_status: 'no_payment_required',
      client_secret: null,
      currency: 'usd',
      url: status === 'open' ? `${baseUrl}/c/${id}` : null,
    },
    setup_intent: {
      id: `seti_${id}`,
      object: 'setup_intent',
      customer,
      payment_method: method,
      status: method === null ? 'requires_payment_method' : 'succeeded',
    },
  };
}
