/** The stems of words, asked of the database once and then remembered: pages say mostly the same words. */
import { loopTurns } from '../../../platform/loop-turns.ts';
import type { Sql } from '../../../storage/sql.ts';
import type { CommonWords, DocumentWords, Stems } from './document-words.ts';
import { learnWords } from './index-rows.ts';

const KNOWN_MAX = 100_000;
/** Words of one statement. */
const LEARNT_AT_ONCE = 5000;

/** Only scripts in which words are misspelt by letters: each further letter would be a further neighbour of every word. */
const SPELT = /^(?=\p{L}+$)[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{3,32}$/u;

/** Whether a misspelt word may have meant it, or a beginning. */
export function isSpelt(word: string): boolean {
  return SPELT.test(word);
}

export class StemBook {
  readonly #sql: Sql;
  #known: Book = newBook();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Those of the words of pages that are common, and others. When this resolves, the words that others may mean are in the table of words, so that no
   * page is found by a misspelt word only because another page says the word too.
   */
  async commonOf(pages: readonly DocumentWords[]): Promise<CommonWords> {
    // A full book is left to whoever reads it still.
    if (this.#known.all.size >= KNOWN_MAX) this.#known = newBook();
    const { all, common } = this.#known;
    const unknown = new Set<string>();
    for (const { words } of pages) {
      // A page has at most twenty thousand.
      await loopTurns.next('search');
      for (const word of words) if (!all.has(word)) unknown.add(word);
    }
    const list = [...unknown];
    for (let at = 0; at < list.length; at += LEARNT_AT_ONCE) {
      const some = list.slice(at, at + LEARNT_AT_ONCE);
      for (const { word, english, spanish } of await learnWords(this.#sql, some, some.filter(isSpelt))) {
        all.add(word);
        if (english === null || spanish === null) common.set(word, { english, spanish });
      }
    }
    return common;
  }
}

interface Book {
  readonly all: Set<string>;
  readonly common: Map<string, Stems>;
}

function newBook(): Book {
  return { all: new Set(), common: new Map() };
}
