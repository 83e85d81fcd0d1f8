/** How well texts fit a question: by how many of its words they have, where the words are those of the search, in any of their forms. */
import type { Queries } from '../../deps.ts';
import { Matcher } from '../search/matching.ts';
import { type Term, termsOf } from '../search/terms.ts';

/** More than the words of any question. */
const WORD_COUNTS = 100;

export class Fitting {
  readonly #matcher: Matcher;

  constructor(terms: readonly Term[]) {
    this.#matcher = new Matcher(terms, { byHeadings: true });
  }

  /** Words that are everywhere tell nothing of what is asked about. */
  static async of(sql: Queries, question: string): Promise<Fitting> {
    return new Fitting((await termsOf(sql, question, false)).filter(({ isCommon }) => !isCommon));
  }

  /** More words first; among as many, those that have more of them in what they are called. 0: none. */
  fit(heading: string | null, text: string): number {
    const inText = this.#matcher.countIn(text).counts;
    const inHeading = this.#matcher.countIn(heading ?? '').counts;
    const has = inText.filter((count, at) => count > 0 || (inHeading[at] ?? 0) > 0).length;
    return has * WORD_COUNTS + inHeading.filter((count) => count > 0).length;
  }

  /** Quickly, whether one of the words may be in it. */
  mayFit(text: string): boolean {
    return this.#matcher.mayBeIn(text);
  }

  /** Where its first fitting word begins; 0 where there is none. */
  firstIn(text: string): number {
    return this.#matcher.marksIn(text)[0]?.[0] ?? 0;
  }
}
