import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { parseFilter, parseFilterText } from '../../../../../src/features/data/tables/queries/filter.ts';
import { matches, type Row } from '../../../../../src/features/data/tables/queries/plain-rows.ts';
import type { RowReads } from '../../../../../src/features/data/tables/queries/row-reads.ts';
import { everyDatabaseKind, openTestDatabase, type TestDatabase } from '../../../../support/database.ts';
import { WAYS } from './both-reads.ts';
import { anyFilter, anyRow } from './random-rows.ts';
import { type Stored, storeRows } from './stored-rows.ts';

const BOUNDS = { after: 0, rowsMax: 10_000, bytesMax: 1e9 };

function refusal(json: unknown): string {
  try {
    parseFilter(json);
  } catch (error) {
    if (error instanceof Failure) return `${error.code} ${error.details.param}`;
  }
  return 'taken';
}

describe('parsing a filter', () => {
  test.each<[unknown, string]>([
    [[], 'filter'],
    [null, 'filter'],
    [{ $where: 'sleep(1)' }, 'filter.$where'],
    [{ age: { $gt: 1, $regex: 'a' } }, 'filter.age.$regex'],
    [{ age: { $gt: 1, years: 2 } }, 'filter.age.years'],
    [{ $or: [] }, 'filter.$or'],
    [{ $and: { a: 1 } }, 'filter.$and'],
    [{ $or: [{ a: 1 }, { b: { $lt: null } }] }, 'filter.$or.1.b.$lt'],
    [{ a: { $in: 'x' } }, 'filter.a.$in'],
    [{ a: { $exists: 1 } }, 'filter.a.$exists'],
    [{ a: { $not: 5 } }, 'filter.a.$not'],
    [{ a: { $contains: { b: 1 } } }, 'filter.a.$contains'],
    [{ a: { $startsWith: 5 } }, 'filter.a.$startsWith'],
    [{ a: 'NUL \u0000' }, 'filter.a'],
    [{ a: { $in: [['\uD800']] } }, 'filter.a.$in.0'],
    [{ 'a\u0000': 1 }, 'filter.a\uFFFD'],
    [{ a: Number.POSITIVE_INFINITY }, 'filter.a'],
    [{ a: { $in: Array(LIMITS.filterValuesMax + 1).fill(1) } }, 'filter.a.$in'],
    [
      {
        [Array(LIMITS.fieldStepsMax + 1)
          .fill('a')
          .join('.')]: 1,
      },
      `filter.${Array(LIMITS.fieldStepsMax + 1)
        .fill('a')
        .join('.')}`,
    ],
  ])('refuses %j and names the part', (json, param) => {
    expect(refusal(json)).toBe(`INVALID_FILTER ${param}`);
  });

  test('refuses a filter that is too deep or too long, and accepts one exactly at the limit', () => {
    const nested = (depth: number): unknown => (depth === 1 ? { a: 1 } : { $not: nested(depth - 1) });
    expect(refusal(nested(LIMITS.filterDepthMax))).toBe('taken');
    expect(refusal(nested(LIMITS.filterDepthMax + 1))).toMatch(/^INVALID_FILTER filter(\.\$not)+$/);
    const wide = (terms: number) => Object.fromEntries(Array.from({ length: terms }, (_, n) => [`f${n}`, n]));
    expect(refusal(wide(LIMITS.filterTermsMax - 1))).toBe('taken');
    expect(refusal(wide(LIMITS.filterTermsMax))).toBe(`INVALID_FILTER filter.f${LIMITS.filterTermsMax - 1}`);
  });

  test('refuses texts of $contains that are too long together', () => {
    const half = 'x'.repeat(LIMITS.filterSearchedCharsMax / 2);
    expect(refusal({ a: { $contains: half }, b: { $contains: half } })).toBe('taken');
    expect(refusal({ a: { $contains: half }, b: { $contains: `${half}x` } })).toBe('INVALID_FILTER filter.b.$contains');
  });

  test.each(['', '{', '{"a":1,"a":2}', '7', `${'['.repeat(50_000)}`])('refuses a query parameter that is not an object (%#)', (text) => {
    expect(() => parseFilterText(text)).toThrow(expect.objectContaining({ code: 'INVALID_FILTER' }));
  });
});

const ROWS: readonly Row[] = [
  { a: 1, b: 'ab', tags: ['x', 1, null] },
  { a: '1', b: null },
  { a: [1], b: { c: { d: [5, 6] } } },
  { a: true, b: '\u{1F600}' },
  { b: '\uFFFD' },
  JSON.parse('{"__proto__": 1}'),
];

const BOTH = everyDatabaseKind().flatMap((kind) => WAYS.map((one) => ({ kind, ...one })));

