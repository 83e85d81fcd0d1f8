/** Reads one object from its store into a file of the cache, while those who want it read that file. */
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Copies } from './object-copies.ts';
import type { ObjectStore } from './objects.ts';

const READ_BYTES = 256 * 1024;

interface FetchDeps {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly store: ObjectStore;
  /** Where `sizeBytes` are reserved. */
  readonly copies: Copies;
}

/**
 * Any number of readers follow at their own pace. The disk holds what they have not read yet, so the slowest of them holds neither the
 * store nor the others. It ends by itself, whether or not somebody reads: the store bounds the time of each chunk, the cache the size.
 */
export class ObjectFetch {
  /** Settles when the copy is in the cache or given up; never rejects. */
  readonly over: Promise<void>;
  readonly #deps: FetchDeps;
  readonly #path: string;
  readonly #opened: Promise<FileHandle | undefined>;
  #writtenBytes = 0;
  #isOver = false;
  #storeFailure: { readonly error: unknown } | undefined;
  #waiting: (() => void)[] = [];
  /** Who uses the file: the fetch itself and its readers. The last one closes it. */
  #users = 1;

  constructor(deps: FetchDeps) {
    this.#deps = deps;
    this.#path = deps.copies.newPath();
    this.#opened = open(this.#path, 'wx+').catch(async (error: unknown) => {
      await deps.copies.failed(this.#path, error);
      return undefined;
    });
    this.over = this.#run();
  }

  /** All bytes, as they come; a chunk is valid until the next is asked for. */
  async *follow(): AsyncGenerator<Uint8Array> {
    const { sha256, sizeBytes, store } = this.#deps;
    this.#users += 1;
    let at = 0;
    try {
      const file = await this.#opened;
      const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, sizeBytes));
      while (file !== undefined && at < sizeBytes) {
        if (at < this.#writtenBytes) {
          const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, this.#writtenBytes - at), at);
          if (bytesRead === 0) break;
          at += bytesRead;
          yield buffer.subarray(0, bytesRead);
        } else if (this.#isOver) break;
        else await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    } finally {
      await this.#leave();
    }
    if (at >= sizeBytes) return;
    if (this.#storeFailure !== undefined) throw this.#storeFailure.error;
    // The disk did not take all of it: the store has the rest.
    yield* store.readRange(sha256, at, sizeBytes - 1);
  }

  async #run(): Promise<void> {
    const { sizeBytes, copies } = this.#deps;
    try {
      const file = await this.#opened;
      if (file !== undefined) await this.#fill(file);
    } finally {
      this.#isOver = true;
      this.#tell();
      copies.release(sizeBytes);
      await this.#leave();
    }
  }

  async #fill(file: FileHandle): Promise<void> {
    const { sha256, sizeBytes, copies } = this.#deps;
    const hash = createHash('sha256');
    try {
      if (!(await this.#copyTo(file, hash))) await rm(this.#path, { force: true });
      // A part of an object that was read from the beginning has another digest.
      else if (hash.digest('hex') === sha256) await copies.take(sha256, this.#path, sizeBytes);
      else await rm(this.#path, { force: true });
    } catch (error) {
      await copies.failed(this.#path, error);
    }
  }

  /** False when the store fails. Throws when the disk does. */
  async #copyTo(file: FileHandle, hash: Hash): Promise<boolean> {
    const { sha256, sizeBytes, store } = this.#deps;
    const chunks = store.readRange(sha256, 0, sizeBytes - 1)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await chunks.next().catch((error: unknown) => {
          this.#storeFailure = { error };
        });
        if (next === undefined) return false;
        if (next.done) return true;
        hash.update(next.value);
        let written = 0;
        while (written < next.value.length) {
          written += (await file.write(next.value, written, next.value.length - written, this.#writtenBytes + written)).bytesWritten;
        }
        this.#writtenBytes += written;
        this.#tell();
      }
    } finally {
      await chunks.return?.();
    }
  }

  #tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }

  async #leave(): Promise<void> {
    this.#users -= 1;
    if (this.#users === 0) await (await this.#opened)?.close();
  }
}
