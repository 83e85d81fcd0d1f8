import { expect, it } from 'vitest';
import { Lanes } from '../../src/platform/lanes.ts';

it('[in turn] lanes take turns, each in its own order, and an empty lane is forgotten', () => {
  const lanes = new Lanes<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) lanes.push(item.charAt(0), item);
  expect([lanes.size, lanes.sizeOf('a'), lanes.sizeOf('z')]).toEqual([6, 3, 0]);
  const taken = Array.from({ length: 4 }, () => lanes.take());
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2']);
  lanes.push('d', 'd1');
  expect(Array.from({ length: 4 }, () => lanes.take())).toEqual(['b2', 'a3', 'd1', undefined]);
  expect(lanes.size).toBe(0);
});
