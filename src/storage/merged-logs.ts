/** Reads of documents whose log is long: it is merged in the thread for documents, so that opening one does not hold up everybody else. */
import type { StoredDocumentContent } from '../../actors/documents/changes.ts';
import type { ArtifactStore } from '../../actors/runtime/store.ts';
import type { DocumentThread } from './document-thread.ts';
import { framedBytes } from './live/documents.ts';

/** A log beyond either is merged in the thread. Compaction keeps logs of documents in use about this small. */
const LOG_UPDATES_MAX = 500;
const LOG_BYTES_MAX = 256 * 1024;

/** The same store; what it reads of a document is never a long log. */
export function mergingLogs(store: ArtifactStore, thread: Pick<DocumentThread, 'merge'>): ArtifactStore {
  return {
    ...store,
    readDocument: async (artifactId, epoch, name) => {
      const content = await store.readDocument(artifactId, epoch, name);
      return content === null || isShort(content) ? content : merged(content, (log) => thread.merge(content.snapshot, log, artifactId));
    },
  };
}

function isShort({ updates }: StoredDocumentContent): boolean {
  return updates.length <= LOG_UPDATES_MAX && bytesOf(updates) <= LOG_BYTES_MAX;
}

async function merged(
  { snapshot, updates, seq }: StoredDocumentContent,
  merge: (log: Uint8Array) => Promise<Uint8Array>,
): Promise<StoredDocumentContent> {
  const stored = { snapshotBytes: snapshot?.byteLength ?? 0, updates: updates.length, updateBytes: bytesOf(updates) };
  return { snapshot: await merge(framedBytes(updates)), updates: [], seq, stored };
}

function bytesOf(updates: readonly Uint8Array[]): number {
  return updates.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
