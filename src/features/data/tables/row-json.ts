/** Rows in the form that callers see. */
import type { StoredRow } from '../../../../actors/tables/changes.ts';
import type { PageRow } from './queries/page.ts';

type Framed = Pick<StoredRow, 'rowId' | 'createdAtMs' | 'updatedAtMs'>;

/** The JSON of a row: `id`, its own fields as stored, its times. */
export function rowJson(row: Framed & Pick<StoredRow, 'data'>): string {
  // `data` is the JSON of an object: the braces are cut off, and {} adds no fields.
  return `${headOf(row, row.data.length > 2)}${row.data.slice(1, -1)}${tailOf(row)}`;
}

export function pageRowJson(row: PageRow): string {
  return rowJson({ ...row, data: row.data.toString() });
}

/** The same as bytes, in three parts. */
export function rowParts(row: PageRow): readonly [head: string, fields: Buffer, tail: string] {
  return [headOf(row, row.data.length > 2), row.data.subarray(1, -1), tailOf(row)];
}

function headOf({ rowId }: Framed, hasFields: boolean): string {
  return `{"id":"${rowId}"${hasFields ? ',' : ''}`;
}

function tailOf({ createdAtMs, updatedAtMs }: Framed): string {
  return `,"createdAt":"${rowTime(createdAtMs)}","updatedAt":"${rowTime(updatedAtMs)}"}`;
}

/** RFC 3339, UTC, with milliseconds. */
function rowTime(ms: number): string {
  return new Date(ms).toISOString();
}
