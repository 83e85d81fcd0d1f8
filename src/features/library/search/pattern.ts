/** A regular expression of Postgres that finds the texts worth looking at: `~*` knows no accents and no stems. */
import { beginningOf, type Term } from './terms.ts';

const ACCENTED: Readonly<Record<string, string>> = {
  a: 'aáàâãäå',
  c: 'cç',
  e: 'eéèêë',
  i: 'iíìîï',
  n: 'nñ',
  o: 'oóòôõö',
  u: 'uúùûü',
  y: 'yýÿ',
};

/** A pattern of Postgres that texts with one of the terms fit: the beginning of a word, with any accents. */
export function patternOf(terms: readonly Term[]): string {
  const accented = (word: string) => [...word].map((letter) => (ACCENTED[letter] ? `[${ACCENTED[letter]}]` : letter)).join('');
  const beginnings = terms.flatMap(({ word, stems }) => [word, ...stems.map(beginningOf)]);
  const near = terms.flatMap((term) => term.near);
  const oneOf = (words: readonly string[]) => `(?:${[...new Set(words)].map(accented).join('|')})`;
  // A near word only as a whole: other pages have it in the dictionary, so as a beginning it would pick among the longer words of this page.
  return `(^|\\W)(?:${oneOf(beginnings)}${near.length === 0 ? '' : `|${oneOf(near)}(?![[:alnum:]])`})`;
}
