/** The text of a page in blocks, each below its heading: without markup, scripts and styles. Takes linear time, and may be given a page in parts. */
import { Parser } from 'htmlparser2';

export interface Block {
  /** The nearest heading above; null before the first. */
  readonly heading: string | null;
  readonly text: string;
}

/** Takes a page in parts. `isFull`: no more is wanted. */
export interface TextReader {
  readonly isFull: boolean;
  write(part: string): void;
  end(): PageText;
}

export interface PageText {
  /** The title and description of the page. */
  readonly titles: readonly string[];
  readonly blocks: readonly Block[];
}

const HIDDEN = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'object', 'svg', 'canvas', 'select', 'datalist']);
const HEADINGS = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
const INLINE = new Set(
  'a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strong sub sup time tt u var wbr'.split(' '),
);
const HEADING_CHARS_MAX = 200;
/**
 * Elements open at once. The parser looks through all that are open at each end tag, so a deeper page would take quadratic time; browsers
 * stop nesting at 512.
 */
const DEPTH_MAX = 500;
/** Between two of these pieces the reader asks whether it is full, so that the depth passes its limit by little. */
const PIECE_CHARS = 1024;

/** Gathers blocks until there is enough text. */
class Gathered {
  readonly titles: string[] = [];
  readonly blocks: Block[] = [];
  #heading: string | null = null;
  #left: number;

  constructor(charsMax: number) {
    this.#left = charsMax;
  }

  get isFull(): boolean {
    return this.#left <= 0;
  }

  heading(raw: string): void {
    const text = cut(raw, HEADING_CHARS_MAX);
    if (text === '') return;
    this.#heading = text;
    this.#left -= text.length;
    // A heading without text below it is found too.
    this.blocks.push({ heading: text, text: '' });
  }

