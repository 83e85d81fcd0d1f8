/** The reads of many rows of a table, each by one statement where the database bounds its time, or in slices. */
import type { StoredRow } from '../../../../../actors/tables/changes.ts';
import type { Sql } from '../../../../storage/sql.ts';
import { aggregateRows, countRows, distinctValues, type Grouping } from './aggregate.ts';
import { fieldNames } from './field-names.ts';
import type { Filter } from './filter.ts';
import type { TableScope } from './filter-sql.ts';
import { matchingIds, matchingRows, type PageBounds } from './matching-rows.ts';
import { type RowsPage, type RowsQuery, readPage } from './page.ts';

export interface RowReads {
  /** Throws INVALID_REQUEST if the cursor was made by another query. */
  page(scope: TableScope, query: RowsQuery): Promise<RowsPage>;
  count(scope: TableScope, filter: Filter): Promise<number>;
  /** Throws TOO_MANY_ROWS. */
  distinct(scope: TableScope, filter: Filter, field: string): Promise<unknown[]>;
  /** Throws TOO_MANY_ROWS and INVALID_REQUEST. */
  aggregate(scope: TableScope, filter: Filter, grouping: Grouping): Promise<Record<string, unknown>[]>;
  /** The names of the fields of all rows, at most `max`. */
  fieldNames(scope: TableScope, max: number): Promise<readonly string[]>;
  matchingRows(scope: TableScope, filter: Filter, bounds: PageBounds): Promise<readonly StoredRow[]>;
  matchingIds(scope: TableScope, filter: Filter, bounds: Omit<PageBounds, 'bytesMax'>): Promise<readonly StoredRow[]>;
}

/** Each read by one statement, on a client whose statements time out. */
export function wholeReads(sql: Sql): RowReads {
  return {
    page: (scope, query) => readPage(sql, scope, query),
    count: (scope, filter) => countRows(sql, scope, filter),
    distinct: (scope, filter, field) => distinctValues(sql, scope, filter, field),
    aggregate: (scope, filter, grouping) => aggregateRows(sql, scope, filter, grouping),
    fieldNames: (scope, max) => fieldNames(sql, scope, max),
    matchingRows: (scope, filter, bounds) => matchingRows(sql, scope, filter, bounds),
    matchingIds: (scope, filter, bounds) => matchingIds(sql, scope, filter, bounds),
  };
}
