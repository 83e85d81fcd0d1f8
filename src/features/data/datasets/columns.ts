/** The columns of a dataset: their names in the order in which they appear, and what type fits all values of each. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { DatasetColumn } from '../../../../protocol/data/datasets.ts';

const NUMBER = 1;
const BOOLEAN = 2;
const DATE = 4;
const TEXT = 8;
const OTHER = 16;

const DATE_TEXT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

export class Columns {
  /** What kinds of values each column has, as bits. */
  readonly #kinds = new Map<string, number>();

  /** Columns that a header names are there even where no row has a value. Throws INVALID_REQUEST. */
  name(names: readonly string[]): void {
    for (const name of names) this.#kinds.set(name, this.#known(name));
  }

  /** Throws INVALID_REQUEST. */
  see(name: string, value: unknown): void {
    const known = this.#known(name);
    // A text that is no date decides for the column, so further texts need no look.
    const kinds = known | (typeof value === 'string' && (known & TEXT) !== 0 ? TEXT : kindOf(value));
    if (kinds !== known || !this.#kinds.has(name)) this.#kinds.set(name, kinds);
  }

  list(): DatasetColumn[] {
    return [...this.#kinds].map(([name, kinds]) => ({ name, type: typeOf(kinds) }));
  }

  #known(name: string): number {
    const known = this.#kinds.get(name);
    if (known !== undefined) return known;
    if (name === '') throw new Failure('INVALID_REQUEST', { message: 'A field has an empty name.' });
    if (name.length > LIMITS.datasetColumnCharsMax) {
      throw new Failure('INVALID_REQUEST', {
        message: `The name of the field ${name.slice(0, 40)}… has more than ${LIMITS.datasetColumnCharsMax} characters.`,
      });
    }
    if (this.#kinds.size >= LIMITS.datasetColumnsMax) {
      throw new Failure('INVALID_REQUEST', { message: `The rows have more than ${LIMITS.datasetColumnsMax} different fields.` });
    }
    return 0;
  }
}

function kindOf(value: unknown): number {
  switch (typeof value) {
    case 'number':
      return NUMBER;
    case 'boolean':
      return BOOLEAN;
    case 'string':
      return isDate(value) ? DATE : TEXT;
    default:
      return value === null ? 0 : OTHER;
  }
}

function isDate(text: string): boolean {
  if (!DATE_TEXT.test(text) || Number.isNaN(Date.parse(text))) return false;
  // `Date.parse` takes the 30th of February for the 2nd of March.
  const day = text.slice(0, 10);
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

function typeOf(kinds: number): DatasetColumn['type'] {
  switch (kinds) {
    case NUMBER:
      return 'number';
    case BOOLEAN:
      return 'boolean';
    case DATE:
      return 'date';
    case 0:
    case TEXT:
    case TEXT | DATE:
      return 'string';
    default:
      return 'json';
  }
}
