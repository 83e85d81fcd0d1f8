/**
 * Pages that differ as real ones do: paragraphs of the documentation of npm packages, mixed anew for each page, with invented words among them,
 * because every page of an instance has some that hardly another has.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { QUALITY_SET } from './quality-set.ts';

const PARAGRAPH_CHARS = { min: 80, max: 1200 };
/** Of the text of a page, without its markup. */
const TEXT_CHARS = 20_000;
const INVENTED = 60_000;
const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru pla ste tri'.split(' ');

export interface Page {
  readonly name: string;
  readonly slug: string;
  readonly text: string;
  /** The only file of the page. */
  readonly file: { readonly path: string; readonly mime: string; readonly content: string };
}

const NAMES = ['README.md', 'readme.md', 'Readme.md'];

/** The documentation that the quality set asks for, in its order. */
export function qualityPages(modules: string): Page[] {
  return QUALITY_SET.map(({ name }) => {
    const file = NAMES.map((each) => join(modules, name, each)).find(existsSync);
    if (file === undefined) throw new Error(`${name} has no documentation`);
    const text = readFileSync(file, 'utf8');
    return { name, slug: `quality-${name}`, text, file: { path: 'readme.md', mime: 'text/markdown; charset=utf-8', content: text } };
  });
}

/** The next number of a seeded sequence, from 0 up to and without `below`. */
export type Draw = (below: number) => number;

/** Numerical Recipes' LCG: the same pages and queries in every run. */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export class Corpus {
  readonly #paragraphs: readonly string[];

  /** Reads the packages below `modules`, without those that the quality set asks for. */
  constructor(modules: string) {
    const asked = new Set(QUALITY_SET.map(({ name }) => name));
    this.#paragraphs = readdirSync(modules)
      .filter((name) => !asked.has(name) && existsSync(join(modules, name, 'README.md')))
      .sort()
      .flatMap((name) => readFileSync(join(modules, name, 'README.md'), 'utf8').split(/\n\s*\n/))
      .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
      .filter(({ length }) => length >= PARAGRAPH_CHARS.min && length <= PARAGRAPH_CHARS.max);
    if (this.#paragraphs.length < 1000) throw new Error(`Only ${this.#paragraphs.length} paragraphs were found below ${modules}.`);
  }

  page(number: number): Page {
    const draw = drawFrom(number * 2654435761 + 1);
    // Some of the invented words are frequent and most are rare.
    const invented = () => inventedWord(Math.floor(draw(INVENTED) * (draw(1000) / 1000) ** 3));
    const name = `${invented()} ${invented()} ${number}`;
    const paragraphs: string[] = [];
    for (let chars = 0; chars < TEXT_CHARS; ) {
      const paragraph = `${this.#paragraphs[draw(this.#paragraphs.length)]} ${invented()}.`;
      paragraphs.push(paragraph);
      chars += paragraph.length;
    }
    const body = paragraphs.map((text, at) => `${at % 6 === 0 ? `<h2>${escaped(text.slice(0, 40))}</h2>` : ''}<p>${escaped(text)}</p>`);
    return {
      name,
      slug: `page-${number}`,
      text: paragraphs.join('\n'),
      file: {
        path: 'index.html',
        mime: 'text/html; charset=utf-8',
        content: `<!doctype html><html lang="en"><head><title>${name}</title></head><body><h1>${name}</h1>${body.join('\n')}</body></html>`,
      },
    };
  }

  /** What somebody types who remembers a page: some of its words, every other time one of them misspelt, and the last one begun in one of three. */
  query(page: Page, draw: Draw): string {
    const words = [...new Set(page.text.match(/[a-z]{5,12}/g) ?? [])];
    const typed = Array.from({ length: 1 + draw(3) }, () => words[draw(words.length)] ?? 'page');
    if (draw(2) === 0) typed[0] = misspelt(typed[0] ?? '', draw);
    if (draw(3) === 0) typed.push((typed.pop() ?? '').slice(0, 4));
    return typed.join(' ');
  }
}

function misspelt(word: string, draw: Draw): string {
  const at = 1 + draw(word.length - 2);
  return word.slice(0, at) + (word[at + 1] ?? '') + (word[at] ?? '') + word.slice(at + 2);
}

function inventedWord(number: number): string {
  const syllables: string[] = [];
  for (let rest = number + SYLLABLES.length; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    syllables.push(SYLLABLES[rest % SYLLABLES.length] ?? '');
  return `${syllables.join('')}n`;
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}
