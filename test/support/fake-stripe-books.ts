/**
 * What Stripe has of its customers, and what calls and time change in it, as its documentation tells it for the API version that the package pins.
 * Written apart from the embedded provider, so that an error of ours is not in both. A month is 30 days here.
 */
import type { Body } from './fake-stripe-forms.ts';
import {
  type Charge,
  type Customer,
  declined,
  type Invoice,
  invalid,
  type Method,
  missing,
  type Price,
  Refusal,
  type Session,
  type Subscription,
  TOKENS,
  wantsAction,
} from './fake-stripe-things.ts';

const DAY_S = 24 * 3600;
const INTERVAL_S = { month: 30 * DAY_S, year: 365 * DAY_S } as const;
const INCOMPLETE_S = 23 * 3600;
const RETRY_S = 3 * DAY_S;

export class Books {
  readonly customers = new Map<string, Customer>();
  readonly methods = new Map<string, Method>();
  readonly subscriptions = new Map<string, Subscription>();
  readonly invoices = new Map<string, Invoice>();
  readonly charges: Charge[] = [];
  readonly sessions = new Map<string, Session>();
  readonly prices: readonly Price[];
  readonly #nowMs: () => number;
  readonly #tell: (type: string, kind: string, id: string) => void;
  #made = 0;

  constructor(prices: readonly Price[], nowMs: () => number, tell: (type: string, kind: string, id: string) => void) {
    this.prices = prices;
    this.#nowMs = nowMs;
    this.#tell = tell;
  }

