/**
 * Exports the whole database to one file that any version of PostgreSQL can import: rows as JSON, table by table, compressed. The file names
 * the migrations of its schema, so that a later release imports the rows under that schema and migrates them at its next start. Object
 * files are not included.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import type { Log } from '../../actors/runtime/ports.ts';
import { type Database, type DatabaseFiles, openDatabase } from './database.ts';
import { migrationFiles, SchemaError } from './migrations.ts';
import type { Queries, Transaction } from './sql.ts';

type Settings = Parameters<typeof openDatabase>[0];

/** A problem with the file or the database, reported to the user who started the transfer. */
export class TransferError extends Error {
  override readonly name = 'TransferError';
}

const header = z.object({ format: z.literal('easel-data'), migrations: z.array(z.string()) });
/** `rows`: a JSON array with some rows of the table, as PostgreSQL writes it. */
const part = z.object({ table: z.string(), rows: z.string() });

const ROWS_AT_ONCE = 200;
const LINE_END = '\n'.charCodeAt(0);

/** Writes a new file and returns its number of rows. Migrates the database first, as a start does. `beside` reads the same state. */
export async function exportData(
  settings: Settings,
  log: Log,
  path: string,
  files?: DatabaseFiles,
  beside?: (tx: Transaction) => Promise<void>,
): Promise<number> {
  let count = 0;
  const write = async (tx: Transaction) => {
    await beside?.(tx);
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    await pipeline(
      allLines(tx, (rows) => (count += rows)),
      createGzip(),
      file,
    );
  };
  await withDatabase(settings, log, files, ({ sql }) => sql.begin('isolation level repeatable read read only', write)).catch((error) => {
    throw isOfTheFile(error) ? new TransferError(`${path} cannot be written: ${error.message}.`, { cause: error }) : error;
  });
  return count;
}

/** The lines of a file. Calls `counted` with the number of rows in each. */
export async function* allLines(tx: Transaction, counted: (rows: number) => void): AsyncGenerator<string> {
  const migrations = await tx<{ name: string }[]>`select name from schema_migration order by version`;
  const first: z.input<typeof header> = { format: 'easel-data', migrations: migrations.map(({ name }) => name) };
  yield `${JSON.stringify(first)}\n`;
  for (const table of await tablesInOrder(tx)) {
    const found = tx.unsafe<{ row: string }[]>(`select row_to_json(t)::text as row from "${table}" t`).cursor(ROWS_AT_ONCE);
    for await (const rows of found) {
      counted(rows.length);
      const next: z.input<typeof part> = { table, rows: `[${rows.map(({ row }) => row).join(',')}]` };
      yield `${JSON.stringify(next)}\n`;
    }
  }
}

/** Imports a file into an empty database, all rows or none, and returns their number. */
export async function importData(settings: Settings, log: Log, path: string, files: DatabaseFiles): Promise<number> {
  let count = 0;
  // When the reader fails it also ends the streams, which then fail with nothing but "aborted".
  let cause: unknown;
  const read = async (lines: AsyncGenerator<string>) => {
    try {
      const { migrations } = parsed(header, (await lines.next()).value, path);
      count = await withMigrations(files, migrations, (known) =>
        withDatabase(settings, log, known, ({ sql }) => sql.begin((tx) => insertAll(tx, lines, path))),
      );
    } catch (error) {
      cause = error;
      throw error;
    }
  };
  await pipeline(createReadStream(path), createGunzip(), (source: AsyncIterable<Buffer>) => read(linesOf(source))).catch((failed) => {
    const error = cause ?? failed;
    throw isOfTheFile(error) ? new TransferError(`${path} cannot be read: ${error.message}.`, { cause: error }) : error;
  });
  return count;
}

async function insertAll(tx: Transaction, lines: AsyncIterable<string>, path: string): Promise<number> {
  await refuseUsed(tx);
  const tables = new Set(await tablesInOrder(tx));
  let count = 0;
  for await (const line of lines) {
    const { table, rows } = parsed(part, line, path);
    if (!tables.has(table)) throw new TransferError(`${path} has rows of ${table}, which is no table of its schema.`);
    count += await insertRows(tx, table, rows);
  }
  return count;
}

