/** A blob that its sender uploaded to the store itself is read on any node, also when its owner has ended. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { testCluster } from '../support/cluster.ts';
import { temporaryDir } from '../support/database.ts';
import type { Program } from '../support/program.ts';
import { json, post } from '../support/requests.ts';
import { startS3 } from '../support/s3.ts';
import { services } from '../support/services.ts';
import { publishTargets } from '../support/writers.ts';

const describeCluster = services().postgresUrl === null || services().redisUrl === null ? describe.skip : describe;
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(200_000, 7)]);

describeCluster('a blob that its sender uploaded to the store', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)('is read on both nodes, and on the other after %s of its owner', async (signal) => {
    const s3 = await startS3();
    const cluster = await testCluster();
    const start = () => {
      const folder = temporaryDir();
      onTestFinished(() => folder.remove());
      return cluster.start({ ...s3.settings, OBJECTS_DIR: '', DEFAULT_TIER: 'pro', DATA_DIR: folder.path });
    };
    // Registered last, so run first: it would wait for connections of nodes that are still alive.
    onTestFinished(() => s3.close());
    const nodes = [await start(), await start()];
    const [first] = nodes;
    if (first === undefined) throw new Error('two were started');
    const [target] = await publishTargets(first, 1);
    const blobs = `/v1/data/${target?.artifactId}/blobs`;
    const call = (node: Program, path: string, init: RequestInit = {}) =>
      fetch(node.baseUrl + path, { ...init, headers: { authorization: `Bearer ${target?.token}`, ...init.headers } });
    await expect.poll(async () => (await call(first, blobs)).status).toBe(200);
    const asked = (await json(await call(first, `${blobs}/upload`, post({ filename: 'a.png', mimeType: 'image/png', size: PNG.length }))))
      .data;
    expect((await fetch(asked.uploadUrl, { method: 'PUT', body: PNG })).status).toBe(200);
    const confirmed = await json(await call(first, new URL(asked.confirmUrl).pathname, { method: 'POST' }));
    const content = async (node: Program) => {
      const answer = await call(node, `${blobs}/${confirmed.data.id}/content`);
      return [answer.status, Buffer.from(await answer.arrayBuffer()).equals(PNG)];
    };
    for (const node of nodes) await expect.poll(() => content(node)).toEqual([200, true]);
    const owner = await cluster.ownerOf(target?.artifactId ?? '');
    const heir = nodes.find((node) => node !== owner);
    if (owner === undefined || heir === undefined) throw new Error('one of the two owns it');
    await owner.end(signal);
    await expect.poll(() => content(heir)).toEqual([200, true]);
  });
});
