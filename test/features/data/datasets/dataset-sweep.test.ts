/** What the daily sweep keeps and removes of datasets, and what is free again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readUsage, recount } from '../../../../src/features/people/usage/rows.ts';
import { s3Objects } from '../../../../src/storage/s3-objects.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, post, published, sha256 } from '../../../support/requests.ts';
import { startS3, type TestS3 } from '../../../support/s3.ts';

const DAY_MS = 24 * 3_600_000;
const NDJSON = { 'content-type': 'application/x-ndjson' };

let s3: TestS3;
let easel: TestEasel;
let user: TestUser;
let objects: ReturnType<typeof s3Objects>;
beforeAll(async () => {
  s3 = await startS3();
  easel = await startTestEasel({ settings: s3.settings });
  user = await easel.newUser('pro');
  objects = s3Objects(s3.settings);
});
afterAll(async () => {
  await easel.close();
  await s3.close();
});

async function put(id: string, name: string, body: string): Promise<void> {
  const reply = await easel.fetch(`/v1/data/${id}/datasets/${name}`, { method: 'PUT', token: user.token, headers: NDJSON, body });
  expect(reply.status).toBe(201);
}

async function usedBytes(): Promise<number> {
  const counted = await easel.sql.begin((tx) => recount(tx, user.userId));
  expect(counted?.bytes).toBe(counted?.trueBytes);
  return (await readUsage(easel.sql, user.userId, easel.clock.nowMs()))?.bytes ?? -1;
}

test('rows that a version names are kept; those of deleted datasets, old versions and purged pages are removed and free', async () => {
  const { id } = await published(easel, user);
  const emptyBytes = await usedBytes();
  const texts = Array.from({ length: 12 }, (_, n) => `{"n":${n}}\n`);
  for (const text of texts) await put(id, 'many', text);
  await put(id, 'gone', '{"gone":true}\n');
  await put(id, 'twin', texts[11] ?? '');
  expect((await easel.fetch(`/v1/data/${id}/datasets/gone`, { method: 'DELETE', token: user.token })).status).toBe(200);
  const kept = [...texts.slice(2), texts[11] ?? ''];
  expect((await usedBytes()) - emptyBytes).toBe(kept.join('').length);
  easel.clock.advance(DAY_MS + 1);
  expect(await easel.sweep()).toMatchObject({ objects: 3, correctedAccounts: 0 });
  const there = (all: readonly string[]) => Promise.all(all.map((text) => objects.has(sha256(text))));
  expect(await there(texts)).toEqual([false, false, ...Array.from({ length: 10 }, () => true)]);
  expect(await there(['{"gone":true}\n'])).toEqual([false]);
  expect((await easel.fetch(`/v1/artifacts/${id}`, { method: 'DELETE', token: user.token })).status).toBe(200);
  easel.clock.advance(31 * DAY_MS);
  await easel.sweep();
  expect(await easel.sql`select 1 from dataset_version where artifact_id = ${id}`).toHaveLength(0);
  expect(await easel.sql`select 1 from dataset_floor where artifact_id = ${id}`).toHaveLength(0);
  easel.clock.advance(DAY_MS + 1);
  await easel.sweep();
  expect(await there(texts)).toEqual(texts.map(() => false));
  expect(await usedBytes()).toBe(0);
});

test('an upload that nobody confirms reserves room until the sweep', async () => {
  const { id } = await published(easel, user);
  const before = await usedBytes();
  const asked = post({ mimeType: 'application/x-ndjson', size: 1000 });
  const reply = await easel.fetch(`/v1/data/${id}/datasets/late/upload`, { token: user.token, ...asked });
  const { uploadUrl, direct } = (await json(reply)).data;
  expect(direct).toBe(true);
  expect((await fetch(uploadUrl, { method: 'PUT', body: '{"a":1}\n' })).ok).toBe(true);
  expect((await usedBytes()) - before).toBe(1000);
  easel.clock.advance(2 * DAY_MS);
  await easel.sweep();
  expect(await usedBytes()).toBe(before);
  expect(await easel.sql`select 1 from blob_upload`).toHaveLength(0);
});

test('what does not fit into the account is refused, and leaves nothing reserved', async () => {
  const { id } = await published(easel, user);
  await easel.sql`update account_usage set bytes = bytes + 1e15::bigint where account_id = ${user.userId}`;
  const init = { method: 'PUT', token: user.token, headers: NDJSON, body: '{"a":1}\n' };
  const refused = await easel.fetch(`/v1/data/${id}/datasets/full`, init);
  expect([refused.status, (await json(refused)).code]).toEqual([507, 'STORAGE_LIMIT_EXCEEDED']);
  await easel.sql`update account_usage set bytes = bytes - 1e15::bigint where account_id = ${user.userId}`;
  expect(await easel.sql`select 1 from storage_reservation where account_id = ${user.userId}`).toHaveLength(0);
});
