/** Blobs: what an artifact knows of its files; their bytes are in the object store. Source: contract.md §6. */
import { Failure } from '../protocol/errors.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { Ledger } from './json-part.ts';
import type { Clock, StoredBlob } from './ports.ts';

// A record with its strings and its place in the map, measured by test/actors/footprint.test.ts.
const BLOB_BYTES = 700;
const PART_BYTES = 150;

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
  /** On all pages. */
  readonly count: number;
  readonly hasMore: boolean;
}

export class BlobsPart {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  /** In the order in which they were made, which is that of their times. */
  readonly #blobs = new Map<string, StoredBlob>();
  #usedBytes = 0;
  #lastCreatedAtMs = 0;

  constructor(deps: { readonly ledger: Ledger; readonly clock: Clock }) {
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

  /** What the files have together. */
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
    this.assertRoom(blob.sizeBytes);
    this.#ledger.admit();
    const added = { ...blob, createdAtMs: Math.max(this.#clock.nowMs(), this.#lastCreatedAtMs + 1) };
    const { id: blobId, ...record } = added;
    this.#ledger.record({ kind: 'blob.put', seq: this.#ledger.seq + 1, blobId, ...record, createdBy });
    this.#hold(added);
    return added;
  }

  /** Throws BLOB_NOT_FOUND. The bytes stay until no blob and no page names them. */
  delete(id: string): void {
    const blob = this.get(id);
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

function fileTooLarge(sizeBytes: number): Failure {
  return new Failure('FILE_TOO_LARGE', {
    message: `The file has ${sizeBytes} bytes; a blob may have ${LIMITS.blobBytesMax}.`,
    hint: 'A blob may have 50 MB.',
  });
}

function isAfter(blob: StoredBlob, position: BlobPosition): boolean {
  return blob.createdAtMs > position.createdAtMs || (blob.createdAtMs === position.createdAtMs && blob.id > position.id);
}
