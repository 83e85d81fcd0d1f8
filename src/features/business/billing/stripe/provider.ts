/** Payments by Stripe. Prices are found by their lookup keys, which are the ids of our plans; what only we know stands in metadata. */
import Stripe from 'stripe';
import { PLANS, type PlanId } from '../../../../../protocol/business/billing-plans.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { StripeSettings } from '../../../../platform/billing-settings.ts';
import type { Kept, PaymentProvider, PlanAndSeats, ProviderCheckout, ProviderEvent, Seen } from '../provider.ts';
import { isConfirmationWanted, translated } from './errors.ts';
import { refOf, seenInvoice, seenMethod, seenSubscription } from './seen.ts';

/** Of one customer, newest first: the mirror keeps older invoices. */
const LISTED_MAX = 100;
const SUBSCRIPTIONS_MAX = 20;
/** Of one subscription; hardly ever more than one. */
const OPEN_MAX = 20;

export class StripeProvider implements PaymentProvider {
  readonly name = 'stripe';
  readonly #stripe: Stripe;
  readonly #webhookSecret: string;
  readonly #prices = new Map<PlanId, string>();

  constructor({ secretKey, webhookSecret, apiUrl }: StripeSettings) {
    this.#webhookSecret = webhookSecret;
    this.#stripe = new Stripe(secretKey, {
      host: apiUrl.hostname,
      port: apiUrl.port === '' ? (apiUrl.protocol === 'http:' ? 80 : 443) : Number(apiUrl.port),
      protocol: apiUrl.protocol === 'http:' ? 'http' : 'https',
      timeout: LIMITS.billingCallTimeoutMs,
      // An operation is repeated as a whole, by whoever finds it open.
      maxNetworkRetries: 0,
      telemetry: false,
    });
  }

  createCustomer({ key, workspaceId, name }: Parameters<PaymentProvider['createCustomer']>[0]): Promise<string> {
    return translated(async () => {
      const { id } = await this.#stripe.customers.create({ name, metadata: { workspace: workspaceId } }, { idempotencyKey: key });
      return id;
    });
  }

  subscribe(spec: Parameters<PaymentProvider['subscribe']>[0]): Promise<void> {
    const { key, customerRef, id, trialEndsAtMs } = spec;
    return translated(async () => {
      const made = await this.#stripe.subscriptions.create(
        {
          customer: customerRef,
          items: [await this.#item(spec)],
          metadata: { subscription: id, ...metadataOf(spec, null) },
          payment_behavior: 'default_incomplete',
          ...(trialEndsAtMs !== null && {
            trial_end: Math.floor(trialEndsAtMs / 1000),
            trial_settings: { end_behavior: { missing_payment_method: 'cancel' } },
          }),
        },
        { idempotencyKey: key },
      );
      if (trialEndsAtMs === null && (await this.#customer(customerRef)).defaultRef !== null) await this.#payOpen(key, made.id, 'attempt');
    });
  }

  change(spec: Parameters<PaymentProvider['change']>[0]): Promise<void> {
    const { key, ref, isProrated, kept } = spec;
    return translated(async () => {
      const current = await this.#stripe.subscriptions.retrieve(ref);
      const [item] = current.items.data;
      if (current.status === 'canceled' || item === undefined) throw new Failure('SUBSCRIPTION_ENDED');
      await this.#stripe.subscriptions.update(
        ref,
        {
          items: [{ id: item.id, ...(await this.#item(spec)) }],
          metadata: metadataOf(spec, kept),
          proration_behavior: isProrated ? 'always_invoice' : 'none',
          // Where the card is declined nothing changes.
          payment_behavior: isProrated ? 'error_if_incomplete' : 'allow_incomplete',
        },
        { idempotencyKey: key },
      );
    });
  }

  cancel({ key, ref, at }: Parameters<PaymentProvider['cancel']>[0]): Promise<void> {
    return translated(async () => {
      if (at === 'now') {
        await this.#stripe.subscriptions.cancel(ref, {}, { idempotencyKey: key });
        // Else its page would go on taking money for what has ended.
        for (const { id } of await this.#openInvoices(ref))
          await this.#stripe.invoices.voidInvoice(id, {}, { idempotencyKey: `${key}.${id}` });
      } else await this.#stripe.subscriptions.update(ref, { cancel_at_period_end: true }, { idempotencyKey: key });
    }, 'SUBSCRIPTION_ENDED');
  }

  resume({ key, ref }: Parameters<PaymentProvider['resume']>[0]): Promise<void> {
    return translated(async () => {
      await this.#stripe.subscriptions.update(ref, { cancel_at_period_end: false }, { idempotencyKey: key });
    }, 'SUBSCRIPTION_ENDED');
  }

  attach({ key, customerRef, token }: Parameters<PaymentProvider['attach']>[0]): Promise<string> {
    return translated(async () => {
      const method = token.startsWith('pm_')
        ? token
        : (await this.#stripe.paymentMethods.create({ type: 'card', card: { token } }, { idempotencyKey: `${key}.card` })).id;
      // A payment method of the test mode such as pm_card_visa becomes another one when it is attached.
      const { id } = await this.#stripe.paymentMethods.attach(method, { customer: customerRef }, { idempotencyKey: `${key}.attach` });
      await this.#makeDefault(`${key}.default`, customerRef, id);
      return id;
    });
  }

  setDefault({ key, customerRef, methodRef }: Parameters<PaymentProvider['setDefault']>[0]): Promise<void> {
    return translated(() => this.#makeDefault(key, customerRef, methodRef), 'PAYMENT_METHOD_NOT_FOUND');
  }

  detach({ key, customerRef, methodRef }: Parameters<PaymentProvider['detach']>[0]): Promise<void> {
    return translated(async () => {
      await this.#stripe.paymentMethods.detach(methodRef, {}, { idempotencyKey: key });
      // Stripe has no default any more then, and would not pay with the others.
      if ((await this.#customer(customerRef)).defaultRef !== null) return;
      const [newest] = (await this.#stripe.customers.listPaymentMethods(customerRef, { type: 'card', limit: 1 })).data;
      if (newest !== undefined) await this.#makeDefault(`${key}.default`, customerRef, newest.id);
    }, 'PAYMENT_METHOD_NOT_FOUND');
  }

  pay({ key, customerRef, ref }: Parameters<PaymentProvider['pay']>[0]): Promise<'paid' | 'waits'> {
    return translated(async () => {
      const [open] = await this.#openInvoices(ref);
      if (open !== undefined && (await this.#customer(customerRef)).defaultRef === null)
        throw new Failure('CARD_DECLINED', { message: 'No card is saved.' });
      return this.#payOpen(key, ref, 'must');
    });
  }

  checkout({ key, customerRef, returnUrl }: Parameters<PaymentProvider['checkout']>[0]): Promise<ProviderCheckout> {
    return translated(async () => {
      const session = await this.#stripe.checkout.sessions.create(
        { mode: 'setup', customer: customerRef, currency: PLANS.pro_monthly.currency, success_url: returnUrl, cancel_url: returnUrl },
        { idempotencyKey: key },
      );
      return {
        ref: session.id,
        url: session.url ?? returnUrl,
        clientSecret: session.client_secret,
        expiresAtMs: session.expires_at * 1000,
      };
    });
  }

  savedAt(_customerRef: string, checkoutRef: string): Promise<string | null> {
    return translated(async () => {
      const session = await this.#stripe.checkout.sessions.retrieve(checkoutRef, { expand: ['setup_intent'] });
      const intent = session.setup_intent;
      if (session.status !== 'complete' || intent === null || typeof intent === 'string') return null;
      return refOf(intent.payment_method);
    }, 'CHECKOUT_NOT_FOUND');
  }

  look(customerRef: string): Promise<Seen> {
    return translated(async () => {
      const { isGone, defaultRef, creditCents } = await this.#customer(customerRef);
      if (isGone) return { isGone, creditCents, subscriptions: [], methods: [], invoices: [] };
      const [subscriptions, methods, invoices] = await Promise.all([
        this.#stripe.subscriptions.list({
          customer: customerRef,
          status: 'all',
          limit: SUBSCRIPTIONS_MAX,
          expand: ['data.latest_invoice'],
        }),
        this.#stripe.customers.listPaymentMethods(customerRef, { type: 'card', limit: LISTED_MAX }),
        this.#stripe.invoices.list({ customer: customerRef, limit: LISTED_MAX }),
      ]);
      return {
        isGone,
        creditCents,
        subscriptions: subscriptions.data.flatMap((one) => seenSubscription(one) ?? []),
        methods: methods.data.flatMap((one) => seenMethod(one, defaultRef) ?? []),
        invoices: invoices.data.flatMap((one) => seenInvoice(one) ?? []),
      };
    });
  }

  async readEvent(body: Uint8Array, signature: string, nowMs: number): Promise<ProviderEvent> {
    const event = this.#verified(body, signature, nowMs);
    const object = event.data.object as {
      readonly object?: string;
      readonly id?: string;
      readonly customer?: unknown;
      readonly charge?: unknown;
    };
    if (event.type === 'charge.dispute.created') {
      // A dispute names its charge only.
      const chargeRef = refOf(object.charge);
      const charge = chargeRef === null ? null : await translated(() => this.#stripe.charges.retrieve(chargeRef));
      return { id: event.id, kind: 'dispute', customerRef: refOf(charge?.customer) };
    }
    return { id: event.id, kind: event.type, customerRef: object.object === 'customer' ? (object.id ?? null) : refOf(object.customer) };
  }

  #verified(body: Uint8Array, signature: string, nowMs: number): Stripe.Event {
    const toleranceS = LIMITS.billingSignatureToleranceMs / 1000;
    try {
      return this.#stripe.webhooks.constructEvent(Buffer.from(body), signature, this.#webhookSecret, toleranceS, undefined, nowMs);
    } catch (error) {
      if (error instanceof Stripe.errors.StripeSignatureVerificationError) throw new Failure('WEBHOOK_SIGNATURE_INVALID');
      // Signed, and no JSON.
      if (error instanceof SyntaxError) throw new Failure('INVALID_JSON');
      throw error;
    }
  }

  async #makeDefault(key: string, customerRef: string, methodRef: string): Promise<void> {
    await this.#stripe.customers.update(customerRef, { invoice_settings: { default_payment_method: methodRef } }, { idempotencyKey: key });
  }

  async #customer(ref: string): Promise<{ readonly isGone: boolean; readonly defaultRef: string | null; readonly creditCents: number }> {
    const customer = await this.#stripe.customers.retrieve(ref);
    if (customer.deleted === true) return { isGone: true, defaultRef: null, creditCents: 0 };
    const defaultRef = refOf(customer.invoice_settings.default_payment_method);
    // Stripe's balance is what the customer owes.
    return { isGone: false, defaultRef, creditCents: Math.max(0, -customer.balance) };
  }

  /** The oldest first. */
  async #openInvoices(subscriptionRef: string): Promise<readonly Stripe.Invoice[]> {
    const { data } = await this.#stripe.invoices.list({ subscription: subscriptionRef, status: 'open', limit: OPEN_MAX });
    return [...data].reverse();
  }

  /** `attempt`: a refusal shows in the state. The key names the invoice too, so that a repetition never pays another one by it. */
  async #payOpen(key: string, subscriptionRef: string, how: 'must' | 'attempt'): Promise<'paid' | 'waits'> {
    let outcome: 'paid' | 'waits' = 'paid';
    for (const { id } of await this.#openInvoices(subscriptionRef)) {
      try {
        await this.#stripe.invoices.pay(id, {}, { idempotencyKey: `${key}.${id}` });
      } catch (error) {
        if (isConfirmationWanted(error)) outcome = 'waits';
        else if (how === 'attempt' && error instanceof Stripe.errors.StripeCardError) return 'waits';
        else if (!(error instanceof Stripe.errors.StripeInvalidRequestError) || (await this.#isOpen(id))) throw error;
      }
    }
    return outcome;
  }

  /** Stripe pays by itself too, and refuses to pay what has been paid meanwhile. */
  async #isOpen(invoiceRef: string): Promise<boolean> {
    return (await this.#stripe.invoices.retrieve(invoiceRef)).status === 'open';
  }

  async #item({ planId, seats }: PlanAndSeats): Promise<{ readonly price: string; readonly quantity: number }> {
    return { price: await this.#price(planId), quantity: PLANS[planId].per_seat ? seats : 1 };
  }

  async #price(planId: PlanId): Promise<string> {
    const known = this.#prices.get(planId);
    if (known !== undefined) return known;
    const { data } = await this.#stripe.prices.list({ lookup_keys: [planId], active: true, limit: 1 });
    const [price] = data;
    if (price === undefined) {
      const message = `plan_id: the payment provider has no price for ${planId}.`;
      throw new Failure('INVALID_REQUEST', {
        param: 'plan_id',
        message,
        hint: `An administrator makes a price with the lookup key ${planId}.`,
      });
    }
    this.#prices.set(planId, price.id);
    return price.id;
  }
}

/** Stripe keeps metadata as text; an empty text removes it. */
function metadataOf({ planId, seats }: PlanAndSeats, kept: Kept | null) {
  return {
    plan: planId,
    seats: String(seats),
    kept_plan: kept?.planId ?? '',
    kept_seats: kept === null ? '' : String(kept.seats),
    kept_until: kept === null ? '' : String(kept.untilMs),
  };
}
