/** The blobs of an imported zip: their bytes to the object store, their records as the actor would have written them. */
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { requireBlobType } from '../blobs/file-type-check.ts';
import { receiveFile, type StoringDeps } from '../blobs/storing.ts';
import type { Queries } from '../deps.ts';
import { stampObjects } from '../publish/contents.ts';
import { blobEntry, MANIFEST_ENTRY, type Manifest } from './manifest.ts';
import { archiveFailure, type ZipReader } from './zip-reader.ts';

type Blobs = Manifest['blobs'];

/** Checked as an upload is, and stored ahead of the transaction that names them. Throws the failure of a limit or of a type, naming the entry. */
export async function storeBlobs(deps: Omit<StoringDeps, 'runtime'>, zip: ZipReader, blobs: Blobs): Promise<void> {
  if (blobs.length > LIMITS.blobsMax) throw new Failure('BLOB_LIMIT_EXCEEDED', { param: MANIFEST_ENTRY });
  if (new Set(blobs.map((blob) => blob.id)).size < blobs.length) throw archiveFailure(MANIFEST_ENTRY, 'names a blob twice');
  if (blobs.reduce((sum, blob) => sum + blob.size_bytes, 0) > LIMITS.blobsBytesMax) {
    throw new Failure('STORAGE_LIMIT_EXCEEDED', { param: MANIFEST_ENTRY });
  }
  for (const blob of blobs) await storeBlob(deps, zip, blob);
}

async function storeBlob(
  { sql, clock, objects, spool }: Parameters<typeof storeBlobs>[0],
  zip: ZipReader,
  blob: Blobs[number],
): Promise<void> {
  const entry = blobEntry(blob.sha256);
  const chunks = zip.stream(entry, LIMITS.blobBytesMax, () => new Failure('FILE_TOO_LARGE', { param: entry }));
  const file = await naming(entry, () => receiveFile(spool, chunks, requireBlobType(blob.mime)));
  try {
    if (file.sha256 !== blob.sha256 || file.sizeBytes !== blob.size_bytes) {
      throw archiveFailure(entry, 'is not what the manifest says; the archive is damaged');
    }
    await stampObjects(sql, new Map([[file.sha256, file.sizeBytes]]), clock.nowMs());
    await objects.putFile(file.sha256, file.path, file.sizeBytes);
  } finally {
    await file.dispose();
  }
}

async function naming<T>(entry: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || error.details.param === entry) throw error;
    throw new Failure(error.code, { ...error.details, param: entry, message: `${entry}: ${error.message}` });
  }
}

/** Each is one change, numbered from `seqBefore + 1`. */
export async function insertBlobs(
  tx: Queries,
  { id, createdBy, seqBefore }: { readonly id: ArtifactId; readonly createdBy: string; readonly seqBefore: number },
  blobs: Blobs,
): Promise<void> {
  await tx`
    insert into blob (artifact_id, id, filename, mime_type, size_bytes, sha256, created_by, seq, created_at_ms)
    select ${id}, u.id, filename, mime, size_bytes, decode(hex, 'hex'), ${createdBy}, ${seqBefore} + n, created_at_ms
    from unnest(
      ${blobs.map((blob) => blob.id)}::text[], ${blobs.map((blob) => blob.filename)}::text[],
      ${blobs.map((blob) => requireBlobType(blob.mime))}::text[], ${blobs.map((blob) => blob.size_bytes)}::bigint[],
      ${blobs.map((blob) => blob.sha256)}::text[], ${blobs.map((blob) => blob.created_at_ms)}::bigint[]
    ) with ordinality as u (id, filename, mime, size_bytes, hex, created_at_ms, n)`;
}
