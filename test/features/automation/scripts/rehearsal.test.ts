/** A rehearsal answers as the real artifact would, and changes nothing there. */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../../protocol/core/ids.ts';
import { EMPTY_ARTIFACT } from '../../../../src/features/automation/scripts/rehearsal/empty-artifact.ts';
import { RehearsalWorld } from '../../../../src/features/automation/scripts/rehearsal-world.ts';
import type { ScriptSandbox } from '../../../../src/features/automation/scripts/sandbox.ts';
import { bodyOf, type ScriptWorld, type WorldCall, type WorldReply } from '../../../../src/features/automation/scripts/world.ts';
import { callData, type DataArtifact, publishArtifact } from '../../../support/data-client.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { newSandbox } from './sandboxed.ts';

let easel: TestEasel;
let owner: TestUser;
let sandbox: ScriptSandbox;
let artifact: DataArtifact;
beforeAll(async () => {
  easel = await startTestEasel();
  sandbox = newSandbox();
});
afterAll(async () => {
  await sandbox?.close();
  await easel?.close();
});
beforeEach(async () => {
  artifact = await newArtifact();
});

/** Of another owner and a minute later than the last one, because of the limits of publishing and of calls. */
async function newArtifact(): Promise<DataArtifact> {
  easel.clock.advance(61_000);
  owner = await easel.newUser('pro');
  return publishArtifact(easel, owner);
}

const WRITES = ['PUT', 'PATCH', 'DELETE'];
const READS_BY_POST = /\/(query|count|aggregate)$/;

/** The artifact by the API. `isReadOnly`: fails the test where something else than a read arrives. */
function real(of: Pick<DataArtifact, 'id'>, isReadOnly: boolean, token = owner.token): Pick<ScriptWorld, 'call'> {
  return {
    async call(given: WorldCall): Promise<WorldReply> {
      const { method, path, headers } = given;
      const body = bodyOf(given);
      const writes = WRITES.includes(method) || (method === 'POST' && !READS_BY_POST.test(path));
      if (isReadOnly && writes) throw new Error(`${method} ${path} was sent to the real artifact`);
      return callData(easel, of, method, path, { token, body, ...(headers !== undefined && { headers }) });
    },
  };
}

const call = (method: WorldCall['method'], path: string, body?: unknown, headers?: Record<string, string>): WorldCall => ({
  method,
  path,
  ...(body !== undefined && { body }),
  ...(headers !== undefined && { headers }),
});

/** What differs between two runs of the same calls: ids by their order, times, cursors. */
function plain(ids: readonly string[], reply: WorldReply): unknown {
  const text = JSON.stringify({ status: reply.status, body: reply.body ?? null }, (name, value) => {
    if (name === 'createdAt' || name === 'updatedAt') return 'a time';
    if (name === 'nextCursor') return value === null ? null : 'a cursor';
    return name === 'request_id' || name === 'etag' ? undefined : value;
  });
  return JSON.parse(ids.reduce((left, id, at) => left.replaceAll(id, `row ${at}`), text));
}

/** One step of a script, with rows named by the order of their insertion. */
type Step =
  | { readonly call: WorldCall }
  | { readonly row: number; readonly method: 'GET' | 'PATCH' | 'DELETE'; readonly body?: unknown }
  | { readonly pages: { readonly [name: string]: unknown } };

async function perform(world: Pick<ScriptWorld, 'call'>, steps: readonly Step[], known: readonly string[]): Promise<unknown[]> {
  const ids = [...known];
  const seen: unknown[] = [];
  const note = (reply: WorldReply) => {
    const { inserted = [] } = (reply.body as { data?: { inserted?: { id: string }[] } })?.data ?? {};
    for (const { id } of inserted) if (!ids.includes(id)) ids.push(id);
    seen.push(plain(ids, reply));
    return reply;
  };
  for (const step of steps) {
    if ('call' in step) note(await world.call(step.call));
    else if ('row' in step) {
      const id = ids[step.row % Math.max(ids.length, 1)] ?? newId('row');
      note(await world.call(call(step.method, `/tables/t/${id}`, step.body)));
    } else {
      let cursor: string | null | undefined;
      do {
        const body = { ...step.pages, ...(cursor && { cursor }) };
        const reply = note(await world.call(call('POST', '/tables/t/query', body)));
        cursor = (reply.body as { data?: { nextCursor?: string | null } }).data?.nextCursor;
      } while (cursor);
    }
  }
  return seen;
}

