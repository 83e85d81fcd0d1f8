/** The SQL of upload tokens, of blobs and of datasets. Blobs themselves are read and written by the actor's store and journal. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface UploadRow {
  /** Digest of the token; it also names the upload at the object store. */
  readonly id: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly declaredBytes: number | null;
  readonly createdBy: string | null;
  /** The dataset whose next version it will be; null for a blob. */
  readonly dataset: string | null;
  /** The blob that it will be; null where it began before blobs were named in advance. For a dataset only its reservation is called so. */
  readonly blobId: string | null;
  /** The bytes go straight to the object store. */
  readonly direct: boolean;
  readonly expiresAtMs: number;
}

export interface NewUploadRow extends UploadRow {
  readonly artifactId: ArtifactId;
  readonly createdAtMs: number;
}

export interface UploadKey {
  readonly id: string;
  readonly artifactId: ArtifactId;
  readonly direct: boolean;
  readonly isDataset: boolean;
}

export async function insertUpload(sql: Queries, upload: NewUploadRow): Promise<void> {
  await sql`
    insert into blob_upload (id, artifact_id, filename, mime_type, declared_bytes, direct, created_by, created_at_ms, expires_at_ms, blob_id, dataset)
    values (${upload.id}, ${upload.artifactId}, ${upload.filename}, ${upload.mimeType}, ${upload.declaredBytes}, ${upload.direct},
      ${upload.createdBy}, ${upload.createdAtMs}, ${upload.expiresAtMs}, ${upload.blobId}, ${upload.dataset})`;
}

/** Marks a valid upload as used; undefined when it is unknown, used or expired. Of concurrent callers one gets it. */
export async function takeUpload(
  sql: Queries,
  { id, artifactId, direct, isDataset }: UploadKey,
  nowMs: number,
): Promise<UploadRow | undefined> {
  const [upload] = await sql<UploadRow[]>`
    update blob_upload set used_at_ms = ${nowMs}
    where id = ${id} and artifact_id = ${artifactId} and direct = ${direct} and (dataset is not null) = ${isDataset}
      and used_at_ms is null and expires_at_ms > ${nowMs}
    returning id, filename, mime_type as "mimeType", declared_bytes as "declaredBytes", created_by as "createdBy",
      dataset, blob_id as "blobId", direct, expires_at_ms as "expiresAtMs"`;
  return upload;
}

/** Makes a taken upload usable again. */
export async function releaseUpload(sql: Queries, id: string): Promise<void> {
  await sql`update blob_upload set used_at_ms = null where id = ${id}`;
}

/** Whether the upload was not used before it expired. */
export async function isUploadExpired(sql: Queries, { id, artifactId, direct, isDataset }: UploadKey, nowMs: number): Promise<boolean> {
  const [expired] = await sql`
    select 1 from blob_upload
    where id = ${id} and artifact_id = ${artifactId} and direct = ${direct} and (dataset is not null) = ${isDataset}
      and used_at_ms is null and expires_at_ms <= ${nowMs}`;
  return expired !== undefined;
}

interface ExpiredUpload {
  readonly id: string;
  readonly direct: boolean;
  readonly blobId: string | null;
}

export function listExpiredUploads(sql: Queries, expiredBeforeMs: number): Promise<ExpiredUpload[]> {
  return sql<ExpiredUpload[]>`
    select id, direct, blob_id as "blobId" from blob_upload where expires_at_ms <= ${expiredBeforeMs}`;
}

/** Uploads of an artifact that can still be made, and when the first of them expires. */
export async function countOpenUploads(
  sql: Queries,
  artifactId: ArtifactId,
  nowMs: number,
): Promise<{ readonly uploads: number; readonly firstExpiryMs: number | null }> {
  const [row] = await sql<{ uploads: number; first_expiry_ms: number | null }[]>`
    select count(*)::int as uploads, min(expires_at_ms) as first_expiry_ms from blob_upload
    where artifact_id = ${artifactId} and used_at_ms is null and expires_at_ms > ${nowMs}`;
  return { uploads: row?.uploads ?? 0, firstExpiryMs: row?.first_expiry_ms ?? null };
}

/** The number of deleted rows: 0 when another sweep was first. */
export async function deleteUpload(sql: Queries, id: string): Promise<number> {
  return (await sql`delete from blob_upload where id = ${id}`).count;
}
