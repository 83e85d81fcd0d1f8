/** Datasets in the zip of an artifact. */
import { unzipSync, zipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recount } from '../../../../src/features/people/usage/rows.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, published, refusal } from '../../../support/requests.ts';

let easel: TestEasel;
let user: TestUser;
let id: string;
beforeAll(async () => {
  easel = await startTestEasel();
  user = await easel.newUser('pro');
  ({ id } = await published(easel, user));
  await put('cities', 'city,none,people\r\nBern,,134000\r\n');
  await put('cities', 'city,none,people\r\nBern,,134000\r\nLima,,10000000\r\n');
  await put('empty', 'a,b\r\n');
});
afterAll(() => easel.close());

async function put(name: string, body: string): Promise<void> {
  const headers = { 'content-type': 'text/csv' };
  const reply = await easel.fetch(`/v1/data/${id}/datasets/${name}`, { method: 'PUT', token: user.token, headers, body });
  expect(reply.status).toBe(201);
}

async function exported(): Promise<Record<string, Uint8Array>> {
  const reply = await easel.fetch(`/v1/artifacts/${id}/export`, { token: user.token });
  return unzipSync(Buffer.from(await reply.arrayBuffer()));
}

const imported = (entries: Record<string, Uint8Array>) =>
  easel.fetch('/v1/artifacts/import', {
    token: user.token,
    method: 'POST',
    headers: { 'content-type': 'application/zip' },
    body: Buffer.from(zipSync(entries)),
  });

test('the newest version of each is exported, and an import has the same rows, columns and number, and counts them', async () => {
  const entries = await exported();
  expect(Buffer.from(entries['data/datasets/cities.ndjson'] ?? '').toString()).toBe(
    '{"city":"Bern","people":134000}\n{"city":"Lima","people":10000000}\n',
  );
  const made = (await json(await imported(entries))).artifact.id;
  const get = async (artifact: string, name: string) =>
    (await json(await easel.fetch(`/v1/data/${artifact}/datasets/${name}`, { token: user.token }))).data;
  const { versions: _versions, ...cities } = await get(id, 'cities');
  expect(await get(made, 'cities')).toMatchObject({ ...cities, version: 2, rows: 2, versions: [{ version: 2 }] });
  const csv = await easel.fetch(`/v1/data/${made}/datasets/cities/content?format=csv`, { token: user.token });
  expect(await csv.text()).toBe('city,none,people\r\nBern,,134000\r\nLima,,10000000\r\n');
  expect((await get(made, 'empty')).columns.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
  const counters = await easel.sql.begin((tx) => recount(tx, user.userId));
  expect(counters?.bytes).toBe(counters?.trueBytes);
});

test('rows that are not those of the manifest, or no rows, are refused', async () => {
  const entries = await exported();
  const name = 'data/datasets/cities.ndjson';
  const code = async (text: string) => refusal(imported({ ...entries, [name]: Buffer.from(text) }));
  expect(await code('{"city":"Bern"}\n')).toEqual([400, 'INVALID_REQUEST', name]);
  expect(await code('[1]\n')).toEqual([400, 'INVALID_REQUEST', name]);
});
