/** Collaborative documents: the part of an artifact that knows which there are, and holds those in memory that somebody works on. */
import { Failure } from '../protocol/errors.ts';
import { LIMITS } from '../protocol/limits.ts';
import { documentName } from '../protocol/schemas/document.ts';
import type { Ledger } from './json-part.ts';
import { type DocumentEnd, type DocumentHost, LiveDocument } from './live-document.ts';
import type { ArtifactStore, Clock, Compacted, DocumentUpkeep, Log, StoredDocument } from './ports.ts';

/** What this part needs of its actor. */
export interface DocumentsLedger extends Ledger {
  readonly epoch: number;
  readonly state: 'live' | 'leaving' | 'gone';
  /** Settles when everything that is pending now is committed, or when it never will be. */
  settled(): Promise<void>;
  hold(onOver: () => void): () => void;
}

export interface DocumentInfo {
  readonly name: string;
  /** Of its last update. */
  readonly seq: number;
  /** Of what is stored of it. */
  readonly sizeBytes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What is known of a document that is stored. */
class DocumentRecord implements StoredDocument {
  readonly name: string;
  readonly createdAtMs: number;
  seq: number;
  storedBytes: number;
  updatedAtMs: number;
  /** Of the snapshot, and of what came since; counted while the document is in memory. */
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
// Documents that nobody has written yet and somebody looks at: UNAVAILABLE.
const UNWRITTEN_MAX = 1000;

// When the log of a document is merged into its snapshot. A snapshot is written whole: a large one is worth it after more updates only.
const COMPACT_UPDATES = 500;
const COMPACT_BYTES = 256 * 1024;
const COMPACT_BYTES_MAX = 4 * 1024 * 1024;
const SNAPSHOT_BYTES_AN_UPDATE = 200;
// Between two of one document, unless so much has come before: whoever opens it next applies all of that.
const COMPACT_GAP_MS = 5000;
const COMPACT_UPDATES_MAX = 10_000;
const COMPACT_RETRY_MS = 30_000;
// When it falls asleep fewer are worth it: nobody waits.
const ASLEEP_UPDATES = 50;
const ASLEEP_SNAPSHOT_BYTES_AN_UPDATE = 20_000;

export class DocumentsPart implements DocumentHost {
  readonly #ledger: DocumentsLedger;
  readonly #clock: Clock;
  readonly #store: Pick<ArtifactStore, 'readDocuments' | 'readDocument'>;
  readonly #upkeep: DocumentUpkeep | undefined;
  readonly #log: Log | undefined;
  /** Of what is stored, or will be; read when it is first asked for. */
  #records: Map<string, DocumentRecord> | undefined;
  #reading: Promise<void> | undefined;
  /** In memory. */
  readonly #live = new Map<string, LiveDocument>();
  /** Loads under way: two who come at once share one. */
  readonly #loading = new Map<string, Promise<void>>();
  /** By name, the drops that are not committed yet: what comes after them is in another commit. */
  readonly #dropped = new Map<string, number>();
  readonly #due = new Set<DocumentRecord>();
  #release: (() => void) | undefined;

  constructor(deps: {
    ledger: DocumentsLedger;
    clock: Clock;
    store: Pick<ArtifactStore, 'readDocuments' | 'readDocument'>;
    upkeep: DocumentUpkeep | undefined;
    log: Log | undefined;
  }) {
    this.#ledger = deps.ledger;
    this.#clock = deps.clock;
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
    // Nothing is known of it that is not committed: what is read must be all of it.
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

  /** Undefined where nothing was ever written to it; after `prepareList`. */
  find(name: string): DocumentInfo | undefined {
    const record = this.#known().get(name);
    return record && infoOf(record);
  }

  /** Deletes it with its versions; whoever has it open is told. After `prepareList`. Throws DOCUMENT_NOT_FOUND, UNAVAILABLE. */
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

  /** At a sweep of the runtime: what nobody has open or has used since the last one leaves memory. */
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

  /** Nobody has written it yet. */
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

  /** Whoever waited prepares again, and finds it in memory unless it was changed meanwhile. Never leaves an empty document where one is stored. */
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
    record.snapshotBytes = content.snapshot?.byteLength ?? 0;
    record.updates = content.updates.length;
    record.updateBytes = content.updates.reduce((sum, { byteLength }) => sum + byteLength, 0);
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
