/** Upload tokens: each lets whoever has it store one file, once, within 15 minutes. Only their digests are kept. */
import { createHash } from 'node:crypto';
import type { Principal } from '../../../actors/access.ts';
import { Failure } from '../../../protocol/errors.ts';
import { type ArtifactId, newId, type UploadId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ObjectStore } from '../../storage/objects.ts';
import type { Queries } from '../deps.ts';

/** An upload that began in time may end later; what it leaves at the object store is removed after this. */
const LATE_MS = 60 * 60 * 1000;

export interface Upload {
  /** Digest of the token; it also names the upload at the object store. */
  readonly id: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly declaredBytes: number | null;
  readonly createdBy: string | null;
}

export interface NewUpload {
  readonly artifactId: ArtifactId;
  readonly filename: string;
  readonly mimeType: string;
  readonly declaredBytes: number | null;
  readonly direct: boolean;
  readonly createdBy: string | null;
  readonly nowMs: number;
}

export async function createUpload(sql: Queries, upload: NewUpload): Promise<{ token: UploadId; id: string; expiresAtMs: number }> {
  const token = newId('upload');
  const id = idOf(token);
  const expiresAtMs = upload.nowMs + LIMITS.blobUploadTtlMs;
  await sql`
    insert into blob_upload (id, artifact_id, filename, mime_type, declared_bytes, direct, created_by, created_at_ms, expires_at_ms)
    values (${id}, ${upload.artifactId}, ${upload.filename}, ${upload.mimeType}, ${upload.declaredBytes}, ${upload.direct},
      ${upload.createdBy}, ${upload.nowMs}, ${expiresAtMs})`;
  return { token, id, expiresAtMs };
}

/**
 * Does with a token what it is for. Of several callers at once one gets it; where `use` fails it may be used again.
 * Throws UPLOAD_TOKEN_INVALID, UPLOAD_TOKEN_EXPIRED, and what `use` throws.
 */
export async function useToken<T>(
  sql: Queries,
  wanted: { readonly artifactId: ArtifactId; readonly token: UploadId; readonly direct: boolean; readonly nowMs: number },
  use: (upload: Upload) => Promise<T>,
): Promise<T> {
  const upload = await takeToken(sql, wanted);
  try {
    return await use(upload);
  } catch (error) {
    await sql`update blob_upload set used_at_ms = null where id = ${upload.id}`;
    throw error;
  }
}

async function takeToken(sql: Queries, { artifactId, token, direct, nowMs }: Parameters<typeof useToken>[1]): Promise<Upload> {
  const id = idOf(token);
  const [upload] = await sql<Upload[]>`
    update blob_upload set used_at_ms = ${nowMs}
    where id = ${id} and artifact_id = ${artifactId} and direct = ${direct} and used_at_ms is null and expires_at_ms > ${nowMs}
    returning id, filename, mime_type as "mimeType", declared_bytes as "declaredBytes", created_by as "createdBy"`;
  if (upload !== undefined) return upload;
  const [expired] = await sql`
    select 1 from blob_upload
    where id = ${id} and artifact_id = ${artifactId} and direct = ${direct} and used_at_ms is null and expires_at_ms <= ${nowMs}`;
  throw new Failure(expired === undefined ? 'UPLOAD_TOKEN_INVALID' : 'UPLOAD_TOKEN_EXPIRED', { param: 'tokenId' });
}

/** Forgets tokens that have had their time, and removes what was uploaded with them to the object store and not recorded. */
export async function deleteExpiredBlobUploads(
  sql: Queries,
  objects: Pick<ObjectStore, 'direct'>,
  nowMs: number,
  signal: AbortSignal,
): Promise<number> {
  const rows = await sql<{ id: string; direct: boolean }[]>`
    select id, direct from blob_upload where expires_at_ms <= ${nowMs - LATE_MS}`;
  let deleted = 0;
  for (const { id, direct } of rows) {
    if (signal.aborted) break;
    if (direct) await objects.direct?.discard(id);
    // Last: should the store fail, the next sweep still knows of it.
    deleted += (await sql`delete from blob_upload where id = ${id}`).count;
  }
  return deleted;
}

/** Whom a blob is by: an account, or an agent's token. */
export function creatorOf(principal: Principal): string | null {
  switch (principal.kind) {
    case 'user':
      return principal.userId;
    case 'agent':
      return principal.tokenId;
    case 'anonymous':
    case 'guest':
      return null;
    default:
      return principal satisfies never;
  }
}

function idOf(token: UploadId): string {
  return createHash('sha256').update(token).digest('hex');
}
