/** A MemoryStore that compacts documents, as the real store does while actors run. */
import type { Compacted, DocumentUpkeep, StoredDocumentContent } from '../../actors/documents/changes.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { mergeState } from '../../src/storage/document-merge.ts';
import { framed } from '../../src/storage/live/documents.ts';
import { MemoryStore } from './memory-store.ts';

interface Snapshot {
  readonly state: Uint8Array;
  /** How many of the document's logged updates since its last drop the snapshot contains. */
  readonly updates: number;
  readonly firstSeq: number;
}

export class DocumentStore extends MemoryStore {
  compactions = 0;
  readonly #snapshots = new Map<string, Snapshot>();

  override async readDocument(id: ArtifactId, epoch: number, name: string): Promise<StoredDocumentContent | null> {
    const content = await super.readDocument(id, epoch, name);
    const snapshot = this.#snapshotOf(id, name);
    if (content === null || snapshot === undefined) return content;
    return { ...content, snapshot: snapshot.state, updates: content.updates.slice(snapshot.updates) };
  }

  async compact(id: ArtifactId, name: string): Promise<Compacted | null> {
    const all = await this.#all(id, name);
    const before = this.#snapshotOf(id, name);
    const updates = all.updates.slice(before?.updates ?? 0);
    if (updates.length === 0) return null;
    const state = mergeState(before?.state ?? null, Buffer.from(framed(updates), 'hex'));
    this.#snapshots.set(`${id}/${name}`, { state, updates: all.updates.length, firstSeq: this.#firstSeq(id, name) });
    this.compactions += 1;
    const updateBytes = updates.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const freedBytes = updateBytes + (before?.state.byteLength ?? 0) - state.byteLength;
    return { snapshotBytes: state.byteLength, updates: updates.length, updateBytes, freedBytes };
  }

  /** The stored text, independent of the owner. */
  async stored(id: ArtifactId, name: string): Promise<StoredDocumentContent> {
    const content = await this.readDocument(id, this.of(id).epoch, name);
    if (content === null) throw new Error('nobody owns what is there');
    return content;
  }

  async #all(id: ArtifactId, name: string): Promise<StoredDocumentContent> {
    const content = await super.readDocument(id, this.of(id).epoch, name);
    if (content === null) throw new Error('nobody owns what is there');
    return content;
  }

  #snapshotOf(id: ArtifactId, name: string): Snapshot | undefined {
    const snapshot = this.#snapshots.get(`${id}/${name}`);
    // This snapshot belongs to a dropped document of the same name.
    return snapshot?.firstSeq === this.#firstSeq(id, name) ? snapshot : undefined;
  }

  #firstSeq(id: ArtifactId, name: string): number {
    const { log } = this.of(id);
    const dropped = log.findLastIndex((change) => change.kind === 'doc.drop' && change.doc === name);
    return log.find((change, at) => at > dropped && change.kind === 'doc.update' && change.doc === name)?.seq ?? 0;
  }
}

/** Compactions that take time and sometimes fail. */
export function slowUpkeep(store: DocumentStore, pass: () => Promise<void>, fails: () => boolean): DocumentUpkeep {
  return {
    compact: async (id, name) => {
      await pass();
      if (fails()) return null;
      const done = await store.compact(id, name);
      await pass();
      return done;
    },
  };
}
