/** Journal and store in memory, as strict as the real ones: epochs are checked, and a gap in an artifact's sequence is an error. */

import type { StoredBlob } from '../../actors/blobs/changes.ts';
import type { StoredComment, StoredComments } from '../../actors/comments/changes.ts';
import type { StoredDocument, StoredDocumentContent } from '../../actors/documents/changes.ts';
import { COLD_VALUE_BYTES, type StoredKey } from '../../actors/json/changes.ts';
import type { Change } from '../../actors/kinds.ts';
import type { ArtifactBatch, ArtifactImage, ArtifactStore, BatchOutcome, JournalStore } from '../../actors/runtime/store.ts';
import type { HolderQuery, StoredRow } from '../../actors/tables/changes.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { MemoryTables } from './memory-tables.ts';

export interface StoredArtifact {
  epoch: number;
  seq: number;
  readonly tables: MemoryTables;
  readonly blobs: Map<string, StoredBlob>;
  readonly keys: Map<string, StoredKey & { readonly value: string }>;
  /** Every committed change, in the order of commits. */
  readonly log: Change[];
}

export class MemoryStore implements JournalStore, ArtifactStore {
  readonly artifacts = new Map<ArtifactId, StoredArtifact>();
  /** Switched off only to test that the simulation notices. */
  checksEpochs = true;
  raisesEpochs = true;
  /** Loads what was stored before the last change, as a replica might. */
  loadsLate = false;
  /** Violations of the journal's rules. */
  readonly violations: string[] = [];
  isPoison: (change: Change) => boolean = () => false;

  add(id: ArtifactId): void {
    this.artifacts.set(id, { epoch: 0, seq: 0, keys: new Map(), tables: new MemoryTables(), blobs: new Map(), log: [] });
  }

  of(id: ArtifactId): StoredArtifact {
    const artifact = this.artifacts.get(id);
    if (artifact === undefined) throw new Error(`no artifact ${id}`);
    return artifact;
  }

  async commit(batches: readonly ArtifactBatch[]): Promise<readonly BatchOutcome[]> {
    return this.apply(batches);
  }

  async load(id: ArtifactId): Promise<ArtifactImage | null> {
    const artifact = this.artifacts.get(id);
    if (artifact === undefined) return null;
    if (this.raisesEpochs) artifact.epoch += 1;
    if (this.loadsLate && artifact.log.length > 0) return this.#loadLate(artifact);
    const keys = [...artifact.keys.values()].map((key) => ({ ...key, value: key.sizeBytes > COLD_VALUE_BYTES ? null : key.value }));
    const { tables } = artifact;
    const blobs = [...artifact.blobs.values()];
    return { epoch: artifact.epoch, seq: artifact.seq, keys, tables: tables.list(), hasDroppedTables: tables.hasDropped, blobs };
  }

