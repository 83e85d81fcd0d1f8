/** The mirror of a subscription ends in the provider's state, whatever becomes of the events: late, doubled, in any order, lost. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Failure, Failure as Refusal } from '../../../../protocol/core/errors.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import { Ledger, type LedgerState, newLedger } from '../../../../src/features/business/billing/embedded/ledger.ts';
import { seenOf } from '../../../../src/features/business/billing/embedded/provider.ts';
import type { SeenSubscription } from '../../../../src/features/business/billing/provider.ts';
import { advance, isNewer, type Mirrored, workspacePlan } from '../../../../src/features/business/billing/rules.ts';

const DAY_MS = 24 * 3_600_000;
const BASE = 'https://easel.example.com';

type Deed =
  | { readonly kind: 'attach'; readonly token: string }
  | { readonly kind: 'pay' | 'resume' }
  | { readonly kind: 'cancel'; readonly at: 'now' | 'period_end' }
  | { readonly kind: 'change'; readonly seats: number }
  | { readonly kind: 'days'; readonly days: number };

const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ kind: fc.constant('attach' as const), token: fc.constantFrom('tok_visa', 'tok_3ds', 'tok_declined_later', 'tok_declined') }),
  fc.record({ kind: fc.constantFrom('pay' as const, 'resume' as const) }),
  fc.record({ kind: fc.constant('cancel' as const), at: fc.constantFrom('now' as const, 'period_end' as const) }),
  fc.record({ kind: fc.constant('change' as const), seats: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constant('days' as const), days: fc.integer({ min: 1, max: 40 }) }),
);

/** What becomes of the event of each deed: when its look begins, when the answer arrives, and how often; zero times is a loss. */
const fate = fc.record({
  delay: fc.integer({ min: 0, max: 12 }),
  slowness: fc.integer({ min: 0, max: 12 }),
  times: fc.integer({ min: 0, max: 3 }),
});

function seen(state: LedgerState): SeenSubscription {
  const [subscription] = seenOf(state, BASE).subscriptions;
  if (subscription === undefined) throw new Error('the subscription is missing');
  return subscription;
}

function apply(state: LedgerState, nowMs: number, act: (ledger: Ledger) => unknown, name: () => string): LedgerState {
  const ledger = new Ledger(state, nowMs, (prefix) => `${prefix}_${name()}`);
  try {
    act(ledger);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error as Failure;
  }
  return ledger.state;
}

function perform(ledger: Ledger, ref: string, one: Deed): unknown {
  switch (one.kind) {
    case 'attach':
      return ledger.attach(one.token);
    case 'pay':
      return ledger.pay(ref);
    case 'resume':
      return ledger.resume(ref);
    case 'cancel':
      return ledger.cancel(ref, one.at);
    case 'change':
      return ledger.change(ref, { planId: 'team_monthly', seats: one.seats, isProrated: true, kept: null });
    case 'days':
      return ledger.work();
    default:
      return one satisfies never;
  }
}

test('after a reconciliation it is what the provider has, and canceled stays canceled', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(deed, fate), { minLength: 1, maxLength: 14 }), fc.boolean(), (deeds, hasTrial) => {
      let names = 0;
      const name = () => {
        names += 1;
        return String(names);
      };
      let nowMs = 1_767_225_600_000;
      let state = newLedger('cus_1', 'Acme');
      const start = {
        id: newId('subscription'),
        planId: 'team_monthly' as const,
        seats: 1,
        trialEndsAtMs: hasTrial ? nowMs + 14 * DAY_MS : null,
      };
      state = apply(state, nowMs, (ledger) => ledger.subscribe(start), name);
      // The state after each deed, and the looks that its event causes.
      const states = [state];
      const looks: { readonly beginsAt: number; readonly arrivesAt: number }[] = [];
      for (const [at, [one, { delay, slowness, times }]] of deeds.entries()) {
        if (one.kind === 'days') nowMs += one.days * DAY_MS;
        state = apply(state, nowMs, (ledger) => perform(ledger, seen(state).ref, one), name);
        states.push(state);
        for (let time = 0; time < times; time += 1) looks.push({ beginsAt: at + delay + time, arrivesAt: at + delay + slowness });
      }
      // Looks are numbered when they begin and read what is there then; answers arrive in another order.
      const numbered = [...looks].sort((one, other) => one.beginsAt - other.beginsAt).map((look, at) => ({ ...look, no: at + 1 }));
      let mirror: Mirrored | null = null;
      let seenNo = 0;
      let wasCanceled = false;
      const store = (no: number, stateSeen: LedgerState) => {
        if (!isNewer(no, seenNo)) return;
        seenNo = no;
        mirror = advance(mirror, seen(stateSeen), nowMs).after;
        expect(wasCanceled && mirror.status !== 'canceled').toBe(false);
        wasCanceled = mirror.status === 'canceled';
      };
      for (const { no, beginsAt } of [...numbered].sort((one, other) => one.arrivesAt - other.arrivesAt))
        store(no, states[Math.min(beginsAt + 1, states.length - 1)] ?? state);
      store(numbered.length + 1, state);
      const truth = seen(state);
      expect(mirror).toMatchObject({ ...truth });
      const running = ['trialing', 'active', 'past_due'].includes(truth.status);
      expect(workspacePlan(mirror, 'free', nowMs).tier).toBe(running ? 'team' : 'free');
      // No invoice is paid twice.
      const paid = state.charges.map(({ invoiceRef }) => invoiceRef);
      expect(new Set(paid).size).toBe(paid.length);
    }),
    { seed: 20_261_126, numRuns: 2000 },
  );
});
