/** Examples of billing. */
import { AT, EXAMPLE_IDS } from '../core/example.ts';
import { PLANS } from './billing-plans.ts';

const workspace_id = EXAMPLE_IDS.workspace;
const subscription_id = EXAMPLE_IDS.subscription;
const oneMethod = { params: { paymentMethodId: EXAMPLE_IDS.paymentMethod } };
const ofWorkspace = { query: { workspace_id } };
const secret = { params: { secret: 'pay_k3vq7m2xw5tz4ndh6b2crpyf' } };

const subscription = {
  subscription_id,
  workspace_id,
  status: 'trialing',
  plan: 'team_monthly',
  seats: 5,
  trial_ends_at: '2026-01-19T09:30:00.000Z',
  has_card: false,
  credit_cents: 0,
  period_ends_at: '2026-01-19T09:30:00.000Z',
  cancel_at_period_end: false,
  pending: null,
  past_due_since: null,
  ends_at: '2026-01-19T09:30:00.000Z',
  action_url: null,
  created_at: AT,
  canceled_at: null,
} as const;

const card = {
  id: EXAMPLE_IDS.paymentMethod,
  kind: 'card',
  brand: 'visa',
  last4: '4242',
  exp_month: 12,
  exp_year: 2030,
  is_default: true,
  created_at: AT,
} as const;
const paid = { ...subscription, status: 'active', has_card: true, ends_at: null } as const;

const invoice = {
  id: EXAMPLE_IDS.invoice,
  number: 'EASEL-000042',
  amount_cents: 10_000,
  currency: 'usd',
  status: 'paid',
  pdf_url: 'https://easel.example.com/pay/invoices/inv_k3vq7m2xw5tz4ndh6b2crpyf',
  created_at: AT,
} as const;

const lastPage = { has_more: false, next_cursor: null } as const;

export const billingExamples = {
  'billing.plans': { reply: { plans: Object.values(PLANS) } },
  'billing.subscribe': { body: { workspace_id, plan_id: 'team_monthly', seats: 5 }, reply: subscription },
  'billing.subscription': { ...ofWorkspace, reply: subscription },
  'billing.update': { body: { workspace_id, plan_id: 'team_yearly', seats: 8 } },
  'billing.cancel': { body: { workspace_id, at: 'period_end' }, reply: { ...subscription, cancel_at_period_end: true } },
  'billing.resume': { body: { workspace_id }, reply: subscription },
  'billing.card': { body: { subscription_id, token: 'tok_visa' }, reply: paid },
  'billing.checkoutSaveCard': {
    body: { workspace_id },
    reply: {
      checkout_id: EXAMPLE_IDS.checkout,
      checkout_url: 'https://easel.example.com/pay/checkout/cs_k3vq7m2xw5tz4ndh6b2crpyf',
      client_secret: null,
      expires_at: '2026-01-06T09:30:00.000Z',
    },
  },
  'billing.checkoutActivate': { body: { checkout_id: EXAMPLE_IDS.checkout }, reply: { subscription: paid, payment_method: card } },
  'billing.paymentMethods': { query: { workspace_id, limit: '5' }, reply: { payment_methods: [card], ...lastPage } },
  'billing.deletePaymentMethod': oneMethod,
  'billing.defaultPaymentMethod': { ...oneMethod, reply: card },
  'billing.invoices': { query: { workspace_id, limit: '5' }, reply: { invoices: [invoice], ...lastPage } },
  'billing.webhook': { params: { provider: 'embedded' }, body: '{"id":"evt_1","type":"invoice.paid"}' },
  'billing.upgradeAccount': { body: { tier: 'team' } },
  'pages.checkout': secret,
  'pages.checkoutForm': { ...secret, body: 'card=tok_visa' },
  'pages.confirmPayment': secret,
  'pages.confirmPaymentForm': { ...secret, body: 'answer=confirm' },
  'pages.invoice': secret,
} as const;
