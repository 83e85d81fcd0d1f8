/** The guarantees of the bus: caches drop before listeners run, and a failing listener stops no other. */
import { expect, test } from 'vitest';
import { newId } from '../../protocol/core/ids.ts';
import { LocalBus, onArtifact } from '../../src/platform/bus.ts';
import { SILENT } from '../support/database.ts';

const changed = { kind: 'artifact.changed', artifactId: newId('artifact'), slugs: ['page'] } as const;

test('caches drop before any listener hears, whatever the order in which they came', () => {
  const bus = new LocalBus(SILENT);
  const heard: string[] = [];
  bus.listen('listener', { 'artifact.changed': () => void heard.push('listener') });
  bus.cache('cache', { 'artifact.changed': () => void heard.push('cache') });
  bus.tell(changed);
  expect(heard).toEqual(['cache', 'listener']);
});

test('a reaction that throws or rejects is logged with its name and stops no other', async () => {
  const logged: unknown[] = [];
  const bus = new LocalBus({ ...SILENT, error: (fields) => void logged.push((fields as { reaction: string }).reaction) });
  const heard: string[] = [];
  bus.cache('throws', {
    'artifact.changed': () => {
      throw new Error('a bug');
    },
  });
  bus.listen('rejects', { 'artifact.changed': () => Promise.reject(new Error('a bug')) });
  bus.cache('a cache', { 'artifact.changed': () => void heard.push('a cache') });
  bus.listen('a listener', { 'artifact.changed': () => void heard.push('a listener') });
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
  bus.cache(
    'artifacts',
    onArtifact(({ kind }) => void heard.push(kind)),
  );
  bus.tell({ kind: 'account.changed', userId: newId('user') });
  bus.tell({ ...changed, kind: 'artifact.gone' });
  bus.tell({ ...changed, kind: 'artifact.replaced' });
  expect(heard).toEqual(['artifact.gone', 'artifact.replaced']);
});

test('two parts of one name are refused: a log line would not say which failed', () => {
  const bus = new LocalBus(SILENT);
  bus.cache('one', {});
  expect(() => bus.listen('one', {})).toThrow('Two parts are called one');
});
