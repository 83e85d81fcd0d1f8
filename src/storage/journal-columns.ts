/** A group commit as columns for `unnest`: what of the batches' changes can still be seen after the commit, one array a column. */
import type { ArtifactBatch, Change, CommentChange, IndexedValue } from '../../actors/ports.ts';
import { CommentColumns } from './journal-comments.ts';
import { changeDocument, DocumentColumns, type DocumentEnd } from './journal-documents.ts';

type Of<Kind extends Change['kind']> = Extract<Change, { readonly kind: Kind }>;
type KeyChange = Of<'json.put'> | Of<'json.delete'>;
type RowChange = Of<'row.put'> | Of<'row.delete'>;
type BlobPut = Of<'blob.put'>;
type Deletion = Of<'json.delete'> | Of<'table.drop'> | Of<'row.delete'> | Of<'blob.delete'> | Of<'doc.drop'> | Of<'comment.delete'>;

/** What one batch leaves of a table. Whatever stood before a drop is forgotten; `drop` empties what was stored. */
interface TableEnd {
  drop: Of<'table.drop'> | undefined;
  /** Drops before that one. */
  readonly drops: readonly Of<'table.drop'>[];
  put: Of<'table.put'> | undefined;
  /** The last change of each row. */
  readonly rows: Map<string, RowChange>;
  lastRow: RowChange | undefined;
}

export class JournalColumns {
  readonly artifacts = { ids: [] as string[], epochs: [] as number[], seqs: [] as number[] };
  readonly keyPuts = {
    artifacts: [] as number[],
    keys: [] as string[],
    values: [] as string[],
    seqs: [] as number[],
    created: [] as number[],
    updated: [] as number[],
    expires: [] as (number | null)[],
  };
  readonly keyDeletes = { artifacts: [] as number[], keys: [] as string[] };
  readonly tablePuts = {
    artifacts: [] as number[],
    names: [] as string[],
    storedAs: [] as (string | null)[],
    schemas: [] as (string | null)[],
    counts: [] as number[],
    seqs: [] as number[],
    created: [] as number[],
    updated: [] as number[],
  };
  /** Tables of which only rows have changed. */
  readonly tableCounts = { artifacts: [] as number[], names: [] as string[], counts: [] as number[], updated: [] as number[] };
  readonly tableDrops = { artifacts: [] as number[], names: [] as string[], stays: [] as boolean[] };
  /** Under which dropped tables may have left rows. */
  readonly rowsLeft = { artifacts: [] as number[], storedAs: [] as string[], times: [] as number[] };
  readonly rowPuts = {
    artifacts: [] as number[],
    tables: [] as string[],
    ids: [] as string[],
    data: [] as string[],
    createdSeqs: [] as number[],
    seqs: [] as number[],
    created: [] as number[],
    updated: [] as number[],
  };
  readonly rowDeletes = { artifacts: [] as number[], tables: [] as string[], ids: [] as string[], createdSeqs: [] as number[] };
  readonly indexPuts = {
    artifacts: [] as number[],
    tables: [] as string[],
    ids: [] as string[],
    createdSeqs: [] as number[],
    columns: [] as string[],
    kinds: [] as string[],
    numbers: [] as (number | null)[],
    texts: [] as (string | null)[],
  };
  /** Rows that may have had other values in the index. */
  readonly reindexed = { artifacts: [] as number[], tables: [] as string[], ids: [] as string[] };
  readonly blobPuts = {
    artifacts: [] as number[],
    ids: [] as string[],
    filenames: [] as string[],
    mimes: [] as string[],
    sizes: [] as number[],
    digests: [] as string[],
    creators: [] as (string | null)[],
    seqs: [] as number[],
    created: [] as number[],
  };
  readonly blobDeletes = { artifacts: [] as number[], ids: [] as string[] };
  readonly documents = new DocumentColumns();
  readonly comments = new CommentColumns();
  readonly tombstones = {
    artifacts: [] as number[],
    seqs: [] as number[],
    kinds: [] as string[],
    names: [] as string[],
    rowIds: [] as (string | null)[],
    times: [] as number[],
  };

  constructor(batches: readonly ArtifactBatch[]) {
    for (const batch of batches) this.#addBatch(batch);
  }

