/** The contract of a payment provider, which the embedded one and Stripe both keep. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, type SubscriptionId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { EmbeddedProvider } from '../../../../src/features/business/billing/embedded/provider.ts';
import {
  type PaymentProvider,
  type PlanAndSeats,
  ProviderAway,
  type SeenSubscription,
} from '../../../../src/features/business/billing/provider.ts';
import { StripeProvider } from '../../../../src/features/business/billing/stripe/provider.ts';
import { defaultDatabaseKind } from '../../../support/database.ts';
import { startTestEasel } from '../../../support/easel.ts';
import { FAKE_STRIPE_KEY, FAKE_WEBHOOK_SECRET, FakeStripe } from '../../../support/fake-stripe.ts';
import { embeddedKey, signatureOf } from '../../../support/signed-events.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const DAY_MS = 24 * 3_600_000;

interface Subject {
  readonly provider: PaymentProvider;
  readonly clock: VirtualClock;
  /** What was taken of a customer, in cents. */
  charges(customerRef: string): Promise<number[]>;
  /** The person confirms the payment of an invoice. */
  confirm(customerRef: string, actionUrl: string): Promise<void>;
  /** The person saves a card on the page of a checkout. */
  save(customerRef: string, url: string): Promise<void>;
  signed(body: string, atMs: number): Promise<string>;
  close(): Promise<void>;
}

async function embedded(): Promise<Subject> {
  const easel = await startTestEasel({ database: defaultDatabaseKind() });
  const clock = new VirtualClock();
  const provider = new EmbeddedProvider({ sql: easel.sql, clock, config: { baseUrl: easel.baseUrl } as never });
  const state = async (ref: string) => {
    const [row] = await easel.sql<{ state: { charges: { amountCents: number }[] } }[]>`select state from pay_customer where ref = ${ref}`;
    return row?.state.charges.map(({ amountCents }) => amountCents) ?? [];
  };
  const secretOf = (url: string) => new URL(url).pathname.split('/').at(-1) ?? '';
  return {
    ...{ provider, clock, charges: state },
    confirm: (ref, url) => provider.act(ref, `confirm ${url}`, (ledger) => ledger.confirm(secretOf(url), true)),
    save: async (_ref, url) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: easel.baseUrl };
      expect((await fetch(url, { method: 'POST', headers, body: 'card=tok_visa', redirect: 'manual' })).status).toBe(200);
    },
    signed: async (body, atMs) => signatureOf(await embeddedKey(easel), body, atMs),
    close: () => easel.close(),
  };
}

async function stripe(): Promise<Subject> {
  const clock = new VirtualClock();
  const fake = await FakeStripe.start(() => clock.nowMs());
  const provider = new StripeProvider({ secretKey: FAKE_STRIPE_KEY, webhookSecret: FAKE_WEBHOOK_SECRET, apiUrl: new URL(fake.url) });
  const idOf = (url: string) => new URL(url).pathname.split('/').at(-1) ?? '';
  return {
    ...{ provider, clock, charges: (ref) => Promise.resolve(fake.charged(ref)) },
    confirm: (_ref, url) => Promise.resolve(fake.books.confirm(idOf(url))),
    save: (_ref, url) => Promise.resolve(fake.books.complete(idOf(url), 'tok_visa')),
    signed: (body, atMs) => Promise.resolve(signatureOf(FAKE_WEBHOOK_SECRET, body, atMs)),
    close: () => fake.close(),
  };
}

