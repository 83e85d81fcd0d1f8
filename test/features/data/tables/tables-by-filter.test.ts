/** Changing and deleting rows by filter, and dropping tables. Source: contract.md §5. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { everyDatabaseKind } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch } from '../../../support/requests.ts';
import { Tables } from './table-client.ts';

describe.each(everyDatabaseKind())('by filter: %s', (database) => {
  let easel: TestEasel;
  let tables: Tables;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());
  beforeEach(async () => {
    tables = await Tables.make(easel);
  });

  /** The changes of tables after change `since`. */
  const changes = async (since = 0) => {
    const headers = { accept: 'application/json' };
    const path = `/v1/data/${tables.artifactId}/changes?types=tables&since=${since}`;
    return (await json(await easel.fetch(path, { token: tables.owner.token, headers }))).data;
  };
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n, tag: n % 2 === 0 ? 'even' : 'odd' }));

  it('updates every matching row by a merge patch, and no other row', async () => {
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

  it('deletes every matching row, and updates the row count', async () => {
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

  it('[atomic] changes nothing if one row would violate the schema or a unique column', async () => {
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

  it('refuses more rows than one call may change, instead of changing some of them', { timeout: 60_000 }, async () => {
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

  it('[concurrency] each change by filter sees every earlier change, and none is lost', async () => {
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

  it('[pieces] changes and deletes more rows than fit in one commit, and other calls run in between', async () => {
    const artifactId = tables.artifactId as ArtifactId;
    for (let i = 0; i < 2; i += 1) await tables.ok('POST', '/t', numbers(450));
    const batches: string[][] = [];
    let other: unknown;
    easel.runtime.onCommitted((id, changes) => {
      if (id !== artifactId) return;
      batches.push(changes.map(({ kind }) => kind));
      if (batches.length === 1) other = easel.runtime.ask(id, ({ json }) => json.put('k', '1', {}));
    });
    expect(await tables.ok('PATCH', '/t', { filter: {}, changes: { seen: true } })).toEqual({ updated: 900 });
    await other;
    const pieces = batches.map((kinds) => kinds.filter((kind) => kind === 'row.put').length);
    expect(pieces.filter((rows) => rows > 0)).toEqual(Array.from({ length: 9 }, () => 100));
    // The other call commits with the second piece at the latest.
    expect(batches.findIndex((kinds) => kinds.includes('json.put'))).toBe(1);
    expect((await tables.stored('t')).every(({ seen }) => seen)).toBe(true);
    expect(await tables.ok('DELETE', '/t', { filter: { n: { $gte: 10 } } })).toEqual({ deleted: 880 });
    expect(await tables.ok('GET', '')).toEqual({ tables: [{ name: 't', rowCount: 20 }] });
    expect(Math.max(...batches.map((kinds) => kinds.length))).toBeLessThanOrEqual(101);
  });

  it('[pieces] have fewer rows if rows are large, and too many bytes in total are refused as a whole', async () => {
    const { artifactId } = tables;
    await tables.ok('POST', '/t', {});
    await easel.runtime.discard(artifactId as ArtifactId);
    await easel.sql`
      insert into table_row (artifact_id, table_name, row_id, data, created_seq, seq, created_at_ms, updated_at_ms)
      select ${artifactId}, 't', 'row_' || lpad(i::text, 24, 'a'), jsonb_build_object('n', i, 'text', repeat('x', 90000)), i, i, 0, 0
      from generate_series(10, 209) i`;
    await easel.sql`update artifact set seq = 1000 where id = ${artifactId}`;
    await easel.sql`update data_table set row_count = 201 where artifact_id = ${artifactId}`;
    const batches: number[] = [];
    easel.runtime.onCommitted((id, changes) => {
      if (id === artifactId) batches.push(changes.length);
    });
    expect(await tables.refused('PATCH', '/t', { filter: { n: { $gte: 0 } }, changes: { x: 1 } })).toEqual([
      400,
      'TOO_MANY_ROWS',
      'filter',
    ]);
    expect(await tables.ok('PATCH', '/t', { filter: { n: { $lt: 60 } }, changes: { x: 1 } })).toEqual({ updated: 50 });
    expect(batches).toEqual([11, 11, 11, 11, 6]);
    expect((await tables.stored('t')).filter(({ x }) => x === 1).map(({ n }) => n)).toEqual(Array.from({ length: 50 }, (_, at) => 10 + at));
  });

  it('[pieces] ends with 503 if the actor is replaced after the first piece, which stays', async () => {
    await tables.ok('POST', '/t', numbers(300));
    let commits = 0;
    easel.runtime.onCommitted((id) => {
      if (id !== tables.artifactId) return;
      commits += 1;
      // Simulates a takeover by another node.
      if (commits === 1) void easel.runtime.discard(tables.artifactId as ArtifactId);
    });
    expect(await tables.refused('PATCH', '/t', { filter: {}, changes: { seen: true } })).toEqual([503, 'UNAVAILABLE', undefined]);
    expect((await tables.stored('t')).map(({ seen }) => seen === true)).toEqual(numbers(300).map((_, at) => at < 100));
    expect(await tables.ok('PATCH', '/t', { filter: {}, changes: { seen: true } })).toEqual({ updated: 300 });
  });

  describe('drop', () => {
    it('removes the table with all its rows, and a new table of the same name starts empty', async () => {
      await tables.ok('PUT', '/t/_schema', { columns: [{ name: 'n', type: 'number', unique: true }] });
      await tables.ok('POST', '/t', numbers(3));
      const again = Promise.all([tables.ok('DELETE', '/t?confirm=true'), tables.ok('POST', '/t', { n: 1 })]);
      expect(await again).toMatchObject([{ dropped: true, deleted: 3 }, { inserted: [{ n: 1 }] }]);
      expect([await tables.stored('t'), await tables.index('t')]).toMatchObject([[{ n: 1 }], []]);
      expect(await tables.ok('GET', '/t/rows')).toMatchObject({ rows: [{ n: 1 }] });
      expect(await tables.ok('GET', '/t/_schema')).toEqual({ columns: [], write: 'any' });
      await tables.ok('DELETE', '/t?confirm=true');
      expect(await tables.refused('DELETE', '/t?confirm=true')).toEqual([404, 'TABLE_NOT_FOUND', 'table']);
      expect(await tables.ok('GET', '')).toEqual({ tables: [] });
    });

    it('hides the rows while they are still stored, and the purge removes them in the end', async () => {
      const { artifactId } = tables;
      const columns = [{ name: 'n', type: 'number', unique: true }];
      await tables.ok('PUT', '/t/_schema', { columns });
      await tables.ok('POST', '/t', numbers(5));
      const since = (await changes()).nextSeq;
      // Keeps the purge from removing rows until the trigger is dropped.
      await easel.sql`create function keep() returns trigger language plpgsql as 'begin return null; end'`;
      await easel.sql`create trigger keep before delete on table_row for each row when (old.table_name = 't') execute function keep()`;
      await tables.ok('DELETE', '/t?confirm=true');
      const left = () => easel.sql`
        select (select count(*)::int from table_row where artifact_id = ${artifactId}) as rows,
          (select count(*)::int from row_index where artifact_id = ${artifactId}) as entries,
          (select count(*)::int from dropped_table where artifact_id = ${artifactId}) as tables`;
      expect(await left()).toMatchObject([{ rows: 5, tables: 1 }]);
      expect(await tables.ok('GET', '/t/rows?count=true')).toEqual({ rows: [], hasMore: false, nextCursor: null, total: 0 });
      expect((await changes(since)).events).toMatchObject([{ kind: 'table.drop', table: 't' }]);
      await easel.runtime.discard(artifactId as ArtifactId);
      await tables.ok('PUT', '/t/_schema', { columns });
      // Rows of the dropped table hold no unique values.
      const { inserted } = await tables.ok('POST', '/t', numbers(2));
      expect(await tables.ok('POST', '/t?onConflict=n', { n: 4 })).toMatchObject({ updated: 0 });
      expect(await tables.ok('POST', '/t?onConflict=n', { n: 1, x: 2 })).toMatchObject({ updated: 1 });
      expect((await tables.ok('GET', '/t/rows?sort=n')).rows.map(({ n }: { n: number }) => n)).toEqual([0, 1, 4]);
      expect(await tables.ok('POST', '/t/query', { filter: { n: { $gte: 0 } }, count: true })).toMatchObject({ total: 3 });
      expect(await tables.ok('GET', `/t/${inserted[0].id}`)).toMatchObject({ n: 0 });
      expect(await tables.ok('DELETE', '/t', { filter: { n: { $lte: 1 } } })).toEqual({ deleted: 2 });
      const told = (await changes(since)).events as { kind: string }[];
      expect(told.filter(({ kind }) => kind === 'row.put')).toHaveLength(1);
      expect(await left()).toMatchObject([{ rows: 6, tables: 1 }]);
      await easel.sql`drop function keep cascade`;
      await tables.ok('DELETE', '/t?confirm=true');
      await expect.poll(left).toEqual([{ rows: 0, entries: 0, tables: 0 }]);
    });

    it('takes more than the right to write', async () => {
      const { artifactId, owner } = tables;
      await easel.fetch(`/v1/artifacts/${artifactId}`, { token: owner.token, ...patch({ visibility: 'public', allow_anon_write: true }) });
      await tables.ok('POST', '/t', numbers(1), { token: undefined });
      expect(await tables.refused('DELETE', '/t?confirm=true', undefined, { token: undefined })).toEqual([403, 'FORBIDDEN', undefined]);
      expect(await tables.refused('DELETE', '/t?confirm=true', { filter: { n: 1 } })).toEqual([400, 'INVALID_REQUEST', 'filter']);
      expect(await tables.ok('DELETE', '/t', { filter: { n: 0 } }, { token: undefined })).toEqual({ deleted: 1 });
    });
  });
});
