import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Change } from '../../actors/kinds.ts';
import type { ArtifactBatch, JournalStore } from '../../actors/runtime/store.ts';
import type { IndexedValue } from '../../actors/tables/changes.ts';
import { type ArtifactId, newId } from '../../protocol/core/ids.ts';
import { postgresArtifactStore } from '../../src/storage/artifact-store.ts';
import { postgresJournal } from '../../src/storage/journal.ts';
import { everyDatabaseKind, openTestDatabase, type TestDatabase } from '../support/database.ts';
import { describeWith } from '../support/services.ts';

const put = (seq: number, key: string, value: string, expiresAtMs: number | null = null): Change => ({
  seq,
  kind: 'json.put',
  key,
  value,
  createdAtMs: 1000 + seq,
  updatedAtMs: 2000 + seq,
  expiresAtMs,
});
const remove = (seq: number, key: string): Change => ({ seq, kind: 'json.delete', key, atMs: 3000 + seq });

const tablePut = (seq: number, table: string, rowCount = 0, schema: string | null = null): Change => ({
  seq,
  kind: 'table.put',
  table,
  schema,
  rowCount,
  createdAtMs: 1000,
  updatedAtMs: 2000 + seq,
});
const drop = (seq: number, table: string): Change => ({ seq, kind: 'table.drop', table, atMs: 3000 + seq });
const rowPut = (
  seq: number,
  rowId: string,
  data: string,
  more: { of?: number; count?: number; indexed?: [string, IndexedValue | null][] } = {},
) =>
  ({
    seq,
    kind: 'row.put',
    table: 't',
    rowId,
    data,
    createdSeq: more.of ?? seq,
    createdAtMs: 1000 + (more.of ?? seq),
    updatedAtMs: 2000 + seq,
    rowCount: more.count ?? 1,
    indexed: more.indexed ?? [],
  }) satisfies Change;
const rowDelete = (seq: number, rowId: string, createdSeq: number, rowCount: number): Change => ({
  seq,
  kind: 'row.delete',
  table: 't',
  rowId,
  createdSeq,
  rowCount,
  atMs: 3000 + seq,
});

