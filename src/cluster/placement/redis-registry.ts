/** The registry in Redis. */
import type { ClusterNode } from '../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { RedisConnection } from '../redis.ts';
import { BATCH_MAX, type Found, HANDOVER_MS, LEASE_MS, type Registry } from './registry.ts';
import { BEAT, FIND, LEAVE, RECLAIM, RELEASE, SWEEP } from './scripts.ts';

type Answer = readonly [kind: string, first?: string | number, second?: string | number, third?: string | number];
type Script = (...keysAndArguments: (string | number)[]) => Promise<unknown>;

/** `leaseMs`: shorter in tests only. */
export function redisRegistry(connection: RedisConnection, { leaseMs = LEASE_MS } = {}): Registry {
  const { client } = connection;
  const script = (name: string, lua: string, numberOfKeys: number): Script => {
    client.defineCommand(name, { lua, numberOfKeys });
    const run = (client as unknown as Record<string, Script>)[name] as Script;
    return run.bind(client);
  };
  const beat = script('easelBeat', BEAT, 5);
  const find = script('easelFind', FIND, 6);
  const reclaim = script('easelReclaim', RECLAIM, 2);
  const release = script('easelRelease', RELEASE, 2);
  const leave = script('easelLeave', LEAVE, 3);
  const sweep = script('easelSweep', SWEEP, 3);
  // Only a connection whose server is known may be used: the scripts compare it with the server that has kept the claims so far.
  const server = () => {
    if (connection.serverId === undefined) throw new Error('no connection to Redis');
    return connection.serverId;
  };
  return {
    async beat(node, replaces) {
      const lease = [server(), leaseMs, node.incarnation, node.isDraining ? `${node.address} draining` : node.address, replaces ?? ''];
      const answer = await beat('generation', 'settling', 'nodes', 'node:', 'members', ...lease);
      const [was, generation, members, ...flat] = answer as [number, string, number, ...string[]];
      const nodes = pairs(flat).map(([name, value]) => nodeOf(name, value));
      return { wasAlive: was === 1, generation, members, nodes };
    },
    async find(incarnation, wanted) {
      const asked = wanted.flatMap(({ artifactId, claim }) => [claim ?? '', artifactId]);
      const keys = ['generation', 'settling', 'node:', 'claims', 'handover:', 'members'];
      const answers = await find(...keys, server(), leaseMs, incarnation, ...asked);
      return (answers as Answer[]).map(foundOf);
    },
    async reclaim(incarnation, claims) {
      const said = claims.flatMap(({ artifactId, claim }) => [claim, artifactId]);
      return (await reclaim('node:', 'claims', incarnation, ...said)) as ArtifactId[];
    },
    async release(incarnation, released) {
      const given = released.flatMap(({ artifactId, claim, handover = '' }) => [claim, artifactId, handover]);
      await release('claims', 'handover:', incarnation, HANDOVER_MS, ...given);
    },
    async leave(incarnation) {
      await leave('nodes', 'node:', 'members', incarnation);
    },
    async sweep(cursor) {
      return String(await sweep('settling', 'node:', 'claims', cursor, BATCH_MAX));
    },
  };
}

function foundOf([kind, first, second, third]: Answer): Found {
  switch (kind) {
    case 'mine':
      return {
        kind,
        claim: Number(first),
        handover: second === undefined ? undefined : { text: String(second), ageMs: HANDOVER_MS - Number(third) },
      };
    case 'held':
      return { kind, node: nodeOf(String(first), String(second)) };
    case 'settling':
      return { kind, leftMs: Number(first) };
    case 'free':
      return { kind, members: Number(first) };
    case 'lapsed':
      return { kind };
    default:
      throw new Error(`the registry answered ${kind}`);
  }
}

function nodeOf(incarnation: string, value: string): ClusterNode {
  const [address = '', state] = value.split(' ');
  return { incarnation, address, isDraining: state === 'draining' };
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, at) => [flat[at * 2] ?? '', flat[at * 2 + 1] ?? '']);
}
