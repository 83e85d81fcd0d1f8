import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { EVERYTHING, parseFilter } from '../../../../../src/features/data/tables/queries/filter.ts';
import type { TableScope } from '../../../../../src/features/data/tables/queries/filter-sql.ts';
import type { RowsQuery } from '../../../../../src/features/data/tables/queries/page.ts';
import { compareValues, matches, type Row, valueAt } from '../../../../../src/features/data/tables/queries/plain-rows.ts';
import type { RowReads } from '../../../../../src/features/data/tables/queries/row-reads.ts';
import { parseSort } from '../../../../../src/features/data/tables/queries/sort.ts';
import { openTestDatabase, type TestDatabase } from '../../../../support/database.ts';
import { WAYS } from './both-reads.ts';
import { anyFilter, anyRow, anyText } from './random-rows.ts';
import { CREATED_AT_MS, storeRows } from './stored-rows.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

interface Asked {
  readonly filter?: unknown;
  readonly sort?: string;
  readonly limit?: number;
  readonly skip?: number;
  readonly cursor?: string | undefined;
}

function queryOf({ filter, sort, limit = 100, skip = 0, cursor }: Asked): RowsQuery {
  return { filter: filter === undefined ? EVERYTHING : parseFilter(filter), sort: parseSort(sort), limit, skip, cursor };
}

/** The ids of all pages in order. `between` runs between two pages. */
async function allIds(scope: TableScope, asked: Asked, between: () => Promise<void> = async () => undefined): Promise<string[]> {
  const ids: string[] = [];
  let page = await reads.page(scope, queryOf(asked));
  for (;;) {
    ids.push(...page.rows.map(({ rowId }) => rowId));
    if (page.nextCursor === null) return ids;
    await between();
    page = await reads.page(scope, queryOf({ ...asked, skip: 0, cursor: page.nextCursor }));
  }
}

