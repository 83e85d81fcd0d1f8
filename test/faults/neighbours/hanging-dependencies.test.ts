/** Found 16: a dependency that hangs is found by a deadline, told by /readyz with its reason, and answered with 503 within 5 s. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTestEasel, type TestEasel, type TestStorage, type TestUser, testStorage } from '../../support/easel.ts';
import { json, patch, post, published } from '../../support/requests.ts';
import { startS3, type TestS3 } from '../../support/s3.ts';
import { describeWith } from '../../support/services.ts';
import { HangingProxy } from './hanging-proxy.ts';

/** The promise, and what a busy machine may add to it. */
const ANSWERED_WITHIN_MS = 5000;
const MARGIN_MS = 10_000;

let easel: TestEasel;
let proxy: HangingProxy;
let owner: TestUser;
let artifactId: string;

async function readiness(): Promise<{ status: number; text: string }> {
  const reply = await easel.fetch('/readyz');
  return { status: reply.status, text: await reply.text() };
}

/** The answer, which must come in time. */
async function answered(call: () => Promise<Response>): Promise<{ status: number; code: string }> {
  const startedMs = performance.now();
  const reply = await call();
  const body = await json(reply);
  expect(performance.now() - startedMs).toBeLessThan(ANSWERED_WITHIN_MS + MARGIN_MS);
  return { status: reply.status, code: body.code };
}

async function becomes(status: number): Promise<string> {
  await expect.poll(async () => (await readiness()).status, { timeout: ANSWERED_WITHIN_MS + MARGIN_MS }).toBe(status);
  return (await readiness()).text;
}

const path = (rest: string) => `/v1/data/${artifactId}${rest}`;
const put = (key: string, value: unknown) => easel.fetch(path(`/json/${key}`), { token: owner.token, ...post(value), method: 'PUT' });

async function publishOne(): Promise<void> {
  owner = await easel.newUser('team');
  artifactId = (await published(easel, owner)).id;
}

describeWith('postgresUrl')('a database that hangs', () => {
  let storage: TestStorage;
  beforeEach(async () => {
    storage = await testStorage('postgres');
    const url = new URL(storage.settings.DATABASE_URL ?? '');
    proxy = await HangingProxy.before(url.hostname, Number(url.port || 5432));
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    easel = await startTestEasel({ storage, settings: { DATABASE_URL: url.href, DRAIN_DEADLINE_S: '5' } });
    await publishOne();
    expect((await put('before', 1)).status).toBe(201);
  });
  afterEach(async () => {
    proxy.goOn();
    await easel.close().catch(() => undefined);
    await proxy.close();
    await storage.remove();
  });

  test('is told with its reason; calls that wait for it get 503, others are served; afterwards all goes on', async () => {
    expect(JSON.parse((await readiness()).text)).toMatchObject({
      status: 'ready',
      degraded: [],
      dependencies: { database: { state: 'up' } },
    });
    proxy.hang();
    const waiting = await Promise.all([
      answered(() => put('during', 2)),
      answered(() => easel.fetch('/v1/artifacts', { token: owner.token })),
      answered(() => easel.fetch('/v1/artifacts', { token: `so_${'0'.repeat(64)}` })),
    ]);
    expect(waiting).toEqual(Array(3).fill({ status: 503, code: 'UNAVAILABLE' }));
    expect(await becomes(503)).toMatch(/The database does not answer since \d{4}-.*: no answer within 3 s/);
    // A call that comes while it is known to be down does not wait for a deadline of its own, and what needs no database is served.
    expect(await answered(() => easel.fetch('/v1/artifacts', { token: owner.token }))).toEqual({ status: 503, code: 'UNAVAILABLE' });
    expect((await easel.fetch('/healthz')).status).toBe(200);
    proxy.goOn();
    await becomes(200);
    const writes = async () => {
      // The pause after a failed commit is on the clock of the service.
      easel.clock.advance(1000);
      return (await put('after', 3)).ok;
    };
    await expect.poll(writes, { timeout: ANSWERED_WITHIN_MS + MARGIN_MS }).toBe(true);
    expect((await json(await easel.fetch(path('/json/before'), { token: owner.token }))).data.value).toBe(1);
  });

  test('does not keep the process from stopping', async () => {
    proxy.hang();
    const waiting = put('during', 2).then(
      (reply) => reply.status,
      () => 0,
    );
    const startedMs = performance.now();
    // Whether all could be finished in time is told by the result; both end.
    await easel.close().catch(() => undefined);
    expect(performance.now() - startedMs).toBeLessThan(ANSWERED_WITHIN_MS + MARGIN_MS);
    expect([0, 503]).toContain(await waiting);
  });
});

