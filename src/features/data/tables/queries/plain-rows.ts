/** Filters and the order of rows, on rows in memory: those of datasets and of rehearsals. The tests of the SQL compare it with this. */
import { isDeepStrictEqual } from 'node:util';
import type { Comparison, Condition, FieldPath, Filter } from './filter.ts';

export type Row = Readonly<Record<string, unknown>>;

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

function holds(filter: Condition, value: unknown): boolean {
  switch (filter.kind) {
    case 'equal':
      return equals(value, filter.value);
    case 'in':
      return filter.values.some((one) => equals(value, one));
    case 'contains': {
      const wanted = filter.value;
      if (Array.isArray(value)) return value.some((one) => one === wanted);
      return typeof value === 'string' && typeof wanted === 'string' && value.includes(wanted);
    }
    case 'startsWith':
      return typeof value === 'string' && value.startsWith(filter.value);
    case 'endsWith':
      return typeof value === 'string' && value.endsWith(filter.value);
    case 'exists':
      return value !== undefined;
    default:
      return compares(filter.kind, value, filter.value);
  }
}

/** A missing value equals null. */
function equals(value: unknown, wanted: unknown): boolean {
  if (wanted === null) return value === null || value === undefined;
  return value === wanted || (typeof wanted === 'object' && isDeepStrictEqual(value, wanted));
}

function compares(kind: Comparison, value: unknown, wanted: number | string): boolean {
  if (typeof value !== typeof wanted) return false;
  const order = typeof wanted === 'number' ? Number(value) - wanted : byCodePoint(String(value), wanted);
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

export function valueAt(row: unknown, path: FieldPath): unknown {
  let value = row;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) value = /^\s*[-+]?\d+$/.test(step) ? value.at(Number(step)) : undefined;
    else value = Object.hasOwn(value, step) ? (value as Row)[step] : undefined;
  }
  return value;
}

/** Without a copy of the texts. A surrogate stands for a code point above all others, although it is a smaller number than some units. */
function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right)
      return isSurrogate(left) === isSurrogate(right) ? left - right : Number(isSurrogate(left)) - Number(isSurrogate(right));
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** Compares values by type: missing and null, booleans, numbers, strings by code point, then all others as equal. */
export function compareValues(a: unknown, b: unknown): number {
  const ranks = rankOf(a) - rankOf(b);
  if (ranks !== 0) return ranks;
  if (typeof a === 'string' && typeof b === 'string') return byCodePoint(a, b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return typeof a === 'boolean' && typeof b === 'boolean' ? Number(a) - Number(b) : 0;
}

function rankOf(value: unknown): number {
  const rank = ['boolean', 'number', 'string'].indexOf(typeof value);
  if (rank >= 0) return rank + 1;
  return value === undefined || value === null ? 0 : 4;
}
