import { expect, it } from 'vitest';
import { BoundedMap, ReadCache } from '../../src/platform/cache.ts';

it('[CACHE1] holds no more than its bound, and evicts entries that were not read first', () => {
  const map = new BoundedMap<string, number>(3);
  map.set('a', 1);
  map.set('b', 2);
  map.set('c', 3);
  map.get('a');
  map.set('d', 4);
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([1, undefined, 3, 4]);
});

it('[CACHE1] makes room where everything was asked for', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.get('a');
  map.get('b');
  map.set('c', 3);
  expect(['a', 'b', 'c'].filter((key) => map.get(key) !== undefined)).toEqual(['b', 'c']);
});

it('[CACHE1] a value set again replaces the one before and takes no second place', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('a', 2);
  map.set('b', 3);
  expect([map.get('a'), map.get('b')]).toEqual([2, 3]);
  map.delete('a');
  expect(map.get('a')).toBeUndefined();
});

it('[CACHE2] a read that began before a change is repeated: nobody gets the value before it', async () => {
  let stored = { name: 'before' };
  const reads: (() => void)[] = [];
  const cache = new ReadCache<string, { name: string }>({
    entriesMax: 10,
    load: () => {
      const seen = stored;
      return new Promise((resolve) => reads.push(() => resolve(seen)));
    },
  });
  const early = cache.get('x');
  const shared = cache.get('x');
  stored = { name: 'after' };
  cache.invalidate('x');
  const late = cache.get('x');
  for (const read of reads) read();
  expect([await early, await shared, await late]).toEqual([{ name: 'after' }, { name: 'after' }, { name: 'after' }]);
  expect(cache.get('x')).toEqual({ name: 'after' });
  expect(reads).toHaveLength(2);
});
