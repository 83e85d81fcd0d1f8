/** Checks and writes the texts of many rows ahead of the turn that inserts them, in pieces between which other callers are served. */
import { setImmediate } from 'node:timers/promises';
import { type RowFields, type WrittenRow, writtenRow } from '../../../../actors/tables/row-fields.ts';

/** The length of the texts of one piece: a few milliseconds. */
const PIECE_CHARS = 256 * 1024;

/** `whereOf` names a row in messages. Throws ROW_TOO_LARGE. */
export async function writtenRows(rows: readonly RowFields[], whereOf: (index: number) => string): Promise<readonly WrittenRow[]> {
  const written: WrittenRow[] = [];
  let chars = 0;
  for (const [index, row] of rows.entries()) {
    const one = writtenRow(row, whereOf(index));
    written.push(one);
    chars += one.data.length;
    if (chars < PIECE_CHARS) continue;
    chars = 0;
    await setImmediate();
  }
  return written;
}
