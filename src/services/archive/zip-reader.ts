/** Reads a zip that may be hostile: what it inflates to is counted while it inflates, whatever its headers claim. */
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';

/** So much may come out of any archive: zeros shrink a thousandfold, and only together with size is that an attack. */
const INFLATED_FREE_BYTES = 32 * 1024 * 1024;

export function archiveFailure(entry: string, problem: string): Failure {
  return new Failure('INVALID_REQUEST', { param: entry, message: `${entry}: ${problem}`, hint: 'Send a zip that an export has made.' });
}

export class ZipReader {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  /** What all entries read may inflate to together, and have. */
  readonly #inflatedBytesMax: number;
  #inflatedBytes = 0;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, zipBytes: number) {
    this.#zip = zip;
    this.#entries = entries;
    this.#inflatedBytesMax = Math.max(INFLATED_FREE_BYTES, zipBytes * LIMITS.importRatioMax);
  }

  /** Reads the directory. Throws INVALID_REQUEST naming the entry that is wrong. */
  static async open(bytes: Buffer): Promise<ZipReader> {
    const zip = await fromBufferPromise(bytes, { strictFileNames: true }).catch((error: Error) => {
      throw archiveFailure('zip', error.message);
    });
    if (zip.entryCount > LIMITS.importEntriesMax) throw archiveFailure('zip', `has more than ${LIMITS.importEntriesMax} entries`);
    const entries = new Map<string, Entry>();
    try {
      for await (const entry of zip.eachEntry()) {
        if (entries.has(entry.fileName)) throw archiveFailure(entry.fileName, 'is there twice');
        entries.set(entry.fileName, entry);
      }
    } catch (error) {
      // The library names the entry in its message.
      if (error instanceof Failure || !(error instanceof Error)) throw error;
      throw archiveFailure('zip', error.message);
    }
    return new ZipReader(zip, entries, bytes.length);
  }

  /** One entry, inflated. Throws INVALID_REQUEST naming it when it is missing, damaged, encrypted or a bomb; `tooLarge()` over `bytesMax`. */
  async read(name: string, bytesMax: number, tooLarge: () => Failure): Promise<Buffer> {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw archiveFailure(name, 'is missing');
    if (!entry.canDecodeFileData()) throw archiveFailure(name, 'is encrypted, or compressed by another method than deflate');
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    try {
      for await (const chunk of await this.#zip.openReadStreamPromise(entry)) {
        sizeBytes += chunk.length;
        if (sizeBytes > bytesMax) throw tooLarge();
        this.#inflatedBytes += chunk.length;
        if (this.#inflatedBytes > this.#inflatedBytesMax) {
          throw archiveFailure(name, `with it the archive inflates to more than ${LIMITS.importRatioMax} times its size`);
        }
        chunks.push(chunk);
      }
    } catch (error) {
      if (error instanceof Failure || !(error instanceof Error)) throw error;
      throw archiveFailure(name, `cannot be read: ${error.message}`);
    }
    return Buffer.concat(chunks, sizeBytes);
  }
}
