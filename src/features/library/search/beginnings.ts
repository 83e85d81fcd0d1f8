/** Whether a text has a word that begins with one of some. No I/O. */
import { eachWord, isAscii, isUnspaced, mayBeOfWord, someRun, WORD_CODES } from './folding.ts';

const CODES = 128;

/**
 * Most words of a text are left at their first two letters. There is no pattern of all words, because there are hundreds of them, and to compile it
 * for one search takes longer than to read the pages that it has found.
 */
export class Beginnings {
  /** Words of ASCII by their first two letters, and which of these there are; for those of one letter that alone. */
  readonly #byPair = new Map<number, string[]>();
  readonly #pairs = new Uint8Array(CODES * CODES);
  readonly #letters = new Uint8Array(CODES);
  readonly #others: string[] = [];

  /** Of folded words. */
  constructor(words: readonly string[]) {
    for (const word of new Set(words)) this.#put(word);
  }

  #put(word: string): void {
    const [first, second] = [word.charCodeAt(0), word.charCodeAt(1)];
    if (!isAscii(word)) this.#others.push(word);
    else if (word.length === 1) this.#letters[first] = 1;
    else {
      this.#pairs[first * CODES + second] = 1;
      const known = this.#byPair.get(first * CODES + second);
      if (known === undefined) this.#byPair.set(first * CODES + second, [word]);
      else known.push(word);
    }
  }

  /** Of UTF-8, from `from` on and before `to`. */
  isInBytes(bytes: Buffer, from: number, to: number): boolean {
    let isInWord = false;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] as number;
      if (byte >= CODES) {
        // Which letter it is, and whether its word is one of them, is for the text.
        if (!isSign(bytes, at)) return this.isIn(bytes.toString('utf8', from, to));
        at += 2;
        isInWord = false;
      } else if (WORD_CODES[byte] === 0) isInWord = false;
      else if (!isInWord) {
        isInWord = true;
        if (this.#beginsAtByte(bytes, at, to)) return true;
      }
    }
    return false;
  }

  #beginsAtByte(bytes: Buffer, at: number, to: number): boolean {
    const first = WORD_CODES[bytes[at] as number] as number;
    if (this.#letters[first] === 1) return true;
    const second = at + 1 < to ? (WORD_CODES[bytes[at + 1] as number] ?? 0) : 0;
    const pair = first * CODES + second;
    if (this.#pairs[pair] !== 1) return false;
    return (this.#byPair.get(pair) ?? []).some((word) => isAt(word, bytes, at, to));
  }

  /** Whether a word that begins here, in small letters, may begin with one of them; it does not where it is of ASCII and this says no. */
  mayBegin(text: string, at: number): boolean {
    const first = codeAt(text, at);
    return this.#letters[first] === 1 || this.#pairs[first * CODES + codeAt(text, at + 1)] === 1;
  }

  isIn(text: string): boolean {
    return someRun(text, (start, end, isOfAscii) => (isOfAscii ? this.#beginsAt(text, start) : this.#isInOther(text.slice(start, end))));
  }

  #beginsAt(text: string, at: number): boolean {
    const first = codeAt(text, at);
    if (this.#letters[first] === 1) return true;
    const pair = first * CODES + codeAt(text, at + 1);
    if (this.#pairs[pair] !== 1) return false;
    return (this.#byPair.get(pair) ?? []).some((word) => text.slice(at, at + word.length).toLowerCase() === word);
  }

  #isInOther(text: string): boolean {
    let isIn = false;
    eachWord(text, (word) => {
      if (isIn) return;
      isIn = this.#beginsAt(word, 0);
      isIn ||= this.#others.some((other) => (isUnspaced(other) ? word.includes(other) : word.startsWith(other)));
    });
    return isIn;
  }
}

/** The code of a letter or digit of ASCII, in small letters; 0 where there is none. */
function codeAt(text: string, at: number): number {
  const code = at < text.length ? text.charCodeAt(at) : CODES;
  return code < CODES ? (WORD_CODES[code] ?? 0) : 0;
}

function isAt(word: string, bytes: Buffer, at: number, to: number): boolean {
  if (at + word.length > to) return false;
  for (let place = 0; place < word.length; place += 1)
    if (word.charCodeAt(place) !== (WORD_CODES[bytes[at + place] as number] ?? 0)) return false;
  return true;
}

/** Whether three bytes are a typographic quote or dash, an arrow or a frame: of no word, as `mayBeOfWord` knows them. */
function isSign(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xe2 && !mayBeOfWord((((bytes[at + 1] ?? 0) & 0x3f) << 6) | ((bytes[at + 2] ?? 0) & 0x3f) | 0x2000);
}
