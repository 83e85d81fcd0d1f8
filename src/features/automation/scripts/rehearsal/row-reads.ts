/** Reads of many rows of a table that is in memory: pages, counts and aggregates, with the meaning that the SQL gives them. */
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Metric } from '../../../../../protocol/data/table-queries.ts';
import { type Grouping, objectOf, resultNames, TOO_MANY_GROUPS } from '../../../data/tables/queries/aggregate.ts';
import { type Filter, parsePath } from '../../../data/tables/queries/filter.ts';
import { compareValues, matches, type Row, valueAt } from '../../../data/tables/queries/plain-rows.ts';
import type { SortField } from '../../../data/tables/queries/sort.ts';
import { averageOf, sumOf } from './decimal.ts';

/** Where a page ended. */
export interface Place {
  /** The values of the fields of the sort. */
  readonly values: readonly unknown[];
  readonly createdSeq: number;
}

/** A row as callers see it, with its place in the order of insertion. */
export interface PlacedRow {
  readonly row: Row;
  readonly createdSeq: number;
  readonly bytes: number;
}

export interface PageQuery {
  readonly filter: Filter;
  readonly sort: readonly SortField[];
  readonly limit: number;
  readonly skip: number;
  readonly after: Place | undefined;
}

export function pageOf(rows: readonly PlacedRow[], query: PageQuery): { readonly rows: readonly PlacedRow[]; readonly next: Place | null } {
  const { filter, sort, limit, skip, after } = query;
  const places = new Map(rows.map((one) => [one, placeOf(one, sort)]));
  const order = (a: PlacedRow, b: PlacedRow) => comparePlaces(places.get(a), places.get(b), sort);
  const found = rows
    .filter((one) => matches(filter, one.row) && (after === undefined || comparePlaces(places.get(one), after, sort) > 0))
    .sort(order)
    .slice(skip);
  const page: PlacedRow[] = [];
  let bytes = 0;
  for (const one of found) {
    if (page.length === limit || bytes > LIMITS.rowsPageBytesMax) break;
    page.push(one);
    bytes += one.bytes;
  }
  const last = page.at(-1);
  return { rows: page, next: page.length < found.length && last !== undefined ? (places.get(last) ?? null) : null };
}

export function countOf(rows: readonly PlacedRow[], filter: Filter): number {
  return rows.filter(({ row }) => matches(filter, row)).length;
}

export function groupsOf(rows: readonly PlacedRow[], filter: Filter, { groupBy, metrics }: Grouping): Record<string, unknown>[] {
  const names = resultNames(groupBy, metrics);
  const paths = groupBy.map((field, at) => parsePath(field, `groupBy.${at}`, 'INVALID_REQUEST'));
  const fields = metrics.map(({ field }, at) =>
    field === undefined ? undefined : parsePath(field, `metrics.${at}.field`, 'INVALID_REQUEST'),
  );
  const groups = new Map<string, { readonly keys: readonly unknown[]; readonly rows: Row[] }>();
  // Without fields to group by there is one group, also of no rows.
  if (paths.length === 0) groups.set('[]', { keys: [], rows: [] });
  for (const { row } of rows) {
    if (!matches(filter, row)) continue;
    const keys = paths.map((path) => valueAt(row, path) ?? null);
    const name = JSON.stringify(keys.map(canonical));
    const group = groups.get(name) ?? { keys, rows: [] };
    groups.set(name, group);
    group.rows.push(row);
  }
  if (groups.size > LIMITS.aggregateGroupsMax) throw new Failure('TOO_MANY_ROWS', { message: TOO_MANY_GROUPS });
  return [...groups.values()]
    .sort((a, b) => compareKeys(a.keys, b.keys))
    .map(({ keys, rows: members }) =>
      objectOf(names, [
        ...keys,
        ...metrics.map((metric, at) => {
          const path = fields[at];
          return metricOf(metric, path === undefined ? undefined : members.map((row) => valueAt(row, path)), members.length);
        }),
      ]),
    );
}

/** `values` of the metric's field, one for each row; undefined where it names none. */
function metricOf({ fn }: Metric, values: readonly unknown[] | undefined, rows: number): unknown {
  if (values === undefined) return rows;
  const numbers = values.filter((value): value is number => typeof value === 'number');
  switch (fn) {
    case 'count':
      return values.filter((value) => value !== undefined && value !== null).length;
    case 'sum':
      return sumOf(numbers);
    case 'avg':
      return averageOf(numbers);
    case 'min':
    case 'max': {
      const sorted = values.filter((value) => ['boolean', 'number', 'string'].includes(typeof value)).sort(compareValues);
      return (fn === 'min' ? sorted[0] : sorted.at(-1)) ?? null;
    }
    default:
      return fn satisfies never;
  }
}

function placeOf({ row, createdSeq }: PlacedRow, sort: readonly SortField[]): Place {
  return { values: sort.map(({ path }) => (isInsertion(path) ? createdSeq : valueAt(row, path))), createdSeq };
}

function comparePlaces(a: Place | undefined, b: Place | undefined, sort: readonly SortField[]): number {
  for (const [at, { descending }] of sort.entries()) {
    const order = compareValues(a?.values[at], b?.values[at]);
    if (order !== 0) return descending ? -order : order;
  }
  const order = (a?.createdSeq ?? 0) - (b?.createdSeq ?? 0);
  return sort.at(-1)?.descending ? -order : order;
}

function isInsertion(path: readonly string[]): boolean {
  return path.length === 1 && path[0] === 'createdAt';
}

function compareKeys(a: readonly unknown[], b: readonly unknown[]): number {
  for (const [at, value] of a.entries()) {
    const order = compareValues(value, b[at]) || compareNested(value, b[at]);
    if (order !== 0) return order;
  }
  return 0;
}

/** How the database orders JSON values: null, strings, numbers, booleans, arrays, objects; the longer array and object is the greater. */
function compareNested(a: unknown, b: unknown): number {
  const ranks = nestedRank(a) - nestedRank(b);
  if (ranks !== 0) return ranks;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length - b.length || firstOther(a.map((value, at) => compareNested(value, b[at])));
  }
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return compareValues(a, b);
  const [left, right] = [membersOf(a), membersOf(b)];
  if (left.length !== right.length) return left.length - right.length;
  return firstOther(left.flatMap(([name, value], at) => [compareNames(name, right[at]?.[0] ?? ''), compareNested(value, right[at]?.[1])]));
}

function nestedRank(value: unknown): number {
  if (Array.isArray(value)) return 4;
  return value === null ? 0 : ['string', 'number', 'boolean', 'array', 'object'].indexOf(typeof value) + 1;
}

/** In the order in which the database keeps them: shorter names first. */
function membersOf(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => compareNames(a, b));
}

function compareNames(a: string, b: string): number {
  return Buffer.byteLength(a) - Buffer.byteLength(b) || compareValues(a, b);
}

function firstOther(orders: readonly number[]): number {
  return orders.find((order) => order !== 0) ?? 0;
}

/** The same for all values that are equal: the members of objects in one order. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return { o: membersOf(value).map(([name, member]) => [name, canonical(member)]) };
}
