/** Upload tokens. Each lets its holder store one file, once, within 15 minutes. The database keeps only their digests. */
import { createHash } from 'node:crypto';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ArtifactId, newId, type UploadId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Sql } from '../../../storage/sql.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { holderOf } from '../../people/usage/rows.ts';
import { endReservation, reserve } from '../../people/usage/storage.ts';
import {
  countOpenUploads,
  deleteUpload,
  insertUpload,
  isUploadExpired,
  listExpiredUploads,
  releaseUpload,
  takeUpload,
  type UploadRow,
} from './rows.ts';

/** A transfer that began before the token expired may end after it, so its remains are removed only this much later. */
const LATE_MS = 60 * 60 * 1000;
/** The daily sweep has certainly run by then; it ends the reservation with the remains. */
const SWEPT_MS = LATE_MS + 25 * 60 * 60 * 1000;

export interface NewUpload {
  readonly artifactId: ArtifactId;
  readonly filename: string;
  readonly mimeType: string;
  readonly declaredBytes: number | null;
  readonly direct: boolean;
  readonly createdBy: string | null;
  /** The dataset whose next version it will be; null for a blob. */
  readonly dataset: string | null;
  readonly nowMs: number;
  /** What is reserved for it. */
  readonly reservedBytes: number;
}

interface TokenUse {
  readonly isDataset: boolean;
  readonly artifactId: ArtifactId;
  readonly token: UploadId;
  readonly direct: boolean;
  readonly nowMs: number;
}

/** Reserves the room that its file may take. Throws ACCOUNT_STORAGE_FULL, and RATE_LIMITED for an artifact with too many unused tokens. */
export async function createUpload(
  sql: Sql,
  { nowMs, reservedBytes, ...upload }: NewUpload,
): Promise<{ token: UploadId; id: string; expiresAtMs: number }> {
  const token = newId('upload');
  const id = idOf(token);
  const blobId = newId('blob');
  const expiresAtMs = nowMs + LIMITS.blobUploadTtlMs;
  await sql.begin(async (tx) => {
    const accountId = await holderOf(tx, upload.artifactId);
    const reservation = { id: blobId, bytes: reservedBytes, expiresAtMs: reservedUntil(upload, expiresAtMs) };
    if (accountId !== null) await reserve(tx, { ...reservation, accountId }, nowMs);
    // The owner's counters are locked now, so tokens that are made together cannot exceed the maximum.
    requireFewUploads(await countOpenUploads(tx, upload.artifactId, nowMs), nowMs);
    await insertUpload(tx, { ...upload, id, blobId, createdAtMs: nowMs, expiresAtMs });
  });
  return { token, id, expiresAtMs };
}

/** A transfer may end after its token expired. What was sent to the object store and not confirmed stays there until the sweep. */
export function reservedUntil({ direct }: { readonly direct: boolean }, expiresAtMs: number): number {
  return expiresAtMs + (direct ? SWEPT_MS : LATE_MS);
}

function requireFewUploads(open: { readonly uploads: number; readonly firstExpiryMs: number | null }, nowMs: number): void {
  if (open.uploads < LIMITS.blobUploadsOpenMax) return;
  throw new Failure('RATE_LIMITED', {
    message: `An artifact may have ${LIMITS.blobUploadsOpenMax} upload tokens that are not used yet.`,
    retryAfterS: Math.max(1, Math.ceil(((open.firstExpiryMs ?? nowMs) - nowMs) / 1000)),
  });
}

/**
 * Runs `store` for the upload of a token. Of concurrent callers one succeeds; when `store` fails, the token can be used again.
 * Throws UPLOAD_TOKEN_INVALID, UPLOAD_TOKEN_EXPIRED, and what `store` throws.
 */
export async function useToken<T>(sql: Queries, use: TokenUse, store: (upload: UploadRow) => Promise<T>): Promise<T> {
  const upload = await takeToken(sql, use);
  try {
    return await store(upload);
  } catch (error) {
    await releaseUpload(sql, upload.id);
    throw error;
  }
}

async function takeToken(sql: Queries, { token, nowMs, ...use }: TokenUse): Promise<UploadRow> {
  const key = { ...use, id: idOf(token) };
  const upload = await takeUpload(sql, key, nowMs);
  if (upload !== undefined) return upload;
  const isExpired = await isUploadExpired(sql, key, nowMs);
  throw new Failure(isExpired ? 'UPLOAD_TOKEN_EXPIRED' : 'UPLOAD_TOKEN_INVALID', { param: 'tokenId' });
}

/** Deletes expired tokens, and the bytes that were uploaded with them to the object store but never confirmed; answers how many tokens. */
export async function deleteExpiredBlobUploads(deps: Pick<ServiceDeps, 'sql' | 'objects' | 'clock'>, signal: AbortSignal): Promise<number> {
  const { sql, objects, clock } = deps;
  let deleted = 0;
  for (const { id, direct, blobId } of await listExpiredUploads(sql, clock.nowMs() - LATE_MS)) {
    if (signal.aborted) break;
    if (direct) await objects.direct?.discard(id);
    if (blobId !== null) await endReservation(deps, blobId, { stored: false });
    // The row goes last: if the object store fails, the next sweep finds the upload again.
    deleted += await deleteUpload(sql, id);
  }
  return deleted;
}

function idOf(token: UploadId): string {
  return createHash('sha256').update(token).digest('hex');
}
