/**
 * The sort order of table rows. Values sort by type first: missing and null, then false and true, numbers, strings by code point, then
 * arrays and objects, which are all equal. Equal rows keep their insertion order, or its reverse if the last sort field is descending;
 * `createdAt` stands for insertion order itself.
 */
import { Failure } from '../../../../../protocol/core/errors.ts';
import { readInput } from '../../../../../protocol/core/issues.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { type SortOrder, sortOrder } from '../../../../../protocol/data/table-queries.ts';
import { fieldSql } from './field-sql.ts';
import { type FieldPath, parsePath } from './filter.ts';
import { cursorTextSql, TextStart } from './long-texts.ts';
import type { Parameter, ParameterType, Statement } from './statement.ts';

export interface SortField {
  readonly path: FieldPath;
  readonly descending: boolean;
}

/** Parses every form of a sort, including JSON in a URL; an empty one is no sort. Throws INVALID_REQUEST. */
export function parseSort(sort: SortOrder | undefined): readonly SortField[] {
  const texts = fieldTexts(sort);
  if (texts.length > LIMITS.sortFieldsMax) throw invalid(`must have at most ${LIMITS.sortFieldsMax} fields`);
  const fields = texts.map((text) => {
    const name = text.replace(/^[-+]/, '');
    if (name === '') throw invalid('must name fields, such as -createdAt,name');
    return { path: parsePath(name, 'sort', 'INVALID_REQUEST'), descending: text.startsWith('-') };
  });
  // Insertion order has no ties, so the fields after it have no effect.
  const last = fields.findIndex(isInsertion);
  return last < 0 ? fields : fields.slice(0, last + 1);
}

/** The fields, each with its sign. */
function fieldTexts(sort: SortOrder | undefined): readonly string[] {
  if (sort === undefined || sort === '') return [];
  if (Array.isArray(sort)) return sort;
  if (typeof sort === 'object') return Object.entries(sort).map(([name, direction]) => (direction === -1 ? `-${name}` : name));
  return /^[{[]/.test(sort) ? fieldTexts(sortJson(sort)) : sort.split(',');
}

function sortJson(text: string): SortOrder {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalid('must be field names such as -createdAt,name, or valid JSON');
  }
  const { value, issues } = readInput(sortOrder, json);
  if (issues === undefined) return value;
  throw invalid(issues[0]?.message ?? 'is not valid');
}

function isInsertion({ path }: Pick<SortField, 'path'>): boolean {
  return path.length === 1 && path[0] === 'createdAt';
}

function invalid(message: string): Failure {
  return new Failure('INVALID_REQUEST', { message: `sort: ${message}.`, param: 'sort' });
}

/** One expression to sort by; never SQL null. */
export interface SortKey {
  readonly sql: string;
  readonly type: ParameterType;
  readonly descending: boolean;
}

/** How one field of the sort is compiled. */
export interface FieldOrder {
  /** Additional columns that the other members use, so that a value is extracted from the row's JSON only once. */
  readonly inputs: readonly string[];
  readonly keys: readonly SortKey[];
  /** The value that a cursor carries for this field, as jsonb, over the columns of the page's rows. */
  readonly cursorSql: string;
  /** The values of `keys` for a value from a cursor; undefined if no row can have it. */
  readonly valuesOf: (cursor: unknown) => readonly Parameter[] | undefined;
}

function insertionOrder(descending: boolean): FieldOrder {
  return columnOrder('r.created_seq', 'bigint', descending);
}

/** The orders of the fields, ending with insertion order, which has no ties. */
export function fieldOrders(sort: readonly SortField[], statement: Statement): readonly FieldOrder[] {
  const orders = sort.map((field, at) => fieldOrder(field, at, statement));
  return sort.some(isInsertion) ? orders : [...orders, insertionOrder(sort.at(-1)?.descending ?? false)];
}

function fieldOrder(field: SortField, at: number, statement: Statement): FieldOrder {
  const { path, descending } = field;
  if (isInsertion(field)) return columnOrder('r.created_seq', 'bigint', descending);
  if (path.length === 1 && path[0] === 'updatedAt') return columnOrder('r.updated_at_ms', 'bigint', descending);
  if (path.length === 1 && path[0] === 'id') return columnOrder('r.row_id', 'text', descending);
  const { json } = fieldSql(path, statement);
  const found = `r.json${at}`;
  const value = { json: found, text: `(${found} #>> '{}')`, type: `jsonb_typeof(${found})` };
  return {
    inputs: [`${json} as json${at}`],
    keys: valueKeys(value).map((key) => ({ ...key, descending })),
    cursorSql: `case ${value.type} when 'string' then ${cursorTextSql(value.text)} when 'array' then '[]' when 'object' then '[]' else coalesce(${value.json}, 'null') end`,
    valuesOf: keysOfValue,
  };
}

/** The three keys of a value: the rank of its type, its number, its string. */
export function valueKeys({ json, text, type }: { json: string; text: string; type: string }): Omit<SortKey, 'descending'>[] {
  return [
    {
      sql: `case ${type} when 'string' then 3 when 'number' then 2 when 'boolean' then 1 when 'array' then 4 when 'object' then 4 else 0 end`,
      type: 'integer',
    },
    { sql: `case ${type} when 'number' then ${json}::numeric when 'boolean' then ${json}::boolean::integer else 0 end`, type: 'numeric' },
    { sql: `(case ${type} when 'string' then ${text} else '' end) collate "C"`, type: 'text' },
  ];
}

function keysOfValue(value: unknown): readonly Parameter[] | undefined {
  if (value instanceof TextStart) return [3, 0, value.text];
  switch (typeof value) {
    case 'boolean':
      return [1, Number(value), ''];
    case 'number':
      return Number.isFinite(value) ? [2, value, ''] : undefined;
    case 'string':
      return [3, 0, value];
    default:
      return value === null ? [0, 0, ''] : [4, 0, ''];
  }
}

function columnOrder(column: string, type: 'bigint' | 'text', descending: boolean): FieldOrder {
  const isValue = (value: unknown): value is Parameter => (type === 'text' ? typeof value === 'string' : Number.isSafeInteger(value));
  return {
    inputs: [],
    keys: [{ sql: column, type, descending }],
    cursorSql: `to_jsonb(${column})`,
    valuesOf: (value) => (isValue(value) ? [value] : undefined),
  };
}

export function orderBy(orders: readonly FieldOrder[]): string {
  return orders.flatMap(({ keys }) => keys.map(({ sql, descending }) => `${sql}${descending ? ' desc' : ''}`)).join(', ');
}

/** The condition for rows that sort after these key values; with `orEqual` it includes rows with the same values. */
export function afterSql(keys: readonly SortKey[], values: readonly Parameter[], statement: Statement, orEqual = false): string {
  const [key, ...rest] = keys;
  const [value, ...others] = values;
  if (key === undefined || value === undefined) return 'false';
  const place = `(${statement.param(value, key.type)})`;
  const operator = key.descending ? '<' : '>';
  if (rest.length === 0) return `${key.sql} ${operator}${orEqual ? '=' : ''} ${place}`;
  return `(${key.sql} ${operator} ${place} or (${key.sql} = ${place} and ${afterSql(rest, others, statement, orEqual)}))`;
}
