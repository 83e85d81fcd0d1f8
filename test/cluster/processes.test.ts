/** Nodes as processes, with a real Redis and a real Postgres. */
import { once } from 'node:events';
import postgres from 'postgres';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import { type ClusterNode, type TestCluster, testCluster } from '../support/cluster.ts';
import type { Program } from '../support/program.ts';
import { services } from '../support/services.ts';
import { publishTargets, type Target } from '../support/writers.ts';

const describeCluster = services().postgresUrl === null || services().redisUrl === null ? describe.skip : describe;

function key({ baseUrl }: Program, { artifactId, token }: Target, value?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const write = value === undefined ? {} : { method: 'PUT', body: JSON.stringify(value) };
  return fetch(`${baseUrl}/v1/data/${artifactId}/json/key`, { headers, ...write });
}

/** Writes until it is accepted; a write that was answered with 503 is repeated, whatever became of it. */
async function written(node: Program, target: Target, value: unknown): Promise<void> {
  await expect.poll(async () => Math.floor((await key(node, target, value)).status / 100), { interval: 100 }).toBe(2);
}

/** The value, or 503 where the node does not own the artifact and does not reach its owner. */
async function valueAt(node: Program, target: Target): Promise<unknown> {
  const response = await key(node, target);
  if (response.status === 503) return 503;
  return ((await response.json()) as { data: { value: unknown } }).data.value;
}

/** A new artifact with a value, the node that owns it, and another. */
async function owned(cluster: TestCluster, nodes: readonly ClusterNode[], value: unknown) {
  const [target] = await publishTargets(nodes[0] as ClusterNode, 1);
  if (target === undefined) throw new Error('nothing was published');
  let owner: ClusterNode | undefined;
  await expect
    .poll(async () => {
      await Promise.all(nodes.map((node) => key(node, target, value)));
      owner = await cluster.ownerOf(target.artifactId);
      return owner !== undefined;
    })
    .toBe(true);
  if (owner === undefined) throw new Error('nobody owns it');
  await written(owner, target, value);
  const heir = nodes.find((node) => node !== owner) as ClusterNode;
  return { target, owner, heir };
}

/** A member of a document over y-websocket that keeps what it was sent. */
async function member({ baseUrl }: Program, { artifactId, token }: Target) {
  const socket = new WebSocket(`${baseUrl.replace('http', 'ws')}/v1/data/${artifactId}/realtime/notes?token=${token}`);
  const frames: Buffer[] = [];
  socket.on('message', (frame: Buffer) => frames.push(frame));
  const closed = once(socket, 'close').then(([code]) => code as number);
  await once(socket, 'open');
  onTestFinished(() => socket.terminate());
  return { socket, frames, closed };
}

describeCluster('[C1] a node that was stopped with SIGSTOP past its lease', () => {
  it('answers and broadcasts nothing of what it knew, and closes its sockets with 4503', async () => {
    const cluster = await testCluster();
    const nodes = [await cluster.start(), await cluster.start()];
    const { target, owner: zombie, heir } = await owned(cluster, nodes, 'old');
    const [speaker, listener] = [await member(zombie, target), await member(zombie, target)];
    // Each is asked for its state when it has joined.
    await expect.poll(() => Math.min(speaker.frames.length, listener.frames.length)).toBeGreaterThan(0);
    zombie.process.kill('SIGSTOP');
    await written(heir, target, 'new');
    const before = listener.frames.length;
    // An empty update and a SyncStep1 with an empty state: it would be answered from memory.
    speaker.socket.send(Buffer.from([0, 2, 2, 0, 0]));
    speaker.socket.send(Buffer.from([0, 0, 1, 0]));
    const late = [valueAt(zombie, target), key(zombie, target, 'of the zombie')] as const;
    zombie.process.kill('SIGCONT');
    expect(['new', 'of the zombie', 503]).toContain(await late[0]);
    const write = await late[1];
    const { code } = (await write.json()) as { code?: string };
    expect([200, 503]).toContain(write.status);
    if (write.status === 503) expect(['OWNER_MOVED', 'UNAVAILABLE']).toContain(code);
    expect(await Promise.all([speaker.closed, listener.closed])).toEqual([CLOSE.moved, CLOSE.moved]);
    expect(listener.frames.length).toBe(before);
    const now = write.status === 200 ? 'of the zombie' : 'new';
    await expect.poll(() => valueAt(heir, target)).toBe(now);
    // It is a node again, and knows where the artifact is.
    await expect.poll(() => valueAt(zombie, target)).toBe(now);
  });
});

