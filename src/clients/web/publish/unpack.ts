/** Unpacks a zip in the browser, within the limits of a version, so that a zip bomb ends early. */
import { Unzip, UnzipInflate } from 'fflate';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { bytesText } from '../words/format.ts';
import { words } from '../words/words.ts';
import { type GivenFile, NotPublishable } from './given.ts';

const CHUNK_BYTES = 256 * 1024;

export async function unpack(zip: Blob): Promise<readonly GivenFile[]> {
  const { problems } = words.value.publish;
  const files: GivenFile[] = [];
  let bytesAll = 0;
  let failure: Error | undefined;
  const unzip = new Unzip((entry) => {
    if (entry.name.endsWith('/') || failure !== undefined) return;
    const parts: Uint8Array<ArrayBuffer>[] = [];
    entry.ondata = (error, data, isLast) => {
      if (error !== null) failure ??= new NotPublishable(problems.badZip);
      if (failure !== undefined) return;
      bytesAll += data.length;
      if (bytesAll > LIMITS.versionBytesMax) failure = new NotPublishable(problems.allTooLarge(bytesText(LIMITS.versionBytesMax)));
      else if (files.length > LIMITS.versionFilesMax * 2) failure = new NotPublishable(problems.tooMany(LIMITS.versionFilesMax));
      else parts.push(data.slice());
      if (isLast && failure === undefined) files.push({ path: entry.name, bytes: new Blob(parts) });
    };
    entry.start();
  });
  unzip.register(UnzipInflate);
  try {
    for (let at = 0; at < zip.size && failure === undefined; at += CHUNK_BYTES) {
      const chunk = new Uint8Array(await zip.slice(at, at + CHUNK_BYTES).arrayBuffer());
      unzip.push(chunk, at + CHUNK_BYTES >= zip.size);
    }
  } catch (error) {
    console.debug('the zip is not readable', error);
    throw new NotPublishable(problems.badZip);
  }
  if (failure !== undefined) throw failure;
  if (files.length === 0) throw new NotPublishable(problems.badZip);
  return files;
}
