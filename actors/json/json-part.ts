/** JSON keys: the part of an actor that holds named JSON texts. Source: contract.md §4. */
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { Ledger } from '../runtime/live-kind.ts';
import type { Clock } from '../runtime/ports.ts';
import { COLD_VALUE_BYTES, type JsonChange, type JsonReads, type StoredKey } from './changes.ts';
import { type Conditions, checkConditions } from './json-conditions.ts';
import { assertStorable, type Spend } from './json-patch.ts';
import { jsonText, parseJson } from './json-text.ts';

export interface JsonDeps {
  readonly ledger: Ledger<JsonChange>;
  readonly clock: Clock;
  readonly store: JsonReads;
}

// Cache limit for texts that can be read back (more than COLD_VALUE_BYTES each); the most recently used stay.
const WARM_BYTES_MAX = 8 * 1024 * 1024;
// A page with values ends early at this size: 100 keys of 1 MB would be too large for a page.
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
// One entry with the headers of its strings and its slot in the map, measured by test/actors/runtime/footprint.test.ts.
const ENTRY_BYTES = 300;
const PART_BYTES = 500;
// What a patch costs of a turn's work beside parsing and writing the value.
const PATCH_BYTES = 200;
// Joining texts takes a small part of the time that parsing them takes.
const READ_SHARE = 8;

/** One key. Its ETag and time are computed on first use, because most keys in memory are never read. */
export class JsonEntry {
  readonly key: string;
  /** The JSON text as it was sent; null while it is only in the store. */
  text: string | null;
  readonly sizeBytes: number;
  readonly seq: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number | null;
  #etag: string | undefined;
  #updatedAt: string | undefined;

  constructor(stored: Omit<StoredKey, 'value'> & { readonly value: string | null }) {
    this.key = stored.key;
    this.text = stored.value;
    this.sizeBytes = stored.sizeBytes;
    this.seq = stored.seq;
    this.createdAtMs = stored.createdAtMs;
    this.updatedAtMs = stored.updatedAtMs;
    this.expiresAtMs = stored.expiresAtMs;
  }

  /** Quotes included. */
  get etag(): string {
    this.#etag ??= `"${this.seq.toString(36)}"`;
    return this.#etag;
  }

  /** RFC 3339, UTC, with milliseconds. */
  get updatedAt(): string {
    this.#updatedAt ??= new Date(this.updatedAtMs).toISOString();
    return this.#updatedAt;
  }

  /** The text of an entry; `warm` must have been called before the turn. */
  get warmText(): string {
    if (this.text === null) throw new Error(`the text of ${this.key} is not in memory`);
    return this.text;
  }
}

export interface Written {
  readonly entry: JsonEntry;
  readonly created: boolean;
}

export interface WriteOptions extends Conditions {
  /** Seconds until the key expires. */
  readonly ttlS?: number | undefined;
}

export interface PageQuery {
  readonly prefix: string;
  /** Keys after this one; undefined for the first page. */
  readonly after: string | undefined;
  readonly limit: number;
  /** Whether to include the texts. */
  readonly values: boolean;
  /** Whether to include keys that begin with `_`. */
  readonly reserved: boolean;
}

export interface Page {
  readonly entries: readonly JsonEntry[];
  /** Live keys that match, on all pages. */
  readonly count: number;
  readonly hasMore: boolean;
}

export class JsonPart {
  readonly #ledger: Ledger<JsonChange>;
  readonly #clock: Clock;
  readonly #store: JsonReads;
  readonly #entries = new Map<string, JsonEntry>();
  /** Texts in memory that can be evicted, least recently used first. */
  readonly #warm = new Set<JsonEntry>();
  #warmBytes = 0;
  #bytes = PART_BYTES;
  /** Texts that are being read back: whoever needs one meanwhile shares that read. */
  #reading: Map<JsonEntry, Promise<string | null>> | undefined;
  /** The keys in order; built when a list needs it. */
  #order: string[] | undefined;
  /** Lower bound of the next expiry. */
  #nextExpiryMs = Number.POSITIVE_INFINITY;
  #lastUpdateMs = 0;

  constructor(deps: JsonDeps) {
    this.#ledger = deps.ledger;
    this.#clock = deps.clock;
    this.#store = deps.store;
  }

  restore(keys: readonly StoredKey[]): void {
    for (const stored of keys) this.#hold(new JsonEntry(stored));
  }

  /** An estimate from above, in bytes of memory. */
  get residentBytes(): number {
    return this.#bytes;
  }

  /** Throws KEY_NOT_FOUND. The text is in memory only after `warm` has settled. */
  get(key: string): JsonEntry {
    const entry = this.#live(key);
    if (entry === undefined) throw new Failure('KEY_NOT_FOUND', { param: 'key' });
    this.#touch(entry);
    return entry;
  }

  /** A key whose text the turn is going to parse. Throws KEY_NOT_FOUND, REQUEST_TOO_EXPENSIVE. */
  getToParse(key: string): JsonEntry {
    const entry = this.get(key);
    this.#ledger.spend(entry.sizeBytes, 'json.get', 'path');
    return entry;
  }

