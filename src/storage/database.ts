/** Opens the database that the settings name, embedded or a server, with its schema up to date. */
import { fileURLToPath } from 'node:url';
import type { Log } from '../../actors/ports.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Settings } from '../config.ts';
import { startEmbedded } from './embedded.ts';
import { migrate } from './migrations.ts';
import { connect, type Sql, type SqlTarget } from './sql.ts';

export interface Database {
  readonly sql: Sql;
  /**
   * A client for reads that callers shape, each of at most `tableReadMsMax` (a server ends it then; the embedded database cannot).
   * They have connections of their own, so that many of them keep nothing else waiting.
   */
  readonly tableSql: Sql;
  readonly embedded: boolean;
  /**
   * A client of one connection for the journal, so that no other query can keep a commit waiting.
   * `broken`: the one that this replaces; its connection is cut.
   */
  journalSql(broken?: Sql): Sql;
  /** Settles when the embedded database dies by itself; never for a server, whose client reconnects. */
  readonly lost: Promise<Error>;
  close(): Promise<void>;
}

/** Files that lie beside the program: beside this source file, or beside the bundle that contains it. */
export interface DatabaseFiles {
  readonly migrationsDir: string;
  readonly workerFile: string;
  readonly documentWorkerFile: string;
  readonly templateDir: string;
}

export function filesBesideProgram(): DatabaseFiles {
  const beside = (name: string) => fileURLToPath(new URL(`./${name}`, import.meta.url));
  return {
    migrationsDir: beside('migrations'),
    workerFile: beside('pglite-worker.js'),
    documentWorkerFile: beside('document-worker.js'),
    templateDir: beside('postgres-template'),
  };
}

type DatabaseSettings = Pick<Settings, 'DATABASE_URL' | 'DATABASE_POOL' | 'DATA_DIR'>;

/** Seconds that closing leaves to queries still running. */
const CLOSE_TIMEOUT_S = 5;

/** Throws `DataDirInUse`, `SchemaError`, or the connection's own error. */
export async function openDatabase(settings: DatabaseSettings, log: Log, files: DatabaseFiles = filesBesideProgram()): Promise<Database> {
  const startedMs = performance.now();
  const embedded = settings.DATABASE_URL ? null : await startEmbedded(settings.DATA_DIR, files.workerFile, files.templateDir);
  const target: SqlTarget = embedded ? { socketPath: embedded.socketPath } : { url: settings.DATABASE_URL ?? '' };
  const clients = new Set<Sql>();
  const open = (connectionsMax: number, statementMsMax?: number) => {
    const client = connect(target, connectionsMax, statementMsMax);
    clients.add(client);
    return client;
  };
  const journalSql = (broken?: Sql) => {
    if (broken !== undefined && clients.delete(broken)) void broken.end({ timeout: 0 });
    return open(1);
  };
  const close = async () => {
    await Promise.all([...clients].map((client) => client.end({ timeout: CLOSE_TIMEOUT_S })));
    await embedded?.close();
  };
  try {
    const sql = open(settings.DATABASE_POOL);
    await migrate(sql, files.migrationsDir);
    log.info({ embedded: embedded !== null, ms: Math.round(performance.now() - startedMs) }, 'database open');
    const tableSql = open(LIMITS.tableReadsMax, LIMITS.tableReadMsMax);
    return { sql, tableSql, embedded: embedded !== null, journalSql, lost: embedded?.lost ?? new Promise(() => undefined), close };
  } catch (error) {
    await close();
    throw error;
  }
}
