/** Datasets over HTTP, with files and with S3 as the object store. Source: contract.md §15. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type Answered, callData, type DataArtifact, publishArtifact } from '../../../support/data-client.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { startS3, type TestS3 } from '../../../support/s3.ts';

const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';
const JSON_TYPE = 'application/json';
/** More than one block of each format, with rows of unequal fields and characters of several bytes. */
const MANY = Array.from({ length: 3000 }, (_, n) => ({
  n,
  text: `Zeile "${n}", Größe 😀 ${'x'.repeat(n % 300)}`,
  ...(n % 3 === 0 && { even: n % 2 === 0 }),
  ...(n % 7 === 0 && { tags: [n, { deep: null }] }),
}));
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

describe.each(['files', 'S3'] as const)('datasets on %s', (kind) => {
  let easel: TestEasel;
  let s3: TestS3 | undefined;
  let owner: TestUser;
  let page: DataArtifact;

  beforeAll(async () => {
    if (kind === 'S3') s3 = await startS3();
    easel = await startTestEasel({ settings: { ...s3?.settings } });
    owner = await easel.newUser('pro');
  });
  beforeEach(async () => {
    page = await publishArtifact(easel, owner);
  });
  afterAll(async () => {
    await easel.close();
    await s3?.close();
  });

  async function put(name: string, body: string, type = CSV, headers: Record<string, string> = {}): Promise<Answered> {
    const init = { method: 'PUT', token: owner.token, headers: { 'content-type': type, ...headers }, body };
    const reply = await easel.fetch(`/v1/data/${page.id}/datasets/${name}`, init);
    return { status: reply.status, headers: reply.headers, body: await reply.json() };
  }

  const call = (method: string, path: string, more = {}) =>
    callData(easel, page, method, `/datasets${path}`, { token: owner.token, ...more });
  const raw = (path: string, headers: Record<string, string> = {}) =>
    easel.fetch(`/v1/data/${page.id}/datasets${path}`, { token: owner.token, headers });

  test('CSV, lines of JSON and an array give the same rows, and the same rows again no version', async () => {
    const made = await put(
      'cities',
      'city,people,founded,open,note\r\nBern,134000,1191-01-01,true,\r\n"Lima, Perú",1e7,1535-01-18,false,"5"\r\n',
    );
    expect([made.status, made.body.data]).toEqual([
      201,
      {
        name: 'cities',
        version: 1,
        rows: 2,
        sizeBytes: expect.any(Number),
        createdAt: new Date(easel.clock.nowMs()).toISOString(),
        columns: [
          { name: 'city', type: 'string' },
          { name: 'people', type: 'number' },
          { name: 'founded', type: 'date' },
          { name: 'open', type: 'boolean' },
          { name: 'note', type: 'string' },
        ],
      },
    ]);
    const rows = [
      { city: 'Bern', people: 134000, founded: '1191-01-01', open: true },
      { city: 'Lima, Perú', people: 1e7, founded: '1535-01-18', open: false, note: '5' },
    ];
    for (const [body, type] of [
      [lines(rows), NDJSON],
      [JSON.stringify(rows, null, 2), JSON_TYPE],
    ] as const) {
      const again = await put('cities', body, type);
      expect([again.status, again.body.data]).toEqual([200, made.body.data]);
    }
    const next = await put('cities', lines(rows.slice(0, 1)), NDJSON);
    expect([next.status, next.body.data.version, next.body.data.rows]).toEqual([201, 2, 1]);
    const got = await call('GET', '/cities');
    expect(got.headers.get('etag')).toBe('"2"');
    const versions = [next, made].map(({ body: { data } }) => ({
      version: data.version,
      rows: data.rows,
      sizeBytes: data.sizeBytes,
      createdAt: data.createdAt,
    }));
    expect(got.body.data).toEqual({ ...next.body.data, versions });
    const { columns: _columns, ...listed } = next.body.data;
    expect((await call('GET', '')).body.data).toEqual({ datasets: [listed], count: 1, hasMore: false, nextCursor: null });
  });

  test('all rows come in each format with their exact length, whole and by any range', async () => {
    expect((await put('many', JSON.stringify(MANY), JSON_TYPE)).status).toBe(201);
    const inCsv = await raw('/many/content?format=csv');
    const csv = Buffer.from(await inCsv.arrayBuffer());
    // Its import gives the same rows, in the same order.
    expect((await put('again', csv.toString())).body.data).toMatchObject({ rows: MANY.length });
    expect(await (await raw('/again/content')).text()).toBe(lines(MANY));
    const wholes = { csv, ndjson: Buffer.from(lines(MANY)), json: Buffer.from(JSON.stringify(MANY)) };
    for (const [format, whole] of Object.entries(wholes)) {
      const all = await raw(`/many/content?format=${format}&version=1`);
      expect([all.status, all.headers.get('content-length')]).toEqual([200, String(whole.length)]);
      expect(Buffer.from(await all.arrayBuffer()).equals(whole)).toBe(true);
      expect(all.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
      const ends = [0, 1, 40, 131_071, 131_072, 140_000, 300_001, whole.length - 2];
      for (const start of ends) {
        for (const length of [1, 2, 1000, 150_000]) {
          const end = Math.min(start + length, whole.length) - 1;
          const part = await raw(`/many/content?format=${format}`, { range: `bytes=${start}-${end}` });
          expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes ${start}-${end}/${whole.length}`]);
          expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(start, end + 1))).toBe(true);
        }
      }
      const etag = all.headers.get('etag') ?? '';
      expect((await raw(`/many/content?format=${format}`, { 'if-none-match': etag })).status).toBe(304);
      expect((await raw(`/many/content?format=${format}`, { range: `bytes=${whole.length}-` })).status).toBe(416);
    }
  });

  test('a dataset without rows has a content in each format', async () => {
    expect((await put('empty', '[]', JSON_TYPE)).body.data).toMatchObject({ rows: 0, sizeBytes: 0, columns: [] });
    expect(await (await raw('/empty/content')).text()).toBe('');
    expect(await (await raw('/empty/content?format=json')).text()).toBe('[]');
    expect(await (await raw('/empty/content?format=csv')).text()).toBe('\r\n');
    expect((await call('GET', '/empty/rows')).body.data).toEqual({ rows: [], version: 1, hasMore: false, nextCursor: null });
    expect((await put('empty', 'a,b\r\n')).body.data).toMatchObject({ version: 2, rows: 0, columns: [{ name: 'a' }, { name: 'b' }] });
    expect(await (await raw('/empty/content?format=csv')).text()).toBe('a,b\r\n');
  });

  test('pages of matching rows stay with the version of the first page', async () => {
    await put('many', JSON.stringify(MANY), JSON_TYPE);
    const filter = encodeURIComponent(JSON.stringify({ n: { $gte: 100 }, even: true }));
    const expected = MANY.filter((row) => row.n >= 100 && row.even === true).map(({ n }) => ({ n }));
    const found: unknown[] = [];
    let cursor = '';
    for (let pages = 0; pages < 20; pages += 1) {
      const { body } = await call('GET', `/many/rows?filter=${filter}&fields=n&limit=100${cursor}`);
      expect(body.data.version).toBe(1);
      found.push(...body.data.rows);
      if (pages === 1) await put('many', 'n\r\n1\r\n');
      if (!body.data.hasMore) break;
      cursor = `&cursor=${body.data.nextCursor}`;
    }
    expect(found).toEqual(expected);
    expect((await call('GET', `/many/rows?filter=${filter}&limit=1&count=true&version=1`)).body.data.total).toBe(expected.length);
    expect((await call('GET', '/many/rows?limit=1&count=true&version=1')).body.data.total).toBe(MANY.length);
    const first = await raw('/many/rows?version=1&limit=5');
    expect(await first.json()).toMatchObject({ data: { rows: MANY.slice(0, 5), hasMore: true } });
    expect((await raw('/many/rows?version=1&limit=5', { 'if-none-match': first.headers.get('etag') ?? '' })).status).toBe(304);
    expect((await raw('/many/rows?version=1&limit=6', { 'if-none-match': first.headers.get('etag') ?? '' })).status).toBe(200);
    const foreign = await call('GET', `/many/rows?filter=${encodeURIComponent('{"n":1}')}${cursor}`);
    expect([foreign.status, foreign.body.code, foreign.body.param]).toEqual([400, 'INVALID_REQUEST', 'cursor']);
    const wrong = await call('GET', `/many/rows?filter=${encodeURIComponent('{"n":{"$near":1}}')}`);
    expect([wrong.status, wrong.body.code, wrong.body.param]).toEqual([400, 'INVALID_FILTER', 'filter.n.$near']);
  });

  test('a page ends early where its filter finds little in many bytes', async () => {
    const text = 'x'.repeat(90_000);
    const rows = Array.from({ length: 220 }, (_, n) => ({ n, text }));
    await put('wide', lines(rows), NDJSON);
    const path = `/wide/rows?fields=n&filter=${encodeURIComponent('{"n":219}')}`;
    const { body } = await call('GET', path);
    expect(body.data).toMatchObject({ rows: [], hasMore: true });
    const rest = await call('GET', `${path}&cursor=${body.data.nextCursor}`);
    expect(rest.body.data).toMatchObject({ rows: [{ n: 219 }], hasMore: false });
  });

  test.each([
    ['CSV with a line too short', 'a,b\r\n1,2\r\n3\r\n', CSV, 'INVALID_REQUEST', 'line 3'],
    ['CSV with a quote left open', 'a,b\r\n1,2\r\n"3,4\r\n', CSV, 'INVALID_REQUEST', 'line 3'],
    ['a line that is no object', '{"a":1}\n\n[2]\n', NDJSON, 'INVALID_REQUEST', 'line 3'],
    ['a line that is no JSON', '{"a":1}\n{"a":\n', NDJSON, 'INVALID_REQUEST', 'line 2'],
    ['an element that is no object', '[{"a":1},2]', JSON_TYPE, 'INVALID_REQUEST', 'row 2'],
    ['an array with a gap', '[{"a":1},,{"a":2}]', JSON_TYPE, 'INVALID_REQUEST', 'row 2'],
    ['an array that ends early', '[{"a":1},{"a":2}', JSON_TYPE, 'INVALID_JSON', undefined],
    ['an array with text after it', '[{"a":1}] x', JSON_TYPE, 'INVALID_JSON', undefined],
    ['an object instead of an array', '{"a":1}', JSON_TYPE, 'INVALID_JSON', undefined],
    ['a field without a name', '{"":1}\n', NDJSON, 'INVALID_REQUEST', 'line 1'],
    ['half a surrogate pair', '{"a":"\\ud800"}\n', NDJSON, 'INVALID_REQUEST', 'line 1'],
    ['no header', '', CSV, 'INVALID_REQUEST', undefined],
    ['a row that is too large', `{"a":"${'x'.repeat(LIMITS.rowBytesMax)}"}\n`, NDJSON, 'ROW_TOO_LARGE', 'line 1'],
    ['too many fields', `${Array.from({ length: 501 }, (_, n) => `c${n}`)}\r\n`, CSV, 'INVALID_REQUEST', undefined],
  ])('%s is refused as a whole', async (_what, body, type, code, param) => {
    const refused = await put('bad', body, type);
    expect([refused.body.code, refused.body.param]).toEqual([code, param]);
    expect((await call('GET', '/bad')).body.code).toBe('DATASET_NOT_FOUND');
  });

  test('conditions of a write hold for the newest version, and no number is used again after a deletion', async () => {
    expect((await put('one', 'a\r\n1\r\n', CSV, { 'if-none-match': '*' })).status).toBe(201);
    expect((await put('one', 'a\r\n2\r\n', CSV, { 'if-none-match': '*' })).body.code).toBe('VERSION_CONFLICT');
    expect((await put('one', 'a\r\n2\r\n', CSV, { 'if-match': '"1"' })).body.data.version).toBe(2);
    expect((await put('one', 'a\r\n3\r\n', CSV, { 'if-match': '"1"' })).body.code).toBe('VERSION_CONFLICT');
    expect((await call('DELETE', '/one', { headers: { 'if-match': '"1"' } })).body.code).toBe('VERSION_CONFLICT');
    expect((await call('DELETE', '/one', { headers: { 'if-match': '"2"' } })).body).toEqual({ success: true, data: { deleted: true } });
    expect((await call('DELETE', '/one')).body.code).toBe('DATASET_NOT_FOUND');
    expect((await put('one', 'a\r\n1\r\n')).body.data.version).toBe(3);
    expect((await call('GET', '/one/rows?version=1')).body.code).toBe('VERSION_NOT_FOUND');
  });

  test('an upload by a token of its own is stored once, and a token of a blob is none of a dataset', async () => {
    const headers = { origin: 'http://elsewhere.test' };
    const asked = await call('POST', '/up/upload', { body: { mimeType: CSV, size: 5 }, headers });
    expect(asked.body.data).toMatchObject({ direct: false, maxSize: LIMITS.datasetBytesMax });
    const url = asked.body.data.uploadUrl.replace('localhost', '127.0.0.1');
    const send = (to: string, body: string) => fetch(to, { method: 'PUT', body });
    expect(await (await send(url, 'a\r\n10\r\n')).json()).toMatchObject({ code: 'INVALID_REQUEST', param: 'size' });
    expect(await (await send(url, 'a\r\n1\n')).json()).toMatchObject({ data: { name: 'up', version: 1, rows: 1 } });
    expect(await (await send(url, 'a\r\n1\n')).json()).toMatchObject({ code: 'UPLOAD_TOKEN_INVALID' });
    const blob = await callData(easel, page, 'POST', '/blobs/upload', {
      token: owner.token,
      headers,
      body: { filename: 'a.csv', mimeType: CSV },
    });
    const other = blob.body.data.uploadUrl.replace('localhost', '127.0.0.1').replace('/blobs/', '/datasets/');
    expect(await (await send(other, 'a\r\n1\n')).json()).toMatchObject({ code: 'UPLOAD_TOKEN_INVALID' });
    if (kind !== 'S3') return;
    const direct = (await call('POST', '/up/upload', { body: { mimeType: NDJSON } })).body.data;
    expect(direct.direct).toBe(true);
    const confirm = () => fetch(direct.confirmUrl.replace('localhost', '127.0.0.1'), { method: 'POST' });
    expect(await (await confirm()).json()).toMatchObject({ code: 'INVALID_REQUEST' });
    expect((await send(direct.uploadUrl, '{"a":2}\n')).ok).toBe(true);
    expect(await (await confirm()).json()).toMatchObject({ data: { version: 2, rows: 1 } });
    expect(await (await raw('/up/content')).text()).toBe('{"a":2}\n');
  });

  test('strangers see and write nothing, anonymous visitors write where the artifact lets them', async () => {
    await put('secret', 'a\r\n1\r\n');
    const stranger = await easel.newUser();
    expect((await call('GET', '/secret', { token: stranger.token })).body.code).toBe('ARTIFACT_NOT_FOUND');
    const open = await publishArtifact(easel, owner, { visibility: 'public', allowAnonWrite: true });
    const shown = await publishArtifact(easel, owner, { visibility: 'public' });
    const write = (id: string) =>
      easel.fetch(`/v1/data/${id}/datasets/d`, { method: 'PUT', headers: { 'content-type': CSV }, body: 'a\r\n1\r\n' });
    expect((await write(open.id)).status).toBe(201);
    expect((await write(shown.id)).status).toBe(401);
    expect((await easel.fetch(`/v1/data/${open.id}/datasets/d/rows`)).status).toBe(200);
    expect((await easel.fetch(`/v1/data/${open.id}/datasets/d`, { method: 'DELETE' })).status).toBe(200);
  });
});
