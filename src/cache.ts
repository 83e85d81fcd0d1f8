/** Bounded caches of things read from storage, safe against a read racing a change. */

interface Slot<V> {
  readonly value: V;
  /** Asked for since the hand last came by. */
  used: boolean;
}

/**
 * A map that forgets what nobody has asked for lately once it is full (the clock algorithm). A hit is one look-up and one flag:
 * on the way of every request an LRU list, which moves its entry at each hit, cost twice as much.
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

  /** The oldest that was not asked for goes; those before it that were get another round. It ends: a passed slot counts as not asked for. */
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

  /** `load` answers null for what does not exist; that is not remembered. */
  constructor(options: { readonly entriesMax: number; readonly load: (key: K) => Promise<V | null> }) {
    this.#entries = new BoundedMap(options.entriesMax);
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
