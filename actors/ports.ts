/** What actors need of the outside. The same actor code runs against the real ones and in a simulation with a virtual clock. */
import type { ArtifactId } from '../protocol/ids.ts';

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Unix ms. */
  nowMs(): number;
  /** Never goes back; for leases, windows and idleness. */
  monotonicMs(): number;
  after(delayMs: number, run: () => void): Timer;
}

/** One change of an artifact, numbered by its actor. `seq` rises by one with every change of that artifact. */
export type Change = { readonly seq: number } & (JsonChange | TableChange | BlobChange | DocumentChange | CommentChange);

export type JsonChange =
  /** `value` is the JSON text; times are Unix ms. */
  | {
      readonly kind: 'json.put';
      readonly key: string;
      readonly value: string;
      readonly createdAtMs: number;
      readonly updatedAtMs: number;
      readonly expiresAtMs: number | null;
    }
  | { readonly kind: 'json.delete'; readonly key: string; readonly atMs: number };

/** A value of an indexed column: numbers and strings are ordered, booleans only compared. */
export type IndexedValue = number | string | boolean;

/** `storedAs`: what the rows of the table have as its name in the store; left out where that is its own. */
export type TableChange =
  /** Made by the first insert or by a schema. `schema` is its JSON text, null for none. */
  | {
      readonly kind: 'table.put';
      readonly table: string;
      readonly storedAs?: string;
      readonly schema: string | null;
      /** Rows of the table after this change. */
      readonly rowCount: number;
      readonly createdAtMs: number;
      readonly updatedAtMs: number;
    }
  /** All its rows with it: nobody sees them from then on, whenever the store removes them. */
  | { readonly kind: 'table.drop'; readonly table: string; readonly storedAs?: string; readonly atMs: number }
  | {
      readonly kind: 'row.put';
      readonly table: string;
      readonly storedAs?: string;
      readonly rowId: string;
      /** The row's fields as JSON text, without id and times. */
      readonly data: string;
      /** Seq of the insert of this row; equal to `seq` when this is it. */
      readonly createdSeq: number;
      readonly createdAtMs: number;
      readonly updatedAtMs: number;
      /** Rows of the table after this change. */
      readonly rowCount: number;
      /** Of all columns that the schema calls indexed or unique, null where the row has no value; replaces what was there for this row. */
      readonly indexed: readonly (readonly [column: string, value: IndexedValue | null])[];
    }
  | {
      readonly kind: 'row.delete';
      readonly table: string;
      readonly storedAs?: string;
      readonly rowId: string;
      /** As its `row.put` had it. */
      readonly createdSeq: number;
      readonly rowCount: number;
      readonly atMs: number;
    };

export type BlobChange =
  | {
      readonly kind: 'blob.put';
      readonly blobId: string;
      readonly filename: string;
      readonly mimeType: string;
      readonly sizeBytes: number;
      /** Lowercase hex. */
      readonly sha256: string;
      readonly createdBy: string | null;
      readonly createdAtMs: number;
    }
  | { readonly kind: 'blob.delete'; readonly blobId: string; readonly atMs: number };

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

export type CommentChange =
  | {
      readonly kind: 'comment.put';
      readonly commentId: string;
      /** What followers are told that it is. */
      readonly cause: 'added' | 'updated' | 'resolved' | 'reaction';
      /** The whole comment as JSON text, as `actors/comments-part.ts` has it. */
      readonly data: string;
      readonly createdAtMs: number;
      readonly updatedAtMs: number;
      /** What an edit has replaced, kept in the history of the comment. */
      readonly replaced: { readonly content: string; readonly atMs: number } | null;
    }
  | { readonly kind: 'comment.delete'; readonly commentId: string; readonly atMs: number }
  /** The comment settings as JSON text. */
  | { readonly kind: 'comments.config'; readonly config: string; readonly atMs: number };

/** What one actor asks to commit: its changes in order, written only while `epoch` is still the artifact's owner epoch. */
export interface ArtifactBatch {
  readonly artifactId: ArtifactId;
  readonly epoch: number;
  readonly changes: readonly Change[];
}

/** `fenced`: another owner has taken over. `poisoned`: the store can never take these changes; nothing of this artifact was written. */
export type BatchOutcome = 'committed' | 'fenced' | { readonly poisoned: Error };

export interface JournalStore {
  /**
   * Writes the batches of many artifacts in one transaction; at most one batch an artifact.
   * Resolves with an outcome for each, in order: one poisoned batch does not fail the others.
   * Rejects when the whole outcome is failed or unknown (connection lost, time-out).
   */
  commit(batches: readonly ArtifactBatch[]): Promise<readonly BatchOutcome[]>;
}

/** Values of more bytes than this are left out of an image and read when they are needed: loading stays quick whatever is stored. */
export const COLD_VALUE_BYTES = 4096;

