/** A page's password and a preview link also give access to the page's data, on its own host, while they are valid. */
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../protocol/core/ids.ts';
import { callData, type DataArtifact, publishArtifact } from '../support/data-client.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../support/easel.ts';
import { type WireAnswer, wire } from '../support/page-requests.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const PASSWORD = 'open sesame';

let easel: TestEasel;
let owner: TestUser;
let stranger: TestUser;
beforeAll(async () => {
  easel = await startTestEasel();
  [owner, stranger] = await Promise.all([easel.newUser('pro'), easel.newUser('pro')]);
});
afterAll(() => easel.close());

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function onHost(host: string, path: string, sent: Sent = {}): Promise<WireAnswer> {
  const body = sent.body === undefined ? undefined : JSON.stringify(sent.body);
  const length: Readonly<Record<string, string>> =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  const headers = { ...length, ...sent.headers };
  return wire(easel.port, host, path, { method: sent.method ?? 'GET', headers, ...(body !== undefined && { body }) });
}

function hostOf({ slug }: DataArtifact): string {
  return new URL(easel.contentUrl(slug)).host;
}

async function change(artifact: DataArtifact, body: object): Promise<void> {
  const init = { method: 'PATCH', body: JSON.stringify(body), headers: { 'content-type': 'application/json' }, token: owner.token };
  expect((await easel.fetch(`/v1/artifacts/${artifact.id}`, init)).status).toBe(200);
}

function cookieOf(answer: WireAnswer): string {
  const cookie = [answer.headers['set-cookie']].flat()[0]?.split(';')[0];
  if (cookie === undefined) throw new Error(`no cookie with ${answer.status}`);
  return cookie;
}

async function unlock(artifact: DataArtifact, password = PASSWORD): Promise<string> {
  const form = new URLSearchParams({ password, to: '/' }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(form.length) };
  return cookieOf(await wire(easel.port, hostOf(artifact), '/_easel/unlock', { method: 'POST', headers, body: form }));
}

async function locked(): Promise<DataArtifact> {
  const artifact = await publishArtifact(easel, owner);
  await change(artifact, { visibility: 'password', password: PASSWORD });
  await callData(easel, artifact, 'PUT', '/json/shown', { token: owner.token, body: 1 });
  return artifact;
}

interface Preview {
  readonly id: string;
  readonly cookie: string;
}

async function preview(artifact: DataArtifact, expiresInS: number): Promise<Preview> {
  const version = await easel.sql<{ live_version_id: string }[]>`select live_version_id from artifact where id = ${artifact.id}`;
  const body = JSON.stringify({ version_id: version[0]?.live_version_id, expires_in: expiresInS });
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json' }, token: owner.token };
  const link = (await (await easel.fetch(`/v1/artifacts/${artifact.id}/preview-links`, init)).json()) as { id: string; url: string };
  const { pathname, search } = new URL(link.url);
  return { id: link.id, cookie: cookieOf(await wire(easel.port, hostOf(artifact), pathname + search)) };
}

/** Resolves once the stream has sent something; `ended` when the server ends it. */
function follow(artifact: DataArtifact, cookie: string): Promise<{ readonly ended: Promise<void> }> {
  const headers = { host: hostOf(artifact), cookie, accept: 'text/event-stream' };
  return new Promise((resolve, reject) => {
    const path = `/v1/data/${artifact.id}/changes`;
    request({ host: '127.0.0.1', port: easel.port, path, headers, agent: false }, (incoming) => {
      const ended = new Promise<void>((over) => incoming.on('end', over));
      incoming.once('data', (first: Buffer) => (String(first).includes('hello') ? resolve({ ended }) : reject(new Error(String(first)))));
    })
      .on('error', reject)
      .end();
  });
}

async function statusWith(artifact: DataArtifact, cookie: string, host = hostOf(artifact)): Promise<number> {
  return (await onHost(host, `/v1/data/${artifact.id}/json/shown`, { headers: { cookie } })).status;
}

