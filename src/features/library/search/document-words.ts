/** The words of an artifact with how much each counts. No I/O. */

import { eachWord, folded, wordsOf } from './folding.ts';
import type { Piece } from './passages-of.ts';

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

interface Said {
  /** In the text, below its headings. */
  times: number;
  weight: Weight;
}

export interface DocumentWords {
  readonly language: Language;
  readonly words: ReadonlyMap<string, Readonly<Said>>;
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
  const words = new Map<string, Said>();
  const put = (weight: Weight) => (word: string) => {
    if (!words.has(word)) words.set(word, { times: 0, weight });
  };
  for (const text of [named.name, named.slug]) [...wordsOf(text), ...joinedOf(text)].forEach(put('A'));
  for (const text of named.titles) eachWord(text, put('B'));
  for (const heading of new Set(pieces.map((piece) => piece.heading))) eachWord(heading ?? '', put('B'));
  for (const { text } of pieces) eachWord(text, (word) => say(words, word));
  return { language: languageOf(words), words: words.size > COUNTED_FROM ? cutToSize(words) : words };
}

/** Counts in place: most words of a page have been said before. */
function say(words: Map<string, Said>, word: string): void {
  const said = words.get(word);
  if (said === undefined) words.set(word, { times: 1, weight: 'D' });
  else {
    said.times += 1;
    if (said.times === OFTEN && said.weight === 'D') said.weight = 'C';
  }
}

/** The first words, as many as a tsvector takes. */
function cutToSize(words: ReadonlyMap<string, Said>): ReadonlyMap<string, Said> {
  const kept = new Map<string, Said>();
  let bytesLeft = WORDS_BYTES_MAX;
  for (const [word, said] of words) {
    bytesLeft -= Buffer.byteLength(word) + LEXEME_OVERHEAD_BYTES;
    if (bytesLeft < 0 || kept.size === DISTINCT_MAX) break;
    kept.set(word, said);
  }
  return kept;
}

/** `lru-cache` is also looked for as `lrucache`. */
function joinedOf(text: string): string[] {
  const words = wordsOf(text);
  return words.length > 1 && words.length <= 4 ? [folded(words.join(''))] : [];
}

function languageOf(words: ReadonlyMap<string, Said>): Language {
  const total = (frequent: ReadonlySet<string>) => [...frequent].reduce((sum, word) => sum + (words.get(word)?.times ?? 0), 0);
  return total(SPANISH) > total(ENGLISH) ? 'spanish' : 'english';
}

/** Texts of tsvectors. Words that are everywhere in the language of the page count only where it is called so. */
export function lexemesOf({ language, words }: DocumentWords, common: CommonWords): Lexemes {
  const names: string[] = [];
  const telling: string[] = [];
  const others: string[] = [];
  for (const [word, { weight }] of words) {
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
