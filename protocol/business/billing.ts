/** What a workspace pays, how, and for what. Source: spec.md, "Billing and account"; contract.md §12, §17. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { changesTo } from '../core/round-trip.ts';
import { boundedText } from '../core/text.ts';
import { tier } from '../people/accounts.ts';
import { plan, planId } from './billing-plans.ts';
import { hasCardNumber } from './card-number.ts';

export const subscriptionStatus = z.enum(['trialing', 'active', 'past_due', 'canceled', 'incomplete']).meta({
  description:
    '`trialing`: free until trial_ends_at; `active`: paid; `past_due`: the last payment was refused, and everything still works; `incomplete`: the first payment has not succeeded; `canceled`: over, the workspace has the free plan',
});
export type SubscriptionStatus = z.infer<typeof subscriptionStatus>;

const seats = z.number().int().min(1).max(LIMITS.seatsMax);

export const subscription = z.object({
  subscription_id: idSchema('subscription'),
  workspace_id: idSchema('workspace'),
  status: subscriptionStatus,
  plan: planId,
  seats: z.number().int(),
  trial_ends_at: dateTime.nullable().meta({ description: 'null where there was no trial' }),
  has_card: z.boolean(),
  credit_cents: z.number().int().meta({ description: 'what was paid and is not used yet: the next invoices are paid with it first' }),
  period_ends_at: dateTime.nullable().meta({ description: 'when the next payment is due, or where nothing more is paid, the end' }),
  cancel_at_period_end: z.boolean(),
  pending: z
    .object({ plan: planId, seats: z.number().int(), at: dateTime })
    .nullable()
    .meta({ description: 'a smaller plan or fewer seats, which come with the next period' }),
  past_due_since: dateTime.nullable(),
  ends_at: dateTime.nullable().meta({ description: 'when it is canceled unless something is done: unpaid, without a card, or canceled' }),
  action_url: z
    .string()
    .nullable()
    .meta({ description: 'a page on which a person confirms a payment to their bank (3-D Secure); null where nothing waits' }),
  created_at: dateTime,
  canceled_at: dateTime.nullable(),
});

export const paymentMethod = z.object({
  id: idSchema('paymentMethod'),
  kind: z.literal('card'),
  brand: z.string(),
  last4: z.string(),
  exp_month: z.number().int(),
  exp_year: z.number().int(),
  is_default: z.boolean().meta({ description: 'what the subscription is paid with' }),
  created_at: dateTime,
});

export const invoice = z.object({
  id: idSchema('invoice'),
  number: z.string().nullable().meta({ description: 'null for a draft' }),
  amount_cents: z.number().int(),
  currency: z.string(),
  status: z.enum(['draft', 'open', 'paid', 'void', 'uncollectible']),
  pdf_url: z.string().nullable(),
  created_at: dateTime,
});

export const checkout = z.object({
  checkout_id: idSchema('checkout'),
  checkout_url: z.string().meta({ description: 'a page of the payment provider on which a person saves a card; open it in a browser' }),
  client_secret: z.string().nullable().meta({ description: 'where the provider’s form is shown in a page of ours' }),
  expires_at: dateTime,
});

const inWorkspace = z.object({ workspace_id: idSchema('workspace') });
const paymentToken = boundedText(LIMITS.paymentTokenCharsMax)
  .min(1)
  .refine((text) => !hasCardNumber(text), 'must be a token of the payment provider, never a card number')
  .meta({ description: 'a token or payment method of the provider, such as tok_… or pm_…' });

const subscribing = z.strictObject({
  workspace_id: idSchema('workspace'),
  plan_id: planId,
  seats: seats.optional().meta({ description: 'at least one for each member, which is the default' }),
});

export const subscriptionUpdate = changesTo(subscription, {
  workspace_id: idSchema('workspace'),
  plan_id: planId.optional(),
  seats: seats.optional(),
}).refine(({ plan_id, seats }) => plan_id !== undefined || seats !== undefined, 'must have plan_id or seats');

const checkoutFor = z
  .strictObject({
    workspace_id: idSchema('workspace').optional(),
    subscription_id: idSchema('subscription').optional(),
    return_to: boundedText(LIMITS.returnToCharsMax)
      .optional()
      .meta({ description: 'a path of this host to come back to; `checkout_id` is added to it. Anything else is ignored' }),
  })
  .refine(
    (body) => (body.workspace_id === undefined) !== (body.subscription_id === undefined),
    'must name a workspace by workspace_id or a subscription by subscription_id',
  );

const person = { who: 'account', person: true } as const;
const json = <S extends z.ZodType>(schema: S) => ({ kind: 'json', schema, bytesMax: LIMITS.bodyBytesMax }) as const;
const write = { group: 'billing', access: person, limit: 'billing' } as const;
const read = { method: 'GET', group: 'billing', access: person, limit: 'none' } as const;
const oneMethod = z.object({ paymentMethodId: idSchema('paymentMethod') });
const ok = { ok: { status: 200, body: subscription } } as const;

/** Of a caller who may not: strangers are told nothing of the workspace. */
const forbidden = ['WORKSPACE_NOT_FOUND', 'BILLING_ROLE_REQUIRED'] as const;
/** Of a call that reaches the provider. */
const atProvider = ['BILLING_IN_PROGRESS', 'BILLING_UNAVAILABLE'] as const;

