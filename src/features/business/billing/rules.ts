/** What follows from the state of a subscription, decided without I/O. */
import type { SubscriptionStatus } from '../../../../protocol/business/billing.ts';
import { PLANS } from '../../../../protocol/business/billing-plans.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { Kept, PlanAndSeats, SeenSubscription } from './provider.ts';

const DAY_MS = 24 * 3_600_000;

/** What we keep of a subscription: what was seen, and since when it is unpaid. */
export interface Mirrored extends SeenSubscription {
  readonly pastDueSinceMs: number | null;
  /** Reminders of the unpaid invoice that went out. */
  readonly dunningSent: number;
}

export type Effect = 'payment_failed' | 'trial_ended' | 'ended_unpaid' | 'ended' | 'recovered';

/**
 * The mirror after the provider's state was seen. `canceled` is final, as at the provider. Any other state may follow any: events are lost, and
 * what lies between two looks is not seen.
 */
export function advance(
  before: Mirrored | null,
  seen: SeenSubscription,
  nowMs: number,
): { readonly after: Mirrored; readonly effects: readonly Effect[] } {
  if (before?.status === 'canceled') return { after: before, effects: [] };
  const wasUnpaid = before?.status === 'past_due';
  const isUnpaid = seen.status === 'past_due';
  const after: Mirrored = {
    ...seen,
    pastDueSinceMs: isUnpaid ? (before?.pastDueSinceMs ?? nowMs) : null,
    dunningSent: isUnpaid ? (before?.dunningSent ?? 0) : 0,
  };
  return { after, effects: before === null ? [] : effectsOf(before.status, seen.status, { wasUnpaid, isUnpaid }) };
}

function effectsOf(
  from: SubscriptionStatus,
  to: SubscriptionStatus,
  { wasUnpaid, isUnpaid }: { readonly wasUnpaid: boolean; readonly isUnpaid: boolean },
): readonly Effect[] {
  if (from === to) return [];
  if (isUnpaid) return ['payment_failed'];
  switch (to) {
    case 'canceled':
      return [from === 'trialing' ? 'trial_ended' : wasUnpaid ? 'ended_unpaid' : 'ended'];
    case 'active':
      return wasUnpaid ? ['recovered'] : [];
    case 'trialing':
    case 'incomplete':
    case 'past_due':
      return [];
    default:
      return to satisfies never;
  }
}

/** Whether an answer of the provider is newer than what is stored. Looks are numbered in the order in which they began. */
export function isNewer(lookNo: number, seenNo: number): boolean {
  return lookNo > seenNo;
}

export interface WorkspacePlan {
  readonly tier: Tier;
  readonly status: SubscriptionStatus;
}

/** What a workspace has with its subscription; without one, or with one that does not run, the tier that it had before. */
export function workspacePlan(subscription: Mirrored | null, baseTier: Tier, nowMs: number): WorkspacePlan {
  if (subscription !== null && isRunning(subscription.status)) {
    return { tier: PLANS[effective(subscription, nowMs).planId].tier, status: subscription.status };
  }
  if (baseTier !== 'free' || subscription === null) return { tier: baseTier, status: 'active' };
  return { tier: 'free', status: subscription.status };
}

export function isRunning(status: SubscriptionStatus): boolean {
  return status === 'trialing' || status === 'active' || status === 'past_due';
}

/** What may be used now: a larger plan that is paid until a time, else the plan. */
export function effective({ planId, seats, kept }: PlanAndSeats & { readonly kept: Kept | null }, nowMs: number): PlanAndSeats {
  return kept !== null && kept.untilMs > nowMs ? kept : { planId, seats };
}

export function priceOf({ planId, seats }: PlanAndSeats): number {
  const { price_cents, per_seat } = PLANS[planId];
  return per_seat ? price_cents * seats : price_cents;
}

export type Change =
  | { readonly kind: 'none' }
  /** More, or another interval: now, and paid in proportion; what was paid beyond that becomes a credit. During a trial everything is now, and free. */
  | {
      readonly kind: 'now';
      readonly isProrated: boolean;
      readonly restoreFirst: PlanAndSeats | null;
      /** What is unpaid is paid before: a small payment must not make good a large one. */
      readonly paysFirst: boolean;
    }
  /** Less: with the next period. What is paid is kept until then. */
  | { readonly kind: 'later'; readonly kept: Kept };

export function changeTo(current: Mirrored, wanted: PlanAndSeats, nowMs: number): Change {
  const has = effective(current, nowMs);
  const free = { kind: 'now', isProrated: false, restoreFirst: null, paysFirst: false } as const;
  if (isSame(current, wanted)) return { kind: 'none' };
  if (current.status === 'trialing') return free;
  const isOtherInterval = PLANS[has.planId].interval !== PLANS[wanted.planId].interval;
  if (isSame(has, wanted)) return free;
  if (isOtherInterval || priceOf(wanted) > priceOf(has)) {
    // The provider prorates from the plan that it has, which is the smaller one: what is paid already is put back first.
    const restoreFirst = isSame(has, current) ? null : { planId: has.planId, seats: has.seats };
    return { kind: 'now', isProrated: true, restoreFirst, paysFirst: current.status === 'past_due' };
  }
  return { kind: 'later', kept: { planId: has.planId, seats: has.seats, untilMs: current.periodEndsAtMs ?? nowMs } };
}

export function isSame(one: PlanAndSeats, other: PlanAndSeats): boolean {
  return one.planId === other.planId && one.seats === other.seats;
}

/** When a subscription ends unless somebody does something; null where it goes on. */
export function endsAtMs(subscription: Mirrored, hasCard: boolean): number | null {
  const { status, cancelAtPeriodEnd, periodEndsAtMs, trialEndsAtMs, pastDueSinceMs, canceledAtMs } = subscription;
  if (status === 'canceled') return canceledAtMs;
  if (status === 'past_due' && pastDueSinceMs !== null) return pastDueSinceMs + LIMITS.pastDueMs;
  if (cancelAtPeriodEnd) return periodEndsAtMs;
  return status === 'trialing' && !hasCard ? trialEndsAtMs : null;
}

/** How many reminders should have gone out by now. */
export function dunningDue(pastDueSinceMs: number, nowMs: number): number {
  return LIMITS.dunningDays.filter((day) => pastDueSinceMs + day * DAY_MS <= nowMs).length;
}

/** Throws SEATS_TOO_FEW. */
export function requireSeats(seats: number, members: number): void {
  if (seats >= members) return;
  throw new Failure('SEATS_TOO_FEW', {
    param: 'seats',
    message: `seats: the workspace has ${members} members, and ${seats} seats were asked for.`,
  });
}
