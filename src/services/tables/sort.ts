/**
 * The order of table rows. Values of different types stand apart: nothing and null, then false and true, numbers, texts by code point,
 * then arrays and objects, which are all alike. Of a text the first `sortTextCharsMax` characters count, so that a cursor stays small;
 * an indexed text counts whole. Rows that are alike stand in the order of their insertion, or in the reverse where the last field is a
 * falling one; `createdAt` means that order itself.
 */
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { fieldSql } from './field-sql.ts';
import { type FieldPath, parsePath } from './filter.ts';
import type { Parameter, ParameterType, Statement } from './statement.ts';

export interface SortField {
  readonly path: FieldPath;
  readonly descending: boolean;
}

/** Reads `-createdAt,name`, or a list of such fields. Throws INVALID_REQUEST. */
export function parseSort(sort: string | readonly string[] | undefined): readonly SortField[] {
  const texts = typeof sort === 'string' ? sort.split(',') : (sort ?? []);
  if (texts.length > LIMITS.sortFieldsMax) throw invalid(`must have at most ${LIMITS.sortFieldsMax} fields`);
  const fields = texts.map((text) => {
    const name = text.replace(/^[-+]/, '');
    if (name === '') throw invalid('must name fields, as in -createdAt,name');
    return { path: parsePath(name, 'sort', 'INVALID_REQUEST'), descending: text.startsWith('-') };
  });
  // No two rows are alike in it: what comes after decides nothing.
  const last = fields.findIndex(isInsertion);
  return last < 0 ? fields : fields.slice(0, last + 1);
}

function isInsertion({ path }: Pick<SortField, 'path'>): boolean {
  return path.length === 1 && path[0] === 'createdAt';
}

function invalid(message: string): Failure {
  return new Failure('INVALID_REQUEST', { message: `sort: ${message}.`, param: 'sort' });
}

/** One expression to order by; never null. */
export interface SortKey {
  readonly sql: string;
  readonly type: ParameterType;
  readonly descending: boolean;
}

/** What a page has to know of one field of its order. */
export interface FieldOrder {
  /** Columns beside those of the row that the rest is made of: what is worked out of a row's JSON is worked out once. */
  readonly inputs: readonly string[];
  readonly keys: readonly SortKey[];
  /** The value of a row that its cursor carries, as jsonb, over the columns of the page's rows. */
  readonly cursorSql: string;
  /** The values of the keys that such a value stands for; undefined where no row has it. */
  readonly valuesOf: (cursor: unknown) => readonly Parameter[] | undefined;
}

function insertionOrder(descending: boolean): FieldOrder {
  return columnOrder('r.created_seq', 'bigint', descending);
}

/** The orders of the fields, ending with one in which no two rows are alike. */
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
  const value = { json: found, text: `left(${found} #>> '{}', ${LIMITS.sortTextCharsMax})`, type: `jsonb_typeof(${found})` };
  return {
    inputs: [`${json} as json${at}`],
    keys: valueKeys(value).map((key) => ({ ...key, descending })),
    cursorSql: `case ${value.type} when 'string' then to_jsonb(${value.text}) when 'array' then '[]' when 'object' then '[]' else coalesce(${value.json}, 'null') end`,
    valuesOf: keysOfValue,
  };
}

/** The three keys of a value: the rank of its type, then its number or its text. */
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

/** The rows that come after the one with these values in the keys. */
export function afterSql(keys: readonly SortKey[], values: readonly Parameter[], statement: Statement): string {
  const [key, ...rest] = keys;
  const [value, ...others] = values;
  if (key === undefined || value === undefined) return 'false';
  const place = `(${statement.param(value, key.type)})`;
  const beyond = `${key.sql} ${key.descending ? '<' : '>'} ${place}`;
  return rest.length === 0 ? beyond : `(${beyond} or (${key.sql} = ${place} and ${afterSql(rest, others, statement)}))`;
}
