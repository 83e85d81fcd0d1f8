/** What somebody looks for, as words that the index knows: stems, beginnings and, where asked for, what a misspelt word may have meant. */
import type { Queries } from '../../deps.ts';
import { isNear, MISTAKES_MAX, mistakesMax, neighboursOf } from './distance.ts';
import { wordsOf } from './folding.ts';
import { formsOf, type Stemmed, stemsOf } from './forms.ts';
import { isSpelt } from './stems.ts';

export interface Term extends Stemmed {
  /** Its stems that are words to look for, as far as they are other words. */
  readonly stems: readonly string[];
  /** Words of pages that are the word in another form. */
  readonly forms: readonly string[];
  /** So frequent that pages do not differ by it. */
  readonly isCommon: boolean;
  /** Still being typed: longer words that begin with it are meant too. */
  readonly isBeginning: boolean;
  /** Words of pages that begin with it; null where there are too many of them, or others than the table of words has. */
  readonly begun: readonly string[] | null;
  /** Words that it may have been meant to be. */
  readonly near: readonly string[];
  /** Those of them that are one mistake away. */
  readonly nearest: readonly string[];
}

/** Further words of a question are not looked for. */
const TERMS_MAX = 16;
/** Of pages, as opposed to names, shorter beginnings would find nearly every one. */
const BEGINNING_CHARS_MIN = 4;
/** More words than so many like one that is looked for are not looked for. */
export const NEAR_MAX = 500;
/** More words than so many are looked for by what they begin with, which takes as long as there are pages with any of them. */
const BEGUN_MAX = 200;

/** A word that is more than one mistake away has the first letters in common, or the last ones. */
const BEGINNING_ALIKE = 3;
const ENDING_ALIKE = 4;
/** Words with either in common. */
const COMPARED_MAX = 20_000;
/** Two mistakes, of which one may be letters that are swapped: two changes. */
const CHANGES_MAX = MISTAKES_MAX + 1;

/** `isTyping`: the last word may be a beginning. Words that are everywhere are left out, unless there are no others. */
export async function termsOf(sql: Queries, text: string, isTyping: boolean): Promise<Term[]> {
  const words = [...new Set(wordsOf(text))].slice(0, TERMS_MAX);
  if (words.length === 0) return [];
  const last = /[\p{L}\p{N}\p{M}]$/u.test(text) ? wordsOf(text).at(-1) : undefined;
  const begun = isTyping && last !== undefined && last.length >= BEGINNING_CHARS_MIN && isSpelt(last) ? last : null;
  const rows = await sql<(Stemmed & { readonly forms: string[]; readonly begun: string[] })[]>`
    select n.word, n.english, n.spanish, ${formsOf(sql)} as forms,
      case when n.word = ${begun} then array(
        select w.word from search_word w where w.word > n.word and w.word < n.word || chr(1114111) limit ${BEGUN_MAX + 1}) else '{}' end as begun
    from (
      select word, place, (ts_lexize('english_stem', word))[1] as english, (ts_lexize('spanish_stem', word))[1] as spanish
      from unnest(${words}::text[]) with ordinality as g (word, place)
    ) n order by place`;
  const terms = rows.map(
    ({ word, english, spanish, forms, begun: longer }): Term => ({
      word,
      english,
      spanish,
      stems: stemsOf({ word, english, spanish }),
      forms: forms.filter((form) => form !== word),
      isCommon: english === null || spanish === null,
      isBeginning: isTyping && word === last,
      begun: word === begun && longer.length <= BEGUN_MAX ? longer : null,
      near: [],
      nearest: [],
    }),
  );
  const telling = terms.filter(({ isCommon, isBeginning }) => !isCommon || (isBeginning && terms.length === 1));
  return telling.length > 0 ? telling : terms;
}

/**
 * Words of pages which are so much like each term that it may be one of them, misspelt.
 *
 * All words that are near enough, with no choice among them, and all forms of those that are stems: a page is found by a word or a stem of its own, so
 * which words there are besides, on pages that the caller may not open, changes nothing of what is found on those that they may. Of a word with
 * too many like it, which anybody could publish to make every search for it slow, there are none.
 */
export async function withNear(sql: Queries, terms: readonly Term[]): Promise<Term[]> {
  return withFurther(sql, await withNearest(sql, terms));
}

