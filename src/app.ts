/** The composition root: builds every room in the order in which they need each other, and closes them in the reverse. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { localPlacement } from '../actors/placement.ts';
import type { Clock } from '../actors/ports.ts';
import { ActorRuntime } from '../actors/runtime.ts';
import { systemClock } from './clock.ts';
import { type Config, deriveConfig, type Settings } from './config.ts';
import { PageSdk, sdkBesideProgram } from './content/page-sdk.ts';
import { ContentServer } from './content/server.ts';
import type { AtomicHandlers } from './edge/batch.ts';
import type { ServiceHandlers } from './edge/dispatcher.ts';
import { startEdge } from './edge/server.ts';
import { type DailyJob, startDailyJobs } from './jobs.ts';
import { createLog } from './log.ts';
import { Metrics } from './metrics.ts';
import { ChannelsProtocol } from './realtime/channels/protocol.ts';
import { VersionsFeed } from './realtime/channels/versions-feed.ts';
import { Connections } from './realtime/connections.ts';
import { realtimeHandlers } from './realtime/handlers.ts';
import { hocuspocus } from './realtime/hocuspocus.ts';
import { RoomDirectory } from './realtime/rooms.ts';
import { yWebsocket } from './realtime/y-websocket.ts';
import { AccessWatch } from './services/access-watch.ts';
import { accountHandlers, createAccount } from './services/accounts.ts';
import { archiveHandlers } from './services/archive/handlers.ts';
import { artifactHandlers } from './services/artifacts.ts';
import { blobHandlers } from './services/blobs/handlers.ts';
import { commentsGate } from './services/changes/comments-gate.ts';
import { changeHandlers } from './services/changes/handlers.ts';
import { ChangeHub } from './services/changes/hub.ts';
import { commentText } from './services/comments/present.ts';
import { commentHandlers } from './services/comments/service.ts';
import type { ServiceDeps } from './services/deps.ts';
import { documentHandlers } from './services/documents/handlers.ts';
import { ArtifactHeads } from './services/heads.ts';
import { Identities } from './services/identities.ts';
import { jsonKeyHandlers } from './services/json-keys.ts';
import { MailSender } from './services/mail/sender.ts';
import { mailTransport } from './services/mail/transports.ts';
import { ArtifactNotices } from './services/notices.ts';
import { pageSdkHandlers } from './services/page-sdk.ts';
import { presenceHandlers } from './services/presence.ts';
import { previewLinkHandlers } from './services/preview-links.ts';
import { publishHandlers } from './services/publish/handlers.ts';
import { sweep } from './services/sweep.ts';
import { byFilterHandlers } from './services/tables/by-filter.ts';
import { TablePurge } from './services/tables/purge.ts';
import { tableQueryHandlers } from './services/tables/queries.ts';
import { TableReads } from './services/tables/reads.ts';
import { tableHandlers } from './services/tables/writes.ts';
import { tokenHandlers } from './services/token-handlers.ts';
import { TokenService } from './services/tokens.ts';
import { trashHandlers } from './services/trash.ts';
import { versionHandlers } from './services/versions.ts';
import { postgresArtifactStore } from './storage/artifact-store.ts';
import { type Database, type DatabaseFiles, filesBesideProgram, openDatabase } from './storage/database.ts';
import { DocumentCompactor } from './storage/document-compaction.ts';
import { DocumentThread } from './storage/document-thread.ts';
import { fileObjects } from './storage/file-objects.ts';
import { postgresJournal } from './storage/journal.ts';
import type { ObjectStore } from './storage/objects.ts';
import { Spool } from './storage/spool.ts';
import type { Sql } from './storage/sql.ts';
import { vacuum } from './storage/vacuum.ts';

export interface Easel {
  readonly config: Config;
  readonly port: number;
  readonly sql: Sql;
  readonly runtime: ActorRuntime;
  /** Of the administrator, on the very first start of an installation: shown this once. */
  readonly adminToken: string | undefined;
  /** Settles when the embedded database dies by itself: the process can do nothing more. */
  readonly lost: Promise<Error>;
  /** Drains: no new work, open requests answered, everything committed. False when the deadline passed before that. */
  close(): Promise<boolean>;
}

