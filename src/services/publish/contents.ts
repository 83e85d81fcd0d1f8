/** Contents by digest: checked, stored before any row names them, and claimed only by who has shown to have them. */
import { createHash, webcrypto } from 'node:crypto';
import { Failure } from '../../../protocol/errors.ts';
import type { UploadId, UserId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { PublishRequest } from '../../../protocol/schemas/artifact.ts';
import type { Queries, ServiceDeps } from '../deps.ts';
import { mediaTypeOf } from './media-types.ts';
import { requirePaths } from './paths.ts';

/** A file of a version to be. */
export interface DeclaredFile {
  readonly path: string;
  readonly mime: string;
  /** Lowercase hex. */
  readonly sha256: string;
}

export interface SizedFile extends DeclaredFile {
  readonly sizeBytes: number;
}

/** Bytes by their digest. */
export type Contents = ReadonlyMap<string, Uint8Array>;

export interface InlineFiles {
  readonly files: readonly SizedFile[];
  readonly contents: Contents;
}

const PUTS_AT_ONCE = 8;

/** Above this a content is hashed in the thread pool: 25 MB would hold up everybody else for a tenth of a second. */
const HASHED_AT_ONCE_BYTES_MAX = 256 * 1024;

/** Lowercase hex. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= HASHED_AT_ONCE_BYTES_MAX) return createHash('sha256').update(bytes).digest('hex');
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');
}

/** Decodes files sent inline. Throws INVALID_REQUEST or FILE_TOO_LARGE naming the file. */
export async function readInlineFiles(sent: NonNullable<PublishRequest['files']>): Promise<InlineFiles> {
  const paths = requirePaths(
    sent.map((file) => file.path),
    'files',
  );
  const contents = new Map<string, Uint8Array>();
  const files: SizedFile[] = [];
  for (const [index, file] of sent.entries()) {
    const path = paths[index] ?? file.path;
    const bytes = file.encoding === 'base64' ? decodeBase64(file.content, index) : Buffer.from(file.content, 'utf8');
    const sha256 = await sha256Of(bytes);
    contents.set(sha256, bytes);
    files.push({ path, mime: mediaTypeOf(path, file.mime), sha256, sizeBytes: bytes.length });
  }
  requireSizes(files, 'files');
  return { files, contents };
}

/** Node's decoder skips what it does not know; a round trip does not. */
function decodeBase64(content: string, index: number): Buffer {
  const bytes = Buffer.from(content, 'base64');
  if (bytes.toString('base64') !== content) {
    const param = `files.${index}.content`;
    throw new Failure('INVALID_REQUEST', { param, message: `${param}: is not base64 (RFC 4648 §4, with padding).` });
  }
  return bytes;
}

/** Throws FILE_TOO_LARGE for a file or a version over its limit; `field` names the list. */
export function requireSizes(files: readonly SizedFile[], field: string): void {
  let totalBytes = 0;
  for (const [index, file] of files.entries()) {
    totalBytes += file.sizeBytes;
    if (file.sizeBytes > LIMITS.versionFileBytesMax) {
      throw new Failure('FILE_TOO_LARGE', { param: `${field}.${index}`, message: `${file.path}: has ${file.sizeBytes} bytes.` });
    }
    if (totalBytes > LIMITS.versionBytesMax) {
      throw new Failure('FILE_TOO_LARGE', {
        param: field,
        message: `The files have more than ${LIMITS.versionBytesMax} bytes together, counted up to ${file.path}.`,
      });
    }
  }
}

/**
 * Stores contents durably, ahead of the transaction that names them. Their rows are stamped first: the sweep leaves alone
 * what was stamped within a day, and a row that it is just removing makes this wait until the object is gone as well.
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

/** `sizes`: bytes of each content by its digest. */
export async function stampObjects(sql: Queries, sizes: ReadonlyMap<string, number>, nowMs: number): Promise<void> {
  // Sorted, so that two publishes of the same contents take their row locks in one order.
  const rows = [...sizes].sort(([a], [b]) => (a < b ? -1 : 1));
  await sql`
    insert into stored_object (sha256, size_bytes, stored_at_ms)
    select decode(hex, 'hex'), size_bytes, ${nowMs}
    from unnest(${rows.map(([hex]) => hex)}::text[], ${rows.map(([, bytes]) => bytes)}::bigint[]) as u (hex, size_bytes)
    on conflict (sha256) do update set stored_at_ms = greatest(stored_object.stored_at_ms, excluded.stored_at_ms)`;
}

/**
 * Sizes of those digests whose contents the caller has shown to have: sent in this upload, or part of a version that they
 * may edit. A digest alone must not open somebody else's private file.
 */
export async function possessedSizes(
  sql: Queries,
  userId: UserId,
  uploadId: UploadId | null,
  digests: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql<{ hex: string; size_bytes: number }[]>`
    select encode(o.sha256, 'hex') as hex, o.size_bytes
    from stored_object o
    where o.sha256 in (select decode(hex, 'hex') from unnest(${[...digests]}::text[]) as u (hex))
      and (
        exists (select 1 from publish_upload_part p where p.upload_id = ${uploadId} and p.sha256 = o.sha256)
        or exists (
          select 1 from version_file f
          join artifact_version v on v.id = f.version_id
          join artifact a on a.id = v.artifact_id
          where f.sha256 = o.sha256 and (
            a.owner_id = ${userId}
            or exists (
              select 1 from collaborator c where c.artifact_id = a.id and c.user_id = ${userId} and c.role = 'editor'))))`;
  return new Map(rows.map((row) => [row.hex, row.size_bytes]));
}

/**
 * Keeps these objects from the sweep until the transaction ends, by when rows name them. False when one is gone already.
 */
export async function holdObjects(tx: Queries, digests: ReadonlySet<string>): Promise<boolean> {
  const rows = await tx`
    select 1 from stored_object
    where sha256 in (select decode(hex, 'hex') from unnest(${[...digests]}::text[]) as u (hex))
    for key share`;
  return rows.length === digests.size;
}
