/** Writes a zip entry by entry. Deflating runs in the thread pool; the format is fflate's. */
import { promisify } from 'node:util';
import { constants, deflateRaw } from 'node:zlib';
import { Zip, ZipPassThrough } from 'fflate';
import { LIMITS } from '../../../../protocol/core/limits.ts';

const deflate = promisify(deflateRaw);

/** `bytes` are deflated; `chunks` are too large for that and are stored as they are. Each chunk is used before the next is read. */
export type ZipEntry = { readonly name: string } & ({ readonly bytes: Uint8Array } | { readonly chunks: AsyncIterable<Uint8Array> });

/** An entry that is deflated already; fflate takes size and checksum from the source that is pushed. */
class DeflatedEntry extends ZipPassThrough {
  // Deflate, APPNOTE.txt §4.4.5.
  override compression = 8;
  readonly #deflated: Buffer;

  constructor(name: string, deflated: Buffer, mtimeMs: number) {
    super(name);
    this.mtime = mtimeMs;
    this.#deflated = deflated;
  }

  protected override process(_source: Uint8Array, final: boolean): void {
    if (final) this.ondata(null, new Uint8Array(this.#deflated), true);
  }
}

/** The archive in pieces, one or more an entry. An entry is read after the pieces of the one before were taken. */
export async function* writeZip(entries: AsyncIterable<ZipEntry>, mtimeMs: number): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  const zip = new Zip((error, piece) => {
    if (error) throw error;
    pieces.push(piece);
  });
  const take = () => {
    const taken = pieces;
    pieces = [];
    return taken;
  };
  for await (const entry of entries) {
    if ('chunks' in entry) {
      const file = new ZipPassThrough(entry.name);
      file.mtime = mtimeMs;
      zip.add(file);
      for await (const chunk of entry.chunks) {
        // Copied, because the writer passes on a view of the chunk.
        file.push(new Uint8Array(chunk));
        yield* take();
      }
      file.push(new Uint8Array(0), true);
      yield* take();
      continue;
    }
    const file = new DeflatedEntry(entry.name, await deflated(entry.bytes), mtimeMs);
    zip.add(file);
    file.push(new Uint8Array(entry.bytes), true);
    yield* take();
  }
  zip.end();
  yield* take();
}

/** Contents that shrink beyond the ratio an import accepts are stored uncompressed, so that every export can be imported. */
async function deflated(bytes: Uint8Array): Promise<Buffer> {
  const small = await deflate(bytes);
  return bytes.length > small.length * LIMITS.importRatioMax ? deflate(bytes, { level: constants.Z_NO_COMPRESSION }) : small;
}
