/** The words of an artifact with how much each counts. No I/O. */

import { eachWord, folded, wordsOf } from './folding.ts';
import type { Piece } from './passages-of.ts';
import { WordCounts } from './word-counts.ts';

/** Of a word in each language; null where it is everywhere in it. */
export interface Stems {
  readonly english: string | null;
  readonly spanish: string | null;
}

/** Words that are everywhere in one of the languages; of that language the stem is null. */
export type CommonWords = ReadonlyMap<string, Stems>;

/** A: what it is called. B: titles and headings. C: said often. D: said. */
type Weight = 'A' | 'B' | 'C' | 'D';
type Language = keyof Stems;

/** Each word once, with its weight at the same place of the other list. */
export interface DocumentWords {
  readonly language: Language;
  readonly words: readonly string[];
  readonly weights: readonly Weight[];
}

export interface Named {
  readonly name: string;
  readonly slug: string;
  readonly titles: readonly string[];
}

/** Texts of tsvectors: what it is called, what ranks it (that included), and all other words. */
export interface Lexemes {
  readonly names: string;
  readonly telling: string;
  readonly words: string;
}

const DISTINCT_MAX = 20_000;
/** A tsvector has at most a megabyte. */
const WORDS_BYTES_MAX = 900 * 1024;
const LEXEME_OVERHEAD_BYTES = 8;
/** So many of the longest words are fewer bytes, so that those of most pages are not counted. */
const COUNTED_FROM = 5000;
const OFTEN = 5;
const PLACES: Readonly<Record<Exclude<Weight, 'D'>, string>> = { A: ':1A', B: ':2B', C: ':3C' };

/** Frequent words that are in one of the languages only. */
const ENGLISH = new Set('the of and to is in that for it with as are this be on you not by from or have an at which'.split(' '));
const SPANISH = new Set('el la de que y en los del las un una por con para es se lo al como mas pero sus le ya este'.split(' '));

export function documentWords(named: Named, pieces: readonly Piece[]): DocumentWords {
  const counts = new WordCounts();
  const weights: Weight[] = [];
  const put = (weight: Weight) => (word: string) => {
    weights[counts.placeOf(word)] ??= weight;
  };
  for (const text of [named.name, named.slug]) [...wordsOf(text), ...joinedOf(text)].forEach(put('A'));
  for (const text of named.titles) eachWord(text, put('B'));
  for (const heading of new Set(pieces.map((piece) => piece.heading))) eachWord(heading ?? '', put('B'));
  for (const { text } of pieces) counts.add(text);
  const { words, times } = counts;
  for (let place = weights.length; place < words.length; place += 1) weights.push((times[place] as number) >= OFTEN ? 'C' : 'D');
  const kept = words.length > COUNTED_FROM ? countThatFit(words) : words.length;
  return { language: languageOf(counts), words: words.slice(0, kept), weights: weights.slice(0, kept) };
}

/** How many of the first words a tsvector takes. */
function countThatFit(words: readonly string[]): number {
  let bytesLeft = WORDS_BYTES_MAX;
  for (const [place, word] of words.entries()) {
    bytesLeft -= Buffer.byteLength(word) + LEXEME_OVERHEAD_BYTES;
    if (bytesLeft < 0 || place === DISTINCT_MAX) return place;
  }
  return words.length;
}

/** `lru-cache` is also looked for as `lrucache`. */
function joinedOf(text: string): string[] {
  const words = wordsOf(text);
  return words.length > 1 && words.length <= 4 ? [folded(words.join(''))] : [];
}

function languageOf(counts: WordCounts): Language {
  const total = (frequent: ReadonlySet<string>) => [...frequent].reduce((sum, word) => sum + counts.timesOf(word), 0);
  return total(SPANISH) > total(ENGLISH) ? 'spanish' : 'english';
}

/** Texts of tsvectors. Words that are everywhere in the language of the page count only where it is called so. */
export function lexemesOf({ language, words, weights }: DocumentWords, common: CommonWords): Lexemes {
  const names: string[] = [];
  const telling: string[] = [];
  const others: string[] = [];
  for (const [place, word] of words.entries()) {
    const weight = weights[place] as Weight;
    const isNamed = weight === 'A' || weight === 'B';
    if (!isNamed && common.get(word)?.[language] === null) continue;
    // Words are letters and digits alone.
    if (weight === 'A') names.push(word + PLACES.A);
    if (weight === 'D') others.push(word);
    else telling.push(word + PLACES[weight]);
  }
  return { names: names.join(' '), telling: telling.join(' '), words: byBeginning(others).join(' ') };
}

/** Letters of a word that `byBeginning` goes by, and the values of one: together with the place of a word in the list, a number of 53 bits. */
const BEGINNING_CHARS = 7;
const CHAR_VALUES = 38;
const PLACES_MAX = 2 ** 15;

/**
 * In the order of their first letters, so that what is alike stands together and the text becomes small where it is compressed. By numbers: a page
 * has a thousand words, and to compare them as strings takes many times as long.
 */
function byBeginning(words: readonly string[]): string[] {
  const keys = new Float64Array(words.length);
  for (const [place, word] of words.entries()) keys[place] = beginningOf(word) * PLACES_MAX + place;
  const sorted: string[] = [];
  for (const key of keys.sort()) sorted.push(words[key % PLACES_MAX] as string);
  return sorted;
}

/** The same for all letters that are not of ASCII. */
function beginningOf(word: string): number {
  let value = 0;
  for (let at = 0; at < BEGINNING_CHARS; at += 1) {
    const code = word.charCodeAt(at);
    value *= CHAR_VALUES;
    if (code >= 48 && code <= 57) value += code - 47;
    else if (code >= 97 && code <= 122) value += code - 86;
    else if (at < word.length) value += CHAR_VALUES - 1;
  }
  return value;
}
