/** Whether a text has a word that begins with one of some. No I/O. */
import { eachWord, isAscii, isUnspaced, mayBeOfWord, someRun, WORD_CODES } from './folding.ts';

const CODES = 128;
const CODE_BITS = 7;
/** What `#pairs` says of two bytes: with them one of the words begins; the first is of a character that is not of ASCII. */
const BEGINS = 1;
const MAY_BE_LETTER = 2;
/** Of a byte of a character that is not of ASCII. It is no code of a letter. */
const WIDE = 1;
/** By bytes of UTF-8: of a letter or digit the code of its small letter, 0 of other signs of ASCII. */
const CODE_OF = Uint8Array.from({ length: 2 * CODES }, (_, byte) => (byte >= CODES ? WIDE : (WORD_CODES[byte] ?? 0)));
/** By the code before: words begin behind a sign. */
const LOOKED_FOR_BEHIND = Uint8Array.from({ length: CODES }, (_, code) => (code === 0 ? BEGINS | MAY_BE_LETTER : MAY_BE_LETTER));

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
    this.#pairs.fill(MAY_BE_LETTER, WIDE << CODE_BITS, (WIDE + 1) << CODE_BITS);
  }

  #put(word: string): void {
    const [first, second] = [word.charCodeAt(0), word.charCodeAt(1)];
    if (!isAscii(word)) this.#others.push(word);
    else if (word.length === 1) {
      this.#letters[first] = 1;
      this.#pairs.fill(BEGINS, first << CODE_BITS, (first + 1) << CODE_BITS);
    } else {
      this.#pairs[first * CODES + second] = BEGINS;
      const known = this.#byPair.get(first * CODES + second);
      if (known === undefined) this.#byPair.set(first * CODES + second, [word]);
      else known.push(word);
    }
  }

  /**
   * Of UTF-8, from `from` on and before `to`. Each two bytes are looked up in one table, so that there is no branch but where a word may be one of
   * them: where words begin cannot be predicted, and a branch for each takes several times as long.
   */
  isInBytes(bytes: Buffer, from: number, to: number): boolean {
    const pairs = this.#pairs;
    let before = 0;
    let code = codeIn(bytes, from, to);
    for (let at = from; at < to; at += 1) {
      const next = codeIn(bytes, at + 1, to);
      if (((pairs[(code << CODE_BITS) | next] as number) & (LOOKED_FOR_BEHIND[before] as number)) !== 0) {
        if (code !== WIDE) {
          if (this.#isOneAt(bytes, at, to)) return true;
        } else if (isSign(bytes, at)) {
          at += 2;
          before = 0;
          code = codeIn(bytes, at + 1, to);
          continue;
          // Which letter it is, and whether its word is one of them, is for the text.
        } else return this.isIn(bytes.toString('utf8', from, to));
      }
      before = code;
      code = next;
    }
    return false;
  }

  #isOneAt(bytes: Buffer, at: number, to: number): boolean {
    const first = codeIn(bytes, at, to);
    if (this.#letters[first] === 1) return true;
    const words = this.#byPair.get((first << CODE_BITS) | codeIn(bytes, at + 1, to)) ?? [];
    for (const word of words) if (isAt(word, bytes, at, to)) return true;
    return false;
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

/** Of a byte before `to`; else that of a sign. */
function codeIn(bytes: Buffer, at: number, to: number): number {
  return at < to ? (CODE_OF[bytes[at] as number] as number) : 0;
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
