/** Where uploads wait on disk until they are whole and checked: memory is too small for them, and the store keeps only what has a digest. */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A file that was being written when the process died. None takes this long to write. */
const LEFTOVER_AGE_MS = 60 * 60 * 1000;

/** A file that is whole. Its owner disposes of it, also where an object store has taken it. */
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

  /** Makes the place and removes what a dead process has left there. */
  async ready(): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    await removeLeftovers(this.#directory);
  }

  /** All of `chunks` as one file. */
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

  /** `chunk` is the caller's again when this settles. */
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

/** Removes files that nobody can be writing any more. */
export async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    try {
      // Another process may be writing here right now: only what is old is left over. File times are the system's, not our clock's.
      if (Date.now() - (await stat(path)).mtimeMs > LEFTOVER_AGE_MS) await rm(path, { force: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
}
