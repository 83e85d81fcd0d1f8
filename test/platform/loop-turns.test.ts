/** Slices of long work: one a round, in turn by lane, and half of the loop's time where requests are being served. */
import { expect, test } from 'vitest';
import { LoopTurns } from '../../src/platform/loop-turns.ts';

/** A loop of its own, whose time only slices and timers take. */
function setUp() {
  let nowMs = 1000;
  const rounds: (() => void)[] = [];
  const rests: number[] = [];
  const turns = new LoopTurns({
    nowMs: () => nowMs,
    soon: (run) => void rounds.push(run),
    after: (ms, run) => {
      rests.push(ms);
      rounds.push(() => {
        nowMs += ms;
        run();
      });
    },
  });
  const order: string[] = [];
  const slice = (lane: string, name: string, ms: number) =>
    turns.run(lane, () => {
      order.push(name);
      nowMs += ms;
    });
  /** Rounds of the loop until nothing is left. */
  const loop = async () => {
    for (let round = rounds.shift(); round !== undefined; round = rounds.shift()) {
      round();
      await Promise.resolve();
      await Promise.resolve();
    }
  };
  const serve = () => {
    for (const isBeside of [false, true]) turns.serves(nowMs, isBeside);
  };
  const advance = (ms: number) => {
    nowMs += ms;
  };
  const now = () => nowMs;
  return { turns, order, rests, slice, loop, serve, rounds, advance, now };
}

test('lanes take turns, one slice a round', async () => {
  const { slice, loop, order, rounds } = setUp();
  for (const name of ['a1', 'a2', 'a3']) slice('a', name, 2);
  slice('b', 'b1', 2);
  expect(rounds).toHaveLength(1);
  await loop();
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
});

test('where nobody else is served slices follow each other at once', async () => {
  const { turns, slice, loop, rests, now, advance } = setUp();
  // A caller who sends a request when the one before is answered.
  for (let request = 0; request < 5; request += 1) {
    turns.serves(now(), false);
    for (let at = 0; at < 3; at += 1) slice('a', `${at}`, 3);
    await loop();
    advance(10);
  }
  expect(rests).toEqual([]);
});

test('while requests follow each other closely the loop is left to them', async () => {
  const { turns, slice, loop, rests, now, advance } = setUp();
  for (let request = 0; request < 8; request += 1) {
    advance(5);
    turns.serves(now(), false);
  }
  slice('a', 'slice', 3);
  slice('a', 'next', 3);
  await loop();
  expect(rests).toEqual([3]);
});

test('while requests are served the loop is left to them for as long as each slice took', async () => {
  const { turns, slice, loop, rests, serve } = setUp();
  serve();
  for (let at = 0; at < 4; at += 1) slice('a', `${at}`, 3);
  await loop();
  expect(rests).toEqual([3, 3, 3]);
  expect(turns.isResting).toBe(true);
});

test('short slices owe their rest together, work that could not wait owes it too, and no rest is long', async () => {
  const { turns, slice, loop, rests, serve, advance } = setUp();
  serve();
  for (let at = 0; at < 5; at += 1) slice('a', `${at}`, 0.5);
  await loop();
  expect(rests).toEqual([1, 1]);
  advance(5);
  turns.worked(5);
  expect(turns.isResting).toBe(true);
  slice('a', 'late', 10_000);
  slice('a', 'later', 0);
  serve();
  await loop();
  expect(rests.slice(2)).toEqual([5.5]);
});

test('a slice of whoever awaits its turn counts until it awaits again', async () => {
  const { turns, loop, rests, serve, rounds, advance } = setUp();
  serve();
  const done = (async () => {
    for (let at = 0; at < 2; at += 1) {
      await turns.next('a');
      advance(2);
    }
  })();
  for (let spins = 0; spins < 10 && rounds.length > 0; spins += 1) {
    await loop();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await done;
  expect(rests).toEqual([2]);
});
