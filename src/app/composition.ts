/** The composition root: builds all parts in dependency order and closes them in reverse order. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as lapse } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { localPlacement } from '../../actors/runtime/placement.ts';
import type { Clock } from '../../actors/runtime/ports.ts';
import { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { DEPENDENCIES } from '../../protocol/core/operations.ts';
import type { Cluster, ClusterSettings } from '../cluster/open-cluster.ts';
import { PageSdk } from '../content/page-sdk.ts';
import { actorLimiter } from '../edge/limits.ts';
import { MemoryLimiter } from '../edge/memory-limiter.ts';
import { type BoundPort, bindPort, type Edge } from '../edge/server.ts';
import { egressOf } from '../egress/egress.ts';
import type { ServiceDeps } from '../features/deps.ts';
import type { Module } from '../features/module.ts';
import { createAccount } from '../features/people/accounts/handlers.ts';
import { type AppFiles, readAppFiles } from '../features/people/web-app/files.ts';
import { type Bus, LocalBus } from '../platform/bus.ts';
import { systemClock } from '../platform/clock.ts';
import { type Config, deriveConfig, type Settings } from '../platform/config.ts';
import { DependencyWatch } from '../platform/dependency-watch.ts';
import { type ConnectionCaps, connectionCaps, descriptorLimit, LIMIT_ADVISED } from '../platform/descriptors.ts';
import { createLog } from '../platform/log.ts';
import { Metrics } from '../platform/metrics.ts';
import { postgresArtifactStore } from '../storage/artifact-store.ts';
import { checkDataDir } from '../storage/data-dir-check.ts';
import { type Database, type DatabaseFiles, filesBesideProgram, openDatabase } from '../storage/database.ts';
import { DocumentCompactor } from '../storage/document-compaction.ts';
import { DocumentThread } from '../storage/document-thread.ts';
import { fileObjects } from '../storage/file-objects.ts';
import { postgresJournal } from '../storage/journal.ts';
import { mergingLogs } from '../storage/merged-logs.ts';
import type { ObjectStore } from '../storage/objects.ts';
import { openSealer } from '../storage/sealing/open-sealer.ts';
import type { Sealer } from '../storage/sealing/sealer.ts';
import { SharedLimiter } from '../storage/shared-limiter.ts';
import { Spool } from '../storage/spool.ts';
import type { Sql } from '../storage/sql.ts';
import { dataDirWords, inWords, objectsDir, objectsDirWords, storeWords } from '../storage/start-failures.ts';
import { timedObjects } from '../storage/timed-objects.ts';
import { actorsOnBus } from './actors-on-bus.ts';
import { allModules, atomicHandlersOf, handlersOf, socketsOf, sweepsOf } from './modules.ts';
import { type SweepReport, startSweeps } from './sweeps.ts';

export interface Easel {
  readonly config: Config;
  readonly port: number;
  readonly sql: Sql;
  readonly runtime: ActorRuntime;
  /** Token of the administrator. Only set on the first start of an installation, because it is shown only once. */
  readonly adminToken: string | undefined;
  /** Settles when the embedded database crashes; the process must then exit. */
  readonly lost: Promise<Error>;
  /** Runs the daily sweep now, after the one that may be running. */
  sweep(): Promise<SweepReport>;
  /** Drains: no new work, open requests answered, everything committed. False when the deadline passed before that. */
  close(): Promise<boolean>;
}

export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly databaseFiles?: DatabaseFiles;
  /** Folder of the build. Default: that of the program. */
  readonly builtDir?: string;
  /** File descriptors that the process may have. Default: what the system says. */
  readonly descriptors?: number;
  /** Wraps each client of the database. */
  readonly watchedSql?: (client: Sql) => Sql;
}

