/** What the edge answers by itself: the interface's description, the reference and home pages, health, readiness, metrics. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Clock } from '../../actors/ports.ts';
import type { operations } from '../../protocol/endpoints/operations.ts';
import { Failure } from '../../protocol/errors.ts';
import { openapiDocument } from '../../protocol/openapi.ts';
import type { Metrics } from '../metrics.ts';
import type { Sql } from '../storage/sql.ts';
import type { Handlers } from './call.ts';
import { docsPage, docsScript, homePage, PAGE_STYLE } from './pages.ts';
import type { Readiness } from './readiness.ts';

interface OperationsDeps {
  readonly baseUrl: string;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
}

/** A database that answers later than this cannot serve anybody. */
const DATABASE_PATIENCE_MS = 2000;

const HTML = 'text/html; charset=utf-8';
const PAGE_HEADERS = {
  'Cache-Control': 'no-cache',
  // Swagger UI sets style attributes and shows pictures from data: URLs; nothing comes from another host.
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Referrer-Policy': 'no-referrer',
};
const FILE_HEADERS = { 'Cache-Control': 'public, no-cache', 'Cross-Origin-Resource-Policy': 'same-origin' };

/** Files of the reference page that come with swagger-ui-dist. */
const LIBRARY_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

interface PageFile {
  readonly body: Uint8Array | string;
  readonly type: string;
  readonly etag: string;
}

export function operationHandlers(deps: OperationsDeps): Handlers<keyof typeof operations> {
  const openapi = pageFile(JSON.stringify(openapiDocument(deps.baseUrl)), 'application/json');
  const home = homePage(deps.baseUrl);
  const files = new Map<string, PageFile>([
    ['easel.css', pageFile(PAGE_STYLE, 'text/css; charset=utf-8')],
    ['start.js', pageFile(docsScript(), 'text/javascript; charset=utf-8')],
  ]);
  return {
    'operations.openapi': () => ({ reply: 'ok', ...openapi, headers: { 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*' } }),
    'operations.docs': () => ({ reply: 'ok', body: docsPage(), type: HTML, headers: PAGE_HEADERS }),
    'operations.docsFile': async ({ params }) => {
      const file = files.get(params.file) ?? (await libraryFile(params.file));
      files.set(params.file, file);
      return { reply: 'ok', ...file, headers: FILE_HEADERS };
    },
    'operations.home': () => ({ reply: 'ok', body: home, type: HTML, headers: PAGE_HEADERS }),
    'operations.alive': () => ({ reply: 'ok', body: { status: 'ok' } }),
    'operations.ready': async () => {
      if (deps.readiness.state !== 'serving') throw new Failure('UNAVAILABLE', { message: `The process is ${deps.readiness.state}.` });
      if (!(await databaseAnswers(deps))) throw new Failure('UNAVAILABLE', { message: 'The database does not answer.', retryAfterS: 5 });
      return { reply: 'ok', body: { status: 'ready' } };
    },
    'operations.metrics': async () => ({ reply: 'ok', body: await deps.metrics.text(), type: deps.metrics.contentType }),
  };
}

function pageFile(body: Uint8Array | string, type: string): PageFile {
  return { body, type, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

async function libraryFile(name: string): Promise<PageFile> {
  const type = Object.hasOwn(LIBRARY_FILES, name) ? LIBRARY_FILES[name] : undefined;
  if (type === undefined) throw new Failure('NOT_FOUND');
  const library = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return pageFile(await readFile(join(library, name)), type);
}

function databaseAnswers({ sql, clock }: OperationsDeps): Promise<boolean> {
  return new Promise((resolve) => {
    const patience = clock.after(DATABASE_PATIENCE_MS, () => resolve(false));
    const settle = (answers: boolean) => {
      patience.cancel();
      resolve(answers);
    };
    sql`select 1`.then(
      () => settle(true),
      () => settle(false),
    );
  });
}
