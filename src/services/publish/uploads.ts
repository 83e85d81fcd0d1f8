/** Publishing by digest: the uploads between its two phases. */
import { Failure } from '../../../protocol/errors.ts';
import { newId, type UploadId, type UserId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { PublishRequest } from '../../../protocol/schemas/artifact.ts';
import type { Queries, ServiceDeps } from '../deps.ts';
import { type DeclaredFile, possessedSizes, requireSizes, type SizedFile, sha256Of, storeContents } from './contents.ts';
import { mediaTypeOf } from './media-types.ts';
import { requirePaths } from './paths.ts';
import { lockPublishing } from './publish-limit.ts';

type Digests = NonNullable<PublishRequest['files_digest']>;

/** Throws INVALID_REQUEST naming wrong paths. */
export function readDigestFiles(sent: Digests): DeclaredFile[] {
  const paths = requirePaths(
    sent.map((file) => file.path),
    'files_digest',
  );
  return sent.map((file, index) => {
    const path = paths[index] ?? file.path;
    return { path, mime: mediaTypeOf(path, file.mime), sha256: file.sha256 };
  });
}

/** First phase: begins an upload and says what to send in it. Throws RATE_LIMITED for an account with too many unfinished ones. */
export async function openUpload(deps: Pick<ServiceDeps, 'sql' | 'clock'>, userId: UserId, files: readonly DeclaredFile[]) {
  const id = newId('upload');
  await deps.sql.begin(async (tx) => {
    await lockPublishing(tx, userId);
    const nowMs = deps.clock.nowMs();
    await requireFewUploads(tx, userId, nowMs);
    await tx`
      insert into publish_upload (id, user_id, created_at_ms, expires_at_ms)
      values (${id}, ${userId}, ${nowMs}, ${nowMs + LIMITS.uploadTtlMs})`;
  });
  const digests = [...new Set(files.map((file) => file.sha256))];
  const possessed = await possessedSizes(deps.sql, userId, null, digests);
  return { missing: digests.filter((digest) => !possessed.has(digest)), upload_id: id };
}

/** Takes one content. Throws UPLOAD_NOT_FOUND, INVALID_REQUEST when the digest is not that of the bytes, FILE_TOO_LARGE. */
export async function receiveContent(
  deps: Pick<ServiceDeps, 'sql' | 'objects' | 'clock'>,
  userId: UserId,
  id: UploadId,
  sha256: string,
  bytes: Uint8Array,
): Promise<void> {
  await requireUpload(deps.sql, userId, id, deps.clock.nowMs());
  if ((await sha256Of(bytes)) !== sha256) {
    throw new Failure('INVALID_REQUEST', { param: 'sha256', message: 'sha256: is not the SHA-256 of the bytes sent.' });
  }
  await requireRoom(deps.sql, id, sha256, bytes.length);
  await storeContents(deps, new Map([[sha256, bytes]]));
  await insertPart(deps.sql, id, sha256);
}

/** Second phase: the files with their sizes. Throws UPLOAD_NOT_FOUND, or INVALID_REQUEST naming the first content not sent. */
export async function resolveUpload(
  deps: Pick<ServiceDeps, 'sql' | 'clock'>,
  userId: UserId,
  id: UploadId,
  files: readonly DeclaredFile[],
): Promise<SizedFile[]> {
  await requireUpload(deps.sql, userId, id, deps.clock.nowMs());
  const digests = [...new Set(files.map((file) => file.sha256))];
  const possessed = await possessedSizes(deps.sql, userId, id, digests);
  const sized = files.map((file, index) => {
    const sizeBytes = possessed.get(file.sha256);
    if (sizeBytes === undefined) throw contentMissing(index, file);
    return { ...file, sizeBytes };
  });
  requireSizes(sized, 'files_digest');
  return sized;
}

export async function deleteUpload(tx: Queries, id: UploadId): Promise<void> {
  await tx`delete from publish_upload where id = ${id}`;
}

function contentMissing(index: number, file: DeclaredFile): Failure {
  const param = `files_digest.${index}.sha256`;
  return new Failure('INVALID_REQUEST', {
    param,
    message: `${param}: the content of ${file.path} has not been sent.`,
    hint: 'PUT every missing content to /v1/publish/uploads/{upload_id}/{sha256} first.',
  });
}

async function requireUpload(sql: Queries, userId: UserId, id: UploadId, nowMs: number): Promise<void> {
  const [row] = await sql`select 1 from publish_upload where id = ${id} and user_id = ${userId} and expires_at_ms > ${nowMs}`;
  if (row === undefined) throw new Failure('UPLOAD_NOT_FOUND', { param: 'upload_id' });
}

/** An upload serves one version and may hold no more than one may. */
async function requireRoom(sql: Queries, id: UploadId, sha256: string, sizeBytes: number): Promise<void> {
  const [sent] = await sql<{ parts: number; bytes: number }[]>`
    select count(*)::int as parts, coalesce(sum(o.size_bytes), 0)::bigint as bytes
    from publish_upload_part p join stored_object o on o.sha256 = p.sha256
    where p.upload_id = ${id} and p.sha256 <> decode(${sha256}, 'hex')`;
  if (sent === undefined) return;
  if (sent.parts >= LIMITS.versionFilesMax || sent.bytes + sizeBytes > LIMITS.versionBytesMax) {
    throw new Failure('FILE_TOO_LARGE', { message: 'This upload holds as much as a version may.' });
  }
}

async function insertPart(sql: Queries, id: UploadId, sha256: string): Promise<void> {
  await sql`
    insert into publish_upload_part (upload_id, sha256) values (${id}, decode(${sha256}, 'hex'))
    on conflict (upload_id, sha256) do nothing`;
}

/** Contents of unfinished uploads are kept for a day: without a bound an account could fill the store and publish nothing. */
async function requireFewUploads(tx: Queries, userId: UserId, nowMs: number): Promise<void> {
  const [open] = await tx<{ uploads: number; first_expiry_ms: number | null }[]>`
    select count(*)::int as uploads, min(expires_at_ms) as first_expiry_ms
    from publish_upload where user_id = ${userId} and expires_at_ms > ${nowMs}`;
  if (open === undefined || open.uploads < LIMITS.uploadsOpenMax) return;
  throw new Failure('RATE_LIMITED', {
    message: `An account may begin ${LIMITS.uploadsOpenMax} uploads an hour that it does not publish.`,
    retryAfterS: Math.max(1, Math.ceil(((open.first_expiry_ms ?? nowMs) - nowMs) / 1000)),
  });
}
