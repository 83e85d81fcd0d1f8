/**
 * Filters of table rows, parsed once into a tree that all other code trusts.
 *
 * Semantics. A row has its own fields and the strings `id`, `createdAt` and `updatedAt`. A path is split at its dots; a step selects a
 * member of an object by name or an element of an array by index, counted from the end if negative. Types are never converted:
 * - `$eq`, or a value without an operator, is deep equality; `null` also equals a missing field. `$in` equals any value of a list.
 * - `$ne` and `$nin` are their exact complements and match rows without the field.
 * - `$gt $gte $lt $lte` compare numbers with numbers, and strings with strings by code point; other types do not match.
 * - `$contains`: a substring of a string, or a string, number, boolean or null among the elements of an array.
 * - `$startsWith`, `$endsWith`: strings only, case-sensitive.
 * - `$exists`: whether there is a value at the path; null counts as one.
 * - `$and`, `$or` take a list of filters; `$not` takes a filter, or operators if it stands among the operators of a field. All members of
 *   an object must hold.
 */
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { parseJsonDocument } from '../../../../edge/json-document.ts';

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

/** Parses the filter of a body. Throws INVALID_FILTER naming the part at fault, such as `filter.age.$gt`. */
export function parseFilter(json: unknown): Filter {
  return new FilterReader().filter(json, 'filter', 1);
}

/** Parses `?filter=`. Throws INVALID_FILTER. */
export function parseFilterText(text: string): Filter {
  let json: unknown;
  try {
    json = parseJsonDocument(Buffer.from(text)).value;
  } catch (error) {
    const message = error instanceof Failure ? error.message.replace(/^The body/, 'it') : 'it cannot be parsed';
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

/** The filters that must all hold for this one to hold; nested `$and` are flattened. */
export function conjuncts(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.of.flatMap(conjuncts) : [filter];
}

type Members = Readonly<Record<string, unknown>>;

class FilterReader {
  #terms = 0;
  #listed = 0;
  #searchedChars = 0;

  filter(json: unknown, where: string, depth: number): Filter {
    if (!isObject(json)) throw invalid(where, 'must be an object');
    this.#admit(where, depth);
    const of: Filter[] = [];
    for (const [name, value] of Object.entries(json)) {
      const at = `${where}.${name}`;
      if (name === '$and' || name === '$or') of.push(this.#list(name === '$and' ? 'and' : 'or', value, at, depth));
      else if (name === '$not') of.push({ kind: 'not', of: this.filter(value, at, depth + 1) });
      else if (name.startsWith('$')) throw invalid(at, 'is not allowed here; use $and, $or or $not');
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
        return { kind: 'contains', path, value: this.#searched(scalar(operand, where), where) };
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
        throw invalid(where, `is not an operator; use one of ${OPERATORS.join(', ')}`);
    }
  }

  #values(json: unknown, where: string): unknown[] {
    if (!Array.isArray(json)) throw invalid(where, 'must be a list');
    this.#listed += json.length;
    if (this.#listed > LIMITS.filterValuesMax)
      throw invalid(where, `is too long: a filter may list at most ${LIMITS.filterValuesMax} values`);
    return json.map((value, index) => storable(value, `${where}.${index}`));
  }

  /** The search for a long text in a long text may take seconds for a single row, which nothing could end. */
  #searched(value: Scalar, where: string): Scalar {
    if (typeof value === 'string') this.#searchedChars += value.length;
    if (this.#searchedChars <= LIMITS.filterSearchedCharsMax) return value;
    throw invalid(where, `is too long: all texts of $contains together may have ${LIMITS.filterSearchedCharsMax} characters`);
  }

  #admit(where: string, depth: number): void {
    this.#terms += 1;
    if (depth > LIMITS.filterDepthMax) throw invalid(where, `is nested deeper than ${LIMITS.filterDepthMax} levels`);
    if (this.#terms > LIMITS.filterTermsMax)
      throw invalid(where, `is one part too many: a filter may have at most ${LIMITS.filterTermsMax}`);
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

/** An object with any member that begins with $ is read as operators; then every member must be one. */
function isOperators(json: unknown): json is Members {
  return isObject(json) && Object.keys(json).some((name) => name.startsWith('$'));
}

function comparable(json: unknown, where: string): number | string {
  if (typeof json !== 'number' && typeof json !== 'string') throw invalid(where, 'must be a number or a string');
  return storable(json, where);
}

function scalar(json: unknown, where: string): Scalar {
  if (typeof json === 'object' && json !== null) throw invalid(where, 'must be a string, a number, true, false or null');
  return storable(json as Scalar, where);
}

function text(json: unknown, where: string): string {
  if (typeof json !== 'string') throw invalid(where, 'must be a string');
  return storable(json, where);
}

/** Returns the value if a row can hold it. Throws INVALID_FILTER. */
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

// With the u flag a complete surrogate pair is one character and does not match.
const HALF_PAIR = /\p{Surrogate}/u;
const UNREADABLE = /[\p{Surrogate}\p{Control}]/gu;

function textProblem(value: string): string | undefined {
  if (value.includes('\u0000')) return 'must not contain NUL characters';
  return HALF_PAIR.test(value) ? 'must not contain half a surrogate pair' : undefined;
}

const NAMED_CHARS_MAX = 200;

/** A name from the request, shortened and cleaned so that it can be shown in an error message. */
function readable(where: string): string {
  return where.slice(0, NAMED_CHARS_MAX).replace(UNREADABLE, '\uFFFD');
}

function invalid(where: string, message: string): Failure {
  const param = readable(where);
  return new Failure('INVALID_FILTER', { message: `${param}: ${message}.`, param });
}
