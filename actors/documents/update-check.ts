/**
 * Looks through an update of Yjs (format v1) before it may touch a document. Yjs reads and applies in one go: what it can only find wrong
 * on the way has by then changed the document, so everything that its reader or its integration would stumble over is refused here.
 */

/** What an update holds: structs of `clients` authors, ranges that it deletes, documents within the document. */
export interface UpdateShape {
  readonly structs: number;
  readonly clients: number;
  readonly deletes: number;
  readonly subdocuments: number;
  /** Holds bytes of which Yjs keeps a view, and with it whatever memory `update` lies in. */
  readonly lendsBytes: boolean;
  /** What it brings of each client. */
  readonly spans: readonly ClientSpan[];
  /** What it refers to: of each client everything below this clock. */
  readonly needs: ReadonlyMap<number, number>;
}

/** The clocks of one client that an update brings. A document that lacks something before `from` cannot take it. */
export interface ClientSpan {
  readonly client: number;
  readonly from: number;
  readonly to: number;
}

const BIT_PARENT_SUB = 0x20;
const BIT_RIGHT_ORIGIN = 0x40;
const BIT_LEFT_ORIGIN = 0x80;
const CONTENT_BITS = 0x1f;

const GC = 0;
const SKIP = 10;
// Types of Y.XmlElement and Y.XmlHook carry a name; there are seven types.
const NAMED_TYPES = new Set([3, 5]);
const TYPES = 7;

// Values nested deeper could be read, but not written again: writing them takes the call stack.
const VALUE_DEPTH_MAX = 200;

const MALFORMED = new Error('malformed update');
const TEXT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined if no Yjs client can have made this update. */
export function checkUpdate(update: Uint8Array): UpdateShape | undefined {
  const reader = new UpdateReader(update);
  try {
    return reader.update();
  } catch {
    // Its own refusal, or that of TextDecoder or JSON.parse: all of them say the same.
    return undefined;
  }
}

class UpdateReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #structs = 0;
  #subdocuments = 0;
  #lendsBytes = false;
  readonly #spans: ClientSpan[] = [];
  readonly #needs = new Map<number, number>();

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  update(): UpdateShape {
    const clients = this.#uint();
    for (let client = 0; client < clients; client += 1) this.#clientStructs();
    const deletes = this.#deleteSet();
    if (this.#at !== this.#bytes.length) throw MALFORMED;
    return {
      structs: this.#structs,
      clients,
      deletes,
      subdocuments: this.#subdocuments,
      lendsBytes: this.#lendsBytes,
      spans: this.#spans,
      needs: this.#needs,
    };
  }

  #clientStructs(): void {
    const count = this.#uint();
    // Every struct has two bytes at least: a list for so many is made before the first of them is read.
    if (count > this.#bytes.length - this.#at) throw MALFORMED;
    const client = this.#uint();
    let clock = this.#uint();
    let from = clock;
    for (let struct = 0; struct < count; struct += 1) {
      const isSkip = this.#bytes[this.#at] === SKIP;
      clock += this.#struct(client, clock);
      if (clock > Number.MAX_SAFE_INTEGER) throw MALFORMED;
      // What follows a skipped range builds on it.
      if (isSkip && struct < count - 1) from = clock;
    }
    this.#structs += count;
    if (count > 0) this.#spans.push({ client, from, to: clock });
  }

  /** Its length, which is never 0: what takes no place in the order of its client would be found in another's. */
  #struct(client: number, clock: number): number {
    const info = this.#byte();
    const content = info & CONTENT_BITS;
    if (content === GC || content === SKIP) return this.#length();
    const hasOrigin = (info & (BIT_LEFT_ORIGIN | BIT_RIGHT_ORIGIN)) !== 0;
    if ((info & BIT_LEFT_ORIGIN) !== 0) this.#reference(client, clock);
    if ((info & BIT_RIGHT_ORIGIN) !== 0) this.#reference(client, clock);
    if (!hasOrigin) {
      if (this.#uint() === 1) this.#text();
      else this.#reference(client, clock);
      if ((info & BIT_PARENT_SUB) !== 0) this.#text();
    }
    return this.#content(content);
  }

  /** A reference to another struct. One of the same client must have a lower clock: Yjs looks it up without checking that it exists. */
  #reference(client: number, clock: number): void {
    const ofClient = this.#uint();
    const atClock = this.#uint();
    if (ofClient !== client) this.#need(ofClient, atClock + 1);
    else if (atClock >= clock) throw MALFORMED;
  }

  #need(client: number, untilClock: number): void {
    if (untilClock > (this.#needs.get(client) ?? 0)) this.#needs.set(client, untilClock);
  }

  #content(kind: number): number {
    switch (kind) {
      case 1: // deleted
        return this.#length();
      case 2: // JSON values
        return this.#repeat(() => this.#jsonOrUndefined());
      case 3: // bytes
        this.#skip(this.#uint());
        return 1;
      case 4: // text
        return positive(this.#text());
      case 5: // embedded JSON
        this.#json();
        return 1;
      case 6: // format
        this.#text();
        this.#json();
        return 1;
      case 7:
        this.#type();
        return 1;
      case 8: // any values
        return this.#repeat(() => this.#any(0));
      case 9: // document
        this.#text();
        // Its options, which are taken for an object.
        if (this.#bytes[this.#at] !== 118) throw MALFORMED;
        this.#any(0);
        this.#subdocuments += 1;
        return 1;
      default:
        throw MALFORMED;
    }
  }

  #repeat(read: () => void): number {
    const count = this.#length();
    for (let value = 0; value < count; value += 1) read();
    return count;
  }

  #type(): void {
    const type = this.#uint();
    if (type >= TYPES) throw MALFORMED;
    if (NAMED_TYPES.has(type)) this.#text();
  }

  /** A value as lib0 writes it, by the number that it begins with. */
  #any(depth: number): void {
    if (depth > VALUE_DEPTH_MAX) throw MALFORMED;
    switch (this.#byte()) {
      case 127: // undefined
      case 126: // null
      case 121: // false
      case 120: // true
        return;
      case 125:
        this.#int();
        return;
      case 124: // float32
        this.#skip(4);
        return;
      case 123: // float64
      case 122: // bigint
        this.#skip(8);
        return;
      case 119:
        this.#text();
        return;
      case 118:
        for (let left = this.#uint(); left > 0; left -= 1) {
          this.#text();
          this.#any(depth + 1);
        }
        return;
      case 117:
        for (let left = this.#uint(); left > 0; left -= 1) this.#any(depth + 1);
        return;
      case 116:
        this.#lendsBytes = true;
        this.#skip(this.#uint());
        return;
      default:
        throw MALFORMED;
    }
  }

  #deleteSet(): number {
    let deletes = 0;
    for (let clients = this.#uint(); clients > 0; clients -= 1) {
      const client = this.#uint();
      const ranges = this.#uint();
      for (let range = 0; range < ranges; range += 1) {
        const end = this.#uint() + this.#length();
        if (end > Number.MAX_SAFE_INTEGER) throw MALFORMED;
        this.#need(client, end);
      }
      deletes += ranges;
    }
    return deletes;
  }

  #jsonOrUndefined(): void {
    const text = this.#decoded(this.#uint());
    if (text !== 'undefined') checkDepth(JSON.parse(text));
  }

  #json(): void {
    checkDepth(JSON.parse(this.#decoded(this.#uint())));
  }

  /** Answers its length in UTF-16 units. */
  #text(): number {
    const bytes = this.#uint();
    const end = this.#at + bytes;
    if (end > this.#bytes.length) throw MALFORMED;
    for (let at = this.#at; at < end; at += 1) {
      if ((this.#bytes[at] as number) >= 0x80) return this.#decoded(bytes).length;
    }
    this.#at = end;
    return bytes;
  }

  #decoded(bytes: number): string {
    const start = this.#at;
    this.#skip(bytes);
    return TEXT.decode(this.#bytes.subarray(start, this.#at));
  }

  #length(): number {
    return positive(this.#uint());
  }

  #int(): void {
    // The first byte has six bits of the number, all have seven with their sign to go on.
    let bytes = 1;
    while (this.#byte() >= 0x80) {
      bytes += 1;
      if (bytes > 8) throw MALFORMED;
    }
  }

  #uint(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (value > Number.MAX_SAFE_INTEGER) throw MALFORMED;
      if (byte < 0x80) return value;
      factor *= 128;
      // Eight bytes carry what a double holds; more of them would only be zeros without end.
      if (factor > Number.MAX_SAFE_INTEGER) throw MALFORMED;
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw MALFORMED;
    this.#at += 1;
    return byte;
  }

  #skip(bytes: number): void {
    this.#at += bytes;
    if (this.#at > this.#bytes.length) throw MALFORMED;
  }
}

function positive(length: number): number {
  if (length === 0) throw MALFORMED;
  return length;
}

function checkDepth(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > VALUE_DEPTH_MAX) throw MALFORMED;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
}
