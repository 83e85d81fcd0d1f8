/** Numbered SQL files, run once each at start. Refuses a schema that this program does not know. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReservedSql } from 'postgres';
import type { Sql } from './sql.ts';

export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, lowercase hex. */
  readonly checksum: string;
}

interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
}

/** Any number that nothing else locks: processes that start at once take turns. */
const ADVISORY_LOCK = 7_013_201;

/** Brings the schema up to date. Safe to run from several processes at once. Throws `SchemaError` when it is newer or altered. */
export async function migrate(sql: Sql, directory: string): Promise<void> {
  const known = await readMigrations(directory);
  const connection = await sql.reserve();
  try {
    await connection`select pg_advisory_lock(${ADVISORY_LOCK})`;
    try {
      await applyPending(connection, known);
    } finally {
      await connection`select pg_advisory_unlock(${ADVISORY_LOCK})`;
    }
  } finally {
    connection.release();
  }
}

async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const files = (await readdir(directory)).filter((file) => /^\d{4}_[a-z0-9_]+\.sql$/.test(file)).sort();
  return Promise.all(
    files.map(async (name) => {
      const text = await readFile(join(directory, name), 'utf8');
      return { version: Number(name.slice(0, 4)), name, sql: text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

async function applyPending(connection: ReservedSql, known: readonly Migration[]): Promise<void> {
  await connection`
    create table if not exists schema_migration (
      version integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`;
  const applied = await connection<AppliedMigration[]>`select version, name, checksum from schema_migration order by version`;
  refuseUnknown(known, applied);
  const done = new Set(applied.map((row) => row.version));
  for (const migration of known) {
    if (!done.has(migration.version)) await applyOne(connection, migration);
  }
}

function refuseUnknown(known: readonly Migration[], applied: readonly AppliedMigration[]): void {
  const byVersion = new Map(known.map((migration) => [migration.version, migration]));
  for (const row of applied) {
    const migration = byVersion.get(row.version);
    if (!migration) {
      throw new SchemaError(
        `The database has schema ${row.name}, which this program does not know. Start the program version that made it, or a newer one.`,
      );
    }
    if (migration.checksum !== row.checksum) {
      throw new SchemaError(
        `Schema ${row.name} was altered after it was applied to this database. Restore the file as it was and put changes into a new one.`,
      );
    }
  }
}

async function applyOne(connection: ReservedSql, migration: Migration): Promise<void> {
  await connection`begin`;
  try {
    // The embedded database has one session for all connections, which shares its advisory locks: there this is what makes them take turns.
    const [applied] = await connection`select from schema_migration where version = ${migration.version}`;
    if (applied !== undefined) {
      await connection`rollback`;
      return;
    }
    await connection.unsafe(migration.sql);
    await connection`
      insert into schema_migration (version, name, checksum)
      values (${migration.version}, ${migration.name}, ${migration.checksum})`;
    await connection`commit`;
  } catch (error) {
    await connection`rollback`;
    throw new SchemaError(`Schema ${migration.name} could not be applied: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
