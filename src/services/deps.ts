/** What the services are built from. Handed in by the composition root; `config` is read at each call, because its addresses depend on the bound port. */
import type { Clock, Log } from '../../actors/ports.ts';
import type { Config } from '../config.ts';
import type { ObjectStore } from '../storage/objects.ts';
import type { Queries, Sql } from '../storage/sql.ts';
import type { ArtifactNotices } from './notices.ts';

export type { Queries };

export interface ServiceDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly objects: ObjectStore;
  readonly notices: ArtifactNotices;
  readonly config: Config;
  readonly log: Log;
}