describe.each(BOTH)('matching rows on $kind, read $way,', ({ kind, readsOf }) => {
  let database: TestDatabase;
  let reads: RowReads;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
    reads = readsOf(database.sql);
  });
  afterAll(() => database.close());

  async function idsMatching({ scope }: Stored, json: unknown): Promise<string[]> {
    return (await reads.matchingRows(scope, parseFilter(json), BOUNDS)).map(({ rowId }) => rowId);
  }

  test('follows the semantics in the doc comment of the filter', async () => {
    const stored = await storeRows(database.sql, ROWS);
    const found = async (json: unknown) => (await idsMatching(stored, json)).map((id) => stored.rows.findIndex((row) => row.id === id));
    expect(await found({})).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await found({ a: 1 })).toEqual([0]);
    expect(await found({ a: [1] })).toEqual([2]);
    expect(await found({ a: null })).toEqual([4, 5]);
    expect(await found({ a: { $ne: 1 } })).toEqual([1, 2, 3, 4, 5]);
    expect(await found({ b: { $exists: true, $in: [null, 'ab'] } })).toEqual([0, 1]);
    expect(await found({ b: { $gt: '\uFFFD' } })).toEqual([3]);
    expect(await found({ tags: { $contains: null } })).toEqual([0]);
    expect(await found({ 'b.c.d.-1': { $gte: 6 } })).toEqual([2]);
    expect(await found(JSON.parse('{"__proto__": 1}'))).toEqual([5]);
    expect(await found({ id: { $in: [stored.rows[3]?.id, 'x'] } })).toEqual([3]);
    expect(await found({ createdAt: { $gt: stored.rows[4]?.createdAt } })).toEqual([5]);
    expect(await found({ $or: [{ a: '1' }, { $not: { a: { $exists: true } } }] })).toEqual([1, 4, 5]);
  });

  test('treats SQL injection attempts as data', async () => {
    const attempt = "'; drop table table_row; --";
    const stored = await storeRows(database.sql, [{ [attempt]: attempt }, { a: '%' }]);
    for (const json of [{ [attempt]: attempt }, { [attempt]: { $contains: "'" } }, { [attempt]: { $in: [attempt] } }]) {
      expect(await idsMatching(stored, json)).toEqual([stored.rows[0]?.id]);
    }
    expect(await idsMatching(stored, { a: { $startsWith: '_' } })).toEqual([]);
    expect(await idsMatching(stored, { id: attempt })).toEqual([]);
  });

  test('stops at the row limit and at the byte limit', async () => {
    const { scope } = await storeRows(
      database.sql,
      Array.from({ length: 20 }, (_, n) => ({ n, text: 'x'.repeat(100) })),
    );
    const found = async (bounds: { after: number; rowsMax: number; bytesMax: number }) =>
      (await reads.matchingRows(scope, parseFilter({}), bounds)).map(({ createdSeq }) => createdSeq);
    expect(await found({ after: 0, rowsMax: 5, bytesMax: 1e6 })).toEqual([1, 2, 3, 4, 5]);
    expect(await found({ after: 0, rowsMax: 50, bytesMax: 1000 })).toHaveLength(9);
    expect(await found({ after: 17, rowsMax: 50, bytesMax: 1e6 })).toEqual([18, 19, 20]);
  });

  test('every operator finds the same rows as the model', { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(
      fc.array(anyRow, { minLength: 1, maxLength: 12 }),
      fc.array(anyFilter, { minLength: 1, maxLength: 20 }),
      async (fields, filters) => {
        const stored = await storeRows(database.sql, fields);
        for (const json of filters) {
          const filter = parseFilter(json);
          const expected = stored.rows.filter((row) => matches(filter, row)).map(({ id }) => id);
          expect(await idsMatching(stored, json), JSON.stringify(json)).toEqual(expected);
        }
      },
    );
    await fc.assert(property, { numRuns: kind === 'postgres' ? 100 : 25 });
  });

  test('the index finds the same rows as a scan', { timeout: 120_000 }, async () => {
    const columns = [
      { name: 'a', type: 'number', indexed: true },
      { name: 'b', type: 'string', unique: false, indexed: true },
      { name: 'c', type: 'boolean', indexed: true },
    ];
    const row = fc.record(
      {
        a: fc.constantFrom(null, 0, 1, 1.5, -3, 1e21),
        b: fc.constantFrom(null, '', 'a', 'ab', 'é', '\u{1F600}', '\uFFFD'),
        c: fc.constantFrom(null, true, false),
      },
      { requiredKeys: [] },
    );
    const property = fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 12 }),
      fc.array(anyFilter, { minLength: 1, maxLength: 20 }),
      async (fields, filters) => {
        const stored = await storeRows(database.sql, fields, columns);
        for (const json of filters) {
          const expected = await idsMatching({ ...stored, scope: { ...stored.scope, schema: null } }, json);
          expect(await idsMatching(stored, json), JSON.stringify(json)).toEqual(expected);
        }
      },
    );
    await fc.assert(property, { numRuns: kind === 'postgres' ? 60 : 15 });
  });
});
