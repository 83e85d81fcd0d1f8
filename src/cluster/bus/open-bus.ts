/** A bus over Redis, with its own two connections. */
import type { Log, Placement } from '../../../actors/runtime/ports.ts';
import { systemClock } from '../../platform/clock.ts';
import type { RedisSettings } from '../redis.ts';
import { ClusterBus } from './cluster-bus.ts';
import { redisWire } from './wire.ts';

/** Throws `SettingUnusable`. Whoever opens it starts it once everybody who reacts is declared, and stops it. */
export async function openClusterBus(
  settings: RedisSettings & { readonly PEER_ADDRESS: string },
  placement: Pick<Placement, 'nodes' | 'self'>,
  log: Log,
): Promise<ClusterBus> {
  const wire = await redisWire(settings, log);
  return new ClusterBus({ address: settings.PEER_ADDRESS, wire, clock: systemClock, log, placement });
}
