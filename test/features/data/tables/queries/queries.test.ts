import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../../support/easel.ts';
import { anyValue } from './random-rows.ts';

let easel: TestEasel;
let owner: TestUser;
let artifactId: string;
beforeAll(async () => {
  easel = await startTestEasel();
  owner = await easel.newUser('pro');
  const files = [{ path: 'index.html', content: '<p>tables</p>', mime: 'text/html', encoding: 'utf8' }];
  const reply = await easel.fetch('/v1/publish', {
    method: 'POST',
    token: owner.token,
    body: JSON.stringify({ name: 'Tables', files }),
    headers: JSON_TYPE,
  });
  artifactId = ((await reply.json()) as { artifact: { id: string } }).artifact.id;
});
afterAll(() => easel.close());

const JSON_TYPE = { 'content-type': 'application/json' };

interface Sent {
  readonly type?: string;
  readonly accept?: string;
}

async function send(method: string, path: string, body?: unknown, { type = 'application/json', accept }: Sent = {}): Promise<Response> {
  easel.clock.advance(100);
  const headers = { ...(body !== undefined && { 'content-type': type }), ...(accept !== undefined && { accept }) };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return easel.fetch(`/v1/data/${artifactId}/tables/${path}`, {
    method,
    token: owner.token,
    headers,
    ...(body !== undefined && { body: text }),
  });
}

async function data(method: string, path: string, body?: unknown, sent?: Sent): Promise<Record<string, unknown>> {
  const reply = await send(method, path, body, sent);
  const answer = (await reply.json()) as { data: Record<string, unknown> };
  if (!reply.ok) throw new Error(JSON.stringify(answer));
  return answer.data;
}

async function refusal(method: string, path: string, body?: unknown): Promise<[number, string, string | undefined]> {
  const reply = await send(method, path, body);
  const { code, param } = (await reply.json()) as { code: string; param?: string };
  return [reply.status, code, param];
}

const PEOPLE = [
  { name: 'Ada', age: 36, city: 'London', tags: ['x', 'y'], address: { street: { name: 'A' }, zip: 1 } },
  { name: 'Ben', age: 20, city: 'Bern' },
  { name: 'Cleo', age: 20, city: 'Bern', vip: true },
  { name: 'Dan', city: null },
];

