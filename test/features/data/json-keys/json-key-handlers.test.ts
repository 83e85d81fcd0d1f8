/** JSON keys through their handlers, as the edge calls them. Source: contract.md §4. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '../../../../actors/access/access.ts';
import { ANONYMOUS } from '../../../../actors/access/access.ts';
import type { ErrorCode } from '../../../../protocol/core/errors.ts';
import { endpoints } from '../../../../protocol/table.ts';
import { jsonKeyHandlers } from '../../../../src/features/data/json-keys/handlers.ts';
import { codeOf, type Stage, setStage } from '../../../actors/runtime/runtime-fixture.ts';
import { settle } from '../../../support/stepped-clock.ts';

type Operation = 'json.list' | 'json.get' | 'json.put' | 'json.patch' | 'json.delete' | 'json.deleteAll';

interface Sent {
  readonly key?: string;
  readonly text?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly mediaType?: string;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly role?: Role;
}

interface Answered {
  readonly status: number;
  readonly etag: string | undefined;
  readonly json: string;
  readonly data: Record<string, never>;
}

const START = '2026-01-01T00:00:00.000Z';
let stage: Stage;

beforeEach(() => {
  stage = setStage();
});

/** Calls a handler as the edge does, and checks the answer against the endpoint table. */
async function call(operation: Operation, sent: Sent = {}): Promise<Answered> {
  const endpoint = endpoints[operation];
  const params = { artifactId: stage.id, key: sent.key ?? 'k' };
  const handler = jsonKeyHandlers({ runtime: stage.runtime })[operation] as (call: unknown) => Promise<never> | never;
  const reply: { reply: string; body: unknown; json?: string; etag?: string } = await handler({
    requestId: 'r',
    principal: ANONYMOUS,
    params,
    query: 'query' in endpoint ? endpoint.query.parse(sent.query ?? {}) : {},
    body: sent.text === undefined ? undefined : JSON.parse(sent.text),
    bodyText: sent.text,
    mediaType: sent.mediaType ?? 'application/json',
    ifMatch: sent.ifMatch,
    ifNoneMatch: sent.ifNoneMatch,
    head: undefined,
    role: sent.role ?? 'owner',
    address: '127.0.0.1',
    nowMs: stage.clock.nowMs(),
  });
  const { status, body } = (endpoint.replies as Record<string, { status: number; body: { parse(value: unknown): unknown } }>)[
    reply.reply
  ] as never;
  const json = reply.json ?? JSON.stringify(reply.body);
  const parsed = (body as { parse(value: unknown): { data: never } }).parse(JSON.parse(json));
  return { status, etag: reply.etag, json, data: parsed.data };
}

const put = (key: string, text: string, sent: Sent = {}) => call('json.put', { key, text, ...sent });
const get = (key: string, sent: Sent = {}) => call('json.get', { key, ...sent });
const patch = (text: string, sent: Sent = {}) => call('json.patch', { text, ...sent });
const fails = (operation: Operation, sent: Sent): Promise<ErrorCode> => codeOf(call(operation, sent));

describe('put and get', () => {
  it('[as sent] the stored text comes back byte for byte, with its spaces, order and large numbers', async () => {
    const text = '{ "b": 12345678901234567890,\n  "a": 1.0, "__proto__": "é" }';
    expect(await put('k', text)).toMatchObject({ status: 201, etag: '"1"', data: { key: 'k', created: true, updatedAt: START } });
    expect(await get('k')).toMatchObject({
      status: 200,
      etag: '"1"',
      json: `{"success":true,"data":{"key":"k","value":${text},"updatedAt":"${START}"}}`,
    });
    await stage.runtime.discard(stage.id);
    expect((await get('k')).json).toContain(text);
  });

  it('[updatedAt] rises while the clock stands still, also when the key was deleted in between', async () => {
    await put('k', '1');
    expect((await put('k', '2')).data).toMatchObject({ created: false, updatedAt: '2026-01-01T00:00:00.001Z' });
    await call('json.delete');
    expect((await put('k', '3')).data).toMatchObject({ created: true, updatedAt: '2026-01-01T00:00:00.002Z' });
    await stage.runtime.discard(stage.id);
    expect((await put('k', '4')).data).toMatchObject({ updatedAt: '2026-01-01T00:00:00.003Z' });
  });

  it('[?path] reads a part, and names the path that is missing', async () => {
    await put('k', '{"a":{"b":[1,{"c":null}]}}');
    expect((await get('k', { query: { path: '$.a.b[1]' } })).data).toMatchObject({ value: { c: null } });
    expect((await get('k', { query: { path: '$.a.b[1].c' } })).data).toMatchObject({ value: null });
    await expect(get('k', { query: { path: '$.a.x' } })).rejects.toMatchObject({
      code: 'KEY_NOT_FOUND',
      details: { param: 'path', message: 'The value has nothing at $.a.x.' },
    });
    expect(await fails('json.get', { query: { path: 'a.b' } })).toBe('INVALID_REQUEST');
  });

  it('[limits] 1000 keys, expired ones not counted; 1 MB a value after the change', async () => {
    await put('old', '1', { query: { ttl: '1' } });
    for (let index = 0; index < 999; index += 1) await put(`k${index}`, '1');
    expect(await fails('json.put', { key: 'new', text: '1' })).toBe('KEY_LIMIT_EXCEEDED');
    expect((await put('k1', '2')).status).toBe(200);
    await stage.clock.advance(1000);
    expect((await put('new', '1')).status).toBe(201);
    expect(await fails('json.patch', { key: 'newer', text: '{}', mediaType: 'application/merge-patch+json' })).toBe('KEY_LIMIT_EXCEEDED');
    const half = JSON.stringify('x'.repeat(600_000));
    await put('k1', `[${half}]`);
    expect(await fails('json.patch', { key: 'k1', text: `{"op":"append","path":"$","value":${half}}` })).toBe('VALUE_TOO_LARGE');
    expect((await get('k1')).json).toContain(`"value":[${half}],`);
  });
});

