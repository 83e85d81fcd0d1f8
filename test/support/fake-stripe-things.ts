/** What the fake Stripe keeps, the cards of its test mode, and how it refuses. */

/** How the bank answers; `authenticates` asks the person (3-D Secure). */
type Bank = 'pays' | 'card_declined' | 'insufficient_funds' | 'expired_card' | 'authenticates';

interface Token {
  readonly brand: string;
  readonly last4: string;
  readonly bank: Bank;
  /** Refused when it becomes a payment method already. */
  readonly isRefused?: true;
}

/** The tokens of Stripe's test mode, and the names that the embedded provider has for the same. */
export const TOKENS: Readonly<Record<string, Token>> = {
  tok_visa: { brand: 'visa', last4: '4242', bank: 'pays' },
  tok_mastercard: { brand: 'mastercard', last4: '4444', bank: 'pays' },
  tok_chargeDeclined: { brand: 'visa', last4: '0002', bank: 'card_declined', isRefused: true },
  tok_declined: { brand: 'visa', last4: '0002', bank: 'card_declined', isRefused: true },
  tok_expired: { brand: 'visa', last4: '0069', bank: 'expired_card', isRefused: true },
  tok_chargeCustomerFail: { brand: 'visa', last4: '0341', bank: 'card_declined' },
  tok_declined_later: { brand: 'visa', last4: '0341', bank: 'card_declined' },
  tok_insufficient_funds: { brand: 'visa', last4: '9995', bank: 'insufficient_funds' },
  tok_3ds: { brand: 'visa', last4: '3155', bank: 'authenticates' },
};

export interface Price {
  readonly id: string;
  readonly lookupKey: string;
  readonly unitAmount: number;
  readonly interval: 'month' | 'year';
}

export interface Customer {
  readonly id: string;
  readonly name: string | null;
  metadata: Record<string, string>;
  defaultMethod: string | null;
  /** What they owe; below zero a credit. */
  balance: number;
  isDeleted: boolean;
  readonly created: number;
}

export interface Method {
  readonly id: string;
  customer: string | null;
  readonly brand: string;
  readonly last4: string;
  bank: Bank;
  readonly created: number;
}

type Status = 'incomplete' | 'incomplete_expired' | 'trialing' | 'active' | 'past_due' | 'canceled';

export interface Subscription {
  readonly id: string;
  readonly itemId: string;
  readonly customer: string;
  price: Price;
  quantity: number;
  status: Status;
  metadata: Record<string, string>;
  readonly trialEnd: number | null;
  periodStart: number;
  periodEnd: number;
  cancelAtPeriodEnd: boolean;
  canceledAt: number | null;
  endedAt: number | null;
  latestInvoice: string | null;
  retryAt: number | null;
  readonly created: number;
}

export interface Invoice {
  readonly id: string;
  readonly customer: string;
  readonly subscription: string;
  readonly number: string;
  readonly reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update';
  readonly total: number;
  /** The balance that it began with; what of the credit it has used is in `amountDue`. */
  readonly startingBalance: number;
  readonly amountDue: number;
  status: 'open' | 'paid' | 'void';
  attempted: boolean;
  readonly created: number;
}

export interface Charge {
  readonly id: string;
  readonly customer: string;
  readonly invoice: string;
  readonly amount: number;
  readonly created: number;
}

export interface Session {
  readonly id: string;
  readonly customer: string;
  readonly successUrl: string;
  status: 'open' | 'complete' | 'expired';
  method: string | null;
  readonly expires: number;
}

/** An answer of Stripe that is no success. */
export class Refusal extends Error {
  readonly status: number;
  readonly error: Readonly<Record<string, string>>;

  constructor(status: number, error: Readonly<Record<string, string>>) {
    super(error.message);
    this.status = status;
    this.error = error;
  }
}

export const invalid = (message: string, more: Readonly<Record<string, string>> = {}, status = 400) =>
  new Refusal(status, { type: 'invalid_request_error', message, ...more });
export const missing = (what: string, id: string, param = 'id') =>
  invalid(`No such ${what}: '${id}'`, { code: 'resource_missing', param }, 404);

export function declined(bank: Bank): Refusal {
  const code = bank === 'expired_card' ? 'expired_card' : 'card_declined';
  const why = bank === 'insufficient_funds' ? 'insufficient_funds' : 'generic_decline';
  return new Refusal(402, { type: 'card_error', code, decline_code: why, message: 'Your card was declined.' });
}
export const wantsAction = (code: string) =>
  new Refusal(402, { type: 'card_error', code, message: 'This payment requires additional user action.' });
