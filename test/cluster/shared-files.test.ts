/** Files on several nodes with one S3 store: whatever one node took, every other serves. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testCluster } from '../support/cluster.ts';
import { temporaryDir } from '../support/database.ts';
import { wire } from '../support/page-requests.ts';
import { failToStart, type Program } from '../support/program.ts';
import { json, post } from '../support/requests.ts';
import { startS3 } from '../support/s3.ts';
import { services } from '../support/services.ts';

const describeCluster = services().postgresUrl === null || services().redisUrl === null ? describe.skip : describe;

async function stage() {
  const s3 = await startS3();
  // Registered before the cluster's end, so removed after it: a node that is alive writes there.
  const folder = temporaryDir();
  onTestFinished(() => folder.remove());
  const cluster = await testCluster();
  let nodes = 0;
  const start = () => {
    nodes += 1;
    // What a node keeps for itself is in a folder of its own.
    return cluster.start({ ...s3.settings, OBJECTS_DIR: '', DEFAULT_TIER: 'pro', DATA_DIR: join(folder.path, `${nodes}`) });
  };
  // Registered last, so run first: it would wait for connections of nodes that are still alive.
  onTestFinished(() => s3.close());
  return start;
}

describeCluster('files in a cluster', () => {
  it('is not begun where the nodes would not share them', async () => {
    const folder = temporaryDir();
    onTestFinished(() => folder.remove());
    const { code, stderr } = await failToStart({
      DATA_DIR: folder.path,
      DATABASE_URL: services().postgresUrl ?? '',
      REDIS_URL: services().redisUrl ?? '',
      CLUSTER_SECRET: 's'.repeat(32),
      PEER_ADDRESS: '127.0.0.1:1',
    });
    expect(code).toBe(2);
    expect(stderr).toContain('REDIS_URL: needs S3_ENDPOINT, because files in the folder of one node are missing on the others.');
  });

  it('pieces of an asset go to two nodes, and a third one makes the file', async () => {
    const start = await stage();
    const [a, b, c] = [await start(), await start(), await start()];
    const { token } = await json(await fetch(`${a.baseUrl}/v1/auth/create-account`, { method: 'POST' }));
    const call = (node: Program, path: string, init: RequestInit = {}) =>
      fetch(node.baseUrl + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
    const content = Buffer.from('shared by all\n'.repeat(12_000));
    const file = { filename: 'log.txt', mimeType: 'text/plain', sizeBytes: content.length };
    const { id } = await json(await call(a, '/v1/assets/uploads', post(file)));
    let offset = 0;
    for (const node of [a, b]) {
      const body = new Uint8Array(content.subarray(offset, offset + 70_000));
      const headers = { 'content-type': 'application/octet-stream' };
      offset = (await json(await call(node, `/v1/assets/uploads/${id}?offset=${offset}`, { method: 'PATCH', headers, body }))).offset;
    }
    expect(offset).toBe(140_000);
    const headers = { 'content-type': 'application/octet-stream' };
    const body = new Uint8Array(content.subarray(offset));
    const done = await json(await call(c, `/v1/assets/uploads/${id}?offset=${offset}`, { method: 'PATCH', headers, body }));
    const read = await call(a, new URL(done.file.contentUrl).pathname);
    expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true);
  });

  it('a publish by digests is begun on one node, sent to another and finished on a third', async () => {
    const start = await stage();
    const [a, b, c] = [await start(), await start(), await start()];
    const { token } = await json(await fetch(`${a.baseUrl}/v1/auth/create-account`, { method: 'POST' }));
    const call = (node: Program, path: string, init: RequestInit = {}) =>
      fetch(node.baseUrl + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
    const page = Buffer.from('<!doctype html><title>Shared</title><p>on every node');
    const sha256 = createHash('sha256').update(page).digest('hex');
    const site = { name: 'Shared', visibility: 'public', files_digest: [{ path: 'index.html', sha256 }] };
    const begun = await json(await call(a, '/v1/publish', post(site)));
    expect(begun.missing).toEqual([sha256]);
    const sent = await call(b, `/v1/publish/uploads/${begun.upload_id}/${sha256}`, { method: 'PUT', body: page });
    expect(sent.status).toBeLessThan(300);
    const published = await json(await call(c, '/v1/publish', post({ ...site, upload_id: begun.upload_id })));
    for (const node of [a, b, c]) {
      const port = Number(new URL(node.baseUrl).port);
      const { status, body } = await wire(port, `${published.deployment.slug}.localhost:${port}`, '/');
      expect([status, body.toString()]).toEqual([200, expect.stringContaining('<p>on every node')]);
    }
  });
});
