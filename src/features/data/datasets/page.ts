/** Pages of rows: looks through a version from one row on, a block at a time, for those that match. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { decodeCursor, encodeCursor, foreignCursor } from '../tables/queries/cursor.ts';
import { EVERYTHING, type Filter } from '../tables/queries/filter.ts';
import { matches } from '../tables/queries/plain-rows.ts';
import { type Projection, project } from '../tables/queries/projection.ts';
import { blockLines, lastBlock, type Objects } from './renderings.ts';
import type { StoredDataset } from './rows.ts';

export interface RowsWanted {
  readonly filter: Filter;
  readonly projection: Projection | undefined;
  readonly limit: number;
  /** The number of the first row to look at, from 0. */
  readonly from: number;
}

export interface FoundRows {
  /** Each as JSON. */
  readonly texts: readonly string[];
  /** The row to go on with; null where all rows have been looked at. */
  readonly next: number | null;
}

/** Ends before `limit` where the rows have reached the size of a page, or as many bytes were looked through as one call may. */
export async function readPage(objects: Objects, stored: StoredDataset, wanted: RowsWanted, lane: string): Promise<FoundRows> {
  const texts: string[] = [];
  let row = wanted.from;
  let foundChars = 0;
  let scannedChars = 0;
  for (let index = lastBlock(stored.blocks, ([first]) => first <= row); row < stored.rows; index += 1) {
    const lines = await blockLines(objects, stored, index, lane);
    const first = stored.blocks[index]?.[0] ?? stored.rows;
    for (const line of lines.slice(row - first)) {
      const text = shownText(line, wanted);
      row += 1;
      scannedChars += line.length;
      if (text === undefined) continue;
      texts.push(text);
      foundChars += text.length;
      if (texts.length >= wanted.limit || foundChars >= LIMITS.rowsPageBytesMax) return { texts, next: row < stored.rows ? row : null };
    }
    if (scannedChars >= LIMITS.datasetScanBytesMax) break;
  }
  return { texts, next: row < stored.rows ? row : null };
}

/** Looks through all rows, unless all match. */
export async function countRows(objects: Objects, stored: StoredDataset, filter: Filter, lane: string): Promise<number> {
  if (filter === EVERYTHING) return stored.rows;
  let count = 0;
  for (const index of stored.blocks.keys()) {
    for (const line of await blockLines(objects, stored, index, lane)) if (matches(filter, JSON.parse(line))) count += 1;
  }
  return count;
}

/** Undefined where the row does not match. A row that is shown whole is not parsed. */
function shownText(line: string, { filter, projection }: RowsWanted): string | undefined {
  if (filter === EVERYTHING && projection === undefined) return line;
  const row = JSON.parse(line);
  if (!matches(filter, row)) return undefined;
  return projection === undefined ? line : JSON.stringify(project(row, projection));
}

export interface Position {
  readonly version: number;
  readonly row: number;
}

export function cursorAt(mark: string, { version, row }: Position): string {
  return encodeCursor(mark, [version, row]);
}

/** Throws INVALID_REQUEST where the cursor was not made by this query. */
export function positionOf(cursor: string, mark: string): Position {
  const [version, row] = decodeCursor(cursor, mark);
  if (!isCount(version) || !isCount(row)) throw foreignCursor();
  return { version, row };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** What a caller is told whose pages have outlived their version. */
export function versionGone(version: number): Failure {
  return new Failure('VERSION_NOT_FOUND', {
    message: `Version ${version} is not kept.`,
    hint: `The newest ${LIMITS.datasetVersionsKept} versions are kept; GET …/datasets/{dataset} lists them.`,
    param: 'version',
  });
}
