/** Changing and deleting rows by filter, and dropping tables. Source: contract.md §5. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { databaseKinds } from '../support/database.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { patch } from './requests.ts';
import { Tables } from './tables.ts';

describe.each(databaseKinds())('by filter: %s', (database) => {
  let easel: TestEasel;
  let tables: Tables;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());
  beforeEach(async () => {
    tables = await Tables.make(easel);
  });

  const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n, tag: n % 2 === 0 ? 'even' : 'odd' }));

  it('changes every row that matches by a merge patch and no other', async () => {
    await tables.ok('POST', '/t', numbers(6));
    expect(await tables.ok('PATCH', '/t', { filter: { n: { $gte: 3 } }, changes: { tag: null, seen: true, id: 'x' } })).toEqual({
      updated: 3,
    });
    expect(await tables.stored('t')).toMatchObject([
      { n: 0 },
      { n: 1 },
      { n: 2, tag: 'even' },
      { n: 3, seen: true },
      { n: 4, seen: true },
      { n: 5, seen: true },
    ]);
    expect((await tables.stored('t')).map((row) => 'tag' in row)).toEqual([true, true, true, false, false, false]);
    expect(await tables.ok('PATCH', '/t', { filter: { n: -1 }, changes: { x: 1 } })).toEqual({ updated: 0 });
    expect(await tables.ok('PATCH', '/t', { filter: {}, changes: { all: 1 } })).toEqual({ updated: 6 });
  });

  it('deletes every row that matches, and counts what is left', async () => {
    await tables.ok('POST', '/t', numbers(6));
    expect(await tables.ok('DELETE', '/t', { filter: { tag: 'odd' } })).toEqual({ deleted: 3 });
    expect((await tables.stored('t')).map(({ n }) => n)).toEqual([0, 2, 4]);
    expect(await tables.ok('GET', '')).toEqual({ tables: [{ name: 't', rowCount: 3 }] });
    expect(await tables.ok('DELETE', '/t', { filter: { tag: 'odd' } })).toEqual({ deleted: 0 });
  });

  it.each([
    ['an empty filter to delete by', 'DELETE', { filter: {} }, 'INVALID_REQUEST', 'filter'],
    ['no filter to delete by', 'DELETE', undefined, 'INVALID_REQUEST', 'filter'],
    ['a filter that is none', 'DELETE', { filter: 5 }, 'INVALID_REQUEST', 'filter'],
    ['an unknown operator', 'DELETE', { filter: { a: { $near: 1 } } }, 'INVALID_FILTER', undefined],
    ['an unknown operator', 'PATCH', { filter: { a: { $near: 1 } }, changes: {} }, 'INVALID_FILTER', undefined],
    ['changes that are none', 'PATCH', { filter: { a: 1 }, changes: [] }, 'INVALID_REQUEST', 'changes'],
    ['no changes', 'PATCH', { filter: { a: 1 } }, 'INVALID_REQUEST', 'changes'],
  ])('refuses %s (%s)', async (_title, method, body, code, param) => {
    await tables.ok('POST', '/t', numbers(2));
    const [status, said, named] = await tables.refused(method, '/t', body);
    expect([status, said]).toEqual([400, code]);
    if (param !== undefined) expect(named).toBe(param);
    expect(await tables.stored('t')).toHaveLength(2);
  });

  it('[atomic] changes nothing where one row would break the schema or take a unique value', async () => {
    await tables.ok('PUT', '/t/_schema', {
      columns: [
        { name: 'u', type: 'integer', unique: true },
        { name: 'tag', type: 'string', required: true },
      ],
    });
    const { inserted } = await tables.ok(
      'POST',
      '/t',
      numbers(4).map(({ n, tag }) => ({ u: n, tag })),
    );
    expect(await tables.refused('PATCH', '/t', { filter: {}, changes: { tag: null } })).toEqual([
      400,
      'INVALID_REQUEST',
      `${inserted[0].id}.tag`,
    ]);
    expect(await tables.refused('PATCH', '/t', { filter: {}, changes: { u: 9 } })).toEqual([409, 'DUPLICATE_VALUE', `${inserted[1].id}.u`]);
    expect(await tables.refused('PATCH', '/t', { filter: { u: 0 }, changes: { u: 3 } })).toEqual([
      409,
      'DUPLICATE_VALUE',
      `${inserted[0].id}.u`,
    ]);
    expect((await tables.stored('t')).map(({ u }) => u)).toEqual([0, 1, 2, 3]);
    expect(await tables.ok('PATCH', '/t', { filter: { u: 0 }, changes: { u: 9 } })).toEqual({ updated: 1 });
  });

  it('refuses more rows than one call may change, and cuts nothing', { timeout: 60_000 }, async () => {
    await tables.ok('POST', '/t', {});
    await easel.runtime.discard(tables.artifactId as never);
    await easel.sql`
      insert into table_row (artifact_id, table_name, row_id, data, created_seq, seq, created_at_ms, updated_at_ms)
      select ${tables.artifactId}, 't', 'row_' || lpad(i::text, 24, 'a'), jsonb_build_object('n', i), i, i, 0, 0 from generate_series(10, 10009) i`;
    await easel.sql`update artifact set seq = 20000 where id = ${tables.artifactId}`;
    await easel.sql`update data_table set row_count = 10001 where artifact_id = ${tables.artifactId}`;
    expect(await tables.refused('PATCH', '/t', { filter: {}, changes: { x: 1 } })).toEqual([400, 'TOO_MANY_ROWS', 'filter']);
    expect(await tables.refused('DELETE', '/t', { filter: { $not: { n: -1 } } })).toEqual([400, 'TOO_MANY_ROWS', 'filter']);
    expect(await tables.ok('PATCH', '/t', { filter: { n: { $exists: true } }, changes: { x: 1 } })).toEqual({ updated: 10_000 });
    expect(await tables.ok('DELETE', '/t', { filter: { x: 1 } })).toEqual({ deleted: 10_000 });
    expect(await tables.ok('GET', '')).toEqual({ tables: [{ name: 't', rowCount: 1 }] });
  });

  it('[concurrency] every change by filter sees all that was done before it, and none of two is lost', async () => {
    await tables.ok('POST', '/t', numbers(20));
    const changes = Array.from({ length: 10 }, (_, i) =>
      tables.ok('PATCH', '/t', { filter: { n: { $gte: 0 } }, changes: { [`by${i}`]: i } }),
    );
    const inserts = Array.from({ length: 20 }, (_, i) => tables.ok('POST', '/t', { n: 100 + i }));
    const deletes = Array.from({ length: 5 }, (_, i) => tables.ok('DELETE', '/t', { filter: { n: i } }));
    const updated = (await Promise.all(changes)).map((answer) => answer.updated);
    await Promise.all([...inserts, ...deletes]);
    const rows = await tables.stored('t');
    expect(rows.map(({ n }) => n).sort((a, b) => a - b)).toEqual([
      ...Array.from({ length: 15 }, (_, i) => 5 + i),
      ...Array.from({ length: 20 }, (_, i) => 100 + i),
    ]);
    for (const row of rows.filter(({ n }) => n < 100)) expect(Object.keys(row).filter((name) => name.startsWith('by'))).toHaveLength(10);
    for (const count of updated) expect(count).toBeGreaterThanOrEqual(15);
  });

  describe('drop', () => {
    it('takes the table with all its rows, and a new one of the same name has none of them', async () => {
      await tables.ok('PUT', '/t/_schema', { columns: [{ name: 'n', type: 'number', unique: true }] });
      await tables.ok('POST', '/t', numbers(3));
      const again = Promise.all([tables.ok('DELETE', '/t?confirm=true'), tables.ok('POST', '/t', { n: 1 })]);
      expect(await again).toMatchObject([{ dropped: true, deleted: 3 }, { inserted: [{ n: 1 }] }]);
      expect([await tables.stored('t'), await tables.index('t')]).toMatchObject([[{ n: 1 }], []]);
      expect(await tables.ok('GET', '/t/_schema')).toEqual({ columns: [], write: 'any' });
      await tables.ok('DELETE', '/t?confirm=true');
      expect(await tables.refused('DELETE', '/t?confirm=true')).toEqual([404, 'TABLE_NOT_FOUND', 'table']);
      expect(await tables.ok('GET', '')).toEqual({ tables: [] });
    });

    it('is not for everybody who may write', async () => {
      const { artifactId, owner } = tables;
      await easel.fetch(`/v1/artifacts/${artifactId}`, { token: owner.token, ...patch({ visibility: 'public', allow_anon_write: true }) });
      await tables.ok('POST', '/t', numbers(1), { token: undefined });
      expect(await tables.refused('DELETE', '/t?confirm=true', undefined, { token: undefined })).toEqual([403, 'FORBIDDEN', undefined]);
      expect(await tables.refused('DELETE', '/t?confirm=true', { filter: { n: 1 } })).toEqual([400, 'INVALID_REQUEST', 'filter']);
      expect(await tables.ok('DELETE', '/t', { filter: { n: 0 } }, { token: undefined })).toEqual({ deleted: 1 });
    });
  });
});