describe('conditions', () => {
  it.each([
    ['the ETag', { ifMatch: '"1"' }],
    ['one of several ETags', { ifMatch: '"x", "1"' }],
    ['a bare updatedAt', { ifMatch: START }],
    ['any', { ifMatch: '*' }],
    ['another ETag not to match', { ifNoneMatch: '"x"' }],
  ])('[met] %s', async (_, condition) => {
    await put('k', '1');
    expect((await put('k', '2', condition)).etag).toBe('"2"');
  });

  it.each([
    ['an old ETag', { ifMatch: '"0"' }],
    ['a weak ETag', { ifMatch: 'W/"1"' }],
    ['an old updatedAt', { ifMatch: '2025-12-31T23:59:59.999Z' }],
    ['create only', { ifNoneMatch: '*' }],
  ])('[VERSION_CONFLICT with the current ETag] %s', async (_, condition) => {
    await put('k', '1');
    for (const operation of ['json.put', 'json.patch', 'json.delete'] as const) {
      const sent = { key: 'k', text: '{"op":"increment"}', ...condition };
      await expect(call(operation, sent)).rejects.toMatchObject({ code: 'VERSION_CONFLICT', details: { etag: '"1"' } });
    }
    expect((await get('k')).etag).toBe('"1"');
  });

  it('[absent] If-Match on a missing key is a conflict; If-None-Match: * creates', async () => {
    for (const ifMatch of ['*', '"1"', START]) {
      for (const operation of ['json.put', 'json.patch', 'json.delete'] as const) {
        expect(await fails(operation, { text: '{"op":"increment"}', ifMatch })).toBe('VERSION_CONFLICT');
      }
    }
    expect((await put('k', '1', { ifNoneMatch: '*' })).status).toBe(201);
  });

  it('[INVALID_REQUEST] a malformed condition', async () => {
    expect(await fails('json.put', { text: '1', ifMatch: '1' })).toBe('INVALID_REQUEST');
    expect(await fails('json.put', { text: '1', ifNoneMatch: 'yesterday' })).toBe('INVALID_REQUEST');
  });
});

describe('time to live', () => {
  it('[absent at once] for reads, lists and counts; the next change deletes it physically', async () => {
    await put('gone', '1', { query: { ttl: '60' } });
    await put('stays', '1');
    await stage.clock.advance(59_999);
    expect((await get('gone')).status).toBe(200);
    await stage.clock.advance(1);
    expect(await fails('json.get', { key: 'gone' })).toBe('KEY_NOT_FOUND');
    expect(await fails('json.delete', { key: 'gone' })).toBe('KEY_NOT_FOUND');
    expect((await call('json.list')).data).toEqual({ keys: ['stays'], count: 1, hasMore: false, nextCursor: null });
    expect([...stage.store.of(stage.id).keys.keys()]).toEqual(['gone', 'stays']);
    await put('other', '1');
    expect([...stage.store.of(stage.id).keys.keys()]).toEqual(['stays', 'other']);
  });

  it('[after a reload] an expired key stays absent and can be created again', async () => {
    await put('k', '1', { query: { ttl: '1' } });
    await stage.runtime.discard(stage.id);
    await stage.clock.advance(1000);
    expect(await fails('json.get', {})).toBe('KEY_NOT_FOUND');
    expect((await put('k', '2', { ifNoneMatch: '*' })).status).toBe(201);
    expect(stage.store.of(stage.id).log.map(({ kind }) => kind)).toEqual(['json.put', 'json.delete', 'json.put']);
  });

  it('[renewed] PUT without ttl makes a key stay, PATCH without ttl leaves its time', async () => {
    await put('k', '1', { query: { ttl: '10' } });
    await put('p', '1', { query: { ttl: '10' } });
    await put('k', '2');
    await patch('{"op":"increment"}', { key: 'p' });
    await stage.clock.advance(10_000);
    expect((await get('k')).status).toBe(200);
    expect(await fails('json.get', { key: 'p' })).toBe('KEY_NOT_FOUND');
  });
});

