/** Tables that do not exist yet, and the forms of a sort, on both databases. Source: contract.md §5. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { Tables } from './table-client.ts';

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  let tables: Tables;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());
  beforeEach(async () => {
    tables = await Tables.make(easel);
  });

  const NOTHING = { rows: [], hasMore: false, nextCursor: null };

  async function expectEmpty(): Promise<void> {
    expect(await tables.ok('GET', '/t/rows?count=true&sort=-name&filter=%7B%22n%22%3A1%7D')).toEqual({ ...NOTHING, total: 0 });
    expect(await tables.ok('POST', '/t/query', { filter: { n: 1 }, sort: { n: -1 }, skip: 3 })).toEqual(NOTHING);
    expect(await tables.ok('POST', '/t/count', {})).toEqual({ count: 0 });
    expect(await tables.ok('POST', '/t/distinct', { field: 'n' })).toEqual({ values: [], count: 0 });
    expect(await tables.ok('POST', '/t/aggregate', { groupBy: ['n'], metrics: [{ fn: 'count' }] })).toEqual({ groups: [] });
    for (const [accept, text] of [
      ['text/csv', 'id,createdAt,updatedAt\r\n'],
      ['application/x-ndjson', ''],
    ] as const) {
      for (const path of ['/t/export', '/t/rows']) {
        const reply = await tables.send('GET', path, undefined, { headers: { accept } });
        expect([reply.status, await reply.text()]).toEqual([200, text]);
      }
    }
    expect(await tables.ok('PATCH', '/t', { filter: { n: 1 }, changes: { n: 2 } })).toEqual({ updated: 0 });
    expect(await tables.ok('DELETE', '/t', { filter: { n: 1 } })).toEqual({ deleted: 0 });
  }

  it('reads as an empty table, and a change by filter changes nothing', async () => {
    await expectEmpty();
    expect(await tables.ok('GET', '')).toEqual({ tables: [] });
  });

  it('reads as empty after a drop, even while its rows are still stored', async () => {
    await tables.ok('POST', '/t', [{ n: 1 }, { n: 2 }]);
    // Keeps the purge from removing any row.
    await easel.sql`create or replace function keep() returns trigger language plpgsql as 'begin return null; end'`;
    await easel.sql`create or replace trigger keep before delete on table_row for each row execute function keep()`;
    await tables.ok('DELETE', '/t?confirm=true');
    await expectEmpty();
    await easel.sql`drop trigger keep on table_row`;
  });

  it('has no rows, no schema, and nothing to drop', async () => {
    const row = `/t/row_${'a'.repeat(24)}`;
    expect(await tables.refused('GET', row)).toEqual([404, 'ROW_NOT_FOUND', 'rowId']);
    expect(await tables.refused('PATCH', row, {})).toEqual([404, 'ROW_NOT_FOUND', 'rowId']);
    expect(await tables.refused('DELETE', row)).toEqual([404, 'ROW_NOT_FOUND', 'rowId']);
    expect(await tables.refused('GET', '/t/_schema')).toEqual([404, 'TABLE_NOT_FOUND', 'table']);
    expect(await tables.refused('DELETE', '/t?confirm=true')).toEqual([404, 'TABLE_NOT_FOUND', 'table']);
  });

  it('refuses invalid input as an existing table does', async () => {
    expect(await tables.refused('POST', '/t/query', { filter: { n: { $like: 1 } } })).toEqual([400, 'INVALID_FILTER', 'filter.n.$like']);
    expect(await tables.refused('POST', '/t/query', { sort: 'a\u0000' })).toEqual([400, 'INVALID_REQUEST', 'sort']);
    expect(await tables.refused('GET', '/t/rows?cursor=x')).toEqual([400, 'INVALID_REQUEST', 'cursor']);
    expect(await tables.refused('POST', '/t/distinct', { field: 'a\u0000' })).toEqual([400, 'INVALID_REQUEST', 'field']);
    expect(await tables.refused('PATCH', '/t', { filter: { $odd: 1 }, changes: {} })).toEqual([400, 'INVALID_FILTER', 'filter.$odd']);
  });

  it('accepts a sort as a string, a list or an object', async () => {
    await tables.ok('POST', '/t', [
      { a: 1, b: 1 },
      { a: 2, b: 2 },
      { a: 1, b: 3 },
    ]);
    const order = async (sort: unknown) => (await tables.ok('POST', '/t/query', { sort })).rows.map(({ b }: { b: number }) => b);
    for (const sort of ['a,-b', ['a', '-b'], { a: 1, b: -1 }]) expect(await order(sort)).toEqual([3, 1, 2]);
    for (const none of ['', [], {}]) expect(await order(none)).toEqual([1, 2, 3]);
    for (const newest of ['-createdAt', { createdAt: -1 }]) expect(await order(newest)).toEqual([3, 2, 1]);
    const inUrl = async (sort: string) =>
      (await tables.ok('GET', `/t/rows?sort=${encodeURIComponent(sort)}`)).rows.map(({ b }: { b: number }) => b);
    for (const sort of ['a,-b', '["a","-b"]', '{"a":1,"b":-1}']) expect(await inUrl(sort)).toEqual([3, 1, 2]);
    for (const none of ['', '[]', '{}']) expect(await inUrl(none)).toEqual([1, 2, 3]);
  });

  it.each([
    [{ a: 2 }, 'sort.a'],
    [{ a: 'desc' }, 'sort.a'],
    [{ a: 1, b: 1, c: 1, d: 1, e: 1 }, 'sort'],
    [5, 'sort'],
    ['a,,b', 'sort'],
    [['a', ''], 'sort.1'],
  ])('refuses %j as a sort', async (sort, param) => {
    expect(await tables.refused('POST', '/t/query', { sort })).toEqual([400, 'INVALID_REQUEST', param]);
  });

  it('refuses JSON in a URL that is not a sort', async () => {
    for (const sort of ['{"a":2}', '{"a"', '[1]']) {
      expect(await tables.refused('GET', `/t/rows?sort=${encodeURIComponent(sort)}`)).toEqual([400, 'INVALID_REQUEST', 'sort']);
    }
  });
});
