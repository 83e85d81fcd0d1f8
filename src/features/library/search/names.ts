/** How well a name fits what is looked for, from 0 to 1. No I/O. */
import { distance, isNear } from './distance.ts';
import { folded, wordsOf } from './folding.ts';
import { isFormOf } from './forms.ts';
import type { Term } from './terms.ts';

const BEGINS = 0.9;
const STEM = 0.85;
const INSIDE = 0.6;
const MISSPELT = 0.5;
/** Of what else it is called, or where it is. */
const SUBTITLE = 0.5;
const INSIDE_CHARS_MIN = 3;

/** Null where one of the terms is in neither. A name that says little else fits better. */
export function nameScore(title: string, subtitle: string | null, terms: readonly Term[]): number | null {
  const own = wordsOf(title);
  const other = wordsOf(subtitle ?? '');
  const joined = folded(own.join(''));
  let total = 0;
  let inOwn = 0;
  for (const term of terms) {
    const byTitle = Math.max(bestOf(term, own), term.word === joined ? 1 : 0, isInside(term, joined) ? INSIDE : 0);
    const best = Math.max(byTitle, SUBTITLE * bestOf(term, other));
    if (best === 0) return null;
    if (byTitle > 0) inOwn += 1;
    total += best;
  }
  const said = Math.min(1, inOwn / Math.max(1, own.length));
  return (total / Math.max(1, terms.length)) * (0.75 + 0.25 * said);
}

function isInside({ word }: Term, joined: string): boolean {
  return word.length >= INSIDE_CHARS_MIN && joined.includes(word);
}

function bestOf(term: Term, words: readonly string[]): number {
  return words.reduce((best, word) => Math.max(best, scoreOf(term, word)), 0);
}

function scoreOf(term: Term, word: string): number {
  if (word === term.word) return 1;
  if (term.isBeginning && word.startsWith(term.word)) return BEGINS;
  if (isFormOf(word, term)) return STEM;
  if (isNear(term.word, word)) return MISSPELT + (distance(term.word, word, 2) === 1 ? 0.15 : 0);
  // The beginning of a longer word, misspelt while it is typed.
  const begun = word.slice(0, term.word.length);
  return term.isBeginning && word.length > term.word.length && isNear(term.word, begun) ? MISSPELT : 0;
}
