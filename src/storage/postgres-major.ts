/** Which PostgreSQL made a data folder: its major version is in the format of the files, and another one cannot open them. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { SchemaError } from './migrations.ts';

/** Beside the database's own folder, in which every file is Postgres'. */
const RECORD = 'postgres.json';
/** The file in which Postgres records its major version. */
const PG_VERSION = 'PG_VERSION';

const record = z.object({
  /** Major version of PostgreSQL. */
  major: z.string(),
  pglite: z.string(),
  /** Version of Easel that last opened the folder. */
  easel: z.string(),
});
type Record = z.output<typeof record>;

/**
 * Throws `SchemaError` where the folder's database is of another major version than the embedded one, before anything touches it.
 * The embedded one's version is that of `templateDir`, which the build has it make; a program without a template cannot tell.
 */
export function refuseOtherMajor(dataDir: string, directory: string, templateDir: string): void {
  const [stored, ours] = [majorOf(directory), majorOf(templateDir)];
  if (stored === undefined || ours === undefined || stored === ours) return;
  const last = readRecord(dataDir);
  const made = last === undefined ? '' : `, last opened by Easel ${last.easel} with PGlite ${last.pglite}`;
  throw new SchemaError(
    `The database in ${directory} is of PostgreSQL ${stored}${made}. The embedded database of this Easel (${packageJson.version}) is PostgreSQL ${ours} and cannot open it; nothing was changed.
Export it with ${last === undefined ? `an Easel of PostgreSQL ${stored}` : `Easel ${last.easel}`}, and import it with this one:
  node dist/data.js export easel-data.gz      (there, with this DATA_DIR)
  mv ${directory} ${directory}-${stored}
  node dist/data.js import easel-data.gz      (here, with this DATA_DIR)
Files stay where they are.`,
  );
}

/** Call after a successful start. */
export function recordMajor(dataDir: string, directory: string): void {
  const major = majorOf(directory);
  if (major === undefined) return;
  const next: Record = { major, pglite: packageJson.dependencies['@electric-sql/pglite'], easel: packageJson.version };
  const last = readRecord(dataDir);
  if (last?.major === next.major && last.pglite === next.pglite && last.easel === next.easel) return;
  const path = join(dataDir, RECORD);
  writeFileSync(`${path}.new`, `${JSON.stringify(next)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function majorOf(directory: string): string | undefined {
  const path = join(directory, PG_VERSION);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

/** Undefined if the record is missing (older folders) or truncated by a crash; it is only used in messages. */
function readRecord(dataDir: string): Record | undefined {
  const path = join(dataDir, RECORD);
  if (!existsSync(path)) return undefined;
  try {
    return record.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}
