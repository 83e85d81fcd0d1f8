/** Blobs: what an artifact knows of its files; their bytes are in the object store. Source: contract.md §6. */
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type Conditions, checkConditions } from '../json/json-conditions.ts';
import type { Ledger } from '../runtime/live-kind.ts';
import type { Clock } from '../runtime/ports.ts';
import type { BlobChange, StoredBlob } from './changes.ts';

// A record with its strings and its place in the map, measured by test/actors/footprint.test.ts.
const BLOB_BYTES = 700;
const PART_BYTES = 150;

export interface BlobsDeps {
  readonly ledger: Ledger<BlobChange>;
  readonly clock: Clock;
}

export interface NewBlob {
  readonly id: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Lowercase hex. */
  readonly sha256: string;
  readonly createdBy: string | null;
}

/** Where a page begins: after the blob of this time and id. */
export interface BlobPosition {
  readonly createdAtMs: number;
  readonly id: string;
}

export interface BlobPage {
  readonly blobs: readonly StoredBlob[];
  /** Number of blobs on all pages. */
  readonly count: number;
  readonly hasMore: boolean;
}

export class BlobsPart {
  readonly #ledger: Ledger<BlobChange>;
  readonly #clock: Clock;
  /** In the order in which they were made, which is that of their times. */
  readonly #blobs = new Map<string, StoredBlob>();
  #usedBytes = 0;
  #lastCreatedAtMs = 0;

  constructor(deps: BlobsDeps) {
    this.#ledger = deps.ledger;
    this.#clock = deps.clock;
  }

  /** `stored` in order of time. */
  restore(stored: readonly StoredBlob[]): void {
    for (const blob of stored) this.#hold(blob);
  }

  /** An estimate from above, in bytes of memory. */
  get residentBytes(): number {
    return PART_BYTES + this.#blobs.size * BLOB_BYTES;
  }

  get count(): number {
    return this.#blobs.size;
  }

  /** Total bytes of all files. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  get availableBytes(): number {
    return Math.max(0, LIMITS.blobsBytesMax - this.#usedBytes);
  }

  /** Throws BLOB_NOT_FOUND. */
  get(id: string): StoredBlob {
    const blob = this.#blobs.get(id);
    if (blob === undefined) throw new Failure('BLOB_NOT_FOUND', { param: 'blobId' });
    return blob;
  }

  page(after: BlobPosition | undefined, limit: number): BlobPage {
    const blobs: StoredBlob[] = [];
    let hasMore = false;
    for (const blob of this.#blobs.values()) {
      if (after !== undefined && !isAfter(blob, after)) continue;
      hasMore = blobs.length === limit;
      if (hasMore) break;
      blobs.push(blob);
    }
    return { blobs, count: this.#blobs.size, hasMore };
  }

  /** Throws FILE_TOO_LARGE, BLOB_LIMIT_EXCEEDED or STORAGE_LIMIT_EXCEEDED where a file of this size has no room. */
  assertRoom(sizeBytes: number): void {
    if (sizeBytes > LIMITS.blobBytesMax) throw fileTooLarge(sizeBytes);
    if (this.#blobs.size >= LIMITS.blobsMax) throw new Failure('BLOB_LIMIT_EXCEEDED');
    if (sizeBytes > this.availableBytes) {
      throw new Failure('STORAGE_LIMIT_EXCEEDED', {
        message: `The artifact's blobs may have ${LIMITS.blobsBytesMax} bytes and have ${this.#usedBytes}; ${sizeBytes} more do not fit.`,
        hint: 'Delete blobs first.',
      });
    }
  }

  /** Records a file whose bytes are stored. Throws as `assertRoom` does. */
  add({ createdBy, ...blob }: NewBlob): StoredBlob {
    // The second use of an upload token whose first one was committed after its caller had been told that it failed.
    const known = this.#blobs.get(blob.id);
    if (known !== undefined) return known;
    this.assertRoom(blob.sizeBytes);
    this.#ledger.admit();
    const added = { ...blob, createdAtMs: Math.max(this.#clock.nowMs(), this.#lastCreatedAtMs + 1) };
    const { id: blobId, ...record } = added;
    this.#ledger.record({ kind: 'blob.put', seq: this.#ledger.seq + 1, blobId, ...record, createdBy });
    this.#hold(added);
    return added;
  }

  /** Throws BLOB_NOT_FOUND, VERSION_CONFLICT. The bytes stay until no blob and no page names them. */
  delete(id: string, conditions: Conditions = {}): void {
    const blob = this.get(id);
    checkConditions({ etag: blobEtag(blob) }, conditions);
    this.#ledger.admit();
    this.#ledger.record({ kind: 'blob.delete', seq: this.#ledger.seq + 1, blobId: id, atMs: this.#clock.nowMs() });
    this.#blobs.delete(id);
    this.#usedBytes -= blob.sizeBytes;
  }

  #hold(blob: StoredBlob): void {
    this.#blobs.set(blob.id, blob);
    this.#usedBytes += blob.sizeBytes;
    this.#lastCreatedAtMs = Math.max(this.#lastCreatedAtMs, blob.createdAtMs);
  }
}

/** ETag of a blob's metadata, which never changes. Quotes included. */
export function blobEtag({ createdAtMs }: StoredBlob): string {
  return `"${createdAtMs.toString(36)}"`;
}

function fileTooLarge(sizeBytes: number): Failure {
  return new Failure('FILE_TOO_LARGE', {
    message: `The file has ${sizeBytes} bytes; a blob may have ${LIMITS.blobBytesMax}.`,
    hint: 'A blob may have 50 MB.',
  });
}

function isAfter(blob: StoredBlob, position: BlobPosition): boolean {
  return blob.createdAtMs > position.createdAtMs || (blob.createdAtMs === position.createdAtMs && blob.id > position.id);
}
