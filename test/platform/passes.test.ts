/** Passes over a queue: one at a time, again where woken meanwhile, after the pause that each asks for, and none after the end. */
import { expect, test } from 'vitest';
import { Passes } from '../../src/platform/passes.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

function made(pauseMs: number | null = 1000) {
  const clock = new VirtualClock();
  const ends: (() => void)[] = [];
  const pass = () => new Promise<number | null>((resolve) => ends.push(() => resolve(pauseMs)));
  const passes = new Passes(clock, pass);
  /** Ends the last pass that has begun. */
  const end = async () => {
    ends.at(-1)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, passes, ends, end };
}

test('one at a time, and once more for all who woke it meanwhile', async () => {
  const { passes, ends, end } = made();
  passes.wake();
  passes.wake();
  passes.wake();
  expect(ends).toHaveLength(1);
  await end();
  expect(ends).toHaveLength(2);
  await end();
  expect(ends).toHaveLength(2);
});

test('the next one begins after the pause, or sooner where it is woken', async () => {
  const { clock, passes, ends, end } = made();
  passes.wake();
  await end();
  clock.advance(999);
  expect(ends).toHaveLength(1);
  clock.advance(1);
  expect(ends).toHaveLength(2);
  await end();
  passes.wake();
  expect(ends).toHaveLength(3);
  // The pause that was waited for is over with it.
  clock.advance(2000);
  await end();
  expect(ends).toHaveLength(3);
});

test('without a pause only waking begins one', async () => {
  const { clock, passes, ends, end } = made(null);
  passes.wake();
  await end();
  clock.advance(1_000_000);
  expect(ends).toHaveLength(1);
});

test('a stop waits for the pass that is under way, which its signal ends, and none follows', async () => {
  const { clock, passes, ends, end } = made();
  passes.wake();
  passes.wake();
  let isOver = false;
  const stopped = passes.stop().then(() => {
    isOver = true;
  });
  expect(passes.signal.aborted).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  await end();
  await stopped;
  passes.wake();
  clock.advance(10_000);
  expect(ends).toHaveLength(1);
});
