/** Services of this machine that tests need, and suites that are skipped without them. */
import { describe, inject } from 'vitest';

export interface Services {
  /** A server on which databases may be created, or null. */
  readonly postgresUrl: string | null;
  /** The name of a database there with the current schema, which nothing is connected to. */
  readonly postgresTemplate: string;
  /** TEST_DATABASES: which kinds of databases suites run on, see `databaseKinds`. */
  readonly databases: 'server' | 'embedded' | 'both';
  readonly redisUrl: string | null;
  readonly chromiumPath: string | null;
  /** The built program: main.js, data.js, cli.js, pglite-worker.js, migrations/, postgres-template/. */
  readonly builtDir: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    services: Services;
  }
}

export function services(): Services {
  return inject('services');
}

type Optional = 'postgresUrl' | 'redisUrl' | 'chromiumPath';

/** A suite that needs a service of this machine. Without the service it is skipped, which global-setup reports and CI refuses. */
export function describeWith(service: Optional): typeof describe.skip {
  return services()[service] === null ? describe.skip : describe;
}
