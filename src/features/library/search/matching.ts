/** Which words of a text are meant by the terms, and how well a piece of text fits. No I/O. */
import { Beginnings } from './beginnings.ts';
import { eachWord } from './folding.ts';
import type { Piece } from './passages-of.ts';
import { beginningOf, isFormOf, type Term } from './terms.ts';

export class Matcher {
  readonly terms: readonly Term[];
  /** Whether the headings of pieces count as well. */
  readonly byHeadings: boolean;
  readonly #meant: readonly { readonly term: Term; readonly near: ReadonlySet<string> }[];
  readonly #beginnings: Beginnings;
  /** Answers of `termOf`: a text says the same words again and again. */
  readonly #known = new Map<string, number>();

  constructor(terms: readonly Term[], { byHeadings }: { readonly byHeadings: boolean }) {
    this.terms = terms;
    this.byHeadings = byHeadings;
    this.#meant = terms.map((term) => ({ term, near: new Set(term.near) }));
    this.#beginnings = new Beginnings(terms.flatMap((term) => [term.word, ...term.forms, ...term.stems.map(beginningOf), ...term.near]));
  }

  /** The place of the first term that means this word; -1 where none does. */
  termOf(word: string): number {
    let at = this.#known.get(word);
    if (at === undefined) {
      at = this.#meant.findIndex(({ term, near }) => means(term, word) || near.has(word));
      this.#known.set(word, at);
    }
    return at;
  }

  /** Whether one of them may be in the text: as far as can be told without looking at each of its words. */
  mayBeIn(text: string): boolean {
    return this.#beginnings.isIn(text);
  }

  mayBeInBytes(bytes: Buffer, from: number, to: number): boolean {
    return this.#beginnings.isInBytes(bytes, from, to);
  }

  /** How often each term is in the text, and its words. */
  countIn(text: string): { readonly counts: readonly number[]; readonly words: number } {
    const counts = this.#meant.map(() => 0);
    let words = 0;
    this.#eachWord(text, (word) => {
      words += 1;
      const at = word === '' ? -1 : this.termOf(word);
      if (at >= 0) counts[at] = (counts[at] ?? 0) + 1;
    });
    return { counts, words };
  }

  /** Where words that are meant begin and end. */
  marksIn(text: string): [number, number][] {
    const marks: [number, number][] = [];
    this.#eachWord(text, (word, start, end) => {
      if (word !== '' && this.termOf(word) >= 0) marks.push([start, end]);
    });
    return marks;
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