describeCluster('[C2] a Redis that forgets everything', () => {
  it('while nodes serve: no acknowledged write is lost, no epoch goes back, one owner at a time', async () => {
    const cluster = await testCluster();
    const nodes = [await cluster.start(), await cluster.start()];
    const { target, owner } = await owned(cluster, nodes, 0);
    const sql = postgres(cluster.databaseUrl, { max: 1 });
    onTestFinished(() => sql.end());
    const epochOf = async () => {
      const [row] = await sql<{ epoch: string }[]>`select owner_epoch as epoch from artifact where id = ${target.artifactId}`;
      return Number(row?.epoch);
    };
    const { client, prefix } = cluster.redis;
    let epoch = await epochOf();
    for (let round = 1; round <= 3; round += 1) {
      for (const name of await client.keys(`${prefix}*`)) await client.del(name.slice(prefix.length));
      const other = nodes.find((node) => node !== owner) as ClusterNode;
      await written(owner, target, round);
      // Nobody else gets it while its owner may still hold it.
      expect([503, round]).toContain(await valueAt(other, target));
      await expect.poll(async () => (await cluster.ownerOf(target.artifactId))?.peerAddress).toBeDefined();
      const now = await epochOf();
      expect(now).toBeGreaterThanOrEqual(epoch);
      epoch = now;
    }
    for (const node of nodes) await expect.poll(() => valueAt(node, target)).toBe(3);
  });
});

describeCluster('[C8] after the end of a node', () => {
  it('by SIGKILL its artifacts have another owner, and nothing acknowledged is lost', async () => {
    const cluster = await testCluster();
    const nodes = [await cluster.start(), await cluster.start()];
    const { target, owner, heir } = await owned(cluster, nodes, 'kept');
    await owner.end('SIGKILL');
    await expect.poll(() => valueAt(heir, target), { interval: 100 }).toBe('kept');
    await expect.poll(() => cluster.ownerOf(target.artifactId)).toBe(heir);
  });

  it('by a drain they are free before its process ends, its sockets close with 4503, and it ends well', async () => {
    const cluster = await testCluster();
    const nodes = [await cluster.start(), await cluster.start()];
    const { target, owner, heir } = await owned(cluster, nodes, 'kept');
    const { closed } = await member(owner, target);
    expect(await owner.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await closed).toBe(CLOSE.moved);
    // Not its lease has ended, but its claim.
    expect(await cluster.redis.client.hget('claims', target.artifactId)).toBeNull();
    await expect.poll(() => valueAt(heir, target)).toBe('kept');
  });
});

describeCluster('a node', () => {
  it('tells in /readyz and /metrics what it knows of the cluster', async () => {
    const cluster = await testCluster();
    const nodes = [await cluster.start(), await cluster.start()];
    const { owner } = await owned(cluster, nodes, 1);
    const ready = (await (await fetch(`${owner.baseUrl}/readyz`)).json()) as { dependencies: object };
    expect(ready.dependencies).toMatchObject({ redis: { state: 'up' } });
    const metric = async (name: string) => {
      const text = await (await fetch(`${owner.baseUrl}/metrics`)).text();
      return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
    };
    await expect.poll(() => metric('easel_nodes_seen')).toBe(2);
    expect(await metric('easel_redis_up')).toBe(1);
    expect(await metric('easel_claims_held')).toBeGreaterThanOrEqual(1);
    expect(await metric('easel_claim_seconds_count')).toBeGreaterThanOrEqual(1);
    expect(await metric('easel_lease_age_seconds')).toBeGreaterThanOrEqual(0);
  });
});
