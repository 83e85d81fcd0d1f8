/** The port of a payment provider. It holds the cards and takes the money; card numbers never reach this service. */

import type { SubscriptionStatus } from '../../../../protocol/business/billing.ts';
import type { PlanId } from '../../../../protocol/business/billing-plans.ts';
import type { SubscriptionId, WorkspaceId } from '../../../../protocol/core/ids.ts';

export interface PlanAndSeats {
  readonly planId: PlanId;
  readonly seats: number;
}

/** A larger plan that was paid until a time, after a change to a smaller one. */
export interface Kept extends PlanAndSeats {
  readonly untilMs: number;
}

/** A subscription as the provider has it now. Times are Unix ms. */
export interface SeenSubscription extends PlanAndSeats {
  readonly ref: string;
  /** The id that we gave with it. */
  readonly id: SubscriptionId;
  readonly status: SubscriptionStatus;
  readonly kept: Kept | null;
  readonly trialEndsAtMs: number | null;
  readonly periodEndsAtMs: number | null;
  readonly cancelAtPeriodEnd: boolean;
  /** A page of the provider on which a person pays or confirms the open invoice. */
  readonly actionUrl: string | null;
  readonly canceledAtMs: number | null;
  readonly createdAtMs: number;
}

export interface SeenMethod {
  readonly ref: string;
  readonly brand: string;
  readonly last4: string;
  readonly expMonth: number;
  readonly expYear: number;
  readonly isDefault: boolean;
  readonly createdAtMs: number;
}

export interface SeenInvoice {
  readonly ref: string;
  readonly number: string | null;
  readonly amountCents: number;
  readonly currency: string;
  readonly status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  readonly pageUrl: string | null;
  readonly createdAtMs: number;
}

/** All that the provider has of a customer. */
export interface Seen {
  /** The provider has deleted the customer, and with it everything that ran. */
  readonly isGone: boolean;
  /** What was paid and is not used yet: the next invoices are paid with it first. */
  readonly creditCents: number;
  readonly subscriptions: readonly SeenSubscription[];
  readonly methods: readonly SeenMethod[];
  /** The newest, bounded. */
  readonly invoices: readonly SeenInvoice[];
}

/** A call is repeated with the same key until its answer is recorded; the provider makes it once. */
export interface Keyed {
  readonly key: string;
}

export interface ProviderEvent {
  readonly id: string;
  /** As the provider names it; only `dispute` has a meaning of its own here. */
  readonly kind: string;
  /** Null for events about no customer, which are only acknowledged. */
  readonly customerRef: string | null;
}

export interface ProviderCheckout {
  readonly ref: string;
  readonly url: string;
  readonly clientSecret: string | null;
  readonly expiresAtMs: number;
}

/**
 * Every call rejects with `ProviderAway` where it is not known whether it was made, and with a `Failure` where the provider has refused it for
 * good: CARD_DECLINED, PAYMENT_METHOD_NOT_FOUND, CHECKOUT_NOT_FOUND, INVALID_REQUEST.
 */
export interface PaymentProvider {
  readonly name: 'stripe' | 'embedded';
  createCustomer(spec: Keyed & { readonly workspaceId: WorkspaceId; readonly name: string }): Promise<string>;
  /** Begins with a trial until `trialEndsAtMs`, or where that is null with an invoice, and is `incomplete` until it is paid. */
  subscribe(
    spec: Keyed & PlanAndSeats & { readonly customerRef: string; readonly id: SubscriptionId; readonly trialEndsAtMs: number | null },
  ): Promise<void>;
  /**
   * `isProrated`: the rest of the period is charged now, and where the card is declined nothing changes. What was paid for more than that stays as
   * a credit. Another interval begins a new period.
   */
  change(
    spec: Keyed &
      PlanAndSeats & { readonly customerRef: string; readonly ref: string; readonly isProrated: boolean; readonly kept: Kept | null },
  ): Promise<void>;
  /** `now` also gives up what is unpaid. */
  cancel(spec: Keyed & { readonly customerRef: string; readonly ref: string; readonly at: 'now' | 'period_end' }): Promise<void>;
  /** Takes back a cancellation at the end of the period. */
  resume(spec: Keyed & { readonly customerRef: string; readonly ref: string }): Promise<void>;
  /** Saves the card that a token stands for and makes it the default. Answers the method's ref. */
  attach(spec: Keyed & { readonly customerRef: string; readonly token: string }): Promise<string>;
  setDefault(spec: Keyed & { readonly customerRef: string; readonly methodRef: string }): Promise<void>;
  /** Where it was the default, the newest of the others becomes it. */
  detach(spec: Keyed & { readonly customerRef: string; readonly methodRef: string }): Promise<void>;
  /**
   * Pays the open invoices of a subscription with the default method; `paid` where none is open any more. A 3-D Secure step is no failure: it
   * `waits` for the person.
   */
  pay(spec: Keyed & { readonly customerRef: string; readonly ref: string }): Promise<'paid' | 'waits'>;
  checkout(spec: Keyed & { readonly customerRef: string; readonly returnUrl: string }): Promise<ProviderCheckout>;
  /** The method that was saved at a checkout; null where none is yet. */
  savedAt(customerRef: string, checkoutRef: string): Promise<string | null>;
  look(customerRef: string): Promise<Seen>;
  /** Throws WEBHOOK_SIGNATURE_INVALID, INVALID_REQUEST. `signature`: the provider's header. */
  readEvent(body: Uint8Array, signature: string, nowMs: number): Promise<ProviderEvent>;
  /** Of a provider in this process: does what is due, and hands over the events that it sends. */
  work?(take: (event: ProviderEvent) => Promise<void>, signal: AbortSignal): Promise<void>;
}

/** It is not known whether the provider has done what was asked: repeat it with the same key. */
export class ProviderAway extends Error {
  override readonly name = 'ProviderAway';
}
