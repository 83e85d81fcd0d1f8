/** The whole service in this process, on a data folder and a database that outlive it. */
import { startEasel } from '../../src/app/composition.ts';
import { parseSettings } from '../../src/platform/config.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { builtFiles } from '../support/database.ts';
import { type WireAnswer, type WireOptions, wire } from '../support/page-requests.ts';
import { services } from '../support/services.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/** `databaseUrl` undefined: the embedded database of the folder. */
export interface Place {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
}

export interface ApiCall {
  readonly method?: string;
  readonly token?: string | undefined;
  /** Becomes JSON, unless it is bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Installation {
  readonly clock: VirtualClock;
  readonly sql: Sql;
  /** On the very first start. */
  readonly adminToken: string | undefined;
  api(path: string, call?: ApiCall): Promise<Response>;
  /** Requests a path from the origin of a page. */
  page(slug: string, path: string, options?: WireOptions): Promise<WireAnswer>;
  close(): Promise<void>;
}

/** The service's clock starts at `nowMs`, when nothing in the fixtures has expired yet. */
export async function openInstallation({ dataDir, databaseUrl }: Place, nowMs: number): Promise<Installation> {
  const clock = new VirtualClock({ startMs: nowMs, passingMs: 20 });
  const own = { PORT: '0', DATA_DIR: dataDir, DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent', DEFAULT_TIER: 'pro' };
  const easel = await startEasel(parseSettings(own), { clock, databaseFiles: builtFiles(), builtDir: services().builtDir });
  return {
    clock,
    sql: easel.sql,
    adminToken: easel.adminToken,
    api: (path, { method = 'GET', token, body, headers = {} } = {}) => {
      const isBytes = body instanceof Uint8Array;
      return fetch(`http://127.0.0.1:${easel.port}${path}`, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
      });
    },
    page: (slug, path, options) => wire(easel.port, `${slug}.${easel.config.contentHost}`, path, options),
    close: async () => {
      if (!(await easel.close())) throw new Error('the service did not finish its work within the drain deadline');
    },
  };
}