  block(raw: string): void {
    const text = cut(raw, Math.max(0, this.#left));
    if (text === '') return;
    this.#left -= text.length;
    this.blocks.push({ heading: this.#heading, text });
  }

  title(raw: string): void {
    const text = cut(raw, HEADING_CHARS_MAX);
    if (text !== '' && this.titles.length < 4) this.titles.push(text);
  }
}

/** Those of pairs too, which takes a fraction of the time. */
const SURROGATES = /[\ud800-\udfff]/;

/** With single spaces, and without what Postgres refuses: NUL, and half a surrogate pair, such as a cut leaves of an emoji. */
function cut(raw: string, charsMax: number): string {
  const text = spaced(raw).slice(0, charsMax);
  return SURROGATES.test(text) ? text.replace(/\p{Surrogate}/gu, '') : text;
}

/** Every run of these becomes one space. A single space stays as it is: there is one behind every word, and to replace each takes most of the time. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: files in UTF-16 have NUL beside every letter
const UNEVEN = / [\s\u0000\u200b\ufeff]+|[^\S ][\s\u0000\u200b\ufeff]*|[\u0000\u200b][\s\u0000\u200b\ufeff]*/g;
/** Says where a word may be broken, and is not shown elsewhere. */
const SOFT_HYPHEN = '\u00ad';

function spaced(text: string): string {
  const whole = text.includes(SOFT_HYPHEN) ? text.replaceAll(SOFT_HYPHEN, '') : text;
  return whole.replace(UNEVEN, ' ').trim();
}

export class HtmlText implements TextReader {
  readonly #gathered: Gathered;
  readonly #parser: Parser;
  #text = '';
  /** Open elements. */
  #depth = 0;
  #into: 'block' | 'heading' | 'title' = 'block';
  /** Elements that are open inside one of which nothing is shown, itself included. */
  #hidden: string[] = [];

  constructor(charsMax: number) {
    const gathered = new Gathered(charsMax);
    this.#gathered = gathered;
    this.#parser = new Parser({
      onopentag: (name, attributes) => {
        this.#depth += 1;
        this.#open(name, attributes);
      },
      ontext: (text) => {
        // One block of text that never ends is no reason to hold it all.
        if (this.#hidden.length === 0 && this.#text.length <= charsMax) this.#text += text;
      },
      onclosetag: (name) => {
        this.#depth -= 1;
        this.#close(name);
      },
    });
  }

  get isFull(): boolean {
    return this.#gathered.isFull || this.#depth > DEPTH_MAX;
  }

  write(part: string): void {
    for (let at = 0; at < part.length && !this.isFull; at += PIECE_CHARS) this.#parser.write(part.slice(at, at + PIECE_CHARS));
  }

  end(): PageText {
    // Of a page that is not read to its end the parser would take half a tag for text.
    if (!this.isFull) this.#parser.end();
    this.#flush();
    return this.#gathered;
  }

  #open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#hidden.length > 0) {
      if (name === this.#hidden[0]) this.#hidden.push(name);
      return;
    }
    if (HIDDEN.has(name)) {
      this.#hidden = [name];
      return;
    }
    if (name === 'meta') {
      if (/^(?:description|keywords)$/i.test(attributes.name ?? '')) this.#gathered.title(attributes.content ?? '');
      return;
    }
    if (name === 'img' && attributes.alt !== undefined) this.#text += ` ${attributes.alt.slice(0, HEADING_CHARS_MAX)} `;
    if (INLINE.has(name)) return;
    if (this.#into === 'heading' && name === 'br') this.#text += ' ';
    if (this.#into === 'heading') return;
    this.#flush();
    if (name === 'title') this.#into = 'title';
    else if (HEADINGS.has(name)) this.#into = 'heading';
  }

  #close(name: string): void {
    if (this.#hidden.length > 0) {
      if (name === this.#hidden[0]) this.#hidden.pop();
      return;
    }
    if (INLINE.has(name) || (this.#into === 'heading' && !HEADINGS.has(name))) return;
    this.#flush();
    this.#into = 'block';
  }

  #flush(): void {
    const text = this.#text;
    this.#text = '';
    this.#gathered[this.#into](text);
  }
}

const LINE_CHARS_MAX = 4000;

/** Markdown, and plain text, whose lines are blocks too. */
export class LinesText implements TextReader {
  readonly #gathered: Gathered;
  readonly #isMarkdown: boolean;
  #rest = '';
  #paragraph = '';
  #isFenced = false;

  constructor(charsMax: number, isMarkdown: boolean) {
    this.#gathered = new Gathered(charsMax);
    this.#isMarkdown = isMarkdown;
  }

  get isFull(): boolean {
    return this.#gathered.isFull;
  }

  write(part: string): void {
    if (this.isFull) return;
    const lines = (this.#rest + part).split(/\r?\n/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
    // A line that never ends.
    if (this.#rest.length > LINE_CHARS_MAX) {
      this.#line(this.#rest);
      this.#rest = '';
    }
  }

  end(): PageText {
    this.#line(this.#rest);
    this.#flush();
    return this.#gathered;
  }

  #line(whole: string): void {
    for (let at = 0; at === 0 || at < whole.length; at += LINE_CHARS_MAX) {
      if (this.isFull) return;
      this.#piece(whole.slice(at, at + LINE_CHARS_MAX));
    }
  }

  #piece(line: string): void {
    if (!this.#isMarkdown) this.#text(line);
    else if (/^\s{0,3}(?:```|~~~)/.test(line)) {
      this.#isFenced = !this.#isFenced;
      this.#flush();
    } else if (this.#isFenced) this.#text(line);
    else this.#markdown(line);
  }

  #markdown(line: string): void {
    const heading = /^\s{0,3}#{1,6}\s+(.*)$/.exec(line)?.[1];
    if (heading !== undefined) {
      this.#flush();
      this.#gathered.heading(plainMarkdown(heading.replace(/(?<!\s)\s+#+\s*$/, '')));
    } else if (/^\s{0,3}(?:=+|-+)\s*$/.test(line) && this.#paragraph.trim() !== '') {
      // The line below a heading.
      const text = this.#paragraph;
      this.#paragraph = '';
      this.#gathered.heading(plainMarkdown(text));
    } else this.#text(plainMarkdown(line));
  }

  #text(line: string): void {
    const isBlank = line.trim() === '';
    if (!isBlank) this.#paragraph += ` ${line}`;
    if (isBlank || this.#paragraph.length > LINE_CHARS_MAX) this.#flush();
  }

  #flush(): void {
    this.#gathered.block(this.#paragraph);
    this.#paragraph = '';
  }
}

/** A line without links, pictures, tags and signs of emphasis. What it repeats is bounded, so that no line takes long. */
function plainMarkdown(line: string): string {
  return line
    .replace(/!?\[([^[\]]{0,500})\](?:\([^()\s]{0,1000}(?:\s[^()]{0,300})?\)|\[[^[\]]{0,200}\])/g, '$1')
    .replace(/^\s*\[[^[\]]{0,200}\]:\s*\S.*$/, '')
    .replace(/<\/?[a-zA-Z][^<>]{0,1000}>/g, ' ')
    .replace(/^\s*(?:[-*+>]|\d{1,4}[.)])\s+/, '')
    .replace(/[*`|~]+|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, ' ');
}
