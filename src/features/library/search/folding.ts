/** Words as the index has them: without case and accents. The same for pages, names and what is looked for. */

/** Longer ones are no words but data: hashes, encoded pictures. */
export const WORD_CHARS_MAX = 40;

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\u0000-\u007f]*$/;
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Scripts that put no space between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** What no normal form takes apart, as it is written where the keyboard lacks it. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');

/**
 * Of words alone, one or several without anything between them: the signs that compatible forms bring in (`½` is 1, a stroke and 2) are left out, as
 * queries of Postgres want it.
 */
export function folded(words: string): string {
  if (isAscii(words)) return words.toLowerCase();
  const plain = words
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
  return plain.replace(LETTER, (letter) => LETTERS[letter] ?? letter).normalize('NFC');
}

/** `word`: folded. `start`, `end`: where it is in the text, in UTF-16 units. */
type TakeWord = (word: string, start: number, end: number) => void;
/** Whether the word that begins there, in small letters, is of interest. Of others an empty word is taken. */
type MayBeMeant = (lower: string, start: number) => boolean;

/**
 * Takes the words of a text in their order. Where a script has no spaces, each two characters are one. By hand where there are only letters and
 * digits of ASCII, which are most words, because every page and every hit goes through here: several times as fast as a pattern.
 */
export function eachWord(text: string, take: TakeWord, mayBeMeant: MayBeMeant = () => true): void {
  const lower = text.toLowerCase();
  // One letter (İ) becomes two. Then the places are others.
  if (lower.length !== text.length) {
    eachPatterned(text, 0, take);
    return;
  }
  someRun(lower, (start, end, isOfAscii) => {
    if (!isOfAscii) eachPatterned(text.slice(start, end), start, take);
    else if (end - start <= WORD_CHARS_MAX) take(mayBeMeant(lower, start) ? lower.slice(start, end) : '', start, end);
    return false;
  });
}

/** Whether one of the runs is taken of which each is a word of ASCII or has further words and letters. It looks at no more of them. */
export function someRun(text: string, isTaken: (start: number, end: number, isOfAscii: boolean) => boolean): boolean {
  let start = -1;
  let isOfAscii = true;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 128 ? WORD_CODES[code] !== 0 : mayBeOfWord(code)) {
      if (start < 0) start = at;
      if (code > 127) isOfAscii = false;
    } else if (start >= 0) {
      if (isTaken(start, at, isOfAscii)) return true;
      start = -1;
      isOfAscii = true;
    }
  }
  return start >= 0 && isTaken(start, text.length, isOfAscii);
}

/** By the codes of ASCII: of a letter or digit its code, of a capital that of its small letter, of all else 0. */
export const WORD_CODES = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9]/.test(String.fromCharCode(code)) ? String.fromCharCode(code).toLowerCase().charCodeAt(0) : 0,
);

/**
 * Whether what is not ASCII may belong to a word, of which only a pattern can tell. Not typographic quotes, dashes, arrows and frames: texts in ASCII
 * otherwise are full of them.
 */
export function mayBeOfWord(code: number): boolean {
  return !(code >= 0x2010 && code <= 0x205e) && !(code >= 0x2190 && code <= 0x245f) && !(code >= 0x2500 && code <= 0x2767);
}

/** `offset`: where this is in the whole text. */
function eachPatterned(text: string, offset: number, take: TakeWord): void {
  for (const { 0: raw, index } of text.matchAll(WORDS)) {
    const isSpaced = !UNSPACED.test(raw);
    if (isSpaced && raw.length > WORD_CHARS_MAX) continue;
    const start = offset + index;
    if (!isSpaced) eachPair(raw, start, take);
    else {
      const word = folded(raw);
      // One letter may stand for a whole sentence.
      if (word !== '' && word.length <= WORD_CHARS_MAX) take(word, start, start + raw.length);
    }
  }
}

function eachPair(raw: string, start: number, take: TakeWord): void {
  const last = Math.max(1, raw.length - 1);
  for (let at = 0; at < last; at += 1) take(folded(raw.slice(at, at + 2)), start + at, start + Math.min(at + 2, raw.length));
}

export function wordsOf(text: string): string[] {
  const words: string[] = [];
  eachWord(text, (word) => words.push(word));
  return words;
}

/** Whether it is written without spaces to the words beside it. */
export function isUnspaced(word: string): boolean {
  return UNSPACED.test(word);
}
