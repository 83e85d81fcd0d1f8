/** Reads a zip that may be hostile: counts the inflated bytes while they inflate and does not rely on the sizes in the headers. */
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';

/** Every archive may inflate to this much, whatever its ratio: small archives of zeros are no attack. */
const INFLATED_FREE_BYTES = 32 * 1024 * 1024;

export function archiveFailure(entry: string, problem: string): Failure {
  return new Failure('INVALID_REQUEST', { param: entry, message: `${entry}: ${problem}`, hint: 'Send a zip that an export has made.' });
}

export class ZipReader {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  /** Limit and count of the inflated bytes of all entries together. */
  readonly #inflatedBytesMax: number;
  #inflatedBytes = 0;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, zipBytes: number) {
    this.#zip = zip;
    this.#entries = entries;
    this.#inflatedBytesMax = Math.max(INFLATED_FREE_BYTES, zipBytes * LIMITS.importRatioMax);
  }

  /** Reads the directory of a file of `zipBytes`. Throws INVALID_REQUEST naming the entry that is wrong. */
  static async open(path: string, zipBytes: number): Promise<ZipReader> {
    const zip = await openPromise(path, { strictFileNames: true, autoClose: false }).catch((error: Error) => {
      throw archiveFailure('zip', error.message);
    });
    try {
      return new ZipReader(zip, await readDirectory(zip), zipBytes);
    } catch (error) {
      zip.close();
      throw error;
    }
  }

  close(): void {
    this.#zip.close();
  }

  /** One entry, inflated. Throws INVALID_REQUEST naming it when it is missing, damaged, encrypted or a bomb; `tooLarge()` over `bytesMax`. */
  async read(name: string, bytesMax: number, tooLarge: () => Failure): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.stream(name, bytesMax, tooLarge)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** The same in chunks. Errors of the reading loop pass through unchanged. */
  async *stream(name: string, bytesMax: number, tooLarge: () => Failure): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw archiveFailure(name, 'is missing');
    if (!entry.canDecodeFileData()) throw archiveFailure(name, 'is encrypted, or compressed by another method than deflate');
    let sizeBytes = 0;
    try {
      for await (const chunk of await this.#zip.openReadStreamPromise(entry)) {
        sizeBytes += chunk.length;
        if (sizeBytes > bytesMax) throw tooLarge();
        this.#inflatedBytes += chunk.length;
        if (this.#inflatedBytes > this.#inflatedBytesMax) {
          throw archiveFailure(name, `makes the archive inflate to more than ${LIMITS.importRatioMax} times its size`);
        }
        yield chunk;
      }
    } catch (error) {
      if (error instanceof Failure || !(error instanceof Error)) throw error;
      throw archiveFailure(name, `cannot be read: ${error.message}`);
    }
  }
}

async function readDirectory(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount > LIMITS.importEntriesMax) throw archiveFailure('zip', `has more than ${LIMITS.importEntriesMax} entries`);
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      if (entries.has(entry.fileName)) throw archiveFailure(entry.fileName, 'is there twice');
      entries.set(entry.fileName, entry);
    }
  } catch (error) {
    // The library's message names the entry.
    if (error instanceof Failure || !(error instanceof Error)) throw error;
    throw archiveFailure('zip', error.message);
  }
  return entries;
}
