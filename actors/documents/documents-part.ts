/** Collaborative documents: the part of an artifact that lists its documents and keeps the ones in use in memory. */
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { documentName } from '../../protocol/data/documents.ts';
import type { Ledger } from '../runtime/live-kind.ts';
import type { Clock, Log } from '../runtime/ports.ts';
import type {
  Compacted,
  DocumentChange,
  DocumentReads,
  DocumentUpkeep,
  StoredDocument,
  StoredDocumentContent,
  StoredSizes,
} from './changes.ts';
import { ConflictBudget } from './conflict-scan.ts';
import { type DocumentEnd, type DocumentHost, LiveDocument } from './live-document.ts';

/** What this part needs of its actor. */
export interface DocumentsLedger extends Ledger<DocumentChange> {
  readonly epoch: number;
  readonly state: 'live' | 'leaving' | 'gone';
  /** Resolves when everything pending now is committed or given up. */
  settled(): Promise<void>;
  hold(onOver: () => void): () => void;
}

export interface DocumentsDeps {
  readonly ledger: DocumentsLedger;
  readonly clock: Clock;
  readonly store: DocumentReads;
  /** Without it documents are never compacted. */
  readonly upkeep?: DocumentUpkeep | undefined;
  readonly log?: Log | undefined;
}

export interface DocumentInfo {
  readonly name: string;
  /** Seq of its last update. */
  readonly seq: number;
  /** Bytes stored for it. */
  readonly sizeBytes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Metadata of a stored document. */
class DocumentRecord implements StoredDocument, StoredSizes {
  readonly name: string;
  readonly createdAtMs: number;
  seq: number;
  storedBytes: number;
  updatedAtMs: number;
  /** Size of the snapshot, then number and size of the updates since; counted while the document is in memory. */
  snapshotBytes = 0;
  updates = 0;
  updateBytes = 0;
  compactedAtMs = Number.NEGATIVE_INFINITY;
  compacting: 'no' | 'running' | 'failed' = 'no';

  constructor(stored: StoredDocument) {
    this.name = stored.name;
    this.createdAtMs = stored.createdAtMs;
    this.seq = stored.seq;
    this.storedBytes = stored.storedBytes;
    this.updatedAtMs = stored.updatedAtMs;
  }
}

const PART_BYTES = 1200;
const RECORD_BYTES = 400;
// Room for open documents without content, beyond LIMITS.documentsMax; above it: UNAVAILABLE.
const UNWRITTEN_MAX = 1000;

// When to merge a document's log into its snapshot. A snapshot is written whole, so a large one is rewritten only after more updates.
const COMPACT_UPDATES = 500;
const COMPACT_BYTES = 256 * 1024;
const COMPACT_BYTES_MAX = 4 * 1024 * 1024;
const SNAPSHOT_BYTES_AN_UPDATE = 200;
// Minimum time between two compactions of one document, unless its log has grown this large: the next load has to apply all of it.
const COMPACT_GAP_MS = 5000;
const COMPACT_UPDATES_MAX = 10_000;
const COMPACT_RETRY_MS = 30_000;
// A document that leaves memory is compacted after fewer updates, because no client waits for it.
const ASLEEP_UPDATES = 50;
const ASLEEP_SNAPSHOT_BYTES_AN_UPDATE = 20_000;

export class DocumentsPart implements DocumentHost {
  readonly #ledger: DocumentsLedger;
  readonly #clock: Clock;
  readonly #store: DocumentReads;
  readonly #upkeep: DocumentUpkeep | undefined;
  readonly #log: Log | undefined;
  /** Documents that are stored or pending; read on first use. */
  #records: Map<string, DocumentRecord> | undefined;
  #reading: Promise<void> | undefined;
  /** In memory. */
  readonly #live = new Map<string, LiveDocument>();
  /** Loads in flight, shared by concurrent callers. */
  readonly #loading = new Map<string, Promise<void>>();
  /** Seq of each uncommitted drop, by document name. */
  readonly #dropped = new Map<string, number>();
  readonly #due = new Set<DocumentRecord>();
  readonly conflicts: ConflictBudget;
  #release: (() => void) | undefined;

  constructor(deps: DocumentsDeps) {
    this.#ledger = deps.ledger;
    this.#clock = deps.clock;
    this.conflicts = new ConflictBudget(() => deps.clock.monotonicMs());
    this.#store = deps.store;
    this.#upkeep = deps.upkeep;
    this.#log = deps.log;
  }