  get now(): number {
    return Math.floor(this.#nowMs() / 1000);
  }

  fresh(prefix: string): string {
    this.#made += 1;
    return `${prefix}_${String(this.#made).padStart(14, '0')}`;
  }

  customer(id: string): Customer {
    const found = this.customers.get(id);
    if (found === undefined) throw missing('customer', id, 'customer');
    return found;
  }

  /** One that can still be changed. */
  liveCustomer(id: string): Customer {
    const found = this.customer(id);
    if (found.isDeleted) throw missing('customer', id, 'customer');
    return found;
  }

  createCustomer({ name, metadata }: Body): Customer {
    const id = this.fresh('cus');
    const made = {
      ...{ id, name: typeof name === 'string' ? name : null, metadata: { ...(metadata as Record<string, string>) } },
      ...{ defaultMethod: null, balance: 0, isDeleted: false, created: this.now },
    };
    this.customers.set(id, made);
    this.#tell('customer.created', 'customer', id);
    return made;
  }

  deleteCustomer(id: string): void {
    const customer = this.liveCustomer(id);
    for (const one of this.subscriptionsOf(id)) if (!isOver(one)) this.#end(one, 'canceled');
    customer.isDeleted = true;
    this.#tell('customer.deleted', 'customer', id);
  }

  makeDefault(id: string, methodId: string): Customer {
    const customer = this.liveCustomer(id);
    if (this.methods.get(methodId)?.customer !== id) throw missing('PaymentMethod', methodId, 'invoice_settings[default_payment_method]');
    customer.defaultMethod = methodId;
    this.#tell('customer.updated', 'customer', id);
    return customer;
  }

  createMethod(token: string): Method {
    const card = TOKENS[token];
    if (card === undefined) throw invalid(`No such token: '${token}'`, { code: 'resource_missing', param: 'card[token]' });
    if (card.isRefused) throw declined(card.bank);
    const id = this.fresh('pm');
    const made = { id, customer: null, brand: card.brand, last4: card.last4, bank: card.bank, created: this.now };
    this.methods.set(id, made);
    return made;
  }

  method(id: string): Method {
    const found = this.methods.get(id);
    if (found === undefined) throw missing('PaymentMethod', id, 'payment_method');
    return found;
  }

  attach(id: string, customerId: string): Method {
    this.liveCustomer(customerId);
    const made = id.startsWith('pm_card_') ? this.createMethod(`tok_${id.slice('pm_card_'.length)}`) : this.method(id);
    if (made.customer !== null) throw invalid('The payment method you provided has already been attached to a customer.');
    made.customer = customerId;
    this.#tell('payment_method.attached', 'payment_method', made.id);
    return made;
  }

  detach(id: string): Method {
    const method = this.method(id);
    if (method.customer === null)
      throw invalid('The payment method you provided is not attached to a customer so detachment is impossible.');
    const customer = this.customer(method.customer);
    if (customer.defaultMethod === id) customer.defaultMethod = null;
    method.customer = null;
    this.#tell('payment_method.detached', 'payment_method', id);
    return method;
  }

  /** Newest first. */
  methodsOf(customerId: string): Method[] {
    this.liveCustomer(customerId);
    return [...this.methods.values()].filter(({ customer }) => customer === customerId).reverse();
  }

  subscriptionsOf(customerId: string): Subscription[] {
    return [...this.subscriptions.values()].filter(({ customer }) => customer === customerId).reverse();
  }

  subscription(id: string): Subscription {
    const found = this.subscriptions.get(id);
    if (found === undefined) throw missing('subscription', id);
    return found;
  }

  subscribe(
    customerId: string,
    item: { readonly price: string; readonly quantity: number },
    trialEnd: number | null,
    metadata: Record<string, string>,
  ) {
    this.liveCustomer(customerId);
    if (trialEnd !== null && trialEnd <= this.now)
      throw invalid('Invalid timestamp: must be an integer Unix timestamp in the future.', { param: 'trial_end' });
    const price = this.#price(item.price);
    const made: Subscription = {
      ...{ id: this.fresh('sub'), itemId: this.fresh('si'), customer: customerId, price, quantity: item.quantity, metadata },
      ...{ status: trialEnd === null ? 'incomplete' : 'trialing', trialEnd, periodStart: this.now },
      periodEnd: trialEnd ?? this.now + INTERVAL_S[price.interval],
      ...{ cancelAtPeriodEnd: false, canceledAt: null, endedAt: null, latestInvoice: null, retryAt: null, created: this.now },
    };
    this.subscriptions.set(made.id, made);
    this.#tell('customer.subscription.created', 'subscription', made.id);
    // A trial begins with an invoice of nothing.
    const invoice = this.#invoice(made, trialEnd === null ? amountOf(made) : 0, 'subscription_create');
    if (invoice.status === 'paid' && made.status === 'incomplete') made.status = 'active';
    return made;
  }

  /** A change of price or quantity. Throws, with nothing changed, where `mustPay` and the card does not. */
  changeItem(id: string, item: { readonly price: string; readonly quantity: number }, isProrated: boolean, mustPay: boolean): void {
    const one = this.subscription(id);
    if (one.status === 'incomplete') throw invalid('You can only update metadata of a subscription with status `incomplete`.');
    const price = this.#price(item.price);
    const next = { price, quantity: item.quantity };
    const restarts = price.interval !== one.price.interval && one.status !== 'trialing';
    if (restarts && !isProrated) throw new Error('the fake does not bill another interval at once without proration');
    if (isProrated && one.status !== 'trialing') {
      const rest = Math.max(0, (one.periodEnd - this.now) / (one.periodEnd - one.periodStart));
      const total = Math.round(restarts ? amountOf(next) - rest * amountOf(one) : rest * (amountOf(next) - amountOf(one)));
      this.#invoiceForChange(one, total, mustPay);
    }
    Object.assign(one, next);
    if (restarts) Object.assign(one, { periodStart: this.now, periodEnd: this.now + INTERVAL_S[price.interval] });
  }

  update(id: string, { metadata, cancelAtPeriodEnd }: { metadata?: Record<string, string>; cancelAtPeriodEnd?: boolean }): Subscription {
    const one = this.subscription(id);
    if (isOver(one)) throw invalid('A canceled subscription can only update its cancellation_details and metadata.');
    for (const [name, value] of Object.entries(metadata ?? {})) {
      if (value === '') delete one.metadata[name];
      else one.metadata[name] = value;
    }
    if (cancelAtPeriodEnd !== undefined) Object.assign(one, { cancelAtPeriodEnd, canceledAt: cancelAtPeriodEnd ? this.now : null });
    this.#tell('customer.subscription.updated', 'subscription', id);
    return one;
  }

  /** What is unpaid stays open: it is only not collected any more. */
  cancel(id: string): Subscription {
    const one = this.subscription(id);
    if (isOver(one)) throw missing('subscription', id);
    this.#end(one, 'canceled');
    return one;
  }

  invoice(id: string): Invoice {
    const found = this.invoices.get(id);
    if (found === undefined) throw missing('invoice', id, 'invoice');
    return found;
  }

  void(id: string): Invoice {
    const invoice = this.invoice(id);
    if (invoice.status !== 'open') throw invalid('You can only pass in open invoices.', { param: 'invoice' });
    invoice.status = 'void';
    // The credit that it had used comes back.
    this.customer(invoice.customer).balance -= invoice.total - invoice.amountDue;
    this.#tell('invoice.voided', 'invoice', id);
    return invoice;
  }

  pay(id: string): Invoice {
    const invoice = this.invoice(id);
    if (invoice.status !== 'open') throw invalid('Invoice is already paid');
    const method = this.#defaultOf(invoice.customer);
    if (method === undefined) throw invalid('This customer has no attached payment source or default payment method.');
    invoice.attempted = true;
    if (method.bank !== 'pays') {
      this.#tell(method.bank === 'authenticates' ? 'invoice.payment_action_required' : 'invoice.payment_failed', 'invoice', id);
      throw method.bank === 'authenticates' ? wantsAction('invoice_payment_intent_requires_action') : declined(method.bank);
    }
    this.#paid(invoice);
    return invoice;
  }

  /** The person confirms the payment on the hosted page of the invoice. */
  confirm(id: string): void {
    const method = this.#defaultOf(this.invoice(id).customer);
    if (method !== undefined) method.bank = 'pays';
    this.pay(id);
  }

  /** A person saves a card on the page of a session. */
  complete(sessionId: string, token: string): void {
    const session = this.sessions.get(sessionId);
    if (session === undefined) throw missing('checkout.session', sessionId);
    session.method = this.attach(this.createMethod(token).id, session.customer).id;
    session.status = 'complete';
    this.#tell('checkout.session.completed', 'session', sessionId);
  }

  /** Does what time does. */
  work(): void {
    for (let steps = 0; steps < 1000; steps += 1) {
      const due = [...this.subscriptions.values()].find((one) => dueOf(one) <= this.now);
      if (due === undefined) return;
      this.#step(due);
    }
  }

  #step(one: Subscription): void {
    const endsHere = one.cancelAtPeriodEnd || (one.status === 'trialing' && this.#defaultOf(one.customer) === undefined);
    if (one.status === 'incomplete') {
      for (const invoice of this.invoices.values()) if (invoice.subscription === one.id && invoice.status === 'open') this.void(invoice.id);
      this.#end(one, 'incomplete_expired');
      return;
    }
    if (one.status === 'past_due') {
      one.retryAt = this.now + RETRY_S;
      this.#collect(one);
      return;
    }
    if (endsHere) {
      this.#end(one, 'canceled');
      return;
    }
    Object.assign(one, { periodStart: one.periodEnd, periodEnd: one.periodEnd + INTERVAL_S[one.price.interval], status: 'active' });
    this.#invoice(one, amountOf(one), 'subscription_cycle');
    this.#collect(one);
    this.#tell('customer.subscription.updated', 'subscription', one.id);
  }

  #collect(one: Subscription): void {
    const invoice = one.latestInvoice === null ? undefined : this.invoices.get(one.latestInvoice);
    if (invoice?.status !== 'open') return;
    try {
      this.pay(invoice.id);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      Object.assign(one, { status: 'past_due', retryAt: one.retryAt ?? this.now + RETRY_S });
    }
  }