function sorted(rows: readonly (Row & { readonly id: string })[], sort: string): string[] {
  const fields = parseSort(sort);
  const compare = (a: Row, b: Row) => {
    for (const { path, descending } of fields) {
      const order = compareValues(valueAt(a, path), valueAt(b, path));
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };
  // `sort` is stable, so equal rows keep their insertion order.
  const insertion = fields.at(-1)?.descending ? [...rows].reverse() : [...rows];
  return insertion.sort(compare).map(({ id }) => id);
}

const anySort = fc
  .array(fc.tuple(fc.constantFrom('', '-'), fc.constantFrom('a', 'b', 'c', 'a.b', 'id', 'createdAt', 'updatedAt', 'nested.a')), {
    minLength: 1,
    maxLength: LIMITS.sortFieldsMax,
  })
  .map((fields) => fields.map((field) => field.join('')).join(','));

const COLUMNS = [
  { name: 'a', type: 'number', indexed: true },
  { name: 'b', type: 'string', indexed: true },
  { name: 'c', type: 'boolean', indexed: true },
];
const indexedRow = fc.record(
  {
    a: fc.constantFrom(null, 0, 1, 1.5, -3, 1e21),
    b: fc.oneof(fc.constant(null), anyText),
    c: fc.constantFrom(null, true, false),
    d: fc.nat(2),
  },
  { requiredKeys: [] },
);

let reads: RowReads;
describe.each(WAYS)('pages, read $way,', ({ readsOf }) => {
  beforeAll(() => {
    reads = readsOf(database.sql);
  });

  test('return all matching rows in the order of the model, with and without an index', { timeout: 120_000 }, async () => {
    const cases = fc.oneof(
      fc.record({ fields: fc.array(anyRow, { maxLength: 12 }), sort: anySort, columns: fc.constant(null) }),
      fc.record({
        fields: fc.array(indexedRow, { maxLength: 12 }),
        sort: fc.constantFrom('a', '-a', 'b', '-b', 'c', '-c', 'c,-a', 'd'),
        columns: fc.constant(COLUMNS),
      }),
    );
    const property = fc.asyncProperty(cases, anyFilter, fc.integer({ min: 1, max: 5 }), fc.nat(13), async (of, json, limit, skip) => {
      const { scope, rows } = await storeRows(database.sql, of.fields, of.columns);
      const filter = parseFilter(json);
      const expected = sorted(
        rows.filter((row) => matches(filter, row)),
        of.sort,
      );
      expect(await allIds(scope, { filter: json, sort: of.sort, limit })).toEqual(expected);
      expect(await allIds(scope, { sort: of.sort, limit, skip })).toEqual(sorted(rows, of.sort).slice(skip));
    });
    await fc.assert(property, { numRuns: 150 });
  });

  test('return each row that stays exactly once while others are inserted and deleted', { timeout: 120_000 }, async () => {
    const sorts = fc.constantFrom('', 'a', '-a', '-createdAt', 'b,-a', 'c', '-c,a');
    const changes = fc.array(fc.record({ add: indexedRow, removed: fc.nat(100) }), { minLength: 1, maxLength: 10 });
    const property = fc.asyncProperty(
      fc.array(indexedRow, { minLength: 4, maxLength: 12 }),
      sorts,
      fc.boolean(),
      fc.integer({ min: 1, max: 4 }),
      changes,
      async (fields, sort, isIndexed, limit, given) => {
        const { scope, rows } = await storeRows(database.sql, fields, isIndexed ? COLUMNS : null);
        const gone = new Set<string>();
        const left = [...given];
        const change = async () => {
          const next = left.pop();
          if (next === undefined) return;
          const victim = rows[next.removed % rows.length]?.id ?? '';
          gone.add(victim);
          await database.sql`delete from table_row where artifact_id = ${scope.artifactId} and row_id = ${victim}`;
          await database.sql`delete from row_index where artifact_id = ${scope.artifactId} and row_id = ${victim}`;
          await storeRows(database.sql, [next.add], isIndexed ? COLUMNS : null, { scope, firstSeq: 1000 - left.length });
        };
        const seen = await allIds(scope, { ...(sort !== '' && { sort }), limit }, change);
        expect(new Set(seen).size).toBe(seen.length);
        const stayed = rows.filter(({ id }) => !gone.has(id));
        expect(seen.filter((id) => stayed.some((row) => row.id === id))).toEqual(sorted(stayed, sort === '' ? 'createdAt' : sort));
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  test('end early if their rows are large', async () => {
    const text = 'x'.repeat(90_000);
    const { scope, rows } = await storeRows(
      database.sql,
      Array.from({ length: 60 }, (_, n) => ({ n, text })),
    );
    const first = await reads.page(scope, queryOf({ limit: 60 }));
    expect(first.rows.length).toBe(Math.ceil(LIMITS.rowsPageBytesMax / 90_025));
    expect(await allIds(scope, { limit: 60 })).toEqual(rows.map(({ id }) => id));
  });

  /** Rows whose strings have the same first 10 000 characters, stored in another order than they sort. */
  const alike = (length: number) =>
    Array.from({ length }, (_, n) => ({ n: n % 2, text: '\u{1F600}'.repeat(10_000) + ((n * 7) % length), tail: '"\u0001'.repeat(5000) }));

  test.each(['text', '-text', 'n,-text', '-n,text,tail', 'text,tail,-tail,n'])(
    'sort by %s comparing long strings in full',
    async (sort) => {
      const { scope, rows } = await storeRows(database.sql, alike(11));
      expect(await allIds(scope, { sort, limit: 3 })).toEqual(sorted(rows, sort));
      const { nextCursor } = await reads.page(scope, queryOf({ sort, limit: 3 }));
      expect(nextCursor?.length).toBeLessThan(LIMITS.rowCursorCharsMax);
    },
  );

  test('keep a cursor within its size limit if it carries four strings that JSON escapes to six times their length', async () => {
    const value = '\u0001'.repeat(213);
    const fields = Array.from({ length: 4 }, () => ({ a: value, b: value, c: value, d: value }));
    for (const columns of [null, [{ name: 'a', type: 'string', indexed: true }]]) {
      const longest = columns === null ? fields : fields.map((row) => ({ ...row, a: value.repeat(4) }));
      const { scope, rows } = await storeRows(database.sql, longest, columns);
      const sort = columns === null ? 'a,b,c,d' : 'a';
      const { nextCursor } = await reads.page(scope, queryOf({ sort, limit: 2 }));
      expect(nextCursor?.length).toBeLessThan(LIMITS.rowCursorCharsMax);
      expect(await allIds(scope, { sort, limit: 2 })).toEqual(rows.map(({ id }) => id));
    }
  });

  test.each([
    ['text', null],
    ['-text', null],
    ['n,-text', null],
    ['text', [{ name: 'text', type: 'string', indexed: true }]],
    ['-text', [{ name: 'text', type: 'string', indexed: true }]],
  ])('sorted by %s leave out no row if the last row of a page is deleted or changed (columns %j)', async (sort, columns) => {
    const start = '\u0001'.repeat(900);
    const others = [{ n: 0, text: 'a' }, { n: 1, text: '\u0001' }, { n: 0 }, { n: 1, text: `${start}\u0001` }];
    const fields = [...others, ...Array.from({ length: 6 }, (_, n) => ({ n: n % 2, text: start + ((n * 5) % 6) }))];
    const { scope, rows } = await storeRows(database.sql, fields, columns);
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const change of ['deleted', 'changed'] as const) {
      let last: string | undefined;
      const seen: string[] = [];
      let cursor: string | undefined;
      let changes = 0;
      do {
        const page = await reads.page(scope, queryOf({ sort, limit: 2, cursor }));
        seen.push(...page.rows.map(({ rowId }) => rowId));
        last = page.rows.at(-1)?.rowId;
        cursor = page.nextCursor ?? undefined;
        if (cursor === undefined || last === undefined || changes === 2) continue;
        changes += 1;
        byId.delete(last);
        if (change === 'deleted') await database.sql`delete from table_row where artifact_id = ${scope.artifactId} and row_id = ${last}`;
        else
          await database.sql`
            update table_row set data = '{"text":"z"}' where artifact_id = ${scope.artifactId} and row_id = ${last}`;
        await database.sql`delete from row_index where artifact_id = ${scope.artifactId} and row_id = ${last}`;
      } while (cursor !== undefined);
      const stayed = sorted([...byId.values()], sort);
      expect([...new Set(seen)].filter((id) => byId.has(id)).sort()).toEqual([...stayed].sort());
      // Repeated rows keep their order.
      expect(seen.filter((id, at) => byId.has(id) && seen.lastIndexOf(id) === at)).toEqual(stayed);
    }
  });

  test('refuse a cursor of another query, and a forged one', async () => {
    const { scope } = await storeRows(database.sql, [{ a: 1 }, { a: 2 }, { a: 3 }]);
    const other = await storeRows(database.sql, [{ a: 1 }, { a: 2 }]);
    const asked = { sort: 'a', filter: { a: { $gt: 0 } }, limit: 1 };
    const { nextCursor } = await reads.page(scope, queryOf(asked));
    const refused = expect.objectContaining({ code: 'INVALID_REQUEST', details: expect.objectContaining({ param: 'cursor' }) });
    const cursor = nextCursor ?? '';
    for (const change of [{ sort: '-a' }, { filter: { a: { $gt: 1 } } }, { sort: 'a,b' }]) {
      await expect(reads.page(scope, queryOf({ ...asked, ...change, cursor }))).rejects.toEqual(refused);
    }
    await expect(reads.page(other.scope, queryOf({ ...asked, cursor }))).rejects.toEqual(refused);
    const [mark] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const forged = [
      [],
      [mark],
      [mark, 1],
      [mark, 1, 'x'],
      [mark, 1, 1.5],
      [mark, 1, null],
      [mark, 1, 2, 3],
      [mark, 'a\u0000', 1],
      [mark, { start: '\u0000', digest: '' }, 1],
      [mark, { start: 'a', digest: '' }, 'x'],
      [mark, 1, { start: 'a', digest: '' }, 1],
    ].map((content) => JSON.stringify(content));
    for (const content of [...forged, 'x', '{"a":1}']) {
      const made = Buffer.from(content).toString('base64url');
      await expect(reads.page(scope, queryOf({ ...asked, cursor: made })), content).rejects.toEqual(refused);
    }
    expect((await reads.page(scope, queryOf({ ...asked, cursor }))).rows).toHaveLength(1);
  });

  test('return rows as they are stored', async () => {
    const { scope, rows } = await storeRows(database.sql, [{ a: 1 }]);
    const page = await reads.page(scope, queryOf({}));
    const expected = {
      rowId: rows[0]?.id,
      data: Buffer.from('{"a": 1}'),
      createdSeq: 1,
      seq: 1,
      createdAtMs: CREATED_AT_MS,
      updatedAtMs: CREATED_AT_MS + 1,
    };
    expect(page).toEqual({ rows: [expect.objectContaining(expected)], nextCursor: null });
  });
});

test.each([',', '-', 'a,,b', 'a,b,c,d,e', 'a\u0000'])('refuses to sort by %j', (sort) => {
  expect(() => parseSort(sort)).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST', details: expect.objectContaining({ param: 'sort' }) }),
  );
});
