/** The two ways to read tables, for the tests that both must pass: by one statement, and in slices of very few rows. */
import type { RowReads } from '../../../../../src/features/data/tables/queries/row-reads.ts';
import { wholeReads } from '../../../../../src/features/data/tables/queries/row-reads.ts';
import { SlicedReads } from '../../../../../src/features/data/tables/queries/sliced/sliced-reads.ts';
import type { Sql } from '../../../../../src/storage/sql.ts';

export const WAYS: readonly { readonly way: string; readonly readsOf: (sql: Sql) => RowReads }[] = [
  { way: 'by one statement', readsOf: wholeReads },
  { way: 'in slices', readsOf: (sql) => inSlices(sql) },
];

/** Opens the reads of each call anew, as the service does. */
export function inSlices(sql: Sql, sliceRowsMax = 3): RowReads {
  const open = () => new SlicedReads(sql, { sliceMs: 10, readMsMax: 60_000, sliceRowsMax });
  return {
    page: (scope, query) => open().page(scope, query),
    count: (scope, filter) => open().count(scope, filter),
    distinct: (scope, filter, field) => open().distinct(scope, filter, field),
    aggregate: (scope, filter, grouping) => open().aggregate(scope, filter, grouping),
    fieldNames: (scope, max) => open().fieldNames(scope, max),
    matchingRows: (scope, filter, bounds) => open().matchingRows(scope, filter, bounds),
    matchingIds: (scope, filter, bounds) => open().matchingIds(scope, filter, bounds),
  };
}
