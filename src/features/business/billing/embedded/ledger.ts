/** What the embedded payment provider has of one customer, and what calls and time change in it. No I/O; the caller stores it. */
import type { SubscriptionStatus } from '../../../../../protocol/business/billing.ts';
import { PLANS } from '../../../../../protocol/business/billing-plans.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import type { SubscriptionId } from '../../../../../protocol/core/ids.ts';
import type { Kept, PlanAndSeats } from '../provider.ts';
import { priceOf } from '../rules.ts';
import { type Behaviour, DECLINES, TEST_CARDS } from './test-cards.ts';

const DAY_MS = 24 * 3_600_000;
const INTERVAL_MS = { month: 30 * DAY_MS, year: 365 * DAY_MS } as const;
/** As real providers do: an unpaid invoice is tried again, and a first payment that never comes ends the subscription. */
const RETRY_MS = 3 * DAY_MS;
const INCOMPLETE_MS = 23 * 3_600_000;
const INVOICES_MAX = 200;

export interface LedgerMethod {
  readonly ref: string;
  readonly brand: string;
  readonly last4: string;
  behaviour: Behaviour;
  readonly createdAtMs: number;
}

export interface LedgerSubscription {
  readonly ref: string;
  readonly id: SubscriptionId;
  status: SubscriptionStatus;
  planId: PlanAndSeats['planId'];
  seats: number;
  kept: Kept | null;
  trialEndsAtMs: number | null;
  periodStartsAtMs: number;
  periodEndsAtMs: number;
  cancelAtPeriodEnd: boolean;
  retryAtMs: number | null;
  canceledAtMs: number | null;
  readonly createdAtMs: number;
}

export interface LedgerInvoice {
  readonly ref: string;
  /** Of its page. */
  readonly secret: string;
  readonly number: string;
  /** Below zero where it gives back what was paid and is not used, as a credit. */
  readonly amountCents: number;
  /** What of it is paid with the credit of the customer; absent in invoices of before. */
  readonly creditCents?: number;
  readonly currency: string;
  status: 'open' | 'paid' | 'void';
  readonly subscriptionRef: string;
  readonly text: string;
  /** Of the page on which the bank asks for a confirmation; null where it does not. */
  confirmSecret: string | null;
  readonly createdAtMs: number;
}

export interface LedgerCheckout {
  readonly ref: string;
  readonly secret: string;
  readonly returnUrl: string;
  readonly expiresAtMs: number;
  methodRef: string | null;
}

/** Money that was taken. */
export interface LedgerCharge {
  readonly invoiceRef: string;
  readonly amountCents: number;
  readonly atMs: number;
}

export interface LedgerState {
  readonly ref: string;
  readonly name: string;
  methods: LedgerMethod[];
  defaultRef: string | null;
  subscriptions: LedgerSubscription[];
  invoices: LedgerInvoice[];
  checkouts: LedgerCheckout[];
  charges: LedgerCharge[];
  invoicesMade: number;
  /** Absent in customers of before. */
  creditCents?: number;
}

export interface LedgerEvent {
  readonly kind: string;
  readonly delayMs: number;
  /** It is sent twice. */
  readonly isDoubled: boolean;
}

export function newLedger(ref: string, name: string): LedgerState {
  return {
    ref,
    name,
    methods: [],
    defaultRef: null,
    subscriptions: [],
    invoices: [],
    checkouts: [],
    charges: [],
    invoicesMade: 0,
    creditCents: 0,
  };
}

/** One customer while a call or the time changes it. `fresh` makes unguessable names. */
export class Ledger {
  readonly state: LedgerState;
  readonly events: LedgerEvent[] = [];
  /** Secrets of pages that came to be. */
  readonly secrets: string[] = [];
  readonly #nowMs: number;
  readonly #fresh: (prefix: string) => string;

  constructor(state: LedgerState, nowMs: number, fresh: (prefix: string) => string) {
    this.state = structuredClone(state);
    this.#nowMs = nowMs;
    this.#fresh = fresh;
  }

