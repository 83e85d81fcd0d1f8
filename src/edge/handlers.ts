/** Endpoints that the edge answers by itself: OpenAPI, the reference page, health, readiness, metrics. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Failure } from '../../protocol/core/errors.ts';
import type { operations } from '../../protocol/core/operations.ts';
import { DEPENDENCIES } from '../../protocol/core/operations.ts';
import type { DependencyName, DependencyWatch } from '../platform/dependency-watch.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Handlers } from './call.ts';
import { dependencyFailure, ESSENTIAL, presentHealth } from './dependency-failures.ts';
import { DOCS_STYLE, docsPage, docsScript } from './pages.ts';
import type { Readiness } from './readiness.ts';
import { StaticFile } from './static-file.ts';

interface OperationsDeps {
  readonly baseUrl: string;
  /** The OpenAPI document as the build has written it, with `{base_url}` for this service's address. */
  readonly openapi: string;
  readonly dependencies: Pick<DependencyWatch, 'health' | 'watches'>;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
}

const HTML = 'text/html; charset=utf-8';
const PAGE_HEADERS = {
  'Cache-Control': 'no-cache',
  // Swagger UI sets style attributes and shows images from data: URLs; nothing is loaded from another host.
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Referrer-Policy': 'no-referrer',
};
const OPENAPI_HEADERS = { 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*' };
const FILE_HEADERS = { 'Cache-Control': 'public, no-cache', 'Cross-Origin-Resource-Policy': 'same-origin' };

/** Files of the reference page that swagger-ui-dist provides. */
const LIBRARY_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

export function operationHandlers(deps: OperationsDeps): Handlers<keyof typeof operations> {
  const openapi = new StaticFile(withAddress(deps), 'application/json', OPENAPI_HEADERS);
  const files = new Map<string, StaticFile>([
    ['easel.css', new StaticFile(DOCS_STYLE, 'text/css; charset=utf-8', FILE_HEADERS)],
    ['start.js', new StaticFile(docsScript(), 'text/javascript; charset=utf-8', FILE_HEADERS)],
  ]);
  return {
    'operations.openapi': (call) => openapi.reply(call),
    'operations.docs': () => ({ reply: 'ok', body: docsPage(), type: HTML, headers: PAGE_HEADERS }),
    'operations.docsFile': async (call) => {
      const name = call.params.file;
      let file = files.get(name);
      if (file === undefined) {
        const read = await libraryFile(name);
        // Another call may have read the file meanwhile and encoded it already.
        file = files.get(name) ?? read;
        files.set(name, file);
      }
      return file.reply(call);
    },
    'operations.alive': () => ({ reply: 'ok', body: { status: 'ok' } }),
    'operations.ready': () => {
      if (deps.readiness.state !== 'serving') throw new Failure('UNAVAILABLE', { message: `The process is ${deps.readiness.state}.` });
      const down = ESSENTIAL.find((name) => deps.dependencies.health(name).state === 'down');
      if (down !== undefined) throw dependencyFailure(down, deps.dependencies.health(down));
      const degraded = DEPENDENCIES.filter((name) => deps.dependencies.health(name).state === 'down');
      const health = (name: DependencyName) => presentHealth(deps.dependencies.health(name));
      const dependencies = {
        database: health('database'),
        objects: health('objects'),
        mail: health('mail'),
        ...(deps.dependencies.watches('redis') && { redis: health('redis') }),
      };
      return { reply: 'ok', body: { status: 'ready', degraded, dependencies } } as const;
    },
    'operations.metrics': async () => ({ reply: 'ok', body: await deps.metrics.text(), type: deps.metrics.contentType }),
  };
}

function withAddress({ openapi, baseUrl }: OperationsDeps): string {
  return openapi.replace('"{base_url}"', () => JSON.stringify(baseUrl));
}

async function libraryFile(name: string): Promise<StaticFile> {
  const type = Object.hasOwn(LIBRARY_FILES, name) ? LIBRARY_FILES[name] : undefined;
  if (type === undefined) throw new Failure('NOT_FOUND');
  const library = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return new StaticFile(await readFile(join(library, name)), type, FILE_HEADERS);
}
