/** The whole service in this process, on a database and a data folder of its own. */
import type { ActorRuntime } from '../../actors/runtime.ts';
import type { UserId } from '../../protocol/ids.ts';
import type { Tier } from '../../protocol/schemas/account.ts';
import { startEasel } from '../../src/app.ts';
import { parseSettings } from '../../src/config.ts';
import { createAccount } from '../../src/services/accounts.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { builtFiles, builtPageSdk, createServerDatabase, type DatabaseKind, databaseKinds, temporaryDir } from './database.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface TestEaselOptions {
  /** Default: a server when the machine has one, else embedded. */
  readonly database?: DatabaseKind;
  /** As the environment would have them. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface TestUser {
  readonly token: string;
  readonly userId: UserId;
}

export interface TestEasel {
  /** Of the API, without a slash at the end. */
  readonly baseUrl: string;
  readonly port: number;
  readonly sql: Sql;
  readonly runtime: ActorRuntime;
  /** The service's time stands still until a test moves it. */
  readonly clock: VirtualClock;
  readonly database: DatabaseKind;
  /** Of the administrator that the first start made. */
  readonly adminToken: string;
  /** A page's own origin as a browser sees it. Node cannot resolve it, and its fetch sends no Host of ours: use `wire` of test/content/wire.ts. */
  contentUrl(slug: string): string;
  /** Calls the API; `token` becomes the Authorization header. */
  fetch(path: string, init?: RequestInit & { readonly token?: string }): Promise<Response>;
  newUser(tier?: Tier): Promise<TestUser>;
  close(): Promise<void>;
}

export async function startTestEasel(options: TestEaselOptions = {}): Promise<TestEasel> {
  const database = options.database ?? databaseKinds()[0] ?? 'embedded';
  const folder = temporaryDir();
  const server = database === 'postgres' ? await createServerDatabase() : null;
  // What the service gathers for a few milliseconds, as edits and their commits, goes on by itself.
  const clock = new VirtualClock({ passingMs: 20 });
  const settings = parseSettings({
    PORT: '0',
    DATA_DIR: folder.path,
    DATABASE_URL: server?.url,
    LOG_LEVEL: 'silent',
    ...options.settings,
  });
  const easel = await startEasel(settings, { clock, databaseFiles: builtFiles(), pageSdkDir: builtPageSdk() });
  const baseUrl = `http://127.0.0.1:${easel.port}`;
  return {
    baseUrl,
    port: easel.port,
    sql: easel.sql,
    runtime: easel.runtime,
    clock,
    database,
    adminToken: easel.adminToken ?? '',
    contentUrl: (slug) => `http://${slug}.${easel.config.contentHost}`,
    fetch: (path, { token, ...init } = {}) => {
      const headers = new Headers(init.headers);
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
      return fetch(`${baseUrl}${path}`, { ...init, headers });
    },
    newUser: (tier = 'free') => easel.sql.begin((tx) => createAccount(tx, { tier, isAdmin: false, nowMs: clock.nowMs() })),
    close: async () => {
      const drained = await easel.close();
      await server?.drop();
      folder.remove();
      if (!drained) throw new Error('the service did not finish its work within the drain deadline');
    },
  };
}
