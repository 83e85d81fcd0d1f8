/** Keeps uploads on disk until they are complete and checked, because they may exceed memory and the store needs their digest first. */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** An older unfinished file belongs to a process that died, because no upload takes this long. */
const LEFTOVER_AGE_MS = 60 * 60 * 1000;

/** A complete file. Its owner disposes of it, even after an object store has taken it. */
export interface SpooledFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Lowercase hex. */
  readonly sha256: string;
  dispose(): Promise<void>;
}

export class Spool {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Creates the folder and removes what a dead process has left there. */
  async ready(): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    await removeLeftovers(this.#directory);
  }

  /** Writes all of `chunks` to one file. */
  async receive(chunks: AsyncIterable<Uint8Array>): Promise<SpooledFile> {
    const writer = await this.create();
    try {
      for await (const chunk of chunks) await writer.write(chunk);
    } catch (error) {
      await writer.abandon();
      throw error;
    }
    return writer.finish();
  }

  async create(): Promise<SpoolWriter> {
    const path = join(this.#directory, `upload.${randomUUID()}`);
    return new SpoolWriter(path, await open(path, 'wx'));
  }
}

/** One file being written. Either `finish` or `abandon` ends it. */
export class SpoolWriter {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  #sizeBytes = 0;

  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** The caller may reuse `chunk` once this settles. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk);
    this.#sizeBytes += chunk.length;
    let written = 0;
    while (written < chunk.length) written += (await this.#file.write(chunk, written)).bytesWritten;
  }

  /** Durable when it settles. */
  async finish(): Promise<SpooledFile> {
    await this.#file.sync();
    await this.#file.close();
    const path = this.#path;
    return { path, sizeBytes: this.#sizeBytes, sha256: this.#hash.digest('hex'), dispose: () => rm(path, { force: true }) };
  }

  async abandon(): Promise<void> {
    await this.#file.close();
    await rm(this.#path, { force: true });
  }
}

/** Removes files too old to be in progress. */
export async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    try {
      // Another process may be writing here, so only old files are removed. File times come from the system clock, not from ours.
      if (Date.now() - (await stat(path)).mtimeMs > LEFTOVER_AGE_MS) await rm(path, { force: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
}
