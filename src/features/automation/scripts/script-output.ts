/** What a script prints, in memory that its thread and the service share: it survives the thread. */
import { SCRIPT } from './script-limits.ts';

// The number of bytes that were written, then whether more was printed than there is room for.
const HEAD_BYTES = 8;
const LENGTH = 0;
const WAS_CUT = 1;
const NOTICE = '\n… The output was cut here.';
const ROOM_BYTES = SCRIPT.outputBytesMax - Buffer.byteLength(NOTICE);

export function newOutput(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + ROOM_BYTES);
}

export class OutputWriter {
  readonly #head: Int32Array;
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(buffer: SharedArrayBuffer) {
    this.#head = new Int32Array(buffer, 0, HEAD_BYTES / 4);
    this.#bytes = new Uint8Array(buffer, HEAD_BYTES);
  }

  /** False when there is no room for more. */
  print(line: string): boolean {
    if (Atomics.load(this.#head, WAS_CUT) === 1) return false;
    // A character has at least one byte, so what is beyond the room is not even encoded.
    const text = this.#at === 0 ? line.slice(0, ROOM_BYTES + 1) : `\n${line.slice(0, ROOM_BYTES)}`;
    const bytes = Buffer.from(text);
    const room = this.#bytes.length - this.#at;
    const fits = bytes.length <= room;
    const part = fits ? bytes : bytes.subarray(0, wholeCharacters(bytes, room));
    this.#bytes.set(part, this.#at);
    this.#at += part.length;
    Atomics.store(this.#head, LENGTH, this.#at);
    if (!fits) Atomics.store(this.#head, WAS_CUT, 1);
    return fits;
  }
}

export function readOutput(buffer: SharedArrayBuffer): string {
  const head = new Int32Array(buffer, 0, HEAD_BYTES / 4);
  const length = Atomics.load(head, LENGTH);
  const text = Buffer.from(new Uint8Array(buffer, HEAD_BYTES, length)).toString();
  return Atomics.load(head, WAS_CUT) === 1 ? text + NOTICE : text;
}

/** The text, or as many of its characters as have at most `bytesMax` bytes. */
export function cutText(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = Buffer.from(text.slice(0, bytesMax + 1));
  return bytes.length <= bytesMax ? text : bytes.subarray(0, wholeCharacters(bytes, bytesMax)).toString();
}

/** The length of the longest start with at most `bytesMax` bytes that ends with a whole character. */
function wholeCharacters(bytes: Uint8Array, bytesMax: number): number {
  let length = Math.min(bytes.length, bytesMax);
  while (length > 0 && ((bytes[length] ?? 0) & 0xc0) === 0x80) length -= 1;
  return length;
}
