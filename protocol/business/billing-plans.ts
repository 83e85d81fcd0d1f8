/** The plans that a workspace can buy. What a tier allows is in the table of tiers; a plan says which tier it gives and what it costs. */
import { z } from 'zod';
import { tier } from '../people/accounts.ts';

export const billingInterval = z.enum(['month', 'year']);

const PLAN_IDS = ['pro_monthly', 'pro_yearly', 'team_monthly', 'team_yearly'] as const;
export const planId = z.enum(PLAN_IDS).meta({ description: 'GET /v1/billing/plans lists them' });
export type PlanId = z.infer<typeof planId>;

export const plan = z.object({
  id: planId,
  name: z.string(),
  tier,
  price_cents: z.number().int().meta({ description: 'for each interval; where per_seat is true, for each seat' }),
  currency: z.string().meta({ description: 'ISO 4217, lowercase' }),
  interval: billingInterval,
  per_seat: z.boolean(),
  trial_days: z.number().int().meta({ description: 'of the first subscription of a workspace and of a person' }),
  features: z.array(z.string()).meta({ description: 'what it has beyond the free plan' }),
});
export type Plan = z.output<typeof plan>;

const PRO_FEATURES = ['Public pages', 'Catalog', 'File imports', 'Custom branding', '20 GB of storage'];
const TEAM_FEATURES = ['Everything in Pro', 'Sharing with people outside', 'Seats for a team', '200 GB of storage'];
const TRIAL_DAYS = 14;

const PRO = { tier: 'pro', currency: 'usd', per_seat: false, trial_days: TRIAL_DAYS, features: PRO_FEATURES } as const;
const TEAM = { tier: 'team', currency: 'usd', per_seat: true, trial_days: TRIAL_DAYS, features: TEAM_FEATURES } as const;

export const PLANS: Readonly<Record<PlanId, Plan>> = {
  pro_monthly: { id: 'pro_monthly', name: 'Pro, monthly', price_cents: 1200, interval: 'month', ...PRO },
  pro_yearly: { id: 'pro_yearly', name: 'Pro, yearly', price_cents: 12_000, interval: 'year', ...PRO },
  team_monthly: { id: 'team_monthly', name: 'Team, monthly', price_cents: 2000, interval: 'month', ...TEAM },
  team_yearly: { id: 'team_yearly', name: 'Team, yearly', price_cents: 20_000, interval: 'year', ...TEAM },
};
