/** Reads one page of the committed rows of a table: filtered, sorted, from a cursor on. */
import type { StoredRow } from '../../../../../actors/tables/changes.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Sql } from '../../../../storage/sql.ts';
import { decodeCursor, encodeCursor, queryMark } from './cursor.ts';
import type { Filter } from './filter.ts';
import { indexedColumn, rowsWhere, type TableScope } from './filter-sql.ts';
import { indexedSegments } from './indexed-order.ts';
import { withLongTexts } from './long-texts.ts';
import { afterCursor, type SegmentOf } from './segment.ts';
import { fieldOrders, orderBy, type SortField } from './sort.ts';
import { Statement } from './statement.ts';

export interface RowsQuery {
  readonly filter: Filter;
  readonly sort: readonly SortField[];
  readonly limit: number;
  readonly skip: number;
  readonly cursor: string | undefined;
}

/** A row of a page. Its fields are the bytes of their JSON, which may be large, and which most readers send on as they are. */
export type PageRow = Omit<StoredRow, 'data'> & { readonly data: Buffer };

export interface RowsPage {
  /** At most `limit`; fewer if they would exceed `rowsPageBytesMax` together. */
  readonly rows: readonly PageRow[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

interface FoundRow extends PageRow {
  readonly cursor: string;
  /** How many rows the statement found, including those left out for their size. */
  readonly found: number;
}

/** The indexed column that gives the order; undefined where no index does. */
export function sortColumn(scope: TableScope, sort: readonly SortField[]) {
  const [first] = sort;
  return sort.length === 1 && first !== undefined ? indexedColumn(scope.schema, first.path) : undefined;
}

/** What a cursor has of the query that made it. */
export function markOf(scope: TableScope, { filter, sort }: Pick<RowsQuery, 'filter' | 'sort'>): string {
  return queryMark([scope.artifactId, scope.table, filter, sort, sortColumn(scope, sort) ?? null]);
}

/** Throws INVALID_REQUEST if the cursor was made by another query. */
export async function readPage(sql: Sql, scope: TableScope, query: RowsQuery): Promise<RowsPage> {
  const { filter, sort, limit } = query;
  const [first] = sort;
  const column = sortColumn(scope, sort);
  const mark = markOf(scope, query);
  const paths = sort.map(({ path }) => path);
  const after = query.cursor === undefined ? undefined : await withLongTexts(sql, scope, paths, decodeCursor(query.cursor, mark));
  const segments =
    column === undefined || first === undefined
      ? [scanned(scope, filter, sort, after)]
      : indexedSegments(scope, filter, column, first.descending, after).map((segment) => segment.from(segment.after));
  const rows: FoundRow[] = [];
  let { skip } = query;
  for (const segmentOf of segments) {
    const part = await readSegment(sql, segmentOf, limit + 1 - rows.length, skip);
    rows.push(...part);
    const found = part[0]?.found ?? 0;
    if (found > part.length || rows.length > limit) return cut(rows, Math.min(rows.length, limit), mark);
    // If the first segment has fewer rows than are to be skipped, the rest are skipped in the second.
    if (found > 0) skip = 0;
    else if (skip > 0 && segments.length > 1) skip -= await countSegment(sql, segmentOf);
  }
  return { rows, nextCursor: null };
}

function cut(rows: readonly FoundRow[], length: number, mark: string): RowsPage {
  const page = rows.slice(0, length);
  const last = page.at(-1);
  return { rows: page, nextCursor: last === undefined ? null : encodeCursor(mark, JSON.parse(last.cursor)) };
}

function scanned(scope: TableScope, filter: Filter, sort: readonly SortField[], after: readonly unknown[] | undefined): SegmentOf {
  return (statement) => {
    const orders = fieldOrders(sort, statement);
    const where = rowsWhere(scope, filter, statement);
    const further = after === undefined ? 'true' : afterCursor(orders, after, statement);
    const inputs = orders.flatMap((order) => order.inputs);
    if (inputs.length === 0) return { fromSql: `from table_row r where ${where} and ${further}`, carried: [], orders };
    // Without `offset 0` the planner would inline the inputs and evaluate them once for each use.
    const inner = `select r.*, ${inputs.join(', ')} from table_row r where ${where} offset 0`;
    return { fromSql: `from (${inner}) r where ${further}`, carried: [], orders };
  };
}

function readSegment(sql: Sql, segmentOf: SegmentOf, limit: number, skip: number): Promise<readonly FoundRow[]> {
  const statement = new Statement();
  const { fromSql, carried, orders } = segmentOf(statement);
  const cursor = orders.map(({ cursorSql }) => cursorSql).join(', ');
  const bounds = `limit ${statement.param(limit, 'bigint')}${skip === 0 ? '' : ` offset ${statement.param(skip, 'bigint')}`}`;
  // The inner select limits the number of rows, the outer one their bytes. Between them the cursors are built, for the rows of the page only.
  return statement.runWithBytes<FoundRow>(
    sql,
    `select p.row_id as "rowId", p.data, p.created_seq as "createdSeq", p.seq, p.created_at_ms as "createdAtMs", p.updated_at_ms as "updatedAtMs",
      p.cursor, p.found
    from (
      select r.row_id, r.data::text as data, r.created_seq, r.seq, r.created_at_ms, r.updated_at_ms,
        jsonb_build_array(${cursor})::text as cursor,
        (count(*) over ())::integer as found,
        sum(octet_length(r.data::text)) over (rows unbounded preceding) - octet_length(r.data::text) as bytes_before
      from (select ${['r.*', ...carried].join(', ')} ${fromSql} order by ${orderBy(orders)} ${bounds}) r
    ) p
    where p.bytes_before <= ${statement.param(LIMITS.rowsPageBytesMax, 'bigint')}`,
    'data',
  );
}

async function countSegment(sql: Sql, segmentOf: SegmentOf): Promise<number> {
  const statement = new Statement();
  const [row] = await statement.run<{ count: number }>(sql, `select count(*) as count ${segmentOf(statement).fromSql}`);
  return row?.count ?? 0;
}
