/** An LRU cache of file contents by digest. Concurrent readers of a missing file share one read of the object store. */
import { LRUCache } from 'lru-cache';
import type { ObjectStore } from '../storage/objects.ts';

/** Room for a few of the largest files (25 MB) beside thousands of ordinary ones. */
const HOT_BYTES_MAX = 96 * 1024 * 1024;

export class HotFiles {
  readonly #objects: ObjectStore;
  readonly #held: LRUCache<string, Buffer>;
  readonly #reading = new Map<string, Promise<Buffer>>();

  constructor(objects: ObjectStore, bytesMax = HOT_BYTES_MAX) {
    this.#objects = objects;
    // An empty file costs an entry too, and lru-cache refuses a size of 0.
    this.#held = new LRUCache({ maxSize: bytesMax, sizeCalculation: (bytes) => bytes.length + 1 });
  }

  /** By lowercase hex digest. Rejects with what the object store throws, `ObjectMissing` among it. */
  get(sha256: string): Buffer | Promise<Buffer> {
    return this.#held.get(sha256) ?? this.#reading.get(sha256) ?? this.#read(sha256);
  }

  /** Reads the cache only. */
  peek(sha256: string): Buffer | undefined {
    return this.#held.get(sha256);
  }

  /** Caches derived bytes: a compressed form, a page with added tags. */
  keep(sha256: string, bytes: Buffer): void {
    this.#held.set(sha256, bytes);
  }

  #read(sha256: string): Promise<Buffer> {
    const read = this.#objects
      .read(sha256)
      .then((bytes) => {
        this.#held.set(sha256, bytes);
        return bytes;
      })
      .finally(() => this.#reading.delete(sha256));
    this.#reading.set(sha256, read);
    return read;
  }
}