  /** Loads the text of a key that was evicted; undefined when nothing has to be loaded. */
  warm(key: string): Promise<void> | undefined {
    const entry = this.#live(key);
    return entry === undefined || entry.text !== null ? undefined : this.#readBack([entry]);
  }

  /** Loads the texts of a page with values. */
  warmPage(query: PageQuery): Promise<void> | undefined {
    if (!query.values) return undefined;
    const cold = this.#page(query).entries.filter((entry) => entry.text === null);
    return cold.length === 0 ? undefined : this.#readBack(cold);
  }

  page(query: PageQuery): Page {
    const page = this.#page(query);
    if (query.values) {
      let bytes = 0;
      for (const entry of page.entries) {
        this.#touch(entry);
        bytes += entry.sizeBytes;
      }
      this.#ledger.spend(bytes / READ_SHARE, 'json.list');
    }
    return page;
  }

  /** Stores a text. Without `ttlS` the key does not expire. */
  put(key: string, text: string, options: WriteOptions): Written {
    const current = this.#live(key);
    checkConditions(current, options);
    return this.#write(key, current, text, options.ttlS === undefined ? null : this.#clock.nowMs() + options.ttlS * 1000);
  }

  /**
   * Replaces the value with the result of `change`, which gets undefined for an absent key and may modify its argument. Without `ttlS` the
   * expiry stays.
   * Rethrows what `change` throws, and throws REQUEST_TOO_EXPENSIVE, with nothing changed.
   */
  patch(key: string, options: WriteOptions, change: (value: unknown, spend: Spend) => unknown): Written {
    return this.#patched(key, options, (current) => {
      const spend: Spend = (bytes, param) => this.#ledger.spend(bytes, 'json.patch', param);
      const patched = change(current === undefined ? undefined : parseJson(current), spend);
      assertStorable(patched);
      return jsonText(patched);
    });
  }

  /** As `patch`, with a change of the text, which need not be parsed for it. */
  patchText(key: string, options: WriteOptions, change: (text: string | undefined) => string): Written {
    return this.#patched(key, options, change);
  }

  /** Throws KEY_NOT_FOUND or VERSION_CONFLICT. */
  delete(key: string, conditions: Conditions): void {
    const current = this.#live(key);
    checkConditions(current, conditions);
    if (current === undefined) throw new Failure('KEY_NOT_FOUND', { param: 'key' });
    this.#ledger.admit();
    this.#purge();
    this.#remove(current);
  }

  /** Returns the number of deleted keys. `reserved`: includes those that begin with `_`. */
  deleteAll(reserved: boolean): number {
    this.#ledger.admit();
    this.#purge();
    const doomed = [...this.#entries.values()].filter((entry) => reserved || !isReserved(entry.key));
    for (const entry of doomed) this.#remove(entry);
    return doomed.length;
  }

  /** Evicts texts until the rest is within the budget. Uncommitted texts stay, because the store does not have them yet. */
  trim(): void {
    if (this.#warmBytes <= WARM_BYTES_MAX) return;
    for (const entry of this.#warm) {
      if (entry.seq > this.#ledger.committedSeq) continue;
      this.#chill(entry);
      if (this.#warmBytes <= WARM_BYTES_MAX) return;
    }
  }

  #patched(key: string, options: WriteOptions, change: (text: string | undefined) => string): Written {
    const current = this.#live(key);
    checkConditions(current, options);
    this.#ledger.spend(PATCH_BYTES + (current?.sizeBytes ?? 0), 'json.patch', 'key');
    const text = change(current?.warmText);
    const expiresAtMs = options.ttlS === undefined ? (current?.expiresAtMs ?? null) : this.#clock.nowMs() + options.ttlS * 1000;
    return this.#write(key, current, text, expiresAtMs);
  }

  #live(key: string): JsonEntry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.expiresAtMs === null) return entry;
    return entry.expiresAtMs > this.#clock.nowMs() ? entry : undefined;
  }

  #write(key: string, current: JsonEntry | undefined, text: string, expiresAtMs: number | null): Written {
    const sizeBytes = Buffer.byteLength(text);
    if (sizeBytes > LIMITS.jsonValueBytesMax) throw new Failure('VALUE_TOO_LARGE');
    if (current === undefined && this.#liveCount() >= LIMITS.jsonKeysMax) throw new Failure('KEY_LIMIT_EXCEEDED');
    this.#ledger.admit();
    this.#purge();
    // One clock for all keys of the artifact, so that the time of a key that is deleted and created again still increases.
    const updatedAtMs = Math.max(this.#clock.nowMs(), this.#lastUpdateMs + 1);
    const createdAtMs = current?.createdAtMs ?? updatedAtMs;
    const seq = this.#ledger.seq + 1;
    this.#ledger.record({ seq, kind: 'json.put', key, value: text, createdAtMs, updatedAtMs, expiresAtMs });
    if (current !== undefined) this.#letGo(current);
    const entry = new JsonEntry({ key, value: text, sizeBytes, seq, createdAtMs, updatedAtMs, expiresAtMs });
    this.#hold(entry);
    this.trim();
    return { entry, created: current === undefined };
  }

  /** Expired keys count as absent; the next change deletes them. */
  #purge(): void {
    const now = this.#clock.nowMs();
    if (now < this.#nextExpiryMs) return;
    let next = Number.POSITIVE_INFINITY;
    for (const entry of [...this.#entries.values()]) {
      if (entry.expiresAtMs === null) continue;
      if (entry.expiresAtMs <= now) this.#remove(entry);
      else next = Math.min(next, entry.expiresAtMs);
    }
    this.#nextExpiryMs = next;
  }

  #liveCount(): number {
    const now = this.#clock.nowMs();
    if (now < this.#nextExpiryMs) return this.#entries.size;
    let count = 0;
    for (const entry of this.#entries.values()) if (entry.expiresAtMs === null || entry.expiresAtMs > now) count += 1;
    return count;
  }

  #remove(entry: JsonEntry): void {
    this.#ledger.record({ seq: this.#ledger.seq + 1, kind: 'json.delete', key: entry.key, atMs: this.#clock.nowMs() });
    this.#letGo(entry);
    this.#entries.delete(entry.key);
    this.#order = undefined;
  }

  /** Adds an entry in place of one of the same key that was removed. */
  #hold(entry: JsonEntry): void {
    if (!this.#entries.has(entry.key)) this.#order = undefined;
    this.#entries.set(entry.key, entry);
    this.#bytes += ENTRY_BYTES + entry.key.length;
    this.#lastUpdateMs = Math.max(this.#lastUpdateMs, entry.updatedAtMs);
    if (entry.expiresAtMs !== null) this.#nextExpiryMs = Math.min(this.#nextExpiryMs, entry.expiresAtMs);
    if (entry.text !== null) this.#enterText(entry, entry.text);
  }

  #letGo(entry: JsonEntry): void {
    this.#bytes -= ENTRY_BYTES + entry.key.length;
    if (entry.text !== null) this.#chill(entry);
  }

  #enterText(entry: JsonEntry, text: string): void {
    entry.text = text;
    this.#bytes += memoryBytes(entry, text);
    if (entry.sizeBytes <= COLD_VALUE_BYTES) return;
    this.#warm.add(entry);
    this.#warmBytes += entry.sizeBytes;
  }

  #chill(entry: JsonEntry): void {
    if (entry.text === null) return;
    this.#bytes -= memoryBytes(entry, entry.text);
    entry.text = null;
    if (this.#warm.delete(entry)) this.#warmBytes -= entry.sizeBytes;
  }

  #touch(entry: JsonEntry): void {
    if (this.#warm.delete(entry)) this.#warm.add(entry);
  }

  async #readBack(cold: readonly JsonEntry[]): Promise<void> {
    const texts = await Promise.all(cold.map((entry) => this.#textOf(entry)));
    cold.forEach((entry, index) => {
      // If the entry was changed, deleted or loaded meanwhile, the newer state wins.
      if (entry.text !== null || this.#entries.get(entry.key) !== entry) return;
      const text = texts[index] ?? null;
      if (text === null) throw new Failure('OWNER_MOVED', { retryAfterS: 1 });
      this.#enterText(entry, text);
    });
    this.#trimAllBut(cold);
  }

  #textOf(entry: JsonEntry): Promise<string | null> {
    const known = this.#reading?.get(entry);
    if (known !== undefined) return known;
    // Made when it is needed: most actors never read a text back, and each of them is held in little memory.
    const reading = this.#reading ?? new Map<JsonEntry, Promise<string | null>>();
    this.#reading = reading;
    const read = this.#store.readValue(this.#ledger.id, entry.key, entry.seq).finally(() => {
      reading.delete(entry);
      if (reading.size === 0 && this.#reading === reading) this.#reading = undefined;
    });
    reading.set(entry, read);
    return read;
  }

  /** Keeps texts that were just loaded until the turn that needs them, which follows at once. */
  #trimAllBut(fresh: readonly JsonEntry[]): void {
    for (const entry of fresh) this.#touch(entry);
    this.trim();
  }

  #page(query: PageQuery): Page {
    this.#order ??= [...this.#entries.keys()].sort();
    const entries: JsonEntry[] = [];
    let count = 0;
    let bytes = 0;
    let hasMore = false;
    for (const key of this.#order) {
      if (!key.startsWith(query.prefix) || (!query.reserved && isReserved(key))) continue;
      const entry = this.#live(key);
      if (entry === undefined) continue;
      count += 1;
      if (hasMore || (query.after !== undefined && key <= query.after)) continue;
      const isFull = entries.length === query.limit || (query.values && entries.length > 0 && bytes + entry.sizeBytes > PAGE_BYTES_MAX);
      if (isFull) hasMore = true;
      else {
        entries.push(entry);
        bytes += entry.sizeBytes;
      }
    }
    return { entries, count, hasMore };
  }
}

/** Keys for owner and editors only. */
export function isReserved(key: string): boolean {
  return key.startsWith('_');
}

/** V8 stores a string with one byte a character, or with two if any character is outside Latin-1. */
function memoryBytes(entry: JsonEntry, text: string): number {
  return entry.sizeBytes === text.length ? text.length : text.length * 2;
}
