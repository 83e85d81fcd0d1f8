/** File contents by digest: decoded, hashed, and stored before any row names them. */
import { createHash, webcrypto } from 'node:crypto';
import type { PublishRequest } from '../../../../protocol/artifacts/publish.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { loopTurns } from '../../../platform/loop-turns.ts';
import type { ServiceDeps } from '../../deps.ts';
import { mediaTypeOf } from './media-types.ts';
import { requirePaths } from './paths.ts';
import { stampObjects } from './rows.ts';
import { requireSizes, type SizedFile } from './rules.ts';

/** Bytes by their digest. */
export type Contents = ReadonlyMap<string, Uint8Array>;

export interface InlineFiles {
  readonly files: readonly SizedFile[];
  readonly contents: Contents;
}

const PUTS_AT_ONCE = 8;

/** Characters that are decoded in one turn of the event loop; a multiple of four. */
const SLICE_CHARS = 1024 * 1024;

/** A larger content is hashed in the thread pool: 25 MB would block the event loop for a tenth of a second. */
const HASHED_AT_ONCE_BYTES_MAX = 256 * 1024;

/** Lowercase hex. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= HASHED_AT_ONCE_BYTES_MAX) return createHash('sha256').update(bytes).digest('hex');
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');
}

/** Decodes files sent inline, in slices of this lane. Throws INVALID_REQUEST or FILE_TOO_LARGE naming the file. */
export async function readInlineFiles(lane: string, sent: NonNullable<PublishRequest['files']>): Promise<InlineFiles> {
  const paths = requirePaths(
    sent.map((file) => file.path),
    'files',
  );
  const contents = new Map<string, Uint8Array>();
  const files: SizedFile[] = [];
  let sinceTurnChars = 0;
  for (const [index, file] of sent.entries()) {
    const path = paths[index] ?? file.path;
    requireFewChars(file, index, path);
    // Decoding and hashing small files does not leave the turn by itself.
    sinceTurnChars += file.content.length;
    if (sinceTurnChars > SLICE_CHARS) {
      sinceTurnChars = 0;
      await loopTurns.next(lane);
    }
    const bytes = file.encoding === 'base64' ? await decodeBase64(lane, file.content, index) : Buffer.from(file.content, 'utf8');
    const sha256 = await sha256Of(bytes);
    contents.set(sha256, bytes);
    files.push({ path, mime: mediaTypeOf(path, file.mime), sha256, sizeBytes: bytes.length });
  }
  requireSizes(files, 'files');
  return { files, contents };
}

/** A text that is too long for a file is not decoded. */
function requireFewChars(
  { content, encoding }: { readonly content: string; readonly encoding: string },
  index: number,
  path: string,
): void {
  const charsMax = encoding === 'base64' ? 4 * Math.ceil(LIMITS.versionFileBytesMax / 3) : LIMITS.versionFileBytesMax;
  if (content.length <= charsMax) return;
  throw new Failure('FILE_TOO_LARGE', { param: `files.${index}`, message: `${path}: has more than ${LIMITS.versionFileBytesMax} bytes.` });
}

/**
 * Node's decoder skips characters that are not base64, which makes the result shorter, and reads those of base64url. The last four characters
 * are encoded again, because bits after the last byte must be zero.
 */
async function decodeBase64(lane: string, content: string, index: number): Promise<Buffer> {
  const padding = content.endsWith('==') ? 2 : content.endsWith('=') ? 1 : 0;
  const bytes = Buffer.allocUnsafe(Math.max(0, (content.length / 4) * 3 - padding));
  let written = 0;
  let isPlain = content.length % 4 === 0;
  for (let at = 0; isPlain && at < content.length; at += SLICE_CHARS) {
    if (at > 0) await loopTurns.next(lane);
    const slice = content.slice(at, at + SLICE_CHARS);
    isPlain = !slice.includes('-') && !slice.includes('_');
    written += bytes.write(slice, written, 'base64');
  }
  const last = content.slice(-4);
  if (isPlain && written === bytes.length && Buffer.from(last, 'base64').toString('base64') === last) return bytes;
  const param = `files.${index}.content`;
  throw new Failure('INVALID_REQUEST', { param, message: `${param}: is not base64 (RFC 4648 §4, with padding).` });
}

/**
 * Stores contents durably, before the transaction that names them. Their rows are stamped first: the sweep keeps what was stamped within a
 * day, and stamping a row that the sweep is removing waits until the object is gone too.
 */
export async function storeContents(deps: Pick<ServiceDeps, 'sql' | 'objects' | 'clock'>, contents: Contents): Promise<void> {
  const sizes = new Map([...contents].map(([hex, bytes]) => [hex, bytes.length]));
  await stampObjects(deps.sql, sizes, deps.clock.nowMs());
  const waiting = [...contents];
  const putNext = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await deps.objects.put(next[0], next[1]);
  };
  await Promise.all(Array.from({ length: PUTS_AT_ONCE }, putNext));
}
