/** What a mail says, before it becomes text and HTML, and how words of other people are put into it. */

export const LOCALES = ['en', 'es'] as const;
export type Locale = (typeof LOCALES)[number];

export interface Action {
  readonly label: string;
  readonly url: string;
}

export interface Message {
  readonly subject: string;
  readonly heading: string;
  readonly lead: string;
  /** A code to type in. It is the first line of the text part. */
  readonly code?: string;
  /** Words of somebody else, shown as a quotation. */
  readonly quote?: string;
  /** A link. `url` is made by us and never by whoever caused the mail. */
  readonly action?: Action;
  /** A second button beside it. */
  readonly otherAction?: Action;
  /** Shown small, below everything else. */
  readonly notes: readonly string[];
}

/** The texts of one mail, in every locale. */
export type Template<Facts> = Readonly<Record<Locale, (facts: Facts) => Message>>;

const NAME_CHARS_MAX = 120;
const QUOTE_CHARS_MAX = 300;
/** Characters that reorder the text around them. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const WORD_JOINER = '\u2060';

/**
 * A name that somebody chose, for the inside of a sentence or a subject: one line, bounded, and without anything that a mail program would
 * turn into a link, because strangers can send mail with their names in it.
 */
export function named(name: string): string {
  const line = cut(name.replace(BIDI_CONTROLS, '').replace(/[\p{Cc}\s]+/gu, ' '), NAME_CHARS_MAX).trim();
  return line.replace(/(?<=[\p{L}\p{N}])\.(?=[\p{L}\p{N}])/gu, `${WORD_JOINER}.`).replace(/:(?=\/\/)/g, `:${WORD_JOINER}`);
}

/** Several lines that somebody wrote, bounded. */
export function quoted(text: string, charsMax = QUOTE_CHARS_MAX): string {
  const lines = text.replace(BIDI_CONTROLS, '').replace(/\r\n?/g, '\n');
  return cut(lines.replace(/[^\P{Cc}\n\t]/gu, ' '), charsMax).trim();
}

/** The first of `wanted` that is a language we have: what the account asks for, then what its workspace has. */
export function localeOf(...wanted: readonly unknown[]): Locale {
  for (const tag of wanted) {
    const language = typeof tag === 'string' ? tag.toLowerCase().split(/[-_]/)[0] : undefined;
    const known = LOCALES.find((locale) => locale === language);
    if (known !== undefined) return known;
  }
  return 'en';
}

/** For headers: a line break in one would begin another. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

function cut(text: string, charsMax: number): string {
  const chars = [...text];
  return chars.length > charsMax ? `${chars.slice(0, charsMax).join('')}…` : text;
}