/** Starts the service. Rejects with `PortTaken`, `AddonUnusable`, `SettingUnusable`, `DataDirInUse` or `SchemaError`; any other error is a bug. */
export async function startEasel(settings: Settings, overrides: Overrides = {}): Promise<Easel> {
  const clock = overrides.clock ?? systemClock;
  const log = overrides.log ?? createLog(settings.LOG_LEVEL);
  const files = overrides.databaseFiles ?? filesBesideProgram();
  // Checked first: a first start that cannot listen would create the administrator but never show its token.
  const bound = await bindPort(settings, clock);
  let database: Database | undefined;
  let cluster: Cluster | undefined;
  try {
    const folder = resolve(settings.DATA_DIR);
    await inWords(checkDataDir(folder, files.dataDirProbeFile), dataDirWords(folder));
    database = await openDatabase(settings, log, files, overrides.watchedSql);
    const sealer = await inWords(openSealer(settings, log), dataDirWords(folder));
    const metrics = new Metrics();
    const objects = timedObjects(await openObjects(settings, metrics, log), systemClock);
    // On the disk of the objects, because a complete file is renamed to its place.
    const spool = new Spool(join(objectsDir(settings), 'incoming'));
    await inWords(spool.ready(), objectsDirWords(settings));
    const builtDir = overrides.builtDir ?? fileURLToPath(new URL('.', import.meta.url));
    const pageSdk = new PageSdk(join(builtDir, 'page'));
    const appFiles = readAppFiles(join(builtDir, 'web'));
    const openapi = readFileSync(join(builtDir, 'openapi.json'), 'utf8');
    const documentThread = new DocumentThread(files.documentWorkerFile, clock);
    cluster = await joinedBy(settings, metrics, log);
    const caps = connectionCaps(overrides.descriptors ?? descriptorLimit(), LIMITS, database.embedded);
    sayCaps(caps, log);
    return await compose(settings, {
      caps,
      clock,
      log,
      metrics,
      cluster,
      database,
      sealer,
      objects,
      spool,
      pageSdk,
      appFiles,
      openapi,
      documentThread,
      builtDir,
      bound,
    });
  } catch (error) {
    bound.close();
    await cluster?.stop();
    await database?.close();
    throw error;
  }
}

/** What the limit of descriptors means for those who connect. */
function sayCaps({ descriptors, reserve, sockets, streams, plain }: ConnectionCaps, log: Logger): void {
  const said = { descriptors, reserve, sockets: sockets.total, streams: streams.total, otherConnections: plain.total };
  log.info(said, 'connections are limited by the descriptors that the process may have');
  if (descriptors < LIMIT_ADVISED)
    log.warn({ descriptors }, `few connections are possible; allow ${LIMIT_ADVISED} descriptors (ulimit -n)`);
}

interface Foundation {
  readonly caps: ConnectionCaps;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly cluster: Cluster | undefined;
  readonly database: Database;
  readonly sealer: Sealer;
  readonly objects: ObjectStore;
  readonly spool: Spool;
  readonly pageSdk: PageSdk;
  readonly appFiles: AppFiles;
  readonly openapi: string;
  readonly documentThread: DocumentThread;
  readonly builtDir: string;
  readonly bound: BoundPort;
}

