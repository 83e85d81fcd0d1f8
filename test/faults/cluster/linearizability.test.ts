/** The checker of histories: what it accepts and refuses, and that it agrees with trying all orders. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkHistory, type KeyInput, type KeyOutput, keyModel, type Operation } from './linearizability.ts';

type Call = Operation<KeyInput, KeyOutput>;

function write(value: number, beganAt: number, endedAt: number | null): Call {
  const output = endedAt === null ? undefined : { value };
  return { input: { kind: 'write', value }, output, beganAt, endedAt: endedAt ?? 0 };
}

function read(value: number | null, beganAt: number, endedAt: number): Call {
  return { input: { kind: 'read' }, output: { value }, beganAt, endedAt };
}

function add(by: number, sum: number, beganAt: number, endedAt: number): Call {
  return { input: { kind: 'add', by }, output: { value: sum }, beganAt, endedAt };
}

const outcome = (calls: readonly Call[]) => checkHistory(calls, keyModel).outcome;

describe('a history', () => {
  test.each<[string, Call[], string]>([
    ['nothing', [], 'linearizable'],
    ['a read after a write', [write(1, 0, 1), read(1, 2, 3)], 'linearizable'],
    ['a stale read', [write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)], 'broken'],
    ['a read during a write sees either', [write(1, 0, 1), write(2, 2, 9), read(1, 3, 4), read(2, 5, 6)], 'linearizable'],
    ['a read goes back', [write(1, 0, 1), write(2, 2, 9), read(2, 3, 4), read(1, 5, 6)], 'broken'],
    ['a lost write', [write(1, 0, 1), read(null, 2, 3)], 'broken'],
    ['a write without an answer is seen', [write(1, 0, 1), write(2, 2, null), read(2, 50, 51)], 'linearizable'],
    ['a write without an answer is seen late', [write(2, 2, null), read(null, 3, 4), read(2, 50, 51)], 'linearizable'],
    ['a write without an answer is never seen', [write(2, 2, null), read(null, 50, 51)], 'linearizable'],
    ['a write without an answer is seen before it began', [read(2, 0, 1), write(2, 2, null)], 'broken'],
    ['two additions that touch', [add(1, 1, 0, 5), add(1, 2, 1, 4)], 'linearizable'],
    ['two additions that counted the same', [add(1, 1, 0, 5), add(1, 1, 1, 4)], 'broken'],
  ])('%s', (_what, calls, expected) => {
    expect(outcome(calls)).toBe(expected);
  });

  test('a broken one tells how far it goes', () => {
    const verdict = checkHistory([write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)], keyModel);
    expect(verdict).toEqual({ outcome: 'broken', furthest: [0, 1] });
  });

  test('calls without an answer that ask the same are not tried in every order', () => {
    const adds: Call[] = Array.from({ length: 200 }, (_, at) => ({
      input: { kind: 'add', by: 1 },
      output: undefined,
      beganAt: at,
      endedAt: 0,
    }));
    expect(checkHistory([...adds, read(100, 300, 301), read(150, 302, 303)], keyModel, 50_000).outcome).toBe('linearizable');
    expect(checkHistory([...adds, read(150, 300, 301), read(100, 302, 303)], keyModel, 50_000).outcome).toBe('broken');
  });

  test('beyond the bound it is undecided', () => {
    const calls = Array.from({ length: 20 }, (_, at) => write(at, 0, null));
    expect(checkHistory([...calls, read(-1, 1, 2)], keyModel, 1000).outcome).toBe('undecided');
  });
});

/** Tries every order of the calls, and every choice of those without an answer. */
function triesAll(calls: readonly Call[]): boolean {
  const endOf = (call: Call) => (call.output === undefined ? Number.POSITIVE_INFINITY : call.endedAt);
  const go = (left: readonly Call[], state: number | null): boolean =>
    left.every((call) => call.output === undefined) ||
    left.some((call) => {
      const others = left.filter((other) => other !== call);
      if (others.some((other) => endOf(other) < call.beganAt)) return false;
      const stepped = keyModel.step(state, call.input, call.output);
      return stepped !== undefined && go(others, stepped.state);
    });
  return go(calls, null);
}

test('it agrees with trying all orders', () => {
  const value = fc.integer({ min: 1, max: 3 });
  const input: fc.Arbitrary<KeyInput> = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), value }),
    fc.record({ kind: fc.constant('add' as const), by: fc.constant(1) }),
    fc.record({ kind: fc.constant('read' as const) }),
    fc.record({ kind: fc.constant('delete' as const) }),
  );
  const output = fc.option(fc.record({ value: fc.option(value) }), { nil: undefined });
  const call = fc
    .record({ input, output, beganAt: fc.integer({ min: 0, max: 12 }), lasted: fc.integer({ min: 0, max: 6 }) })
    .map(({ lasted, ...rest }) => ({ ...rest, endedAt: rest.beganAt + lasted }));
  let linearizable = 0;
  fc.assert(
    fc.property(fc.array(call, { maxLength: 6 }), (calls) => {
      const expected = triesAll(calls);
      linearizable += Number(expected);
      expect(outcome(calls)).toBe(expected ? 'linearizable' : 'broken');
    }),
    { numRuns: 3000 },
  );
  // The property is about both kinds.
  expect(linearizable).toBeGreaterThan(300);
});
