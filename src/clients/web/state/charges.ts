/** What a change of the plan costs and when, told before it is made. The payment provider decides; this follows the rules that the server has. */
import type { BillingPlan, Subscription } from '../api/client.ts';

export function priceOf({ price_cents, per_seat }: BillingPlan, seats: number): number {
  return per_seat ? price_cents * seats : price_cents;
}

export type Charge =
  | { readonly kind: 'same' }
  /** The change that was to come is taken back. */
  | { readonly kind: 'back' }
  | { readonly kind: 'inTrial'; readonly at: string; readonly thenCents: number }
  | { readonly kind: 'now'; readonly nowCents: number; readonly at: string; readonly thenCents: number }
  /** Another interval: a new period begins. */
  | { readonly kind: 'restart'; readonly nowCents: number; readonly thenCents: number }
  | { readonly kind: 'later'; readonly at: string; readonly thenCents: number };

interface Change {
  readonly current: Pick<Subscription, 'status' | 'plan' | 'seats' | 'pending' | 'trial_ends_at' | 'period_ends_at'>;
  /** The plan that is in force now. */
  readonly has: BillingPlan;
  readonly wanted: BillingPlan;
  readonly seats: number;
  readonly nowMs: number;
}

export function chargeFor({ current, has, wanted, seats, nowMs }: Change): Charge {
  const hasCents = priceOf(has, current.seats);
  const thenCents = priceOf(wanted, seats);
  const at = current.period_ends_at ?? new Date(nowMs).toISOString();
  if (wanted.id === has.id && (seats === current.seats || !has.per_seat)) return { kind: current.pending === null ? 'same' : 'back' };
  if (current.status === 'trialing') return { kind: 'inTrial', at: current.trial_ends_at ?? at, thenCents };
  const left = shareLeft(at, has.interval, nowMs);
  if (wanted.interval !== has.interval) return { kind: 'restart', nowCents: atLeastNothing(thenCents - left * hasCents), thenCents };
  if (thenCents > hasCents) return { kind: 'now', nowCents: atLeastNothing(left * (thenCents - hasCents)), at, thenCents };
  return { kind: 'later', at, thenCents };
}

/** Which part of the period is still to come, from 0 to 1. */
function shareLeft(endsAt: string, interval: BillingPlan['interval'], nowMs: number): number {
  const ends = new Date(endsAt);
  const began = new Date(endsAt);
  if (interval === 'month') began.setUTCMonth(ends.getUTCMonth() - 1);
  else began.setUTCFullYear(ends.getUTCFullYear() - 1);
  const share = (ends.getTime() - nowMs) / (ends.getTime() - began.getTime());
  return Math.min(1, Math.max(0, share));
}

function atLeastNothing(cents: number): number {
  return Math.max(0, Math.round(cents));
}
