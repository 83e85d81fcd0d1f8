/**
 * Writes rows as CSV (RFC 4180, UTF-8) and reads CSV cells as values, so that an import of an export restores the same values.
 * A string that would be read as another type is quoted: `5` is a number and `"5"` a string; an empty cell is a missing field and `""` an
 * empty string. Objects and arrays are written as JSON. A string that a spreadsheet would run as a formula, or that could be mistaken for
 * JSON, is prefixed with an apostrophe, which reading removes.
 */
import type { TableColumn, TableSchema } from '../../../../protocol/data/tables.ts';

const GUARDED = /^'*[=+\-@\t\r{[]/;
const GUARD_READ = /^'+[=+\-@\t\r{[]/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** One line with its line end. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** One cell; empty for a missing field. */
export function csvCell(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return '';
    case 'string':
      return textCell(value);
    case 'object':
      return value === null ? 'null' : quoted(JSON.stringify(value));
    default:
      return JSON.stringify(value);
  }
}

function textCell(text: string): string {
  if (GUARDED.test(text)) return quoted(`'${text}`);
  return /[",\r\n]/.test(text) || unquotedValue(text) !== text ? quoted(text) : text;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** `id`, the fields of the schema in its order, the other fields by name, and the times. */
export function csvColumns(schema: TableSchema | null, names: readonly string[]): readonly string[] {
  const known = (schema?.columns ?? []).map(({ name }) => name);
  const others = names.filter((name) => !known.includes(name));
  return ['id', ...known, ...others.sort((a, b) => (a < b ? -1 : 1)), 'createdAt', 'updatedAt'];
}

/** Undefined if the field is missing. A value that does not fit the type stays a string, which the schema check then refuses. */
export function cellValue(text: string, isQuoted: boolean, type: TableColumn['type'] | undefined): unknown {
  if (!isQuoted && text === '') return undefined;
  if (!isQuoted && text === 'null') return null;
  switch (type) {
    case 'string':
    case 'datetime':
      return unguarded(text);
    case 'number':
    case 'integer':
      return NUMBER.test(text) ? Number(text) : unguarded(text);
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : unguarded(text);
    case 'json':
    case undefined:
      return jsonValue(text) ?? (isQuoted ? unguarded(text) : unquotedValue(unguarded(text)));
    default:
      return type satisfies never;
  }
}

export function unguarded(text: string): string {
  return GUARD_READ.test(text) ? text.slice(1) : text;
}

/** How an unquoted cell is read if the schema gives no type. */
function unquotedValue(text: string): unknown {
  if (text === '') return undefined;
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return isExactNumber(text) ? Number(text) : text;
}

/** False for a number with more digits than a double holds: it is probably an identifier, and rounding would corrupt it. */
function isExactNumber(text: string): boolean {
  if (!NUMBER.test(text)) return false;
  const number = Number(text);
  if (/[.eE]/.test(text)) return Number.isFinite(number);
  return Number.isSafeInteger(number) || JSON.stringify(number) === text;
}

function jsonValue(text: string): unknown {
  if (!/^[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON after all: the cell stays a string.
    return undefined;
  }
}
