/** Whether a text has a word that begins with one of some. No I/O. */
import { eachWord, isAscii, isUnspaced, someRun, WORD_CODES } from './folding.ts';

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