/** `rows`: a JSON array. Returns its number of rows. */
export async function insertRows(tx: Queries, table: string, rows: string): Promise<number> {
  const [stored] = await tx<{ columns: string }[]>`
    select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
    where attrelid = ${`"${table}"`}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`;
  // A generated column has its value from the others.
  const columns = stored?.columns ?? '';
  const insert = `insert into "${table}" (${columns}) select ${columns} from json_populate_recordset(null::"${table}", $1::text::json)`;
  return (await tx.unsafe(insert, [rows])).count;
}

function parsed<T>(schema: z.ZodType<T>, line: string | undefined, path: string): T {
  try {
    return schema.parse(JSON.parse(line ?? ''));
  } catch (cause) {
    throw new TransferError(`${path} is not a file that an export has written.`, { cause });
  }
}

const OF_THE_FILE = /^(ENOENT|EEXIST|EACCES|EPERM|EISDIR|ENOTDIR|EROFS|ENOSPC|Z_[A-Z_]+)$/;

/** The file does not exist, exists already, is not compressed or is truncated. */
function isOfTheFile(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && OF_THE_FILE.test(String(error.code));
}

async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let begun: Buffer[] = [];
  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end)]).toString();
      begun = [];
      from = end + 1;
    }
    begun.push(chunk.subarray(from));
  }
}

async function refuseUsed(tx: Transaction): Promise<void> {
  const [row] = await tx<{ used: boolean }[]>`select exists (select from account) as used`;
  if (row?.used) throw new TransferError('The database has accounts already. Import into a new DATA_DIR, or a new database of the server.');
}

/**
 * Tables in dependency order: referenced tables come before those that reference them. A salt of page views is left out, because a file
 * would keep it beyond its day, and so is the index of the search, which is made anew: every artifact that is imported is queued for it.
 */
async function tablesInOrder(sql: Queries): Promise<readonly string[]> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables
    where schemaname = 'public' and tablename not in ('schema_migration', 'document_piece', 'page_view_salt') and tablename not like 'search\\_%'
    order by tablename`;
  const references = await sql<{ from: string; to: string }[]>`
    select f.relname as "from", t.relname as "to"
    from pg_constraint c join pg_class f on f.oid = c.conrelid join pg_class t on t.oid = c.confrelid
    where c.contype = 'f' and f.relname <> t.relname`;
  const ordered: string[] = [];
  const left = new Set(tables.map(({ name }) => name));
  while (left.size > 0) {
    const free = [...left].filter((name) => !references.some(({ from, to }) => from === name && left.has(to)));
    if (free.length === 0) throw new Error(`these tables refer to each other in a circle: ${[...left].join(', ')}`);
    for (const name of free) {
      ordered.push(name);
      left.delete(name);
    }
  }
  return ordered;
}

async function withDatabase<T>(
  settings: Settings,
  log: Log,
  files: DatabaseFiles | undefined,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(settings, log, files);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/** Runs `use` with the migrations of these names alone. */
async function withMigrations<T>(files: DatabaseFiles, names: readonly string[], use: (files: DatabaseFiles) => Promise<T>): Promise<T> {
  const known = new Set(await readdir(files.migrationsDir));
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new SchemaError(
      `The file has schema ${unknown.join(', ')}, which this program does not know. Import it with the version that made it, or a newer one.`,
    );
  }
  if (names.length === migrationFiles([...known]).length) return use(files);
  const migrationsDir = await mkdtemp(join(tmpdir(), 'easel-migrations-'));
  try {
    for (const name of names) await cp(join(files.migrationsDir, name), join(migrationsDir, name));
    // The template of a first start has this program's schema. Without one the embedded database is initialised empty.
    return await use({ ...files, migrationsDir, templateDir: join(migrationsDir, 'none') });
  } finally {
    await rm(migrationsDir, { recursive: true });
  }
}
