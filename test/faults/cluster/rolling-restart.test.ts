/** Three nodes are stopped and started one after the other, while programs call them through a proxy: no call fails, nothing is lost or doubled. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as lapse } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../../src/clients/sdk/client.ts';
import { Random } from '../../support/random.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { describeWith } from '../../support/services.ts';
import { publishTargets } from '../../support/writers.ts';
import type { Target } from './clients.ts';
import { Cluster } from './cluster.ts';
import { Follower } from './followers.ts';

const ARTIFACTS = 6;
const CLIENTS_EACH = 2;
/** An artifact takes 1000 calls a minute. */
const PAUSE_MS = 300;
/** Of each client, between two steps of the restart. */
const CALLS_BETWEEN = 5;

const suite = hasRedisServer() ? describeWith('postgresUrl') : describe.skip;

/** Connects each client to one of the nodes in turn, and to the next one where a node refuses. */
async function balancer(cluster: Cluster): Promise<string> {
  let turn = 0;
  const server = createServer((near) => {
    near.on('error', () => undefined);
    const reach = (attempts: number): void => {
      turn += 1;
      const node = cluster.nodes[turn % cluster.nodes.length];
      const far: Socket = connect(Number(new URL(node?.baseUrl ?? '').port), '127.0.0.1');
      let isConnected = false;
      far.once('connect', () => {
        isConnected = true;
        near.pipe(far);
        far.pipe(near);
      });
      far.on('error', () => undefined);
      far.on('close', () => (isConnected || attempts === 1 ? near.destroy() : reach(attempts - 1)));
      near.on('close', () => far.destroy());
    };
    reach(cluster.nodes.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Adds to a counter and reads it, again and again. */
class Program {
  readonly failures: unknown[] = [];
  added = 0;
  /** The largest value read so far: a later read never shows less. */
  #seen = 0;
  readonly #target: Target;
  readonly #client: ReturnType<typeof createClient>;

  constructor(baseUrl: string, target: Target) {
    this.#target = target;
    this.#client = createClient({ baseUrl, token: target.token });
  }

  get artifactId(): string {
    return this.#target.artifactId;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#step().catch((error) => this.failures.push(error));
      await lapse(PAUSE_MS);
    }
  }

  async #step(): Promise<void> {
    const params = { artifactId: this.#target.artifactId, key: 'counter' };
    await this.#client.json.patch({ params, body: { op: 'increment', path: '$', by: 1 } });
    this.added += 1;
    const { body } = await this.#client.json.get({ params });
    const value = (body as { data: { value: number } }).data.value;
    if (value < this.#seen) this.failures.push(new Error(`${value} was read after ${this.#seen}`));
    this.#seen = value;
  }
}

suite('a rolling restart', () => {
  test('fails no call of the SDK, and every addition counts once', { timeout: 600_000 }, async () => {
    const cluster = await Cluster.start(3);
    onTestFinished(() => cluster.close());
    const baseUrl = await balancer(cluster);
    const targets = await publishTargets({ baseUrl }, ARTIFACTS);
    const programs = targets.flatMap((target) => Array.from({ length: CLIENTS_EACH }, () => new Program(baseUrl, target)));
    const followers = targets.map((target) => new Follower(cluster.nodes, target, new Random(1)));
    const stopping = new AbortController();
    const running = programs.map((program) => program.run(stopping.signal));
    const someCalls = () => {
      const before = programs.map(({ added }) => added);
      return expect.poll(() => programs.every(({ added }, at) => added - (before[at] ?? 0) >= CALLS_BETWEEN)).toBe(true);
    };
    await someCalls();
    for (const node of cluster.nodes) {
      expect(await node.end('SIGTERM'), node.said).toBe(0);
      await someCalls();
      await node.start();
      await someCalls();
    }
    stopping.abort();
    await Promise.all(running);
    expect(programs.flatMap(({ failures }) => failures)).toEqual([]);
    for (const target of targets) {
      const own = programs.filter(({ artifactId }) => artifactId === target.artifactId);
      const { body } = await createClient({ baseUrl, token: target.token }).json.get({
        params: { artifactId: target.artifactId, key: 'counter' },
      });
      const added = own.reduce((sum, program) => sum + program.added, 0);
      expect((body as { data: { value: number } }).data.value).toBe(added);
      const follower = followers.find((one) => one.target === target);
      await expect.poll(() => follower?.values.get('counter')).toBe(added);
    }
    for (const follower of followers) {
      expect(follower.faults).toEqual([]);
      await follower.stop();
    }
  });
});