  subscribe({
    id,
    planId,
    seats,
    trialEndsAtMs,
  }: PlanAndSeats & { readonly id: SubscriptionId; readonly trialEndsAtMs: number | null }): void {
    const isTrial = trialEndsAtMs !== null;
    const subscription: LedgerSubscription = {
      ref: this.#fresh('psub'),
      id,
      status: isTrial ? 'trialing' : 'incomplete',
      planId,
      seats,
      kept: null,
      trialEndsAtMs,
      periodStartsAtMs: this.#nowMs,
      periodEndsAtMs: trialEndsAtMs ?? this.#nowMs + INTERVAL_MS[PLANS[planId].interval],
      cancelAtPeriodEnd: false,
      retryAtMs: null,
      canceledAtMs: null,
      createdAtMs: this.#nowMs,
    };
    this.state.subscriptions.push(subscription);
    this.#tell('subscription.created');
    if (isTrial) return;
    this.#invoice(subscription, priceOf(subscription), PLANS[planId].name);
    if (this.state.defaultRef !== null) this.#collect(subscription, true);
  }

  /** Throws CARD_DECLINED, with nothing changed. */
  change(ref: string, wanted: PlanAndSeats & { readonly isProrated: boolean; readonly kept: Kept | null }): void {
    const subscription = this.#live(ref);
    const { interval } = PLANS[wanted.planId];
    const restarts = interval !== PLANS[subscription.planId].interval && subscription.status !== 'trialing';
    if (wanted.isProrated) {
      const share = (subscription.periodEndsAtMs - this.#nowMs) / (subscription.periodEndsAtMs - subscription.periodStartsAtMs);
      const rest = Math.max(0, Math.min(1, share));
      const due = restarts ? priceOf(wanted) - rest * priceOf(subscription) : rest * (priceOf(wanted) - priceOf(subscription));
      this.#chargeNow(subscription, Math.round(due), `Change to ${PLANS[wanted.planId].name}`);
    }
    Object.assign(subscription, { planId: wanted.planId, seats: wanted.seats, kept: wanted.kept });
    if (restarts) Object.assign(subscription, { periodStartsAtMs: this.#nowMs, periodEndsAtMs: this.#nowMs + INTERVAL_MS[interval] });
    this.#tell('subscription.updated');
  }

  cancel(ref: string, at: 'now' | 'period_end'): void {
    const subscription = this.#live(ref);
    if (at === 'now' || subscription.status === 'incomplete' || subscription.status === 'past_due') this.#end(subscription);
    else subscription.cancelAtPeriodEnd = true;
    this.#tell(at === 'now' ? 'subscription.deleted' : 'subscription.updated');
  }

  resume(ref: string): void {
    this.#live(ref).cancelAtPeriodEnd = false;
    this.#tell('subscription.updated');
  }

  /** Throws CARD_DECLINED, INVALID_REQUEST. */
  attach(token: string): string {
    const card = TEST_CARDS.find(({ tokens }) => tokens.includes(token));
    if (card === undefined) {
      const known = TEST_CARDS.flatMap(({ tokens }) => tokens.slice(0, 1)).join(', ');
      throw new Failure('INVALID_REQUEST', {
        param: 'token',
        message: 'token: the payment provider knows no such token.',
        hint: `The embedded provider takes ${known}.`,
      });
    }
    if (card.isRefused) throw declined(card.behaviour);
    const ref = this.#fresh('pm');
    this.state.methods.push({ ref, brand: card.brand, last4: card.last4, behaviour: card.behaviour, createdAtMs: this.#nowMs });
    this.state.defaultRef = ref;
    this.#tell('payment_method.attached');
    return ref;
  }

  setDefault(ref: string): void {
    this.#method(ref);
    this.state.defaultRef = ref;
    this.#tell('customer.updated');
  }

  detach(ref: string): void {
    this.#method(ref);
    this.state.methods = this.state.methods.filter((method) => method.ref !== ref);
    if (this.state.defaultRef === ref) this.state.defaultRef = this.state.methods.at(-1)?.ref ?? null;
    this.#tell('payment_method.detached');
  }

  /** Throws CARD_DECLINED, and what was open stays open. */
  pay(ref: string): 'paid' | 'waits' {
    const subscription = this.#live(ref);
    const refused = this.#collect(subscription, true);
    if (refused !== null) throw declined(refused);
    return this.#openInvoice(ref) === undefined ? 'paid' : 'waits';
  }

  checkout(returnUrl: string, ttlMs: number): LedgerCheckout {
    const secret = this.#secret('cs');
    const checkout = { ref: this.#fresh('pcs'), secret, returnUrl, expiresAtMs: this.#nowMs + ttlMs, methodRef: null };
    this.state.checkouts = [...this.state.checkouts.filter(({ expiresAtMs }) => expiresAtMs > this.#nowMs), checkout].slice(-20);
    return checkout;
  }

  /** What the bank's page answers. */
  confirm(confirmSecret: string, isConfirmed: boolean): void {
    const invoice = this.state.invoices.find((one) => one.confirmSecret === confirmSecret);
    const subscription = this.state.subscriptions.find(({ ref }) => ref === invoice?.subscriptionRef);
    if (invoice === undefined || subscription === undefined) throw new Failure('BILLING_PAGE_NOT_FOUND');
    invoice.confirmSecret = null;
    if (!isConfirmed) {
      this.#tell('invoice.payment_failed');
      return;
    }
    const method = this.state.methods.find(({ ref }) => ref === this.state.defaultRef);
    if (method?.behaviour === 'confirm') method.behaviour = 'good';
    this.#paid(subscription, invoice);
  }

  /** Does what time does. Bounded: a customer that slept for years goes on at the next call. */
  work(): void {
    for (let step = 0; step < 100; step += 1) {
      const due = this.state.subscriptions.find((subscription) => dueOf(subscription) <= this.#nowMs);
      if (due === undefined) return;
      this.#step(due);
    }
  }

  /** When something happens by itself next, Unix ms; null for never. */
  get dueAtMs(): number | null {
    const next = Math.min(...this.state.subscriptions.map(dueOf));
    return Number.isFinite(next) ? next : null;
  }

  #step(subscription: LedgerSubscription): void {
    const { status, periodEndsAtMs, cancelAtPeriodEnd } = subscription;
    const endsHere =
      status === 'incomplete' || (status !== 'past_due' && cancelAtPeriodEnd) || (status === 'trialing' && this.state.defaultRef === null);
    if (endsHere) {
      this.#end(subscription);
      this.#tell('subscription.deleted');
      return;
    }
    if (status !== 'past_due') {
      const { interval, name } = PLANS[subscription.planId];
      Object.assign(subscription, { kept: null, periodStartsAtMs: periodEndsAtMs, periodEndsAtMs: periodEndsAtMs + INTERVAL_MS[interval] });
      this.#invoice(subscription, priceOf(subscription), name);
    }
    this.#collect(subscription, false);
    this.#tell('subscription.updated');
  }

  /** Takes the money of the open invoice. Answers why the bank refused, null where it did not. */
  #collect(subscription: LedgerSubscription, isPersonThere: boolean): Behaviour | null {
    const invoice = this.#openInvoice(subscription.ref);
    if (invoice === undefined) return null;
    const behaviour = dueCents(invoice) === 0 ? 'good' : this.#behaviour();
    if (behaviour === 'good' || behaviour === 'disputed' || behaviour === 'late' || behaviour === 'doubled') {
      this.#paid(subscription, invoice);
      if (behaviour === 'disputed') this.#tell('dispute');
      return null;
    }
    if (behaviour === 'confirm') invoice.confirmSecret ??= this.#secret('pay');
    if (subscription.status !== 'incomplete') {
      subscription.status = 'past_due';
      subscription.retryAtMs = this.#nowMs + RETRY_MS;
    }
    this.#tell('invoice.payment_failed');
    return behaviour === 'confirm' && isPersonThere ? null : behaviour;
  }

  /** For a change: it happens only where the money is there. */
  #chargeNow(subscription: LedgerSubscription, amountCents: number, text: string): void {
    if (amountCents === 0) return;
    const behaviour = amountCents <= this.#creditCents ? 'good' : this.#behaviour();
    if (behaviour in DECLINES) throw declined(behaviour);
    this.#paid(subscription, this.#invoice(subscription, amountCents, text));
    if (behaviour === 'disputed') this.#tell('dispute');
  }

  #paid(subscription: LedgerSubscription, invoice: LedgerInvoice): void {
    invoice.status = 'paid';
    invoice.confirmSecret = null;
    const amountCents = dueCents(invoice);
    if (amountCents > 0) this.state.charges.push({ invoiceRef: invoice.ref, amountCents, atMs: this.#nowMs });
    // What else is open keeps it past due.
    if (subscription.status !== 'canceled' && this.#openInvoice(subscription.ref) === undefined)
      Object.assign(subscription, { status: 'active', retryAtMs: null });
    this.#tell('invoice.paid');
  }

  #invoice(subscription: LedgerSubscription, amountCents: number, text: string): LedgerInvoice {
    this.state.invoicesMade += 1;
    // As with real providers: an invoice below zero becomes a credit, and a credit pays the next invoices first.
    const creditCents = Math.min(this.#creditCents, amountCents);
    this.state.creditCents = this.#creditCents - creditCents;
    const invoice: LedgerInvoice = {
      ref: this.#fresh('in'),
      secret: this.#secret('inv'),
      number: `EASEL-${String(this.state.invoicesMade).padStart(6, '0')}`,
      amountCents,
      creditCents,
      currency: PLANS[subscription.planId].currency,
      status: 'open',
      subscriptionRef: subscription.ref,
      text,
      confirmSecret: null,
      createdAtMs: this.#nowMs,
    };
    this.state.invoices = [...this.state.invoices, invoice].slice(-INVOICES_MAX);
    return invoice;
  }

  #end(subscription: LedgerSubscription): void {
    for (const invoice of this.state.invoices) {
      if (invoice.subscriptionRef !== subscription.ref || invoice.status !== 'open') continue;
      this.state.creditCents = this.#creditCents + (invoice.creditCents ?? 0);
      Object.assign(invoice, { status: 'void', confirmSecret: null });
    }
    Object.assign(subscription, { status: 'canceled', canceledAtMs: this.#nowMs, retryAtMs: null, kept: null });
  }

  get #creditCents(): number {
    return this.state.creditCents ?? 0;
  }

  /** How the bank of the default card answers. */
  #behaviour(): Behaviour {
    return this.state.methods.find(({ ref }) => ref === this.state.defaultRef)?.behaviour ?? 'declined';
  }

  #openInvoice(subscriptionRef: string): LedgerInvoice | undefined {
    return this.state.invoices.findLast((invoice) => invoice.subscriptionRef === subscriptionRef && invoice.status === 'open');
  }

  #live(ref: string): LedgerSubscription {
    const found = this.state.subscriptions.find((subscription) => subscription.ref === ref);
    if (found === undefined || found.status === 'canceled') throw new Failure('SUBSCRIPTION_ENDED');
    return found;
  }

  #method(ref: string): LedgerMethod {
    const found = this.state.methods.find((method) => method.ref === ref);
    if (found === undefined) throw new Failure('PAYMENT_METHOD_NOT_FOUND');
    return found;
  }

  #secret(prefix: string): string {
    const secret = this.#fresh(prefix);
    this.secrets.push(secret);
    return secret;
  }

  #tell(kind: string): void {
    const behaviour = this.state.methods.find(({ ref }) => ref === this.state.defaultRef)?.behaviour;
    this.events.push({ kind, delayMs: behaviour === 'late' ? 3_600_000 : 0, isDoubled: behaviour === 'doubled' });
  }
}

/** What is left for the card. */
export function dueCents({ amountCents, creditCents }: LedgerInvoice): number {
  return amountCents - (creditCents ?? 0);
}

/** Infinite where time changes nothing. */
function dueOf({ status, periodEndsAtMs, retryAtMs, createdAtMs }: LedgerSubscription): number {
  switch (status) {
    case 'trialing':
    case 'active':
      return periodEndsAtMs;
    case 'past_due':
      return retryAtMs ?? Number.POSITIVE_INFINITY;
    case 'incomplete':
      return createdAtMs + INCOMPLETE_MS;
    case 'canceled':
      return Number.POSITIVE_INFINITY;
    default:
      return status satisfies never;
  }
}

function declined(behaviour: Behaviour): Failure {
  return new Failure('CARD_DECLINED', { message: `The bank declined the card: ${DECLINES[behaviour] ?? 'no reason given'}.` });
}
