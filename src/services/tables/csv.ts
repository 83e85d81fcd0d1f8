/**
 * Rows as CSV (RFC 4180, UTF-8) and the cells of a CSV as values, so that what was exported comes back the same.
 * A text is quoted where it would else be read as something else: `5` is a number, `"5"` a text; nothing is a missing field, `""` an empty
 * text. An object or array is its JSON. A text that a spreadsheet would run as a formula, or that could be taken for JSON, begins with
 * an apostrophe, which reading takes away again.
 */
import type { TableColumn, TableSchema } from '../../../protocol/schemas/table.ts';

const GUARDED = /^'*[=+\-@\t\r{[]/;
const GUARD_READ = /^'+[=+\-@\t\r{[]/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** One line, ended. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

function cell(value: unknown): string {
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

/** `id`, the fields and the times: those of the schema first, then the others by name. */
export function csvColumns(schema: TableSchema | null, names: readonly string[]): readonly string[] {
  const known = (schema?.columns ?? []).map(({ name }) => name);
  const others = names.filter((name) => !known.includes(name));
  return ['id', ...known, ...others.sort((a, b) => (a < b ? -1 : 1)), 'createdAt', 'updatedAt'];
}

/** The value of a cell; undefined where the field is missing. What does not fit the type stays a text, for the schema to refuse. */
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

/** What an unquoted cell is read as, where no schema says. */
function unquotedValue(text: string): unknown {
  if (text === '') return undefined;
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return isExactNumber(text) ? Number(text) : text;
}

/** A number with more digits than a number holds stays a text: it is an identifier. */
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
    // It only looks like it.
    return undefined;
  }
}
