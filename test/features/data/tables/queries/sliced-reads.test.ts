/** Counts, distinct values and aggregates in slices are those of one statement. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Metric } from '../../../../../protocol/data/table-queries.ts';
import { EVERYTHING, parseFilter } from '../../../../../src/features/data/tables/queries/filter.ts';
import { type RowReads, wholeReads } from '../../../../../src/features/data/tables/queries/row-reads.ts';
import { SlicedReads } from '../../../../../src/features/data/tables/queries/sliced/sliced-reads.ts';
import { everyDatabaseKind, openTestDatabase, type TestDatabase } from '../../../../support/database.ts';
import { inSlices } from './both-reads.ts';
import { anyFilter, anyRow } from './random-rows.ts';
import { storeRows } from './stored-rows.ts';

const FIELDS = ['a', 'b', 'c', 'a.b', 'id', 'createdAt', 'nested.a'] as const;
const anyMetric = fc.oneof(
  fc.constant<Metric>({ fn: 'count' }),
  fc.record({ fn: fc.constantFrom('count', 'sum', 'avg', 'min', 'max'), field: fc.constantFrom(...FIELDS) }),
);

/** The answer, or the code and message of the refusal. */
async function outcome(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Failure) return [error.code, error.message];
    throw error;
  }
}

describe.each(everyDatabaseKind())('on %s', (kind) => {
  let database: TestDatabase;
  let whole: RowReads;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
    whole = wholeReads(database.sql);
  });
  afterAll(() => database.close());

  test('every read is that of one statement, whatever the rows, the filter and the slices', async () => {
    const asked = fc.record({
      rows: fc.array(anyRow, { minLength: 5, maxLength: 25 }),
      filter: fc.oneof(fc.constant({}), anyFilter),
      field: fc.constantFrom(...FIELDS),
      groupBy: fc.uniqueArray(fc.constantFrom(...FIELDS), { maxLength: 2 }),
      metrics: fc.array(anyMetric, { minLength: 1, maxLength: 4 }),
      sliceRows: fc.integer({ min: 1, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ rows, filter: json, field, groupBy, metrics, sliceRows }) => {
        const { scope } = await storeRows(database.sql, rows as never);
        const filter = parseFilter(json);
        const sliced = inSlices(database.sql, sliceRows);
        const named = metrics.map((metric, at) => ({ ...metric, as: `m${at}` }));
        const all = (reads: RowReads) => [
          reads.count(scope, filter),
          reads.distinct(scope, filter, field),
          reads.aggregate(scope, filter, { groupBy, metrics: named }),
          reads.fieldNames(scope, 1000).then((names) => [...names].sort()),
          reads.matchingIds(scope, filter, { after: 0, rowsMax: 7 }),
        ];
        for (const [at, one] of all(sliced).entries())
          expect(await outcome(one)).toEqual(await outcome(all(whole)[at] ?? Promise.reject()));
      }),
      { numRuns: 40 },
    );
  });

  test('sums and means of numbers keep every digit', async () => {
    const numbers = [0.1, 0.2, 0.3, 1e15, 1e-15, 123456789.123456, -7, 1 / 3, 2 / 3, 1e300, -1e300];
    const { scope } = await storeRows(
      database.sql,
      numbers.map((n, at) => ({ n, g: at % 2 })),
    );
    const metrics = (['sum', 'avg', 'min', 'max', 'count'] as const).map((fn) => ({ fn, field: 'n' }));
    for (const groupBy of [[], ['g']]) {
      const grouping = { groupBy, metrics };
      expect(await inSlices(database.sql, 2).aggregate(scope, EVERYTHING, grouping)).toEqual(
        await whole.aggregate(scope, EVERYTHING, grouping),
      );
    }
  });

  test('indexed conditions narrow the rows that are looked at, and their order is that of one statement', async () => {
    const columns = [
      { name: 'n', type: 'number', indexed: true },
      { name: 's', type: 'string', indexed: true },
      { name: 'b', type: 'boolean', indexed: true },
    ];
    const rows = Array.from({ length: 60 }, (_, n) => ({
      ...(n % 7 !== 0 && { n: (n * 37) % 11 }),
      ...(n % 5 !== 0 && { s: `s${(n * 13) % 8}` }),
      ...(n % 3 !== 0 && { b: n % 2 === 0 }),
      other: n % 4,
    }));
    const { scope } = await storeRows(database.sql, rows, columns);
    const sliced = inSlices(database.sql, 4);
    const filters = [
      {},
      { n: 3 },
      { n: { $gt: 2 }, other: 1 },
      { s: { $in: ['s1', 's4'] }, n: { $lt: 9 } },
      { other: 2 },
      { b: true, other: { $ne: 1 } },
    ];
    for (const json of filters) {
      const filter = parseFilter(json);
      expect(await sliced.count(scope, filter)).toBe(await whole.count(scope, filter));
      for (const name of ['n', 's', 'b', 'other']) {
        for (const descending of [false, true]) {
          const pageOf = async (reads: RowReads, skip: number) => {
            const ids: string[][] = [];
            let cursor: string | undefined;
            do {
              const query = { filter, sort: [{ path: [name], descending }], limit: 5, skip: cursor === undefined ? skip : 0, cursor };
              const page = await reads.page(scope, query);
              ids.push(page.rows.map(({ rowId }) => rowId));
              cursor = page.nextCursor ?? undefined;
            } while (cursor !== undefined);
            return ids;
          };
          for (const skip of [0, 13])
            expect(await pageOf(sliced, skip), `${JSON.stringify(json)} ${name}`).toEqual(await pageOf(whole, skip));
        }
      }
    }
  });

  test('a page skips more rows than are kept for comparison', async () => {
    const { scope } = await storeRows(
      database.sql,
      Array.from({ length: 5000 }, (_, n) => ({ n: (n * 7919) % 5000 })),
    );
    const query = { filter: EVERYTHING, sort: [{ path: ['n'], descending: true }], limit: 10, skip: 4500, cursor: undefined };
    const ids = async (reads: RowReads) => (await reads.page(scope, query)).rows.map(({ rowId }) => rowId);
    expect(await ids(inSlices(database.sql, 2500))).toEqual(await ids(whole));
  });

  test('too many values and too many groups are refused', async () => {
    const { scope } = await storeRows(
      database.sql,
      Array.from({ length: LIMITS.distinctValuesMax + 1 }, (_, n) => ({ n })),
    );
    const sliced = inSlices(database.sql, 400);
    const grouping = { groupBy: ['n'], metrics: [{ fn: 'count' as const }] };
    for (const ask of [
      (reads: RowReads) => reads.distinct(scope, EVERYTHING, 'n'),
      (reads: RowReads) => reads.aggregate(scope, EVERYTHING, grouping),
    ]) {
      expect(await outcome(ask(sliced))).toEqual(await outcome(ask(whole)));
      expect(await outcome(ask(sliced))).toEqual(['TOO_MANY_ROWS', expect.any(String)]);
    }
  });

  test('a read that takes more than its time is refused', async () => {
    const { scope } = await storeRows(
      database.sql,
      Array.from({ length: 100 }, (_, n) => ({ n })),
    );
    const open = () => new SlicedReads(database.sql, { sliceMs: 10, readMsMax: 20, sliceRowsMax: 2 });
    await expect(open().count(scope, EVERYTHING)).rejects.toMatchObject({ code: 'QUERY_TOO_EXPENSIVE' });
    const sort = [{ path: ['n'], descending: false }];
    const query = { filter: EVERYTHING, sort, limit: 1, skip: 0, cursor: undefined };
    await expect(open().page(scope, query)).rejects.toMatchObject({ code: 'QUERY_TOO_EXPENSIVE' });
  });
});