export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly databaseFiles?: DatabaseFiles;
  /** Folder of the built page SDK. Default: beside the program. */
  readonly pageSdkDir?: string;
}

/** Starts the service. Rejects with `DataDirInUse`, `SchemaError`, `PortTaken`, or what the database or object store says. */
export async function startEasel(settings: Settings, overrides: Overrides = {}): Promise<Easel> {
  const clock = overrides.clock ?? systemClock;
  const log = overrides.log ?? createLog(settings.LOG_LEVEL);
  const files = overrides.databaseFiles ?? filesBesideProgram();
  const database = await openDatabase(settings, log, files);
  try {
    const objects = await openObjects(settings);
    await objects.ready();
    const spool = new Spool(join(settings.DATA_DIR, 'objects', 'incoming'));
    await spool.ready();
    const pageSdk = new PageSdk(overrides.pageSdkDir ?? sdkBesideProgram());
    const documentThread = new DocumentThread(files.documentWorkerFile, clock);
    return await compose(settings, { clock, log, database, objects, spool, pageSdk, documentThread });
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface Foundation {
  readonly clock: Clock;
  readonly log: Logger;
  readonly database: Database;
  readonly objects: ObjectStore;
  readonly spool: Spool;
  readonly pageSdk: PageSdk;
  readonly documentThread: DocumentThread;
}

async function compose(settings: Settings, { clock, log, database, objects, spool, pageSdk, documentThread }: Foundation): Promise<Easel> {
  const { sql } = database;
  const adminToken = await createAdministrator(sql, clock.nowMs());
  const notices = new ArtifactNotices();
  const metrics = new Metrics();
  // Its addresses are put right when the port is bound, before the first request.
  const config: Config = deriveConfig(settings, settings.PORT);
  const deps: ServiceDeps = { sql, clock, objects, notices, config, log };

  const tokens = new TokenService({ sql, clock, log });
  const heads = new ArtifactHeads({ sql, notices });
  const compactor = new DocumentCompactor({ sql, thread: documentThread, clock, log });
  const runtime = new ActorRuntime({
    clock,
    upkeep: compactor,
    store: postgresArtifactStore(sql),
    journal: postgresJournal(database.journalSql),
    placement: localPlacement(),
    meter: metrics,
    log,
    idleMs: settings.ACTOR_IDLE_S * 1000,
    memoryBytesMax: settings.ACTOR_MEMORY_MB * 1024 * 1024,
  });
  notices.on(({ artifactId, kind }) => {
    if (kind !== 'changed') runtime.discard(artifactId).catch((err) => log.error({ err, artifactId }, 'an actor could not leave memory'));
  });
  const access = new AccessWatch({ ...deps, heads, tokens });
  const identities = new Identities({ sql });
  const mail = new MailSender({ sql, clock, log, transport: mailTransport(settings) });
  const hub = new ChangeHub({ ...deps, access, runtime, commentText });
  const connections = new Connections();
  const channels = new ChannelsProtocol({
    clock,
    hub,
    versions: new VersionsFeed({ sql, log, notices }),
    access,
    connections,
    identities,
    heads,
    mayReadComments: commentsGate(runtime),
  });
  const rooms = new RoomDirectory({ runtime, clock });
  const speaking = { clock, log, tokens, heads, watch: access, identities, connections, rooms, newSessionId: randomUUID };
  metrics.watch('easel_rooms_open', 'Collaborative documents that somebody has open.', () => rooms.size);
  metrics.watch('easel_outflow_bytes', 'Bytes of whole documents on their way to slow peers.', () => rooms.outflowBytes);
  const purge = new TablePurge(deps);
  const content = new ContentServer({ ...deps, pageSdk });
  const edge = await startEdge({
    settings,
    config: (port) => Object.assign(config, deriveConfig(settings, port)),
    handlers: serviceHandlers(
      {
        ...deps,
        spool,
        pageSdk,
        identities,
        connections,
        mail,
        reads: new TableReads(database.tableSql),
        purge,
        thread: documentThread,
        rooms,
      },
      tokens,
      runtime,
      hub,
    ),
    atomic: (turns) => atomicHandlers(deps, turns),
    tokens,
    heads,
    runtime,
    content,
    sockets: {
      'realtime.sync': yWebsocket(speaking),
      'realtime.hocuspocus': hocuspocus(speaking),
      'realtime.channels': channels,
    },
    sql,
    clock,
    metrics,
    log,
  });
  mail.wake();
  const jobs = startDailyJobs(dailyJobs(deps, database.embedded), log);

  const drain = async () => {
    edge.stopListening();
    await edge.idle();
    edge.close();
    await jobs.stop();
    await purge.stop();
    await mail.stop();
    await content.close();
    await runtime.stop();
    await Promise.all([compactor.close(), documentThread.close()]);
    await tokens.stop();
    await database.close();
  };
  return {
    config,
    port: edge.port,
    sql,
    runtime,
    adminToken,
    lost: database.lost,
    close: () => inTime(drain(), settings.DRAIN_DEADLINE_S, log),
  };
}

function dailyJobs(deps: ServiceDeps, embedded: boolean): DailyJob[] {
  const jobs: DailyJob[] = [{ name: 'sweep', run: (signal) => sweep(deps, signal) }];
  // After the sweep, which leaves dead rows behind.
  if (embedded) jobs.push({ name: 'vacuum', run: (signal) => vacuum(deps.sql, signal) });
  return jobs;
}

function serviceHandlers(
  deps: ServiceDeps & {
    readonly spool: Spool;
    readonly pageSdk: PageSdk;
    readonly identities: Identities;
    readonly connections: Connections;
    readonly mail: MailSender;
    readonly reads: TableReads;
    readonly purge: TablePurge;
    readonly thread: DocumentThread;
    readonly rooms: RoomDirectory;
  },
  tokens: TokenService,
  runtime: ActorRuntime,
  hub: ChangeHub,
): ServiceHandlers {
  return {
    ...accountHandlers(deps),
    ...tokenHandlers({ ...deps, tokens }),
    ...publishHandlers(deps),
    ...artifactHandlers(deps),
    ...trashHandlers(deps),
    ...archiveHandlers(deps),
    ...versionHandlers(deps),
    ...previewLinkHandlers(deps),
    ...pageSdkHandlers(deps),
    ...blobHandlers({ ...deps, runtime }),
    ...changeHandlers({ ...deps, hub, commentText, mayReadComments: commentsGate(runtime) }),
    ...jsonKeyHandlers({ runtime }),
    ...tableHandlers({ runtime, sql: deps.sql }),
    ...byFilterHandlers({ runtime, reads: deps.reads, purge: deps.purge }),
    ...tableQueryHandlers({ runtime, reads: deps.reads }),
    ...realtimeHandlers(),
    ...presenceHandlers(deps),
    ...commentHandlers({ ...deps, runtime }),
    ...documentHandlers({ ...deps, runtime }),
  };
}

/** What does everything in one turn. A schema and what goes by a filter hold the table while rows are read: they are steps of their own. */
function atomicHandlers({ sql }: ServiceDeps, runtime: Pick<ActorRuntime, 'ask'>): ReturnType<AtomicHandlers> {
  const { 'tables.putSchema': _, ...tables } = tableHandlers({ runtime, sql });
  return { ...jsonKeyHandlers({ runtime }), ...tables };
}

async function openObjects(settings: Settings): Promise<ObjectStore> {
  const { S3_ENDPOINT } = settings;
  if (S3_ENDPOINT === undefined) return fileObjects(join(settings.DATA_DIR, 'objects'));
  // Its client takes a third of a second to load, which a start without it should not wait for.
  const { s3Objects } = await import('./storage/s3-objects.ts');
  return s3Objects({ ...settings, S3_ENDPOINT });
}

/** Any number that nothing else locks: of processes that start at once on an empty database, one makes the account. */
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

/** Real time, whatever clock the service runs on: whoever stops the process waits in real time. */
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
