import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Holders, Shares } from '../../src/platform/shares.ts';

const BOUNDS = { total: 100, network: 50, caller: 40, artifact: 30 };

describe('shares of a resource', () => {
  test('a holder at its share is refused while others still have room', () => {
    const shares = new Shares(BOUNDS);
    expect(shares.take(30, { artifact: 'a' })).toBeUndefined();
    expect(shares.take(1, { artifact: 'a' })).toBe('artifact');
    expect(shares.take(30, { artifact: 'b' })).toBeUndefined();
    expect(shares.take(40, { caller: 'c' })).toBeUndefined();
    expect(shares.take(1, { network: 'n' })).toBe('total');
  });

  test('what was given back can be taken again, and nobody is remembered who holds nothing', () => {
    const shares = new Shares(BOUNDS);
    const holders = { network: 'n', caller: 'c', artifact: 'a' };
    shares.take(30, holders);
    expect(shares.held('artifact', 'a')).toBe(30);
    shares.give(30, holders);
    expect([shares.total, shares.held('network', 'n'), shares.held('caller', 'c'), shares.held('artifact', 'a')]).toEqual([0, 0, 0, 0]);
    expect(shares.take(30, holders)).toBeUndefined();
  });

  test('no bound is ever exceeded, and a refusal takes nothing', () => {
    const name = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined });
    const holders = fc.record({ network: name, caller: name, artifact: name });
    const step = fc.record({ amount: fc.integer({ min: 1, max: 60 }), holders, gives: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const shares = new Shares(BOUNDS);
        const taken: Taken[] = [];
        for (const { gives, ...one } of steps) {
          const last = gives ? taken.pop() : undefined;
          if (last !== undefined) shares.give(last.amount, last.holders);
          else if (shares.take(one.amount, one.holders) === undefined) taken.push(one);
          expectBounds(shares, taken);
        }
      }),
    );
  });
});

interface Taken {
  readonly amount: number;
  readonly holders: Holders;
}

/** Compares what is held with the sum of what was taken, and with the bounds. */
function expectBounds(shares: Shares, taken: readonly Taken[]): void {
  const sum = (some: readonly Taken[]) => some.reduce((all, { amount }) => all + amount, 0);
  expect(shares.total).toBe(sum(taken));
  expect(shares.total).toBeLessThanOrEqual(BOUNDS.total);
  for (const kind of ['network', 'caller', 'artifact'] as const) {
    for (const name of ['a', 'b', 'c']) {
      expect(shares.held(kind, name)).toBe(sum(taken.filter(({ holders }) => holders[kind] === name)));
      expect(shares.held(kind, name)).toBeLessThanOrEqual(BOUNDS[kind]);
    }
  }
}