describe.each([
  ['embedded', embedded],
  ['stripe', stripe],
] as const)('the provider %s', (_name, start) => {
  let subject: Subject;
  let provider: PaymentProvider;
  beforeAll(async () => {
    subject = await start();
    provider = subject.provider;
  });
  afterAll(() => subject.close());

  let keys = 0;
  const key = () => {
    keys += 1;
    return `key-${keys}`;
  };
  const customer = () => provider.createCustomer({ key: key(), workspaceId: newId('workspace') as WorkspaceId, name: 'Acme' });
  const one = async (ref: string): Promise<SeenSubscription> => {
    const [found, ...more] = (await provider.look(ref)).subscriptions;
    if (found === undefined || more.length > 0) throw new Error(`${more.length + (found === undefined ? 0 : 1)} subscriptions`);
    return found;
  };
  async function subscribe(customerRef: string, trialDays: number | null, plan: PlanAndSeats = { planId: 'team_monthly', seats: 2 }) {
    const trialEndsAtMs = trialDays === null ? null : subject.clock.nowMs() + trialDays * DAY_MS;
    const spec = { key: key(), customerRef, id: newId('subscription') as SubscriptionId, trialEndsAtMs, ...plan };
    await provider.subscribe(spec);
    return { spec, ref: (await one(customerRef)).ref };
  }
  async function pass(ms: number): Promise<void> {
    subject.clock.advance(ms);
    await provider.work?.(() => Promise.resolve(), new AbortController().signal);
  }
  const active = async (token = 'tok_visa') => {
    const customerRef = await customer();
    await provider.attach({ key: key(), customerRef, token: 'tok_visa' });
    const { ref } = await subscribe(customerRef, null);
    if (token !== 'tok_visa') await provider.attach({ key: key(), customerRef, token });
    return { customerRef, ref };
  };

  test('a call that is repeated with its key is made once', async () => {
    const spec = { key: key(), workspaceId: newId('workspace') as WorkspaceId, name: 'Acme' };
    const customerRef = await provider.createCustomer(spec);
    expect(await provider.createCustomer(spec)).toBe(customerRef);
    const card = { key: key(), customerRef, token: 'tok_visa' };
    expect(await provider.attach(card)).toBe(await provider.attach(card));
    expect((await provider.look(customerRef)).methods).toHaveLength(1);
    const { spec: subscribed, ref } = await subscribe(customerRef, null);
    await provider.subscribe(subscribed);
    expect(await one(customerRef)).toMatchObject({ status: 'active', planId: 'team_monthly', seats: 2, ref });
    const more = { key: key(), customerRef, ref, planId: 'team_monthly', seats: 4, isProrated: true, kept: null } as const;
    for (let time = 0; time < 3; time += 1) await provider.change(more);
    expect(await subject.charges(customerRef)).toEqual([4000, 4000]);
    const paying = { key: key(), customerRef, ref };
    expect([await provider.pay(paying), await provider.pay(paying)]).toEqual(['paid', 'paid']);
    expect(await subject.charges(customerRef)).toEqual([4000, 4000]);
  });

  test('a refusal is repeated too, and a key of before is not one of now', async () => {
    const customerRef = await customer();
    const declined = { key: key(), customerRef, token: 'tok_declined' };
    for (let time = 0; time < 2; time += 1) await expect(provider.attach(declined)).rejects.toMatchObject({ code: 'CARD_DECLINED' });
    const unknown = { key: key(), customerRef, token: 'tok_unheard_of' };
    await expect(provider.attach(unknown)).rejects.toMatchObject({ code: 'INVALID_REQUEST', details: { param: 'token' } });
    await provider.attach({ key: key(), customerRef, token: 'tok_visa' });
    expect((await provider.look(customerRef)).methods).toMatchObject([{ brand: 'visa', last4: '4242', isDefault: true }]);
  });

  test('a trial asks for nothing, and ends by itself: without a card it is over, with one it is paid', async () => {
    const [without, withCard] = [await customer(), await customer()];
    for (const ref of [without, withCard]) {
      const { spec } = await subscribe(ref, 14);
      expect(await one(ref)).toMatchObject({ id: spec.id, status: 'trialing', trialEndsAtMs: spec.trialEndsAtMs, actionUrl: null });
      expect((await provider.look(ref)).invoices).toEqual([]);
    }
    await provider.attach({ key: key(), customerRef: withCard, token: 'tok_visa' });
    await pass(14 * DAY_MS);
    expect((await one(without)).status).toBe('canceled');
    expect((await one(without)).canceledAtMs).not.toBeNull();
    expect(await one(withCard)).toMatchObject({ status: 'active', canceledAtMs: null });
    expect(await subject.charges(withCard)).toEqual([4000]);
    expect((await provider.look(withCard)).invoices).toMatchObject([{ amountCents: 4000, status: 'paid', currency: 'usd' }]);
  });

  test('a first payment that never comes ends the subscription within a day', async () => {
    const customerRef = await customer();
    await subscribe(customerRef, null);
    expect((await one(customerRef)).status).toBe('incomplete');
    await pass(DAY_MS);
    expect((await one(customerRef)).status).toBe('canceled');
    expect((await provider.look(customerRef)).invoices).toMatchObject([{ status: 'void' }]);
  });

  test('a change that the bank declines changes nothing; less is not paid back and comes with the next period', async () => {
    const { customerRef, ref } = await active('tok_declined_later');
    const more = { key: key(), customerRef, ref, planId: 'team_monthly', seats: 9, isProrated: true, kept: null } as const;
    await expect(provider.change(more)).rejects.toMatchObject({ code: 'CARD_DECLINED' });
    expect(await one(customerRef)).toMatchObject({ status: 'active', seats: 2, kept: null });
    const { periodEndsAtMs } = await one(customerRef);
    const kept = { planId: 'team_monthly', seats: 2, untilMs: periodEndsAtMs ?? 0 } as const;
    await provider.change({ ...more, key: key(), planId: 'pro_monthly', seats: 1, isProrated: false, kept });
    expect(await one(customerRef)).toMatchObject({ status: 'active', planId: 'pro_monthly', seats: 1, kept, periodEndsAtMs });
    await provider.attach({ key: key(), customerRef, token: 'tok_visa' });
    await pass(30 * DAY_MS);
    expect(await subject.charges(customerRef)).toEqual([4000, 1200]);
  });

  test('a bank that wants a confirmation declines a change, and lets an invoice wait', async () => {
    const { customerRef, ref } = await active('tok_3ds');
    const more = { key: key(), customerRef, ref, planId: 'team_monthly', seats: 9, isProrated: true, kept: null } as const;
    await expect(provider.change(more)).rejects.toMatchObject({
      code: 'CARD_DECLINED',
      message: 'The bank declined the card: it wants a confirmation by the person.',
    });
    await pass(30 * DAY_MS);
    const { status, actionUrl } = await one(customerRef);
    expect(status).toBe('past_due');
    expect(await provider.pay({ key: key(), customerRef, ref })).toBe('waits');
    await subject.confirm(customerRef, (await one(customerRef)).actionUrl ?? actionUrl ?? '');
    expect(await one(customerRef)).toMatchObject({ status: 'active', actionUrl: null });
    expect(await provider.pay({ key: key(), customerRef, ref })).toBe('paid');
    expect(await subject.charges(customerRef)).toEqual([4000, 4000]);
  });

  test('another interval begins anew, and what was paid beyond it is a credit', async () => {
    const customerRef = await customer();
    await provider.attach({ key: key(), customerRef, token: 'tok_visa' });
    const { ref } = await subscribe(customerRef, null, { planId: 'pro_yearly', seats: 1 });
    expect((await provider.look(customerRef)).creditCents).toBe(0);
    await provider.change({ key: key(), customerRef, ref, planId: 'pro_monthly', seats: 1, isProrated: true, kept: null });
    expect((await provider.look(customerRef)).creditCents).toBe(10_800);
    expect((await one(customerRef)).periodEndsAtMs).toBe(subject.clock.nowMs() + 30 * DAY_MS);
    await pass(30 * DAY_MS);
    const seen = await provider.look(customerRef);
    expect(seen.creditCents).toBe(9600);
    expect(seen.invoices.map(({ amountCents }) => amountCents).sort((a, b) => a - b)).toEqual([-10_800, 1200, 12_000]);
    expect(await subject.charges(customerRef)).toEqual([12_000]);
  });

  test('canceled at the end of the period it can be taken back; canceled now it is over, with what is unpaid', async () => {
    const { customerRef, ref } = await active();
    await provider.cancel({ key: key(), customerRef, ref, at: 'period_end' });
    expect(await one(customerRef)).toMatchObject({ status: 'active', cancelAtPeriodEnd: true, canceledAtMs: null });
    await provider.resume({ key: key(), customerRef, ref });
    expect((await one(customerRef)).cancelAtPeriodEnd).toBe(false);
    await provider.attach({ key: key(), customerRef, token: 'tok_insufficient_funds' });
    await pass(30 * DAY_MS);
    expect((await one(customerRef)).status).toBe('past_due');
    await expect(provider.pay({ key: key(), customerRef, ref })).rejects.toMatchObject({ code: 'CARD_DECLINED' });
    const now = { key: key(), customerRef, ref, at: 'now' } as const;
    for (let time = 0; time < 2; time += 1) await provider.cancel(now);
    expect((await one(customerRef)).status).toBe('canceled');
    expect((await provider.look(customerRef)).invoices.map(({ status }) => status).sort()).toEqual(['paid', 'void']);
    await expect(provider.cancel({ ...now, key: key() })).rejects.toMatchObject({ code: 'SUBSCRIPTION_ENDED' });
    const more = { key: key(), customerRef, ref, planId: 'team_monthly', seats: 9, isProrated: true, kept: null } as const;
    await expect(provider.change(more)).rejects.toMatchObject({ code: 'SUBSCRIPTION_ENDED' });
    expect(await subject.charges(customerRef)).toEqual([4000]);
  });

  test('without a card nothing is paid', async () => {
    const customerRef = await customer();
    const { ref } = await subscribe(customerRef, null);
    await expect(provider.pay({ key: key(), customerRef, ref })).rejects.toMatchObject({ code: 'CARD_DECLINED' });
  });

  test('a card that is removed is gone, and the newest of the others is the default', async () => {
    const customerRef = await customer();
    const refs: string[] = [];
    for (const token of ['tok_visa', 'tok_mastercard', 'tok_3ds']) {
      subject.clock.advance(1000);
      refs.push(await provider.attach({ key: key(), customerRef, token }));
    }
    const [first = '', second = '', third = ''] = refs;
    await provider.detach({ key: key(), customerRef, methodRef: third });
    const left = async () => (await provider.look(customerRef)).methods.map(({ ref, isDefault }) => [ref, isDefault]);
    expect(new Map((await left()) as [string, boolean][])).toEqual(
      new Map([
        [first, false],
        [second, true],
      ]),
    );
    await provider.setDefault({ key: key(), customerRef, methodRef: first });
    expect(new Map((await left()) as [string, boolean][])).toEqual(
      new Map([
        [first, true],
        [second, false],
      ]),
    );
    await expect(provider.setDefault({ key: key(), customerRef, methodRef: third })).rejects.toMatchObject({
      code: 'PAYMENT_METHOD_NOT_FOUND',
    });
  });

  test('a page to save a card', async () => {
    const customerRef = await customer();
    const { ref, url, expiresAtMs } = await provider.checkout({ key: key(), customerRef, returnUrl: 'https://easel.example.com/app' });
    expect(expiresAtMs).toBe(subject.clock.nowMs() + DAY_MS);
    expect(await provider.savedAt(customerRef, ref)).toBeNull();
    await subject.save(customerRef, url);
    const saved = await provider.savedAt(customerRef, ref);
    expect((await provider.look(customerRef)).methods.map((method) => method.ref)).toEqual([saved]);
    await expect(provider.savedAt(customerRef, 'cs_unheard_of')).rejects.toMatchObject({ code: 'CHECKOUT_NOT_FOUND' });
  });

  test('an event is read where it is signed, and not long ago', async () => {
    const nowMs = subject.clock.nowMs();
    const body = JSON.stringify({
      id: 'evt_1',
      object: 'event',
      type: 'invoice.paid',
      customer: 'cus_1',
      data: { object: { customer: 'cus_1' } },
    });
    const read = async (atMs: number, text = body) => provider.readEvent(Buffer.from(text), await subject.signed(body, atMs), nowMs);
    expect(await read(nowMs)).toEqual({ id: 'evt_1', kind: 'invoice.paid', customerRef: 'cus_1' });
    const refusal = { code: 'WEBHOOK_SIGNATURE_INVALID' };
    await expect(read(nowMs - DAY_MS)).rejects.toMatchObject(refusal);
    await expect(read(nowMs, `${body} `)).rejects.toMatchObject(refusal);
  });
});

