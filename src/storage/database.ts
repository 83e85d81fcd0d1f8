/** Opens the database that the settings name, embedded or a server, with its schema up to date. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../actors/runtime/ports.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { Settings } from '../platform/config.ts';
import { startEmbedded } from './embedded.ts';
import { migrate } from './migrations.ts';
import { type ConnectOptions, connect, Lines, type Sql, type SqlTarget } from './sql.ts';
import { databaseWords, dataDirWords, inWords } from './start-failures.ts';

export interface Database {
  readonly sql: Sql;
  /**
   * A client for reads that callers shape, each of at most `tableReadMsMax` (a server ends it then; the embedded database cannot).
   * They have connections of their own, so that they do not block other queries.
   */
  readonly tableSql: Sql;
  /** A client for searches, which take a server longer to plan than most statements take. */
  readonly searchSql: Sql;
  readonly embedded: boolean;
  /**
   * A client of one connection for the journal, so that no other query can keep a commit waiting.
   * `broken`: the one that this replaces; its connection is cut.
   */
  journalSql(broken?: Sql): Sql;
  /** Settles when the database has answered, on a connection that nothing else uses. */
  probe(): Promise<unknown>;
  /** Ends all connections to a server that hangs: their queries fail, and the next ones connect again. */
  cut(): void;
  /** Settles when the embedded database crashes; never for a server, to which the client reconnects. */
  readonly lost: Promise<Error>;
  close(): Promise<void>;
}

/** Files that lie beside the program: beside this source file, or beside the bundle that contains it. */
export interface DatabaseFiles {
  readonly migrationsDir: string;
  readonly workerFile: string;
  readonly documentWorkerFile: string;
  readonly templateDir: string;
  readonly dataDirProbeFile: string;
}

export function filesBesideProgram(): DatabaseFiles {
  const beside = (name: string) => fileURLToPath(new URL(`./${name}`, import.meta.url));
  return {
    migrationsDir: beside('migrations'),
    workerFile: beside('pglite-worker.js'),
    documentWorkerFile: beside('document-worker.js'),
    templateDir: beside('postgres-template'),
    dataDirProbeFile: beside('data-dir-probe.js'),
  };
}

type DatabaseSettings = Pick<Settings, 'DATABASE_URL' | 'DATABASE_POOL' | 'DATA_DIR'>;

/** Seconds that closing leaves to queries still running. */
const CLOSE_TIMEOUT_S = 5;
const CUT_CLOSE_TIMEOUT_S = 1;

/** `watched` may wrap each client of the database. Throws `DataDirInUse`, `SchemaError` or `SettingUnusable`. */
export async function openDatabase(
  settings: DatabaseSettings,
  log: Log,
  files: DatabaseFiles = filesBesideProgram(),
  watched: (client: Sql) => Sql = (client) => client,
): Promise<Database> {
  const startedMs = performance.now();
  const words = settings.DATABASE_URL ? databaseWords(settings.DATABASE_URL) : dataDirWords(resolve(settings.DATA_DIR));
  const embedded = settings.DATABASE_URL
    ? null
    : await inWords(startEmbedded(settings.DATA_DIR, files.workerFile, files.templateDir), words);
  const lines = new Lines();
  const target: SqlTarget = embedded ? { socketPath: embedded.socketPath } : { url: settings.DATABASE_URL ?? '', sockets: lines };
  const clients = new Set<Sql>();
  const open = (connectionsMax: number, options?: ConnectOptions) => {
    const client = watched(connect(target, connectionsMax, options));
    clients.add(client);
    return client;
  };
  const journalSql = (broken?: Sql) => {
    if (broken !== undefined && clients.delete(broken)) void broken.end({ timeout: 0 });
    return open(1);
  };
  const close = async () => {
    // The client waits in vain for queries whose connection was cut: it forgets them only with the next query on that connection.
    const timeout = lines.wereCut ? CUT_CLOSE_TIMEOUT_S : CLOSE_TIMEOUT_S;
    await Promise.all([...clients].map((client) => client.end({ timeout })));
    await embedded?.close();
  };
  try {
    const sql = open(settings.DATABASE_POOL);
    await inWords(migrate(sql, files.migrationsDir), words);
    log.info({ embedded: embedded !== null, ms: Math.round(performance.now() - startedMs) }, 'database open');
    // The embedded database runs one statement at a time: on one connection slices of reads take turns, and a commit waits for one of them at most.
    const tableSql = open(embedded ? 1 : LIMITS.tableReadsMax, { statementMsMax: LIMITS.tableReadMsMax });
    const searchSql = embedded ? sql : open(LIMITS.searchesMax, { plansOnce: true });
    const probeSql = open(1);
    return {
      sql,
      tableSql,
      searchSql,
      embedded: embedded !== null,
      journalSql,
      probe: () => probeSql`select 1`,
      cut: () => lines.cut(),
      lost: embedded?.lost ?? new Promise(() => undefined),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
