/** Unpacks what a stranger made, and packs it again for libraries that would trust it: no more bytes than announced, no name twice. */
import { zipSync } from 'fflate';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';

const ENTRIES_MAX = 5000;

export class UnpackRefused extends Error {
  override readonly name = 'UnpackRefused';
}

/** The same zip, stored without compression. Throws `UnpackRefused` for what is no zip, is damaged, or unpacks to more than `bytesMax`. */
export async function repacked(bytes: Uint8Array, bytesMax: number): Promise<Buffer> {
  const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).catch(refuse);
  const files: Record<string, Uint8Array> = Object.create(null);
  let left = bytesMax;
  let entries = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      entries += 1;
      if (entries > ENTRIES_MAX) throw new UnpackRefused('The file has too many parts.');
      if (entry.fileName.endsWith('/')) continue;
      if (entry.fileName in files) throw new UnpackRefused('The file has a part twice.');
      const content = await inflated(zip, entry, left, bytesMax);
      left -= content.length;
      files[entry.fileName] = content;
    }
  } catch (error) {
    refuse(error);
  } finally {
    zip.close();
  }
  return Buffer.from(zipSync(files, { level: 0 }));
}

async function inflated(zip: ZipFile, entry: Entry, left: number, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // It fails where more or less comes than the directory says.
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    size += chunk.length;
    if (size > left) throw new UnpackRefused(`The file unpacks to more than ${bytesMax} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function refuse(error: unknown): never {
  if (error instanceof UnpackRefused) throw error;
  throw new UnpackRefused('The file is damaged, or not of its type.', { cause: error });
}
