/** Removes the libraries of deleted workspaces. */
import type { ServiceDeps } from '../../deps.ts';
import { addRelease, lockUsage } from '../../people/usage/rows.ts';
import { deleteLibrary, listEndedLibraries } from './rows.ts';

/** Bounds a run; the next one goes on. */
const LIBRARIES_AT_ONCE = 1000;

/** Answers how many files it removed. */
export async function removeEndedLibraries({ sql, clock }: Pick<ServiceDeps, 'sql' | 'clock'>, signal: AbortSignal): Promise<number> {
  let files = 0;
  for (const id of await listEndedLibraries(sql, LIBRARIES_AT_ONCE)) {
    if (signal.aborted) break;
    files += await sql.begin(async (tx) => {
      await lockUsage(tx, id);
      const removed = await deleteLibrary(tx, id);
      await addRelease(tx, id, removed.bytes, clock.nowMs());
      return removed.files;
    });
  }
  return files;
}
