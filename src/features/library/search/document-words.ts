/** The words of an artifact with how much each counts. No I/O. */

import { folded, wordsOf } from './folding.ts';
import type { Piece } from './passages-of.ts';

/** A: what it is called. B: titles and headings. C: said often. D: said. */
type Weight = 'A' | 'B' | 'C' | 'D';
export type Language = 'english' | 'spanish';

export interface DocumentWords {
  readonly language: Language;
  readonly words: readonly string[];
  readonly weights: readonly Weight[];
  /** Those that others may mean when they misspell one: all of them, so that no other page has to say a word for this one to be found by it. */
  readonly spelt: readonly string[];
}

export interface Named {
  readonly name: string;
  readonly slug: string;
  readonly titles: readonly string[];
}

const DISTINCT_MAX = 20_000;
const OFTEN = 4;
/** Only scripts in which words are misspelt by letters: each further letter would be a further neighbour of every word. */
const SPELT = /^(?=\p{L}+$)[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{3,32}$/u;

/** Frequent words that are in one of the languages only. */
const ENGLISH = new Set('the of and to is in that for it with as are this be on you not by from or have an at which'.split(' '));
const SPANISH = new Set('el la de que y en los del las un una por con para es se lo al como mas pero sus le ya este'.split(' '));

export function documentWords({ name, slug, titles }: Named, pieces: readonly Piece[]): DocumentWords {
  const weights = new Map<string, Weight>();
  const put = (weight: Weight) => (word: string) => {
    if (!weights.has(word) && weights.size < DISTINCT_MAX) weights.set(word, weight);
  };
  for (const text of [name, slug]) [...wordsOf(text), ...joinedOf(text)].forEach(put('A'));
  for (const text of titles) wordsOf(text).forEach(put('B'));
  for (const heading of new Set(pieces.map((piece) => piece.heading))) wordsOf(heading ?? '').forEach(put('B'));
  const counts = new Map<string, number>();
  for (const { text } of pieces) for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const [word, count] of counts) put(count >= OFTEN ? 'C' : 'D')(word);
  const words = [...weights.keys()];
  return {
    language: languageOf(counts),
    words,
    weights: [...weights.values()],
    spelt: words.filter((word) => SPELT.test(word)),
  };
}

/** `lru-cache` is also looked for as `lrucache`. */
function joinedOf(text: string): string[] {
  const words = wordsOf(text);
  return words.length > 1 && words.length <= 4 ? [folded(words.join(''))] : [];
}

function languageOf(counts: ReadonlyMap<string, number>): Language {
  const total = (words: ReadonlySet<string>) => [...words].reduce((sum, word) => sum + (counts.get(word) ?? 0), 0);
  return total(SPANISH) > total(ENGLISH) ? 'spanish' : 'english';
}
