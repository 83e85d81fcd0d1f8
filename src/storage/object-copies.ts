/** The folder of copies that `cached-objects.ts` reads from: `ab/abcd…`, whose least recently used files give way. */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Log } from '../../actors/runtime/ports.ts';
import { checkDigest, ObjectCorrupt } from './objects.ts';
import { readFileRange } from './read-file-range.ts';
import { removeLeftovers } from './spool.ts';

/** A larger object would displace too much, so it is read from the store each time. */
const ENTRY_SHARE = 1 / 8;
/** Objects that are being fetched are on the disk as well; beyond this share of the cache further ones are read past it. */
const FETCHING_SHARE = 1 / 4;
/** What the list of copies takes in memory is some 300 bytes a copy. */
const ENTRIES_MAX = 100_000;
/** The order of use is kept across restarts by the times of the files, which need not be exact. */
const TOUCH_MS = 60 * 60 * 1000;
export interface CacheOptions {
  readonly directory: string;
  readonly bytesMax: number;
  readonly log: Log;
}

interface Copy {
  readonly sizeBytes: number;
  /** False for a copy that an earlier process has left, which may be damaged, until its digest has been compared. */
  checked: boolean;
  touchedMs: number;
}

export class Copies {
  readonly #directory: string;
  readonly #log: Log;
  readonly #known: LRUCache<string, Copy>;
  readonly #entryBytesMax: number;
  readonly #fetchingBytesMax: number;
  #fetchingBytes = 0;

  constructor({ directory, bytesMax, log }: CacheOptions) {
    this.#directory = directory;
    this.#log = log;
    this.#entryBytesMax = Math.floor(bytesMax * ENTRY_SHARE);
    this.#fetchingBytesMax = Math.floor(bytesMax * FETCHING_SHARE);
    this.#known = new LRUCache({
      max: ENTRIES_MAX,
      maxSize: bytesMax - this.#fetchingBytesMax,
      sizeCalculation: ({ sizeBytes }) => sizeBytes + 1,
      dispose: (_copy, sha256, reason) => {
        if (reason !== 'set') void this.#remove(sha256);
      },
    });
  }

  get bytes(): number {
    return this.#known.calculatedSize;
  }

  /** Lists what an earlier process has left, the least recently used first. */
  async load(): Promise<void> {
    await mkdir(this.#incoming, { recursive: true });
    await removeLeftovers(this.#incoming);
    const found: { readonly sha256: string; readonly sizeBytes: number; readonly usedMs: number }[] = [];
    for (const folder of await readdir(this.#directory)) {
      if (!/^[0-9a-f]{2}$/.test(folder)) continue;
      for (const sha256 of await readdir(join(this.#directory, folder))) {
        const file = await stat(join(this.#directory, folder, sha256)).catch(() => undefined);
        if (file !== undefined) found.push({ sha256, sizeBytes: file.size, usedMs: file.mtimeMs });
      }
    }
    found.sort((a, b) => a.usedMs - b.usedMs);
    for (const { sha256, sizeBytes, usedMs } of found) this.#known.set(sha256, { sizeBytes, checked: false, touchedMs: usedMs });
  }

  /** The whole copy; undefined where there is none that is good. */
  async read(sha256: string): Promise<Buffer | undefined> {
    const copy = this.#known.get(sha256);
    if (copy === undefined) return undefined;
    try {
      const bytes = await readFile(this.#pathOf(sha256));
      checkDigest(sha256, bytes);
      this.#used(sha256, copy);
      return bytes;
    } catch (error) {
      this.#damaged(sha256, error);
      return undefined;
    }
  }

  /** The open file of a copy; undefined where there is none that is good. */
  async open(sha256: string): Promise<FileHandle | undefined> {
    const copy = this.#known.get(sha256);
    if (copy === undefined) return undefined;
    let file: FileHandle | undefined;
    try {
      file = await open(this.#pathOf(sha256), 'r');
      if (!copy.checked) await checkFile(file, sha256, copy.sizeBytes);
      this.#used(sha256, copy);
      return file;
    } catch (error) {
      await file?.close();
      this.#damaged(sha256, error);
      return undefined;
    }
  }

  async admit(sha256: string, bytes: Uint8Array): Promise<void> {
    if (!this.reserve(bytes.length)) return;
    const path = this.newPath();
    try {
      await writeFile(path, bytes);
      await this.take(sha256, path, bytes.length);
    } catch (error) {
      await this.failed(path, error);
    } finally {
      this.release(bytes.length);
    }
  }

  /** Whether an object of this size may be fetched to the disk now. `release` gives its place back. */
  reserve(sizeBytes: number): boolean {
    if (sizeBytes > this.#entryBytesMax || this.#fetchingBytes + sizeBytes > this.#fetchingBytesMax) return false;
    this.#fetchingBytes += sizeBytes;
    return true;
  }

  release(sizeBytes: number): void {
    this.#fetchingBytes -= sizeBytes;
  }

  /** A finished file, whose digest the caller has compared, becomes the copy. A crash leaves either the whole name or none. */
  async take(sha256: string, path: string, sizeBytes: number): Promise<void> {
    const target = this.#pathOf(sha256);
    await mkdir(dirname(target), { recursive: true });
    await rename(path, target);
    this.#known.set(sha256, { sizeBytes, checked: true, touchedMs: Date.now() });
  }

  async drop(sha256: string): Promise<void> {
    this.#known.delete(sha256);
    await this.#remove(sha256);
  }

  newPath(): string {
    return join(this.#incoming, randomUUID());
  }

  /** What went wrong on the disk is told, and the file is removed. */
  async failed(path: string, err: unknown): Promise<void> {
    this.#log.warn({ err }, 'the cache of objects could not be written');
    await rm(path, { force: true }).catch(() => undefined);
  }

  get #incoming(): string {
    return join(this.#directory, 'incoming');
  }

  #pathOf(sha256: string): string {
    return join(this.#directory, sha256.slice(0, 2), sha256);
  }

  #used(sha256: string, copy: Copy): void {
    copy.checked = true;
    // File times come from the system clock.
    const now = new Date();
    if (now.getTime() - copy.touchedMs < TOUCH_MS) return;
    copy.touchedMs = now.getTime();
    utimes(this.#pathOf(sha256), now, now).catch((err: unknown) =>
      this.#log.warn({ err, sha256 }, 'the time of a copy in the cache of objects was not set'),
    );
  }

  #damaged(sha256: string, err: unknown): void {
    // Evicted between the look at the list and the disk: nothing is wrong.
    if (this.#known.has(sha256)) this.#log.warn({ err, sha256 }, 'a copy in the cache of objects cannot be used and is removed');
    this.#known.delete(sha256);
  }

  async #remove(sha256: string): Promise<void> {
    await rm(this.#pathOf(sha256), { force: true }).catch((err: unknown) =>
      this.#log.warn({ err, sha256 }, 'a copy in the cache of objects could not be removed'),
    );
  }
}

/** Throws `ObjectCorrupt`. */
async function checkFile(file: FileHandle, sha256: string, sizeBytes: number): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of readFileRange(file, 0, sizeBytes - 1, { close: false })) hash.update(chunk);
  if (hash.digest('hex') !== sha256) throw new ObjectCorrupt(sha256);
}
