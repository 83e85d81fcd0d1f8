/** What a resource brings to the service. The `module.ts` of each resource makes one of these; `src/app/modules.ts` lists them all. */
import type { ActorRuntime } from '../../actors/runtime/runtime.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { EndpointId, SocketEndpointId } from '../../protocol/table.ts';
import type { Handlers } from '../edge/call.ts';
import type { SocketProtocol } from '../edge/socket.ts';
import type { Egress } from '../egress/egress.ts';
import type { Settings } from '../platform/config.ts';
import type { ConnectionCaps } from '../platform/descriptors.ts';
import type { Refusals } from '../platform/shares.ts';
import type { DocumentThread } from '../storage/document-thread.ts';
import type { Sealer } from '../storage/sealing/sealer.ts';
import type { Spool } from '../storage/spool.ts';
import type { Sql } from '../storage/sql.ts';
import type { LimiterDeps, ServiceDeps } from './deps.ts';

/** What every module may be built from. */
export interface ModuleDeps extends ServiceDeps, LimiterDeps {
  readonly settings: Settings;
  readonly caps: ConnectionCaps;
  readonly refusals: Refusals;
  readonly runtime: ActorRuntime;
  readonly spool: Spool;
  readonly thread: DocumentThread;
  /** The folder of the build. */
  readonly builtDir: string;
  /** The way to hosts that users name. */
  readonly egress: Egress;
  /** For secrets that the service must be able to read again. */
  readonly sealer: Sealer;
  /** Connections with a time limit, for reads of many rows. */
  readonly tableSql: Sql;
  /** For searches: the server plans each statement of theirs once. */
  readonly searchSql: Sql;
  /** Whether the database runs in this process, one statement at a time. */
  readonly isEmbedded: boolean;
}

/** Work of every day. Safe to run at any time and from several processes at once. */
export interface Sweep {
  readonly name: string;
  /** Answers how many things it removed. `signal` fires when the process stops: end soon, between two steps. */
  run(signal: AbortSignal): Promise<number>;
}

export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

export interface Module<Ids extends EndpointId = never> {
  readonly handlers?: Handlers<Ids>;
  /** Those of its handlers that an atomic batch can hold, on the batch's turns instead of the runtime's. */
  readonly atomic?: (turns: Pick<ActorRuntime, 'ask'>) => Partial<Handlers>;
  readonly sockets?: Readonly<Partial<Record<SocketEndpointId, SocketProtocol>>>;
  /** In the order in which they run: the sweeps of later modules see what these have removed. */
  readonly sweeps?: readonly Sweep[];
  readonly gauges?: readonly Gauge[];
  /** Called once the service answers. */
  readonly start?: () => void;
  /** Called first when the process stops, while it still answers: ends work that calls the service itself. */
  readonly drain?: () => Promise<void>;
  /** Ends timers and work in the background. Called when no request is open any more, in the reverse order of the list. */
  readonly close?: () => Promise<void>;
}

/** Removes what one resource stores of an artifact that is purged, in pieces. False where `signal` has ended it before that. */
export type PurgeArtifact = (artifactId: ArtifactId, signal: AbortSignal) => Promise<boolean>;
