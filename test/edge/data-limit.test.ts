/** The data limit over real connections: exact, whoever calls and however many at once. Source: spec.md "Limits", contract.md §0. */
import autocannon from 'autocannon';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { FREE_REVALIDATIONS } from '../../protocol/core/rate-limits.ts';
import { callData, type DataArtifact, publishArtifact } from '../support/data-client.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../support/easel.ts';

const WINDOW_MS = 60_000;

let easel: TestEasel;
let owner: TestUser;
let artifact: DataArtifact;
beforeAll(async () => {
  easel = await startTestEasel();
  owner = await easel.newUser('pro');
});
afterAll(() => easel.close());
beforeEach(async () => {
  artifact = await publishArtifact(easel, owner);
  await easel.sql`
    insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms) values (${artifact.id}, 'a', '1', 1, 0, 0)`;
  await easel.sql`update artifact set seq = 1 where id = ${artifact.id}`;
  await easel.runtime.discard(artifact.id);
});

function get(headers: Record<string, string> = {}) {
  return callData(easel, artifact, 'GET', '/json/a', { token: owner.token, headers });
}

/** Sends exactly so many requests over so many connections and counts the answers by status. */
async function load(amount: number, connections: number, requests: autocannon.Request[]): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  await new Promise<void>((resolve, reject) => {
    const run = autocannon(
      { url: easel.baseUrl, amount, connections, requests, headers: { authorization: `Bearer ${owner.token}` } },
      (error) => (error ? reject(error) : resolve()),
    );
    run.on('response', (_client, status) => {
      counted[status] = (counted[status] ?? 0) + 1;
    });
  });
  return counted;
}

const reads = (): autocannon.Request[] => [{ method: 'GET', path: `/v1/data/${artifact.id}/json/a` }];

test('exactly 1000 of 1400 calls over 200 connections pass, and the refusals carry Retry-After', async () => {
  expect(await load(1400, 200, reads())).toEqual({ 200: LIMITS.dataPerMinute, 429: 1400 - LIMITS.dataPerMinute });
  const refused = await get();
  expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMITED']);
  // A call exactly one window ago still shares a closed span of that length with one made now.
  expect(Object.fromEntries(['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => [name, refused.headers.get(name)]))).toEqual({
    'ratelimit-policy': '"data";q=1000;w=60',
    ratelimit: '"data";r=0;t=61',
    'retry-after': '61',
  });
  easel.clock.advance(WINDOW_MS);
  expect((await get()).status).toBe(429);
  easel.clock.advance(1);
  expect((await get()).headers.get('ratelimit')).toBe('"data";r=999;t=61');
});

test('writes and reads spend the same window, exactly', async () => {
  const requests: autocannon.Request[] = [
    ...reads(),
    { method: 'PUT', path: `/v1/data/${artifact.id}/json/b`, body: '2', headers: { 'content-type': 'application/json' } },
    { method: 'POST', path: `/v1/data/${artifact.id}/tables/t`, body: '{"n":1}', headers: { 'content-type': 'application/json' } },
  ];
  const counted = await load(1200, 100, requests);
  const accepted = Object.entries(counted).reduce((sum, [status, count]) => (status.startsWith('2') ? sum + count : sum), 0);
  expect([accepted, counted['429']]).toEqual([LIMITS.dataPerMinute, 1200 - LIMITS.dataPerMinute]);
});

test('an actor that leaves memory does not reset the limit', async () => {
  expect(await load(600, 50, reads())).toEqual({ 200: 600 });
  await easel.runtime.discard(artifact.id);
  expect(await load(600, 50, reads())).toEqual({ 200: 400, 429: 200 });
});

test('a steady 16.6 a second is never refused; a burst after a pause is honoured once', async () => {
  // Ten calls in each 603 ms: 16.58 a second for three minutes.
  for (let tens = 0; tens < 300; tens += 1) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => get()));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    easel.clock.advance(603);
  }
  easel.clock.advance(WINDOW_MS + 1);
  expect(await load(1010, 50, reads())).toEqual({ 200: 1000, 429: 10 });
});

test('304 and preflights are free; without anything left a conditional read is refused before its work', async () => {
  const { headers } = await get();
  const etag = headers.get('etag') ?? '';
  expect(await load(998, 50, reads())).toEqual({ 200: 998 });
  for (let call = 0; call < 5; call += 1) {
    const unchanged = await get({ 'if-none-match': etag });
    expect([unchanged.status, unchanged.headers.has('ratelimit')]).toEqual([304, false]);
  }
  // Many at once, each of which spends before it gives back, leave the same.
  const conditional = [{ method: 'GET' as const, path: `/v1/data/${artifact.id}/json/a`, headers: { 'if-none-match': etag } }];
  const counted = await load(300, 50, conditional);
  expect((counted['304'] ?? 0) + (counted['429'] ?? 0)).toBe(300);
  const preflight = await easel.fetch(`/v1/data/${artifact.id}/json/a`, {
    method: 'OPTIONS',
    headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' },
  });
  expect([preflight.status, preflight.headers.has('ratelimit')]).toEqual([204, false]);
  expect((await get({ 'if-none-match': '"other"' })).headers.get('ratelimit')).toBe('"data";r=0;t=61');
  expect([(await get({ 'if-none-match': '"other"' })).status, (await get({ 'if-none-match': etag })).status]).toEqual([429, 429]);
});

test('more 304s in a minute than are free count like other answers', async () => {
  const etag = (await get()).headers.get('etag') ?? '';
  const spent = easel.runtime.spend(artifact.id as ArtifactId, FREE_REVALIDATIONS.quota - 1, FREE_REVALIDATIONS);
  expect(spent.accepted).toBe(true);
  const lines = [];
  for (let call = 0; call < 3; call += 1) lines.push((await get({ 'if-none-match': etag })).headers.get('ratelimit'));
  expect(lines).toEqual([null, '"data";r=998;t=61', '"data";r=997;t=61']);
});

test('what is refused before it is a call of the artifact spends nothing', async () => {
  const stranger = await easel.newUser();
  for (let call = 0; call < 5; call += 1) await callData(easel, artifact, 'GET', '/json/a', { token: stranger.token });
  await callData(easel, artifact, 'GET', '/json?limit=0', { token: owner.token });
  expect((await get()).headers.get('ratelimit')).toBe('"data";r=999;t=61');
});