const scalar = fc.constantFrom<unknown>(0, 1, 2, 0.1, 0.2, 1e21, -3.7, 'a', 'b', 'B', 'é', '\u{1F600}', '\uFFFD', true, false, null);
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }), fc.dictionary(fc.constantFrom('x', 'yy'), scalar, { maxKeys: 2 }));
const row = fc.dictionary(fc.constantFrom('a', 'b', 'n'), value, { maxKeys: 3 });
const key = fc.constantFrom('k1', 'k2', 'list', '_own');
// Ids differ between two runs, so nothing is sorted by them.
const field = fc.constantFrom('a', 'b', 'n', 'n.x', 'createdAt', 'updatedAt');
const plainField = fc.constantFrom('a', 'b', 'n', 'n.x');
const filter = fc.oneof(
  fc.constant({}),
  fc.record({ a: value }),
  fc.record({ a: fc.record({ $gte: fc.constantFrom(0, 1, 'a', 'b') }) }),
  fc.record({ $or: fc.tuple(fc.record({ b: fc.record({ $exists: fc.boolean() }) }), fc.record({ n: fc.record({ $contains: scalar }) })) }),
  fc.record({ $bad: fc.constant(1) }),
);
const sort = fc
  .array(fc.tuple(fc.boolean(), field), { maxLength: 2 })
  .map((fields) => fields.map(([down, name]) => (down ? `-${name}` : name)));
