/** How often texts say each of their words. Of a word that was said before no string is made: two of three words of a page are of that kind. */
import { randomBytes } from 'node:crypto';
import { eachWord, mayBeOfWord, WORD_CHARS_MAX, WORD_CODES } from './folding.ts';

const SLOTS_MIN = 4096;
const UNITS_MIN = 2048;
const LETTERS_MIN = 8 * SLOTS_MIN;

/** Each word has a place: its number in the order in which they come. */
export class WordCounts {
  /** Folded. */
  readonly words: string[] = [];
  /** By place. 0: only named. */
  readonly times: number[] = [];
  /** The hash is another one each time: nobody can write a page whose words all have the same, which would take quadratic time. */
  readonly #seed: number;
  readonly #factor: number;
  readonly #hashes: number[] = [];
  /** By place: where its letters begin. The last one: where those of the next word will. */
  readonly #starts: number[] = [0];
  /** UTF-16 units of all words, and behind them of what is read now. */
  #letters = new Uint16Array(LETTERS_MIN);
  /** By hash, or the next free slot: the place of a word and one. At least half of them are 0. */
  #slots = new Int32Array(SLOTS_MIN);
  /** UTF-16 units of a text: they are read much faster from here than from a string. */
  #units = new Uint16Array(UNITS_MIN);

  constructor() {
    const random = randomBytes(8);
    this.#seed = random.readInt32LE(0);
    // Odd, so that it loses nothing of what it multiplies.
    this.#factor = random.readInt32LE(4) | 1;
  }

  /** Counts the words of a text as `eachWord` takes them. Those of ASCII are made out by hand. */
  add(text: string): void {
    const units = this.#unitsOf(text);
    const { length } = text;
    let start = -1;
    let isOfAscii = true;
    for (let at = 0; at < length; at += 1) {
      const code = units[at] as number;
      if (code < 128 ? WORD_CODES[code] !== 0 : mayBeOfWord(code)) {
        if (start < 0) start = at;
        if (code > 127) isOfAscii = false;
      } else if (start >= 0) {
        this.#addRun(text, start, at, isOfAscii);
        start = -1;
        isOfAscii = true;
      }
    }
    if (start >= 0) this.#addRun(text, start, length, isOfAscii);
  }

  /** The place of a word, which is there with no times where it was not. */
  placeOf(word: string): number {
    const found = this.#find(word);
    if (found >= 0) return found;
    return this.#put(word, this.#hashOf(word));
  }

  timesOf(word: string): number {
    const place = this.#find(word);
    return place < 0 ? 0 : (this.times[place] as number);
  }

  #unitsOf(text: string): Uint16Array {
    if (text.length > this.#units.length) this.#units = new Uint16Array(text.length);
    Buffer.from(this.#units.buffer).write(text, 'utf16le');
    return this.#units;
  }

  /** With room for so many behind those of all words. */
  #lettersFor(length: number): Uint16Array {
    if ((this.#starts[this.words.length] as number) + length > this.#letters.length) {
      const letters = new Uint16Array(2 * this.#letters.length + length);
      letters.set(this.#letters);
      this.#letters = letters;
    }
    return this.#letters;
  }

  #addRun(text: string, start: number, end: number, isOfAscii: boolean): void {
    if (!isOfAscii) {
      eachWord(text.slice(start, end), (word) => this.#count(this.placeOf(word)));
      return;
    }
    if (end - start > WORD_CHARS_MAX) return;
    const units = this.#units;
    const letters = this.#lettersFor(end - start);
    let to = this.#starts[this.words.length] as number;
    const factor = this.#factor;
    let hash = this.#seed;
    for (let at = start; at < end; at += 1) {
      const letter = WORD_CODES[units[at] as number] as number;
      letters[to] = letter;
      to += 1;
      hash = Math.imul(hash ^ letter, factor);
    }
    const found = this.#placeOfRead(hash, end - start);
    this.#count(found < 0 ? this.#put(text.slice(start, end).toLowerCase(), hash) : found);
  }

  #count(place: number): void {
    this.times[place] = (this.times[place] as number) + 1;
  }

  /** Reads the letters of a word. */
  #hashOf(word: string): number {
    const letters = this.#lettersFor(word.length);
    const to = this.#starts[this.words.length] as number;
    let hash = this.#seed;
    for (let at = 0; at < word.length; at += 1) {
      letters[to + at] = word.charCodeAt(at);
      hash = Math.imul(hash ^ word.charCodeAt(at), this.#factor);
    }
    return hash;
  }

  #find(word: string): number {
    return this.#placeOfRead(this.#hashOf(word), word.length);
  }

  /** The place of the word whose letters were read last; -1 where there is none. */
  #placeOfRead(hash: number, length: number): number {
    const slots = this.#slots;
    for (let slot = slotOf(slots, hash); ; slot = (slot + 1) & (slots.length - 1)) {
      const place = (slots[slot] as number) - 1;
      if (place < 0 || (this.#hashes[place] === hash && this.#isRead(place, length))) return place;
    }
  }

  #isRead(place: number, length: number): boolean {
    const letters = this.#letters;
    const start = this.#starts[place] as number;
    const from = this.#starts[this.words.length] as number;
    if ((this.#starts[place + 1] as number) - start !== length) return false;
    for (let at = 0; at < length; at += 1) if (letters[start + at] !== letters[from + at]) return false;
    return true;
  }

  /** Puts the word whose letters were read last, and answers its place. */
  #put(word: string, hash: number): number {
    const place = this.words.push(word) - 1;
    this.#starts.push((this.#starts[place] as number) + word.length);
    this.#hashes.push(hash);
    this.times.push(0);
    if (this.words.length * 2 <= this.#slots.length) this.#takeSlot(place);
    else {
      this.#slots = new Int32Array(2 * this.#slots.length);
      for (let each = 0; each <= place; each += 1) this.#takeSlot(each);
    }
    return place;
  }

  #takeSlot(place: number): void {
    const slots = this.#slots;
    let slot = slotOf(slots, this.#hashes[place] as number);
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = place + 1;
  }
}

function slotOf(slots: Int32Array, hash: number): number {
  return (hash ^ (hash >>> 15)) & (slots.length - 1);
}
