/**
 * Which words are one word in several forms: those with the same stem in one of the languages. Nobody says in which language they look for something,
 * and the Spanish stemmer cuts English words, too: `sales`, `salad` and `sal` are one to it. What it leaves of so short a word says little, so these
 * are one word only where one is the plural of the other: `casa` and `casas`, `mes` and `meses`.
 */
import { stemmer as spanishStemOf } from '@orama/stemmers/spanish';
import englishStemOf from 'wink-porter2-stemmer';
import type { Statement } from '../../../storage/sql.ts';
import type { Queries } from '../../deps.ts';

/** Stems as the database has them; null of a word that is everywhere in the language. */
export interface Stemmed {
  readonly word: string;
  readonly english: string | null;
  readonly spanish: string | null;
}

/** A Spanish stem of so many letters says little. */
const SHORT_STEM_CHARS = 3;
/** A word has at most so many letters behind its stem: `addit`, `additionally`. */
const ENDING_CHARS_MAX = 8;
/** A stem has few endings; nobody can make pages say more forms of a word than there are. */
const FORMS_MAX = 200;

/** How all words with this stem begin: `polici` is the stem of `policy`. */
function beginningOf(stem: string): string {
  return stem.length > 3 && stem.endsWith('i') ? stem.slice(0, -1) : stem;
}

/** Not with `es`, which the list of pages' words is asked for alone: it knows that `not`, of which `notes` would be the plural, is everywhere. */
function differByPlural(one: string, other: string): boolean {
  return one === `${other}s` || other === `${one}s`;
}

function isLong(stem: string): boolean {
  return stem.length > SHORT_STEM_CHARS;
}

/** The stems of a word that are words to look for, as far as they are others than itself. */
export function stemsOf({ word, english, spanish }: Stemmed): string[] {
  const meant = spanish !== null && (isLong(spanish) || word === `${spanish}s`) ? spanish : null;
  return [...new Set([english, meant])].filter((stem): stem is string => stem !== null && stem !== word);
}

/** With one of these begins each word that is a form of this one. */
export function beginningsOf({ word, english, spanish }: Stemmed): string[] {
  return [word, english, spanish].filter((stem) => stem !== null).map(beginningOf);
}

/** Whether they are one word in two forms. */
export function isFormOf(word: string, { word: other, english, spanish }: Stemmed): boolean {
  if (english !== null && mayHave(word, english) && englishStemOf(word) === english) return true;
  if (spanish === null || !mayHave(word, spanish)) return false;
  return (isLong(spanish) || differByPlural(word, other)) && spanishStemOf(word) === spanish;
}

/** Stems are worked out of few words, because it takes longer than all else that is done with one. */
function mayHave(word: string, stem: string): boolean {
  return word.length <= stem.length + ENDING_CHARS_MAX && word.startsWith(beginningOf(stem));
}

/** An array of the words of pages that are forms of `n`, a row with `word`, `english` and `spanish`. */
export function formsOf(sql: Queries): Statement {
  return sql`
    array(select w.word from search_word w
      where w.english = n.english or (w.spanish = n.spanish and (length(n.spanish) > ${SHORT_STEM_CHARS}::int
        or (w.english is not null and (w.word in (n.word || 's', n.word || 'es') or n.word in (w.word || 's', w.word || 'es')))))
      limit ${FORMS_MAX}::int)`;
}
