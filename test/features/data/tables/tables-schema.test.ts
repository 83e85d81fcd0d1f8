/** Schemas of tables: types, required, unique, indexed, who may write. Source: contract.md §5. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch } from '../../../support/requests.ts';
import { Tables } from './table-client.ts';

const column = (name: string, type: string, more: object = {}) => ({ name, type, ...more });

describe.each(databaseKinds())('schemas: %s', (database) => {
  let easel: TestEasel;
  let tables: Tables;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());
  beforeEach(async () => {
    tables = await Tables.make(easel);
  });

  const schema = (...columns: object[]) => tables.ok('PUT', '/t/_schema', { columns });
  const forget = () => easel.runtime.discard(tables.artifactId as never);

  it('is returned as it was put, with defaults, even after the actor was evicted from memory', async () => {
    expect(await tables.refused('GET', '/t/_schema')).toEqual([404, 'TABLE_NOT_FOUND', 'table']);
    const put = await tables.send('PUT', '/t/_schema', { columns: [column('a', 'integer', { unique: true })], write: 'collaborator' });
    const whole = { columns: [{ name: 'a', type: 'integer', required: false, unique: true, indexed: false }], write: 'collaborator' };
    expect([put.status, (await json(put)).data]).toEqual([201, whole]);
    await forget();
    expect(await tables.ok('GET', '/t/_schema')).toEqual(whole);
    expect((await tables.send('PUT', '/t/_schema', { columns: [] })).status).toBe(200);
    await tables.ok('POST', '/free', {});
    expect(await tables.ok('GET', '/free/_schema')).toEqual({ columns: [], write: 'any' });
  });

  it.each([
    ['string', ['', 'x', '2026-01-01'], [1, true, {}, []]],
    ['number', [0, -1.5, 1e300], ['1', false, {}]],
    ['integer', [0, -7, 9007199254740991], [1.5, 9007199254740992, '1']],
    ['boolean', [true, false], [0, 'true']],
    [
      'datetime',
      ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123456Z'],
      ['2026-01-31', '2026-13-31T12:00:00Z', '2026-01-31T12:00:00+01:00', 5],
    ],
    ['json', [1, 'x', {}, [], true], []],
  ])('[types] %s', async (type, good, bad) => {
    await schema(column('v', type));
    await tables.ok('POST', '/t', [...good.map((v) => ({ v })), { v: null }, {}, { other: 1 }]);
    for (const v of bad) expect(await tables.refused('POST', '/t', { v })).toEqual([400, 'INVALID_REQUEST', 'v']);
    expect(await tables.stored('t')).toHaveLength(good.length + 3);
  });

  it('is checked on updates as on inserts', async () => {
    await schema(column('n', 'number', { required: true }));
    const { inserted } = await tables.ok('POST', '/t', { n: 1 });
    const path = `/t/${inserted[0].id}`;
    expect(await tables.refused('PATCH', path, { n: null })).toEqual([400, 'INVALID_REQUEST', 'n']);
    expect(await tables.refused('PATCH', path, { n: '2' })).toEqual([400, 'INVALID_REQUEST', 'n']);
    expect(await tables.ok('PATCH', path, { free: '2' })).toMatchObject({ n: 1, free: '2' });
  });

  it.each([
    ['an unknown type', { columns: [column('a', 'text')] }, 'columns.0.type'],
    ['a duplicate column', { columns: [column('a', 'json'), column('a', 'json')] }, 'columns'],
    ['the name of a server field', { columns: [column('createdAt', 'datetime')] }, 'columns.0.name'],
    ['a dot in a name', { columns: [column('a.b', 'string')] }, 'columns.0.name'],
    ['an index of json', { columns: [column('a', 'json', { indexed: true })] }, 'columns.0'],
    ['more than 10 indexes', { columns: Array.from({ length: 11 }, (_, n) => column(`c${n}`, 'string', { indexed: true })) }, 'columns'],
    ['an unknown member', { columns: [], owner: 1 }, 'owner'],
    ['an unknown write rule', { columns: [], write: 'everybody' }, 'write'],
  ])('refuses %s', async (_title, body, param) => {
    expect(await tables.refused('PUT', '/t/_schema', body)).toEqual([400, 'INVALID_REQUEST', param]);
    expect(await tables.ok('GET', '')).toEqual({ tables: [] });
  });

  describe('stored rows', () => {
    it('are checked: a refusal names rows and columns and changes nothing', async () => {
      const { inserted } = await tables.ok('POST', '/t', [{ n: 1, s: 'a' }, { n: 'x', s: 'a' }, { s: 5 }]);
      const reply = await tables.send('PUT', '/t/_schema', {
        columns: [column('n', 'number', { required: true, indexed: true }), column('s', 'string', { unique: true })],
      });
      const body = await json(reply);
      expect([reply.status, body.code, body.param]).toEqual([400, 'INVALID_REQUEST', `${inserted[1].id}.n`]);
      expect(body.issues).toEqual([
        { path: `${inserted[1].id}.n`, message: 'must be a number' },
        { path: `${inserted[1].id}.s`, message: `must be unique, but row ${inserted[0].id} has the same value` },
        { path: `${inserted[2].id}.n`, message: 'is required' },
        { path: `${inserted[2].id}.s`, message: 'must be a string' },
      ]);
      expect(await tables.ok('GET', '/t/_schema')).toEqual({ columns: [], write: 'any' });
      expect(await tables.index('t')).toEqual([]);
    });

    it('are indexed, in batches if there are many, and stay indexed when they change', async () => {
      await tables.ok(
        'POST',
        '/t',
        Array.from({ length: 500 }, (_, n) => ({ n })),
      );
      await tables.ok(
        'POST',
        '/t',
        Array.from({ length: 102 }, (_, n) => ({ n: 500 + n, s: `s${n}` })),
      );
      await schema(
        column('n', 'integer', { unique: true }),
        column('s', 'string', { indexed: true }),
        column('b', 'boolean', { indexed: true }),
      );
      expect(await tables.index('t')).toHaveLength(3 * 602);
      const [first, second] = await tables.stored('t');
      await tables.ok('PATCH', `/t/${first?.id}`, { b: true, n: null });
      await tables.ok('DELETE', `/t/${second?.id}`);
      const index = await tables.index('t');
      expect([index.length, index[0], index.includes('n n=0'), index.includes('n n=1'), index.includes('n n=2')]).toEqual([
        3 * 601,
        'b b=true',
        false,
        false,
        true,
      ]);
      expect(await tables.refused('POST', '/t', { n: 2 })).toEqual([409, 'DUPLICATE_VALUE', 'n']);
      await tables.ok('POST', '/t', [{ n: 0 }, { n: 1 }]);
    });

    it('are indexed again when the type of a column changes', async () => {
      await schema(column('v', 'string', { indexed: true }));
      const { inserted } = await tables.ok('POST', '/t', [{ v: '1' }, {}]);
      await tables.ok('PATCH', `/t/${inserted[0].id}`, { v: null });
      await schema(column('v', 'number', { indexed: true }));
      await tables.ok('PATCH', `/t/${inserted[1].id}`, { v: 1 });
      expect(await tables.index('t')).toEqual(['n v=1', 'z v=null']);
    });
  });

  describe('unique', () => {
    beforeEach(() => schema(column('email', 'string', { unique: true }), column('n', 'number', { unique: true })));

    it('refuses a value that another row has, whether in the same call, in memory or in the store', async () => {
      const { inserted } = await tables.ok('POST', '/t', [{ email: 'a' }, { email: 'b', n: 1 }, {}, {}, { email: null }]);
      expect(await tables.refused('POST', '/t', [{ email: 'c' }, { email: 'c' }])).toEqual([409, 'DUPLICATE_VALUE', 'rows.1.email']);
      for (let time = 0; time < 2; time += 1) {
        expect(await tables.refused('POST', '/t', { email: 'a' })).toEqual([409, 'DUPLICATE_VALUE', 'email']);
        expect(await tables.refused('PATCH', `/t/${inserted[0].id}`, { n: 1 })).toEqual([409, 'DUPLICATE_VALUE', 'n']);
        await forget();
      }
      await tables.ok('POST', '/t', { email: '1' });
      await tables.ok('PATCH', `/t/${inserted[1].id}`, { n: 1, email: 'b' });
    });

    it('frees a value when its row is deleted or changed', async () => {
      const { inserted } = await tables.ok('POST', '/t', [{ email: 'a' }, { email: 'b' }]);
      await forget();
      await tables.ok('DELETE', `/t/${inserted[0].id}`);
      await tables.ok('PATCH', `/t/${inserted[1].id}`, { email: 'a' });
      await tables.ok('POST', '/t', { email: 'b' });
      expect(await tables.index('t')).toEqual(['s email=a', 's email=b', 'z n=null', 'z n=null']);
    });

    it('[concurrency] accepts a value from exactly one of many concurrent calls, with the actor in memory or not', async () => {
      for (let round = 0; round < 5; round += 1) {
        await forget();
        const replies = await Promise.all(
          Array.from({ length: 20 }, (_, n) => tables.send('POST', '/t', { email: `e${round}`, from: n }).then(({ status }) => status)),
        );
        expect(replies.sort()).toEqual([201, ...Array(19).fill(409)]);
      }
      expect(await tables.stored('t')).toHaveLength(5);
    });

    it('refuses a string that is too long for the index', async () => {
      await tables.ok('POST', '/t', { email: 'x'.repeat(1024) });
      expect(await tables.refused('POST', '/t', { email: 'ü'.repeat(513) })).toEqual([400, 'INVALID_REQUEST', 'email']);
    });
  });

  describe('write', () => {
    it('restricts which callers with write access may write this table; only the owner and editors may set it or drop the table', async () => {
      const { artifactId, owner } = tables;
      const editor = await easel.newUser();
      await easel.sql`
        insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${artifactId}, ${editor.userId}, 'editor', 0)`;
      // Drops what the caches hold, which do not hear of a statement.
      const visible = await easel.fetch(`/v1/artifacts/${artifactId}`, {
        token: owner.token,
        ...patch({ visibility: 'public', allow_anon_write: true }),
      });
      expect(visible.status).toBe(200);
      const tokens = { owner: owner.token, editor: editor.token, stranger: (await easel.newUser()).token, anonymous: undefined };
      const allowed = { any: ['owner', 'editor', 'stranger', 'anonymous'], collaborator: ['owner', 'editor'], owner: ['owner'] };
      for (const [write, may] of Object.entries(allowed)) {
        await tables.ok('PUT', '/t/_schema', { columns: [], write });
        const { inserted } = await tables.ok('POST', '/t', { n: 1 });
        const path = `/t/${inserted[0].id}`;
        for (const [who, token] of Object.entries(tokens)) {
          const statuses = [
            (await tables.send('POST', '/t', {}, { token })).status,
            (await tables.send('PATCH', path, { n: 2 }, { token })).status,
            (await tables.send('GET', path, undefined, { token })).status,
          ];
          expect([write, who, ...statuses]).toEqual([write, who, ...(may.includes(who) ? [201, 200, 200] : [403, 403, 200])]);
        }
      }
      for (const token of [tokens.stranger, undefined]) {
        const status = token === undefined ? 401 : 403;
        expect((await tables.send('PUT', '/t/_schema', { columns: [] }, { token })).status).toBe(status);
      }
    });
  });
});
