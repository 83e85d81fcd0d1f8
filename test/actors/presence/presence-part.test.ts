/** Presence: applying the frames in order gives the same state as a fresh snapshot. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PresencePart } from '../../../actors/presence/presence-part.ts';

type State = Record<string, unknown> | null;
interface Shown {
  readonly connectionId: string;
  readonly state: State;
}

const person = (id: string) => ({ id: `usr_${id}`, name: `Name of ${id}`, kind: 'human', color: '#123456' }) as const;

/** The state of a client that got one snapshot and every frame since. */
class Mirror {
  readonly known = new Map<string, Shown>();

  constructor(everybody: string) {
    for (const one of JSON.parse(everybody).people) this.known.set(one.connectionId, one);
  }

  apply(update: string): void {
    const { joined, updated, left } = JSON.parse(update);
    for (const one of joined) this.known.set(one.connectionId, one);
    for (const { connectionId, state } of updated) {
      const before = this.known.get(connectionId);
      if (before === undefined) throw new Error(`an update of the unknown connection ${connectionId}`);
      this.known.set(connectionId, { ...before, state });
    }
    for (const connectionId of left) this.known.delete(connectionId);
  }

  get sorted(): Shown[] {
    return [...this.known.values()].sort((a, b) => a.connectionId.localeCompare(b.connectionId));
  }
}

const connection = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  fc.record({ do: fc.constant('join' as const), connection }),
  fc.record({ do: fc.constant('leave' as const), connection }),
  fc.record({ do: fc.constant('show' as const), connection, state: fc.option(fc.dictionary(fc.string(), fc.jsonValue())) }),
  fc.record({ do: fc.constant('take' as const), charsMax: fc.constantFrom(1, 200, 100_000) }),
);

test('frames and snapshots agree, however changes are batched', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.nat(60), (steps, lateAt) => {
      const part = new PresencePart();
      const here = new Set<string>();
      const first = new Mirror(part.everybody());
      let late = first;
      steps.forEach((one, at) => {
        if (at === lateAt) late = new Mirror(part.everybody());
        if (one.do === 'join' && !here.has(one.connection)) {
          here.add(one.connection);
          part.join(one.connection, person(one.connection));
        } else if (one.do === 'leave') {
          here.delete(one.connection);
          part.leave(one.connection);
        } else if (one.do === 'show') {
          expect(part.show(one.connection, JSON.stringify(one.state))).toBe(here.has(one.connection));
        } else if (one.do === 'take') {
          const frame = part.take(one.charsMax);
          for (const mirror of new Set([first, late])) mirror.apply(frame);
        }
      });
      while (part.hasNews) {
        const frame = part.take(1);
        for (const mirror of new Set([first, late])) mirror.apply(frame);
      }
      const truth = new Mirror(part.everybody()).sorted;
      expect(first.sorted).toEqual(truth);
      expect(late.sorted).toEqual(truth);
      expect([...here].sort()).toEqual(truth.map(({ connectionId }) => connectionId));
    }),
    { seed: 20_260_101, numRuns: 500 },
  );
});

test('many changes of one connection become one, the last', () => {
  const part = new PresencePart();
  part.join('a', person('a'));
  part.take(1000);
  for (let x = 0; x < 100; x += 1) part.show('a', `{"x":${x}}`);
  expect(JSON.parse(part.take(1000))).toEqual({ joined: [], updated: [{ connectionId: 'a', state: { x: 99 } }], left: [] });
  expect(part.hasNews).toBe(false);
});

test('a connection that came and went between two frames is left out', () => {
  const part = new PresencePart();
  part.join('a', person('a'));
  part.leave('a');
  expect(part.hasNews).toBe(false);
});

test('a frame is limited, and the longest waiting change goes first', () => {
  const part = new PresencePart();
  for (let n = 0; n < 10; n += 1) part.join(`c${n}`, person(`c${n}`));
  const joined = (frame: string) => JSON.parse(frame).joined.map((one: Shown) => one.connectionId);
  expect(joined(part.take(200))).toEqual(['c0', 'c1']);
  part.show('c9', '{"x":1}');
  part.show('c0', '{"x":2}');
  expect(joined(part.take(200))).toEqual(['c2', 'c3']);
  while (part.hasNews) part.take(200);
  expect(part.size).toBe(10);
});

test('the size of all shown states is counted as they come and go', () => {
  const part = new PresencePart();
  part.join('a', person('a'));
  part.join('b', person('b'));
  const text = JSON.stringify({ x: 'y'.repeat(100) });
  expect(part.charsWith('c', text)).toBeUndefined();
  const one = part.charsWith('a', text) ?? 0;
  part.show('a', text);
  expect(part.charsWith('a', text)).toBe(one);
  expect(part.charsWith('b', text)).toBe(2 * one);
  part.leave('a');
  expect(part.charsWith('b', text)).toBe(one);
});