  #loadLate({ epoch, seq, log }: StoredArtifact): ArtifactImage {
    const before: StoredArtifact = { epoch, seq: seq - 1, keys: new Map(), tables: new MemoryTables(), blobs: new Map(), log: [] };
    for (const change of log.slice(0, -1)) applyChange(before, change, () => undefined);
    const keys = [...before.keys.values()];
    return { epoch, seq: before.seq, keys, tables: before.tables.list(), hasDroppedTables: before.tables.hasDropped, blobs: [] };
  }

  async readValue(id: ArtifactId, key: string, seq: number): Promise<string | null> {
    const stored = this.of(id).keys.get(key);
    return stored !== undefined && stored.seq === seq ? stored.value : null;
  }

  async readRows(id: ArtifactId, table: string, rowIds: readonly string[]): Promise<readonly StoredRow[]> {
    return this.of(id).tables.readRows(table, rowIds);
  }

  async readHolders(id: ArtifactId, wanted: HolderQuery): Promise<readonly StoredRow[]> {
    return this.of(id).tables.readHolders(wanted);
  }

  async readDocuments(id: ArtifactId, epoch: number): Promise<readonly StoredDocument[] | null> {
    const { log, epoch: current } = this.of(id);
    if (current !== epoch) return null;
    const names = new Set(log.flatMap((change) => (change.kind === 'doc.update' ? [change.doc] : [])));
    return [...names].flatMap((name) => {
      const updates = updatesOf(log, name);
      const [first] = updates;
      const last = updates.at(-1);
      if (first === undefined || last === undefined) return [];
      const storedBytes = updates.reduce((sum, { update }) => sum + update.byteLength, 0);
      return [{ name, seq: last.seq, storedBytes, createdAtMs: first.atMs, updatedAtMs: last.atMs }];
    });
  }

  async readDocument(id: ArtifactId, epoch: number, name: string): Promise<StoredDocumentContent | null> {
    const { log, epoch: current } = this.of(id);
    if (current !== epoch) return null;
    const updates = updatesOf(log, name);
    return { snapshot: null, updates: updates.map(({ update }) => update), seq: updates.at(-1)?.seq ?? 0 };
  }

  async readComments(id: ArtifactId, epoch: number): Promise<StoredComments | null> {
    const { log, epoch: current } = this.of(id);
    if (current !== epoch) return null;
    let config: string | null = null;
    const comments = new Map<string, StoredComment>();
    for (const change of log) {
      if (change.kind === 'comments.config') config = change.config;
      if (change.kind === 'comment.put') comments.set(change.commentId, { ...change, id: change.commentId });
      if (change.kind === 'comment.delete') comments.delete(change.commentId);
    }
    return { config, comments: [...comments.values()] };
  }

  apply(batches: readonly ArtifactBatch[]): readonly BatchOutcome[] {
    if (new Set(batches.map((batch) => batch.artifactId)).size < batches.length) this.violations.push('two batches of one artifact');
    return batches.map((batch) => this.#applyOne(batch));
  }

  #applyOne(batch: ArtifactBatch): BatchOutcome {
    const artifact = this.of(batch.artifactId);
    if (this.checksEpochs && artifact.epoch !== batch.epoch) return 'fenced';
    if (batch.changes.some(this.isPoison)) return { poisoned: new Error('this can never be stored') };
    for (const change of batch.changes) {
      if (change.seq !== artifact.seq + 1) this.violations.push(`${batch.artifactId}: change ${change.seq} after ${artifact.seq}`);
      artifact.seq = change.seq;
      artifact.log.push(change);
      applyChange(artifact, change, (why) => this.violations.push(`${batch.artifactId}: ${why}`));
    }
    return 'committed';
  }
}

function applyChange(artifact: StoredArtifact, change: Change, violation: (why: string) => void): void {
  switch (change.kind) {
    case 'json.put':
      artifact.keys.set(change.key, { ...change, sizeBytes: Buffer.byteLength(change.value) });
      return;
    case 'json.delete':
      artifact.keys.delete(change.key);
      return;
    case 'blob.put':
      artifact.blobs.set(change.blobId, { ...change, id: change.blobId });
      return;
    case 'blob.delete':
      artifact.blobs.delete(change.blobId);
      return;
    case 'table.put':
    case 'table.drop':
    case 'row.put':
    case 'row.delete':
      artifact.tables.apply(change, violation);
      return;
    // Read from the log.
    case 'doc.update':
    case 'doc.drop':
    case 'comment.put':
    case 'comment.delete':
    case 'comments.config':
      return;
    default:
      change satisfies never;
  }
}

type DocumentUpdate = Extract<Change, { kind: 'doc.update' }>;

/** The document's updates since its last drop. */
function updatesOf(log: readonly Change[], name: string): readonly DocumentUpdate[] {
  const dropped = log.findLastIndex((change) => change.kind === 'doc.drop' && change.doc === name);
  return log.slice(dropped + 1).filter((change): change is DocumentUpdate => change.kind === 'doc.update' && change.doc === name);
}
