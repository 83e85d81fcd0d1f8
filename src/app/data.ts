/** `node dist/data.js export|import <file>`: the whole database to a file and back, with the settings of the service, which must not run. */
import { ConfigError, parseSettings } from '../platform/config.ts';
import { createLog } from '../platform/log.ts';
import { DataDirInUse } from '../storage/data-dir-lock.ts';
import { filesBesideProgram } from '../storage/database.ts';
import { SchemaError } from '../storage/migrations.ts';
import { exportData, importData, TransferError } from '../storage/transfer.ts';

const USAGE = `node dist/data.js export <file>   writes the database of DATA_DIR, or of DATABASE_URL, to a new file
node dist/data.js import <file>   reads it into an empty one, embedded or a server; files are not in it: keep DATA_DIR/objects`;

/** Failures that are printed without a stack, because the message is all that the user needs. */
const PLAIN = [ConfigError, DataDirInUse, SchemaError, TransferError];

async function main([command, path, ...rest]: readonly string[]): Promise<void> {
  if ((command !== 'export' && command !== 'import') || path === undefined || rest.length > 0) throw new TransferError(USAGE);
  const settings = parseSettings(process.env);
  const log = createLog('error');
  const files = filesBesideProgram();
  const rows = command === 'export' ? await exportData(settings, log, path, files) : await importData(settings, log, path, files);
  process.stdout.write(`${rows} rows ${command === 'export' ? 'written to' : 'read from'} ${path}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const isPlain = PLAIN.some((kind) => error instanceof kind);
  const text = error instanceof Error ? ((isPlain ? error.message : error.stack) ?? error.message) : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
});
