/** What an operation asks of the payment provider. */
import type { CheckoutId, SubscriptionId } from '../../../../protocol/core/ids.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { Kept, PlanAndSeats } from './provider.ts';

export interface Step extends PlanAndSeats {
  readonly isProrated: boolean;
  readonly kept: Kept | null;
}

/** What is asked of the provider, complete: a repetition needs nothing else. */
export type Asked =
  | ({ readonly kind: 'subscribe'; readonly id: SubscriptionId; readonly trialEndsAtMs: number | null } & Base & PlanAndSeats)
  | {
      readonly kind: 'change';
      readonly ref: string;
      readonly steps: readonly Step[];
      /** The open invoice is paid before. */
      readonly paysFirst?: boolean | undefined;
      /** Made where a step is refused, so that what was agreed for the next period is not lost. */
      readonly back?: Step | undefined;
    }
  | { readonly kind: 'cancel'; readonly ref: string; readonly at: 'now' | 'period_end' }
  | { readonly kind: 'resume'; readonly ref: string; readonly restored: PlanAndSeats | null }
  | { readonly kind: 'card'; readonly token: string; readonly pays: string | null }
  | { readonly kind: 'default'; readonly methodRef: string; readonly pays: string | null }
  | { readonly kind: 'detach'; readonly methodRef: string }
  | ({ readonly kind: 'checkout'; readonly id: CheckoutId; readonly returnUrl: string } & Base);

/** For the first call of a workspace, which makes it known to the provider. */
interface Base {
  readonly baseTier: Tier;
  readonly name: string;
}

export type Request = Asked & {
  /** Digest of what the caller wanted, by which a repetition is recognised. */
  readonly wish: string;
};
