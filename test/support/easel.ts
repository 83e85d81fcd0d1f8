/** The whole service in this process, on a database and a data folder of its own. */
import type { Logger } from 'pino';
import type { ActorRuntime } from '../../actors/runtime/runtime.ts';
import type { UserId } from '../../protocol/core/ids.ts';
import type { Tier } from '../../protocol/people/accounts.ts';
import { type Easel, startEasel } from '../../src/app/composition.ts';
import type { SweepReport } from '../../src/app/sweeps.ts';
import { createAccount } from '../../src/features/people/accounts/handlers.ts';
import { parseSettings } from '../../src/platform/config.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { builtFiles, createServerDatabase, type DatabaseKind, defaultDatabaseKind, temporaryDir } from './database.ts';
import { refuseNestedQueries } from './nested-queries.ts';
import { services } from './services.ts';
import { VirtualClock } from './virtual-clock.ts';

/** A database and a data folder that outlive the service on them, so that it can be started again. */
export interface TestStorage {
  readonly database: DatabaseKind;
  readonly settings: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

export interface TestEaselOptions {
  /** Default: a server when the machine has one, else embedded. */
  readonly database?: DatabaseKind;
  /** Default: one of its own, removed by `close`. */
  readonly storage?: TestStorage;
  /** Settings as environment variables. */
  readonly settings?: Readonly<Record<string, string>>;
  /** File descriptors that the service may have. Default: those of this process. */
  readonly descriptors?: number;
  /** Default: silent. */
  readonly log?: Logger;
}

/** What credentials are sealed with unless a test sets another key. */
export const TEST_SECRET_KEY = '5e'.repeat(32);
/** What mail and chat servers sign with. */
export const TEST_INBOUND_SECRET = '1b'.repeat(32);

export interface TestUser {
  readonly token: string;
  readonly userId: UserId;
}

export interface TestEasel {
  /** The address of the API, without a trailing slash. */
  readonly baseUrl: string;
  readonly port: number;
  readonly sql: Sql;
  readonly runtime: ActorRuntime;
  /** The service's time stands still until a test moves it. */
  readonly clock: VirtualClock;
  readonly database: DatabaseKind;
  /** The token of the administrator that the first start created. */
  readonly adminToken: string;
  /** A page's own origin. Node cannot resolve it, and fetch does not let a test set Host: use `wire` of page-requests.ts. */
  contentUrl(slug: string): string;
  /** Calls the API; `token` becomes the Authorization header. */
  fetch(path: string, init?: RequestInit & { readonly token?: string }): Promise<Response>;
  newUser(tier?: Tier): Promise<TestUser>;
  /** The daily sweep, now. */
  sweep(): Promise<SweepReport>;
  close(): Promise<void>;
}

export async function testStorage(database: DatabaseKind = defaultDatabaseKind()): Promise<TestStorage> {
  const folder = temporaryDir();
  const server = database === 'postgres' ? await createServerDatabase() : null;
  return {
    database,
    settings: { DATA_DIR: folder.path, ...(server !== null && { DATABASE_URL: server.url }) },
    remove: async () => {
      await server?.drop();
      folder.remove();
    },
  };
}

export async function startTestEasel(options: TestEaselOptions = {}): Promise<TestEasel> {
  const storage = options.storage ?? (await testStorage(options.database));
  const { database } = storage;
  // Waits of a few milliseconds, such as those that gather edits and commits, pass by themselves.
  const clock = new VirtualClock({ passingMs: 20 });
  const settings = parseSettings({
    PORT: '0',
    ...storage.settings,
    LOG_LEVEL: 'silent',
    SECRET_KEY: TEST_SECRET_KEY,
    SUPPORT_INBOUND_SECRET: TEST_INBOUND_SECRET,
    // Lists of pages start no browsers, except in the tests of pictures.
    THUMBNAILS: 'off',
    // The servers of the tests are on this machine.
    EGRESS_PORTS: 'any',
    EGRESS_PRIVATE_NETWORKS: '127.0.0.1',
    ...options.settings,
  });
  const started = await startEasel(settings, {
    clock,
    databaseFiles: builtFiles(),
    builtDir: services().builtDir,
    watchedSql: refuseNestedQueries,
    ...(options.descriptors !== undefined && { descriptors: options.descriptors }),
    ...(options.log !== undefined && { log: options.log }),
  });
  const { port, adminToken, config } = started;
  const baseUrl = `http://127.0.0.1:${port}`;
  // Modules of tests live until their worker ends, and keep what they have started. A closed service would cost each of them some 7 MB.
  let running: Easel | null = started;
  const easel = () => {
    if (running === null) throw new Error('this Easel is closed');
    return running;
  };
  return {
    baseUrl,
    port,
    get sql() {
      return easel().sql;
    },
    get runtime() {
      return easel().runtime;
    },
    clock,
    database,
    adminToken: adminToken ?? '',
    contentUrl: (slug) => `http://${slug}.${config.contentHost}`,
    fetch: (path, { token, ...init } = {}) => {
      const headers = new Headers(init.headers);
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
      return fetch(`${baseUrl}${path}`, { ...init, headers });
    },
    newUser: (tier = 'free') => easel().sql.begin((tx) => createAccount(tx, { tier, isAdmin: false, nowMs: clock.nowMs() })),
    sweep: () => easel().sweep(),
    close: async () => {
      const drained = await easel().close();
      running = null;
      clock.stop();
      if (options.storage === undefined) await storage.remove();
      if (!drained) throw new Error('the service did not finish its work within the drain deadline');
    },
  };
}
