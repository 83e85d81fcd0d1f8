/**
 * `node dist/data.js export|import <file>`: the whole database to a file and back; `backup|restore <folder>`: with its files. With the settings of
 * the service, which may run during an export or a backup where its database is a server.
 */
import type { Log } from '../../actors/runtime/ports.ts';
import { ConfigError, parseSettings, type Settings } from '../platform/config.ts';
import { createLog } from '../platform/log.ts';
import { backUp, restore } from '../storage/backup.ts';
import { DataDirInUse } from '../storage/data-dir-lock.ts';
import { type DatabaseFiles, filesBesideProgram } from '../storage/database.ts';
import { SchemaError } from '../storage/migrations.ts';
import { exportData, importData, TransferError } from '../storage/transfer.ts';

const USAGE = `node dist/data.js export <file>      writes the database of DATA_DIR, or of DATABASE_URL, to a new file
node dist/data.js import <file>      reads it into an empty one, embedded or a server; files are not in it: keep DATA_DIR/objects
node dist/data.js backup <folder>    adds a backup of the database and of all files; files that are there already are not copied again
node dist/data.js restore <folder>   reads the last backup into an empty database, and its files into the object store`;

/** Failures that are printed without a stack, because the message is all that the user needs. */
const PLAIN = [ConfigError, DataDirInUse, SchemaError, TransferError];

async function main([command = '', path, ...rest]: readonly string[]): Promise<void> {
  const run = COMMANDS[command];
  if (run === undefined || path === undefined || rest.length > 0) throw new TransferError(USAGE);
  process.stdout.write(`${await run(path, parseSettings(process.env), createLog('error'), filesBesideProgram())}\n`);
}

type Command = (path: string, settings: Settings, log: Log, files: DatabaseFiles) => Promise<string>;

const COMMANDS: Readonly<Record<string, Command>> = {
  export: async (path, settings, log, files) => `${await exportData(settings, log, path, files)} rows written to ${path}`,
  import: async (path, settings, log, files) => `${await importData(settings, log, path, files)} rows read from ${path}`,
  async backup(folder, settings, log, files) {
    const { name, rows, objects, copied } = await backUp(settings, log, folder, files);
    return `${name}: ${rows} rows and ${objects} files, of which ${copied} were copied now`;
  },
  async restore(folder, settings, log, files) {
    const { name, rows, objects } = await restore(settings, log, folder, files);
    return `${name}: ${rows} rows and ${objects} files are restored`;
  },
};

main(process.argv.slice(2)).catch((error: unknown) => {
  const isPlain = PLAIN.some((kind) => error instanceof kind);
  const text = error instanceof Error ? ((isPlain ? error.message : error.stack) ?? error.message) : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
});
