/** The table of plans itself, and the rules that read it. */
import { describe, expect, test } from 'vitest';
import { allowances } from '../../../../protocol/business/allowances.ts';
import { freeAllowances } from '../../../../protocol/business/plan-examples.ts';
import { ALLOWANCE_NUMBERS, smallestWith, TIER_ORDER, TIERS } from '../../../../protocol/business/tiers.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { RATE_LIMITS } from '../../../../protocol/core/rate-limits.ts';
import { FEATURES, type Feature } from '../../../../protocol/workspaces/features.ts';
import {
  hasRoom,
  overOf,
  planHint,
  presentAllowance,
  rateOf,
  requireAllowed,
  roomierHint,
  tierInForce,
} from '../../../../src/features/business/tiers/rules.ts';

const workspace = (plan_tier: 'free' | 'pro' | 'team', plan_status: 'active' | 'canceled' | 'past_due' = 'active', flags = {}) => ({
  slug: 'maps',
  plan_tier,
  plan_status,
  flags,
});

function refusalOf(act: () => void): Failure | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  return undefined;
}

describe('the table of plans', () => {
  test('answers show every number of it, by one name each, and the example is true', () => {
    expect(Object.keys(allowances.shape).sort()).toEqual(['public_artifacts', ...Object.keys(ALLOWANCE_NUMBERS)].sort());
    for (const tier of TIER_ORDER) expect(allowances.parse(presentAllowance(tier))).toEqual(presentAllowance(tier));
    expect(presentAllowance('free')).toEqual(freeAllowances);
  });

  test('a larger plan never allows less', () => {
    for (const [smaller, larger] of [['free', 'pro'] as const, ['pro', 'team'] as const]) {
      for (const key of Object.values(ALLOWANCE_NUMBERS)) expect(TIERS[larger][key], key).toBeGreaterThanOrEqual(TIERS[smaller][key]);
      expect(TIERS[larger].features).toEqual(expect.arrayContaining([...TIERS[smaller].features]));
      expect(Number(TIERS[larger].publicArtifacts)).toBeGreaterThanOrEqual(Number(TIERS[smaller].publicArtifacts));
    }
    expect([...TIERS.team.features].sort()).toEqual([...FEATURES].sort());
  });

  test('only a plan that runs counts', () => {
    expect([workspace('team'), workspace('team', 'past_due'), workspace('team', 'canceled')].map(tierInForce)).toEqual([
      'team',
      'team',
      'free',
    ]);
  });

  test('limits of calls follow the tier under one name, so that a change of the plan forgets no calls', () => {
    for (const tier of TIER_ORDER) {
      expect(rateOf(RATE_LIMITS.publish, tier)).toEqual({ ...RATE_LIMITS.publish, quota: TIERS[tier].publishesPerHour });
      expect(rateOf(RATE_LIMITS.email, tier)).toEqual({ ...RATE_LIMITS.email, quota: TIERS[tier].mailsPerDay });
    }
  });

  test('the last one fits and the next one does not; a hint names the smallest plan in which it would, and none where no plan has more', () => {
    expect([hasRoom('free', 'artifacts', 99), hasRoom('free', 'artifacts', 100), hasRoom('pro', 'artifacts', 100)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(roomierHint('free', 'artifacts', 101)).toBe(' The plan "pro" allows 1000.');
    expect(roomierHint('free', 'artifacts', 1001)).toBe(' The plan "team" allows 10000.');
    expect(roomierHint('team', 'artifacts', 10_001)).toBe('');
    expect(roomierHint('free', 'jobs', 501)).toBe('');
  });

  test('what is exactly at its maximum is not over it', () => {
    const over = overOf([
      { name: 'artifacts', used: 100, max: 100 },
      { name: 'bytes', used: 12, max: 10 },
    ]);
    expect(over).toEqual([{ name: 'bytes', used: 12, max: 10, message: expect.stringContaining('stays') }]);
  });
});

describe('a refusal for want of a plan', () => {
  test.each(FEATURES)('%s: says which plan has it, what this workspace has and where to change it', (feature: Feature) => {
    const tier = smallestWith(feature);
    expect(refusalOf(() => requireAllowed(workspace(tier), feature))).toBeUndefined();
    if (tier === 'free') return;
    const failure = refusalOf(() => requireAllowed(workspace('free'), feature, { param: 'x' }));
    expect(failure?.code).toBe(feature === 'collab.external_sharing' ? 'EXTERNAL_SHARING_NOT_ENTITLED' : 'PLAN_REQUIRED');
    expect(failure?.details).toEqual({
      param: 'x',
      message: expect.any(String),
      hint: planHint(feature, 'free'),
      redirectPath: '/w/maps/billing',
    });
    expect(failure?.details.hint).toContain(`"${tier}"`);
    // A plan that has ended is no plan, and says so.
    expect(refusalOf(() => requireAllowed(workspace(tier, 'canceled'), feature))?.details.hint).toContain('"free"');
  });

  test('no plan is offered where an administrator has turned the feature off, and none is needed where it is on', () => {
    const off = { catalog: { enabled: false, source: 'instance' as const } };
    expect(refusalOf(() => requireAllowed(workspace('team', 'active', off), 'catalog'))?.details.hint).toContain('administrator');
    const on = { catalog: { enabled: true, source: 'instance' as const } };
    expect(refusalOf(() => requireAllowed(workspace('free', 'active', on), 'catalog'))).toBeUndefined();
  });
});
