/** All rows of a table, read page by page while they are sent. */
import { setImmediate } from 'node:timers/promises';
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Sql } from '../../storage/sql.ts';
import { csvColumns, csvLine } from './csv.ts';
import { EVERYTHING, type FieldPath } from './filter.ts';
import { rowsWhere, type TableScope } from './filter-sql.ts';
import { type RowsPage, readPage } from './page.ts';
import { memberAt } from './projection.ts';
import { rowJson } from './row-json.ts';
import { Statement } from './statement.ts';

const PIECE_ROWS = 100;

/** Runs a read when it is its turn. */
type RunRead = <T>(read: (sql: Sql) => Promise<T>) => Promise<T>;

/** The columns of the whole table. Throws INVALID_REQUEST where there are too many for a CSV. */
export async function exportColumns(run: RunRead, scope: TableScope): Promise<readonly string[]> {
  const statement = new Statement();
  const where = rowsWhere(scope, EVERYTHING, statement);
  const limit = statement.param(LIMITS.csvColumnsMax + 1, 'bigint');
  const text = `select distinct f.name from table_row r cross join lateral jsonb_object_keys(r.data) f (name) where ${where} limit ${limit}`;
  const rows = await run((sql) => statement.run<{ name: string }>(sql, text));
  if (rows.length > LIMITS.csvColumnsMax) {
    throw new Failure('INVALID_REQUEST', {
      message: `The rows have more than ${LIMITS.csvColumnsMax} different fields, too many for a CSV.`,
      hint: 'Send Accept: application/x-ndjson.',
    });
  }
  return csvColumns(
    scope.schema,
    rows.map(({ name }) => name),
  );
}

export async function* csvExport(run: RunRead, scope: TableScope, columns: readonly string[]): AsyncGenerator<string> {
  yield csvLine(columns);
  const paths = columns.map((name) => [name]);
  for await (const { rows } of pages(run, scope)) yield csvRows(rows, paths);
}

/** One page with its line of names, in pieces: while the text of a large one is made others get their turn. */
export async function* csvPage({ rows }: RowsPage, columns: readonly FieldPath[]): AsyncGenerator<string> {
  yield csvLine(columns.map((path) => path.join('.')));
  for (let from = 0; from < rows.length; from += PIECE_ROWS) {
    if (from > 0) await setImmediate();
    yield csvRows(rows.slice(from, from + PIECE_ROWS), columns);
  }
}

export async function* ndjsonExport(run: RunRead, scope: TableScope): AsyncGenerator<string> {
  for await (const page of pages(run, scope)) yield page.rows.map((row) => `${rowJson(row)}\n`).join('');
}

function csvRows(rows: RowsPage['rows'], columns: readonly FieldPath[]): string {
  return rows
    .map((row) => {
      const fields: Readonly<Record<string, unknown>> = JSON.parse(rowJson(row));
      return csvLine(columns.map((path) => memberAt(fields, path)));
    })
    .join('');
}

/** In the order of insertion. No query stays open while the reader takes its time. */
async function* pages(run: RunRead, scope: TableScope): AsyncGenerator<RowsPage> {
  let cursor: string | undefined;
  do {
    const query = { filter: EVERYTHING, sort: [], limit: LIMITS.rowsPageMax, skip: 0, cursor };
    const page = await run((sql) => readPage(sql, scope, query));
    if (page.rows.length > 0) yield page;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
