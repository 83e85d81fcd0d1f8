/** The rate limits of billing, a part of the table in `protocol/core/rate-limits.ts`. */
import { BILLING_LIMITS } from './billing-limits.ts';

export const BILLING_RATE_LIMITS = {
  billing: { name: 'billing', quota: BILLING_LIMITS.billingWritesPerHour, windowS: 3600, by: 'user', kept: 'shared', spentBy: 'edge' },
  billingEvents: {
    name: 'billingEvents',
    quota: BILLING_LIMITS.billingEventsPerMinute,
    windowS: 60,
    by: 'address',
    kept: 'memory',
    spentBy: 'edge',
  },
} as const;