async function compose(settings: Settings, foundation: Foundation): Promise<Easel> {
  const { caps, clock, log, metrics, cluster, database, sealer, objects, spool, pageSdk, appFiles, openapi, documentThread, bound } =
    foundation;
  const { sql } = database;
  const bus: Bus = cluster?.bus ?? new LocalBus(log);
  const config: Config = deriveConfig(settings, bound.port);
  const limiters = { shared: new SharedLimiter({ sql, clock }), memory: new MemoryLimiter(clock) };
  const deps: ServiceDeps = { sql, clock, objects, bus, config, log };

  const compactor = new DocumentCompactor({ sql, thread: documentThread, clock, log });
  const runtime = new ActorRuntime({
    clock,
    upkeep: compactor,
    store: mergingLogs(postgresArtifactStore(sql), documentThread),
    journal: postgresJournal(database.journalSql),
    placement: cluster?.placement ?? localPlacement(),
    meter: metrics,
    log,
    idleMs: settings.ACTOR_IDLE_S * 1000,
    memoryBytesMax: settings.ACTOR_MEMORY_MB * 1024 * 1024,
  });
  actorsOnBus(bus, runtime, sql);
  const { documentThread: thread } = foundation;
  // Filled in below: what is watched includes what modules bring.
  const watch: { dependencies?: DependencyWatch } = {};
  const { list, tokens, heads, content, access, receipts, subjects, streams, mail } = allModules({
    ...deps,
    settings,
    caps,
    refusals: metrics,
    limiters,
    runtime,
    spool,
    thread,
    sealer,
    egress: egressOf(settings),
    builtDir: foundation.builtDir,
    pageSdk,
    appFiles,
    tableSql: database.tableSql,
    searchSql: database.searchSql,
    isEmbedded: database.embedded,
    // They watch modules too, so they are made after these.
    dependencies: { health: (name) => dependencies.health(name), watches: (name) => dependencies.watches(name) },
    slowTurns: () => metrics.slowTurns,
    health: (name) => (watch.dependencies?.watches(name) ? watch.dependencies.health(name) : null),
  });
  const parts: readonly Module<never>[] = list;
  for (const { gauges = [] } of parts) for (const gauge of gauges) metrics.watch(gauge.name, gauge.help, gauge.read);
  const dependencies = new DependencyWatch(
    [
      // A long statement holds up all others on the embedded database, so a late answer there is told, and no call is ended for it.
      { name: 'database', check: () => database.probe(), cut: () => database.cut(), endsCalls: !database.embedded },
      // Every call to the object store has a deadline of its own.
      { name: 'objects', check: () => objects.probe(), endsCalls: false },
      { name: 'mail', check: () => mail.probe(), endsCalls: false },
      // Artifacts that this node owns are served as long as its lease; the rest is refused by placement.
      ...(cluster === undefined ? [] : [{ name: 'redis', check: () => cluster.probe(), endsCalls: false } as const]),
    ],
    { clock: systemClock, log },
  );
  watch.dependencies = dependencies;
  for (const name of DEPENDENCIES.filter((each) => dependencies.watches(each))) {
    const read = () => (dependencies.health(name).state === 'up' ? 1 : 0);
    metrics.watch(`easel_${name}_up`, `1 while the dependency answers its probes: ${name}.`, read);
  }
  await cluster?.start(runtime);
  // Must be the last step that can fail, so that a created token is always shown.
  const adminToken = await createAdministrator(sql, clock.nowMs());
  const edge = bound.serve({
    config,
    handlers: handlersOf(list),
    atomic: atomicHandlersOf(parts),
    sockets: socketsOf(parts),
    caps,
    streams,
    tokens,
    heads,
    receipts,
    subjects,
    dependencies,
    node: cluster && { awake: () => cluster.bus.awake(), mayWrite: () => cluster.placement.holds() },
    openapi,
    access,
    runtime,
    limiters: { ...limiters, actor: actorLimiter(runtime) },
    content,
    sql,
    clock,
    metrics,
    log,
    ...(cluster !== undefined && { peers: cluster.peers }),
  });
  cluster?.peers.serve((stream, head) => edge.takeCarried(stream, head));
  for (const { start } of parts) start?.();
  dependencies.start((name) => edge.dependencyDown(name));
  const sweeps = sweepsOf(parts);
  const sweeping = startSweeps(sweeps, { sql, log, clock, ioClock: systemClock, isAlone: cluster === undefined });

  const drain = async () => {
    edge.stopListening();
    for (const part of parts.toReversed()) await part.drain?.();
    // Others take over from here on, while the calls under way are answered.
    if (cluster !== undefined) await handOverAll(cluster, runtime);
    await edge.idle();
    if (cluster !== undefined) await lingering(edge);
    edge.close();
    await sweeping.stop();
    for (const { close } of parts.toReversed()) await close?.();
    await runtime.stop();
    await Promise.all([compactor.close(), documentThread.close()]);
    dependencies.stop();
    await cluster?.stop();
    await database.close();
  };
  return {
    config,
    port: edge.port,
    sql,
    runtime,
    adminToken,
    lost: database.lost,
    sweep: () => sweeping.now(),
    close: () => inTime(drain(), settings.DRAIN_DEADLINE_S, log),
  };
}

