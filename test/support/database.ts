/** Databases for one suite each: on the server when there is one, else embedded. `close` also removes them. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import type { Log } from '../../actors/runtime/ports.ts';
import { type Database, type DatabaseFiles, openDatabase } from '../../src/storage/database.ts';
import { services } from './services.ts';

export type DatabaseKind = 'postgres' | 'embedded';

export const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * The kinds for suites of what stands above the SQL: `describe.each(databaseKinds())`. One kind a run, because both would double its time:
 * the server where there is one, the embedded database with TEST_DATABASES=embedded (CI's second run), both with TEST_DATABASES=both.
 */
export function databaseKinds(): readonly DatabaseKind[] {
  const { postgresUrl, databases } = services();
  if (postgresUrl === null || databases === 'embedded') return ['embedded'];
  return databases === 'both' ? ['postgres', 'embedded'] : ['postgres'];
}

/** Both kinds, as far as this machine has them: for suites of the SQL itself and of what differs between the two. */
export function everyDatabaseKind(): readonly DatabaseKind[] {
  const { postgresUrl, databases } = services();
  return postgresUrl === null || databases === 'embedded' ? ['embedded'] : ['postgres', 'embedded'];
}

/** The kind for a suite that runs on one. */
export function defaultDatabaseKind(): DatabaseKind {
  return services().postgresUrl === null ? 'embedded' : 'postgres';
}

export function builtFiles(): DatabaseFiles {
  const { builtDir } = services();
  return {
    migrationsDir: join(builtDir, 'migrations'),
    workerFile: join(builtDir, 'pglite-worker.js'),
    documentWorkerFile: join(builtDir, 'document-worker.js'),
    templateDir: join(builtDir, 'postgres-template'),
    dataDirProbeFile: join(builtDir, 'data-dir-probe.js'),
  };
}

export function builtPageSdk(): string {
  return join(services().builtDir, 'page');
}

/** Where the build has put the web app. */
export function builtWebApp(): string {
  return join(services().builtDir, 'web');
}

/** Creates an empty folder outside the repository. */
export function temporaryDir(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'easel-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Creates a database on the server: with the current schema, which is copied because its migrations take ten times as long, or empty.
 * `drop` also ends connections that a failed test left open.
 */
export async function createServerDatabase(
  content: 'schema' | 'empty' = 'schema',
): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const { postgresUrl, postgresTemplate } = services();
  if (postgresUrl === null) throw new Error('this machine has no PostgreSQL server; use describeWith("postgresUrl")');
  const name = `easel_test_${randomBytes(8).toString('hex')}`;
  const onServer = async (statement: string) => {
    const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined });
    await sql.unsafe(statement);
    await sql.end();
  };
  await onServer(content === 'schema' ? `create database ${name} template ${postgresTemplate}` : `create database ${name}`);
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`drop database ${name} with (force)`) };
}

export interface TestDatabase extends Database {
  readonly kind: DatabaseKind;
}

/** Opens a new database with the current schema. */
export async function openTestDatabase(kind: DatabaseKind = defaultDatabaseKind()): Promise<TestDatabase> {
  const folder = temporaryDir();
  const server = kind === 'postgres' ? await createServerDatabase() : null;
  const database = await openDatabase({ DATABASE_URL: server?.url, DATABASE_POOL: 8, DATA_DIR: folder.path }, SILENT, builtFiles());
  return {
    ...database,
    kind,
    close: async () => {
      await database.close();
      await server?.drop();
      folder.remove();
    },
  };
}
