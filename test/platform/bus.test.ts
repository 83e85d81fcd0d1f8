/** The guarantees of the bus: caches drop before listeners run, and a failing listener stops no other. */
import { expect, test } from 'vitest';
import { newId } from '../../protocol/core/ids.ts';
import { FactReactions, LocalBus, onArtifact } from '../../src/platform/bus.ts';
import { SILENT } from '../support/database.ts';

const changed = { kind: 'artifact.changed', artifactId: newId('artifact'), slugs: ['page'] } as const;
const everything = () => undefined;
const resync = () => undefined;

test('caches drop before any listener hears, whatever the order in which they came', () => {
  const bus = new LocalBus(SILENT);
  const heard: string[] = [];
  bus.listen('listener', { resync, 'artifact.changed': () => void heard.push('listener') });
  bus.cache('cache', { everything, 'artifact.changed': () => void heard.push('cache') });
  bus.tell(changed);
  expect(heard).toEqual(['cache', 'listener']);
});

test('a reaction that throws or rejects is logged with its name and stops no other', async () => {
  const logged: unknown[] = [];
  const bus = new LocalBus({ ...SILENT, error: (fields) => void logged.push((fields as { reaction: string }).reaction) });
  const heard: string[] = [];
  bus.cache('throws', {
    everything,
    'artifact.changed': () => {
      throw new Error('a bug');
    },
  });
  bus.listen('rejects', { resync, 'artifact.changed': () => Promise.reject(new Error('a bug')) });
  bus.cache('a cache', { everything, 'artifact.changed': () => void heard.push('a cache') });
  bus.listen('a listener', { resync, 'artifact.changed': () => void heard.push('a listener') });
  bus.tell(changed);
  await new Promise((resolve) => setImmediate(resolve));
  expect([heard, logged]).toEqual([
    ['a cache', 'a listener'],
    ['throws', 'rejects'],
  ]);
});

test('an event reaches only the subscribers of its kind', () => {
  const bus = new LocalBus(SILENT);
  const heard: string[] = [];
  bus.cache('artifacts', { everything, ...onArtifact(({ kind }) => void heard.push(kind)) });
  bus.tell({ kind: 'account.changed', userId: newId('user') });
  bus.tell({ ...changed, kind: 'artifact.gone' });
  bus.tell({ ...changed, kind: 'artifact.replaced' });
  expect(heard).toEqual(['artifact.gone', 'artifact.replaced']);
});

test('two parts of one name are refused: a log line would not say which failed', () => {
  const bus = new LocalBus(SILENT);
  bus.cache('one', { everything });
  expect(() => bus.listen('one', { resync })).toThrow('Two parts are called one');
});

test('facts that may have been missed: all caches drop, then every listener decides anew, and what fails stops no other', () => {
  const done: string[] = [];
  const reactions = new FactReactions({
    ...SILENT,
    error: (fields) => void done.push(`failed: ${(fields as { reaction: string }).reaction}`),
  });
  reactions.listen('listener', { resync: () => void done.push('listener') });
  reactions.cache('throws', {
    everything: () => {
      throw new Error('a bug');
    },
  });
  reactions.cache('cache', { everything: () => void done.push('cache') });
  reactions.resync();
  expect(done).toEqual(['failed: throws', 'cache', 'listener']);
});

test('C12: a listener that decides anew is not told again before it is done, and then once', async () => {
  const reactions = new FactReactions(SILENT);
  const ends: (() => void)[] = [];
  reactions.listen('slow', { resync: () => new Promise<void>((resolve) => ends.push(resolve)) });
  for (let times = 0; times < 10; times += 1) reactions.resync();
  expect(ends.length).toBe(1);
  ends[0]?.();
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends.length).toBe(2);
});
