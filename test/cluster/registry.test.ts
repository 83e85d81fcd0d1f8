/** What every registry keeps, Redis and the model of the simulation alike. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ArtifactId, newId } from '../../protocol/core/ids.ts';
import { redisRegistry } from '../../src/cluster/placement/redis-registry.ts';
import { type Found, LEASE_MS, type Registry } from '../../src/cluster/placement/registry.ts';
import { openRedis, type RedisConnection } from '../../src/cluster/redis.ts';
import { SILENT } from '../sim/world.ts';
import { describeWith, services } from '../support/services.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { RegistryModel } from './registry-model.ts';

interface Stage {
  readonly registry: Registry;
  /** Until a lease that begins now is over, and a registry that is new now has settled. */
  leaseTime(): Promise<void>;
  flush(): Promise<void>;
  /** The same data behind another server. */
  failOver(): Promise<void>;
}

/** Never over by itself within a test, however slow the machine. */
const LONG_MS = 3_600_000;

async function redisStage(): Promise<Stage> {
  const settings = { REDIS_URL: services().redisUrl ?? '', CLUSTER_SECRET: randomBytes(32).toString('hex') };
  const connection = await openRedis(settings, 'commands', SILENT);
  const { client, prefix } = connection;
  const named = async (pattern: string) => (await client.keys(prefix + pattern)).map((key) => key.slice(prefix.length));
  let server = connection.serverId;
  const seen = {
    client: connection.client,
    get serverId() {
      return server;
    },
  } as RedisConnection;
  const flush = async () => {
    for (const key of await named('*')) await client.del(key);
  };
  onTestFinished(async () => {
    await flush();
    connection.close();
  });
  return {
    registry: redisRegistry(seen, { leaseMs: LONG_MS }),
    leaseTime: async () => {
      const leases = [...(await named('node:*')), ...(await named('settling'))];
      for (const key of leases) {
        const leftMs = await client.pttl(key);
        expect(leftMs).toBeGreaterThan(0);
        expect(leftMs).toBeLessThanOrEqual(LONG_MS);
        await client.pexpire(key, 0);
      }
    },
    flush,
    failOver: async () => {
      server = 'f'.repeat(40);
    },
  };
}

async function modelStage(): Promise<Stage> {
  const clock = new SteppedClock();
  const model = new RegistryModel(clock);
  return {
    registry: model,
    leaseTime: () => clock.advance(LEASE_MS),
    flush: async () => model.flush(),
    failOver: async () => model.failOver([]),
  };
}

const A = { incarnation: 'a', address: 'host-a:7000', isDraining: false };
const B = { incarnation: 'b', address: 'host-b:7000', isDraining: false };

function claim(registry: Registry, incarnation: string, artifactId: ArtifactId): Promise<Found | undefined> {
  return registry.find(incarnation, [{ artifactId, claim: 7 }]).then(([found]) => found);
}

const MINE = { kind: 'mine', claim: 7, handover: undefined };

