/**
 * Reads of tables on a database that runs one statement at a time and cannot end one: a table that is small for what is asked is read by one
 * statement, any other in slices. A read in slices sees each row at its own moment: what is written meanwhile may be in it or not.
 */
import type { StoredRow } from '../../../../../../actors/tables/changes.ts';
import { Failure } from '../../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../../protocol/core/limits.ts';
import type { Sql } from '../../../../../storage/sql.ts';
import {
  type BoundedRow,
  bounded,
  type Grouping,
  objectOf,
  resultNames,
  TOO_MANY_GROUPS,
  TOO_MANY_VALUES,
  valueOrder,
} from '../aggregate.ts';
import { foreignCursor } from '../cursor.ts';
import { fieldSql } from '../field-sql.ts';
import { conjuncts, EVERYTHING, type Filter, parsePath } from '../filter.ts';
import { filterSql, indexCondition, type TableScope } from '../filter-sql.ts';
import { indexedSegments } from '../indexed-order.ts';
import type { PageBounds } from '../matching-rows.ts';
import { type RowsPage, type RowsQuery, sortColumn } from '../page.ts';
import { type ReadWeight, weightOf } from '../read-weight.ts';
import { type RowReads, wholeReads } from '../row-reads.ts';
import { fieldOrders } from '../sort.ts';
import { Statement } from '../statement.ts';
import { listedRows } from './listed-rows.ts';
import { finalSql, mergedSql, partialSql } from './partial-aggregates.ts';
import { type PaceSettings, SlicePace } from './slice-pace.ts';
import { afterOf, pageBySort, pageInOrder } from './sliced-page.ts';
import { Slices } from './slices.ts';
import { IndexWalk, InsertionWalk, ListWalk, ROW_BYTES, tableSql, type Walk } from './walk.ts';

/** Partial results are put together when there are so many, or when they have so many bytes. */
const PARTIALS_MAX = 2 * LIMITS.aggregateGroupsMax;
const PARTIAL_BYTES_MAX = 1024 * 1024;

export class SlicedReads implements RowReads {
  readonly #slices: Slices;
  readonly #pace: SlicePace;
  readonly #whole: RowReads;

  /** For one read. */
  constructor(sql: Sql, settings: PaceSettings) {
    this.#pace = new SlicePace(settings);
    this.#slices = new Slices(sql, this.#pace);
    this.#whole = wholeReads(sql);
  }

