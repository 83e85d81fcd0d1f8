/** Exports all rows of a table, reading them page by page while they are sent. */
import { setImmediate } from 'node:timers/promises';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { csvColumns, csvLine } from '../csv.ts';
import { pageRowJson } from '../row-json.ts';
import { EVERYTHING, type FieldPath } from './filter.ts';
import type { TableScope } from './filter-sql.ts';
import type { RowsPage } from './page.ts';
import { memberAt } from './projection.ts';
import type { RowReads } from './row-reads.ts';

const PIECE_ROWS = 100;

/** Runs a read when the artifact has a free slot. */
type RunRead = <T>(read: (reads: RowReads) => Promise<T>) => Promise<T>;

/** The columns of all rows. Throws INVALID_REQUEST if there are too many for a CSV. */
export async function exportColumns(run: RunRead, scope: TableScope): Promise<readonly string[]> {
  const names = await run((reads) => reads.fieldNames(scope, LIMITS.csvColumnsMax + 1));
  if (names.length > LIMITS.csvColumnsMax) {
    throw new Failure('INVALID_REQUEST', {
      message: `The rows have more than ${LIMITS.csvColumnsMax} different fields, which is too many for a CSV.`,
      hint: 'Send Accept: application/x-ndjson.',
    });
  }
  return csvColumns(scope.schema, names);
}

export async function* csvExport(run: RunRead, scope: TableScope, columns: readonly string[]): AsyncGenerator<string> {
  yield csvLine(columns);
  const paths = columns.map((name) => [name]);
  for await (const { rows } of pages(run, scope)) yield csvRows(rows, paths);
}

/** One page with its header line, in pieces, so that a large page does not block the event loop. */
export async function* csvPage({ rows }: RowsPage, columns: readonly FieldPath[]): AsyncGenerator<string> {
  yield csvLine(columns.map((path) => path.join('.')));
  for (let from = 0; from < rows.length; from += PIECE_ROWS) {
    if (from > 0) await setImmediate();
    yield csvRows(rows.slice(from, from + PIECE_ROWS), columns);
  }
}

export async function* ndjsonExport(run: RunRead, scope: TableScope): AsyncGenerator<string> {
  for await (const page of pages(run, scope)) yield page.rows.map((row) => `${pageRowJson(row)}\n`).join('');
}

function csvRows(rows: RowsPage['rows'], columns: readonly FieldPath[]): string {
  return rows
    .map((row) => {
      const fields: Readonly<Record<string, unknown>> = JSON.parse(pageRowJson(row));
      return csvLine(columns.map((path) => memberAt(fields, path)));
    })
    .join('');
}

/** All pages in insertion order. Each page is a query of its own, so that a slow client keeps none open. */
async function* pages(run: RunRead, scope: TableScope): AsyncGenerator<RowsPage> {
  let cursor: string | undefined;
  do {
    const query = { filter: EVERYTHING, sort: [], limit: LIMITS.rowsPageMax, skip: 0, cursor };
    const page = await run((reads) => reads.page(scope, query));
    if (page.rows.length > 0) yield page;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
