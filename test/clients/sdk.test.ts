import { describe, expect, it } from 'vitest';
import { ApiError, type ClientOptions, createClient, InvalidInput, NetworkError } from '../../src/clients/sdk/client.ts';
import { failure, hangUp, json, serverOf } from './scripted-server.ts';

/** A client that does not wait and records how long it would have waited. */
function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const waitsMs: number[] = [];
  const wait = async (ms: number) => void waitsMs.push(ms);
  return { api: createClient({ baseUrl, random: () => 1, wait, ...options }), waitsMs };
}

async function thrown<T>(promise: Promise<T>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it did not throw'),
    (error: unknown) => error,
  );
}

const ID = `art_${'a'.repeat(24)}`;
const written = { success: true, data: { key: 'k', created: true, updatedAt: '2026-01-01T00:00:00.000Z' } };
const read = { success: true, data: { key: 'k', value: 7, updatedAt: '2026-01-01T00:00:00.000Z' } };

describe('requests are built from the table', () => {
  it('fills path, query, body, token and media type', async () => {
    const { baseUrl, seen } = await serverOf(json(200, { ...read, data: { ...read.data, created: false } }));
    const api = createClient({ baseUrl: `${baseUrl}/`, token: 'so_1' });
    const input = { params: { artifactId: ID, key: 'a.b' }, query: { ttl: 60 }, body: [], mediaType: 'application/json-patch+json' };
    await api.json.patch(input);
    expect(seen[0]).toMatchObject({ method: 'PATCH', url: `/v1/data/${ID}/json/a.b?ttl=60`, body: '[]' });
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer so_1', 'content-type': 'application/json-patch+json' });
  });

  it('encodes special characters in path and query, and omits undefined values', async () => {
    const { baseUrl, seen } = await serverOf(failure(400, 'KEY_INVALID'));
    await thrown(createClient({ baseUrl }).json.get({ params: { artifactId: ID, key: 'a/b?c' }, query: { path: undefined } }));
    expect(seen[0]?.url).toBe(`/v1/data/${ID}/json/a%2Fb%3Fc`);
  });

  it.each(['', '.', '..'])('refuses the path parameter "%s", which would reach another endpoint', async (key) => {
    const { baseUrl, seen } = await serverOf(json(200, read));
    expect(await thrown(createClient({ baseUrl }).json.delete({ params: { artifactId: ID, key } }))).toBeInstanceOf(InvalidInput);
    expect(seen).toEqual([]);
  });

  it('sends no body and no token if none is given, and bytes unchanged', async () => {
    const { baseUrl, seen } = await serverOf(json(201, { token: 'so_2', user_id: 'usr_1' }), json(201, { sha256: 'x', size_bytes: 3 }));
    const api = createClient({ baseUrl });
    const made = await api.accounts.create();
    expect(made.body.token).toBe('so_2');
    expect(seen[0]).toMatchObject({ body: '' });
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
    await api.publish.upload({ params: { upload_id: 'upl_1', sha256: 'f' }, body: new Uint8Array([65, 66, 67]) });
    expect(seen[1]).toMatchObject({ method: 'PUT', body: 'ABC' });
    expect(seen[1]?.headers['content-type']).toBe('application/octet-stream');
  });
});

describe('answers', () => {
  it('gives status, body and headers of a declared reply', async () => {
    const { baseUrl } = await serverOf(json(201, written, { etag: '"1"' }));
    const reply = await createClient({ baseUrl }).json.put({ params: { artifactId: ID, key: 'k' }, body: 1 });
    expect([reply.status, reply.body, reply.headers.get('etag')]).toEqual([201, written, '"1"']);
  });

  it('gives a media reply as bytes', async () => {
    const { baseUrl } = await serverOf((response) => response.writeHead(200).end(Buffer.from([0, 255, 1])));
    const reply = await createClient({ baseUrl }).artifacts.export({ params: { id: ID } });
    expect([...reply.body]).toEqual([0, 255, 1]);
  });

  it('returns 304 while the etag matches', async () => {
    const { baseUrl, seen } = await serverOf((response) => response.writeHead(304).end());
    const reply = await createClient({ baseUrl }).json.get.ifChanged('"7"', { params: { artifactId: ID, key: 'k' } });
    expect([reply.status, reply.body, seen[0]?.headers['if-none-match']]).toEqual([304, undefined, '"7"']);
  });

  it('throws an error with every field of the answer', async () => {
    const issues = [{ path: 'slug', message: 'must be shorter' }];
    const { baseUrl } = await serverOf(failure(400, 'INVALID_SLUG', {}, { hint: 'Shorten it.', param: 'slug', issues }));
    const error = await thrown(createClient({ baseUrl }).artifacts.get({ params: { id: ID } }));
    expect(error).toBeInstanceOf(ApiError);
    const parts = { status: 400, code: 'INVALID_SLUG', hint: 'Shorten it.', param: 'slug', issues, requestId: 'req-1' };
    expect(error).toMatchObject({ message: 'It did not work.', ...parts });
  });

  it.each([
    ['an HTML page', 200, '<html>'],
    ['an undeclared status', 204, ''],
    ['an error of somebody else', 502, 'Bad gateway'],
  ])('says that %s is no answer of Easel', async (_what, status, body) => {
    const { baseUrl } = await serverOf((response) => response.writeHead(status).end(body));
    const error = await thrown(createClient({ baseUrl }).artifacts.get({ params: { id: ID } }));
    expect(error).toMatchObject({ name: 'ApiError', code: 'UNREADABLE_REPLY', status });
  });
});