describe('Stripe alone', () => {
  test('what hangs, errs or is busy leaves the outcome open; what it does not know is refused', async () => {
    const clock = new VirtualClock();
    const fake = await FakeStripe.start(() => clock.nowMs());
    const make = (secretKey: string, apiUrl: string) =>
      new StripeProvider({ secretKey, webhookSecret: FAKE_WEBHOOK_SECRET, apiUrl: new URL(apiUrl) });
    const spec = { key: 'k', workspaceId: newId('workspace') as WorkspaceId, name: 'Acme' };
    const provider = make(FAKE_STRIPE_KEY, fake.url);
    fake.isUp = false;
    await expect(provider.createCustomer(spec)).rejects.toBeInstanceOf(ProviderAway);
    fake.isUp = true;
    await expect(make('sk_wrong', fake.url).createCustomer(spec)).rejects.toBeInstanceOf(ProviderAway);
    const customerRef = await provider.createCustomer(spec);
    // The same key for another call is an error of ours, which nobody is charged for.
    await expect(provider.createCustomer({ ...spec, name: 'Other' })).rejects.toBeInstanceOf(ProviderAway);
    expect(fake.books.customers.size).toBe(1);
    fake.busy = { status: 409, type: 'idempotency_error', code: 'idempotency_key_in_use' };
    await expect(provider.attach({ key: 'a', customerRef, token: 'tok_visa' })).rejects.toBeInstanceOf(ProviderAway);
    fake.busy = { status: 400, type: 'invalid_request_error', code: 'lock_timeout' };
    await expect(provider.attach({ key: 'b', customerRef, token: 'tok_visa' })).rejects.toBeInstanceOf(ProviderAway);
    fake.busy = null;
    fake.books.deleteCustomer(customerRef);
    expect(await provider.look(customerRef)).toMatchObject({ isGone: true, methods: [] });
    const { url } = fake;
    await fake.close();
    await expect(make(FAKE_STRIPE_KEY, url).look(customerRef)).rejects.toBeInstanceOf(ProviderAway);
  });
});
