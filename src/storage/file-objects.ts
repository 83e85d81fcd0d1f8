/** Objects as files: `ab/cd/abcd…`, so that no folder grows too large. */
import { randomUUID } from 'node:crypto';
import { access, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertDigest, checkDigest, ObjectMissing, type ObjectStore } from './objects.ts';

/** A file that was being written when the process died. None takes this long to write. */
const LEFTOVER_AGE_MS = 60 * 60 * 1000;

export function fileObjects(directory: string): ObjectStore {
  const incoming = join(directory, 'incoming');
  const pathOf = (sha256: string) => {
    assertDigest(sha256);
    return join(directory, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  };

  return {
    async put(sha256, bytes) {
      const path = pathOf(sha256);
      checkDigest(sha256, bytes);
      const folder = dirname(path);
      if (!(await exists(path))) {
        const firstMade = await mkdir(folder, { recursive: true });
        const temporary = join(incoming, `${sha256}.${randomUUID()}`);
        await writeDurably(temporary, bytes);
        await rename(temporary, path);
        // The names of new folders are entries of their parents.
        if (firstMade !== undefined) {
          await syncFolder(dirname(folder));
          await syncFolder(directory);
        }
      }
      // Also when it was there: whoever renamed it may not have come to this yet.
      await syncFolder(folder);
    },

    has: (sha256) => exists(pathOf(sha256)),

    async read(sha256) {
      const bytes = await readFile(pathOf(sha256)).catch((error) => {
        throw isMissing(error) ? new ObjectMissing(sha256) : error;
      });
      checkDigest(sha256, bytes);
      return bytes;
    },

    delete: (sha256) => rm(pathOf(sha256), { force: true }),

    async ready() {
      await mkdir(incoming, { recursive: true });
      for (const name of await readdir(incoming)) await removeLeftover(join(incoming, name));
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

async function removeLeftover(path: string): Promise<void> {
  try {
    // Another process may be writing here right now: only what is old is left over. File times are the system's, not our clock's.
    if (Date.now() - (await stat(path)).mtimeMs > LEFTOVER_AGE_MS) await rm(path, { force: true });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
