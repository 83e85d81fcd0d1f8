/** The blobs of an imported zip: checks them and puts their bytes into the object store. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { requireBlobType } from '../../data/blobs/rules.ts';
import { receiveFile, type StoringDeps } from '../../data/blobs/storing.ts';
import { stampObjects } from '../publish/rows.ts';
import { blobEntry, MANIFEST_ENTRY, type Manifest } from './manifest.ts';
import { archiveFailure, type ZipReader } from './zip-reader.ts';

type Blobs = Manifest['blobs'];

/** Checks blobs as uploads are checked and stores them before the transaction that names them. Throws the code of a limit or of a type, naming the entry. */
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

/** The blobs as they are stored: `requireBlobType` writes every media type in one way. */
export function storedBlobs({ blobs }: Manifest): Blobs {
  return blobs.map((blob) => ({ ...blob, mime: requireBlobType(blob.mime) }));
}
