/** Bounded caches of values from storage; a read that races a change is repeated. */

interface Slot<V> {
  readonly value: V;
  /** Whether it was read since the clock hand last passed. */
  used: boolean;
}

/**
 * A bounded map with the clock eviction algorithm. A hit costs one look-up and one flag; an LRU list, which moves its entry at each hit,
 * cost twice as much on the path of every request.
 */
export class BoundedMap<K, V> {
  readonly #slots = new Map<K, Slot<V>>();
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get(key: K): V | undefined {
    const slot = this.#slots.get(key);
    if (slot === undefined) return undefined;
    slot.used = true;
    return slot.value;
  }

  set(key: K, value: V): void {
    this.#slots.delete(key);
    if (this.#slots.size >= this.#entriesMax) this.#makeRoom();
    this.#slots.set(key, { value, used: false });
  }

  delete(key: K): void {
    this.#slots.delete(key);
  }

  clear(): void {
    this.#slots.clear();
  }

  deleteWhere(isMeant: (value: V) => boolean): void {
    for (const [key, { value }] of this.#slots) if (isMeant(value)) this.#slots.delete(key);
  }

  /** Evicts the oldest entry that was not read; read ones before it get another round. Passing a slot clears its flag, so the loop ends. */
  #makeRoom(): void {
    for (const [key, slot] of this.#slots) {
      this.#slots.delete(key);
      if (!slot.used) return;
      slot.used = false;
      this.#slots.set(key, slot);
    }
  }
}

export class ReadCache<K extends string, V extends object> {
  readonly #entries: BoundedMap<K, V>;
  readonly #loading = new Map<K, Promise<V | null>>();
  readonly #load: (key: K) => Promise<V | null>;

  /** `load` returns null for a missing value, which is not cached. */
  constructor(options: { readonly entriesMax: number; readonly load: (key: K) => Promise<V | null> }) {
    this.#entries = new BoundedMap(options.entriesMax);
    this.#load = options.load;
  }

  /** Synchronous for a cached value. Concurrent first callers share one read. */
  get(key: K): V | Promise<V | null> {
    return this.#entries.get(key) ?? this.#loading.get(key) ?? this.#start(key);
  }

  /** Call it after the change has committed. A read that began before is repeated, so that its callers get the new value. */
  invalidate(key: K): void {
    this.#entries.delete(key);
    this.#loading.delete(key);
  }

  /** The same for every value that `isMeant` names. Reads under way are repeated, because it is not known yet what they read. */
  invalidateWhere(isMeant: (value: V) => boolean): void {
    this.#entries.deleteWhere(isMeant);
    this.#loading.clear();
  }

  /** The same for all values. */
  clear(): void {
    this.#entries.clear();
    this.#loading.clear();
  }

  #start(key: K): Promise<V | null> {
    const read: Promise<V | null> = this.#load(key).then(
      (value) => {
        // The value changed during the read. Who asked may not act on the state before, such as a token that is revoked by now.
        if (this.#loading.get(key) !== read) return this.get(key);
        this.#loading.delete(key);
        if (value !== null) this.#entries.set(key, value);
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
