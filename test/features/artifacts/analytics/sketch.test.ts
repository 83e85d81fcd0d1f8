import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VisitorSketch } from '../../../../src/features/artifacts/analytics/sketch.ts';

const digest = (n: number | string) => createHash('sha256').update(`visitor ${n}`).digest().readBigUInt64BE();

function sketchOf(from: number, to: number): VisitorSketch {
  const sketch = new VisitorSketch();
  for (let n = from; n < to; n += 1) sketch.add(digest(n));
  return sketch;
}

describe('a sketch of visitors', () => {
  test('is exact up to 127, however often each comes', () => {
    for (const count of [0, 1, 2, 126, 127]) {
      const sketch = sketchOf(0, count);
      for (let n = 0; n < count; n += 1) sketch.add(digest(n));
      expect(sketch.count()).toBe(count);
      expect(sketch.bytes()).toHaveLength(count * 8);
    }
  });

  test.each([128, 300, 1000, 2000, 3000, 10_000, 200_000])('of %i visitors is within a tenth, in 1024 bytes', (count) => {
    const sketch = sketchOf(0, count);
    expect(sketch.bytes()).toHaveLength(1024);
    // Three standard errors. The digests are the same in each run.
    expect(Math.abs(sketch.count() - count) / count).toBeLessThan(0.1);
  });

  test('merges to the sketch of all, in any order and also with itself', () => {
    const bounds = fc.nat({ max: 400 });
    fc.assert(
      fc.property(bounds, bounds, bounds, bounds, (a, b, c, d) => {
        const [first, second] = [sketchOf(Math.min(a, b), Math.max(a, b)), sketchOf(Math.min(c, d), Math.max(c, d))];
        const bytes = [first.bytes(), second.bytes()] as const;
        const all = new Set([...range(a, b), ...range(c, d)]);
        const expected = new VisitorSketch();
        for (const n of all) expected.add(digest(n));
        first.merge(bytes[1]);
        second.merge(bytes[0]);
        expect(first.count()).toBe(expected.count());
        expect(second.count()).toBe(expected.count());
        first.merge(first.bytes());
        expect(first.count()).toBe(expected.count());
        const again = new VisitorSketch();
        again.merge(first.bytes());
        expect(again.count()).toBe(expected.count());
      }),
      { seed: 21, numRuns: 50 },
    );
  });
});

function range(a: number, b: number): number[] {
  return Array.from({ length: Math.abs(a - b) }, (_, at) => Math.min(a, b) + at);
}
