/** What the services are built from. Handed in by the composition root; `config` is read at each call, because its addresses depend on the bound port. */
import type { Clock, Log } from '../../actors/runtime/ports.ts';
import type { Limiter } from '../edge/limits.ts';
import type { Bus } from '../platform/bus.ts';
import type { Config } from '../platform/config.ts';
import type { ObjectStore } from '../storage/objects.ts';
import type { SharedLimiter } from '../storage/shared-limiter.ts';
import type { Queries, Sql } from '../storage/sql.ts';

export type { Queries };

export interface ServiceDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly objects: ObjectStore;
  readonly bus: Bus;
  readonly config: Config;
  readonly log: Log;
}

/** For limits that a service spends itself. */
export interface LimiterDeps {
  readonly limiters: { readonly shared: SharedLimiter; readonly memory: Limiter };
}
