/** Starts and stops the embedded database of a data folder. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cp, open, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { lockDataDir } from './data-dir-lock.ts';
import { recordMajor, refuseOtherMajor } from './postgres-major.ts';

export interface WorkerInput {
  readonly directory: string;
  readonly socketPath: string;
}
export interface WorkerMessage {
  readonly state: 'listening' | 'stopped';
}

export interface EmbeddedDatabase {
  readonly socketPath: string;
  /** Settles only when the database crashes. */
  readonly lost: Promise<Error>;
  close(): Promise<void>;
}

/** The database cannot start on the existing files. */
export class EmbeddedDatabaseFailed extends Error {
  override readonly name = 'EmbeddedDatabaseFailed';
}

/** A unix socket's path fits in 108 bytes on Linux and 104 on macOS, its end included. */
const SOCKET_PATH_BYTES_MAX = 103;
/** A checkpoint of everything in memory takes well under a second; past this the next start recovers instead. */
const STOP_DEADLINE_MS = 5_000;

/** `workerFile` is the bundled worker; `templateDir` an initialised database to copy on first start, where the build made one. Throws `SchemaError` for a database of another major version. */
export async function startEmbedded(dataDir: string, workerFile: string, templateDir: string): Promise<EmbeddedDatabase> {
  const root = resolve(dataDir);
  const lock = lockDataDir(root);
  try {
    const directory = join(root, 'postgres');
    refuseOtherMajor(root, directory, templateDir);
    if (!existsSync(join(directory, 'PG_VERSION'))) await unpackTemplate(templateDir, directory);
    const { socketPath, removeSocket } = chooseSocketPath(root);
    const database = await startWorker(workerFile, { directory, socketPath });
    recordMajor(root, directory);
    return {
      socketPath,
      lost: database.lost,
      close: async () => {
        await database.close();
        removeSocket();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Copying takes a tenth of the time that initialising takes. Without a template PGlite initialises the folder itself. */
async function unpackTemplate(templateDir: string, directory: string): Promise<void> {
  // What a crash in the middle of the first start left behind.
  await rm(directory, { recursive: true, force: true });
  if (!existsSync(templateDir)) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return;
  }
  const unpacked = `${directory}.new`;
  await rm(unpacked, { recursive: true, force: true });
  await cp(templateDir, unpacked, { recursive: true });
  await syncTree(unpacked);
  await rename(unpacked, directory);
  await syncPath(dirname(directory));
}

/** More at once is no faster, and each takes one of the descriptors of the process. */
const SYNCS_AT_ONCE = 16;

/** Syncs the copied base files, because Postgres syncs only what it writes itself and a power cut could lose the rest. */
async function syncTree(directory: string): Promise<void> {
  const names = await readdir(directory, { recursive: true });
  // Shared by the lanes, each of which takes the next path when it has synced one.
  const paths = [directory, ...names.map((name) => join(directory, name))].values();
  const lane = async () => {
    for (const path of paths) await syncPath(path);
  };
  await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, lane));
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function chooseSocketPath(root: string): { socketPath: string; removeSocket: () => void } {
  const inside = join(root, 'postgres.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX)
    return { socketPath: inside, removeSocket: () => rmSync(inside, { force: true }) };
  const outside = mkdtempSync(join(tmpdir(), 'easel-'));
  return { socketPath: join(outside, 'postgres.sock'), removeSocket: () => rmSync(outside, { recursive: true, force: true }) };
}

async function startWorker(workerFile: string, input: WorkerInput): Promise<{ lost: Promise<Error>; close: () => Promise<void> }> {
  const worker = new Worker(workerFile, { workerData: input, name: 'pglite', execArgv: [] });
  let stopping = false;
  const stopped = new Promise<void>((done) => worker.once('exit', () => done()));
  const lost = new Promise<Error>((done) => {
    worker.once('error', done);
    worker.once('exit', (code) => {
      if (!stopping) done(new Error(`the embedded database ended with code ${code}`));
    });
  });
  const listening = new Promise<void>((done) => worker.once('message', () => done()));
  const failure = await Promise.race([listening.then(() => null), lost]);
  if (failure) throw new EmbeddedDatabaseFailed(failure.message, { cause: failure });
  return {
    lost,
    close: async () => {
      stopping = true;
      const checkpointed = new Promise<void>((done) => worker.once('message', () => done()));
      worker.postMessage('stop');
      const deadline = new Promise<void>((done) => setTimeout(done, STOP_DEADLINE_MS).unref());
      await Promise.race([checkpointed, stopped, deadline]);
      await worker.terminate();
    },
  };
}
