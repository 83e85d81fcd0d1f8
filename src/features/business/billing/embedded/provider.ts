/** The payment provider of installations without one: it takes no money, and behaves as a real one does. Durable in our database. */
import { z } from 'zod';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { newId } from '../../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { SigningKey } from '../../../../storage/signing-key.ts';
import type { ServiceDeps } from '../../../deps.ts';
import type { Keyed, PaymentProvider, ProviderCheckout, ProviderEvent, Seen } from '../provider.ts';
import { Ledger, type LedgerState, newLedger } from './ledger.ts';
import {
  deleteEvent,
  insertCall,
  insertEvents,
  insertLedger,
  insertLinks,
  listDueEvents,
  listDueLedgers,
  lockCall,
  lockLedger,
  readCall,
  readLedger,
  readLink,
  writeLedger,
} from './rows.ts';
import { requireSignature } from './signature.ts';

type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'config'>;

/** Name for a thing of the provider: a prefix and 24 random characters. */
const fresh = (prefix: string) => newId('invoice').replace(/^[a-z]+/, prefix);

export class EmbeddedProvider implements PaymentProvider {
  readonly name = 'embedded';
  readonly #deps: Deps;

  readonly #key: SigningKey;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#key = new SigningKey(deps.sql, 'embedded_payments_key');
  }

  createCustomer({ key, name }: Parameters<PaymentProvider['createCustomer']>[0]): Promise<string> {
    const { sql, clock } = this.#deps;
    return sql.begin(async (tx) => {
      await lockCall(tx, key);
      const known = await readCall(tx, key);
      if (known !== undefined) return String(known);
      const ref = fresh('cus');
      await insertLedger(tx, newLedger(ref, name));
      await insertCall(tx, key, ref, clock.nowMs());
      return ref;
    });
  }

  async subscribe(spec: Parameters<PaymentProvider['subscribe']>[0]): Promise<void> {
    await this.#call(spec, (ledger) => ledger.subscribe(spec));
  }

  async change(spec: Parameters<PaymentProvider['change']>[0]): Promise<void> {
    await this.#call(spec, (ledger) => ledger.change(spec.ref, spec));
  }

  async cancel(spec: Parameters<PaymentProvider['cancel']>[0]): Promise<void> {
    await this.#call(spec, (ledger) => ledger.cancel(spec.ref, spec.at));
  }

  async resume(spec: Parameters<PaymentProvider['resume']>[0]): Promise<void> {
    await this.#call(spec, (ledger) => ledger.resume(spec.ref));
  }

  attach(spec: Parameters<PaymentProvider['attach']>[0]): Promise<string> {
    return this.#call(spec, (ledger) => ledger.attach(spec.token));
  }

  async setDefault(spec: Parameters<PaymentProvider['setDefault']>[0]): Promise<void> {
    await this.#call(spec, (ledger) => ledger.setDefault(spec.methodRef));
  }

  async detach(spec: Parameters<PaymentProvider['detach']>[0]): Promise<void> {
    await this.#call(spec, (ledger) => ledger.detach(spec.methodRef));
  }

  pay(spec: Parameters<PaymentProvider['pay']>[0]): Promise<'paid' | 'waits'> {
    return this.#call(spec, (ledger) => ledger.pay(spec.ref));
  }

  async checkout(spec: Parameters<PaymentProvider['checkout']>[0]): Promise<ProviderCheckout> {
    const { ref, secret, expiresAtMs } = await this.#call(spec, (ledger) => ledger.checkout(spec.returnUrl, LIMITS.checkoutTtlMs));
    return { ref, url: `${this.#deps.config.baseUrl}/pay/checkout/${secret}`, clientSecret: null, expiresAtMs };
  }

  async savedAt(customerRef: string, checkoutRef: string): Promise<string | null> {
    const state = await this.#read(customerRef);
    const checkout = state.checkouts.find(({ ref }) => ref === checkoutRef);
    if (checkout === undefined) throw new Failure('CHECKOUT_NOT_FOUND');
    return checkout.methodRef;
  }

  async look(customerRef: string): Promise<Seen> {
    return seenOf(await this.#read(customerRef), this.#deps.config.baseUrl);
  }

  /** Its events come from this process; over HTTP they are taken as well, signed with a key of the installation. */
  async readEvent(body: Uint8Array, signature: string, nowMs: number): Promise<ProviderEvent> {
    requireSignature(await this.#key.bytes(), body, signature, nowMs);
    const event = sentEvent.safeParse(parsed(body));
    if (!event.success) throw new Failure('INVALID_JSON');
    return { id: event.data.id, kind: event.data.type, customerRef: event.data.customer };
  }

  nowMs(): number {
    return this.#deps.clock.nowMs();
  }

  /** What an address of one of its pages is about. Throws BILLING_PAGE_NOT_FOUND. */
  async open(secret: string): Promise<LedgerState> {
    const ref = await readLink(this.#deps.sql, secret);
    const state = ref === null ? null : await readLedger(this.#deps.sql, ref);
    if (state === null) throw new Failure('BILLING_PAGE_NOT_FOUND');
    return state;
  }

  /** What a person does on one of its pages. A repeated form does nothing again. */
  async act<T>(customerRef: string, key: string, act: (ledger: Ledger) => T): Promise<T> {
    return this.#call({ key, customerRef }, act);
  }

  async work(take: (event: ProviderEvent) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { sql, clock } = this.#deps;
    for (const ref of await listDueLedgers(sql, clock.nowMs(), LIMITS.billingSweepBatch)) {
      if (signal.aborted) return;
      await sql.begin(async (tx) => {
        const state = await lockLedger(tx, ref);
        if (state !== null) await this.#store(tx, state, (ledger) => ledger.work());
      });
    }
    for (const { id, kind, customer_ref: customerRef } of await listDueEvents(sql, clock.nowMs(), LIMITS.billingSweepBatch)) {
      if (signal.aborted) return;
      // Deleted after it was taken: a node that ends in between sends it twice, as real providers do.
      await take({ id: id.split('#')[0] ?? id, kind, customerRef });
      await deleteEvent(sql, id);
    }
  }

  async #read(ref: string): Promise<LedgerState> {
    const state = await readLedger(this.#deps.sql, ref);
    if (state === null) throw new Failure('SUBSCRIPTION_NOT_FOUND');
    return state;
  }

  /** Makes a call once for each key. A refusal is stored like an answer, with what it left behind. */
  async #call<T>({ key, customerRef }: Keyed & { readonly customerRef: string }, act: (ledger: Ledger) => T): Promise<T> {
    const { sql, clock } = this.#deps;
    const outcome = await sql.begin(async (tx) => {
      await lockCall(tx, key);
      const known = (await readCall(tx, key)) as Outcome<T> | undefined;
      if (known !== undefined) return known;
      const state = await lockLedger(tx, customerRef);
      if (state === null) throw new Failure('SUBSCRIPTION_NOT_FOUND');
      const made = await this.#store(tx, state, (ledger) => attempt(() => act(ledger)));
      await insertCall(tx, key, made, clock.nowMs());
      return made;
    });
    if (outcome.failure !== undefined) throw new Failure(outcome.failure.code, outcome.failure.details);
    return outcome.value as T;
  }

  async #store<T>(tx: Parameters<typeof writeLedger>[0], state: LedgerState, act: (ledger: Ledger) => T): Promise<T> {
    const nowMs = this.#deps.clock.nowMs();
    const ledger = new Ledger(state, nowMs, fresh);
    const value = act(ledger);
    await writeLedger(tx, ledger.state, ledger.dueAtMs);
    await insertLinks(tx, state.ref, ledger.secrets);
    const events = ledger.events.flatMap(({ kind, delayMs, isDoubled }) => {
      const id = fresh('evt');
      const event = { id, kind, dueAtMs: nowMs + delayMs };
      return isDoubled ? [event, { ...event, id: `${id}#2` }] : [event];
    });
    await insertEvents(tx, state.ref, events);
    return value;
  }
}

const sentEvent = z.object({ id: z.string().max(255), type: z.string().max(255), customer: z.string().max(255).nullable().default(null) });

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    // Said by the schema.
    return undefined;
  }
}

