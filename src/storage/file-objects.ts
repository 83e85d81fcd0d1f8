/** Objects as files: `ab/cd/abcd…`, so that no folder grows too large. */
import { randomUUID } from 'node:crypto';
import { access, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertDigest, checkDigest, ObjectCorrupt, ObjectMissing, type ObjectStore } from './objects.ts';
import { removeLeftovers } from './spool.ts';

const READ_BYTES = 256 * 1024;

export function fileObjects(directory: string): ObjectStore {
  const incoming = join(directory, 'incoming');
  const pathOf = (sha256: string) => {
    assertDigest(sha256);
    return join(directory, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  };
  /** `source` gives the path of a durable file on the same disk, which moves to its place. */
  const place = async (path: string, source: () => Promise<string>) => {
    const folder = dirname(path);
    if (!(await exists(path))) {
      const firstMade = await mkdir(folder, { recursive: true });
      await rename(await source(), path);
      // The names of new folders are entries of their parents.
      if (firstMade !== undefined) {
        await syncFolder(dirname(folder));
        await syncFolder(directory);
      }
    }
    // Needed even if the file existed: the process that renamed it may not have synced the folder yet.
    await syncFolder(folder);
  };

  return {
    async put(sha256, bytes) {
      const path = pathOf(sha256);
      checkDigest(sha256, bytes);
      await place(path, async () => {
        const temporary = join(incoming, `${sha256}.${randomUUID()}`);
        await writeDurably(temporary, bytes);
        return temporary;
      });
    },

    async putFile(sha256, path, sizeBytes) {
      const { size } = await stat(path);
      if (size !== sizeBytes) throw new Error(`${path} has ${size} bytes, not ${sizeBytes}`);
      await place(pathOf(sha256), () => Promise.resolve(path));
    },

    has: (sha256) => exists(pathOf(sha256)),

    async read(sha256) {
      const bytes = await readFile(pathOf(sha256)).catch((error) => {
        throw isMissing(error) ? new ObjectMissing(sha256) : error;
      });
      checkDigest(sha256, bytes);
      return bytes;
    },

    readRange: (sha256, start, end) => readRange(pathOf(sha256), sha256, start, end),

    delete: (sha256) => rm(pathOf(sha256), { force: true }),

    async probe() {
      await access(incoming);
    },

    async ready() {
      await mkdir(incoming, { recursive: true });
      await removeLeftovers(incoming);
    },
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Through one buffer, whatever the length: a stream of Node's would leave a new one behind with every chunk. */
async function* readRange(path: string, sha256: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r').catch((error) => {
    throw isMissing(error) ? new ObjectMissing(sha256) : error;
  });
  try {
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, Math.max(1, end - start + 1)));
    let at = start;
    while (at <= end) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at + 1), at);
      if (bytesRead === 0) throw new ObjectCorrupt(sha256);
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
