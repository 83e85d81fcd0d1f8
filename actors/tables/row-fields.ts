/** The fields of a row: what may be stored of them, their text, and what a table's schema asks of them. */
import { Failure, type Issue } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { TableColumn, TableSchema } from '../../protocol/data/tables.ts';
import type { IndexedValue } from './changes.ts';

/** A text of more characters is certainly too large, whatever of it the server leaves out. */
const CHARS_MAX = 2 * LIMITS.rowBytesMax;

export type RowFields = Readonly<Record<string, unknown>>;
export type Indexed = readonly (readonly [column: string, value: IndexedValue | null])[];

/** A row's own fields, of one that may have been read before: `id` and the times are the server's and are left out. */
export function ownFields(row: RowFields): RowFields {
  if (!('id' in row || 'createdAt' in row || 'updatedAt' in row)) return row;
  const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = row;
  return fields;
}

/** The JSON text to store. Throws ROW_TOO_LARGE. `where` names the row: `rows.3`, or empty where there is but one. */
export function rowText(fields: RowFields, where: string): string {
  const text = JSON.stringify(fields);
  if (Buffer.byteLength(text) > LIMITS.rowBytesMax) throw tooLarge(where);
  return text;
}

function tooLarge(where: string): Failure {
  return new Failure('ROW_TOO_LARGE', where === '' ? {} : { param: where });
}

/**
 * At least so many characters has the value as JSON, counted until there are more than `max`: a row of hundreds of thousands of members
 * would take half a second to copy and to write, only to be refused.
 */
function charsAtLeast(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 1;
  let chars = 2;
  if (Array.isArray(value)) {
    for (const element of value) {
      chars += 1 + charsAtLeast(element, max - chars);
      if (chars > max) return chars;
    }
    return chars;
  }
  // Not `Object.entries`, which would make an array of each member first.
  for (const name in value) {
    chars += name.length + 3 + charsAtLeast((value as RowFields)[name], max - chars);
    if (chars > max) return chars;
  }
  return chars;
}

/** What the text of a row takes long to find out, worked out ahead of the turn. */
export interface WrittenRow {
  readonly issue: Issue | undefined;
  /** The JSON text; empty where there is an issue. */
  readonly data: string;
}

/** The row's own fields as they are to be stored. Throws ROW_TOO_LARGE. */
export function writtenRow(row: RowFields, where: string): WrittenRow {
  if (charsAtLeast(row, CHARS_MAX) > CHARS_MAX) throw tooLarge(where);
  const fields = ownFields(row);
  const issue = unstorable(fields, where);
  return { issue, data: issue === undefined ? rowText(fields, where) : '' };
}

/** What Postgres' jsonb cannot hold, or undefined when it can hold all of it. */
export function unstorable(value: unknown, path: string): Issue | undefined {
  if (typeof value === 'string') return unstorableText(value, path);
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { path, message: 'is too large for a number' };
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    const issue = unstorableText(name, at) ?? unstorable(member, at);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

const LONE_SURROGATE = /\p{Cs}/u;

function unstorableText(text: string, path: string): Issue | undefined {
  if (text.includes('\u0000')) return { path: path.replaceAll('\u0000', '\uFFFD'), message: 'must not contain NUL characters' };
  return LONE_SURROGATE.test(text)
    ? { path: path.replaceAll(/\p{Cs}/gu, '\uFFFD'), message: 'must not contain half a surrogate pair' }
    : undefined;
}

/** Everything in which the fields differ from the schema. */
export function schemaIssues(schema: TableSchema, fields: RowFields, where: string): Issue[] {
  const issues: Issue[] = [];
  for (const column of schema.columns) {
    const message = columnProblem(column, fieldOf(fields, column.name));
    if (message !== undefined) issues.push({ path: where === '' ? column.name : `${where}.${column.name}`, message });
  }
  return issues;
}

/** The values for the index; null stands for none, so that rows without one are found in the index as well. The fields have been checked against the schema. */
export function indexedValues(schema: TableSchema | null, fields: RowFields): Indexed {
  if (schema === null) return [];
  const values: (readonly [string, IndexedValue | null])[] = [];
  for (const { name, unique, indexed } of schema.columns) {
    if (unique || indexed) values.push([name, indexedValue(fieldOf(fields, name)) ?? null]);
  }
  return values;
}

export function fieldOf(fields: RowFields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Undefined for what no index holds: null, objects and arrays. */
export function indexedValue(value: unknown): IndexedValue | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

function columnProblem(column: TableColumn, value: unknown): string | undefined {
  if (value === undefined || value === null) return column.required ? 'is required' : undefined;
  if (!isOfType(column.type, value)) return `must be ${TYPE_NAMES[column.type]}`;
  const isIndexedText = typeof value === 'string' && (column.indexed || column.unique);
  if (isIndexedText && Buffer.byteLength(value) > LIMITS.indexedTextBytesMax) {
    return `must have at most ${LIMITS.indexedTextBytesMax} bytes: the column is indexed`;
  }
  return undefined;
}

const TYPE_NAMES: Readonly<Record<TableColumn['type'], string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  datetime: 'a time like 2026-01-31T12:00:00Z',
  json: 'JSON',
};

const DATETIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

function isOfType(type: TableColumn['type'], value: unknown): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'integer':
      return Number.isSafeInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'datetime':
      return typeof value === 'string' && DATETIME.test(value) && !Number.isNaN(Date.parse(value));
    case 'json':
      return true;
    default:
      return type satisfies never;
  }
}
