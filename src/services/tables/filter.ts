/**
 * The filter of table rows: read once into a tree that the rest trusts.
 *
 * What it means. A row is its own fields and `id`, `createdAt`, `updatedAt` (texts). A path is split at its dots; a step goes into an
 * object by name and into an array by whole number, from the end where it is negative. Types are never converted:
 * - `$eq` (and a bare value) is deep equality; `null` also equals what is missing. `$in` equals any of a list.
 * - `$ne` and `$nin` are exactly the rest, rows that miss the field included.
 * - `$gt $gte $lt $lte` compare a number with numbers and a text with texts, these by code point; anything else does not match.
 * - `$contains`: a text within a text, or a text, number, boolean or null among an array's elements.
 * - `$startsWith`, `$endsWith`: of texts. Upper and lower case differ.
 * - `$exists`: whether something, null included, is at the path.
 * - `$and`, `$or` take a list of filters; `$not` a filter, or beside a field that field's operators. Members of one object all have to hold.
 */
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { parseJsonDocument } from '../../edge/json-document.ts';

export type FieldPath = readonly string[];
export type Scalar = string | number | boolean | null;
export type Comparison = 'gt' | 'gte' | 'lt' | 'lte';

export type Filter =
  | { readonly kind: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | { readonly kind: 'equal'; readonly path: FieldPath; readonly value: unknown }
  | { readonly kind: 'in'; readonly path: FieldPath; readonly values: readonly unknown[] }
  | { readonly kind: Comparison; readonly path: FieldPath; readonly value: number | string }
  | { readonly kind: 'contains'; readonly path: FieldPath; readonly value: Scalar }
  | { readonly kind: 'startsWith' | 'endsWith'; readonly path: FieldPath; readonly value: string }
  | { readonly kind: 'exists'; readonly path: FieldPath };

export type Condition = Extract<Filter, { readonly path: FieldPath }>;

/** Matches every row. */
export const EVERYTHING: Filter = { kind: 'and', of: [] };

/** Reads the filter of a body. Throws INVALID_FILTER that names the part at fault, as `filter.age.$gt`. */
export function parseFilter(json: unknown): Filter {
  return new FilterReader().filter(json, 'filter', 1);
}

/** Reads `?filter=`. Throws INVALID_FILTER. */
export function parseFilterText(text: string): Filter {
  let json: unknown;
  try {
    json = parseJsonDocument(Buffer.from(text)).value;
  } catch (error) {
    const message = error instanceof Failure ? error.message.replace(/^The body/, 'it') : 'it is unreadable';
    throw invalid('filter', `must be a JSON object, URL-encoded: ${message}`);
  }
  return parseFilter(json);
}

/** Splits a dotted path. Throws `code` naming `param`. */
export function parsePath(text: string, param: string, code: 'INVALID_FILTER' | 'INVALID_REQUEST'): FieldPath {
  const path = text.split('.');
  const problem = path.length > LIMITS.fieldStepsMax ? `must have at most ${LIMITS.fieldStepsMax} steps` : textProblem(text);
  if (problem === undefined) return path;
  throw new Failure(code, { message: `${readable(param)}: ${problem}.`, param: readable(param) });
}

/** All filters that must hold for this one to hold, with nested `$and` taken apart. */
export function conjuncts(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.of.flatMap(conjuncts) : [filter];
}

type Members = Readonly<Record<string, unknown>>;

class FilterReader {
  #terms = 0;
  #listed = 0;

  filter(json: unknown, where: string, depth: number): Filter {
    if (!isObject(json)) throw invalid(where, 'must be an object');
    this.#admit(where, depth);
    const of: Filter[] = [];
    for (const [name, value] of Object.entries(json)) {
      const at = `${where}.${name}`;
      if (name === '$and' || name === '$or') of.push(this.#list(name === '$and' ? 'and' : 'or', value, at, depth));
      else if (name === '$not') of.push({ kind: 'not', of: this.filter(value, at, depth + 1) });
      else if (name.startsWith('$')) throw invalid(at, 'is not an operator that stands here; $and, $or and $not are');
      else of.push(this.#field(parsePath(name, at, 'INVALID_FILTER'), value, at, depth));
    }
    return all(of);
  }

  #list(kind: 'and' | 'or', json: unknown, where: string, depth: number): Filter {
    if (!Array.isArray(json) || json.length === 0) throw invalid(where, 'must be a list of at least one filter');
    return { kind, of: json.map((item, index) => this.filter(item, `${where}.${index}`, depth + 1)) };
  }

  #field(path: FieldPath, value: unknown, where: string, depth: number): Filter {
    this.#admit(where, depth);
    if (!isOperators(value)) return { kind: 'equal', path, value: storable(value, where) };
    const of = Object.entries(value).map(([name, operand]) => this.#operator(path, name, operand, `${where}.${name}`, depth));
    return all(of);
  }

  #operator(path: FieldPath, name: string, operand: unknown, where: string, depth: number): Filter {
    this.#admit(where, depth);
    switch (name) {
      case '$eq':
        return { kind: 'equal', path, value: storable(operand, where) };
      case '$ne':
        return { kind: 'not', of: { kind: 'equal', path, value: storable(operand, where) } };
      case '$gt':
      case '$gte':
      case '$lt':
      case '$lte':
        return { kind: COMPARISONS[name], path, value: comparable(operand, where) };
      case '$in':
        return { kind: 'in', path, values: this.#values(operand, where) };
      case '$nin':
        return { kind: 'not', of: { kind: 'in', path, values: this.#values(operand, where) } };
      case '$contains':
        return { kind: 'contains', path, value: scalar(operand, where) };
      case '$startsWith':
        return { kind: 'startsWith', path, value: text(operand, where) };
      case '$endsWith':
        return { kind: 'endsWith', path, value: text(operand, where) };
      case '$exists':
        if (typeof operand !== 'boolean') throw invalid(where, 'must be true or false');
        return operand ? { kind: 'exists', path } : { kind: 'not', of: { kind: 'exists', path } };
      case '$not':
        if (!isOperators(operand)) throw invalid(where, 'must be an object of operators');
        return { kind: 'not', of: this.#field(path, operand, where, depth + 1) };
      default:
        throw invalid(where, `is not an operator; ${OPERATORS.join(', ')} are`);
    }
  }

  #values(json: unknown, where: string): unknown[] {
    if (!Array.isArray(json)) throw invalid(where, 'must be a list');
    this.#listed += json.length;
    if (this.#listed > LIMITS.filterValuesMax) throw invalid(where, `is too long: a filter may list ${LIMITS.filterValuesMax} values`);
    return json.map((value, index) => storable(value, `${where}.${index}`));
  }

  #admit(where: string, depth: number): void {
    this.#terms += 1;
    if (depth > LIMITS.filterDepthMax) throw invalid(where, `is nested deeper than ${LIMITS.filterDepthMax}`);
    if (this.#terms > LIMITS.filterTermsMax) throw invalid(where, `is one too many: a filter may have ${LIMITS.filterTermsMax} parts`);
  }
}

const COMPARISONS = { $gt: 'gt', $gte: 'gte', $lt: 'lt', $lte: 'lte' } as const;
const OPERATORS = '$eq $ne $gt $gte $lt $lte $in $nin $contains $startsWith $endsWith $exists $not'.split(' ');

function all(of: readonly Filter[]): Filter {
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { kind: 'and', of };
}

function isObject(json: unknown): json is Members {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** An object is one of operators when any of its members begins with $; then all must be operators. */
function isOperators(json: unknown): json is Members {
  return isObject(json) && Object.keys(json).some((name) => name.startsWith('$'));
}

function comparable(json: unknown, where: string): number | string {
  if (typeof json !== 'number' && typeof json !== 'string') throw invalid(where, 'must be a number or a text');
  return storable(json, where);
}

function scalar(json: unknown, where: string): Scalar {
  if (typeof json === 'object' && json !== null) throw invalid(where, 'must be a text, a number, true, false or null');
  return storable(json as Scalar, where);
}

function text(json: unknown, where: string): string {
  if (typeof json !== 'string') throw invalid(where, 'must be a text');
  return storable(json, where);
}

/** The value itself, where a row could hold it. */
function storable<T>(json: T, where: string): T {
  const problem = valueProblem(json);
  if (problem !== undefined) throw invalid(where, problem);
  return json;
}

function valueProblem(json: unknown): string | undefined {
  if (typeof json === 'string') return textProblem(json);
  if (typeof json === 'number') return Number.isFinite(json) ? undefined : 'is too large for a number';
  if (typeof json !== 'object' || json === null) return undefined;
  for (const [name, value] of Object.entries(json)) {
    const problem = textProblem(name) ?? valueProblem(value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

// With the u flag a whole pair is one character, and not a surrogate.
const HALF_PAIR = /\p{Surrogate}/u;
const UNREADABLE = /[\p{Surrogate}\p{Control}]/gu;

function textProblem(value: string): string | undefined {
  if (value.includes('\u0000')) return 'must not contain NUL characters';
  return HALF_PAIR.test(value) ? 'must not contain half a surrogate pair' : undefined;
}

const NAMED_CHARS_MAX = 200;

/** What a caller wrote, fit to be shown in an answer. */
function readable(where: string): string {
  return where.slice(0, NAMED_CHARS_MAX).replace(UNREADABLE, '\uFFFD');
}

function invalid(where: string, message: string): Failure {
  const param = readable(where);
  return new Failure('INVALID_FILTER', { message: `${param}: ${message}.`, param });
}
