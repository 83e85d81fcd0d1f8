/**
 * Takes out of a model's answer what is none of its business: marks of citations that do not exist, links and addresses. A page that the model
 * obeys so sends nobody anywhere; addresses that a source has are in its quote.
 */
import type { Source } from './sources.ts';

const LINK = /!?\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)/g;
const MARKS = /[ \t]?\[(\d{1,4}(?:\s{0,2},\s{0,2}\d{1,4}){0,20})\]/g;
/** Also without a scheme, which a browser takes from the page. Behind a letter, a digit or a sign of an address two slashes are no beginning of one. */
const ADDRESS = /(?:\b(?:https?:\/\/|www\.)|(?<![\p{L}\p{N}:/.])\/\/(?=[\p{L}\p{N}]))[^\s<>"'`\])]+/giu;
/** How much may be held back in wait for a bracket that closes. */
const HELD_CHARS_MAX = 2400;

export class Cleaning {
  readonly #sources: readonly Source[];
  /** The numbers that the answer has, by those that the model was given: in the order in which sources are named. */
  readonly #numbers = new Map<number, number>();
  #held = '';
  #text = '';

  constructor(sources: readonly Source[]) {
    this.#sources = sources;
  }

  /** All that was given out so far. */
  get text(): string {
    return this.#text;
  }

  /** The sources that the answer names, in the order of its numbers. */
  get cited(): readonly Source[] {
    return [...this.#numbers.keys()].flatMap((number) => this.#sources[number - 1] ?? []);
  }

  /** What can be given out by now: whole words, and no bracket that is open. */
  push(piece: string): string {
    this.#held += piece;
    const end = this.#held.length > HELD_CHARS_MAX ? this.#held.length : safeEnd(this.#held);
    return this.#take(end);
  }

  end(): string {
    return this.#take(this.#held.length);
  }

  #take(end: number): string {
    const cleaned = this.#clean(this.#held.slice(0, end));
    this.#held = this.#held.slice(end);
    this.#text += cleaned;
    return cleaned;
  }

  #clean(text: string): string {
    return text
      .replace(LINK, '$1')
      .replace(MARKS, (mark, numbers: string) => this.#known(mark, numbers))
      .replace(ADDRESS, '…');
  }

  #known(mark: string, numbers: string): string {
    const known = numbers
      .split(',')
      .map(Number)
      .filter((number) => number >= 1 && number <= this.#sources.length);
    if (known.length === 0) return '';
    return `${/^[ \t]/.exec(mark)?.[0] ?? ''}[${known.map((number) => this.#numberOf(number)).join(', ')}]`;
  }

  #numberOf(given: number): number {
    const number = this.#numbers.get(given) ?? this.#numbers.size + 1;
    this.#numbers.set(given, number);
    return number;
  }
}

/** Before the last space with no bracket open there; the space stays with what follows, because a mark is taken out with it. */
function safeEnd(text: string): number {
  let end = Math.max(text.lastIndexOf(' '), text.lastIndexOf('\n'));
  for (; end > 0; end = Math.max(text.lastIndexOf(' ', end - 1), text.lastIndexOf('\n', end - 1))) {
    const before = text.slice(0, end);
    if (before.lastIndexOf('[') <= before.lastIndexOf(']')) return end;
  }
  return 0;
}
