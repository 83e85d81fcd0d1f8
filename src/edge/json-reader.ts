/**
 * Reads a large JSON document in slices, so that other requests run between them. It accepts and refuses what `parseJsonDocument` does, and
 * stops at the first value beyond its bound, before the rest becomes objects.
 */
import { isUtf8 } from 'node:buffer';
import { type JsonObject, setMember } from '../../actors/json/json-path.ts';
import { exactNumber } from '../../actors/json/json-text.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';

/** Work of one slice: values read, and stretches of `BYTES_PER_WORK` bytes. About two milliseconds on a small machine. */
const SLICE_WORK = 3072;
const BYTES_PER_WORK = 128;
/** A longer text is read in pieces of about this size. */
const PIECE_BYTES = 256 * 1024;
/** More than the work of one slice can read: its last step may be a piece, a name or a number beyond it. */
const CHECKED_AHEAD_BYTES = 1024 * 1024;
const SHORT_TEXT_BYTES = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const SPACE = 0x20;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

type Container = unknown[] | JsonObject;
/** What comes next. `text` is the rest of a long text. */
type Next = 'value' | 'firstItem' | 'firstName' | 'name' | 'colon' | 'comma' | 'text' | 'end';

export interface JsonBounds {
  /** Texts, numbers, literals, lists and objects together. */
  readonly valuesMax: number;
  /** Items of the lists that are members of the body, by name, and under '' of a body that is a list. Others have no bound of their own. */
  readonly listsMax?: ReadonlyMap<string, number>;
  /** Numbers that a double cannot hold are kept as their text, as `parseJson` does. */
  readonly isExact: boolean;
}

/** Slices of a beginning that are read before the rest has arrived. */
const BEGINNING_SLICES = 2;

/**
 * What is wrong with a body of which this is the beginning: it has more values, items or members than it may. Whether it is valid JSON is told
 * once it is whole.
 */
export function refusalOfBeginning(beginning: Buffer, bounds: JsonBounds): Failure | undefined {
  if (bounds.listsMax === undefined || bounds.listsMax.size === 0) return undefined;
  const reader = new JsonReader(beginning, bounds);
  try {
    for (let slices = 0; slices < BEGINNING_SLICES && !reader.advance(); slices += 1);
  } catch (error) {
    if (error instanceof Failure) return error.code === 'INVALID_REQUEST' ? error : undefined;
    throw error;
  }
  return undefined;
}

export class JsonReader {
  readonly #bytes: Buffer;
  readonly #valuesMax: number;
  readonly #isExact: boolean;
  readonly #listsMax: ReadonlyMap<string, number> | undefined;
  readonly #open: Container[] = [];
  /** The name of the member whose value comes next, of each open object. */
  readonly #names: string[] = [];
  /** How many members each open object has so far. */
  readonly #members: number[] = [];
  #at = 0;
  /** Up to here it is UTF-8. */
  #checked = 0;
  #next: Next = 'value';
  #work = 0;
  #values = 0;
  #value: unknown;
  /** The pieces of a long text that were read. Concatenation copies nothing until somebody reads the text. */
  #text = '';
  #isName = false;

  constructor(bytes: Buffer, { valuesMax, isExact, listsMax }: JsonBounds) {
    this.#listsMax = listsMax;
    this.#bytes = bytes;
    this.#valuesMax = valuesMax;
    this.#isExact = isExact;
  }

  /** The document, once `advance` has returned true. */
  get value(): unknown {
    return this.#value;
  }