describe('the password of a page', () => {
  test('opens the data of that page on its own host, and nowhere else', async () => {
    const [artifact, other] = await Promise.all([locked(), locked()]);
    const cookie = await unlock(artifact);
    expect(await statusWith(artifact, '')).toBe(404);
    expect(await statusWith(artifact, cookie)).toBe(200);
    expect(await statusWith(artifact, `${cookie}x`)).toBe(404);
    expect(await statusWith(other, cookie)).toBe(404);
    expect(await statusWith(artifact, cookie, hostOf(other))).toBe(404);
    expect(await statusWith(artifact, cookie, `127.0.0.1:${easel.port}`)).toBe(404);
    expect(await statusWith(artifact, cookie, `localhost:${easel.port}`)).toBe(404);
  });

  test('lets read, not write, however open the artifact is to everybody', async () => {
    const artifact = await locked();
    await easel.sql`update artifact set allow_anon_write = true where id = ${artifact.id}`;
    await change(artifact, { name: 'Renamed' });
    const headers = { cookie: await unlock(artifact), origin: easel.contentUrl(artifact.slug) };
    const put = await onHost(hostOf(artifact), `/v1/data/${artifact.id}/json/shown`, { method: 'PUT', headers, body: 2 });
    expect(put.status).toBe(401);
    const batch = await onHost(hostOf(artifact), `/v1/data/${artifact.id}/batch`, {
      method: 'POST',
      headers,
      body: { requests: [{ path: '/json/shown' }, { method: 'PUT', path: '/json/shown', body: 2 }, { path: '/json/_kept' }] },
    });
    const { data } = JSON.parse(batch.body.toString());
    expect(data.results.map(({ status }: { status: number }) => status)).toEqual([200, 401, 403]);
  });

  test('is taken from the page itself only where more than a GET is asked for: neighbours have the cookie sent too', async () => {
    const artifact = await locked();
    const neighbour = await locked();
    const cookie = await unlock(artifact);
    await callData(easel, artifact, 'POST', '/tables/t', { token: owner.token, body: { n: 1 } });
    const query = async (headers: Readonly<Record<string, string>>) =>
      onHost(hostOf(artifact), `/v1/data/${artifact.id}/tables/t/query`, { method: 'POST', headers: { cookie, ...headers }, body: {} });
    expect((await query({ origin: easel.contentUrl(artifact.slug) })).status).toBe(200);
    expect((await query({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    const foreign: readonly Readonly<Record<string, string>>[] = [
      {},
      { 'sec-fetch-site': 'same-site' },
      { origin: easel.contentUrl(neighbour.slug) },
      { origin: easel.contentUrl(neighbour.slug), 'sec-fetch-site': 'same-origin' },
      { origin: 'null' },
      { origin: 'https://elsewhere.example' },
      { origin: easel.baseUrl },
    ];
    for (const headers of foreign) {
      const refused = await query(headers);
      expect([headers, refused.status, JSON.parse(refused.body.toString()).code]).toEqual([headers, 403, 'FORBIDDEN']);
      expect(refused.headers.vary).toContain('Origin');
    }
    // With a token the cookie is ignored.
    const authorization = `Bearer ${owner.token}`;
    expect((await query({ authorization })).status).toBe(200);
    expect((await query({ authorization: `Bearer ${stranger.token}` })).status).toBe(404);
    // CORS hides the answer of a GET from other pages.
    const headers = { cookie, origin: easel.contentUrl(neighbour.slug) };
    const read = await onHost(hostOf(artifact), `/v1/data/${artifact.id}/json/shown`, { headers });
    expect([read.headers['access-control-allow-origin'], read.headers['access-control-allow-credentials']]).toEqual(['*', undefined]);
  });

  test('ends with a day, with another password, with another visibility, and with the artifact', async () => {
    const artifact = await locked();
    const first = await unlock(artifact);
    expect(await statusWith(artifact, first)).toBe(200);
    await change(artifact, { password: 'another sesame', visibility: 'password' });
    expect(await statusWith(artifact, first)).toBe(404);
    const second = await unlock(artifact, 'another sesame');
    expect(await statusWith(artifact, second)).toBe(200);
    easel.clock.advance(DAY_MS);
    expect(await statusWith(artifact, second)).toBe(404);
    const third = await unlock(artifact, 'another sesame');
    await change(artifact, { visibility: 'private' });
    expect(await statusWith(artifact, third)).toBe(404);
    const trashed = await locked();
    const last = await unlock(trashed);
    expect((await easel.fetch(`/v1/artifacts/${trashed.id}`, { method: 'DELETE', token: owner.token })).status).toBe(200);
    expect(await statusWith(trashed, last)).toBe(404);
  });

  test('ends the streams that it has opened', async () => {
    const artifact = await locked();
    const byPassword = await follow(artifact, await unlock(artifact));
    await change(artifact, { password: 'another sesame', visibility: 'password' });
    await byPassword.ended;
    const byLink = await follow(artifact, (await preview(artifact, 60)).cookie);
    easel.clock.advance(60_000);
    await byLink.ended;
  });
});

test('a preview link opens the data of its own page until it expires or is deleted', async () => {
  const [artifact, other] = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const made = await publishArtifact(easel, owner);
      await callData(easel, made, 'PUT', '/json/shown', { token: owner.token, body: 1 });
      return made;
    }),
  );
  if (artifact === undefined || other === undefined) throw new Error('not published');
  const [short, long] = [await preview(artifact, 60), await preview(artifact, 3600)];
  expect([await statusWith(artifact, short.cookie), await statusWith(artifact, long.cookie)]).toEqual([200, 200]);
  expect(await statusWith(other, long.cookie)).toBe(404);
  expect(await statusWith(artifact, long.cookie, `127.0.0.1:${easel.port}`)).toBe(404);
  easel.clock.advance(60_000);
  expect([await statusWith(artifact, short.cookie), await statusWith(artifact, long.cookie)]).toEqual([404, 200]);
  await easel.fetch(`/v1/artifacts/${artifact.id}/preview-links/${long.id}`, { method: 'DELETE', token: owner.token });
  expect(await statusWith(artifact, long.cookie)).toBe(404);
});

describe('the token of a guest', () => {
  async function guest(artifact: DataArtifact, expiresAtMs: number): Promise<string> {
    const token = `sog_${createHash('sha256').update(`${artifact.id} ${expiresAtMs}`).digest('hex')}`;
    await easel.sql`
      insert into comment_guest (id, artifact_id, email, name, token_id, token_sha256, created_at_ms, expires_at_ms)
      values (${newId('guest')}, ${artifact.id}, 'gail@example.com', 'Gail', ${newId('token')},
        ${createHash('sha256').update(token).digest()}, 0, ${expiresAtMs})`;
    return token;
  }

  test('is as good as none on data, with a pass as the pass is, and no account', async () => {
    const shown = await publishArtifact(easel, owner, { visibility: 'public' });
    const closed = await locked();
    const token = await guest(closed, easel.clock.nowMs() + DAY_MS);
    expect((await callData(easel, shown, 'GET', '/json', { token })).status).toBe(200);
    expect((await callData(easel, shown, 'PUT', '/json/k', { token, body: 1 })).status).toBe(401);
    expect((await callData(easel, closed, 'GET', '/json', { token })).status).toBe(404);
    const headers = { cookie: await unlock(closed), authorization: `Bearer ${token}` };
    expect((await onHost(hostOf(closed), `/v1/data/${closed.id}/json`, { headers })).status).toBe(200);
    expect((await easel.fetch('/v1/me', { token })).status).toBe(403);
  });

  test('expires, and one that was never issued identifies nobody', async () => {
    const shown = await publishArtifact(easel, owner, { visibility: 'public' });
    const token = await guest(shown, easel.clock.nowMs() + 60_000);
    const answered = async (bearer: string) => {
      const { status, body } = await callData(easel, shown, 'GET', '/json', { token: bearer });
      return [status, body.reason];
    };
    expect(await answered(token)).toEqual([200, undefined]);
    easel.clock.advance(60_000);
    expect(await answered(token)).toEqual([401, 'expired']);
    expect(await answered(`sog_${'0'.repeat(64)}`)).toEqual([401, 'invalid']);
    // The digest of one kind of token is not looked up among those of the other.
    expect(await answered(token.replace('sog_', 'so_'))).toEqual([401, 'invalid']);
  });
});