/** Undefined for a node alone, for which nothing of a cluster is loaded. */
async function joinedBy(settings: Settings, metrics: Metrics, log: Logger): Promise<Cluster | undefined> {
  if (settings.REDIS_URL === undefined) return undefined;
  const { openCluster } = await import('../cluster/open-cluster.ts');
  return openCluster(settings as ClusterSettings, metrics, log);
}

async function handOverAll({ placement }: Cluster, runtime: ActorRuntime): Promise<void> {
  await placement.drain();
  await runtime.drain();
}

/**
 * Clients learn by the answer to their next call that their connection closes. If it closed while that call was on its way, they would not know
 * what became of it, and other nodes can answer it.
 */
async function lingering(edge: Edge): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([edge.deserted(), lapse(LINGER_MS, undefined, { signal }).catch(() => undefined)]);
  over.abort();
}

/** Ready to be used. */
async function openObjects(settings: Settings, metrics: Metrics, log: Logger): Promise<ObjectStore> {
  const { S3_ENDPOINT } = settings;
  if (S3_ENDPOINT === undefined) {
    const objects = fileObjects(objectsDir(settings));
    await inWords(objects.ready(), objectsDirWords(settings));
    return objects;
  }
  // Its client takes a third of a second to load, which a start without it should not wait for.
  const { s3Objects } = await import('../storage/s3-objects.ts');
  const store = s3Objects({ ...settings, S3_ENDPOINT });
  await inWords(store.ready(), storeWords(settings));
  if (settings.OBJECT_CACHE_MB === 0) return store;
  const { cachedObjects } = await import('../storage/cached-objects.ts');
  const folder = resolve(settings.DATA_DIR);
  const bytesMax = settings.OBJECT_CACHE_MB * 1024 * 1024;
  // Timed below the cache as well: a read of the store ends by itself, though those who wait for it have left.
  const cached = cachedObjects(timedObjects(store, systemClock), { directory: join(folder, 'cache'), bytesMax, log });
  await inWords(cached.ready(), dataDirWords(folder));
  const { figures } = cached;
  metrics.watch('easel_object_cache_bytes', 'Bytes of objects whose copies are on the disk of this node.', () => figures.bytes());
  metrics.count('easel_object_cache_hits_total', 'Reads of objects that a copy on the disk of this node answered.', () => figures.hits);
  metrics.count('easel_object_cache_misses_total', 'Reads of objects for which the object store was asked.', () => figures.misses);
  return cached;
}

/** Longer than most programs pause between two calls on one connection. */
const LINGER_MS = 1000;

/** Arbitrary advisory lock id, used only here: if several processes start on an empty database, only one creates the account. */
const FIRST_START_LOCK = 7_013_202;

/** On an installation without accounts: makes the administrator and answers its token. */
function createAdministrator(sql: Sql, nowMs: number): Promise<string | undefined> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${FIRST_START_LOCK})`;
    const [row] = await tx<{ empty: boolean }[]>`select not exists (select from account) as empty`;
    if (!row?.empty) return undefined;
    return (await createAccount(tx, { tier: 'team', isAdmin: true, nowMs })).token;
  });
}

/** Uses real time even if the service runs on another clock, because the supervisor that stops the process waits in real time. */
async function inTime(drained: Promise<void>, deadlineS: number, log: Logger): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), deadlineS * 1000);
  });
  const done = await Promise.race([drained.then(() => true), deadline]);
  clearTimeout(timer);
  if (!done) log.error({ deadlineS }, 'not everything was finished within the deadline; nothing acknowledged is lost');
  return done;
}
