/** JSON keys: the part of an artifact that holds named JSON texts. Source: contract.md §4. */
import { Failure } from '../protocol/errors.ts';
import type { ArtifactId } from '../protocol/ids.ts';
import { LIMITS } from '../protocol/limits.ts';
import { type Conditions, checkConditions } from './json-conditions.ts';
import { assertStorable } from './json-patch.ts';
import { jsonText, parseJson } from './json-text.ts';
import { type ArtifactStore, type Change, type Clock, COLD_VALUE_BYTES, type StoredKey } from './ports.ts';

/** What a part needs of its actor. */
export interface Ledger {
  readonly id: ArtifactId;
  /** Of the last change; the next one has one more. */
  readonly seq: number;
  readonly committedSeq: number;
  /** Throws UNAVAILABLE when no more changes are taken. Called before the first change of a turn. */
  admit(): void;
  record(change: Change): void;
}

// Texts that can be read back (more than COLD_VALUE_BYTES each) stay in memory only as far as this, the last used ones.
const WARM_BYTES_MAX = 8 * 1024 * 1024;
// A page with values ends early when it has this much: 100 keys of 1 MB are no page.
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
// An entry with its strings' headers and its place in the map, measured by test/actors/footprint.test.ts.
const ENTRY_BYTES = 300;
const PART_BYTES = 500;

/** One key. Its tag and time are made when they are first asked for, since most keys sleep unread. */
export class JsonEntry {
  readonly key: string;
  /** The JSON text as it was sent; null while only the store has it. */
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

  /** The text of an entry that a turn has made sure of by `warm`. */
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
  /** Seconds until the key deletes itself. */
  readonly ttlS?: number | undefined;
}

export interface PageQuery {
  readonly prefix: string;
  /** Keys after this one; undefined for the first page. */
  readonly after: string | undefined;
  readonly limit: number;
  /** Whether the texts are wanted as well. */
  readonly values: boolean;
  /** Whether keys that begin with `_` are shown. */
  readonly reserved: boolean;
}

export interface Page {
  readonly entries: readonly JsonEntry[];
  /** Live keys that match, on all pages. */
  readonly count: number;
  readonly hasMore: boolean;
}

export class JsonPart {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #store: Pick<ArtifactStore, 'readValue'>;
  readonly #entries = new Map<string, JsonEntry>();
  /** Texts in memory that may leave it, least recently used first. */
  readonly #warm = new Set<JsonEntry>();
  #warmBytes = 0;
  #bytes = PART_BYTES;
  /** The keys in order; made when a list asks for it. */
  #order: string[] | undefined;
  /** No key expires before this. */
  #nextExpiryMs = Number.POSITIVE_INFINITY;
  #lastUpdateMs = 0;

  constructor(deps: { ledger: Ledger; clock: Clock; store: Pick<ArtifactStore, 'readValue'> }) {
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

  /** Throws KEY_NOT_FOUND. The text is there only if `warm` had nothing to wait for. */
  get(key: string): JsonEntry {
    const entry = this.#live(key);
    if (entry === undefined) throw new Failure('KEY_NOT_FOUND', { param: 'key' });
    this.#touch(entry);
    return entry;
  }

  /** Reads the text of a key back from the store where it has left memory; undefined when there is nothing to wait for. */
  warm(key: string): Promise<void> | undefined {
    const entry = this.#live(key);
    return entry === undefined || entry.text !== null ? undefined : this.#readBack([entry]);
  }

  /** The same for a page with values. */
  warmPage(query: PageQuery): Promise<void> | undefined {
    if (!query.values) return undefined;
    const cold = this.#page(query).entries.filter((entry) => entry.text === null);
    return cold.length === 0 ? undefined : this.#readBack(cold);
  }

  page(query: PageQuery): Page {
    const page = this.#page(query);
    if (query.values) for (const entry of page.entries) this.#touch(entry);
    return page;
  }

  /** Stores a text. Without `ttlS` the key stays for good. */
  put(key: string, text: string, options: WriteOptions): Written {
    const current = this.#live(key);
    checkConditions(current, options);
    return this.#write(key, current, text, options.ttlS === undefined ? null : this.#clock.nowMs() + options.ttlS * 1000);
  }

  /**
   * Replaces the value by what `change` makes of it (undefined: the key is absent; it may spoil what it is given). Without `ttlS` the key keeps its time.
   * Throws whatever `change` throws, with nothing changed.
   */
  patch(key: string, options: WriteOptions, change: (value: unknown) => unknown): Written {
    const current = this.#live(key);
    checkConditions(current, options);
    const patched = change(current === undefined ? undefined : parseJson(current.warmText));
    assertStorable(patched);
    const expiresAtMs = options.ttlS === undefined ? (current?.expiresAtMs ?? null) : this.#clock.nowMs() + options.ttlS * 1000;
    return this.#write(key, current, jsonText(patched), expiresAtMs);
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

  /** Answers how many keys there were. `reserved`: those that begin with `_` as well. */
  deleteAll(reserved: boolean): number {
    this.#ledger.admit();
    this.#purge();
    const doomed = [...this.#entries.values()].filter((entry) => reserved || !isReserved(entry.key));
    for (const entry of doomed) this.#remove(entry);
    return doomed.length;
  }

  /** Lets texts leave memory until what stays is within the budget. What is not committed stays: the store does not have it. */
  trim(): void {
    if (this.#warmBytes <= WARM_BYTES_MAX) return;
    for (const entry of this.#warm) {
      if (entry.seq > this.#ledger.committedSeq) continue;
      this.#chill(entry);
      if (this.#warmBytes <= WARM_BYTES_MAX) return;
    }
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
    // One clock for all keys of the artifact: a key that is deleted and made again still rises.
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

  /** Expired keys are absent already; the first change after that deletes them. */
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

  /** Takes an entry in, in the place of one of the same key that has been let go. */
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
    const texts = await Promise.all(cold.map((entry) => this.#store.readValue(this.#ledger.id, entry.key, entry.seq)));
    cold.forEach((entry, index) => {
      // Changed, deleted or read by somebody else while we waited: then that is what counts.
      if (entry.text !== null || this.#entries.get(entry.key) !== entry) return;
      const text = texts[index] ?? null;
      if (text === null) throw new Failure('OWNER_MOVED', { retryAfterS: 1 });
      this.#enterText(entry, text);
    });
    this.#trimAllBut(cold);
  }

  /** What has just been read is used by the turn that follows at once. */
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

/** A string takes one byte a character, or two as soon as one of them is outside Latin-1. */
function memoryBytes(entry: JsonEntry, text: string): number {
  return entry.sizeBytes === text.length ? text.length : text.length * 2;
}
