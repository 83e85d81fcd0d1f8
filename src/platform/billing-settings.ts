/** Settings of payments. */
import type { Issue } from '../../protocol/core/errors.ts';

export interface StripeSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  readonly apiUrl: URL;
}

interface Given {
  readonly STRIPE_SECRET_KEY?: string | undefined;
  readonly STRIPE_WEBHOOK_SECRET?: string | undefined;
  readonly STRIPE_API_URL: string;
}

/** Null for the embedded provider; with what is wrong. */
export function readBillingSettings(given: Given): { readonly billing: StripeSettings | null; readonly issues: readonly Issue[] } {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret } = given;
  if ((secretKey === undefined) !== (webhookSecret === undefined)) {
    return { billing: null, issues: [{ path: 'STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET', message: 'needed together, or none of them' }] };
  }
  if (secretKey === undefined || webhookSecret === undefined) return { billing: null, issues: [] };
  return { billing: { secretKey, webhookSecret, apiUrl: new URL(given.STRIPE_API_URL) }, issues: [] };
}

interface Stage {
  readonly ALLOW_SELF_UPGRADE: 'auto' | 'on' | 'off';
  readonly NODE_ENV?: string | undefined;
  readonly BASE_URL?: string | undefined;
}

/** Whether accounts may choose their tier without paying: by default only where somebody develops, on their own machine. */
export function maySelfUpgrade(
  { ALLOW_SELF_UPGRADE: allowed, NODE_ENV: stage, BASE_URL: baseUrl }: Stage,
  isLoopback: (url: string) => boolean,
): boolean {
  if (allowed !== 'auto') return allowed === 'on';
  return stage !== 'production' && (baseUrl === undefined || isLoopback(baseUrl));
}
