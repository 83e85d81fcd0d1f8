import { expect, test } from 'vitest';
import { SpareBuffers } from '../../src/platform/spare-buffers.ts';

const MB = 1024 * 1024;

test('what was given back is taken again for a similar length, with exactly the length asked for', () => {
  const spare = new SpareBuffers();
  const first = spare.take(90_000);
  spare.give(first.subarray(10, 20));
  const second = spare.take(91_000);
  expect([first.length, second.length, second.buffer === first.buffer]).toEqual([90_000, 91_000, true]);
});

test('two who have taken never share memory, also where one gives back twice', () => {
  const spare = new SpareBuffers();
  const first = spare.take(MB);
  spare.give(first);
  spare.give(first);
  expect(spare.take(MB).buffer).not.toBe(spare.take(MB).buffer);
});

test('memory of others is never lent', () => {
  const spare = new SpareBuffers();
  const foreign = Buffer.allocUnsafeSlow(MB);
  spare.give(foreign);
  expect(spare.take(MB).buffer).not.toBe(foreign.buffer);
  const small = spare.take(100);
  spare.give(small);
  expect([small.length, spare.take(100).buffer === small.buffer && small.byteOffset === spare.take(100).byteOffset]).toEqual([100, false]);
});

test.each([16_385, 20_000, 65_536, 65_537, 90_000, 3 * MB + 1, 8 * MB])('%i bytes lie in at most a quarter more', (bytes) => {
  const taken = new SpareBuffers().take(bytes);
  expect(taken.buffer.byteLength).toBeGreaterThanOrEqual(bytes);
  expect(taken.buffer.byteLength).toBeLessThanOrEqual(bytes * 1.25);
});

test('what is kept unused is bounded', () => {
  const spare = new SpareBuffers();
  const taken = Array.from({ length: 20 }, () => spare.take(4 * MB));
  const memories = new Set(taken.map(({ buffer }) => buffer));
  for (const one of taken) spare.give(one);
  const again = Array.from({ length: 20 }, () => spare.take(4 * MB)).filter(({ buffer }) => memories.has(buffer));
  expect(again).toHaveLength(12);
});
