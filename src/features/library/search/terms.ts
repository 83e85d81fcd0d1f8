/** What somebody looks for, as words that the index knows: stems, beginnings and, where asked for, what a misspelt word may have meant. */
import type { Queries } from '../../deps.ts';
import { isNear, MISTAKES_MAX, neighboursOf } from './distance.ts';
import { wordsOf } from './folding.ts';

export interface Term {
  readonly word: string;
  readonly stems: readonly string[];
  /** So frequent that pages do not differ by it. */
  readonly isCommon: boolean;
  /** Still being typed: longer words that begin with it are meant too. */
  readonly isBeginning: boolean;
  /** Words that it may have been meant to be. */
  readonly near: readonly string[];
}

/** Further words of a question are not looked for. */
const TERMS_MAX = 16;
/** Of pages, as opposed to names, shorter beginnings would find nearly every one. */
const BEGINNING_CHARS_MIN = 4;
/** More words than so many like one that is looked for are not looked for. */
export const NEAR_MAX = 500;
/** Of shorter words only those that are one mistake away are taken, which need no index of trigrams. */
const SIMILAR_CHARS_MIN = 6;

/** A word has at most so many letters behind its stem. */
const ENDING_CHARS_MAX = 4;

/** Whether a word has one of the stems, as far as can be told without a stemmer: `polici` is the stem of `policy`. */
export function isFormOf(word: string, { stems }: Pick<Term, 'stems'>): boolean {
  return stems.some((stem) => word.startsWith(beginningOf(stem)) && word.length <= stem.length + ENDING_CHARS_MAX);
}

/** How all words with this stem begin. */
export function beginningOf(stem: string): string {
  return stem.length > 3 && stem.endsWith('i') ? stem.slice(0, -1) : stem;
}

/** `isTyping`: the last word may be a beginning. Words that are everywhere are left out, unless there are no others. */
export async function termsOf(sql: Queries, text: string, isTyping: boolean): Promise<Term[]> {
  const words = [...new Set(wordsOf(text))].slice(0, TERMS_MAX);
  if (words.length === 0) return [];
  const last = /[\p{L}\p{N}\p{M}]$/u.test(text) ? wordsOf(text).at(-1) : undefined;
  const rows = await sql<{ word: string; english: string[]; spanish: string[] }[]>`
    select word, ts_lexize('english_stem', word) as english, ts_lexize('spanish_stem', word) as spanish
    from unnest(${words}::text[]) with ordinality as t (word, place) order by place`;
  const terms = rows.map(
    ({ word, english, spanish }): Term => ({
      word,
      stems: [...new Set([...english, ...spanish])].filter((stem) => stem !== word),
      isCommon: english.length === 0 || spanish.length === 0,
      isBeginning: isTyping && word === last,
      near: [],
    }),
  );
  const telling = terms.filter(({ isCommon, isBeginning }) => !isCommon || (isBeginning && terms.length === 1));
  return telling.length > 0 ? telling : terms;
}

/** Words of pages which are so much like each term that it may be one of them, misspelt. One after the other: a search takes one connection. */
export async function withNear(sql: Queries, terms: readonly Term[]): Promise<Term[]> {
  const wider: Term[] = [];
  for (const term of terms) wider.push({ ...term, near: await nearOf(sql, term.word) });
  return wider;
}

/**
 * All words that are near enough, without their stems and with no choice among them: a page is found by a word that it says itself, so which
 * words there are besides, on pages that the caller may not open, changes nothing of what is found on those that they may. Of a word with
 * too many like it, which anybody could publish to make every search for it slow, there are none.
 */
async function nearOf(sql: Queries, word: string): Promise<string[]> {
  const neighbours = neighboursOf(word);
  if (neighbours.length === 0) return [];
  // The limits stand outside of what is materialized: inside, the planner would rather read the whole table than its index of trigrams.
  const rows = await sql<{ word: string }[]>`
    with neighbour as materialized (
      select word from search_word where word = any(${neighbours}::text[])
    ), alike as materialized (
      select word from search_word where ${word.length >= SIMILAR_CHARS_MIN} and lower(word) % ${word}
        and length(word) between ${word.length - MISTAKES_MAX} and ${word.length + MISTAKES_MAX}
    )
    (select word from neighbour limit ${NEAR_MAX + 1}) union (select word from alike limit ${NEAR_MAX + 1})`;
  if (rows.length > NEAR_MAX) return [];
  return rows.map((row) => row.word).filter((each) => each !== word && isNear(word, each));
}

const quoted = (word: string) => `'${word}'`;
const either = (words: readonly string[]) => words.map(quoted).join(' | ');

/** A tsquery for the words of pages. Words are letters and digits alone, so quotes are enough. */
export function exactQuery({ word, stems, isBeginning }: Term): string {
  const beginning = isBeginning && word.length >= BEGINNING_CHARS_MIN ? ` | ${quoted(word)}:*` : '';
  return either([word, ...stems]) + beginning;
}

/** Whether it is the beginning of too many words to look for them in the text of pages. */
export function isShortBeginning({ word, isBeginning }: Term): boolean {
  return isBeginning && word.length < BEGINNING_CHARS_MIN;
}

/** A tsquery for the word as it is and as it may have been meant. */
export function anyQuery(term: Term): string {
  const near = nearQuery(term);
  return near === null ? exactQuery(term) : `${exactQuery(term)} | ${near}`;
}

/** A tsquery for what artifacts are called. */
export function nameQuery({ word, stems, isBeginning }: Term): string {
  return either([word, ...stems]) + (isBeginning ? ` | ${quoted(word)}:*` : '');
}

/** A tsquery for what the word may have been meant to be; null where there is nothing. */
export function nearQuery({ near }: Term): string | null {
  return near.length === 0 ? null : either(near);
}
