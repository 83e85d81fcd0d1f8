/** Reads a zip that may be hostile: what it inflates to is counted while it inflates, whatever its headers claim. */
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';

/** Small entries may shrink as much as they like: only together with size is it an attack. */
const RATIO_COUNTS_FROM_BYTES = 1024 * 1024;

export function archiveFailure(entry: string, problem: string): Failure {
  return new Failure('INVALID_REQUEST', { param: entry, message: `${entry}: ${problem}`, hint: 'Send a zip that an export has made.' });
}

export class ZipReader {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
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
    return new ZipReader(zip, entries);
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
        if (sizeBytes > RATIO_COUNTS_FROM_BYTES && sizeBytes > entry.compressedSize * LIMITS.importRatioMax) {
          throw archiveFailure(name, `inflates to more than ${LIMITS.importRatioMax} times its size`);
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
