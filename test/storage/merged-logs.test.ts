/** Long logs are merged in the thread for documents, which the artifacts use in turn. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as Y from 'yjs';
import type { StoredDocumentContent } from '../../actors/documents/changes.ts';
import type { ArtifactStore } from '../../actors/runtime/store.ts';
import { newId } from '../../protocol/core/ids.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { DocumentThread } from '../../src/storage/document-thread.ts';
import { framedBytes, unframed } from '../../src/storage/live/documents.ts';
import { mergingLogs } from '../../src/storage/merged-logs.ts';
import { builtFiles } from '../support/database.ts';

let thread: DocumentThread;
beforeEach(() => {
  thread = new DocumentThread(builtFiles().documentWorkerFile, systemClock);
});
afterEach(() => thread.close());

/** The updates of a document of so many characters, typed one by one. */
function typed(characters: number): Uint8Array[] {
  const doc = new Y.Doc();
  const updates: Uint8Array[] = [];
  doc.on('update', (update: Uint8Array) => void updates.push(update));
  for (let index = 0; index < characters; index += 1) doc.getText('t').insert(index, 'x');
  return updates;
}

function storeOf(content: StoredDocumentContent | null): ArtifactStore {
  return { readDocument: async () => content } as Partial<ArtifactStore> as ArtifactStore;
}

it('[short] a log that compaction would leave is read as it is stored', async () => {
  const content = { snapshot: null, updates: typed(500), seq: 7 };
  const store = mergingLogs(storeOf(content), { merge: () => Promise.reject(new Error('not needed')) });
  expect(await store.readDocument(newId('artifact'), 1, 'd')).toBe(content);
  expect(await mergingLogs(storeOf(null), thread).readDocument(newId('artifact'), 1, 'd')).toBeNull();
});

it.each([
  ['long', typed(501), 0],
  ['long with a gap', typed(2000).slice(1), 1],
  ['large', [Y.encodeStateAsUpdate(largeDocument())], 0],
])('[%s] a log is one update when it is read, and what is stored is told', async (_kind, updates, missing) => {
  const store = mergingLogs(storeOf({ snapshot: null, updates, seq: 9 }), thread);
  const read = await store.readDocument(newId('artifact'), 1, 'd');
  const updateBytes = updates.reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(read).toMatchObject({ updates: [], seq: 9, stored: { snapshotBytes: 0, updates: updates.length, updateBytes } });
  const doc = new Y.Doc();
  Y.applyUpdate(doc, read?.snapshot ?? new Uint8Array());
  expect(doc.store.pendingStructs === null).toBe(missing === 0);
  // Nothing that waits is lost: it is there once the missing comes.
  const all = new Y.Doc();
  for (const update of updates) Y.applyUpdate(all, update);
  expect(Y.encodeStateAsUpdate(doc).byteLength).toBe(Y.encodeStateAsUpdate(all).byteLength);
});

function largeDocument(): Y.Doc {
  const doc = new Y.Doc();
  doc.getText('t').insert(0, 'x'.repeat(300_000));
  return doc;
}

it('[in turn] one artifact with many documents in the thread delays another by one', async () => {
  const log = framedBytes(typed(100));
  expect(unframed(log)).toHaveLength(100);
  const done: string[] = [];
  const merge = (artifactId: string) => thread.merge(null, log, artifactId).then(() => done.push(artifactId));
  await Promise.all([...Array.from({ length: 10 }, () => merge('many')), merge('one')]);
  expect(done.indexOf('one')).toBeLessThanOrEqual(2);
  expect(done).toHaveLength(11);
});

it('[bounded] an artifact with too many documents in the thread is refused, and another is not', async () => {
  const log = framedBytes(typed(10));
  const many = Array.from({ length: 30 }, () => thread.merge(null, log, 'many'));
  const one = thread.merge(null, log, 'one');
  const settled = await Promise.allSettled(many);
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(9);
  expect((await one).byteLength).toBeGreaterThan(0);
});
