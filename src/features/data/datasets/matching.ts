/** Whether a row in memory matches a filter. The meaning of filters is that of tables (`queries/filter.ts`); the tests compare the two. */
import { isDeepStrictEqual } from 'node:util';
import type { Comparison, Condition, FieldPath, Filter } from '../tables/queries/filter.ts';

type Row = Readonly<Record<string, unknown>>;

export function matches(filter: Filter, row: Row): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.of.every((part) => matches(part, row));
    case 'or':
      return filter.of.some((part) => matches(part, row));
    case 'not':
      return !matches(filter.of, row);
    default:
      return holds(filter, valueAt(row, filter.path));
  }
}

function holds(condition: Condition, value: unknown): boolean {
  switch (condition.kind) {
    case 'equal':
      return equals(value, condition.value);
    case 'in':
      return condition.values.some((one) => equals(value, one));
    case 'contains': {
      const wanted = condition.value;
      if (Array.isArray(value)) return value.includes(wanted);
      return typeof value === 'string' && typeof wanted === 'string' && value.includes(wanted);
    }
    case 'startsWith':
      return typeof value === 'string' && value.startsWith(condition.value);
    case 'endsWith':
      return typeof value === 'string' && value.endsWith(condition.value);
    case 'exists':
      return value !== undefined;
    default:
      return compares(condition.kind, value, condition.value);
  }
}

/** A missing value equals null. */
function equals(value: unknown, wanted: unknown): boolean {
  if (wanted === null) return value === null || value === undefined;
  return value === wanted || (typeof wanted === 'object' && isDeepStrictEqual(value, wanted));
}

function compares(kind: Comparison, value: unknown, wanted: number | string): boolean {
  const order = orderOf(value, wanted);
  if (order === undefined) return false;
  switch (kind) {
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
    default:
      return kind satisfies never;
  }
}

/** Undefined for values of different types, which have no order. */
function orderOf(value: unknown, wanted: number | string): number | undefined {
  if (typeof value === 'number' && typeof wanted === 'number') return value - wanted;
  return typeof value === 'string' && typeof wanted === 'string' ? byCodePoint(value, wanted) : undefined;
}

/** JavaScript compares UTF-16 units, of which those of surrogate pairs come before U+E000 although their characters come after it. */
function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rankOf(left) - rankOf(right);
  }
  return a.length - b.length;
}

/** Moves the units of surrogate pairs behind all others. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function valueAt(row: unknown, path: FieldPath): unknown {
  let value = row;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) value = /^\s*[-+]?\d+$/.test(step) ? value.at(Number(step)) : undefined;
    else value = Object.hasOwn(value, step) ? (value as Row)[step] : undefined;
  }
  return value;
}