  async page(scope: TableScope, query: RowsQuery): Promise<RowsPage> {
    const { filter, sort, limit, skip } = query;
    if (await this.#isSmall(scope, weightOf(filter, 4 * sort.length, true))) return this.#whole.page(scope, query);
    const after = await afterOf(this.#slices, scope, query);
    const descending = sort[0]?.descending ?? false;
    const orders = fieldOrders(sort, new Statement());
    const listed = await listedRows(this.#slices, scope, filter);
    if (orders.length === 1 && orders[0]?.keys[0]?.sql === 'r.created_seq') {
      const walk = insertionWalk(scope, listed, descending, seqOf(after));
      return pageInOrder(this.#slices, scope, query, [{ walk, orders }]);
    }
    const column = sortColumn(scope, sort);
    if (column === undefined || listed !== undefined) {
      const newWalk = () => insertionWalk(scope, listed);
      return pageBySort(this.#slices, scope, { ...query, limit, skip }, newWalk, after);
    }
    const segments = indexedSegments(scope, ofColumn(filter, column.name), column, descending, after).map((segment) => ({
      walk: new IndexWalk(segment.from, segment.kind, segment.after),
      orders: segment.orders,
      hasEntries: true,
    }));
    return pageInOrder(this.#slices, scope, query, segments);
  }

  async count(scope: TableScope, filter: Filter): Promise<number> {
    const weight = weightOf(filter, 0);
    if (await this.#isSmall(scope, weight)) return this.#whole.count(scope, filter);
    let count = 0;
    for await (const { hits } of this.#each(scope, filter, weight)) count += hits;
    return count;
  }

  async distinct(scope: TableScope, filter: Filter, field: string): Promise<unknown[]> {
    const weight = weightOf(filter, 2, true);
    if (await this.#isSmall(scope, weight)) return this.#whole.distinct(scope, filter, field);
    const path = parsePath(field, 'field', 'INVALID_REQUEST');
    const limit = LIMITS.distinctValuesMax + 1;
    const values = new Set<string>();
    let bytes = 0;
    const select = (statement: Statement) => {
      const { json } = fieldSql(path, statement);
      const distinct = `select distinct ${json} as value from hits r`;
      return `select v.value::text as value from (${distinct}) v where v.value is not null limit ${statement.param(limit, 'bigint')}`;
    };
    for await (const { rows } of this.#each<{ readonly value: string }>(scope, filter, weight, select)) {
      for (const { value } of rows) {
        if (values.has(value)) continue;
        values.add(value);
        bytes += value.length;
      }
      // Then there are too many, which the last statement tells.
      if (values.size >= limit || bytes > LIMITS.rowsPageBytesMax) break;
    }
    const statement = new Statement();
    const given = `(${statement.param(`[${[...values].join(',')}]`, 'text')})::jsonb`;
    const inner = `
      select d.value::text as body from (select distinct e.value from jsonb_array_elements(${given}) e (value)) d
      order by ${valueOrder()} limit ${statement.param(limit, 'bigint')}`;
    return this.#bounded(statement, inner, LIMITS.distinctValuesMax, TOO_MANY_VALUES);
  }

  async aggregate(scope: TableScope, filter: Filter, grouping: Grouping): Promise<Record<string, unknown>[]> {
    const { groupBy, metrics } = grouping;
    const names = resultNames(groupBy, metrics);
    const weight = weightOf(filter, groupBy.length + 3 * metrics.length, true);
    if (await this.#isSmall(scope, weight)) return this.#whole.aggregate(scope, filter, grouping);
    const limit = LIMITS.aggregateGroupsMax + 1;
    let partials: string[] = [];
    let bytes = 0;
    const put = (bodies: readonly string[]) => {
      for (const body of bodies) {
        partials.push(body);
        bytes += body.length;
      }
    };
    let bytesMax = PARTIAL_BYTES_MAX;
    const select = (statement: Statement) => partialSql(grouping, limit, statement);
    for await (const { rows } of this.#each<{ readonly body: string }>(scope, filter, weight, select)) {
      if (rows.length === limit) throw new Failure('TOO_MANY_ROWS', { message: TOO_MANY_GROUPS });
      put(rows.map(({ body }) => body));
      if (partials.length <= PARTIALS_MAX && bytes <= bytesMax) continue;
      const statement = new Statement();
      const merged = await this.#slices.once<{ body: string }>(
        statement,
        mergedSql(grouping, jsonArray(partials, statement), limit, statement),
      );
      if (merged.length === limit) throw new Failure('TOO_MANY_ROWS', { message: TOO_MANY_GROUPS });
      partials = [];
      bytes = 0;
      put(merged.map(({ body }) => body));
      if (bytes > LIMITS.rowsPageBytesMax) {
        throw new Failure('TOO_MANY_ROWS', { message: `The result has more than ${LIMITS.rowsPageBytesMax} bytes.` });
      }
      bytesMax = Math.max(PARTIAL_BYTES_MAX, 2 * bytes);
    }
    const statement = new Statement();
    const inner = finalSql(grouping, jsonArray(partials, statement), statement.param(limit, 'bigint'));
    const groups = await this.#bounded(statement, inner, LIMITS.aggregateGroupsMax, TOO_MANY_GROUPS);
    return groups.map((values) => objectOf(names, values as unknown[]));
  }

  async fieldNames(scope: TableScope, max: number): Promise<readonly string[]> {
    const weight = weightOf(EVERYTHING, 4);
    if (await this.#isSmall(scope, weight)) return this.#whole.fieldNames(scope, max);
    const names = new Set<string>();
    const select = (statement: Statement) =>
      `select distinct f.name from hits r cross join lateral jsonb_object_keys(r.data) f (name) limit ${statement.param(max, 'bigint')}`;
    for await (const { rows } of this.#each<{ readonly name: string }>(scope, EVERYTHING, weight, select)) {
      for (const { name } of rows) names.add(name);
      if (names.size >= max) break;
    }
    return [...names].slice(0, max);
  }

  async matchingRows(scope: TableScope, filter: Filter, bounds: PageBounds): Promise<readonly StoredRow[]> {
    if (await this.#isSmall(scope, weightOf(filter, 0, true))) return this.#whole.matchingRows(scope, filter, bounds);
    const rows: StoredRow[] = [];
    let bytes = 0;
    for await (const row of this.#matching(scope, filter, bounds, true)) {
      rows.push(row);
      bytes += Buffer.byteLength(row.data);
      if (rows.length === bounds.rowsMax || bytes > bounds.bytesMax) break;
    }
    return rows;
  }

  async matchingIds(scope: TableScope, filter: Filter, bounds: Omit<PageBounds, 'bytesMax'>): Promise<readonly StoredRow[]> {
    if (await this.#isSmall(scope, weightOf(filter, 0))) return this.#whole.matchingIds(scope, filter, bounds);
    const rows: StoredRow[] = [];
    for await (const row of this.#matching(scope, filter, bounds, false)) {
      rows.push(row);
      if (rows.length === bounds.rowsMax) break;
    }
    return rows;
  }

  async *#matching(
    scope: TableScope,
    filter: Filter,
    { after, rowsMax }: Omit<PageBounds, 'bytesMax'>,
    withData: boolean,
  ): AsyncGenerator<StoredRow> {
    const weight = weightOf(filter, 0, withData);
    const select = (statement: Statement) => `
      select r.row_id as "rowId", ${withData ? 'r.data::text' : "'{}'"} as data, r.created_seq as "createdSeq", r.seq,
        r.created_at_ms as "createdAtMs", r.updated_at_ms as "updatedAtMs"
      from hits r order by r.slice_before limit ${statement.param(rowsMax, 'bigint')}`;
    for await (const { rows } of this.#each<StoredRow>(scope, filter, weight, select, after)) yield* rows;
  }

  /** Every slice of the rows that match, in insertion order; without a select they are counted. */
  async *#each<R extends object>(
    scope: TableScope,
    filter: Filter,
    weight: ReadWeight,
    selectSql?: (statement: Statement) => string,
    after?: number,
  ): AsyncGenerator<{ readonly hits: number; readonly rows: readonly R[] }> {
    const walk: Walk = insertionWalk(scope, await listedRows(this.#slices, scope, filter), false, after);
    for (;;) {
      const conditionSql = (statement: Statement) => filterSql(filter, statement);
      const work = { weight, conditionSql, ...(selectSql === undefined ? { countsHits: true } : { selectSql }) };
      const slice = await this.#slices.next<R>(walk, work);
      if (slice === undefined) return;
      yield slice;
    }
  }

  /** Whether all rows of the table may be read by one statement. */
  async #isSmall(scope: TableScope, weight: ReadWeight): Promise<boolean> {
    const { rows: rowsMax, bytes: bytesMax } = this.#pace.bounds(weight);
    const { rowCount } = scope;
    if (rowCount !== undefined && rowCount > rowsMax) return false;
    if (rowCount !== undefined && rowCount * LIMITS.rowBytesMax <= bytesMax) return true;
    const statement = new Statement();
    const some = `select r.data from table_row r where ${tableSql(scope, statement)} and r.created_seq > -1 order by r.created_seq limit ${statement.param(rowsMax + 1, 'bigint')}`;
    const [found] = await this.#slices.once<{ rows: number; bytes: number }>(
      statement,
      `select count(*)::integer as rows, coalesce(sum(${ROW_BYTES}), 0)::double precision as bytes from (${some}) r`,
    );
    return found !== undefined && found.rows <= rowsMax && found.bytes <= bytesMax;
  }

  #bounded(statement: Statement, inner: string, rowsMax: number, message: string): Promise<unknown[]> {
    const run = (on: Statement, text: string) => this.#slices.once<BoundedRow>(on, text);
    return bounded(run, statement, inner, rowsMax, message);
  }
}

function insertionWalk(scope: TableScope, listed: readonly number[] | undefined, descending = false, after?: number): Walk {
  if (listed === undefined) return new InsertionWalk(scope, descending, after);
  const further = after === undefined ? listed : listed.filter((seq) => (descending ? seq < after : seq > after));
  return new ListWalk(scope, further, descending);
}

/** The position of a cursor in insertion order. */
function seqOf(after: readonly unknown[] | undefined): number | undefined {
  if (after === undefined) return undefined;
  const [seq, ...others] = after;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || others.length > 0) throw foreignCursor();
  return seq;
}

/** The parts of a filter that the entries of the column decide. */
function ofColumn(filter: Filter, name: string): Filter {
  const of = conjuncts(filter).filter(
    (part) => 'path' in part && part.path.length === 1 && part.path[0] === name && indexCondition(part, 'k', new Statement()) !== undefined,
  );
  return { kind: 'and', of };
}

function jsonArray(bodies: readonly string[], statement: Statement): string {
  return `(${statement.param(`[${bodies.join(',')}]`, 'text')})::jsonb`;
}