export const billing = {
  'billing.plans': endpoint({
    method: 'GET',
    path: '/v1/billing/plans',
    group: 'billing',
    summary: 'The plans that a workspace can buy.',
    access: { who: 'anyone' },
    limit: 'none',
    conditional: true,
    replies: { ok: { status: 200, body: z.object({ plans: z.array(plan) }) } },
    errors: [],
  }),
  'billing.subscribe': endpoint({
    ...write,
    method: 'POST',
    path: '/v1/billing/subscribe',
    summary:
      'Subscribes a workspace. Its first subscription, and the first of the person and of who made the workspace, begins with a trial that needs no card; another one is `incomplete` until a card pays it.',
    body: json(subscribing),
    replies: { created: { status: 201, body: subscription } },
    errors: [...forbidden, 'SUBSCRIPTION_EXISTS', 'SEATS_TOO_FEW', 'CARD_DECLINED', ...atProvider],
  }),
  'billing.subscription': endpoint({
    ...read,
    path: '/v1/billing/subscription',
    summary: 'The subscription of a workspace; the last one, where it has ended.',
    query: inWorkspace,
    conditional: true,
    replies: ok,
    errors: [...forbidden, 'SUBSCRIPTION_NOT_FOUND'],
  }),
  'billing.update': endpoint({
    ...write,
    method: 'PATCH',
    path: '/v1/billing/subscription',
    summary:
      'Changes plan or seats. More is there at once and paid in proportion to the rest of the period; less comes with the next period. Another interval begins a new period at once, and what was paid beyond it becomes a credit. What is past due is paid before more is there. During a trial everything is free and at once.',
    conditional: true,
    resource: 'billing.subscription',
    body: json(subscriptionUpdate),
    replies: ok,
    errors: [
      ...forbidden,
      'SUBSCRIPTION_NOT_FOUND',
      'SUBSCRIPTION_ENDED',
      'SEATS_TOO_FEW',
      'CARD_DECLINED',
      'VERSION_CONFLICT',
      ...atProvider,
    ],
  }),
  'billing.cancel': endpoint({
    ...write,
    method: 'POST',
    path: '/v1/billing/cancel',
    summary: 'Cancels the subscription, now or when what is paid has been used. Nothing is deleted, and nothing is paid back.',
    body: json(inWorkspace.extend({ at: z.enum(['now', 'period_end']).default('period_end') }).strict()),
    replies: ok,
    errors: [...forbidden, 'SUBSCRIPTION_NOT_FOUND', 'SUBSCRIPTION_ENDED', ...atProvider],
  }),
  'billing.resume': endpoint({
    ...write,
    method: 'POST',
    path: '/v1/billing/resume',
    summary: 'Takes back a cancellation that has not happened yet, and a change that comes with the next period.',
    body: json(inWorkspace.strict()),
    replies: ok,
    errors: [...forbidden, 'SUBSCRIPTION_NOT_FOUND', 'SUBSCRIPTION_ENDED', ...atProvider],
  }),
  'billing.card': endpoint({
    ...write,
    method: 'POST',
    path: '/v1/billing/card',
    summary:
      'Saves a card by a token of the payment provider, and pays with it what is due. Card numbers are refused. Where the bank asks for a confirmation, action_url is its page.',
    body: json(z.strictObject({ subscription_id: idSchema('subscription'), token: paymentToken })),
    replies: ok,
    errors: [
      'SUBSCRIPTION_NOT_FOUND',
      'BILLING_ROLE_REQUIRED',
      'SUBSCRIPTION_ENDED',
      'CARD_DECLINED',
      'PAYMENT_METHOD_LIMIT_EXCEEDED',
      ...atProvider,
    ],
  }),
  'billing.checkoutSaveCard': endpoint({
    ...write,
    method: 'POST',
    path: '/v1/billing/checkout-save-card',
    summary: 'Begins a checkout: a page of the payment provider on which a person saves a card.',
    body: json(checkoutFor),
    replies: { created: { status: 201, body: checkout } },
    errors: [...forbidden, 'SUBSCRIPTION_NOT_FOUND', 'PAYMENT_METHOD_LIMIT_EXCEEDED', ...atProvider],
  }),
  'billing.checkoutActivate': endpoint({
    ...write,
    method: 'POST',
    path: '/v1/billing/checkout-activate',
    summary: 'Makes the card that was saved at a checkout the default, and pays with it what is due. A repeated call answers the same.',
    body: json(z.strictObject({ checkout_id: idSchema('checkout') })),
    replies: {
      ok: {
        status: 200,
        body: z.object({
          subscription: subscription.nullable().meta({ description: 'null where the workspace has none' }),
          payment_method: paymentMethod,
        }),
      },
    },
    errors: ['CHECKOUT_NOT_FOUND', 'BILLING_ROLE_REQUIRED', 'CHECKOUT_INCOMPLETE', 'CARD_DECLINED', ...atProvider],
  }),
  'billing.paymentMethods': endpoint({
    ...read,
    path: '/v1/billing/payment-methods',
    summary: 'The cards of a workspace, newest first.',
    query: inWorkspace.extend(pageQuery),
    replies: { ok: { status: 200, body: z.object({ payment_methods: z.array(paymentMethod), ...pageReply }) } },
    errors: forbidden,
  }),
  'billing.deletePaymentMethod': endpoint({
    ...write,
    method: 'DELETE',
    path: '/v1/billing/payment-methods/{paymentMethodId}',
    summary: 'Removes a card here and at the payment provider.',
    params: oneMethod,
    replies: { ok: { status: 200, body: success } },
    errors: ['PAYMENT_METHOD_NOT_FOUND', 'BILLING_ROLE_REQUIRED', 'LAST_PAYMENT_METHOD', ...atProvider],
  }),
  'billing.defaultPaymentMethod': endpoint({
    ...write,
    method: 'POST',
    path: '/v1/billing/payment-methods/{paymentMethodId}/default',
    summary: 'Pays with this card from now on.',
    params: oneMethod,
    replies: { ok: { status: 200, body: paymentMethod } },
    errors: ['PAYMENT_METHOD_NOT_FOUND', 'BILLING_ROLE_REQUIRED', 'CARD_DECLINED', ...atProvider],
  }),
  'billing.invoices': endpoint({
    ...read,
    path: '/v1/billing/invoices',
    summary: 'The invoices of a workspace, newest first. Each has a page to print or keep at pdf_url.',
    query: inWorkspace.extend(pageQuery),
    replies: { ok: { status: 200, body: z.object({ invoices: z.array(invoice), ...pageReply }) } },
    errors: forbidden,
  }),
  'billing.webhook': endpoint({
    method: 'POST',
    path: '/v1/billing/webhooks/{provider}',
    group: 'billing',
    summary: 'Takes an event of the payment provider, signed by it. Answered when it is stored; a second delivery changes nothing.',
    access: { who: 'anyone' },
    limit: 'billingEvents',
    params: z.object({ provider: z.string().max(32) }),
    body: { kind: 'bytes', bytesMax: LIMITS.billingEventBytesMax, types: ['application/json'] },
    replies: { ok: { status: 200, body: z.object({ received: z.literal(true) }) } },
    errors: ['BILLING_PROVIDER_NOT_FOUND', 'WEBHOOK_SIGNATURE_INVALID', 'INVALID_JSON', 'BILLING_UNAVAILABLE', 'UNAVAILABLE'],
  }),
  'billing.upgradeAccount': endpoint({
    ...write,
    method: 'POST',
    path: '/v1/account/upgrade',
    summary: 'Gives the account a tier without paying. For development: the setting ALLOW_SELF_UPGRADE turns it on or off.',
    body: json(z.strictObject({ tier: tier.exclude(['pro']) })),
    replies: { ok: { status: 200, body: z.object({ tier, features: z.record(z.string(), z.unknown()) }) } },
    errors: ['SELF_UPGRADE_OFF'],
  }),
} as const;
