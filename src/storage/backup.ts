/**
 * Backups of an installation in a folder: for each an export of the database and the list of the objects that this state of the database names,
 * and the objects of all of them once. The database comes first: objects are stored before a row names them, and never change.
 */
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Log } from '../../actors/runtime/ports.ts';
import type { Settings } from '../platform/config.ts';
import type { DatabaseFiles } from './database.ts';
import { fileObjects } from './file-objects.ts';
import { ObjectMissing, type ObjectStore } from './objects.ts';
import { objectsDir } from './start-failures.ts';
import { exportData, importData, TransferError } from './transfer.ts';

const AT_ONCE = 8;
const ROWS_AT_ONCE = 1000;
const DIGEST = /^[0-9a-f]{64}$/;
/** `backup-20261123T211500Z`; in the order of time. */
const NAME = /^(backup-\d{8}T\d{6}Z)\.objects$/;

export interface BackedUp {
  readonly name: string;
  readonly rows: number;
  readonly objects: number;
  /** Objects that were not in the folder before. */
  readonly copied: number;
}

/** Adds a backup to the folder. Throws `TransferError`. */
export async function backUp(settings: Settings, log: Log, folder: string, files: DatabaseFiles, now = new Date()): Promise<BackedUp> {
  const name = `backup-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`;
  const store = await storeOf(settings);
  const kept = fileObjects(resolve(folder, 'objects'));
  await mkdir(join(folder, 'objects'), { recursive: true, mode: 0o700 });
  await kept.ready();
  const digests: string[] = [];
  const rows = await exportData(settings, log, join(folder, `${name}.gz`), files, async (tx) => {
    const found = tx<{ sha256: string }[]>`select encode(sha256, 'hex') as sha256 from stored_object order by sha256`;
    for await (const some of found.cursor(ROWS_AT_ONCE)) for (const { sha256 } of some) digests.push(sha256);
  });
  let copied = 0;
  const missing = await each(digests, async (sha256) => {
    if (await kept.has(sha256)) return;
    await kept.put(sha256, await store.read(sha256));
    copied += 1;
  });
  if (missing.length > 0) {
    await rm(join(folder, `${name}.gz`));
    throw new TransferError(
      `${missing.length} files were removed while the backup ran, or are lost (${missing[0]}): run it again. This backup is not kept.`,
    );
  }
  // Last: a backup without its list is not one.
  await writeDurably(join(folder, `${name}.objects`), digests.map((sha256) => `${sha256}\n`).join(''));
  return { name, rows, objects: digests.length, copied };
}

/** Reads the last backup of the folder into an empty database, and its objects into the store. Throws `TransferError`. */
export async function restore(settings: Settings, log: Log, folder: string, files: DatabaseFiles): Promise<Omit<BackedUp, 'copied'>> {
  const name = await lastOf(folder);
  const digests = (await readFile(join(folder, `${name}.objects`), 'utf8')).split('\n').filter((line) => DIGEST.test(line));
  const kept = fileObjects(resolve(folder, 'objects'));
  const store = await storeOf(settings);
  // Before the database, so that nothing is served whose files are not there.
  const missing = await each(digests, async (sha256) => {
    if (!(await store.has(sha256))) await store.put(sha256, await kept.read(sha256));
  });
  if (missing.length > 0) throw new TransferError(`${folder} lacks ${missing.length} files of ${name}, for example ${missing[0]}.`);
  return { name, rows: await importData(settings, log, join(folder, `${name}.gz`), files), objects: digests.length };
}

async function lastOf(folder: string): Promise<string> {
  const names = await readdir(folder).catch((error: Error) => {
    throw new TransferError(`${folder} cannot be read: ${error.message}.`, { cause: error });
  });
  const last = names
    .flatMap((file) => NAME.exec(file)?.[1] ?? [])
    .toSorted()
    .at(-1);
  if (last === undefined) throw new TransferError(`${folder} holds no backup.`);
  return last;
}

/** Returns the digests of objects that are missing. Any other failure rejects. */
async function each(digests: readonly string[], run: (sha256: string) => Promise<void>): Promise<readonly string[]> {
  const missing: string[] = [];
  const left = digests.values();
  const worker = async () => {
    for (const sha256 of left) {
      try {
        await run(sha256);
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error;
        missing.push(sha256);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return missing;
}

async function storeOf(settings: Settings): Promise<ObjectStore> {
  const { S3_ENDPOINT } = settings;
  const store =
    S3_ENDPOINT === undefined
      ? fileObjects(objectsDir(settings))
      : (await import('./s3-objects.ts')).s3Objects({ ...settings, S3_ENDPOINT });
  await store.ready();
  return store;
}

async function writeDurably(path: string, text: string): Promise<void> {
  const temporary = `${path}.part`;
  await writeFile(temporary, text, { mode: 0o600 });
  const file = await open(temporary, 'r+');
  await file.sync().finally(() => file.close());
  await rename(temporary, path);
}
