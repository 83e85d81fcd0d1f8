/** Goes through the folders of a source, each once, and takes what is new or has changed. */
import type { UserPrincipal } from '../../../../actors/access/access.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { DriveFailure } from './providers/calls.ts';
import type { RemoteFile, RemotePage, RemotePlace } from './providers/provider.ts';
import { StopRun } from './record.ts';
import { noteSeen, readItems } from './runs.ts';
import { type FoundFile, markOf, type TakeDeps, type Taking, takeFile } from './taking.ts';

export interface Walk extends Taking {
  /** Asks anew whether the source's maker may still do this; before each page. Throws `StopRun`. */
  readonly requireAccess: () => Promise<UserPrincipal>;
}

export interface Walked {
  /** Everything there was looked at: what was not seen is gone. */
  readonly isWhole: boolean;
  readonly isLimited: boolean;
}

/** A folder of a provider that never comes to an end. */
const PAGES_MAX = 2 * (LIMITS.importWalkFoldersMax + LIMITS.importFilesMax);

export async function walkSource(deps: TakeDeps, walk: Walk): Promise<Walked> {
  return new Walker(deps, walk).run();
}

interface Waiting {
  readonly place: RemotePlace;
  readonly path: string;
}

class Walker {
  readonly #deps: TakeDeps;
  readonly #walk: Walk;
  readonly #waiting: Waiting[];
  /** Folders can contain each other, and a file can be in several. */
  readonly #folders = new Set<string>();
  readonly #files = new Set<string>();
  #pages = 0;
  #isWhole = true;
  #isLimited = false;

  constructor(deps: TakeDeps, walk: Walk) {
    this.#deps = deps;
    this.#walk = walk;
    const root = { place: walk.source.remote, path: '' };
    this.#waiting = [root];
    this.#folders.add(keyOf(root.place));
  }

  async run(): Promise<Walked> {
    for (let at = 0; at < this.#waiting.length && !this.#isLimited; at += 1) {
      await this.#folder(this.#waiting[at] as Waiting, at === 0);
    }
    return { isWhole: this.#isWhole && !this.#isLimited, isLimited: this.#isLimited };
  }

  async #folder({ place, path }: Waiting, isRoot: boolean): Promise<void> {
    let page: string | null = null;
    do {
      await this.#walk.requireAccess();
      this.#requireTime();
      const found = await this.#page(place, path, page, isRoot);
      if (found === null) return;
      for (const folder of found.folders) this.#meet(folder.place, join(path, folder.name));
      await this.#take(found.files, path);
      page = found.next;
    } while (page !== null && !this.#isLimited);
  }

  /** Null for a folder below that cannot be read: the others can. */
  async #page(place: RemotePlace, path: string, page: string | null, isRoot: boolean): Promise<RemotePage | null> {
    this.#pages += 1;
    if (this.#pages > PAGES_MAX) {
      this.#isLimited = true;
      return null;
    }
    try {
      return await this.#walk.provider.children(this.#walk.calls, place, page);
    } catch (error) {
      if (!(error instanceof DriveFailure) || isRoot || (error.kind !== 'gone' && error.kind !== 'denied')) throw error;
      this.#isWhole = false;
      this.#walk.record.tell(path, 'failed', 'FOLDER_UNREADABLE', error.message);
      return null;
    }
  }

  #requireTime(): void {
    if (this.#deps.clock.nowMs() - this.#walk.claim.startedAtMs > LIMITS.importRunMs)
      throw new StopRun('STALLED', `The run takes longer than ${LIMITS.importRunMs / 3_600_000} hours.`);
  }

  #meet(place: RemotePlace, path: string): void {
    const key = keyOf(place);
    if (this.#folders.has(key)) return;
    if (this.#folders.size >= LIMITS.importWalkFoldersMax) {
      this.#isLimited = true;
      return;
    }
    this.#folders.add(key);
    this.#waiting.push({ place, path });
  }

  async #take(listed: readonly RemoteFile[], path: string): Promise<void> {
    const { record, claim, source } = this.#walk;
    // A page can name a file twice, too.
    const ofId = new Map(listed.map((file) => [file.id, file]));
    const fresh = [...ofId.values()].filter(({ id }) => !this.#files.has(id));
    const files = fresh.slice(0, LIMITS.importFilesMax - this.#files.size);
    if (files.length < fresh.length) this.#isLimited = true;
    for (const { id } of files) this.#files.add(id);
    record.counts.found += files.length;
    const ids = files.map(({ id }) => id);
    const items = new Map((await readItems(this.#deps.sql, source.id, ids)).map((item) => [item.remote_id, item]));
    await noteSeen(this.#deps.sql, claim, ids);
    const changed: FoundFile[] = [];
    for (const file of files) {
      const item = items.get(file.id);
      if (item === undefined || item.mark !== markOf(source, file)) changed.push({ file, path: join(path, file.name), item });
      // A process that had the run before has stored it.
      else if (item.stored_by === claim.id) record.counts[item.outcome] += 1;
      else record.counts.unchanged += 1;
    }
    await this.#takeAll(changed);
    await record.save();
  }

  /** A few at once. Where one ends the run, the others under way come to their end first. */
  async #takeAll(changed: readonly FoundFile[]): Promise<void> {
    const failures: unknown[] = [];
    let next = 0;
    let unsaved = 0;
    const takeNext = async () => {
      while (next < changed.length && failures.length === 0) {
        const found = changed[next] as FoundFile;
        next += 1;
        try {
          this.#walk.signal.throwIfAborted();
          this.#requireTime();
          await takeFile(this.#deps, this.#walk, found);
          unsaved += 1;
          if (unsaved >= SAVED_EVERY) {
            unsaved = 0;
            await this.#walk.record.save();
          }
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: LIMITS.importFilesAtOnce }, takeNext));
    if (failures.length > 0) throw failures[0];
  }
}

/** Files after which people see how far it is. */
const SAVED_EVERY = 20;

function keyOf({ driveId, itemId }: RemotePlace): string {
  return `${driveId ?? ''}/${itemId}`;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}
