/** A bounded cache of things read from storage that is safe against a read racing a change. */
import { LRUCache } from 'lru-cache';

export class ReadCache<K extends string, V extends object> {
  readonly #entries: LRUCache<K, V>;
  readonly #loading = new Map<K, Promise<V | null>>();
  readonly #load: (key: K) => Promise<V | null>;

  /** `load` answers null for what does not exist; that is not remembered. */
  constructor(options: { readonly entriesMax: number; readonly ttlMs?: number; readonly load: (key: K) => Promise<V | null> }) {
    this.#entries = new LRUCache({ max: options.entriesMax, ...(options.ttlMs ? { ttl: options.ttlMs } : {}) });
    this.#load = options.load;
  }

  /** At once when it is held; concurrent first callers share one read. */
  get(key: K): V | Promise<V | null> {
    return this.#entries.get(key) ?? this.#loading.get(key) ?? this.#start(key);
  }

  /** Call after the change has been committed. A read that began before it is answered but not kept. */
  invalidate(key: K): void {
    this.#entries.delete(key);
    this.#loading.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#loading.clear();
  }

  #start(key: K): Promise<V | null> {
    const read: Promise<V | null> = this.#load(key).then(
      (value) => {
        if (this.#loading.get(key) === read) {
          this.#loading.delete(key);
          if (value !== null) this.#entries.set(key, value);
        }
        return value;
      },
      (error) => {
        if (this.#loading.get(key) === read) this.#loading.delete(key);
        throw error;
      },
    );
    this.#loading.set(key, read);
    return read;
  }
}
