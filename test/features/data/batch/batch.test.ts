/** POST …/batch over the whole service. Source: contract.md §5. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Answered, callData, type DataArtifact, publishArtifact } from '../../../support/data-client.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';

let easel: TestEasel;
let owner: TestUser;
let artifact: DataArtifact;
beforeAll(async () => {
  easel = await startTestEasel();
  owner = await easel.newUser('pro');
});
afterAll(() => easel.close());
beforeEach(async () => {
  artifact = await publishArtifact(easel, owner, { visibility: 'public' });
});

interface Inner {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function batch(requests: readonly Inner[], atomic?: boolean, token: string | undefined = owner.token): Promise<Answered> {
  return callData(easel, artifact, 'POST', '/batch', { token, body: { requests, ...(atomic !== undefined && { atomic }) } });
}

async function value(key: string): Promise<unknown> {
  const { status, body } = await callData(easel, artifact, 'GET', `/json/${key}`, { token: owner.token });
  return status === 404 ? undefined : body.data.value;
}

const put = (key: string, body: unknown): Inner => ({ method: 'PUT', path: `/json/${key}`, body });

describe('requests in order', () => {
  test('each sees the effects of those before it, and gets the reply it would get on its own', async () => {
    const { status, body } = await batch([
      put('a', { n: 1 }),
      { path: '/json/a?path=$.n' },
      { method: 'PATCH', path: 'json/a', body: { op: 'increment', path: '$.n' } },
      { path: '/json/missing' },
      { method: 'POST', path: '/tables/guests', body: [{ name: 'Ada' }, { name: 'Bob' }] },
      { path: '/tables' },
    ]);
    expect(status).toBe(200);
    const { results } = body.data;
    expect(results.map((result: Answered & { code?: string }) => [result.status, result.code])).toEqual([
      [201, undefined],
      [200, undefined],
      [200, undefined],
      [404, 'KEY_NOT_FOUND'],
      [201, undefined],
      [200, undefined],
    ]);
    expect(results[1]).toMatchObject({
      path: '/json/a?path=$.n',
      method: 'GET',
      success: true,
      data: { value: 1 },
      etag: expect.any(String),
    });
    expect(results[2].data.value).toEqual({ n: 2 });
    expect(results[5].data.tables).toEqual([expect.objectContaining({ name: 'guests', rowCount: 2 })]);
  });

  test('conditions apply as in single requests', async () => {
    const first = await batch([put('a', 1)]);
    const { etag } = first.body.data.results[0];
    const { body } = await batch([
      { path: '/json/a', headers: { 'If-None-Match': etag } },
      { ...put('a', 2), headers: { 'if-match': '"other"' } },
      { ...put('a', 3), headers: { 'if-match': etag } },
    ]);
    expect(body.data.results.map((result: { status: number; success: boolean }) => [result.status, result.success])).toEqual([
      [304, true],
      [409, false],
      [200, true],
    ]);
    expect(await value('a')).toBe(3);
  });

  test.each([
    ['a nested batch', { method: 'POST', path: '/batch', body: { requests: [{ path: '/json' }] } }, 'INVALID_REQUEST'],
    ['a stream of events', { path: '/changes', headers: { accept: 'text/event-stream' } }, 'INVALID_REQUEST'],
    ['an unknown path', { path: '/nothing' }, 'NOT_FOUND'],
    ['a path of another artifact', { path: `/../art_${'a'.repeat(24)}/json` }, 'NOT_FOUND'],
    ['a method that the path does not support', { method: 'POST', path: '/json/a', body: 1 }, 'METHOD_NOT_ALLOWED'],
    ['a header that is not allowed', { path: '/json', headers: { Authorization: 'Bearer x' } }, 'INVALID_REQUEST'],
    ['a missing body', { method: 'PUT', path: '/json/a' }, 'INVALID_JSON'],
    ['a body of another type', { ...put('a', 1), headers: { 'content-type': 'text/csv' } }, 'UNSUPPORTED_MEDIA_TYPE'],
    ['an invalid key', put('a%20b', 1), 'KEY_INVALID'],
    ['a value that is too large', put('a', 'x'.repeat(1024 * 1024)), 'VALUE_TOO_LARGE'],
  ])('%s fails alone', async (_name, request, code) => {
    const { status, body } = await batch([put('before', 1), request, put('after', 1)]);
    expect(status).toBe(200);
    expect(body.data.results.map((result: { code?: string }) => result.code)).toEqual([undefined, code, undefined]);
    expect([await value('before'), await value('after')]).toEqual([1, 1]);
  });

  test('changes are returned as a JSON page', async () => {
    const { body } = await batch([put('a', 1), { path: '/changes?since=0' }]);
    expect(body.data.results[1].data.events).toMatchObject([{ kind: 'json.put', key: 'a', data: 1 }]);
  });

  test('access is checked for each request', async () => {
    await batch([put('a', 1), put('_secret', 2)]);
    const { body } = await batch([{ path: '/json/a' }, put('a', 2), { path: '/json/_secret' }], false, (await easel.newUser()).token);
    expect(body.data.results.map((result: { status: number }) => result.status)).toEqual([200, 403, 403]);
  });

  test('the total size of the replies is bounded', async () => {
    for (const key of ['a', 'b', 'c'])
      await callData(easel, artifact, 'PUT', `/json/${key}`, { token: owner.token, body: 'x'.repeat(1_000_000) });
    const { status, body } = await batch(Array.from({ length: 30 }, (_, index) => ({ path: `/json/${'abc'[index % 3]}` })));
    expect(status).toBe(200);
    const codes = body.data.results.map((result: { code?: string }) => result.code);
    expect(codes.slice(0, 16)).toEqual(Array(16).fill(undefined));
    expect(codes.slice(16)).toEqual(Array(14).fill('PAYLOAD_TOO_LARGE'));
  });

  test.each<[string, Inner]>([
    ['a nested batch', { method: 'POST', path: '/batch', body: { requests: [{ path: '/json' }] } }],
    ['a stream of events', { path: '/changes', headers: { accept: 'text/event-stream' } }],
    ['rows as CSV', { path: '/tables/guests/rows', headers: { accept: 'text/csv' } }],
    ['a body of bytes', { method: 'POST', path: '/tables/guests/import', body: 'name' }],
    ['an export', { path: '/tables/guests/export' }],
    ['a WebSocket', { path: '/channels' }],
  ])('%s is refused, and param says which request it was', async (_name, request) => {
    const { body } = await batch([put('before', 1), request, put('after', 1)]);
    expect(body.data.results[1]).toMatchObject({ status: 400, code: 'INVALID_REQUEST', param: 'requests[1]' });
    expect([await value('before'), await value('after')]).toEqual([1, 1]);
  });

  test('every endpoint with a JSON request and reply works', async () => {
    const requests: Inner[] = [
      { method: 'POST', path: '/documents/notes', body: { ops: [{ op: 'text.append', type: 'content', text: 'x' }] } },
      { path: '/documents/notes' },
      { path: '/blobs' },
      { path: '/presence' },
      { path: '/comments/_people' },
      { method: 'POST', path: '/tables/guests/query', body: {} },
      { method: 'PUT', path: '/comments/_config', body: { maxDepth: 3 } },
    ];
    const { body } = await batch(requests);
    expect(body.data.results.map((result: { status: number }) => result.status)).toEqual(Array(requests.length).fill(200));
  });
});

describe('the limit', () => {
  test('a batch spends one call for each request; one that does not fit runs none of them and spends the call that read it', async () => {
    const requests = Array.from({ length: 100 }, () => ({ path: '/json' }));
    for (let sent = 0; sent < 9; sent += 1) expect((await batch(requests)).status).toBe(200);
    const last = await batch(requests.slice(0, 60));
    expect(last.headers.get('ratelimit')).toBe('"data";r=40;t=61');
    const refused = await batch(requests.slice(0, 41));
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([429, 'RATE_LIMITED', '61']);
    expect((await batch(requests.slice(0, 40))).status).toBe(429);
    expect((await batch(requests.slice(0, 38))).headers.get('ratelimit')).toBe('"data";r=0;t=61');
  });

  test.each([0, 101])('%i requests are no batch', async (length) => {
    expect(await batch(Array.from({ length }, () => ({ path: '/json' })))).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST' },
    });
  });
});

describe('atomic', () => {
  test('all requests are applied in one step, and later ones see earlier ones', async () => {
    const { status, body } = await batch(
      [
        put('a', 1),
        { method: 'PATCH', path: '/json/a', body: { op: 'increment', path: '$' } },
        { path: '/json/a' },
        { method: 'POST', path: '/tables/guests', body: { name: 'Ada' } },
        { path: '/tables' },
      ],
      true,
    );
    expect(status).toBe(200);
    expect(body.data.results[2].data.value).toBe(2);
    expect(body.data.results[4].data.tables).toEqual([expect.objectContaining({ name: 'guests', rowCount: 1 })]);
    expect(await value('a')).toBe(2);
  });

  test('a row is inserted and updated in one step', async () => {
    const inserted = await callData(easel, artifact, 'POST', '/tables/guests', { token: owner.token, body: { name: 'Ada', visits: 1 } });
    const { id } = inserted.body.data.inserted[0];
    const { status, body } = await batch(
      [
        { method: 'PATCH', path: `/tables/guests/${id}`, body: { visits: 2 } },
        { method: 'PATCH', path: `/tables/guests/${id}`, body: { seen: true } },
        { path: `/tables/guests/${id}` },
        { method: 'DELETE', path: `/tables/guests/${id}` },
      ],
      true,
    );
    expect(status).toBe(200);
    expect(body.data.results[2].data).toMatchObject({ name: 'Ada', visits: 2, seen: true });
    expect((await callData(easel, artifact, 'GET', `/tables/guests/${id}`, { token: owner.token })).status).toBe(404);
  });

  test('a request that fails in its turn undoes those before it, on disk and in memory', async () => {
    await batch([put('a', 1)]);
    const refused = await batch(
      [
        put('a', 2),
        { method: 'POST', path: '/tables/guests', body: { name: 'Ada' } },
        { method: 'PATCH', path: '/json/a', body: { op: 'append', path: '$', value: 1 } },
      ],
      true,
    );
    expect(refused).toMatchObject({ status: 400, body: { code: 'PATCH_FAILED', param: 'requests.2.path' } });
    expect(refused.body.error).toContain('Nothing of the batch was done.');
    expect(await value('a')).toBe(1);
    expect((await callData(easel, artifact, 'GET', '/tables', { token: owner.token })).body.data.tables).toEqual([]);
    const [row] =
      await easel.sql`select seq, (select count(*)::int from json_key where artifact_id = ${artifact.id}) as keys from artifact where id = ${artifact.id}`;
    expect(row).toMatchObject({ seq: 1, keys: 1 });
    expect((await batch([put('a', 5)], true)).status).toBe(200);
    expect(await value('a')).toBe(5);
  });

  test('an invalid request stops the batch before anything runs', async () => {
    const refused = await batch([put('a', 2), put('_secret', 1)], true, (await easel.newUser()).token);
    expect([refused.status, refused.body.param]).toEqual([403, 'requests.0']);
    const invalid = await batch([put('a', 2), { method: 'PUT', path: '/json/b?ttl=0', body: 1 }], true);
    expect(invalid).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST', param: 'requests.1.ttl' } });
    expect(await value('a')).toBeUndefined();
  });

  test('a request that takes more than one turn is refused', async () => {
    await batch([{ method: 'POST', path: '/tables/guests', body: { name: 'Ada' } }]);
    const refused = await batch([put('a', 2), { method: 'DELETE', path: '/tables/guests', body: { filter: { name: 'Ada' } } }], true);
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST', param: 'requests[1]' } });
    expect(await value('a')).toBeUndefined();
  });

  test('no reader sees part of it while others write', async () => {
    await batch([put('a', 0), put('b', 0)]);
    const writers = Array.from({ length: 10 }, (_, n) => batch([put('a', n), put('b', n)], true));
    const readers = Array.from({ length: 10 }, () => batch([{ path: '/json/a' }, { path: '/json/b' }], true));
    for (const { body } of await Promise.all(readers)) {
      const [a, b] = body.data.results;
      expect(a.data.value).toBe(b.data.value);
    }
    for (const { status } of await Promise.all(writers)) expect(status).toBe(200);
  });

  test('values evicted from memory are loaded for it', async () => {
    const long = 'x'.repeat(10_000);
    await batch([put('a', long), put('b', long)]);
    await easel.runtime.discard(artifact.id);
    const { body } = await batch([{ path: '/json/a' }, { method: 'PATCH', path: '/json/b', body: { op: 'remove', path: '$.x' } }], true);
    expect(body.code).toBe('PATCH_FAILED');
    const both = await batch([{ path: '/json/a' }, { path: '/json/b' }], true);
    expect(both.body.data.results.map((result: { data: { value: string } }) => result.data.value.length)).toEqual([10_000, 10_000]);
  });

  test('comments are created, replied to, resolved and deleted in one step', async () => {
    const write = (body: object): Inner => ({ method: 'POST', path: '/comments', body });
    const first = await batch([write({ content: 'First.' }), write({ content: 'Second.' })], true);
    expect(first.status).toBe(200);
    const [a, b] = first.body.data.results.map((result: { data: { id: string } }) => result.data.id);
    const { status, body } = await batch(
      [
        write({ content: 'A reply to @nobody.', parentId: a }),
        { method: 'PATCH', path: `/comments/${a}`, body: { content: 'Better.' } },
        { method: 'PATCH', path: `/comments/${a}/resolve`, body: { resolved: true } },
        { method: 'PATCH', path: `/comments/${a}/assign`, body: { assigneeUserId: owner.userId } },
        { method: 'POST', path: `/comments/${a}/reactions`, body: { emoji: '👍' } },
        { method: 'DELETE', path: `/comments/${b}` },
        { path: '/comments?count=true' },
        put('told', true),
      ],
      true,
    );
    expect(status).toBe(200);
    expect(body.data.results.map((result: { status: number }) => result.status)).toEqual([201, 200, 200, 200, 200, 200, 200, 201]);
    const listed = body.data.results[6].data;
    expect([listed.total, listed.comments[0]]).toMatchObject([
      2,
      { id: a, content: 'Better.', resolved: true, assigneeUserId: owner.userId },
    ]);
  });

  test('a refused request undoes the comments and the blob deletion before it', async () => {
    const form = new FormData();
    form.set('file', new Blob(['kept'], { type: 'text/plain' }), 'note.txt');
    const made = await easel.fetch(`/v1/data/${artifact.id}/blobs`, { method: 'POST', token: owner.token, body: form });
    const blobId = ((await made.json()) as { data: { id: string } }).data.id;
    const erase: Inner = { method: 'DELETE', path: `/blobs/${blobId}` };
    const refused = await batch([{ method: 'POST', path: '/comments', body: { content: 'Lost.' } }, erase, erase], true);
    expect(refused).toMatchObject({ status: 404, body: { code: 'BLOB_NOT_FOUND', param: expect.stringMatching(/^requests\.2/) } });
    const after = await batch([{ path: '/comments?count=true' }, { path: '/blobs?count=true' }]);
    expect(after.body.data.results.map((result: { data: { total: number } }) => result.data.total)).toEqual([0, 1]);
    expect((await batch([erase, put('a', 1)], true)).status).toBe(200);
    expect((await batch([{ path: '/blobs?count=true' }])).body.data.results[0].data.total).toBe(0);
  });
});
