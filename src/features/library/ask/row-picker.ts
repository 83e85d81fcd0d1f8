/** Picks a few of many rows: the first ones, and those that have most words of the questions. It keeps nothing of the others. No I/O. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { together } from './earlier.ts';
import type { Fitting } from './fitting.ts';

export interface Questions {
  readonly own: Fitting;
  /** What was asked before. */
  readonly earlier: Fitting | undefined;
}

interface Row {
  /** Its number, from 0. */
  readonly at: number;
  readonly text: string;
}

export interface PickedRows {
  readonly fitting: readonly string[];
  /** Of the first rows those that are not among them. */
  readonly first: readonly string[];
}

export class RowPicker {
  readonly #own: Best;
  readonly #earlier: Best | undefined;
  readonly #first: Row[] = [];
  #rows = 0;

  constructor({ own, earlier }: Questions) {
    this.#own = new Best(own);
    this.#earlier = earlier && new Best(earlier);
  }

  /** How many it has seen. */
  get rows(): number {
    return this.#rows;
  }

  /** `json`: the next row. */
  add(json: string): void {
    const at = this.#rows;
    this.#rows += 1;
    if (this.#first.length < LIMITS.agentFirstRowsMax) this.#first.push({ at, text: shown(json, 0) });
    const sides = [this.#own, this.#earlier].filter((side) => side !== undefined).filter((side) => side.mayTake(json));
    if (sides.length === 0) return;
    const values = valuesOf(json);
    for (const side of sides) side.take(at, json, values);
  }

  picked(): PickedRows {
    const { own, earlier } = together(this.#own.rows, this.#earlier?.rows ?? [], LIMITS.agentFittingRowsMax, ({ at }) => at);
    const fitting = [...own, ...earlier];
    const places = new Set(fitting.map(({ at }) => at));
    const textOf = ({ text }: Row) => text;
    return { fitting: fitting.map(textOf), first: this.#first.filter(({ at }) => !places.has(at)).map(textOf) };
  }
}

/** The rows that fit one question best, best first; among those that fit alike the first ones. */
class Best {
  readonly #question: Fitting;
  readonly #rows: (Row & { readonly fit: number })[] = [];

  constructor(question: Fitting) {
    this.#question = question;
  }

  get rows(): readonly Row[] {
    return this.#rows;
  }

  mayTake(json: string): boolean {
    // Behind an escape such as \n the word would begin with its letter.
    return json.includes('\\') || this.#question.mayFit(json);
  }

  take(at: number, json: string, values: string): void {
    const fit = this.#question.fit(null, values);
    const isFull = this.#rows.length >= LIMITS.agentFittingRowsMax;
    if (fit === 0 || (isFull && fit <= (this.#rows.at(-1)?.fit ?? 0))) return;
    if (isFull) this.#rows.pop();
    const place = this.#rows.findIndex((row) => row.fit < fit);
    this.#rows.splice(place < 0 ? this.#rows.length : place, 0, { at, fit, text: shown(json, this.#question.firstIn(values)) });
  }
}

const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;
const ESCAPES = /\\(?:u[0-9a-fA-F]{4}|.)/g;

/** With spaces in place of the names of fields, which every row has, so that a row fits by what it says. What stays is where it was. */
function valuesOf(json: string): string {
  const values = json.replace(STRINGS, (string, isName: string | undefined) => (isName === undefined ? string : ' '.repeat(string.length)));
  return values.includes('\\') ? values.replace(ESCAPES, (sign) => ' '.repeat(sign.length)) : values;
}

/** A part of a long row that has the place in it, not cut in the middle of a character. */
function shown(json: string, place: number): string {
  const charsMax = LIMITS.agentRowCharsMax;
  if (json.length <= charsMax) return json;
  const from = place < charsMax / 2 ? 0 : place - charsMax / 4;
  const part = json.slice(from, from + charsMax).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${from > 0 ? '…' : ''}${part}${from + charsMax < json.length ? '…' : ''}`;
}