describe('queries', () => {
  beforeAll(async () => {
    await data('POST', 'people', PEOPLE);
  });

  test('a page is filtered, sorted, limited to the requested fields, and counted', async () => {
    const filter = encodeURIComponent('{"age":{"$lt":30}}');
    const page = await data('GET', `people/rows?filter=${filter}&sort=-name&fields=name&limit=1&count=true`);
    expect(page).toEqual({
      rows: [{ id: expect.stringMatching(/^row_/), name: 'Cleo' }],
      hasMore: true,
      nextCursor: expect.any(String),
      total: 2,
    });
    const next = await data('GET', `people/rows?filter=${filter}&sort=-name&limit=1&cursor=${page.nextCursor}`);
    expect(next).toEqual({
      rows: [{ id: expect.any(String), ...PEOPLE[1], createdAt: expect.any(String), updatedAt: expect.any(String) }],
      hasMore: false,
      nextCursor: null,
    });
  });

  test('a query accepts a list as sort, skips rows, and selects members of objects', async () => {
    const query = { filter: { name: { $lte: 'B' } }, sort: ['age', '-name'], select: ['address.street.name', 'address.zip', 'none'] };
    expect((await data('POST', 'people/query', query)).rows).toEqual([
      { id: expect.any(String), address: { street: { name: 'A' }, zip: 1 } },
    ]);
    const skipped = await data('POST', 'people/query', { sort: 'age', skip: 2, limit: 1 });
    expect([(skipped.rows as { name: string }[]).map(({ name }) => name), skipped.hasMore]).toEqual([['Cleo'], true]);
  });

  test('a read sees the write before it', async () => {
    for (let n = 1; n <= 20; n += 1) {
      const [written] = await Promise.all([data('POST', 'quick', { n }), data('POST', 'people/count', {})]);
      expect(written.count).toBe(1);
      expect(await data('POST', 'quick/count', {})).toEqual({ count: n });
    }
  });

  test('counts, distinct values and groups', async () => {
    expect(await data('POST', 'people/count', { filter: { city: 'Bern' } })).toEqual({ count: 2 });
    expect(await data('POST', 'people/distinct', { field: 'city' })).toEqual({ values: [null, 'Bern', 'London'], count: 3 });
    const metrics = [
      { fn: 'count' },
      { fn: 'count', field: 'age', as: 'aged' },
      { fn: 'sum', field: 'age' },
      { fn: 'avg', field: 'age', as: 'mean' },
      { fn: 'min', field: 'name', as: 'first' },
      { fn: 'max', field: 'vip' },
    ];
    expect(await data('POST', 'people/aggregate', { groupBy: ['city'], metrics })).toEqual({
      groups: [
        { city: null, count: 1, aged: 0, sum_age: 0, mean: null, first: 'Dan', max_vip: null },
        { city: 'Bern', count: 2, aged: 2, sum_age: 40, mean: 20, first: 'Ben', max_vip: true },
        { city: 'London', count: 1, aged: 1, sum_age: 36, mean: 36, first: 'Ada', max_vip: null },
      ],
    });
    expect(await data('POST', 'people/aggregate', { metrics: [{ fn: 'count' }], filter: { age: 99 } })).toEqual({ groups: [{ count: 0 }] });
  });

  test.each<[string, string, unknown, [number, string, string | undefined]]>([
    ['GET', '1st/rows', undefined, [400, 'INVALID_TABLE_NAME', 'table']],
    ['GET', 'people/rows?filter=%7B', undefined, [400, 'INVALID_FILTER', 'filter']],
    ['GET', 'people/rows?filter=%7B%22a%22%3A%7B%22%24like%22%3A1%7D%7D', undefined, [400, 'INVALID_FILTER', 'filter.a.$like']],
    ['GET', 'people/rows?limit=1001', undefined, [400, 'INVALID_REQUEST', 'limit']],
    ['GET', 'people/rows?sort=a,b,c,d,e', undefined, [400, 'INVALID_REQUEST', 'sort']],
    ['GET', 'people/rows?cursor=x', undefined, [400, 'INVALID_REQUEST', 'cursor']],
    ['POST', 'people/query', { skip: 1, cursor: 'x' }, [400, 'INVALID_REQUEST', 'skip']],
    ['POST', 'people/query', { filter: { $or: [{}, { a: { $gt: null } }] } }, [400, 'INVALID_FILTER', 'filter.$or.1.a.$gt']],
    ['POST', 'people/distinct', { field: 'a\u0000' }, [400, 'INVALID_REQUEST', 'field']],
    ['POST', 'people/aggregate', { metrics: [{ fn: 'sum' }] }, [400, 'INVALID_REQUEST', 'metrics.0.field']],
    ['POST', 'people/aggregate', { groupBy: ['a'], metrics: [{ fn: 'count', as: 'a' }] }, [400, 'INVALID_REQUEST', 'metrics.0.as']],
  ])('%s %s refuses %j', async (method, path, body, expected) => {
    expect(await refusal(method, path, body)).toEqual(expected);
  });

  test('too many distinct values or groups are refused', async () => {
    const rows = Array.from({ length: LIMITS.distinctValuesMax + 1 }, (_, n) => ({ n }));
    for (let at = 0; at < rows.length; at += LIMITS.insertRowsMax) await data('POST', 'many', rows.slice(at, at + LIMITS.insertRowsMax));
    expect(await refusal('POST', 'many/distinct', { field: 'n' })).toEqual([400, 'TOO_MANY_ROWS', undefined]);
    expect(await refusal('POST', 'many/aggregate', { groupBy: ['n'], metrics: [{ fn: 'count' }] })).toEqual([
      400,
      'TOO_MANY_ROWS',
      undefined,
    ]);
    const filter = { n: { $gt: 0 } };
    expect((await data('POST', 'many/distinct', { field: 'n', filter })).count).toBe(LIMITS.distinctValuesMax);
  });

  test('a page of a thousand rows as CSV has all of them, in order', async () => {
    const rows = Array.from({ length: 1000 }, (_, n) => ({ n, text: 'x'.repeat(n) }));
    for (let at = 0; at < rows.length; at += LIMITS.insertRowsMax)
      await data('POST', 'thousand', rows.slice(at, at + LIMITS.insertRowsMax));
    const text = await (await send('GET', 'thousand/rows?limit=1000&fields=n', undefined, { accept: 'text/csv' })).text();
    expect(
      text
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(',')[1]),
    ).toEqual(['n', ...rows.map(({ n }) => String(n))]);
  });

  test('a page as CSV and as NDJSON', async () => {
    const csv = await send('GET', 'people/rows?limit=1&fields=name,address.zip,tags', undefined, { accept: 'text/csv' });
    const text = await csv.text();
    expect([csv.headers.get('content-type'), text.split('\r\n')]).toEqual([
      'text/csv; charset=utf-8',
      ['id,name,address.zip,tags', expect.stringMatching(/^row_[a-z0-9]{24},Ada,1,"\[""x"",""y""\]"$/), ''],
    ]);
    expect(csv.headers.get('x-next-cursor')).toBeTruthy();
    const head = await send('HEAD', 'people/rows?limit=1', undefined, { accept: 'text/csv' });
    expect([head.status, head.headers.has('x-next-cursor'), await head.text()]).toEqual([200, true, '']);
    const ndjson = await send('GET', 'people/rows?fields=name', undefined, { accept: 'application/x-ndjson' });
    expect((await ndjson.text()).split('\n').map((line) => JSON.parse(line).name)).toEqual(['Ada', 'Ben', 'Cleo', 'Dan']);
  });
});