describe('patch', () => {
  it('[three forms] answers the new value, and creates a missing key where the form allows it', async () => {
    const merge = await patch('{"a":1,"b":null}', { mediaType: 'application/merge-patch+json' });
    expect(merge).toMatchObject({ status: 201, data: { key: 'k', value: { a: 1 }, created: true, updatedAt: START } });
    const jsonPatch = await patch('[{"op":"add","path":"/b","value":2}]', { mediaType: 'application/json-patch+json' });
    expect(jsonPatch).toMatchObject({ status: 200, etag: '"2"', data: { value: { a: 1, b: 2 }, created: false } });
    expect((await patch('{"op":"increment","path":"$.a","by":4}')).data).toMatchObject({ value: { a: 5, b: 2 } });
    expect((await patch('{"op":"append"}'.replace('}', ',"value":1}'), { key: 'list' })).data).toMatchObject({ value: [1], created: true });
  });

  it('[KEY_NOT_FOUND] a JSON patch or a removal of a missing key', async () => {
    expect(await fails('json.patch', { text: '[]', mediaType: 'application/json-patch+json' })).toBe('KEY_NOT_FOUND');
    expect(await fails('json.patch', { text: '{"op":"remove","path":"$.a"}' })).toBe('KEY_NOT_FOUND');
  });

  it('[atomic] a patch that fails at its last operation changes nothing', async () => {
    await put('k', '{"a":1}');
    const text = '[{"op":"replace","path":"/a","value":2},{"op":"test","path":"/a","value":3}]';
    await expect(patch(text, { mediaType: 'application/json-patch+json' })).rejects.toMatchObject({
      code: 'PATCH_FAILED',
      details: { param: '1' },
    });
    expect(await get('k')).toMatchObject({ etag: '"1"', data: { value: { a: 1 } } });
  });

  it.each(['{"a":1}', '[{"op":"add","path":"/a","value":1}]', '5', '{"op":"append"}', '{"op":"increment","by":"1"}'])(
    '[INVALID_REQUEST] %s as application/json is told which media type to use',
    async (text) => {
      await expect(patch(text)).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: { hint: expect.stringContaining('application/merge-patch+json') },
      });
    },
  );

  it('[no silent null] a number beyond a double stays unchanged beside the patched member', async () => {
    await put('k', '{"big":1e400,"id":12345678901234567890,"n":1}');
    expect((await patch('{"op":"increment","path":"$.n"}')).json).toContain('{"big":1e400,"id":12345678901234567890,"n":2}');
    for (const path of ['$.big', '$.id']) {
      expect(await fails('json.patch', { text: JSON.stringify({ op: 'increment', path }) })).toBe('PATCH_FAILED');
    }
    expect(await fails('json.patch', { text: '{"op":"increment","path":"$.n","by":12345678901234567890}' })).toBe('INVALID_REQUEST');
    expect((await get('k')).json).toContain('{"big":1e400,"id":12345678901234567890,"n":2}');
  });

  it('[concurrent] a hundred increments at once count to a hundred', async () => {
    await Promise.all(Array.from({ length: 100 }, () => patch('{"op":"increment"}')));
    expect((await get('k')).data).toMatchObject({ value: 100 });
  });
});