  #addBatch(batch: ArtifactBatch): void {
    this.artifacts.ids.push(batch.artifactId);
    const artifact = this.artifacts.ids.length;
    this.artifacts.epochs.push(batch.epoch);
    const last = batch.changes.at(-1);
    if (last === undefined) throw new TypeError(`an empty batch of ${batch.artifactId}`);
    this.artifacts.seqs.push(last.seq);
    if (batch.changes.length === 1 && (last.kind === 'json.put' || last.kind === 'json.delete')) {
      this.#addKey(artifact, last);
      return;
    }
    // Only the last change of a thing can be seen after the commit; a row of the database may be written once in a statement.
    const keys = new Map<string, KeyChange>();
    const tables = new Map<string, TableEnd>();
    const blobs = new Map<string, BlobPut | Of<'blob.delete'>>();
    const documents = new Map<string, DocumentEnd>();
    const comments: (CommentChange & { readonly seq: number })[] = [];
    for (const change of batch.changes) {
      switch (change.kind) {
        case 'json.put':
        case 'json.delete':
          keys.set(change.key, change);
          break;
        case 'blob.put':
        case 'blob.delete':
          blobs.set(change.blobId, change);
          break;
        case 'doc.drop':
          this.#bury(artifact, change, change.doc, null);
          changeDocument(documents, change);
          break;
        case 'doc.update':
          changeDocument(documents, change);
          break;
        case 'comment.delete':
          this.#bury(artifact, change, change.commentId, null);
          comments.push(change);
          break;
        case 'comment.put':
        case 'comments.config':
          comments.push(change);
          break;
        default:
          changeTable(tables, change);
      }
    }
    for (const change of keys.values()) this.#addKey(artifact, change);
    for (const [name, end] of tables) this.#addTable(artifact, name, end);
    for (const change of blobs.values()) this.#addBlob(artifact, change);
    this.documents.add(artifact, documents);
    this.comments.add(artifact, comments);
  }

  #addKey(artifact: number, change: KeyChange): void {
    if (change.kind === 'json.delete') {
      this.keyDeletes.artifacts.push(artifact);
      this.keyDeletes.keys.push(change.key);
      this.#bury(artifact, change, change.key, null);
      return;
    }
    const { keyPuts } = this;
    keyPuts.artifacts.push(artifact);
    keyPuts.keys.push(change.key);
    keyPuts.values.push(change.value);
    keyPuts.seqs.push(change.seq);
    keyPuts.created.push(change.createdAtMs);
    keyPuts.updated.push(change.updatedAtMs);
    keyPuts.expires.push(change.expiresAtMs);
  }

  #addTable(artifact: number, name: string, { drop, drops, put, rows, lastRow }: TableEnd): void {
    if (drop !== undefined) {
      for (const { storedAs, atMs } of [...drops, drop]) {
        this.rowsLeft.artifacts.push(artifact);
        this.rowsLeft.storedAs.push(storedAs ?? name);
        this.rowsLeft.times.push(atMs);
      }
      this.tableDrops.artifacts.push(artifact);
      this.tableDrops.names.push(name);
      this.tableDrops.stays.push(put !== undefined);
      this.#bury(artifact, drop, name, null);
    }
    if (put !== undefined) {
      const { tablePuts } = this;
      tablePuts.artifacts.push(artifact);
      tablePuts.names.push(name);
      tablePuts.storedAs.push(put.storedAs === name ? null : (put.storedAs ?? null));
      tablePuts.schemas.push(put.schema);
      tablePuts.counts.push(lastRow?.rowCount ?? put.rowCount);
      tablePuts.seqs.push(put.seq);
      tablePuts.created.push(put.createdAtMs);
      tablePuts.updated.push(lastRow === undefined ? put.updatedAtMs : timeOf(lastRow));
    } else if (lastRow !== undefined) {
      this.tableCounts.artifacts.push(artifact);
      this.tableCounts.names.push(name);
      this.tableCounts.counts.push(lastRow.rowCount);
      this.tableCounts.updated.push(timeOf(lastRow));
    }
    for (const change of rows.values()) this.#addRow(artifact, change);
  }

  #addRow(artifact: number, change: RowChange): void {
    const isNew = change.kind === 'row.put' && change.createdSeq === change.seq;
    if (!isNew) {
      this.reindexed.artifacts.push(artifact);
      this.reindexed.tables.push(change.storedAs ?? change.table);
      this.reindexed.ids.push(change.rowId);
    }
    if (change.kind === 'row.delete') {
      this.rowDeletes.artifacts.push(artifact);
      this.rowDeletes.tables.push(change.storedAs ?? change.table);
      this.rowDeletes.ids.push(change.rowId);
      this.rowDeletes.createdSeqs.push(change.createdSeq);
      this.#bury(artifact, change, change.table, change.rowId);
      return;
    }
    const { rowPuts } = this;
    rowPuts.artifacts.push(artifact);
    rowPuts.tables.push(change.storedAs ?? change.table);
    rowPuts.ids.push(change.rowId);
    rowPuts.data.push(change.data);
    rowPuts.createdSeqs.push(change.createdSeq);
    rowPuts.seqs.push(change.seq);
    rowPuts.created.push(change.createdAtMs);
    rowPuts.updated.push(change.updatedAtMs);
    for (const [column, value] of change.indexed) this.#addIndexed(artifact, change, column, value);
  }

  #addIndexed(artifact: number, { table, storedAs, rowId, createdSeq }: Of<'row.put'>, column: string, value: IndexedValue | null): void {
    const { indexPuts } = this;
    indexPuts.artifacts.push(artifact);
    indexPuts.tables.push(storedAs ?? table);
    indexPuts.ids.push(rowId);
    indexPuts.createdSeqs.push(createdSeq);
    indexPuts.columns.push(column);
    indexPuts.kinds.push(kindOf(value));
    indexPuts.numbers.push(typeof value === 'number' ? value : null);
    indexPuts.texts.push(typeof value === 'number' || value === null ? null : String(value));
  }

  #addBlob(artifact: number, change: BlobPut | Of<'blob.delete'>): void {
    if (change.kind === 'blob.delete') {
      this.blobDeletes.artifacts.push(artifact);
      this.blobDeletes.ids.push(change.blobId);
      this.#bury(artifact, change, change.blobId, null);
      return;
    }
    const { blobPuts } = this;
    blobPuts.artifacts.push(artifact);
    blobPuts.ids.push(change.blobId);
    blobPuts.filenames.push(change.filename);
    blobPuts.mimes.push(change.mimeType);
    blobPuts.sizes.push(change.sizeBytes);
    blobPuts.digests.push(change.sha256);
    blobPuts.creators.push(change.createdBy);
    blobPuts.seqs.push(change.seq);
    blobPuts.created.push(change.createdAtMs);
  }

  #bury(artifact: number, change: Deletion, name: string, rowId: string | null): void {
    const { tombstones } = this;
    tombstones.artifacts.push(artifact);
    tombstones.seqs.push(change.seq);
    tombstones.kinds.push(change.kind);
    tombstones.names.push(name);
    tombstones.rowIds.push(rowId);
    tombstones.times.push(change.atMs);
  }
}

function changeTable(tables: Map<string, TableEnd>, change: Of<'table.put'> | Of<'table.drop'> | RowChange): void {
  let end = tables.get(change.table);
  if (end === undefined || change.kind === 'table.drop') {
    const drops = end?.drop === undefined ? [] : [...end.drops, end.drop];
    end = { drop: change.kind === 'table.drop' ? change : undefined, drops, put: undefined, rows: new Map(), lastRow: undefined };
    tables.set(change.table, end);
  }
  switch (change.kind) {
    case 'table.drop':
      return;
    case 'table.put':
      end.put = change;
      return;
    case 'row.put':
    case 'row.delete':
      end.rows.set(change.rowId, change);
      end.lastRow = change;
      return;
    default:
      change satisfies never;
  }
}

function timeOf(change: RowChange): number {
  return change.kind === 'row.put' ? change.updatedAtMs : change.atMs;
}

/** As `row_index.kind` has it. */
export function kindOf(value: IndexedValue | null): 'n' | 's' | 'b' | 'z' {
  if (value === null) return 'z';
  if (typeof value === 'number') return 'n';
  return typeof value === 'string' ? 's' : 'b';
}
