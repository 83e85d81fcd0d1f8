/** Plans, prices, cards and allowances as people read them. */
import type { BillingPlan, PaymentMethod } from '../../api/client.ts';
import type { Allowances, Over } from '../../state/billing.ts';
import { priceOf } from '../../state/charges.ts';
import { bytesText, countText, moneyText } from '../../words/format.ts';
import { words } from '../../words/words.ts';

export function planName({ tier, interval }: Pick<BillingPlan, 'tier' | 'interval'>): string {
  const { billing } = words.value;
  return billing.plan(billing.tier[tier], billing.intervals[interval]);
}

/** "Team, monthly, 3 seats". */
export function planWithSeats(plan: BillingPlan, seats: number): string {
  return plan.per_seat ? `${planName(plan)}, ${words.value.billing.seats(seats)}` : planName(plan);
}

/** What all of it costs: "$60.00 a month". */
export function priceText(plan: BillingPlan, seats: number): string {
  return words.value.billing.each[plan.interval](moneyText(priceOf(plan, seats), plan.currency));
}

/** What one of it costs: "$20.00 for each seat a month". */
export function unitPriceText({ price_cents, currency, per_seat, interval }: BillingPlan): string {
  const { billing } = words.value;
  const price = moneyText(price_cents, currency);
  return billing.each[interval](per_seat ? billing.perSeat(price) : price);
}

const BRANDS: Readonly<Record<string, string>> = { visa: 'Visa', mastercard: 'Mastercard', amex: 'American Express', discover: 'Discover' };

export function cardName({ brand, last4 }: Pick<PaymentMethod, 'brand' | 'last4'>): string {
  return words.value.billing.card(BRANDS[brand] ?? brand, last4);
}

/** An amount of an allowance. */
export function amountText(name: string, amount: number): string {
  return name === 'bytes' ? bytesText(amount) : countText(amount);
}

/** What an allowance or a feature is called. */
export function allowanceName(name: string): string {
  const { uses, feature, limits } = words.value.billing;
  const known: Readonly<Record<string, string>> = { ...feature, ...limits, ...uses };
  return known[name] ?? name;
}

/** What is stopped while there is too much of something; what the server says where there are no words for it here. */
export function stopText({ name, message }: Over): string {
  const stops: Readonly<Record<string, string>> = words.value.billing.stops;
  return stops[name] ?? message;
}

/** Of how much there is no count on the screen. */
export const FURTHER = [
  'versions_per_artifact',
  'drafts_per_artifact',
  'jobs_per_artifact',
  'mails_per_day',
  'publishes_per_hour',
] as const satisfies (keyof Allowances)[];
