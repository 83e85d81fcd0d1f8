import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallWindow } from '../../../actors/runtime/limits-part.ts';

const WINDOW_MS = 60_000;

/** A model that lists every accepted call: slow and obvious. */
class NaiveWindow {
  readonly accepted: number[] = [];
  readonly #callsMax: number;

  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  spend(nowMs: number, calls: number): boolean {
    const inWindow = this.accepted.filter((atMs) => nowMs - atMs <= WINDOW_MS).length;
    if (inWindow + calls > this.#callsMax) return false;
    for (let call = 0; call < calls; call += 1) this.accepted.push(nowMs);
    return true;
  }
}

const attempts = fc.array(
  fc.record({
    afterMs: fc.oneof(fc.nat(20), fc.nat(5000), fc.constantFrom(59_999, 60_000, 60_001)),
    calls: fc.integer({ min: 1, max: 4 }),
  }),
  { maxLength: 200 },
);

describe('the data limit', () => {
  it('[exact] accepts what the model accepts, and answers what is left', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), attempts, (callsMax, list) => {
        const window = new CallWindow(callsMax, WINDOW_MS);
        const naive = new NaiveWindow(callsMax);
        let nowMs = 1000;
        for (const { afterMs, calls } of list) {
          nowMs += afterMs;
          const spent = window.spend(nowMs, calls);
          expect(spent.accepted).toBe(naive.spend(nowMs, calls));
          expect(spent.remaining).toBe(callsMax - naive.accepted.filter((atMs) => nowMs - atMs <= WINDOW_MS).length);
        }
      }),
    );
  });

  it('[60-second spans] never hold more accepted calls than the limit, also with fractions of a millisecond', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.double({ min: 0, max: 9000, noNaN: true }), { maxLength: 200 }),
        (callsMax, gaps) => {
          const window = new CallWindow(callsMax, WINDOW_MS);
          const accepted: number[] = [];
          let nowMs = 0;
          for (const gap of gaps) {
            nowMs += gap;
            if (window.spend(nowMs, 1).accepted) accepted.push(nowMs);
          }
          for (let first = 0; first + callsMax < accepted.length; first += 1) {
            expect((accepted[first + callsMax] ?? 0) - (accepted[first] ?? 0)).toBeGreaterThan(WINDOW_MS);
          }
        },
      ),
    );
  });

  it('[Retry-After] a refused call is accepted after that time, and not a second earlier', () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 20 }), attempts, (callsMax, list) => {
        const window = new CallWindow(callsMax, WINDOW_MS);
        let nowMs = 0;
        for (const { afterMs, calls } of list) {
          nowMs += afterMs;
          const { accepted, retryAfterS } = window.spend(nowMs, calls);
          if (accepted) continue;
          expect(window.spend(nowMs + (retryAfterS - 1) * 1000, calls).accepted).toBe(false);
          nowMs += retryAfterS * 1000;
          expect(window.spend(nowMs, calls).accepted).toBe(true);
        }
      }),
    );
  });

  it('[memory] an empty window is reported as empty, and a full one holds all its calls', () => {
    const window = new CallWindow(1000, WINDOW_MS);
    for (let call = 0; call < 1000; call += 1) expect(window.spend(call, 1)).toMatchObject({ accepted: true, remaining: 999 - call });
    expect(window.spend(1000, 1)).toMatchObject({ accepted: false, limit: 1000, remaining: 0, resetS: 60, retryAfterS: 60 });
    expect(window.isEmpty(60_999)).toBe(false);
    expect(window.isEmpty(61_000)).toBe(true);
    expect(window.spend(61_000, 1000)).toMatchObject({ accepted: true, limit: 1000, remaining: 0, resetS: 61, retryAfterS: 0 });
  });

  it('[a move] a window goes on elsewhere: never more than the limit in a minute, whatever was spent there before', () => {
    const half = fc.array(fc.record({ afterMs: fc.nat(3000), calls: fc.integer({ min: 1, max: 4 }) }), { maxLength: 100 });
    fc.assert(
      fc.property(half, fc.nat(4), half, fc.integer({ min: 1, max: 200 }), (before, spentThere, after, runsMax) => {
        const [here, there] = [new CallWindow(40, WINDOW_MS), new CallWindow(40, WINDOW_MS)];
        const accepted: number[] = [];
        let nowMs = 1000;
        const spend = (window: CallWindow, calls: number) => {
          if (window.spend(nowMs, calls).accepted) for (let call = 0; call < calls; call += 1) accepted.push(nowMs);
        };
        for (const { afterMs, calls } of before) {
          nowMs += afterMs;
          spend(here, calls);
        }
        const runs = here.runs(nowMs, runsMax);
        expect(runs.length).toBeLessThanOrEqual(runsMax);
        const moved = runs.reduce((sum, { calls }) => sum + calls, 0);
        if (moved + spentThere <= 40) spend(there, spentThere);
        there.addRuns(runs);
        for (const { afterMs, calls } of after) {
          nowMs += afterMs;
          spend(there, calls);
        }
        for (const [at, first] of accepted.entries())
          expect(accepted.slice(at).filter((atMs) => atMs - first <= WINDOW_MS).length).toBeLessThanOrEqual(40);
      }),
    );
  });
});
