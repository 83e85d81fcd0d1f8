/** Words as the index has them: without case and accents. The same for pages, names and what is looked for. */

export interface Token {
  /** Folded. */
  readonly word: string;
  /** Where it is in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Longer ones are no words but data: hashes, encoded pictures. */
const WORD_CHARS_MAX = 40;

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\u0000-\u007f]*$/;
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Scripts that put no space between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

export function folded(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().normalize('NFC');
}

/** The words of a text in their order. Where a script has no spaces, each two characters are one. */
export function* tokensOf(text: string): Generator<Token> {
  for (const { 0: raw, index } of text.matchAll(WORDS)) {
    if (raw.length > WORD_CHARS_MAX && !UNSPACED.test(raw)) continue;
    if (!UNSPACED.test(raw)) yield { word: folded(raw), start: index, end: index + raw.length };
    else yield* pairsOf(raw, index);
  }
}

function* pairsOf(raw: string, start: number): Generator<Token> {
  const last = Math.max(1, raw.length - 1);
  for (let at = 0; at < last; at += 1)
    yield { word: folded(raw.slice(at, at + 2)), start: start + at, end: start + Math.min(at + 2, raw.length) };
}

export function wordsOf(text: string): string[] {
  return Array.from(tokensOf(text), ({ word }) => word);
}
