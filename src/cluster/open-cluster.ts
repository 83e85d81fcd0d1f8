/** What a node of a cluster has beside a node alone. Loaded only where REDIS_URL is set. */
import { randomBytes } from 'node:crypto';
import type { Log } from '../../actors/runtime/ports.ts';
import type { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { systemClock } from '../platform/clock.ts';
import type { Settings } from '../platform/config.ts';
import type { Metrics } from '../platform/metrics.ts';
import { ClusterBus } from './bus/cluster-bus.ts';
import { redisWire } from './bus/wire.ts';
import { openPeers, type PeerNetwork } from './peers/peer-network.ts';
import { ClusterPlacement } from './placement/cluster-placement.ts';
import { redisRegistry } from './placement/redis-registry.ts';
import { PlacementUpkeep } from './placement/upkeep.ts';
import { openRedis, type RedisConnection } from './redis.ts';

const CLAIM_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];
/** Distinguishes all incarnations that an installation will have; every claim in Redis carries it. */
const INCARNATION_BYTES = 8;

export type ClusterSettings = Settings & Required<Pick<Settings, 'REDIS_URL' | 'CLUSTER_SECRET' | 'PEER_ADDRESS'>>;

export interface Cluster {
  readonly placement: ClusterPlacement;
  readonly peers: PeerNetwork;
  readonly bus: ClusterBus;
  /** For the parts that share Redis. */
  readonly redis: RedisConnection;
  /** Rejects when Redis does not answer. */
  probe(): Promise<unknown>;
  /** Joins, and keeps the artifacts where they belong. */
  start(runtime: ActorRuntime): Promise<void>;
  /** Gives up all claims and leaves. Never rejects. */
  stop(): Promise<void>;
}

/** Throws `SettingUnusable` where Redis cannot be used. Time is real, whatever the service runs on: it is compared with that of Redis. */
export async function openCluster(settings: ClusterSettings, metrics: Metrics, log: Log): Promise<Cluster> {
  const redis = await openRedis(settings, 'commands', log);
  const registry = redisRegistry(redis);
  const placement = new ClusterPlacement({
    registry,
    address: settings.PEER_ADDRESS,
    clock: systemClock,
    log,
    meter: { claimed: metrics.histogram('easel_claim_seconds', 'Time to claim an artifact for this node.', CLAIM_BUCKETS_S) },
    newIncarnation: () => randomBytes(INCARNATION_BYTES).toString('base64url'),
  });
  const subscriptions = await openRedis(settings, 'subscriptions', log).catch((error) => {
    redis.close();
    throw error;
  });
  const bus = new ClusterBus({ address: settings.PEER_ADDRESS, wire: redisWire(redis, subscriptions), clock: systemClock, log, placement });
  watch(metrics, placement);
  metrics.watch('easel_bus_in_doubt', '1 while facts of other nodes may be missing.', () => (bus.isInDoubt ? 1 : 0));
  await warnOfEviction(redis, log);
  const peers = await openPeers(settings, placement, metrics, log);
  let upkeep: PlacementUpkeep | undefined;
  return {
    placement,
    peers,
    bus,
    redis,
    probe: () => redis.client.ping(),
    async start(runtime) {
      upkeep = new PlacementUpkeep({ placement, registry, actors: runtime, clock: systemClock, log });
      // Heard before it is a member, so that nobody waits for its first heartbeat.
      bus.start();
      await placement.start();
    },
    async stop() {
      upkeep?.stop();
      await placement.stop();
      peers.close();
      await bus.stop();
      subscriptions.close();
      redis.close();
    },
  };
}

function watch(metrics: Metrics, placement: ClusterPlacement): void {
  // Before the first renewal there is no age to tell.
  const ageS = () => Math.min(placement.stats().leaseAgeMs / 1000, Number.MAX_SAFE_INTEGER);
  metrics.watch('easel_lease_age_seconds', 'Since the lease of this node was last renewed. It ends after 3.', ageS);
  metrics.watch('easel_lease_held', '1 while this node has its lease.', () => (placement.holds() ? 1 : 0));
  metrics.watch('easel_claims_held', 'Artifacts that this node owns.', () => placement.stats().claims);
  metrics.watch('easel_nodes_seen', 'Live nodes of the cluster, as this node sees them.', () => placement.stats().nodes);
}

/** A Redis that evicts keys forgets leases and claims without a trace. Where the setting may not be read, nothing is said. */
async function warnOfEviction(redis: RedisConnection, log: Log): Promise<void> {
  const policy = await redis.client.config('GET', 'maxmemory-policy').then(
    (answer) => (answer as string[])[1],
    () => undefined,
  );
  if (policy !== undefined && policy !== 'noeviction')
    log.warn({ policy }, 'Redis may evict keys of the cluster: set its maxmemory-policy to noeviction');
}