interface Outcome<T> {
  readonly value?: T;
  readonly failure?: { readonly code: Failure['code']; readonly details: Failure['details'] };
}

function attempt<T>(act: () => T): Outcome<T> {
  try {
    const value = act();
    return value === undefined ? {} : { value };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { failure: { code: error.code, details: error.details } };
  }
}

/** What a ledger shows to its customer's service. */
export function seenOf(state: LedgerState, baseUrl: string): Seen {
  const subscriptions = state.subscriptions.map((subscription) => {
    const { ref, id, status, planId, seats, kept, trialEndsAtMs, periodEndsAtMs, cancelAtPeriodEnd, canceledAtMs, createdAtMs } =
      subscription;
    const waits = state.invoices.find(({ subscriptionRef, confirmSecret }) => subscriptionRef === ref && confirmSecret !== null);
    const actionUrl = waits === undefined ? null : `${baseUrl}/pay/confirm/${waits.confirmSecret}`;
    return { ref, id, status, planId, seats, kept, trialEndsAtMs, periodEndsAtMs, cancelAtPeriodEnd, canceledAtMs, createdAtMs, actionUrl };
  });
  const methods = state.methods.map(({ ref, brand, last4, createdAtMs }) => {
    return { ref, brand, last4, expMonth: 12, expYear: 2034, isDefault: ref === state.defaultRef, createdAtMs };
  });
  const invoices = state.invoices.map(({ ref, number, amountCents, currency, status, secret, createdAtMs }) => {
    return { ref, number, amountCents, currency, status, pageUrl: `${baseUrl}/pay/invoices/${secret}`, createdAtMs };
  });
  return { isGone: false, creditCents: state.creditCents ?? 0, subscriptions, methods, invoices };
}
