/** Tables through export and import. */
import { unzipSync, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, post, published, refusal } from '../../../support/requests.ts';

const SCHEMA = {
  columns: [
    { name: 'email', type: 'string', required: true, unique: true },
    { name: 'age', type: 'number', indexed: true },
  ],
  write: 'collaborator',
};
const LOOSE = [{ a: 1.5, text: 'Größe "x",\n=1', nested: { b: [null, true] } }, { a: null, other: '5' }, {}];

let easel: TestEasel;
let user: TestUser;
let id: string;
let zip: Buffer;
beforeAll(async () => {
  easel = await startTestEasel();
  user = await easel.newUser();
  ({ id } = await published(easel, user));
  const at = (table: string) => `/v1/data/${id}/tables/${table}`;
  const put = { ...post(SCHEMA), method: 'PUT', token: user.token };
  await ok(easel.fetch(`${at('people')}/_schema`, put));
  for (let from = 0; from < 1200; from += 400) {
    const rows = Array.from({ length: 400 }, (_, n) => ({ email: `p${from + n}@example.test`, age: (from + n) % 90, note: 'x'.repeat(n) }));
    await ok(easel.fetch(at('people'), { token: user.token, ...post({ rows }) }));
  }
  await ok(easel.fetch(at('loose'), { token: user.token, ...post({ rows: LOOSE }) }));
  easel.clock.advance(5000);
  const { data } = await json(await easel.fetch(`${at('loose')}/rows`, { token: user.token }));
  await ok(easel.fetch(`${at('loose')}/${data.rows[0].id}`, { token: user.token, ...post({ a: 2 }), method: 'PATCH' }));
  zip = Buffer.from(await (await easel.fetch(`/v1/artifacts/${id}/export`, { token: user.token })).arrayBuffer());
});
afterAll(() => easel.close());

async function ok(reply: Promise<Response>): Promise<void> {
  const settled = await reply;
  if (!settled.ok) throw new Error(`answered ${settled.status}: ${await settled.text()}`);
}

function imported(where: TestEasel, who: TestUser, bytes: Uint8Array): Promise<Response> {
  const headers = { 'content-type': 'application/zip' };
  return where.fetch('/v1/artifacts/import', { token: who.token, method: 'POST', body: Buffer.from(bytes), headers });
}

async function stored(where: TestEasel, artifactId: string) {
  return {
    tables: await where.sql`
      select name, schema, row_count, created_at_ms, updated_at_ms from data_table where artifact_id = ${artifactId} order by name`,
    rows: await where.sql`
      select table_name, row_id, data::text, created_at_ms, updated_at_ms from table_row
      where artifact_id = ${artifactId} order by table_name, created_seq`,
    index: await where.sql`
      select table_name, column_name, kind, num, txt, row_id from row_index
      where artifact_id = ${artifactId} order by table_name, row_id, column_name`,
  };
}

test('are restored with ids, times, order, schema and index on another installation, which takes further rows', async () => {
  const elsewhere = await startTestEasel({ database: 'embedded' });
  try {
    const owner = await elsewhere.newUser();
    const answer = await json(await imported(elsewhere, owner, zip));
    const copy = answer.artifact?.id as ArtifactId;
    const original = await stored(easel, id);
    expect(original.rows.length).toBe(1203);
    expect(await stored(elsewhere, copy)).toEqual(original);
    const people = `/v1/data/${copy}/tables/people`;
    const found = await json(
      await elsewhere.fetch(`${people}/rows?filter=${encodeURIComponent('{"age":{"$gte":89}}')}`, { token: owner.token }),
    );
    expect(found.data.rows.length).toBe(13);
    const taken = elsewhere.fetch(people, { token: owner.token, ...post({ email: 'p7@example.test' }) });
    expect((await refusal(taken)).slice(0, 2)).toEqual([409, 'DUPLICATE_VALUE']);
    await ok(elsewhere.fetch(people, { token: owner.token, ...post({ email: 'new@example.test' }) }));
  } finally {
    await elsewhere.close();
  }
});

test('the zip has tables as CSV too', () => {
  const lines = Buffer.from(unzipSync(zip)['data/tables/people.csv'] ?? '')
    .toString()
    .split('\r\n');
  expect([lines.length, lines[0]]).toEqual([1202, 'id,email,age,note,createdAt,updatedAt']);
});

describe('an invalid archive is refused, naming entry and line', () => {
  const entry = 'data/tables/people.ndjson';
  const refused = async (change: (lines: Record<string, unknown>[]) => unknown, table = 'people') => {
    const good = unzipSync(zip);
    const name = `data/tables/${table}.ndjson`;
    const rows = Buffer.from(good[name] ?? '')
      .toString()
      .trimEnd()
      .split('\n');
    const lines = rows.map((line) => JSON.parse(line));
    change(lines);
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    const reply = await imported(easel, user, zipSync({ ...good, [name]: Buffer.from(text) }));
    const body = await json(reply);
    return [reply.status, body.code, body.param, body.error];
  };

  test.each([
    ['an id of another kind', { id: 'x' }, 'line 3: id'],
    ['no time', { createdAt: undefined }, 'line 3: createdAt'],
    ['a value against the schema', { age: 'old' }, 'line 3: age must be a number'],
    ['what cannot be stored', { note: 'a\u0000b' }, 'line 3: note must not contain NUL'],
  ])('%s', async (_name, change, message) => {
    const answer = await refused((lines) => Object.assign(lines[2] ?? {}, change));
    expect(answer).toEqual([400, 'INVALID_REQUEST', entry, expect.stringContaining(message)]);
  });

  test('a repeated row, a repeated unique value, a row that is too large', async () => {
    expect(await refused((lines) => lines.push(lines[0] ?? {}))).toEqual([400, 'INVALID_REQUEST', entry, expect.stringContaining('twice')]);
    const twin = await refused((lines) => Object.assign(lines[1] ?? {}, { email: 'p0@example.test' }));
    expect(twin).toEqual([400, 'INVALID_REQUEST', entry, expect.stringContaining('email twice')]);
    const large = await refused((lines) => Object.assign(lines[1] ?? {}, { a: 'x'.repeat(103_000) }), 'loose');
    expect(large.slice(0, 3)).toEqual([413, 'ROW_TOO_LARGE', 'data/tables/loose.ndjson']);
  });
});