describe('back-off', () => {
  const get = { params: { artifactId: ID, key: 'k' } };

  it('waits as long as Retry-After says, after 429 and 503', async () => {
    const answers = [
      failure(429, 'RATE_LIMITED', { 'retry-after': '3' }),
      failure(503, 'UNAVAILABLE', { 'retry-after': '1' }),
      json(200, read),
    ];
    const { baseUrl, seen } = await serverOf(...answers);
    const { api, waitsMs } = clientOf(baseUrl);
    const reply = await api.json.get(get);
    expect([reply.body.data.value, waitsMs, seen.length]).toEqual([7, [3000, 1000], 3]);
  });

  it('doubles its own wait without Retry-After, and gives up after four repetitions', async () => {
    const { baseUrl, seen } = await serverOf(failure(503, 'UNAVAILABLE'));
    const { api, waitsMs } = clientOf(baseUrl);
    expect(await thrown(api.json.get(get))).toMatchObject({ status: 503 });
    expect([waitsMs, seen.length]).toEqual([[250, 500, 1000, 2000], 5]);
  });

  it('throws immediately if Retry-After is longer than the maximum wait', async () => {
    const { baseUrl, seen } = await serverOf(failure(429, 'RATE_LIMITED', { 'retry-after': '1800' }));
    const { api, waitsMs } = clientOf(baseUrl);
    expect(await thrown(api.json.get(get))).toMatchObject({ status: 429, retryAfterS: 1800 });
    expect([waitsMs, seen.length]).toEqual([[], 1]);
  });

  it('repeats a POST with the same Idempotency-Key, and gives each call its own', async () => {
    const made = json(201, { token: 'so_1', user_id: 'usr_1' });
    const { baseUrl, seen } = await serverOf(hangUp, failure(409, 'IDEMPOTENCY_IN_PROGRESS'), made);
    const { api } = clientOf(baseUrl);
    await api.accounts.create();
    await api.accounts.create();
    const keys = seen.map((request) => request.headers['idempotency-key']);
    expect(keys).toEqual([keys[0], keys[0], keys[0], keys[3]]);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[3]).not.toBe(keys[0]);
  });

  it.each([
    ['a patch', 'PATCH'],
    ['a delete', 'DELETE'],
    ['a conditional write', 'PUT'],
  ])('does not repeat %s whose outcome is unknown, but one that was refused', async (_what, method) => {
    const moved = failure(503, 'OWNER_MOVED', { 'retry-after': '1' });
    const { baseUrl, seen } = await serverOf(moved, failure(503, 'UNAVAILABLE', { 'retry-after': '1' }));
    const { api } = clientOf(baseUrl);
    const calls: Record<string, () => Promise<unknown>> = {
      PATCH: () => api.json.patch({ ...get, body: { op: 'increment' } }),
      DELETE: () => api.json.delete(get),
      PUT: () => api.json.put({ ...get, body: 1, ifMatch: '"1"' }),
    };
    expect(await thrown((calls[method] ?? expect.fail)())).toMatchObject({ code: 'UNAVAILABLE' });
    expect(seen.map((request) => request.method)).toEqual([method, method]);
  });

  it('repeats a plain PUT after a broken connection', async () => {
    const { baseUrl, seen } = await serverOf(hangUp, json(200, written));
    const { api } = clientOf(baseUrl);
    expect((await api.json.put({ ...get, body: 1 })).status).toBe(200);
    expect(seen.length).toBe(2);
  });

  it('throws NetworkError after two repetitions without an answer', async () => {
    const { baseUrl, seen } = await serverOf(hangUp);
    const { api } = clientOf(baseUrl);
    expect(await thrown(api.json.get(get))).toBeInstanceOf(NetworkError);
    expect(seen.length).toBe(3);
  });

  it('ends a wait immediately when the signal is aborted', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const { baseUrl, seen } = await serverOf((response, request) => {
      failure(429, 'RATE_LIMITED', { 'retry-after': '20' })(response, request);
      response.on('close', () => stop.abort(reason));
    });
    expect(await thrown(createClient({ baseUrl }).json.get({ ...get, signal: stop.signal }))).toBe(reason);
    expect(seen.length).toBe(1);
  });
});