describe('list and delete', () => {
  it('[pages] are ordered by key and stay right while keys are added and deleted', async () => {
    for (const key of ['a.2', 'b', 'a.1', 'a.10', 'A']) await put(key, `"${key}"`);
    const first = await call('json.list', { query: { prefix: 'a.', limit: '2', values: 'true' } });
    expect(first.data).toMatchObject({
      keys: ['a.1', 'a.10'],
      count: 3,
      hasMore: true,
      entries: [{ key: 'a.1', value: 'a.1', updatedAt: '2026-01-01T00:00:00.002Z' }, { key: 'a.10' }],
    });
    await call('json.delete', { key: 'a.10' });
    await put('a.0', '0');
    const next = await call('json.list', { query: { prefix: 'a.', limit: '2', cursor: first.data.nextCursor ?? '' } });
    expect(next.data).toEqual({ keys: ['a.2'], count: 3, hasMore: false, nextCursor: null });
    expect((await call('json.list')).data).toMatchObject({ keys: ['A', 'a.0', 'a.1', 'a.2', 'b'] });
    for (const cursor of ['!', 'YSBi', '']) expect(await fails('json.list', { query: { cursor } })).toBe('INVALID_REQUEST');
  });

  it('[large values] a page with values ends at 4 MB and the next one continues', async () => {
    const text = JSON.stringify('x'.repeat(1_000_000));
    for (const key of ['a', 'b', 'c', 'd', 'e']) await put(key, text);
    const first = await call('json.list', { query: { values: 'true' } });
    expect(first.data).toMatchObject({ keys: ['a', 'b', 'c', 'd'], count: 5, hasMore: true });
    const next = await call('json.list', { query: { values: 'true', cursor: first.data.nextCursor ?? '' } });
    expect(next.data).toMatchObject({ keys: ['e'], hasMore: false });
  });

  it('[reserved keys] are for owner and editors, and hidden from others', async () => {
    await put('_secret', '1', { role: 'editor' });
    await put('open', '1');
    for (const role of ['viewer', 'none'] as const) {
      for (const operation of ['json.get', 'json.put', 'json.patch', 'json.delete'] as const) {
        expect(await fails(operation, { key: '_secret', text: '{"op":"increment"}', role })).toBe('FORBIDDEN');
      }
      expect((await call('json.list', { role })).data).toMatchObject({ keys: ['open'], count: 1 });
    }
    expect((await call('json.list', { role: 'editor' })).data).toMatchObject({ keys: ['_secret', 'open'] });
    expect((await call('json.deleteAll', { query: { confirm: 'true' }, role: 'none' })).data).toEqual({ deleted: 1 });
    expect((await call('json.deleteAll', { query: { confirm: 'true' } })).data).toEqual({ deleted: 1 });
    expect((await call('json.list')).data).toMatchObject({ keys: [], count: 0 });
    expect(await fails('json.delete', { key: 'open' })).toBe('KEY_NOT_FOUND');
  });
});

describe('values that leave memory', () => {
  const large = (letter: string) => JSON.stringify(letter.repeat(1_000_000));

  it('[bounded] an actor keeps 8 MB of values and reads the others back on demand', async () => {
    for (let index = 0; index < 20; index += 1) await put(`k${index}`, large('x'));
    expect(stage.runtime.stats().residentBytes).toBeLessThan(9_000_000);
    expect((await get('k0')).json).toContain(large('x'));
    expect(stage.store.readCount).toBe(1);
    await get('k0');
    expect(stage.store.readCount).toBe(1);
    expect((await patch('{"op":"append","path":"$.list","value":1}', { key: 'new' })).status).toBe(201);
    await expect(patch('{"op":"increment"}', { key: 'k1' })).rejects.toMatchObject({ code: 'PATCH_FAILED' });
    expect(stage.store.readCount).toBe(2);
    expect(stage.runtime.stats().residentBytes).toBeLessThan(9_000_000);
  });

  it('[changed meanwhile] a value written during the read-back is the one answered', async () => {
    await put('k', large('x'));
    await stage.runtime.discard(stage.id);
    stage.store.reads.isShut = true;
    const reader = get('k');
    await settle();
    expect(stage.store.readCount).toBe(1);
    await put('k', '"new"');
    stage.store.reads.open();
    expect((await reader).data).toMatchObject({ value: 'new' });
    expect(stage.runtime.stats().residentBytes).toBeLessThan(10_000);
  });

  it('[many at once] share one read-back', async () => {
    await put('k', large('x'));
    await stage.runtime.discard(stage.id);
    await stage.runtime.ask(stage.id, () => undefined);
    stage.store.reads.isShut = true;
    const readers = Array.from({ length: 100 }, () => get('k'));
    await settle();
    expect(stage.store.readCount).toBe(1);
    stage.store.reads.open();
    for (const { json } of await Promise.all(readers)) expect(json).toContain(large('x'));
  });

  it("[fenced] a previous owner never answers with its successor's value under its own ETag", async () => {
    await put('k', large('x'));
    await stage.runtime.discard(stage.id);
    await stage.runtime.ask(stage.id, () => undefined);
    const successor = stage.another();
    await successor.ask(stage.id, ({ json }) => json.put('k', '"new"', {}));
    expect(await fails('json.get', {})).toBe('OWNER_MOVED');
    expect((await get('k')).data).toMatchObject({ value: 'new' });
  });

  it('[a failed read] is UNAVAILABLE and is tried again by the next caller', async () => {
    await put('k', large('x'));
    await stage.runtime.discard(stage.id);
    const { readValue } = stage.store;
    stage.store.readValue = () => Promise.reject(new Error('connection lost'));
    expect(await fails('json.get', {})).toBe('UNAVAILABLE');
    stage.store.readValue = readValue;
    expect((await get('k')).json).toContain(large('x'));
  });
});