  /** Reads one slice. True when the document is complete. Throws INVALID_JSON or INVALID_REQUEST. */
  advance(): boolean {
    this.#work = 0;
    this.#checkUtf8();
    while (this.#work < SLICE_WORK) {
      this.#work += 1;
      if (this.#next !== 'text' && !this.#skipSpace()) continue;
      if (this.#next === 'end') {
        if (this.#at < this.#bytes.length) throw this.#unexpected();
        return true;
      }
      this.#step(this.#next);
    }
    return false;
  }

  /** Checks as much as a slice can read. */
  #checkUtf8(): void {
    const bytes = this.#bytes;
    const stop = Math.min(bytes.length, this.#at + CHECKED_AHEAD_BYTES);
    if (this.#checked >= stop) return;
    const limit = Math.min(bytes.length, stop + CHECKED_AHEAD_BYTES);
    const end = limit === bytes.length ? limit : startOfCharacter(bytes, limit);
    if (!isUtf8(bytes.subarray(this.#checked, end))) throw new Failure('INVALID_JSON', { message: 'The body is not UTF-8.' });
    this.#checked = end;
  }

  #step(next: Exclude<Next, 'end'>): void {
    const byte = this.#bytes[this.#at];
    switch (next) {
      case 'value':
        this.#readValue(byte);
        break;
      case 'firstItem':
        if (byte === CLOSE_LIST) this.#close();
        else this.#readValue(byte);
        break;
      case 'firstName':
        if (byte === CLOSE_OBJECT) this.#close();
        else this.#readName(byte);
        break;
      case 'name':
        this.#readName(byte);
        break;
      case 'colon':
        this.#go(byte === COLON, 'value');
        break;
      case 'comma':
        this.#readComma(byte);
        break;
      case 'text':
        this.#readPiece();
        break;
      default:
        next satisfies never;
    }
  }

  /** Passes one byte if it is the expected one. */
  #go(isExpected: boolean, next: Next): void {
    if (!isExpected) throw this.#unexpected();
    this.#at += 1;
    this.#next = next;
  }

  #readComma(byte: number | undefined): void {
    const isList = Array.isArray(this.#open.at(-1));
    if (byte === (isList ? CLOSE_LIST : CLOSE_OBJECT)) this.#close();
    else this.#go(byte === COMMA, isList ? 'value' : 'name');
  }

  #readName(byte: number | undefined): void {
    if (byte !== QUOTE) throw this.#unexpected();
    this.#isName = true;
    this.#readText();
  }

  #readValue(byte: number | undefined): void {
    this.#values += 1;
    if (this.#values > this.#valuesMax) throw tooManyValues(this.#valuesMax);
    if (byte === OPEN_OBJECT) this.#enter({}, 'firstName');
    else if (byte === OPEN_LIST) this.#enter([], 'firstItem');
    else if (byte !== QUOTE) this.#put(this.#readScalar());
    else {
      this.#isName = false;
      this.#readText();
    }
  }

  #enter(container: Container, next: Next): void {
    if (this.#open.length === LIMITS.jsonDepthMax) {
      throw new Failure('INVALID_JSON', { message: `The body is nested more than ${LIMITS.jsonDepthMax} deep.` });
    }
    this.#put(container);
    this.#open.push(container);
    this.#names.push('');
    this.#members.push(0);
    this.#at += 1;
    this.#next = next;
  }

  #close(): void {
    this.#open.pop();
    this.#names.pop();
    this.#members.pop();
    this.#at += 1;
    this.#next = this.#open.length === 0 ? 'end' : 'comma';
  }

  #put(value: unknown): void {
    const parent = this.#open.at(-1);
    this.#next = parent === undefined ? 'end' : 'comma';
    if (parent === undefined) this.#value = value;
    else if (Array.isArray(parent)) this.#putItem(parent, value);
    else setMember(parent, this.#names.at(-1) ?? '', value);
  }

  #putItem(list: unknown[], value: unknown): void {
    list.push(value);
    const depth = this.#open.length;
    if (this.#listsMax === undefined || depth > 2 || (depth === 2 && Array.isArray(this.#open[0]))) return;
    const name = depth === 1 ? '' : (this.#names[0] ?? '');
    const itemsMax = this.#listsMax.get(name);
    if (itemsMax !== undefined && list.length > itemsMax) throw tooManyItems(name, itemsMax);
  }

  #countMember(): void {
    const members = (this.#members.at(-1) ?? 0) + 1;
    if (members > LIMITS.bodyMembersMax) {
      throw new Failure('INVALID_REQUEST', { message: `The body has an object with more than ${LIMITS.bodyMembersMax} members.` });
    }
    this.#members[this.#members.length - 1] = members;
  }

  /** Takes a text that is complete. */
  #putText(text: string): void {
    if (!this.#isName) {
      this.#put(text);
      return;
    }
    if (Object.hasOwn(this.#open.at(-1) ?? {}, text)) {
      throw new Failure('INVALID_JSON', { message: 'The body has the same member twice in one object.', param: text.slice(0, 200) });
    }
    this.#countMember();
    this.#names[this.#names.length - 1] = text;
    this.#next = 'colon';
  }

  #readText(): void {
    const bytes = this.#bytes;
    const start = this.#at + 1;
    const stop = Math.min(start + SHORT_TEXT_BYTES, bytes.length);
    for (let at = start; at < stop; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        this.#at = at + 1;
        this.#putText(bytes.toString('latin1', start, at));
        return;
      }
      // Anything but printable ASCII is left to JSON.parse.
      if (byte === BACKSLASH || byte < SPACE || byte > 0x7e) break;
    }
    this.#at = start;
    this.#text = '';
    this.#next = 'text';
  }

