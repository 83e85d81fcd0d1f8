/** Collaborative documents as the journal takes their changes and as the store gives them back. */
import type { ArtifactId } from '../../protocol/core/ids.ts';

export type DocumentChange =
  /** `update` in Yjs' format v1, never changed once it is here. */
  | {
      readonly kind: 'doc.update';
      readonly doc: string;
      readonly update: Uint8Array;
      /** The account that made it, null for a visitor. */
      readonly by: string | null;
      readonly atMs: number;
    }
  /** All its updates and versions with it. */
  | { readonly kind: 'doc.drop'; readonly doc: string; readonly atMs: number };

/** Metadata of a collaborative document. */
export interface StoredDocument {
  readonly name: string;
  /** Seq of its last update. */
  readonly seq: number;
  /** Bytes stored for it: the snapshot and the updates since. */
  readonly storedBytes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A document's content: the snapshot, then the updates, in order. All in Yjs' format v1. */
export interface StoredDocumentContent {
  readonly snapshot: Uint8Array | null;
  readonly updates: readonly Uint8Array[];
  /** Up to here it is complete. */
  readonly seq: number;
  /** What the store holds, where that is not the above, because a long log was merged for this read. */
  readonly stored?: StoredSizes;
}

/** Bytes of a snapshot, and number and bytes of the updates since. */
export interface StoredSizes {
  readonly snapshotBytes: number;
  readonly updates: number;
  readonly updateBytes: number;
}

/** Both return null if `epoch` is stale: another owner may have written since. */
export interface DocumentReads {
  readDocuments(artifactId: ArtifactId, epoch: number): Promise<readonly StoredDocument[] | null>;
  /** A document that is not stored reads as no snapshot, no updates, seq 0. */
  readDocument(artifactId: ArtifactId, epoch: number, name: string): Promise<StoredDocumentContent | null>;
}

/** Result of compacting a document. */
export interface Compacted {
  /** Bytes of the snapshot that it wrote. */
  readonly snapshotBytes: number;
  /** Updates that it merged, and their bytes. */
  readonly updates: number;
  readonly updateBytes: number;
  /** Bytes saved in the store; negative if it now holds more. */
  readonly freedBytes: number;
}

/** Merges the log of a document into its snapshot, beside the actor's turns. */
export interface DocumentUpkeep {
  /** Compacts the committed log. Null if there was nothing to merge or it failed, in which case nothing has changed. Never rejects. */
  compact(artifactId: ArtifactId, name: string): Promise<Compacted | null>;
}