describe.each(everyDatabaseKind())('journal and artifact store: %s', (kind) => {
  let database: TestDatabase;
  let journal: JournalStore;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
    journal = postgresJournal(database.journalSql);
  });
  afterAll(() => database.close());

  const store = () => postgresArtifactStore(database.sql);

  async function newArtifact(): Promise<ArtifactId> {
    const id = newId('artifact');
    await database.sql`
      insert into artifact (id, name, slug, visibility, created_at_ms, updated_at_ms) values (${id}, 'n', ${id}, 'private', 0, 0)`;
    return id;
  }

  /** Creates an artifact that this test owns, and a function that builds its batches. */
  async function owned(): Promise<{ id: ArtifactId; batch: (...changes: Change[]) => ArtifactBatch }> {
    const id = await newArtifact();
    const image = await store().load(id);
    return { id, batch: (...changes) => ({ artifactId: id, epoch: image?.epoch ?? -1, changes }) };
  }

  it('reads back every committed field', async () => {
    const { id, batch } = await owned();
    expect(await journal.commit([batch(put(1, 'b', '{"x": 1}', 99), put(2, 'a', '"ü 🎨"'))])).toEqual(['committed']);
    expect(await store().load(id)).toEqual({
      epoch: 2,
      seq: 2,
      keys: [
        { key: 'a', value: '"ü 🎨"', sizeBytes: 9, seq: 2, createdAtMs: 1002, updatedAtMs: 2002, expiresAtMs: null },
        { key: 'b', value: '{"x": 1}', sizeBytes: 8, seq: 1, createdAtMs: 1001, updatedAtMs: 2001, expiresAtMs: 99 },
      ],
      tables: [],
      hasDroppedTables: false,
      blobs: [],
    });
  });

  it('stores text with array literals, backslashes, braces and quotes', async () => {
    const { id, batch } = await owned();
    const values = ['"a\\\\b\\"c"', '{"a":[1,null,"NULL"]}', 'null', '"{},\\u0000"', '"\'; drop table json_key --"', '" \\n "', '""'];
    await journal.commit([batch(...values.map((value, i) => put(i + 1, `k${i}`, value)))]);
    expect((await store().load(id))?.keys.map((key) => key.value)).toEqual(values);
  });

  it('keeps only the last of several changes of one key', async () => {
    const { id, batch } = await owned();
    await journal.commit([
      batch(put(1, 'put-put', '1'), put(2, 'put-put', '2'), put(3, 'put-delete', '3'), remove(4, 'put-delete'), put(5, 'stays', '5')),
    ]);
    await journal.commit([batch(remove(6, 'delete-put'), put(7, 'delete-put', '7'), remove(8, 'stays'), remove(9, 'never-was'))]);
    const image = await store().load(id);
    expect(image?.seq).toBe(9);
    expect(image?.keys.map(({ key, value, seq }) => [key, value, seq])).toEqual([
      ['delete-put', '7', 7],
      ['put-put', '2', 2],
    ]);
  });

  it('fences artifacts with a stale epoch, and writes all others', async () => {
    const [mine, stolen, purged] = await Promise.all([owned(), owned(), owned()]);
    await store().load(stolen.id);
    await database.sql`delete from artifact where id = ${purged.id}`;
    const outcome = await journal.commit([stolen.batch(put(1, 'k', '1')), mine.batch(put(1, 'k', '1')), purged.batch(put(1, 'k', '1'))]);
    expect(outcome).toEqual(['fenced', 'committed', 'fenced']);
    expect((await store().load(mine.id))?.keys).toHaveLength(1);
    expect(await store().load(stolen.id)).toMatchObject({ seq: 0, keys: [] });
  });

  it('isolates a poisoned artifact: none of its changes is written, all others are', async () => {
    const all = await Promise.all(Array.from({ length: 9 }, owned));
    const outcome = await journal.commit(
      // Postgres cannot store a text with a NUL character.
      all.map(({ batch }, i) => batch(put(1, 'good', '1'), put(2, i === 3 || i === 7 ? 'bad\u0000' : 'also-good', '2'))),
    );
    expect(outcome.map((each) => (typeof each === 'string' ? each : 'poisoned'))).toEqual(
      all.map((_, i) => (i === 3 || i === 7 ? 'poisoned' : 'committed')),
    );
    const images = await Promise.all(all.map(({ id }) => store().load(id)));
    expect(images.map((image) => [image?.seq, image?.keys.length])).toEqual(all.map((_, i) => (i === 3 || i === 7 ? [0, 0] : [2, 2])));
  });

  it('a late commit is either seen by the load or fenced', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, batch } = await owned();
      const [[outcome], image] = await Promise.all([journal.commit([batch(put(1, 'k', '1'))]), store().load(id)]);
      expect(image?.keys.length).toBe(outcome === 'committed' ? 1 : 0);
      expect(image?.seq).toBe(outcome === 'committed' ? 1 : 0);
    }
  });

  it('gives each of many concurrent loads its own epoch', async () => {
    const id = await newArtifact();
    const images = await Promise.all(Array.from({ length: 12 }, () => store().load(id)));
    expect(images.map((image) => image?.epoch).sort((a = 0, b = 0) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
  });

  it('commits an empty batch, and 500 artifacts at once', async () => {
    expect(await journal.commit([])).toEqual([]);
    const all = await Promise.all(Array.from({ length: 500 }, owned));
    const outcome = await journal.commit(all.map(({ batch }) => batch(put(1, 'k', '"v"'))));
    expect(new Set(outcome)).toEqual(new Set(['committed']));
    const [row] = await database.sql`
      select count(*) as n from json_key where key = 'k' and value = '"v"' and artifact_id = any(${all.map(({ id }) => id)})`;
    expect(row).toEqual({ n: 500 });
  });

  it('leaves large values out of the image and reads them by key and seq', async () => {
    const { id, batch } = await owned();
    const large = JSON.stringify('x'.repeat(4095));
    const limit = JSON.stringify('x'.repeat(4094));
    await journal.commit([batch(put(1, 'large', large), put(2, 'limit', limit))]);
    expect((await store().load(id))?.keys.map(({ key, value, sizeBytes }) => [key, value?.length, sizeBytes])).toEqual([
      ['large', undefined, 4097],
      ['limit', 4096, 4096],
    ]);
    expect(await store().readValue(id, 'large', 1)).toBe(large);
    expect(await store().readValue(id, 'large', 2)).toBeNull();
    expect(await store().readValue(id, 'gone', 1)).toBeNull();
  });

  const rowsOf = (id: ArtifactId, table = 't') => database.sql`
    select row_id, data, created_seq, seq, created_at_ms, updated_at_ms from table_row where artifact_id = ${id} and table_name = ${table} order by created_seq`;
  const indexOf = (id: ArtifactId) => database.sql`
    select row_id, column_name, kind, num, txt from row_index where artifact_id = ${id} order by row_id, column_name`;
  const tombstonesOf = (id: ArtifactId) => database.sql`
    select seq, kind, name, row_id, at_ms from tombstone where artifact_id = ${id} order by seq`;

  it('[tables] reads back every field of a table and its rows, and counts rows of a later commit', async () => {
    const { id, batch } = await owned();
    await journal.commit([batch(tablePut(1, 't', 0, '{"columns":[]}'), rowPut(2, 'r1', '{"a":1.5,"b":"ü 🎨"}'))]);
    expect((await store().load(id))?.tables).toEqual([
      { name: 't', storedAs: 't', schema: '{"columns": []}', rowCount: 1, seq: 1, createdAtMs: 1000, updatedAtMs: 2002 },
    ]);
    const [image] = [await store().load(id)];
    await journal.commit([{ artifactId: id, epoch: image?.epoch ?? 0, changes: [rowPut(3, 'r2', '{}', { count: 2 })] }]);
    expect((await store().load(id))?.tables).toMatchObject([{ schema: '{"columns": []}', rowCount: 2, seq: 1, updatedAtMs: 2003 }]);
    expect(await store().readRows(id, 't', ['r1', 'r9'])).toEqual([
      { rowId: 'r1', data: '{"a": 1.5, "b": "ü 🎨"}', createdSeq: 2, seq: 2, createdAtMs: 1002, updatedAtMs: 2002 },
    ]);
  });

  it('[tables] keeps only the last change of a row, within one commit and over several', async () => {
    const { id, batch } = await owned();
    await journal.commit([
      batch(
        tablePut(1, 't'),
        rowPut(2, 'a', '{"v":1}'),
        rowPut(3, 'a', '{"v":2}', { of: 2 }),
        rowPut(4, 'b', '{}'),
        rowDelete(5, 'b', 4, 1),
      ),
    ]);
    await journal.commit([batch(rowPut(6, 'a', '{"v":3}', { of: 2 }), rowPut(7, 'c', '{}', { count: 2 }))]);
    expect(await rowsOf(id)).toEqual([
      { row_id: 'a', data: { v: 3 }, created_seq: 2, seq: 6, created_at_ms: 1002, updated_at_ms: 2006 },
      { row_id: 'c', data: {}, created_seq: 7, seq: 7, created_at_ms: 1007, updated_at_ms: 2007 },
    ]);
    await journal.commit([batch(rowDelete(8, 'a', 2, 1))]);
    expect((await rowsOf(id)).map((row) => row.row_id)).toEqual(['c']);
    expect((await store().load(id))?.tables).toMatchObject([{ rowCount: 1, updatedAtMs: 3008 }]);
  });

  it('[tables] drops a table, leaves its rows to the purge, and stores a new table of that name under another storage name', async () => {
    const { id, batch } = await owned();
    const as = (storedAs: string, change: Change) => ({ ...change, storedAs }) as Change;
    const left = async () => {
      const found = await database.sql`select stored_as from dropped_table where artifact_id = ${id} order by 1`;
      return found.map((row) => row.stored_as);
    };
    await journal.commit([batch(tablePut(1, 't'), rowPut(2, 'old', '{}', { indexed: [['c', 1]] }), tablePut(3, 'other'))]);
    const again = as('t~6', rowPut(7, 'new', '{}', { indexed: [['c', 'x']] }));
    await journal.commit([batch(rowPut(4, 'older', '{}'), drop(5, 't'), as('t~6', tablePut(6, 't')), again)]);
    expect((await rowsOf(id, 't~6')).map((row) => row.row_id)).toEqual(['new']);
    expect((await rowsOf(id)).map((row) => row.row_id)).toEqual(['old']);
    expect((await indexOf(id)).map((entry) => entry.row_id)).toEqual(['new', 'old']);
    expect(await left()).toEqual(['t']);
    const image = await store().load(id);
    expect([image?.tables, image?.hasDroppedTables]).toMatchObject([[{ name: 'other' }, { name: 't', storedAs: 't~6' }], true]);
    expect(await store().readRows(id, 't~6', ['old', 'new'])).toMatchObject([{ rowId: 'new' }]);
    await database.sql`update artifact set owner_epoch = owner_epoch - 1 where id = ${id}`;
    const thrice = [as('t~6', drop(8, 't')), as('t~9', tablePut(9, 't')), as('t~9', drop(10, 't')), as('t~b', tablePut(11, 't'))];
    await journal.commit([batch(...thrice, as('t~b', drop(12, 't')))]);
    expect(await left()).toEqual(['t', 't~6', 't~9', 't~b']);
    expect((await store().load(id))?.tables.map(({ name }) => name)).toEqual(['other']);
  });

  it('[row_index] holds the values of the latest state of each row, for every type', async () => {
    const { id, batch } = await owned();
    await journal.commit([
      batch(
        tablePut(1, 't'),
        rowPut(2, 'a', '{}', {
          indexed: [
            ['n', 1.5],
            ['s', 'x'],
          ],
        }),
        rowPut(3, 'b', '{}', { indexed: [['n', -3]] }),
      ),
    ]);
    await journal.commit([
      batch(
        rowPut(4, 'a', '{}', {
          of: 2,
          indexed: [
            ['s', ''],
            ['b', true],
          ],
        }),
        rowPut(5, 'b', '{}', { of: 3, indexed: [['n', null]] }),
      ),
    ]);
    expect(await indexOf(id)).toEqual([
      { row_id: 'a', column_name: 'b', kind: 'b', num: null, txt: 'true' },
      { row_id: 'a', column_name: 's', kind: 's', num: null, txt: '' },
      { row_id: 'b', column_name: 'n', kind: 'z', num: null, txt: null },
    ]);
    await journal.commit([batch(rowDelete(6, 'a', 2, 1))]);
    expect((await indexOf(id)).map((entry) => entry.row_id)).toEqual(['b']);
  });

  it('[holders] finds rows by values of a column, indexed or not, and does not mix up types', async () => {
    const { id, batch } = await owned();
    const values = [1, '1', true, 'true', 'x'];
    await journal.commit([
      batch(
        tablePut(1, 't'),
        ...values.map((value, i) => rowPut(i + 2, `r${i}`, JSON.stringify({ c: value }), { count: i + 1, indexed: [['c', value]] })),
      ),
    ]);
    for (const isIndexed of [true, false]) {
      const find = async (...wanted: IndexedValue[]) =>
        (await store().readHolders(id, { table: 't', column: 'c', values: wanted, isIndexed, rowsMax: 10 }))
          .map(({ rowId }) => rowId)
          .sort();
      for (const [i, value] of values.entries()) expect(await find(value)).toEqual([`r${i}`]);
      expect(await find(1, 'x', 'absent')).toEqual(['r0', 'r4']);
      expect(await find()).toEqual([]);
    }
  });

  it('[blobs] stores, loads and deletes them', async () => {
    const { id, batch } = await owned();
    const blob = { filename: 'ü.png', mimeType: 'image/png', sizeBytes: 5, sha256: 'ab'.repeat(32), createdAtMs: 7 };
    const blobPut = (seq: number, blobId: string) => ({ seq, kind: 'blob.put', blobId, createdBy: null, ...blob }) satisfies Change;
    await journal.commit([batch(blobPut(1, 'a'), blobPut(2, 'b'), { seq: 3, kind: 'blob.delete', blobId: 'b', atMs: 9 })]);
    expect((await store().load(id))?.blobs).toEqual([{ id: 'a', ...blob }]);
  });

  it('[texts] come back unchanged with any characters, alone and beside others', async () => {
    const texts = ['', 'NULL', '{1,2}', 'a,b', '"', '\\', '\\"', '"a\x1eb"', '\x1e', '\r\n\t', 'ü 🎨'];
    const { id, batch } = await owned();
    expect(await journal.commit([batch(...texts.map((text, i) => put(i + 1, `k${String(i).padStart(2, '0')}`, text)))])).toEqual([
      'committed',
    ]);
    expect((await store().load(id))?.keys.map(({ value }) => value)).toEqual(texts);
    for (const text of texts) {
      const alone = await owned();
      await journal.commit([alone.batch(put(1, 'k', text))]);
      expect((await store().load(alone.id))?.keys.map(({ value }) => value)).toEqual([text]);
    }
  });

  it('[tombstones] records every deletion that clients can see', async () => {
    const { id, batch } = await owned();
    await journal.commit([batch(put(1, 'k', '1'), tablePut(2, 't'), rowPut(3, 'a', '{}'), rowPut(4, 'b', '{}', { count: 2 }))]);
    await journal.commit([batch(remove(5, 'k'), put(6, 'k', '2'), rowDelete(7, 'a', 3, 1))]);
    await journal.commit([
      batch(remove(8, 'k'), rowDelete(9, 'b', 4, 0), drop(10, 't'), { seq: 11, kind: 'blob.delete', blobId: 'x', atMs: 12 }),
    ]);
    expect(await tombstonesOf(id)).toEqual([
      { seq: 7, kind: 'row.delete', name: 't', row_id: 'a', at_ms: 3007 },
      { seq: 8, kind: 'json.delete', name: 'k', row_id: null, at_ms: 3008 },
      { seq: 10, kind: 'table.drop', name: 't', row_id: null, at_ms: 3010 },
      { seq: 11, kind: 'blob.delete', name: 'x', row_id: null, at_ms: 12 },
    ]);
  });

  it('[tables] a commit of every kind for many artifacts leaves out only the fenced and the poisoned', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, owned));
    await store().load(all[1]?.id ?? newId('artifact'));
    const outcome = await journal.commit(
      all.map(({ batch }, i) =>
        batch(
          put(1, 'k', '1'),
          tablePut(2, 't'),
          rowPut(3, 'a', i === 4 ? '{"x":"\\u0000"}' : '{"x":1}', { indexed: [['x', 1]] }),
          remove(4, 'k'),
        ),
      ),
    );
    expect(outcome.map((each) => (typeof each === 'string' ? each : 'poisoned'))).toEqual([
      'committed',
      'fenced',
      'committed',
      'committed',
      'poisoned',
      'committed',
    ]);
    const counts = await Promise.all(
      all.map(async ({ id }) => [(await rowsOf(id)).length, (await indexOf(id)).length, (await tombstonesOf(id)).length]),
    );
    expect(counts).toEqual(all.map((_, i) => (i === 1 || i === 4 ? [0, 0, 0] : [1, 1, 1])));
  });

  it('loads neither a trashed artifact nor one that does not exist', async () => {
    const id = await newArtifact();
    await database.sql`update artifact set deleted_at_ms = 1 where id = ${id}`;
    expect(await store().load(id)).toBeNull();
    expect(await store().load(newId('artifact'))).toBeNull();
  });
});

// The embedded database has no second session that could terminate the first.
describeWith('postgresUrl')('journal on a server', () => {
  it('rejects when the connection is lost, and commits again afterwards', async () => {
    const database = await openTestDatabase('postgres');
    const id = newId('artifact');
    await database.sql`
      insert into artifact (id, name, slug, visibility, created_at_ms, updated_at_ms) values (${id}, 'n', ${id}, 'private', 0, 0)`;
    const batch = { artifactId: id, epoch: 0, changes: [put(1, 'k', '1')] };
    const first = database.journalSql();
    const journal = postgresJournal((broken) => (broken ? database.journalSql(broken) : first));
    const [row] = await first`select pg_backend_pid() as pid`;
    // The locked row makes the commit wait until its connection is terminated.
    await database.sql.begin(async (tx) => {
      await tx`select 1 from artifact where id = ${id} for update`;
      const refused = expect(journal.commit([batch])).rejects.toThrow();
      await tx`select pg_terminate_backend(${row?.pid})`;
      await refused;
    });
    expect(await journal.commit([batch])).toEqual(['committed']);
    await database.close();
  });
});
