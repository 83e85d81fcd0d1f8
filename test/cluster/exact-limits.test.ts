/** The limit of an artifact is one, whatever node its calls come to. */
import { describe, expect, it } from 'vitest';
import { testCluster } from '../support/cluster.ts';
import { services } from '../support/services.ts';
import { publishTargets } from '../support/writers.ts';

const describeCluster = services().postgresUrl === null || services().redisUrl === null ? describe.skip : describe;
const QUOTA = 1000;
const WINDOW_MS = 60_000;
const CALLS = 1300;
const AT_ONCE = 30;

describeCluster('calls spread over three nodes', () => {
  it('exactly 1000 a minute are accepted', async () => {
    const cluster = await testCluster();
    const nodes = [await cluster.start(), await cluster.start(), await cluster.start()];
    const [target] = await publishTargets({ baseUrl: nodes[0]?.baseUrl ?? '' }, 1);
    if (target === undefined) throw new Error('nothing was published');
    const counts = new Map<number, number>();
    const call = async (at: number) => {
      const headers = { authorization: `Bearer ${target.token}` };
      const response = await fetch(`${nodes[at % nodes.length]?.baseUrl}/v1/data/${target.artifactId}/json`, { headers });
      await response.arrayBuffer();
      counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
      return response.status;
    };
    const startedMs = performance.now();
    // A new installation gives nothing away for the length of a lease.
    for (let at = 0; at < nodes.length; at += 1) await expect.poll(() => call(at)).toBe(200);
    const claim = () => cluster.redis.client.hget('claims', target.artifactId);
    const claimed = await claim();
    let next = 0;
    const caller = async () => {
      while (next < CALLS) await call(next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    const windows = Math.ceil((performance.now() - startedMs) / WINDOW_MS);
    // A node that a busy machine keeps from renewing its lease ends like one that crashed: its successor begins to count anew.
    const owners = (await claim()) === claimed ? 1 : 2;
    expect(counts.get(200)).toBeLessThanOrEqual(windows * owners * QUOTA);
    // On a slow machine the calls take more than a minute, and a further one has its quota.
    if (windows > 1 || owners > 1) return;
    expect(counts.get(200)).toBe(QUOTA);
    expect(counts.get(429)).toBeGreaterThan(0);
  });
});
