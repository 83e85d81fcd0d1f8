/** Numbered SQL files, run once each at start. Refuses a schema that this program does not know. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReservedSql } from 'postgres';
import type { Sql } from './sql.ts';

export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

interface MigrationFile {
  readonly version: number;
  readonly name: string;
}

interface Migration extends MigrationFile {
  readonly sql: string;
  /** SHA-256 of the file, lowercase hex. */
  readonly checksum: string;
}

interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
}

/** Arbitrary advisory lock id, used only here, so that processes that start at once migrate in turn. */
const ADVISORY_LOCK = 7_013_201;

/** Brings the schema up to date. Safe to run from several processes at once. Throws `SchemaError` when it is newer or altered, or when the files are not numbered one by one. */
export async function migrate(sql: Sql, directory: string): Promise<void> {
  const known = await readMigrations(directory);
  const connection = await sql.reserve();
  try {
    // A migration may rewrite a large table, and another process wait for it, for as long as it takes.
    await connection`set statement_timeout = 0`;
    await connection`select pg_advisory_lock(${ADVISORY_LOCK})`;
    try {
      await applyPending(connection, known);
    } finally {
      await connection`select pg_advisory_unlock(${ADVISORY_LOCK})`;
      await connection`reset statement_timeout`;
    }
  } finally {
    connection.release();
  }
}

const NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Files that look like a migration but are misnamed are refused, because skipping one would silently leave its change out. */
const MEANT_AS_ONE = /^\d|\.sql$/i;

/** The migrations among the file names of a folder, by number; gaps are allowed. The build checks them as well. Throws `SchemaError`. */
export function migrationFiles(names: readonly string[]): readonly MigrationFile[] {
  const files = new Map<number, MigrationFile>();
  for (const name of [...names].sort()) {
    if (!MEANT_AS_ONE.test(name)) continue;
    if (!NAME.test(name)) {
      throw new SchemaError(
        `The migration ${name} has a malformed name. Name it like 0007_comment_votes.sql: four digits, "_", then a-z, 0-9 and "_".`,
      );
    }
    const version = Number(name.slice(0, 4));
    const other = files.get(version);
    if (other !== undefined) {
      throw new SchemaError(
        `The migrations ${other.name} and ${name} have the same number. Give the one that is not released yet the next free number.`,
      );
    }
    files.set(version, { version, name });
  }
  return [...files.values()];
}

async function readMigrations(directory: string): Promise<readonly Migration[]> {
  return Promise.all(
    migrationFiles(await readdir(directory)).map(async ({ version, name }) => {
      const text = await readFile(join(directory, name), 'utf8');
      return { version, name, sql: text, checksum: createHash('sha256').update(text).digest('hex') };
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
    if (migration.checksum !== row.checksum && migration.name !== row.name) {
      throw new SchemaError(
        `The database has schema ${row.name}, and this program has ${migration.name} under the same number. Start the program version that made the database, or give ${migration.name} the next free number.`,
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
    // The connections of the embedded database share one session and therefore its advisory locks, so there only this lock serialises them.
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