/** Those that are one mistake away: found by their keys, because all that there may be are known. */
export async function withNearest(sql: Queries, terms: readonly Term[]): Promise<Term[]> {
  const asked = terms.map(({ word }) => ({ word, neighbours: neighboursOf(word) })).filter(({ neighbours }) => neighbours.length > 0);
  if (asked.length === 0) return [...terms];
  const rows = await sql<NearRow[]>`
    select t.word, n.word as near, ${formsOf(sql)} as forms
    from unnest(${asked.map(({ word }) => word)}::text[], ${asked.map(({ neighbours }) => neighbours.join(' '))}::text[]) as t (word, neighbours)
    cross join lateral (
      select word, word as english, word as spanish from search_word where word = any(string_to_array(t.neighbours, ' ')) limit ${NEAR_MAX + 1}::int
    ) n`;
  return terms.map((term) => {
    const nearest = near(term, rows);
    return { ...term, near: nearest, nearest };
  });
}

/**
 * And those that are more mistakes away, of words that are long enough, as far as they begin or end as the word does. Where so many do that it would
 * take long to compare them, which pages can bring about, these are none.
 */
export async function withFurther(sql: Queries, terms: readonly Term[]): Promise<Term[]> {
  const asked = terms.map(({ word }) => word).filter((word) => mistakesMax(word.length) > 1);
  if (asked.length === 0) return [...terms];
  const rows = await sql<NearRow[]>`
    select t.word, n.word as near, ${formsOf(sql)} as forms
    from (select word, left(word, ${BEGINNING_ALIKE}) as beginning, reverse(right(word, ${ENDING_ALIKE})) as ending from unnest(${asked}::text[]) as a (word)) t
    cross join lateral (
      with beginning as materialized (
        select word from search_word where word > t.beginning and word < t.beginning || chr(1114111) limit ${COMPARED_MAX + 1}::int
      ), ending as materialized (
        select word from search_word where reverse(word) > t.ending and reverse(word) < t.ending || chr(1114111) limit ${COMPARED_MAX + 1}::int
      )
      select word, word as english, word as spanish from (
        select word from beginning where (select count(*) from beginning) <= ${COMPARED_MAX}
        union select word from ending where (select count(*) from ending) <= ${COMPARED_MAX}
      ) c
      where case when abs(length(word) - length(t.word)) <= ${MISTAKES_MAX} then levenshtein_less_equal(word, t.word, ${CHANGES_MAX}) <= ${CHANGES_MAX} end
      limit ${NEAR_MAX + 1}::int
    ) n`;
  return terms.map((term) => ({ ...term, near: [...new Set([...term.near, ...near(term, rows)])] }));
}

interface NearRow {
  /** The term. */
  readonly word: string;
  readonly near: string;
  readonly forms: readonly string[];
}

/** None where there are too many. */
function near(term: Term, rows: readonly NearRow[]): string[] {
  const alike = rows.filter(({ word }) => word === term.word);
  if (alike.length > NEAR_MAX) return [];
  const own = new Set([term.word, ...term.forms]);
  const meant = alike.filter((each) => each.near !== term.word && isNear(term.word, each.near));
  return [...new Set(meant.flatMap((each) => [each.near, ...each.forms]))].filter((word) => !own.has(word));
}

const quoted = (word: string) => `'${word}'`;
const either = (words: readonly string[]) => [...new Set(words)].map(quoted).join(' | ');

/** A tsquery for the words of pages. Words are letters and digits alone, so quotes are enough. */
export function exactQuery({ word, stems, forms, isBeginning, begun }: Term): string {
  if (!isBeginning || word.length < BEGINNING_CHARS_MIN) return either([word, ...stems, ...forms]);
  const known = either([word, ...stems, ...forms, ...(begun ?? [])]);
  return begun === null ? `${known} | ${quoted(word)}:*` : known;
}

/** The same for pages of strangers, of which there are too many to look for beginnings in what they say, and for all words that are near. */
export function wholeQuery({ word, stems, forms, nearest }: Pick<Term, 'word' | 'stems' | 'forms' | 'nearest'>): string {
  return either([word, ...stems, ...forms, ...nearest]);
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
export function nameQuery({ word, stems, forms, isBeginning }: Term): string {
  return either([word, ...stems, ...forms]) + (isBeginning ? ` | ${quoted(word)}:*` : '');
}

/** The same of the words that are nearest. */
export function nearestQuery({ nearest }: Term): string | null {
  return nearest.length === 0 ? null : either(nearest);
}

/** A tsquery for what the word may have been meant to be; null where there is nothing. */
export function nearQuery({ near }: Term): string | null {
  return near.length === 0 ? null : either(near);
}
