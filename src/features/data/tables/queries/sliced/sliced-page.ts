/** One page of a table, read in slices. */
import { Failure } from '../../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../../protocol/core/limits.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';

import { filterSql, type TableScope } from '../filter-sql.ts';
import { withLongTexts } from '../long-texts.ts';
import { markOf, type PageRow, type RowsPage, type RowsQuery } from '../page.ts';
import { isEverything, weightOf } from '../read-weight.ts';
import { afterCursor } from '../segment.ts';
import { type FieldOrder, fieldOrders, orderBy, type SortField } from '../sort.ts';
import { Statement } from '../statement.ts';
import type { Slices } from './slices.ts';
import { listedSql, ROW_BYTES, type Walk } from './walk.ts';

interface ReadRow extends PageRow {
  readonly cursor: string;
}

/** Columns of `r` for a `ReadRow`. */
function rowColumns(orders: readonly FieldOrder[]): string {
  return `r.row_id as "rowId", r.data::text as data, r.created_seq as "createdSeq", r.seq, r.created_at_ms as "createdAtMs",
    r.updated_at_ms as "updatedAtMs", jsonb_build_array(${orders.map(({ cursorSql }) => cursorSql).join(', ')})::text as cursor`;
}

/** A way through the rows in the order of the page. `orders`: for the cursors. */
export interface Segment {
  readonly walk: Walk;
  readonly orders: readonly FieldOrder[];
  readonly hasEntries?: boolean;
}

/** More rows than a page needs are looked at where some may not match; if they are not enough, as many as a slice may have. */
const LOOKED_AT_PER_ROW = 4;
const LOOKED_AT_MIN = 400;

/** Reads the page from segments whose order is that of the page. */
export async function pageInOrder(slices: Slices, scope: TableScope, query: RowsQuery, segments: readonly Segment[]): Promise<RowsPage> {
  const { filter, limit } = query;
  const weight = weightOf(filter, 0, true);
  const rows: ReadRow[] = [];
  let bytes = 0;
  let isFirst = true;
  let { skip } = query;
  for (const { walk, orders, hasEntries = false } of segments) {
    for (;;) {
      const wanted = limit + 1 - rows.length;
      const needed = skip + wanted;
      const slice = await slices.next<ReadRow>(walk, {
        weight,
        ...(isEverything(filter) && { rowsMax: needed }),
        ...(isFirst && !isEverything(filter) && { rowsMax: Math.max(LOOKED_AT_MIN, LOOKED_AT_PER_ROW * needed) }),
        hasEntries,
        bytesColumn: 'data',
        countsHits: true,
        conditionSql: (statement) => filterSql(filter, statement),
        selectSql: (statement) => {
          const bounds = `limit ${statement.param(wanted, 'bigint')} offset ${statement.param(skip, 'bigint')}`;
          return `select ${rowColumns(orders)}, r.slice_before from (select * from hits order by slice_before ${bounds}) r order by r.slice_before`;
        },
      });
      if (slice === undefined) break;
      isFirst = false;
      skip = Math.max(0, skip - slice.hits);
      for (const row of slice.rows) {
        // The row that exceeds the bytes of a page is still in it, as in a page that is read at once.
        if (bytes > LIMITS.rowsPageBytesMax || rows.length === limit) return cut(rows, query, scope);
        rows.push(row);
        bytes += row.data.length;
      }
    }
  }
  return { rows, nextCursor: null };
}

/** Rows that are kept to be compared with the next slice. A page that skips more takes several rounds. */
const KEPT_MAX = 2000;

/** Reads the page in an order that no index gives: keeps the first rows of all slices so far. `walk` makes a new way through all rows. */
export async function pageBySort(
  slices: Slices,
  scope: TableScope,
  query: RowsQuery,
  walk: () => Walk,
  after: readonly unknown[] | undefined,
): Promise<RowsPage> {
  let { skip } = query;
  let from = after;
  while (skip + query.limit > KEPT_MAX) {
    const round = await firstRows(slices, scope, query, walk(), from, Math.min(skip, KEPT_MAX));
    const last = round.seqs.at(-1);
    if (last === undefined || !round.hasMore) return { rows: [], nextCursor: null };
    skip -= round.seqs.length;
    from = await placeOf(slices, scope, query, last);
  }
  for (;;) {
    const round = await firstRows(slices, scope, query, walk(), from, skip + query.limit);
    const seqs = round.seqs.slice(skip);
    const rows = await rowsOf(slices, scope, query, seqs);
    // Rows that were deleted since they were compared are missing: with none left, what follows them is the page.
    if (rows.length === 0 && seqs.length > 0 && round.hasMore) continue;
    let bytes = 0;
    const fitting = rows.filter(({ data }) => {
      const isIn = bytes <= LIMITS.rowsPageBytesMax;
      bytes += data.length;
      return isIn;
    });
    // The large rows of a short round were all skipped: the page begins after them.
    if (fitting.length === 0 && round.hasMore) {
      skip -= round.seqs.length;
      const last = round.seqs.at(-1);
      if (last !== undefined) from = await placeOf(slices, scope, query, last);
      continue;
    }
    return round.hasMore || fitting.length < rows.length ? cut(fitting, query, scope) : { rows: fitting, nextCursor: null };
  }
}

