/** Writing tables over HTTP, on both databases. Source: contract.md §5. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { everyDatabaseKind } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json } from '../../../support/requests.ts';
import { Tables } from './table-client.ts';

const ROW_ID = /^row_[a-z2-7]{24}$/;
const ABSENT = `row_${'a'.repeat(24)}`;

describe.each(everyDatabaseKind())('tables: %s', (database) => {
  let easel: TestEasel;
  let tables: Tables;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());
  beforeEach(async () => {
    tables = await Tables.make(easel);
  });

  const ids = (answer: { inserted: { id: string }[] }) => answer.inserted.map(({ id }) => id);

  describe('insert', () => {
    it('accepts one object, an array and {rows}, creates the table, and returns the stored rows', async () => {
      const reply = await tables.send('POST', '/guests', { name: 'Ada', tags: ['a', { b: null }] });
      expect(reply.status).toBe(201);
      const { data } = await json(reply);
      const at = new Date(easel.clock.nowMs()).toISOString();
      expect(data).toEqual({
        inserted: [{ id: expect.stringMatching(ROW_ID), name: 'Ada', tags: ['a', { b: null }], createdAt: at, updatedAt: at }],
        count: 1,
      });
      expect(await tables.ok('POST', '/guests', [{ n: 1 }, { n: 2 }])).toMatchObject({ inserted: [{ n: 1 }, { n: 2 }], count: 2 });
      expect(await tables.ok('POST', '/guests', { rows: [{ n: 3 }] })).toMatchObject({ inserted: [{ n: 3 }], count: 1 });
      expect(await tables.ok('POST', '/other', { rows: [1], n: 4 })).toMatchObject({ inserted: [{ rows: [1], n: 4 }] });
      expect(await tables.ok('GET', '')).toEqual({
        tables: [
          { name: 'guests', rowCount: 4 },
          { name: 'other', rowCount: 1 },
        ],
      });
      expect((await tables.stored('guests')).map(({ n }) => n)).toEqual([undefined, 1, 2, 3]);
    });

    it('[atomic] refuses all rows if one is invalid, and names every field at fault', async () => {
      await tables.ok('PUT', '/t/_schema', { columns: [{ name: 'n', type: 'number', required: true }] });
      const reply = await tables.send('POST', '/t', { rows: [{ n: 1 }, { n: 'x' }, {}] });
      const body = await json(reply);
      expect([reply.status, body.code, body.param]).toEqual([400, 'INVALID_REQUEST', 'rows.1.n']);
      expect(body.issues).toEqual([
        { path: 'rows.1.n', message: 'must be a number' },
        { path: 'rows.2.n', message: 'is required' },
      ]);
      expect(await tables.stored('t')).toEqual([]);
      expect(await tables.refused('POST', '/t', { n: 'x' })).toEqual([400, 'INVALID_REQUEST', 'n']);
      expect(await tables.refused('POST', '/t', [{ n: 1 }, 7])).toEqual([400, 'INVALID_REQUEST', 'rows.1']);
      expect(await tables.refused('POST', '/t', '"text"')).toEqual([400, 'INVALID_REQUEST', undefined]);
      expect(await tables.refused('POST', '/t', [])).toEqual([400, 'INVALID_REQUEST', 'rows']);
    });

    it('ignores server fields, so that a row can be sent back as it was read', async () => {
      const { inserted } = await tables.ok('POST', '/t', { id: 'mine', createdAt: 1, updatedAt: 2, n: 1 });
      expect(inserted[0]).toMatchObject({ id: expect.stringMatching(ROW_ID), n: 1 });
      expect(await tables.stored('t')).toEqual([{ id: inserted[0].id, n: 1 }]);
    });

    it.each([
      ['NUL in a string', '{"a":{"b":"x\\u0000"}}', 'a.b'],
      ['NUL in a name', '{"a\\u0000":1}', 'a\uFFFD'],
      ['half a surrogate pair', '{"a":["\\ud800"]}', 'a.0'],
      ['an infinite number', '{"a":1e999}', 'a'],
    ])('refuses what the database cannot hold: %s', async (_title, body, param) => {
      expect(await tables.refused('POST', '/t', body)).toEqual([400, 'INVALID_REQUEST', param]);
      expect(await tables.refused('POST', '/t', `[{}, ${body}]`)).toEqual([400, 'INVALID_REQUEST', `rows.1.${param}`]);
      expect(await tables.ok('GET', '')).toEqual({ tables: [] });
    });

    it('stores every name and string that JSON allows', async () => {
      const row = JSON.parse('{"__proto__":{"x":1},"constructor":2,"":"empty","a.b":"\\"\\\\\\n🎨","$set":null,"n":-1.5e-7}');
      const { inserted } = await tables.ok('POST', '/t', row);
      const { id, createdAt, updatedAt, ...fields } = await tables.ok('GET', `/t/${inserted[0].id}`);
      expect(JSON.stringify(Object.entries(fields).sort())).toBe(JSON.stringify(Object.entries(row).sort()));
    });

    it('refuses invalid table names', async () => {
      for (const name of ['1a', '_a', 'a-b', 'a'.repeat(65), 'ä']) {
        expect(await tables.refused('POST', `/${encodeURIComponent(name)}`, {})).toEqual([400, 'INVALID_TABLE_NAME', 'table']);
      }
      await tables.ok('POST', `/${'a'.repeat(64)}`, {});
    });
  });

  describe('limits', () => {
    it('ROW_TOO_LARGE for one byte more than 100 KB', async () => {
      const row = { a: 'x'.repeat(100 * 1024 - '{"a":""}'.length) };
      await tables.ok('POST', '/t', row);
      expect(await tables.refused('POST', '/t', [{}, { a: `${row.a}x` }])).toEqual([413, 'ROW_TOO_LARGE', 'rows.1']);
    });

    it('TABLE_LIMIT_EXCEEDED for the 51st table; a dropped one makes room', async () => {
      for (let n = 0; n < 50; n += 1) await tables.ok('POST', `/t${n}`, {});
      expect(await tables.refused('POST', '/more', {})).toEqual([413, 'TABLE_LIMIT_EXCEEDED', 'table']);
      expect(await tables.refused('PUT', '/more/_schema', { columns: [] })).toEqual([413, 'TABLE_LIMIT_EXCEEDED', 'table']);
      await tables.ok('POST', '/t0', {});
    });

    it('ROW_LIMIT_EXCEEDED for more than 100 000 rows; INVALID_REQUEST for more than 500 at once', async () => {
      await tables.ok('POST', '/t', {});
      await easel.runtime.discard(tables.artifactId as never);
      await easel.sql`update data_table set row_count = 99999 where artifact_id = ${tables.artifactId}`;
      expect(await tables.refused('POST', '/t', [{}, {}])).toEqual([413, 'ROW_LIMIT_EXCEEDED', undefined]);
      await tables.ok('POST', '/t', {});
      expect(await tables.refused('POST', '/t', {})).toEqual([413, 'ROW_LIMIT_EXCEEDED', undefined]);
      expect(await tables.refused('POST', '/u', Array(501).fill({}))).toEqual([400, 'INVALID_REQUEST', 'rows']);
      expect((await tables.ok('POST', '/u', Array(500).fill({}))).count).toBe(500);
    });
  });

  describe('one row', () => {
    it('is read with an ETag, from memory and from the store', async () => {
      const [id] = ids(await tables.ok('POST', '/t', { n: 1 }));
      const first = await tables.send('GET', `/t/${id}`);
      const etag = first.headers.get('etag') ?? '';
      await easel.runtime.discard(tables.artifactId as never);
      for (let time = 0; time < 2; time += 1) {
        const again = await tables.send('GET', `/t/${id}`);
        expect([again.headers.get('etag'), (await json(again)).data]).toEqual([etag, (await json(first.clone())).data]);
        expect((await tables.send('GET', `/t/${id}`, undefined, { headers: { 'if-none-match': etag } })).status).toBe(304);
      }
    });

    it('is updated by a merge patch, and updatedAt increases even if the clock stands still', async () => {
      const { inserted } = await tables.ok('POST', '/t', { a: { b: 1, c: 2 }, d: 3 });
      const path = `/t/${inserted[0].id}`;
      const patched = await tables.ok('PATCH', path, { a: { b: null, e: 4 }, d: null, id: 'x', createdAt: 'never' });
      const { d: _d, ...kept } = inserted[0];
      expect(patched).toEqual({
        ...kept,
        a: { c: 2, e: 4 },
        updatedAt: new Date(easel.clock.nowMs() + 1).toISOString(),
      });
      expect(await tables.ok('GET', path)).toEqual({ ...patched });
      expect(await tables.stored('t')).toEqual([{ id: inserted[0].id, a: { c: 2, e: 4 } }]);
      const merge = await tables.ok('PATCH', path, { f: 5 }, { headers: { 'content-type': 'application/merge-patch+json' } });
      expect(merge).toMatchObject({ a: { c: 2, e: 4 }, f: 5 });
      expect(merge.updatedAt > patched.updatedAt).toBe(true);
      expect(await tables.refused('PATCH', path, '[1]')).toEqual([400, 'INVALID_REQUEST', undefined]);
    });

    it('[If-Match] is updated and deleted only in the version that was read', async () => {
      const { inserted } = await tables.ok('POST', '/t', { n: 1 });
      const path = `/t/${inserted[0].id}`;
      const stale = { headers: { 'if-match': '"0"' } };
      for (const [method, body] of [
        ['PATCH', { n: 2 }],
        ['DELETE', undefined],
      ] as const) {
        const reply = await tables.send(method, path, body, stale);
        expect([reply.status, (await json(reply)).code, reply.headers.get('etag')]).toEqual([
          409,
          'VERSION_CONFLICT',
          (await tables.send('GET', path)).headers.get('etag'),
        ]);
      }
      const etag = (await tables.send('GET', path)).headers.get('etag') ?? '';
      const patched = await tables.send('PATCH', path, { n: 2 }, { headers: { 'if-match': etag } });
      expect(patched.status).toBe(200);
      expect(await tables.refused('DELETE', path, undefined, { headers: { 'if-match': etag } })).toEqual([
        409,
        'VERSION_CONFLICT',
        undefined,
      ]);
      const { updatedAt } = (await json(patched)).data;
      expect(await tables.ok('DELETE', path, undefined, { headers: { 'if-match': updatedAt } })).toEqual({ deleted: true });
      expect(await tables.refused('GET', path)).toEqual([404, 'ROW_NOT_FOUND', 'rowId']);
    });

    it('is not found if the table or the row does not exist, or if the id is invalid', async () => {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const body = method === 'PATCH' ? {} : undefined;
        expect(await tables.refused(method, `/t/${ABSENT}`, body)).toEqual([404, 'ROW_NOT_FOUND', 'rowId']);
        await tables.ok('POST', '/u', {});
        expect(await tables.refused(method, `/u/${ABSENT}`, body)).toEqual([404, 'ROW_NOT_FOUND', 'rowId']);
        expect(await tables.refused(method, '/u/nonsense', body)).toEqual([404, 'ROW_NOT_FOUND', 'rowId']);
      }
    });

    it('[concurrency] loses none of many concurrent updates', async () => {
      const [id] = ids(await tables.ok('POST', '/t', {}));
      await easel.runtime.discard(tables.artifactId as never);
      await Promise.all(Array.from({ length: 40 }, (_, n) => tables.ok('PATCH', `/t/${id}`, { [`f${n}`]: n })));
      expect(Object.keys(await tables.ok('GET', `/t/${id}`))).toHaveLength(43);
    });
  });

  describe('upsert', () => {
    it.each([
      ['without a schema', undefined],
      ['over a unique column', { columns: [{ name: 'email', type: 'string', unique: true }] }],
    ])('replaces or merges the row that has the value: %s', async (_title, schema) => {
      if (schema !== undefined) await tables.ok('PUT', '/t/_schema', schema);
      const [id] = ids(await tables.ok('POST', '/t', { email: 'a@x', n: 1, keep: true }));
      await easel.runtime.discard(tables.artifactId as never);
      const merged = await tables.ok('POST', '/t?onConflict=email&merge=true', [{ email: 'a@x', n: 2 }, { email: 'b@x' }]);
      expect(merged).toMatchObject({ count: 2, updated: 1, inserted: [{ id, email: 'a@x', n: 2, keep: true }, { email: 'b@x' }] });
      const replaced = await tables.ok('POST', '/t?onConflict=email', { email: 'a@x', n: 3 });
      expect(replaced.inserted[0]).toMatchObject({ id, email: 'a@x', n: 3 });
      expect(replaced.inserted[0].keep).toBeUndefined();
      expect(await tables.stored('t')).toMatchObject([{ id, email: 'a@x', n: 3 }, { email: 'b@x' }]);
      expect(await tables.ok('GET', '')).toEqual({ tables: [{ name: 't', rowCount: 2 }] });
    });

    it('treats the same value twice in one call as one row', async () => {
      const answer = await tables.ok('POST', '/t?onConflict=k&merge=true', [{ k: 1, a: 1 }, { k: 1, b: 2 }, { k: '1' }]);
      expect(answer.inserted[0]).toEqual(answer.inserted[1]);
      expect(answer).toMatchObject({ count: 3, updated: 1 });
      expect(await tables.stored('t')).toMatchObject([{ k: 1, a: 1, b: 2 }, { k: '1' }]);
    });

    it('[concurrency] creates one row from many concurrent calls', async () => {
      await Promise.all(Array.from({ length: 30 }, (_, n) => tables.ok('POST', '/t?onConflict=k&merge=true', { k: 'one', [`f${n}`]: n })));
      const [row, ...others] = await tables.stored('t');
      expect([Object.keys(row ?? {}).length, others]).toEqual([32, []]);
    });

    it('finds rows by id, and refuses what it cannot look up', async () => {
      const [id] = ids(await tables.ok('POST', '/t', { n: 1 }));
      expect(await tables.ok('POST', '/t?onConflict=id&merge=true', [{ id, n: 2 }, { n: 3 }])).toMatchObject({
        updated: 1,
        inserted: [{ id, n: 2 }, { n: 3 }],
      });
      expect(await tables.refused('POST', '/t?onConflict=id', [{ id: ABSENT }])).toEqual([404, 'ROW_NOT_FOUND', 'rows.0.id']);
      expect(await tables.refused('POST', '/t?onConflict=k', [{ k: {} }])).toEqual([400, 'INVALID_REQUEST', 'rows.0.k']);
      expect(await tables.refused('POST', '/t?merge=true', [{}])).toEqual([400, 'INVALID_REQUEST', 'merge']);
      await tables.ok('POST', '/t', [{ k: 1 }, { k: 1 }]);
      expect(await tables.refused('POST', '/t?onConflict=k', [{ k: 1 }])).toEqual([409, 'DUPLICATE_VALUE', 'rows.0.k']);
    });
  });
});