  #invoiceForChange(one: Subscription, total: number, mustPay: boolean): void {
    const due = total - creditFor(this.customer(one.customer), total);
    const bank = this.#defaultOf(one.customer)?.bank ?? 'card_declined';
    if (due > 0 && bank !== 'pays' && mustPay) {
      throw bank === 'authenticates' ? wantsAction('subscription_payment_intent_requires_action') : declined(bank);
    }
    const invoice = this.#invoice(one, total, 'subscription_update');
    if (invoice.status === 'open') this.pay(invoice.id);
  }

  #invoice(one: Subscription, total: number, reason: Invoice['reason']): Invoice {
    const customer = this.customer(one.customer);
    const used = creditFor(customer, total);
    const made: Invoice = {
      ...{ id: this.fresh('in'), customer: one.customer, subscription: one.id, number: this.fresh('FAKE'), reason, total },
      ...{ startingBalance: customer.balance, amountDue: total - used, status: 'open', attempted: false, created: this.now },
    };
    customer.balance += used;
    this.invoices.set(made.id, made);
    one.latestInvoice = made.id;
    this.#tell('invoice.finalized', 'invoice', made.id);
    if (made.amountDue === 0) this.#paid(made);
    return made;
  }

  #paid(invoice: Invoice): void {
    Object.assign(invoice, { status: 'paid', attempted: true });
    if (invoice.amountDue > 0) {
      const { customer, id, amountDue } = invoice;
      this.charges.push({ id: this.fresh('ch'), customer, invoice: id, amount: amountDue, created: this.now });
    }
    const one = this.subscriptions.get(invoice.subscription);
    // Stripe tells the state by the latest invoice, whatever else is open.
    if (one !== undefined && one.latestInvoice === invoice.id && (one.status === 'incomplete' || one.status === 'past_due'))
      Object.assign(one, { status: 'active', retryAt: null });
    this.#tell('invoice.paid', 'invoice', invoice.id);
  }

  #end(one: Subscription, status: 'canceled' | 'incomplete_expired'): void {
    Object.assign(one, { status, canceledAt: one.canceledAt ?? this.now, endedAt: this.now, retryAt: null });
    this.#tell('customer.subscription.deleted', 'subscription', one.id);
  }

  #defaultOf(customerId: string): Method | undefined {
    const id = this.customer(customerId).defaultMethod;
    return id === null ? undefined : this.methods.get(id);
  }

  #price(id: string): Price {
    const found = this.prices.find((price) => price.id === id);
    if (found === undefined) throw missing('price', id, 'items[0][price]');
    return found;
  }
}

function amountOf({ price, quantity }: { readonly price: Price; readonly quantity: number }): number {
  return price.unitAmount * quantity;
}

/** What of an invoice the credit pays; below zero where the invoice gives credit. */
function creditFor({ balance }: Customer, total: number): number {
  return Math.min(Math.max(0, -balance), total);
}

function isOver({ status }: Subscription): boolean {
  return status === 'canceled' || status === 'incomplete_expired';
}

function dueOf({ status, periodEnd, retryAt, created }: Subscription): number {
  if (status === 'trialing' || status === 'active') return periodEnd;
  if (status === 'past_due') return retryAt ?? Number.POSITIVE_INFINITY;
  return status === 'incomplete' ? created + INCOMPLETE_S : Number.POSITIVE_INFINITY;
}
