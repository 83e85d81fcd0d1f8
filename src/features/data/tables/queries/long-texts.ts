/**
 * Strings that are too long for a cursor. The cursor carries the start of such a string, a digest and the insertion order of its row, and
 * the next page reads the whole string from that row. If the row is deleted or changed by then, the exact position is lost, and the page
 * begins at the first string with the same start: rows may be repeated, but none is left out.
 */
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Sql } from '../../../../storage/sql.ts';
import { foreignCursor } from './cursor.ts';
import { fieldSql } from './field-sql.ts';
import { EVERYTHING, type FieldPath } from './filter.ts';
import { rowsWhere, type TableScope } from './filter-sql.ts';
import { Statement } from './statement.ts';

/** The start of a string that is no longer known in full; always the last value of a cursor. */
export class TextStart {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

interface LongText {
  readonly start: string;
  readonly digest: string;
}

/** What a cursor carries for a string, as jsonb. */
export function cursorTextSql(text: string): string {
  const long = `jsonb_build_object('start', left(${text}, ${LIMITS.cursorTextCharsMax}), 'digest', ${digestSql(text)})`;
  return `case when octet_length(to_jsonb(${text})::text) <= ${LIMITS.cursorTextBytesMax} then to_jsonb(${text}) else ${long} end`;
}

/** The first characters of a string, as many as a `TextStart` has. */
export function startOf(text: string): string {
  return `left(${text}, ${LIMITS.cursorTextCharsMax}) collate "C"`;
}

function digestSql(text: string): string {
  return `left(encode(sha256(convert_to(${text}, 'UTF8')), 'hex'), 32)`;
}

/** The values of a cursor for the fields at `paths`, with long strings restored. If one cannot be restored, the values before it and its start. */
export async function withLongTexts(
  sql: Sql,
  scope: TableScope,
  paths: readonly FieldPath[],
  values: readonly unknown[],
): Promise<readonly unknown[]> {
  const long = values.flatMap((value, at) => (isLongText(value) ? [{ at, ...value }] : []));
  if (long.length === 0) return values;
  const statement = new Statement();
  const texts = long.map(({ at, digest }, n) => {
    const path = paths[at];
    if (path === undefined) throw foreignCursor();
    const { text, type } = fieldSql(path, statement);
    return `case when ${type} = 'string' and ${digestSql(text)} = ${statement.param(digest, 'text')} then ${text} end as "text${n}"`;
  });
  const insertion = values.at(-1);
  if (typeof insertion !== 'number' || !Number.isSafeInteger(insertion)) throw foreignCursor();
  const where = `${rowsWhere(scope, EVERYTHING, statement)} and r.created_seq = ${statement.param(insertion, 'bigint')}`;
  const [row] = await statement.run<Record<string, string | null>>(sql, `select ${texts.join(', ')} from table_row r where ${where}`);
  const found = [...values];
  for (const [n, { at, start }] of long.entries()) {
    const text = row?.[`text${n}`] ?? undefined;
    if (text === undefined) return [...found.slice(0, at), new TextStart(start)];
    found[at] = text;
  }
  return found;
}

function isLongText(value: unknown): value is LongText {
  if (typeof value !== 'object' || value === null) return false;
  const { start, digest } = value as { readonly start?: unknown; readonly digest?: unknown };
  return typeof start === 'string' && typeof digest === 'string';
}
