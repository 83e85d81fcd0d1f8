/** The stems of words, asked of the database once and then remembered: pages say mostly the same words. */
import type { Sql } from '../../../storage/sql.ts';
import type { Stems } from './document-words.ts';
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
  #known = new Map<string, Stems>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Of all of these and of others. Those that others may mean are in the table of words before this resolves, so that no page is found by a misspelt
   * word only because another page says the word too.
   */
  async of(words: ReadonlyMap<string, unknown>): Promise<ReadonlyMap<string, Stems>> {
    // A full book is left to whoever reads it still.
    if (this.#known.size >= KNOWN_MAX) this.#known = new Map();
    const known = this.#known;
    const unknown: string[] = [];
    for (const word of words.keys()) if (!known.has(word)) unknown.push(word);
    for (let at = 0; at < unknown.length; at += LEARNT_AT_ONCE) {
      const some = unknown.slice(at, at + LEARNT_AT_ONCE);
      for (const { word, english, spanish } of await learnWords(this.#sql, some, some.filter(isSpelt)))
        known.set(word, { english, spanish });
    }
    return known;
  }
}