describe('export and import', () => {
  let tables = 0;

  test('an import of an export restores the same rows', { timeout: 120_000 }, async () => {
    const names = fc.constantFrom('a', 'b', '=SUM(A1)', 'ö', '"', 'toString');
    const texts = fc.constantFrom(
      '5',
      'true',
      'null',
      '',
      ' ',
      '=1+1',
      "'=1",
      '-5',
      '@x',
      '{"a":1}',
      "'{}",
      '[',
      'a,b',
      'a\r\nb',
      '"',
      '1e5',
      '0123',
      '\uFEFFx',
    );
    const value = fc.oneof(texts, anyValue);
    const row = fc.array(fc.tuple(names, value), { minLength: 1, maxLength: 4 }).map((entries) => Object.fromEntries(entries));
    const property = fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 8 }),
      fc.constantFrom('text/csv', 'application/x-ndjson'),
      async (rows, type) => {
        tables += 1;
        const table = `t${tables % 20}`;
        await send('DELETE', `${table}?confirm=true`);
        await send('DELETE', `${table}_copy?confirm=true`);
        await data('POST', table, rows);
        const file = await (await send('GET', `${table}/export`, undefined, { accept: type })).text();
        expect(await data('POST', `${table}_copy/import`, file, { type })).toEqual({
          inserted: rows.length,
          failed: [],
          stoppedAtLine: null,
        });
        const fieldsOf = async (name: string) =>
          ((await data('POST', `${name}/query`, {})).rows as Record<string, unknown>[]).map(
            ({ id, createdAt, updatedAt, ...fields }) => fields,
          );
        expect(await fieldsOf(`${table}_copy`)).toEqual(await fieldsOf(table));
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  test('an export streams all pages of a table, with the columns of all rows', async () => {
    const rows = Array.from({ length: 1700 }, (_, n) => ({ n, text: 'x'.repeat(200), ...(n === 1600 && { late: '=1' }) }));
    for (let at = 0; at < rows.length; at += 500) await data('POST', 'long', rows.slice(at, at + 500));
    const lines = (await (await send('GET', 'long/export')).text()).split('\r\n');
    expect(lines[0]).toBe('id,late,n,text,createdAt,updatedAt');
    expect(lines.slice(1, -1).map((line) => Number(line.split(',')[2]))).toEqual(rows.map(({ n }) => n));
    expect(lines[1601]).toContain(`,"'=1",1600,`);
  });

  test('lines that cannot be inserted are listed, and the others are inserted', async () => {
    const columns = [
      { name: 'email', type: 'string', unique: true },
      { name: 'age', type: 'integer' },
    ];
    await data('PUT', 'members/_schema', { columns });
    const csv = 'email,age\na@x,1\nb@x,old\nc@x,3,4\na@x,5\n"d@x\ny",6\nf@x,\n';
    expect(await data('POST', 'members/import', csv, { type: 'text/csv' })).toEqual({
      inserted: 3,
      failed: [
        { line: 3, error: expect.stringContaining('age') },
        { line: 4, error: 'has 3 fields, but the first line names 2' },
        { line: 5, error: expect.stringContaining('email') },
      ],
      stoppedAtLine: null,
    });
    const { rows } = await data('POST', 'members/query', { select: ['email', 'age'] });
    expect(rows).toEqual([
      { id: expect.any(String), email: 'a@x', age: 1 },
      { id: expect.any(String), email: 'd@x\ny', age: 6 },
      { id: expect.any(String), email: 'f@x' },
    ]);
    const ndjson = '{"email":"g@x"}\n\n[1]\n{"email":"h@x","email":"i@x"}\n{"email":\n{"email":"j@x"}';
    const result = await data('POST', 'members/import', ndjson, { type: 'application/x-ndjson' });
    expect([result.inserted, (result.failed as { line: number }[]).map(({ line }) => line)]).toEqual([2, [3, 4, 5]]);
  });

  test.each([
    [3, 'text/csv'],
    [5000, 'text/csv'],
    [3, 'application/x-ndjson'],
    [5000, 'application/x-ndjson'],
  ])('an import of %i lines and a syntax error in the %s keeps all lines before the error and reports it', async (count, type) => {
    const isCsv = type === 'text/csv';
    const good = Array.from({ length: count }, (_, n) => (isCsv ? `${n},x` : `{"n":${n}}`));
    const tooLong = `{"text":"${'x'.repeat(LIMITS.rowBytesMax * 6)}`;
    const file = [...(isCsv ? ['n,text'] : []), ...good, isCsv ? '7,"never closed' : tooLong, ...good].join('\n');
    const table = `fault_${count}_${isCsv ? 'csv' : 'ndjson'}`;
    const line = count + (isCsv ? 2 : 1);
    expect(await data('POST', `${table}/import`, file, { type })).toEqual({
      inserted: count,
      failed: [{ line, error: expect.stringMatching(isCsv ? /^begins a quoted cell that is never closed$/ : /is longer than/) }],
      stoppedAtLine: line,
    });
    expect(await data('POST', `${table}/count`, {})).toEqual({ count });
    // Makes room for the tables of the other tests: an artifact may have a limited number.
    await data('DELETE', `${table}?confirm=true`);
  });

  test('an import stops after too many bad lines', async () => {
    const lines = Array.from({ length: 2000 }, (_, n) => (n < 10 ? '{"n":1}' : '{')).join('\n');
    const result = await data('POST', 'bad/import', lines, { type: 'application/x-ndjson' });
    expect([result.inserted, (result.failed as unknown[]).length, result.stoppedAtLine]).toEqual([
      10,
      LIMITS.importFailuresMax,
      10 + LIMITS.importFailuresMax + 1,
    ]);
  });

  test.each(['', 'a,a\n1,2', 'a,\n1,2', '"a'])('a CSV whose first line does not name the fields is refused (%#)', async (csv) => {
    const reply = await send('POST', 'wrong/import', csv, { type: 'text/csv' });
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([400, 'INVALID_REQUEST']);
  });
});