interface Round {
  /** The insertion order of the first rows, in the order of the page; fewer than asked for where they are large. */
  readonly seqs: readonly number[];
  readonly hasMore: boolean;
}

interface KeptRow {
  readonly seq: number;
  readonly bytes: number;
  readonly place: number;
}

async function firstRows(
  slices: Slices,
  scope: TableScope,
  { filter, sort }: RowsQuery,
  walk: Walk,
  after: readonly unknown[] | undefined,
  count: number,
): Promise<Round> {
  const weight = weightOf(filter, 4 * sort.length);
  let kept: readonly number[] = [];
  let hasMore = false;
  let countMax = count;
  for (;;) {
    // What was kept is compared again with every slice, so it may have the bytes of one.
    const bytesMax = slices.keptBytes(weight);
    const slice = await slices.next<KeptRow>(walk, {
      weight,
      keptRows: kept.length,
      conditionSql: (statement) => filterSql(filter, statement),
      inputs: (statement) => {
        const orders = fieldOrders(sort, statement);
        return { columns: inputsOf(orders), conditionSql: after === undefined ? 'true' : afterCursor(orders, after, statement) };
      },
      selectSql: (statement) => {
        // The keys use no parameters; the inputs do, and Postgres rejects unused ones.
        const orders = fieldOrders(sort, new Statement());
        const columns = ['r.row_id', 'r.created_seq', 'r.created_at_ms', 'r.updated_at_ms', 'r.data'];
        const order = orderBy(orders);
        const before =
          kept.length === 0
            ? ''
            : ` union all select ${[...columns, ...inputsOf(fieldOrders(sort, statement))].join(', ')} from ${listedSql(scope, kept, statement)} r`;
        const all = `select ${[...columns, ...orders.flatMap(({ inputs }, at) => (inputs.length === 0 ? [] : [`r.json${at}`]))].join(', ')} from hits r${before}`;
        const first = `select r.created_seq, ${ROW_BYTES} as bytes from (${all}) r order by ${order} limit ${statement.param(countMax + 1, 'bigint')}`;
        return `select r.created_seq as seq, r.bytes, row_number() over () as place from (${first}) r`;
      },
    });
    if (slice === undefined) return { seqs: kept.slice(0, countMax), hasMore };
    if (slice.rows.length === 0) continue;
    const fitting: number[] = [];
    let bytes = 0;
    for (const row of [...slice.rows].sort((a, b) => a.place - b.place)) {
      bytes += row.bytes;
      if (fitting.length === countMax || (bytes > bytesMax && fitting.length > 0)) break;
      fitting.push(row.seq);
    }
    if (fitting.length < slice.rows.length) {
      hasMore = true;
      // Rows were left out behind these: no more than these are known to be the first ones.
      countMax = Math.min(countMax, fitting.length);
    }
    kept = fitting;
  }
}

/** The rows with these insertion orders that still match, in the order of the page. */
async function rowsOf(
  slices: Slices,
  scope: TableScope,
  { filter, sort }: RowsQuery,
  seqs: readonly number[],
): Promise<readonly ReadRow[]> {
  if (seqs.length === 0) return [];
  const statement = new Statement();
  const orders = fieldOrders(sort, statement);
  const listed = `${listedSql(scope, seqs, statement)} r where ${filterSql(filter, statement)}`;
  const from = `(select ${['r.*', ...inputsOf(orders)].join(', ')} from ${listed} offset 0) r`;
  const text = `select ${rowColumns(orders)} from ${from} order by ${orderBy(orders)}`;
  return slices.once<ReadRow>(statement, text, 'data');
}

/** The values of a cursor behind this row. */
async function placeOf(slices: Slices, scope: TableScope, query: RowsQuery, seq: number): Promise<readonly unknown[]> {
  const [row] = await rowsOf(slices, scope, { ...query, filter: { kind: 'and', of: [] } }, [seq]);
  if (row === undefined) throw new Failure('UNAVAILABLE', { message: 'The table has changed while it was sorted.', retryAfterS: 1 });
  return cursorValues(slices, scope, query.sort, JSON.parse(row.cursor));
}

/** With texts restored that a cursor carries only the start of. */
function cursorValues(slices: Slices, scope: TableScope, sort: readonly SortField[], values: readonly unknown[]) {
  return withLongTexts(
    slices.sql,
    scope,
    sort.map(({ path }) => path),
    values,
  );
}

/** The values of the query's cursor. Throws INVALID_REQUEST if it was made by another query. */
export async function afterOf(slices: Slices, scope: TableScope, query: RowsQuery): Promise<readonly unknown[] | undefined> {
  const { cursor, sort } = query;
  return cursor === undefined ? undefined : cursorValues(slices, scope, sort, decodeCursor(cursor, markOf(scope, query)));
}

function inputsOf(orders: readonly FieldOrder[]): readonly string[] {
  return orders.flatMap(({ inputs }) => inputs);
}

function cut(rows: readonly ReadRow[], query: RowsQuery, scope: TableScope): RowsPage {
  const last = rows.at(-1);
  return { rows, nextCursor: last === undefined ? null : encodeCursor(markOf(scope, query), JSON.parse(last.cursor)) };
}