function contract(newStage: () => Promise<Stage>): void {
  /** Both nodes are alive, and the registry is no longer new. */
  async function settled(): Promise<Stage & { readonly id: ArtifactId }> {
    const stage = await newStage();
    await stage.registry.beat(A, undefined);
    await stage.leaseTime();
    await stage.registry.beat(A, undefined);
    await stage.registry.beat(B, undefined);
    return { ...stage, id: newId('artifact') };
  }

  it('lists the live nodes, and tells a node whose lease was over', async () => {
    const { registry, leaseTime } = await settled();
    const first = await registry.beat({ ...A, isDraining: true }, undefined);
    expect(first.wasAlive).toBe(true);
    expect([...first.nodes].sort((x, y) => x.address.localeCompare(y.address))).toEqual([{ ...A, isDraining: true }, B]);
    await leaseTime();
    const late = await registry.beat(A, undefined);
    expect(late).toMatchObject({ wasAlive: false, generation: first.generation, nodes: [A] });
    await registry.leave('a');
    expect((await registry.beat(B, undefined)).nodes).toEqual([B]);
  });

  it('gives an artifact to one node at a time, and may be asked again', async () => {
    const { registry, id } = await settled();
    expect(await registry.find('a', [{ artifactId: id, claim: undefined }])).toMatchObject([{ kind: 'free' }]);
    expect(await claim(registry, 'a', id)).toEqual(MINE);
    expect(await claim(registry, 'a', id)).toEqual(MINE);
    expect(await claim(registry, 'b', id)).toEqual({ kind: 'held', node: A });
    expect(await claim(registry, 'nobody', newId('artifact'))).toEqual({ kind: 'lapsed' });
  });

  it('[C7] a late release, or one of a former owner, takes nothing from its successor', async () => {
    const { registry, leaseTime, id } = await settled();
    await claim(registry, 'a', id);
    await registry.release('b', [{ artifactId: id, claim: 7, handover: 'of a stranger' }]);
    expect(await claim(registry, 'b', id)).toEqual({ kind: 'held', node: A });
    await leaseTime();
    await registry.beat(B, undefined);
    expect(await claim(registry, 'b', id)).toEqual(MINE);
    await registry.beat(A, undefined);
    await registry.release('a', [{ artifactId: id, claim: 7, handover: 'too late' }]);
    expect(await claim(registry, 'a', id)).toEqual({ kind: 'held', node: B });
    expect(await registry.reclaim('a', [{ artifactId: id, claim: 7 }])).toEqual([id]);
  });

  it('[C7] a release that arrives late leaves a later claim of the same node alone', async () => {
    const { registry, id } = await settled();
    await claim(registry, 'a', id);
    await registry.release('a', [{ artifactId: id, claim: 7, handover: undefined }]);
    expect(await registry.find('a', [{ artifactId: id, claim: 8 }])).toMatchObject([{ kind: 'mine', claim: 8 }]);
    await registry.release('a', [{ artifactId: id, claim: 7, handover: undefined }]);
    expect(await claim(registry, 'b', id)).toEqual({ kind: 'held', node: A });
    expect(await claim(registry, 'a', id)).toMatchObject({ kind: 'mine', claim: 8 });
  });

  it('gives what was handed over to the next owner, with its age', async () => {
    const { registry, leaseTime, id } = await settled();
    await claim(registry, 'a', id);
    await registry.release('a', [{ artifactId: id, claim: 7, handover: 'luggage' }]);
    await leaseTime();
    await registry.beat(B, undefined);
    const found = await claim(registry, 'b', id);
    expect(found).toMatchObject({ kind: 'mine', handover: { text: 'luggage' } });
    expect(found?.kind === 'mine' && (found.handover?.ageMs ?? 0)).toBeGreaterThanOrEqual(0);
    await registry.release('b', [{ artifactId: id, claim: 7, handover: undefined }]);
    expect(await claim(registry, 'b', id)).toEqual(MINE);
  });

  it('tells with a free artifact whether the nodes are still those of the last heartbeat', async () => {
    const { registry, id } = await settled();
    const free = async () => {
      const [found] = await registry.find('a', [{ artifactId: id, claim: undefined }]);
      return found?.kind === 'free' ? found.members : undefined;
    };
    const { members } = await registry.beat(A, undefined);
    await registry.beat(B, undefined);
    expect(await free()).toBe(members);
    await registry.beat({ ...B, isDraining: true }, undefined);
    const { members: draining } = await registry.beat(A, undefined);
    expect(draining).not.toBe(members);
    expect(await free()).toBe(draining);
    await registry.leave('b');
    expect(await free()).not.toBe(draining);
  });

  it('an incarnation that replaces another ends its claims at once', async () => {
    const { registry, id } = await settled();
    await claim(registry, 'a', id);
    await registry.beat({ ...A, incarnation: 'a2' }, 'a');
    expect(await claim(registry, 'b', id)).toEqual(MINE);
  });

  it.each(['flush', 'failOver'] as const)(
    '[C2] after a %s nobody gets what another may still hold, until all had a lease time',
    async (loss) => {
      const stage = await settled();
      const { registry, leaseTime, id } = stage;
      const other = newId('artifact');
      await claim(registry, 'a', id);
      const { generation } = await registry.beat(A, undefined);
      await stage[loss]();
      const b = await registry.beat(B, undefined);
      expect(b.generation).not.toBe(generation);
      expect(await claim(registry, 'b', other)).toMatchObject({ kind: 'settling' });
      expect(await registry.sweep('0')).toBe('');
      await registry.beat(A, undefined);
      expect(await registry.reclaim('a', [{ artifactId: id, claim: 7 }])).toEqual([]);
      expect(await claim(registry, 'b', id)).toEqual({ kind: 'held', node: A });
      await leaseTime();
      await registry.beat(B, undefined);
      expect(await claim(registry, 'b', other)).toEqual(MINE);
    },
  );

  it('sweeps the claims of nodes that are gone, and no others', async () => {
    const { registry, id } = await settled();
    const others = Array.from({ length: 500 }, () => newId('artifact'));
    await claim(registry, 'b', id);
    for (let at = 0; at < others.length; at += 100)
      await registry.find(
        'a',
        others.slice(at, at + 100).map((artifactId) => ({ artifactId, claim: 1 })),
      );
    await registry.leave('a');
    let cursor = '0';
    do cursor = await registry.sweep(cursor);
    while (cursor !== '0');
    expect(await registry.reclaim('b', [{ artifactId: id, claim: 7 }])).toEqual([]);
    expect(await registry.find('b', [{ artifactId: id, claim: undefined }])).toEqual([MINE]);
    expect(
      await registry.find(
        'b',
        others.slice(0, 2).map((artifactId) => ({ artifactId, claim: undefined })),
      ),
    ).toMatchObject([{ kind: 'free' }, { kind: 'free' }]);
  });
}

describe('the registry in memory', () => contract(modelStage));
describeWith('redisUrl')('the registry in Redis', () => contract(redisStage));