describe('an object store that hangs', () => {
  let s3: TestS3;
  let blobId: string;
  const file = () => {
    const form = new FormData();
    form.set('file', new Blob(['the bytes'], { type: 'text/plain' }), 'a.txt');
    return { method: 'POST', body: form, token: owner.token };
  };
  beforeEach(async () => {
    s3 = await startS3();
    const url = new URL(s3.settings.S3_ENDPOINT);
    proxy = await HangingProxy.before(url.hostname, Number(url.port));
    // Without copies on the disk, which would be served meanwhile.
    easel = await startTestEasel({ settings: { ...s3.settings, S3_ENDPOINT: `http://127.0.0.1:${proxy.port}`, OBJECT_CACHE_MB: '0' } });
    await publishOne();
    blobId = (await json(await easel.fetch(path('/blobs'), file()))).data.id;
  });
  afterEach(async () => {
    proxy.goOn();
    await easel.close();
    await proxy.close();
    await s3.close();
  });

  const content = () => easel.fetch(path(`/blobs/${blobId}/content`), { token: owner.token });

  test('is told with its reason; reads and writes of files get 503, others are served; afterwards all goes on', async () => {
    expect(await (await content()).text()).toBe('the bytes');
    proxy.hang();
    expect(await Promise.all([answered(content), answered(() => easel.fetch(path('/blobs'), file()))])).toEqual([
      { status: 503, code: 'UNAVAILABLE' },
      { status: 503, code: 'UNAVAILABLE' },
    ]);
    expect(await becomes(503)).toMatch(/The object store does not answer since \d{4}-/);
    expect((await put('key', 1)).ok).toBe(true);
    proxy.goOn();
    await becomes(200);
    expect(await (await content()).text()).toBe('the bytes');
  });
});

describe('a mail server that hangs', () => {
  let server: Server;
  const silent = new Set<Socket>();
  beforeEach(async () => {
    // It accepts connections and says nothing.
    server = createServer((socket) => void silent.add(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    easel = await startTestEasel({ settings: { SMTP_URL: `smtp://127.0.0.1:${port}` } });
    await publishOne();
  });
  afterEach(async () => {
    for (const socket of silent) socket.destroy();
    server.close();
    await easel.close();
  });

  test('is told as degraded, and the service stays ready: mail waits', async () => {
    expect((await easel.fetch(`/v1/artifacts/${artifactId}`, { token: owner.token, ...patch({ visibility: 'public' }) })).status).toBe(200);
    const comments = path('/comments');
    await easel.fetch(`${comments}/_config`, { token: owner.token, ...post({ guestComments: true }), method: 'PUT' });
    const started = await easel.fetch(`${comments}/_guest/start`, post({ email: 'gail@example.com', name: 'Gail' }));
    expect(started.status).toBe(202);
    const degraded = async () => JSON.parse((await readiness()).text).degraded;
    await expect.poll(degraded, { timeout: 2 * (ANSWERED_WITHIN_MS + MARGIN_MS) }).toEqual(['mail']);
    const { status, text } = await readiness();
    expect(status).toBe(200);
    expect(JSON.parse(text).dependencies.mail).toMatchObject({ state: 'down', reason: expect.any(String) });
  });
});
