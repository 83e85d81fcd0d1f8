/** Which words of a text are meant by the terms, and how well a piece of text fits. No I/O. */
import { Beginnings } from './beginnings.ts';
import { eachWord } from './folding.ts';
import { beginningsOf, isFormOf } from './forms.ts';
import type { Piece } from './passages-of.ts';
import type { Term } from './terms.ts';

/** What a word counts that may only have been meant to be the term. */
const NEAR_COUNTS = 0.5;

export class Matcher {
  readonly terms: readonly Term[];
  /** Whether the headings of pieces count as well. */
  readonly byHeadings: boolean;
  readonly #meant: readonly { readonly term: Term; readonly near: ReadonlySet<string> }[];
  readonly #beginnings: Beginnings;
  /** Answers of `#meaningOf`: a text says the same words again and again. */
  readonly #known = new Map<string, number>();

  constructor(terms: readonly Term[], { byHeadings }: { readonly byHeadings: boolean }) {
    this.terms = terms;
    this.byHeadings = byHeadings;
    this.#meant = terms.map((term) => ({ term, near: new Set(term.near) }));
    this.#beginnings = new Beginnings(terms.flatMap((term) => [term.word, ...term.forms, ...beginningsOf(term), ...term.near]));
  }

  /** Which term a word is: twice its place, and one more where it may only have been meant; -1 where it is none. */
  #meaningOf(word: string): number {
    let meaning = this.#known.get(word);
    if (meaning === undefined) {
      const at = this.#meant.findIndex(({ term }) => means(term, word));
      const near = at < 0 ? this.#meant.findIndex((each) => each.near.has(word)) : -1;
      meaning = at >= 0 ? 2 * at : near >= 0 ? 2 * near + 1 : -1;
      this.#known.set(word, meaning);
    }
    return meaning;
  }

  /** Whether one of them may be in the text: as far as can be told without looking at each of its words. */
  mayBeIn(text: string): boolean {
    return this.#beginnings.isIn(text);
  }

  mayBeInBytes(bytes: Buffer, from: number, to: number): boolean {
    return this.#beginnings.isInBytes(bytes, from, to);
  }

  /** How often each term is in the text, and its words. All that may only have been meant is less than one that is said. */
  countIn(text: string): { readonly counts: readonly number[]; readonly words: number } {
    const counts = this.#meant.map(() => 0);
    const isNear = this.#meant.map(() => false);
    let words = 0;
    this.#eachWord(text, (word) => {
      words += 1;
      const meaning = word === '' ? -1 : this.#meaningOf(word);
      if (meaning < 0) return;
      const at = meaning >> 1;
      if (meaning % 2 === 0) counts[at] = (counts[at] ?? 0) + 1;
      else isNear[at] = true;
    });
    return { counts: counts.map((count, at) => count + (isNear[at] ? NEAR_COUNTS : 0)), words };
  }

  /** Where words that are meant begin and end. Of a term that is said as it is, words that are only like it are not meant. */
  marksIn(text: string): [number, number][] {
    const marks: { readonly meaning: number; readonly place: [number, number] }[] = [];
    const said = new Set<number>();
    this.#eachWord(text, (word, start, end) => {
      const meaning = word === '' ? -1 : this.#meaningOf(word);
      if (meaning < 0) return;
      if (meaning % 2 === 0) said.add(meaning);
      marks.push({ meaning, place: [start, end] });
    });
    return marks.filter(({ meaning }) => meaning % 2 === 0 || !said.has(meaning - 1)).map(({ place }) => place);
  }

  /** Most words are none of the terms by their first two letters, and become no string. */
  #eachWord(text: string, take: (word: string, start: number, end: number) => void): void {
    eachWord(text, take, (lower, start) => this.#beginnings.mayBegin(lower, start));
  }
}

function means(term: Term, word: string): boolean {
  return word === term.word || term.forms.includes(word) || (term.isBeginning && word.startsWith(term.word)) || isFormOf(word, term);
}

// The usual constants of BM25.
const SATURATION = 1.2;
const LENGTH = 0.75;
const HEADING_COUNTS = 2;

/** Each piece with how well it fits: by how many of the terms are in it, how rare they are among these pieces, and how often (BM25). */
export function ranked<P extends Piece>(pieces: readonly P[], matcher: Matcher): { readonly piece: P; readonly score: number }[] {
  const counted = pieces.map((piece) => {
    const { counts, words } = matcher.countIn(piece.text);
    const above = matcher.countIn(piece.heading ?? '').counts;
    return { piece, words, counts: counts.map((count, at) => count + HEADING_COUNTS * Math.min(above[at] ?? 0, 1)) };
  });
  const usual = counted.reduce((sum, { words }) => sum + words, 0) / Math.max(1, counted.length) || 1;
  const rarity = matcher.terms.map((_, at) => {
    const having = counted.filter(({ counts }) => (counts[at] ?? 0) > 0).length;
    return Math.log(1 + (counted.length - having + 0.5) / (having + 0.5));
  });
  return counted
    .map(({ piece, words, counts }) => {
      const damping = SATURATION * (1 - LENGTH + (LENGTH * words) / usual);
      const score = counts.reduce((sum, count, at) => sum + ((rarity[at] ?? 0) * count * (SATURATION + 1)) / (count + damping), 0);
      return { piece, score };
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
}