  /** An estimate from above, in bytes of memory. */
  get residentBytes(): number {
    let bytes = PART_BYTES + (this.#records?.size ?? 0) * RECORD_BYTES;
    for (const doc of this.#live.values()) bytes += doc.residentBytes;
    return bytes;
  }

  get isOver(): boolean {
    return this.#ledger.state !== 'live';
  }

  /** Undefined when `list`, `find` and `drop` may be called, else a promise: pass it as `prepare` of runtime.ask. */
  prepareList(): Promise<void> | undefined {
    if (this.#records !== undefined) return undefined;
    this.#reading ??= this.#readRecords().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /**
   * Undefined when the document is in memory, else a promise: pass it as `prepare` of runtime.ask.
   * Throws INVALID_DOCUMENT_NAME, DOCUMENT_LIMIT_EXCEEDED, UNAVAILABLE.
   */
  prepare(name: string): Promise<void> | undefined {
    if (this.#live.has(name)) return undefined;
    const listed = this.prepareList();
    if (listed !== undefined) return listed;
    // Load only once every change of the document is committed: otherwise the read would miss some.
    const { committedSeq } = this.#ledger;
    const record = this.#records?.get(name);
    if ((record?.seq ?? 0) > committedSeq || (this.#dropped.get(name) ?? 0) > committedSeq) return this.#ledger.settled();
    if (record === undefined) {
      this.#begin(name);
      return undefined;
    }
    const loading = this.#loading.get(name) ?? this.#load(record).finally(() => this.#loading.delete(name));
    this.#loading.set(name, loading);
    return loading;
  }

  /** The one live document of that name, after `prepare`. Many openers share it. */
  open(name: string): LiveDocument {
    const doc = this.#live.get(name);
    if (doc === undefined) throw new Error(`the document ${name} is not in memory`);
    doc.isUsed = true;
    return doc;
  }

  /** In the order of their names; after `prepareList`. */
  list(): DocumentInfo[] {
    return [...this.#known().values()].map(infoOf).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Undefined if the document has never been written. Call after `prepareList`. */
  find(name: string): DocumentInfo | undefined {
    const record = this.#known().get(name);
    return record && infoOf(record);
  }

  /** Deletes the document with its versions and notifies its listeners. Call after `prepareList`. Throws DOCUMENT_NOT_FOUND, UNAVAILABLE. */
  drop(name: string): void {
    const record = this.#known().get(name);
    if (record === undefined) throw new Failure('DOCUMENT_NOT_FOUND', { param: 'doc' });
    this.#ledger.admit();
    const seq = this.#ledger.seq + 1;
    this.#ledger.record({ seq, kind: 'doc.drop', doc: name, atMs: this.#clock.nowMs() });
    this.#known().delete(name);
    this.#due.delete(record);
    this.#dropped.set(name, seq);
    this.#end(name, 'dropped');
  }

  /** Called after a commit. */
  trim(): void {
    for (const [name, seq] of this.#dropped) if (seq <= this.#ledger.committedSeq) this.#dropped.delete(name);
    if (this.#due.size > 0) this.#compactDue();
  }

  /** Called at each sweep of the runtime: evicts documents that are neither open nor used since the last sweep. */
  sweep(): void {
    if (this.#due.size > 0) this.#compactDue();
    for (const doc of [...this.#live.values()]) {
      const record = this.#records?.get(doc.name);
      const isClean = (record?.seq ?? 0) <= this.#ledger.committedSeq;
      if (doc.isHeard || doc.isUsed || !isClean) {
        doc.isUsed = false;
        doc.trim();
        continue;
      }
      this.#end(doc.name, 'moved');
      if (record !== undefined && isWorthItAsleep(record)) this.#compact(record);
    }
  }

  storedBytes({ name }: LiveDocument): number {
    return this.#records?.get(name)?.storedBytes ?? 0;
  }

  admit({ name }: LiveDocument, bytes: number): void {
    this.#ledger.admit();
    const record = this.#known().get(name);
    if (record === undefined) this.#admitAnother();
    if ((record?.storedBytes ?? 0) + bytes > LIMITS.documentBytesMax) throw new Failure('DOCUMENT_TOO_LARGE');
  }

  record({ name }: LiveDocument, update: Uint8Array, by: string | null): void {
    const seq = this.#ledger.seq + 1;
    const record = this.#recordOf(name);
    record.seq = seq;
    record.updatedAtMs = Math.max(this.#clock.nowMs(), record.updatedAtMs);
    this.#ledger.record({ seq, kind: 'doc.update', doc: name, update, by, atMs: record.updatedAtMs });
    record.storedBytes += update.byteLength;
    record.updates += 1;
    record.updateBytes += update.byteLength;
    if (isDue(record)) this.#due.add(record);
  }

  heard(doc: LiveDocument): void {
    if (doc.isHeard) this.#release ??= this.#ledger.hold(() => this.#over());
    else if (this.#release !== undefined && ![...this.#live.values()].some(({ isHeard }) => isHeard)) {
      this.#release();
      this.#release = undefined;
    }
  }

  spoiled({ name }: LiveDocument): void {
    this.#end(name, 'moved');
  }

  #known(): Map<string, DocumentRecord> {
    if (this.#records === undefined) throw new Error('the documents are not in memory');
    return this.#records;
  }

  #recordOf(name: string): DocumentRecord {
    const known = this.#known();
    const found = known.get(name);
    if (found !== undefined) return found;
    const nowMs = this.#clock.nowMs();
    const record = new DocumentRecord({ name, seq: 0, storedBytes: 0, createdAtMs: nowMs, updatedAtMs: nowMs });
    known.set(name, record);
    return record;
  }

  /** Opens a document that has never been written. */
  #begin(name: string): void {
    if (!documentName.safeParse(name).success) throw new Failure('INVALID_DOCUMENT_NAME', { param: 'doc' });
    this.#admitAnother();
    if (this.#live.size >= LIMITS.documentsMax + UNWRITTEN_MAX) {
      throw new Failure('UNAVAILABLE', { message: 'Too many documents are open.', retryAfterS: 1 });
    }
    this.#live.set(name, new LiveDocument(name, this));
  }

  #admitAnother(): void {
    if (this.#known().size >= LIMITS.documentsMax) throw new Failure('DOCUMENT_LIMIT_EXCEEDED', { param: 'doc' });
  }

  async #readRecords(): Promise<void> {
    const stored = await this.#store.readDocuments(this.#ledger.id, this.#ledger.epoch);
    if (stored === null) throw new Failure('OWNER_MOVED', { retryAfterS: 1 });
    this.#records = new Map(stored.map((each) => [each.name, new DocumentRecord(each)]));
  }

  /** Callers prepare again afterwards and find it in memory, unless it changed meanwhile. Never puts an empty document in place of a stored one. */
  async #load(record: DocumentRecord): Promise<void> {
    const { name, seq } = record;
    const content = await this.#store.readDocument(this.#ledger.id, this.#ledger.epoch, name);
    if (content === null) throw new Failure('OWNER_MOVED', { retryAfterS: 1 });
    if (this.#records?.get(name) !== record || record.seq !== seq) return;
    if (content.seq !== seq) throw new Error(`the document ${name} is stored up to ${content.seq} and not to ${seq}`);
    const doc = new LiveDocument(name, this, content);
    if (doc.leftOut > 0) {
      const fields = { artifactId: this.#ledger.id, document: name, updates: doc.leftOut };
      this.#log?.error(fields, 'stored updates of a document cannot be applied, it is shown without them');
    }
    this.#live.set(name, doc);
    Object.assign(record, content.stored ?? sizesOf(content));
    record.storedBytes = record.snapshotBytes + record.updateBytes;
    if (isDue(record)) this.#due.add(record);
  }

  #end(name: string, why: DocumentEnd): void {
    const doc = this.#live.get(name);
    if (doc === undefined) return;
    this.#live.delete(name);
    doc.end(why);
    this.heard(doc);
  }

  /** The actor takes no more turns. */
  #over(): void {
    this.#release = undefined;
    const docs = [...this.#live.values()];
    this.#live.clear();
    for (const doc of docs) doc.end('moved');
  }

  #compactDue(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const record of this.#due) {
      if (record.compacting === 'running' || nowMs - record.compactedAtMs < gapMs(record)) continue;
      this.#due.delete(record);
      this.#compact(record);
    }
  }

  #compact(record: DocumentRecord): void {
    if (this.#upkeep === undefined || record.compacting === 'running') return;
    record.compacting = 'running';
    record.compactedAtMs = this.#clock.monotonicMs();
    void this.#upkeep.compact(this.#ledger.id, record.name).then((done) => this.#compacted(record, done));
  }

  #compacted(record: DocumentRecord, done: Compacted | null): void {
    record.compacting = done === null ? 'failed' : 'no';
    if (done !== null) {
      record.storedBytes = Math.max(0, record.storedBytes - done.freedBytes);
      record.snapshotBytes = done.snapshotBytes;
      record.updates = Math.max(0, record.updates - done.updates);
      record.updateBytes = Math.max(0, record.updateBytes - done.updateBytes);
    }
    if (isDue(record) && this.#records?.get(record.name) === record) this.#due.add(record);
  }
}

function sizesOf({ snapshot, updates }: StoredDocumentContent): StoredSizes {
  const updateBytes = updates.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return { snapshotBytes: snapshot?.byteLength ?? 0, updates: updates.length, updateBytes };
}

function infoOf({ name, seq, storedBytes, createdAtMs, updatedAtMs }: DocumentRecord): DocumentInfo {
  return { name, seq, sizeBytes: storedBytes, createdAtMs, updatedAtMs };
}

function isDue({ updates, updateBytes, snapshotBytes }: DocumentRecord): boolean {
  return (
    updates >= Math.max(COMPACT_UPDATES, snapshotBytes / SNAPSHOT_BYTES_AN_UPDATE) ||
    updateBytes >= Math.min(COMPACT_BYTES_MAX, Math.max(COMPACT_BYTES, snapshotBytes))
  );
}

function gapMs({ compacting, updates, updateBytes }: DocumentRecord): number {
  if (compacting === 'failed') return COMPACT_RETRY_MS;
  return updates < COMPACT_UPDATES_MAX && updateBytes < COMPACT_BYTES_MAX ? COMPACT_GAP_MS : 0;
}

function isWorthItAsleep({ updates, snapshotBytes }: DocumentRecord): boolean {
  return updates > Math.min(ASLEEP_UPDATES, Math.max(1, snapshotBytes / ASLEEP_SNAPSHOT_BYTES_AN_UPDATE));
}
