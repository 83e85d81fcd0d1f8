/** What this machine offers to the tests, and how they say plainly that something is missing. */
import { describe, inject } from 'vitest';

export interface Services {
  /** A server on which databases may be created, or null. */
  readonly postgresUrl: string | null;
  readonly redisUrl: string | null;
  readonly chromiumPath: string | null;
  /** The built program: main.js, cli.js, pglite-worker.js, migrations/, postgres-template/. */
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

/** A suite that needs a service of this machine. Without it the suite is skipped, which global-setup has said and CI refuses. */
export function describeWith(service: Optional): typeof describe.skip {
  return services()[service] === null ? describe.skip : describe;
}
