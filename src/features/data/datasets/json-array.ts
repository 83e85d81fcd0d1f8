/** Splits a JSON array into its elements while it is received, so that it is never in memory as a whole. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { copies, type ImportLine, jsonLine, LINE_BYTES_MAX } from '../tables/import-lines.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const SPACE = 0x20;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BOM = [0xef, 0xbb, 0xbf];

/** Each element as a line whose number is that of the element. Throws INVALID_JSON for what is no array. */
export async function* jsonArrayRows(body: AsyncIterable<Uint8Array>): AsyncGenerator<ImportLine> {
  const splitter = new ArraySplitter();
  let row = 0;
  for await (const chunk of copies(body)) {
    for (const element of splitter.push(chunk)) {
      row += 1;
      yield element === undefined ? { line: row, error: `is longer than ${LINE_BYTES_MAX} bytes`, isLast: true } : jsonLine(element, row);
      if (element === undefined) return;
    }
  }
  splitter.end();
}

/** Finds where elements end by brackets and quotes alone; whether an element is valid JSON shows when it is parsed. */
class ArraySplitter {
  #state: 'before' | 'inside' | 'after' = 'before';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasElements = false;
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #bytes = 0;

  /** The elements that end in this chunk; undefined for one that is too long, which ends the reading. */
  *push(chunk: Buffer): Generator<Buffer | undefined> {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      this.#bytes += 1;
      if (this.#state !== 'inside') {
        if (byte <= SPACE || byte === BOM[this.#bytes - 1]) continue;
        if (this.#state === 'after') throw notAnArray('has text after the end of the array');
        if (byte !== OPEN_ARRAY) throw notAnArray('is not an array');
        this.#state = 'inside';
        from = at + 1;
      } else if (this.#endsElement(byte)) {
        yield* this.#element(chunk.subarray(from, at), byte);
        from = at + 1;
      }
    }
    if (this.#state !== 'inside') return;
    this.#begun.push(chunk.subarray(from));
    this.#begunBytes += chunk.length - from;
    if (this.#begunBytes > LINE_BYTES_MAX) yield undefined;
  }

  end(): void {
    if (this.#state === 'before') throw notAnArray('is empty');
    if (this.#state === 'inside') throw notAnArray('ends before the array does');
  }

  #endsElement(byte: number): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isInString = false;
      return false;
    }
    switch (byte) {
      case QUOTE:
        this.#isInString = true;
        return false;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        this.#depth += 1;
        return false;
      case CLOSE_OBJECT:
        this.#depth -= 1;
        return false;
      case CLOSE_ARRAY:
        this.#depth -= 1;
        return this.#depth < 0;
      default:
        return byte === COMMA && this.#depth === 0;
    }
  }

  *#element(rest: Buffer, ending: number): Generator<Buffer | undefined> {
    const bytes = this.#begun.length === 0 ? rest : Buffer.concat([...this.#begun, rest]);
    this.#begun = [];
    this.#begunBytes = 0;
    if (ending === CLOSE_ARRAY) this.#state = 'after';
    // Only an array without elements may have nothing before its end.
    const isEmpty = bytes.every((byte) => byte <= SPACE);
    if (isEmpty && ending === CLOSE_ARRAY && !this.#hasElements) return;
    this.#hasElements = true;
    yield bytes.length > LINE_BYTES_MAX ? undefined : bytes;
  }
}

function notAnArray(problem: string): Failure {
  return new Failure('INVALID_JSON', {
    message: `The body ${problem}.`,
    hint: 'Send a JSON array of objects, or lines of JSON as application/x-ndjson.',
  });
}
