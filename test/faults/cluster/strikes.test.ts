/**
 * Three nodes, clients that call any of them, and one thing after the other that goes wrong. `CLUSTER_STRIKES` says how many (the long mode:
 * 200), `CLUSTER_SEED` repeats a run. What the clients were answered must be what one machine that never fails could have answered.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../../support/random.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { describeWith } from '../../support/services.ts';
import { publishTargets } from '../../support/writers.ts';
import { Clients, callKey, KEYS, type Target } from './clients.ts';
import { Cluster } from './cluster.ts';
import { Follower } from './followers.ts';
import { History } from './history.ts';
import { STRIKES, type Strike } from './strikes.ts';

const SEED = Number(process.env.CLUSTER_SEED ?? 1);
const COUNT = Number(process.env.CLUSTER_STRIKES ?? STRIKES.length);
const ARTIFACTS = 6;
const CLIENTS_EACH = 3;
/** What a strike may take on a slow machine, with the recovery. */
const STRIKE_MS_MAX = 120_000;

// It starts and kills a Redis of its own, so it is skipped without the program.
const suite = hasRedisServer() ? describeWith('postgresUrl') : describe.skip;

suite('a cluster under faults', () => {
  let cluster: Cluster;
  let targets: readonly Target[];
  const history = new History();
  // Each has a generator of its own: which strike comes when does not depend on how quick the clients are.
  const random = new Random(SEED);
  const clientsRandom = new Random(SEED + 1);

  beforeAll(async () => {
    cluster = await Cluster.start(3);
    targets = await publishTargets({ baseUrl: cluster.nodes[0]?.baseUrl ?? '' }, ARTIFACTS);
  });

  afterAll(() => cluster.close());

  /** C8: every artifact is written through every node. */
  async function everyArtifactAnswers(): Promise<void> {
    for (const { baseUrl } of cluster.nodes)
      for (const target of targets)
        await expect.poll(() => callKey(baseUrl, target, 'probe', { kind: 'add', by: 1 })).toMatchObject({ value: expect.any(Number) });
  }

  test(
    `${COUNT} strikes of seed ${SEED}: nothing acknowledged is lost, reads are linearizable, every artifact comes back`,
    async () => {
      const clients = new Clients(cluster.nodes, history, clientsRandom);
      clients.start(targets, CLIENTS_EACH);
      const followers = targets.map((target) => new Follower(cluster.nodes, target, clientsRandom));
      for (const strike of inRounds(COUNT, random)) {
        const answered = history.answered;
        await strike.run(cluster, random);
        await cluster.heal();
        await everyArtifactAnswers();
        console.log(`${strike.name}: ${history.answered - answered} answered, ${history.unanswered} without an answer so far`);
      }
      await clients.stop();
      expect(history.faults()).toEqual([]);
      // Channels have missed nothing: what the events told last is what is stored.
      for (const follower of followers) {
        for (const key of KEYS) {
          const isAsStored = async () => {
            const stored = await callKey(cluster.nodes[0]?.baseUrl ?? '', follower.target, key, { kind: 'read' });
            return typeof stored === 'object' && stored.value === (follower.values.get(key) ?? null);
          };
          await expect.poll(isAsStored, { message: `${follower.target.artifactId}/${key}` }).toBe(true);
        }
        expect(follower.faults).toEqual([]);
        await follower.stop();
      }
      // The history says something: most calls were answered.
      expect(history.answered).toBeGreaterThan(history.unanswered);
    },
    COUNT * STRIKE_MS_MAX,
  );
});

/** Every kind once a round, each round in an order of its own. */
function inRounds(count: number, random: Random): readonly Strike[] {
  const order: Strike[] = [];
  while (order.length < count) {
    const left = [...STRIKES];
    while (left.length > 0) order.push(...left.splice(random.integer(left.length), 1));
  }
  return order.slice(0, count);
}
