/** The awareness table of a document: the states that a member may set, and the stamp of the server. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import { AwarenessTable, type Speaker } from '../../src/realtime/awareness.ts';
import { writeAwareness } from '../../src/realtime/wire.ts';

const person = (id: string, name = id): Speaker => ({ identity: { id, name, kind: 'human', color: '#123456' } });
const nobody = (session: string): Speaker => ({
  identity: { id: `anonymous:${session}`, name: 'Anonymous', kind: 'anonymous', color: '#654321' },
});
const says = (...entries: readonly [clientId: number, clock: number, state: unknown][]) =>
  writeAwareness(entries.map(([clientId, clock, state]) => ({ clientId, clock, json: JSON.stringify(state) })));
const statesOf = (table: AwarenessTable) => new Map(table.all().map(({ clientId, json }) => [clientId, JSON.parse(json)]));

describe('who it is', () => {
  test.each([
    ['nothing', {}, { id: 'usr_a', name: 'Ada', kind: 'human', color: '#123456' }],
    [
      'a forged one',
      { user: { id: 'usr_b', name: 'Bob', kind: 'agent', anonymous: true } },
      { id: 'usr_a', name: 'Ada', kind: 'human', color: '#123456' },
    ],
    [
      'a colour',
      { user: { color: 'red', colorLight: '#f00' } },
      { id: 'usr_a', name: 'Ada', kind: 'human', color: 'red', colorLight: '#f00' },
    ],
    ['no object', { user: 'Bob' }, { id: 'usr_a', name: 'Ada', kind: 'human', color: '#123456' }],
    ['a prototype', JSON.parse('{"user":{"__proto__":{"id":"usr_b"}}}'), { id: 'usr_a', name: 'Ada', kind: 'human', color: '#123456' }],
  ])('an account that says %s of itself is stamped', (_what, state, user) => {
    const table = new AwarenessTable();
    expect(table.said(person('usr_a', 'Ada'), says([1, 1, state]), 0)).toEqual([1]);
    expect(statesOf(table).get(1).user).toMatchObject(user);
    expect(statesOf(table).get(1).user).not.toHaveProperty('anonymous');
  });

  test('without an account the name is the client’s own, and the kind is anonymous', () => {
    const table = new AwarenessTable();
    table.said(nobody('s'), says([1, 1, { user: { name: 'Bob', id: 'usr_b', kind: 'human', anonymous: false } }]), 0);
    expect(statesOf(table).get(1).user).toEqual({ name: 'Bob', id: 'anonymous:s', kind: 'anonymous', anonymous: true, color: '#654321' });
  });

  test.each([['a text'], [['a list']], [1], [true]])('a state that is no object is not taken: %j', (state) => {
    const table = new AwarenessTable();
    expect([table.said(person('a'), says([1, 1, state]), 0), table.size]).toEqual([[], 0]);
  });
});

describe('who may say it', () => {
  test('a member cannot set, remove or revive the state of another', () => {
    const table = new AwarenessTable();
    const [ada, bob] = [person('ada'), person('bob')];
    table.said(ada, says([1, 5, { at: 1 }]), 0);
    expect(table.said(bob, says([1, 6, { at: 2 }]), 0)).toEqual([]);
    expect(table.said(bob, says([1, 6, null]), 0)).toEqual([]);
    expect(table.left(bob, 0)).toEqual([]);
    expect(table.left(ada, 0)).toEqual([1]);
    // A repeated state that arrives after its client left.
    expect(table.said(bob, says([1, 5, { at: 1 }]), 0)).toEqual([]);
    expect(table.said(bob, says([1, 6, { at: 1 }]), 0)).toEqual([]);
    expect(table.size).toBe(0);
  });

  test('an old clock is not news, the same clock neither, and a null with it takes back', () => {
    const table = new AwarenessTable();
    const ada = person('ada');
    table.said(ada, says([1, 5, { at: 1 }]), 0);
    expect(table.said(ada, says([1, 5, { at: 2 }]), 0)).toEqual([]);
    expect(table.said(ada, says([1, 4, { at: 2 }]), 0)).toEqual([]);
    expect(table.said(ada, says([1, 5, null]), 0)).toEqual([1]);
    expect(table.entriesOf([1])).toEqual([{ clientId: 1, clock: 5, json: 'null' }]);
    expect(table.said(ada, says([1, 5, { at: 3 }]), 0)).toEqual([1]);
  });

  test('a person who reconnects takes over at once, and the close of the old connection removes nothing', () => {
    const table = new AwarenessTable();
    const [old, fresh] = [person('ada'), person('ada')];
    table.said(old, says([1, 5, { at: 1 }]), 0);
    expect(table.said(fresh, says([1, 5, { at: 1 }]), 0)).toEqual([1]);
    expect(table.left(old, 0)).toEqual([]);
    expect(table.said(fresh, says([1, 6, { at: 2 }]), 0)).toEqual([1]);
    expect(table.left(fresh, 0)).toEqual([1]);
  });

  test('two windows of one person that repeat each other stay two', () => {
    const table = new AwarenessTable();
    const [one, two] = [person('ada'), person('ada')];
    table.said(one, says([1, 1, { at: 1 }]), 0);
    table.said(two, says([2, 1, { at: 2 }]), 0);
    expect(table.said(two, says([1, 1, { at: 1 }]), 0)).toEqual([]);
    expect(table.said(one, says([2, 1, { at: 2 }], [1, 1, { at: 1 }]), 0)).toEqual([]);
    expect(table.left(two, 0)).toEqual([2]);
    expect([...statesOf(table).keys()]).toEqual([1]);
  });

  test('strangers without an account take nothing over from each other while both are here', () => {
    const table = new AwarenessTable();
    const [one, two] = [nobody('1'), nobody('2')];
    table.said(one, says([1, 1, { at: 1 }]), 0);
    expect(table.said(two, says([1, 9, { at: 2 }]), 0)).toEqual([]);
    table.left(one, 0);
    expect(table.said(two, says([1, 10, { at: 2 }]), 0)).toEqual([1]);
  });
});

describe('what is bounded', () => {
  test('a state, the ids of a member, and the clocks of clients that left', () => {
    const table = new AwarenessTable();
    const ada = person('ada');
    expect(table.said(ada, says([1, 1, { text: 'x'.repeat(LIMITS.awarenessStateBytesMax) }]), 0)).toEqual([]);
    expect(table.said(ada, says([1, 1, {}], [2, 1, {}], [3, 1, {}], [4, 1, {}], [5, 1, {}]), 0)).toEqual([1, 2, 3, 4]);
    table.left(ada, 0);
    expect(table.entriesOf([1, 2, 3, 4])).toHaveLength(4);
    table.sweep(60_000);
    expect(table.entriesOf([1, 2, 3, 4])).toEqual([]);
  });

  test('a client is removed after 30 s of silence, and returns with its next state', () => {
    const table = new AwarenessTable();
    const ada = person('ada');
    table.said(ada, says([1, 1, {}]), 0);
    expect(table.sweep(29_999)).toEqual([]);
    table.said(ada, says([1, 2, {}]), 29_999);
    expect(table.sweep(59_998)).toEqual([]);
    expect([table.sweep(59_999), table.size]).toEqual([[1], 0]);
    expect([table.said(ada, says([1, 3, {}]), 60_000), table.size]).toEqual([[1], 1]);
  });

  test('whatever is said, the table stays whole', () => {
    const speakers = [person('a'), person('a'), person('b'), nobody('c'), nobody('d')];
    const entry = fc.tuple(fc.nat(6), fc.nat(4), fc.oneof(fc.constant(null), fc.record({ at: fc.nat(3) }), fc.json()));
    const word = fc.oneof(
      fc.array(entry, { maxLength: 4 }).map((entries) => says(...entries)),
      fc.uint8Array({ maxLength: 30 }),
    );
    const step = fc.record({ who: fc.nat(speakers.length - 1), word, leaves: fc.boolean(), waitMs: fc.nat(40_000) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const table = new AwarenessTable();
        let nowMs = 0;
        for (const { who, word: states, leaves, waitMs } of steps) {
          const speaker = speakers[who] ?? speakers[0];
          if (speaker === undefined) throw new Error('there are speakers');
          nowMs += waitMs;
          if (leaves) table.left(speaker, nowMs);
          else table.said(speaker, states, nowMs);
          table.sweep(nowMs);
          expect(table.all()).toHaveLength(table.size);
          for (const { json } of table.all()) expect(JSON.parse(json).user.id).toMatch(/^(?:a|b|anonymous:[cd])$/);
        }
        for (const speaker of speakers) table.left(speaker, nowMs);
        expect(table.size).toBe(0);
      }),
      { seed: 4005, numRuns: 300 },
    );
  });
});
