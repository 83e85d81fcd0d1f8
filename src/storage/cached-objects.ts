/**
 * Keeps copies of objects that are read from a distant store on the node's own disk. A content is named by its digest, so a copy is never
 * stale. Who may read it has been decided before anybody asks here. A cache that fails costs a read of the store and nothing else.
 */
import { type CacheOptions, Copies } from './object-copies.ts';
import { ObjectFetch } from './object-fetch.ts';
import { assertDigest, type ObjectStore } from './objects.ts';
import { readFileRange } from './read-file-range.ts';

export interface CachedObjects extends ObjectStore {
  readonly figures: CacheFigures;
}

interface CacheFigures {
  /** Reads that a copy answered. */
  hits: number;
  /** Reads that went to the store, or joined one that was under way. */
  misses: number;
  bytes(): number;
}

/** `store` bounds the time of each of its reads. */
export function cachedObjects(store: ObjectStore, options: CacheOptions): CachedObjects {
  const copies = new Copies(options);
  const fetches = new Map<string, ObjectFetch>();
  const reads = new Map<string, Promise<Buffer>>();
  const figures = { hits: 0, misses: 0, bytes: () => copies.bytes };

  const fetchOf = (sha256: string, end: number): ObjectFetch | undefined => {
    const key = `${sha256} ${end}`;
    const known = fetches.get(key);
    if (known !== undefined) return known;
    if (!copies.reserve(end + 1)) return undefined;
    const fetch = new ObjectFetch({ sha256, sizeBytes: end + 1, store, copies });
    fetches.set(key, fetch);
    void fetch.over.finally(() => fetches.delete(key));
    return fetch;
  };

  const readWhole = async (sha256: string): Promise<Buffer> => {
    const copy = await copies.read(sha256);
    if (copy !== undefined) {
      figures.hits += 1;
      return copy;
    }
    figures.misses += 1;
    const bytes = await store.read(sha256);
    // Not awaited: the reader needs the bytes and not the copy.
    void copies.admit(sha256, bytes);
    return bytes;
  };

  async function* readRange(sha256: string, start: number, end: number): AsyncGenerator<Uint8Array> {
    assertDigest(sha256);
    const file = end < start ? undefined : await copies.open(sha256);
    if (file !== undefined) {
      figures.hits += 1;
      yield* readFileRange(file, start, end);
      return;
    }
    if (end >= start) figures.misses += 1;
    // Only a read from the beginning can turn out to be the whole object.
    const fetch = start === 0 && end >= 0 ? fetchOf(sha256, end) : undefined;
    yield* fetch === undefined ? store.readRange(sha256, start, end) : fetch.follow();
  }

  return {
    put: (sha256, bytes) => store.put(sha256, bytes),
    putFile: (sha256, path, sizeBytes) => store.putFile(sha256, path, sizeBytes),
    // The store itself is asked: a copy does not prove that it still has the object.
    has: (sha256) => store.has(sha256),
    read(sha256) {
      assertDigest(sha256);
      const shared = reads.get(sha256) ?? readWhole(sha256).finally(() => reads.delete(sha256));
      reads.set(sha256, shared);
      return shared;
    },
    readRange,
    async delete(sha256) {
      await store.delete(sha256);
      await copies.drop(sha256);
    },
    probe: () => store.probe(),
    async ready() {
      await store.ready();
      await copies.load();
    },
    figures,
    ...(store.direct !== undefined && { direct: store.direct }),
  };
}