export interface StoredKey {
  readonly key: string;
  /** The JSON text; null when it has more than `COLD_VALUE_BYTES` and must be read by `readValue`. */
  readonly value: string | null;
  readonly sizeBytes: number;
  readonly seq: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number | null;
}

/** Everything an actor starts from. */
export interface ArtifactImage {
  /** The owner epoch that loading has just taken: higher than any before it. */
  readonly epoch: number;
  /** Of the last committed change; 0 when there is none. */
  readonly seq: number;
  readonly keys: readonly StoredKey[];
  readonly tables: readonly StoredTable[];
  /** Whether there are still rows of dropped tables. */
  readonly hasDroppedTables: boolean;
  readonly blobs: readonly StoredBlob[];
}

export interface StoredTable {
  readonly name: string;
  /** Under which the store has its rows. */
  readonly storedAs: string;
  /** JSON text of the schema, or null. */
  readonly schema: string | null;
  readonly rowCount: number;
  /** Of its last `table.put`; rows have their own. */
  readonly seq: number;
  readonly createdAtMs: number;
  /** Not before the last change of any of its rows. */
  readonly updatedAtMs: number;
}

export interface StoredRow {
  readonly rowId: string;
  /** The row's fields as JSON text, without id and times. */
  readonly data: string;
  readonly createdSeq: number;
  readonly seq: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface StoredBlob {
  readonly id: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly createdAtMs: number;
}

/** What an artifact knows of one collaborative document without its content. */
export interface StoredDocument {
  readonly name: string;
  /** Of its last update. */
  readonly seq: number;
  /** Of what is stored of it: the snapshot and the updates since. */
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
}

export interface StoredComment {
  readonly id: string;
  /** JSON text. */
  readonly data: string;
  readonly seq: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface StoredComments {
  /** JSON text; null while nothing was ever set. */
  readonly config: string | null;
  /** In the order in which they were made. */
  readonly comments: readonly StoredComment[];
}

export interface HolderQuery {
  /** As its rows are stored. */
  readonly table: string;
  readonly column: string;
  readonly values: readonly IndexedValue[];
  readonly isIndexed: boolean;
  /** More rows than this are of no use. */
  readonly rowsMax: number;
}

export interface ArtifactStore {
  /** Takes ownership (`owner_epoch + 1`) and reads the state, in one transaction. Null when there is no such artifact. */
  load(artifactId: ArtifactId): Promise<ArtifactImage | null>;
  /** The JSON text of one committed key as change `seq` wrote it, or null when the key is gone or was changed since. */
  readValue(artifactId: ArtifactId, key: string, seq: number): Promise<string | null>;
  /** Those of the rows that are committed, in no order. `table` as its rows are stored. */
  readRows(artifactId: ArtifactId, table: string, rowIds: readonly string[]): Promise<readonly StoredRow[]>;
  /** The committed rows that hold one of `values` in a column, in no order. `isIndexed`: the schema calls the column indexed or unique. */
  readHolders(artifactId: ArtifactId, wanted: HolderQuery): Promise<readonly StoredRow[]>;
  /** The next three answer null where `epoch` is not the owner's any more: what they would read is not what this actor has written. */
  readDocuments(artifactId: ArtifactId, epoch: number): Promise<readonly StoredDocument[] | null>;
  /** Of a document that is not stored: no snapshot, no updates, seq 0. */
  readDocument(artifactId: ArtifactId, epoch: number, name: string): Promise<StoredDocumentContent | null>;
  readComments(artifactId: ArtifactId, epoch: number): Promise<StoredComments | null>;
}

/** What a compaction of a document has left. */
export interface Compacted {
  /** Of the snapshot that it wrote. */
  readonly snapshotBytes: number;
  /** Updates that it merged, and their bytes. */
  readonly updates: number;
  readonly updateBytes: number;
  /** By which less is stored now; below 0 where it is more. */
  readonly freedBytes: number;
}

/** Merges the log of a document into its snapshot, beside the actor's turns. */
export interface DocumentUpkeep {
  /** Of what is committed. Null where there was nothing to merge, or it failed, which changes nothing. Never rejects. */
  compact(artifactId: ArtifactId, name: string): Promise<Compacted | null>;
}

/** Where an artifact's actor lives. */
export type Location = { readonly here: true } | { readonly here: false; readonly address: string };

export interface Placement {
  locate(artifactId: ArtifactId): Location | Promise<Location>;
  /** Called before an actor loads; false when another node holds it. */
  claim(artifactId: ArtifactId): boolean | Promise<boolean>;
  /** Called after an actor has left memory. */
  release(artifactId: ArtifactId): void;
  /** Whether this node may still answer for its actors; checked at every turn. */
  holds(): boolean;
  onLost(listener: (artifactId: ArtifactId) => void): void;
}

/** What the runtime tells operations. Implemented over prom-client; a no-op in tests. */
export interface RuntimeMeter {
  commit(changes: number, artifacts: number, durationMs: number, outcome: 'ok' | 'failed'): void;
  loaded(durationMs: number): void;
}

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