  #readPiece(): void {
    const start = this.#at;
    const { end, isLast } = this.#endOfPiece(start);
    this.#work += (end - start) / BYTES_PER_WORK;
    this.#text += this.#parsed(start, end);
    this.#at = end;
    if (!isLast) return;
    this.#at += 1;
    this.#putText(this.#text);
    this.#text = '';
  }

  #parsed(start: number, end: number): string {
    try {
      return JSON.parse(`"${this.#bytes.toString('utf8', start, end)}"`);
    } catch {
      // Its own message would quote the piece and count from its beginning.
      throw new Failure('INVALID_JSON', {
        message: `The body is not valid JSON: a text after byte ${start} has a character or an escape that JSON forbids.`,
      });
    }
  }

  /** Where the piece of a text ends that begins at `start`: at the quote that ends the text, or between two characters. */
  #endOfPiece(start: number): { readonly end: number; readonly isLast: boolean } {
    const limit = Math.min(start + PIECE_BYTES, this.#bytes.length);
    const piece = this.#bytes.subarray(start, limit);
    const quote = piece.indexOf(QUOTE);
    const backslash = piece.indexOf(BACKSLASH);
    if (backslash !== -1 && (quote === -1 || backslash < quote)) return this.#endOfEscaped(start + backslash, limit);
    if (quote !== -1) return { end: start + quote, isLast: true };
    return this.#cut(limit);
  }

  #endOfEscaped(from: number, limit: number): { readonly end: number; readonly isLast: boolean } {
    const bytes = this.#bytes;
    let at = from;
    while (at < limit) {
      const byte = bytes[at];
      if (byte === QUOTE) return { end: at, isLast: true };
      if (byte !== BACKSLASH) at += 1;
      else at += bytes[at + 1] === LETTER_U ? 6 : 2;
    }
    return this.#cut(Math.min(at, bytes.length));
  }

  /** Moves a cut back to the beginning of a character. */
  #cut(at: number): { readonly end: number; readonly isLast: boolean } {
    if (at >= this.#bytes.length) throw this.#ended();
    return { end: startOfCharacter(this.#bytes, at), isLast: false };
  }

  #readScalar(): unknown {
    const bytes = this.#bytes;
    const start = this.#at;
    let end = start;
    const stop = Math.min(bytes.length, start + LIMITS.bodyNumberCharsMax + 1);
    while (end < stop && isScalarByte(bytes[end] ?? 0)) end += 1;
    if (end - start > LIMITS.bodyNumberCharsMax) {
      throw new Failure('INVALID_JSON', { message: `The body has a number of more than ${LIMITS.bodyNumberCharsMax} characters.` });
    }
    const text = bytes.toString('latin1', start, end);
    const value = scalarOf(text, this.#isExact);
    if (value === undefined) throw this.#unexpected();
    this.#at = end;
    return value;
  }

  /** False where a slice's worth of white space was skipped and there may be more. */
  #skipSpace(): boolean {
    const bytes = this.#bytes;
    const stop = Math.min(bytes.length, this.#at + PIECE_BYTES);
    const start = this.#at;
    while (this.#at < stop && isSpace(bytes[this.#at] ?? 0)) this.#at += 1;
    this.#work += (this.#at - start) / BYTES_PER_WORK;
    return this.#at < stop || this.#at === bytes.length;
  }

  #unexpected(): Failure {
    if (this.#at >= this.#bytes.length) return this.#ended();
    return new Failure('INVALID_JSON', { message: `The body is not valid JSON: unexpected character at byte ${this.#at}.` });
  }

  #ended(): Failure {
    return new Failure('INVALID_JSON', { message: 'The body is not valid JSON: it ends too early.' });
  }
}

function tooManyItems(name: string, itemsMax: number): Failure {
  const message = `${name === '' ? 'The body' : name} must have at most ${itemsMax} items.`;
  return new Failure('INVALID_REQUEST', { message, ...(name !== '' && { param: name }) });
}

function tooManyValues(valuesMax: number): Failure {
  return new Failure('INVALID_REQUEST', {
    message: `The body has more than ${valuesMax} values, which this request cannot have.`,
    hint: 'Send fewer items in one request.',
  });
}

function startOfCharacter(bytes: Uint8Array, at: number): number {
  let start = at;
  // A character has at most three such bytes; more are no UTF-8 and are found as that.
  while (start > at - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Letters, digits, signs and points: what numbers and literals are made of. */
function isScalarByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x2d || byte === 0x2e || byte === 0x2b || byte === 0x45
  );
}

/** Undefined for what is no JSON scalar. */
function scalarOf(text: string, isExact: boolean): unknown {
  switch (text) {
    case 'true':
      return true;
    case 'false':
      return false;
    case 'null':
      return null;
    default:
      if (!NUMBER.test(text)) return undefined;
      return isExact ? exactNumber(text) : Number(text);
  }
}
