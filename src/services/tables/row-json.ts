/** A row as callers see it. */
import type { StoredRow } from '../../../actors/ports.ts';

/** The JSON text of a row: `id`, its own fields as they are stored, its times. */
export function rowJson({ rowId, data, createdAtMs, updatedAtMs }: StoredRow): string {
  // Its text begins with a brace and ends with one; a row without fields has nothing between them.
  const fields = data.length > 2 ? `,${data.slice(1, -1)}` : '';
  return `{"id":"${rowId}"${fields},"createdAt":"${rowTime(createdAtMs)}","updatedAt":"${rowTime(updatedAtMs)}"}`;
}

/** RFC 3339, UTC, with milliseconds. */
function rowTime(ms: number): string {
  return new Date(ms).toISOString();
}