const metric = fc.oneof(
  fc.constant({ fn: 'count' }),
  fc.record({ fn: fc.constantFrom('count', 'sum', 'avg', 'min', 'max'), field: plainField, as: fc.constantFrom('one', 'two') }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(key, value).map(([name, body]) => ({ call: call('PUT', `/json/${name}`, body) })),
  fc.tuple(key, value).map(([name, body]) => ({ call: call('PUT', `/json/${name}`, body, { 'if-none-match': '*' }) })),
  fc
    .tuple(key, value)
    .map(([name, body]) => ({ call: call('PATCH', `/json/${name}`, body, { 'content-type': 'application/merge-patch+json' }) })),
  fc
    .tuple(key, fc.constantFrom('$', '$.x', '$.x.y'))
    .map(([name, path]) => ({ call: call('PATCH', `/json/${name}`, { op: 'increment', path, by: 2 }) })),
  fc.tuple(key, scalar).map(([name, item]) => ({ call: call('PATCH', `/json/${name}`, { op: 'append', path: '$', value: item }) })),
  key.map((name) => ({
    call: call('PATCH', `/json/${name}`, [{ op: 'add', path: '/x', value: 1 }], { 'content-type': 'application/json-patch+json' }),
  })),
  key.map((name) => ({ call: call('DELETE', `/json/${name}`) })),
  fc.tuple(key, fc.constantFrom('', '?path=$.x', '?path=')).map(([name, query]) => ({ call: call('GET', `/json/${name}${query}`) })),
  fc.constantFrom('', '?values=true', '?prefix=k&limit=1&count=true', '?limit=x').map((query) => ({ call: call('GET', `/json${query}`) })),
  fc.array(row, { minLength: 1, maxLength: 4 }).map((rows) => ({ call: call('POST', '/tables/t', rows) })),
  row.map((one) => ({ call: call('POST', '/tables/t?onConflict=a&merge=true', one) })),
  fc.tuple(fc.nat(8), fc.constantFrom('GET' as const, 'DELETE' as const)).map(([at, method]) => ({ row: at, method })),
  fc.tuple(fc.nat(8), row).map(([at, body]) => ({ row: at, method: 'PATCH' as const, body })),
  fc
    .tuple(filter, sort, fc.constantFrom(1, 2, 100), fc.boolean())
    .map(([where, order, limit, count]) => ({ pages: { filter: where, sort: order, limit, count } })),
  filter.map((where) => ({ call: call('POST', '/tables/t/count', { filter: where }) })),
  fc
    .tuple(fc.array(plainField, { maxLength: 2 }), fc.array(metric, { minLength: 1, maxLength: 3 }), filter)
    .map(([groupBy, metrics, where]) => ({ call: call('POST', '/tables/t/aggregate', { groupBy, metrics, filter: where }) })),
);

describe('a rehearsal', () => {
  it('answers every call as the artifact does, and leaves it as it was', { timeout: 120_000 }, async () => {
    const before = fc.array(step, { maxLength: 6 });
    const property = fc.asyncProperty(
      before,
      fc.array(step, { minLength: 1, maxLength: 10 }),
      fc.boolean(),
      async (first, steps, hasSchema) => {
        const of = await newArtifact();
        const there = real(of, false);
        if (hasSchema) {
          const columns = [{ name: 'a', type: 'string', unique: true }];
          await callData(easel, of, 'PUT', '/tables/t/_schema', { token: owner.token, body: { columns } });
        }
        await perform(there, first, []);
        const state = await everything(of);
        const ids = rowIds(state);
        const rehearsed = await perform(new RehearsalWorld(real(of, true), easel.clock), steps, ids);
        expect(await everything(of)).toEqual(state);
        expect(rehearsed).toEqual(await perform(there, steps, ids));
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it('tells what would have changed: before, after, and what would be deleted', async () => {
    const there = real(artifact, false);
    await there.call(call('PUT', '/json/votes', 3));
    await there.call(call('PUT', '/json/old', { a: 1 }));
    const made = (await there.call(call('POST', '/tables/t', [{ n: 1 }, { n: 2 }]))) as { body: { data: { inserted: { id: string }[] } } };
    const [first, second] = made.body.data.inserted;
    const world = new RehearsalWorld(real(artifact, true));
    const source = `
      await easel.json.increment('votes');
      await easel.json.increment('votes', 5);
      await easel.json.delete('old');
      await easel.json.set('made and removed', 1).catch(({ code }) => console.log(code));
      await easel.json.set('temporary', 1);
      await easel.json.delete('temporary');
      await easel.table('t').update(params[0], { n: 10 });
      await easel.table('t').delete(params[1]);
      const { id } = await easel.table('t').insert({ n: 3 });
      const reply = await easel.fetch('https://example.com/hook', { method: 'POST', body: { a: 1 } });
      const empty = await (await easel.fetch('https://example.com/')).text();
      return [id, (await easel.json.get('votes')), await easel.table('t').count({ n: { $gte: 3 } }), reply.status, reply.headers['x-easel-rehearsal'], empty];`;
    const outcome = await sandbox.run({ source, params: [first?.id, second?.id], world }, 'a');
    expect(outcome).toMatchObject({ ok: true, output: 'KEY_INVALID' });
    const [id, ...rest] = JSON.parse(outcome.value ?? '');
    expect(rest).toEqual([9, 2, 200, '1', '']);
    const would = world.would();
    expect(would.call).toEqual([
      { method: 'POST', url: 'https://example.com/hook' },
      { method: 'GET', url: 'https://example.com/' },
    ]);
    expect(would.write).toEqual([
      { channel: 'json', name: 'votes', before: 3, after: 9 },
      { channel: 'json', name: 'old', before: { a: 1 }, after: null },
      { channel: 'tables', name: `t/${first?.id}`, before: { ...first }, after: { ...first, n: 10, updatedAt: expect.any(String) } },
      { channel: 'tables', name: `t/${second?.id}`, before: { ...second }, after: null },
      {
        channel: 'tables',
        name: `t/${id}`,
        before: null,
        after: { id, n: 3, createdAt: expect.any(String), updatedAt: expect.any(String) },
      },
    ]);
    expect((await there.call(call('GET', '/json/votes'))).body).toMatchObject({ data: { value: 3 } });
  });

  it('counts what is there against the limits of keys and tables', async () => {
    const values = Array.from({ length: 999 }, (_, n) => ({ method: 'PUT', path: `/json/key${n}`, body: n }));
    for (let at = 0; at < values.length; at += 100) {
      const reply = await callData(easel, artifact, 'POST', '/batch', {
        token: owner.token,
        body: { requests: values.slice(at, at + 100) },
      });
      expect(reply.status).toBe(200);
      easel.clock.advance(60_000);
    }
    const world = new RehearsalWorld(real(artifact, true));
    expect((await world.call(call('PUT', '/json/one', 1))).status).toBe(201);
    expect(await world.call(call('PUT', '/json/two', 2))).toMatchObject({ status: 413, body: { code: 'KEY_LIMIT_EXCEEDED' } });
    expect((await world.call(call('DELETE', '/json/key5'))).status).toBe(200);
    expect((await world.call(call('PUT', '/json/two', 2))).status).toBe(201);
    expect((await world.call(call('PUT', '/json/key7', 2))).status).toBe(200);
    for (let n = 0; n < 50; n += 1) await callData(easel, artifact, 'POST', `/tables/t${n}`, { token: owner.token, body: { n } });
    expect(await world.call(call('POST', '/tables/more', { a: 1 }))).toMatchObject({ body: { code: 'TABLE_LIMIT_EXCEEDED' } });
    expect((await world.call(call('POST', '/tables/t3', { a: 1 }))).status).toBe(201);
  });

  it('changes tables of up to 10 000 rows; larger ones can be read', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ n }));
    for (let at = 0; at < 21; at += 1) await callData(easel, artifact, 'POST', '/tables/t', { token: owner.token, body: rows });
    const world = new RehearsalWorld(real(artifact, true));
    const page = await world.call(call('POST', '/tables/t/query', { limit: 2 }));
    const { nextCursor } = (page.body as { data: { nextCursor: string } }).data;
    expect((await world.call(call('POST', '/tables/t/query', { limit: 2, cursor: nextCursor }))).status).toBe(200);
    expect((await world.call(call('POST', '/tables/t/count', {}))).body).toMatchObject({ data: { count: 10_500 } });
    expect(await world.call(call('POST', '/tables/t', { n: 1 }))).toMatchObject({
      status: 400,
      body: { code: 'TOO_MANY_ROWS', error: 'A rehearsal can change tables of at most 10000 rows; t has more.' },
    });
  });

  it('gives a caller no more rights than the artifact does', async () => {
    const open = await publishArtifact(easel, owner, { visibility: 'public' });
    const stranger = await easel.newUser();
    const world = new RehearsalWorld(real(open, true, stranger.token));
    expect((await world.call(call('GET', '/json'))).status).toBe(200);
    expect(await world.call(call('PUT', '/json/a', 1))).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect(await world.call(call('POST', '/tables/t', { a: 1 }))).toMatchObject({ status: 403 });
    const hidden = new RehearsalWorld(real(artifact, true, stranger.token));
    expect((await hidden.call(call('PUT', '/json/a', 1))).status).toBe(404);
    expect(hidden.would()).toEqual({ write: [], call: [] });
  });

  it('works without an artifact, and holds 32 MB at most', async () => {
    const world = new RehearsalWorld(EMPTY_ARTIFACT);
    expect((await world.call(call('POST', '/tables/t/aggregate', { metrics: [{ fn: 'count' }] }))).body).toMatchObject({
      data: { groups: [{ count: 0 }] },
    });
    expect((await world.call(call('POST', '/tables/t', { a: 1 }))).status).toBe(201);
    expect((await world.call(call('POST', '/tables/t/query', {}))).body).toMatchObject({ data: { rows: [{ a: 1 }], hasMore: false } });
    const large = 'x'.repeat(1000 * 1000);
    const statuses: number[] = [];
    for (let n = 0; n < 40; n += 1) statuses.push((await world.call(call('PUT', `/json/k${n}`, large))).status);
    expect(statuses.filter((status) => status === 201).length).toBe(34);
    expect(await world.call(call('PUT', '/json/more', 1))).toMatchObject({ body: { code: 'REQUEST_TOO_EXPENSIVE' } });
  });
});

async function everything(of: Pick<DataArtifact, 'id'>): Promise<unknown[]> {
  const there = real(of, true);
  const calls = [call('GET', '/json?values=true'), call('GET', '/tables'), call('POST', '/tables/t/query', { limit: 1000 })];
  const replies: WorldReply[] = [];
  for (const one of calls) replies.push(await there.call(one));
  return replies.map(({ body }) => body);
}

function rowIds(state: readonly unknown[]): string[] {
  const { data } = state[2] as { data: { rows: { id: string }[] } };
  return data.rows.map(({ id }) => id);
}
