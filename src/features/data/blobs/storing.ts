/** Stores a file: spools it to disk while hashing and checking it, moves it to the object store, then records it in a turn of the actor. */
import type { StoredBlob } from '../../../../actors/blobs/changes.ts';
import type { ActorRuntime, Asker } from '../../../../actors/runtime/runtime.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ArtifactId, newId } from '../../../../protocol/core/ids.ts';
import { readInput } from '../../../../protocol/core/issues.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { blobFilename } from '../../../../protocol/data/blobs.ts';
import type { Spool, SpooledFile, SpoolWriter } from '../../../storage/spool.ts';
import { mediaTypeOf } from '../../artifacts/publish/media-types.ts';
import { stampObjects } from '../../artifacts/publish/rows.ts';
import type { ServiceDeps } from '../../deps.ts';
import { endReservation, reserveBlob } from '../../people/usage/storage.ts';
import { FileTypeCheck } from './file-type-check.ts';
import { type FilePart, readFilePart } from './multipart.ts';
import { requireBlobType } from './rules.ts';

export interface StoringDeps extends Pick<ServiceDeps, 'sql' | 'objects' | 'clock'> {
  readonly runtime: ActorRuntime;
  readonly spool: Spool;
}

export interface FileMeta {
  readonly filename: string;
  /** As `requireBlobType` answers it. */
  readonly mimeType: string;
}

type Chunks = AsyncIterable<Uint8Array>;

/** Receives a file of a known type. Throws FILE_TOO_LARGE, INVALID_MIME_TYPE, and what `chunks` throws; the spool is then clean again. */
export async function receiveFile(spool: Spool, chunks: Chunks, mimeType: string): Promise<SpooledFile> {
  const check = new FileTypeCheck(mimeType);
  return intoSpool(spool, check, async (write) => {
    for await (const chunk of chunks) await write(chunk, check);
  });
}

/** Receives the file of a form, which names its type. Throws as `receiveFile` and `readFilePart` do. */
export async function receiveForm(spool: Spool, chunks: Chunks, contentType: string): Promise<FileMeta & { readonly file: SpooledFile }> {
  let meta: FileMeta | undefined;
  let check: FileTypeCheck | undefined;
  const file = await intoSpool(spool, { finish: (path) => check?.finish(path) ?? Promise.resolve() }, (write) =>
    readFilePart(chunks, contentType, {
      begin(part) {
        meta = metaOf(part);
        check = new FileTypeCheck(meta.mimeType);
      },
      write: (chunk) => write(chunk, check),
    }),
  );
  if (meta === undefined) throw new Error('readFilePart accepted a form without a file');
  return { ...meta, file };
}

export type FileRecord = FileMeta & {
  readonly createdBy: string | null;
  /** The blob of an upload token, whose reservation stays with the token where storing fails. */
  readonly upload?: { readonly blobId: string; readonly reservedUntilMs: number };
};

/**
 * Stores and records a received file, then removes it from the spool. The commit that records it ends the reservation of its room.
 * Throws as `BlobsPart.add` does, and ACCOUNT_STORAGE_FULL.
 */
export async function storeFile(
  deps: StoringDeps & { readonly asker: Asker },
  artifactId: ArtifactId,
  meta: FileRecord,
  file: SpooledFile,
  place: () => Promise<void> = () => deps.objects.putFile(file.sha256, file.path, file.sizeBytes),
): Promise<StoredBlob> {
  try {
    const { upload } = meta;
    const id = upload?.blobId ?? newId('blob');
    const expiresAtMs = upload?.reservedUntilMs ?? deps.clock.nowMs() + LIMITS.storageReservationTtlMs;
    await reserveBlob(deps, artifactId, { id, bytes: file.sizeBytes, expiresAtMs });
    try {
      return await placeAndRecord(deps, artifactId, id, meta, file, place);
    } catch (error) {
      // The caller needs the first failure; a reservation that cannot be ended now ends when it expires.
      if (upload === undefined) await Promise.allSettled([endReservation(deps, id, { stored: true })]);
      throw error;
    }
  } finally {
    await file.dispose();
  }
}

async function placeAndRecord(
  deps: StoringDeps & { readonly asker: Asker },
  artifactId: ArtifactId,
  id: string,
  { filename, mimeType, createdBy }: FileRecord,
  { sha256, sizeBytes }: SpooledFile,
  place: () => Promise<void>,
): Promise<StoredBlob> {
  // Stamped before the bytes arrive: the sweep skips objects that were stamped within the last day.
  await stampObjects(deps.sql, new Map([[sha256, sizeBytes]]), deps.clock.nowMs());
  await place();
  return deps.runtime.ask(
    artifactId,
    (actor) => actor.blobs.add({ id, filename, mimeType, sizeBytes, sha256, createdBy }),
    undefined,
    deps.asker,
  );
}

async function intoSpool(
  spool: Spool,
  check: Pick<FileTypeCheck, 'finish'>,
  fill: (write: (chunk: Uint8Array, check: FileTypeCheck | undefined) => Promise<void>) => Promise<void>,
): Promise<SpooledFile> {
  const writer = await spool.create();
  await fill((chunk, seen) => take(writer, chunk, seen)).catch(async (error) => {
    await writer.abandon();
    throw error;
  });
  const file = await writer.finish();
  await check.finish(file.path).catch(async (error) => {
    await file.dispose();
    throw error;
  });
  return file;
}

function take(writer: SpoolWriter, chunk: Uint8Array, check: FileTypeCheck | undefined): Promise<void> {
  if (writer.sizeBytes + chunk.length > LIMITS.blobBytesMax) {
    throw new Failure('FILE_TOO_LARGE', { message: `The file has more than ${LIMITS.blobBytesMax} bytes.` });
  }
  check?.write(chunk);
  return writer.write(chunk);
}

function metaOf({ filename, type }: FilePart): FileMeta {
  const { value: name, issues } = readInput(blobFilename, filename);
  if (issues !== undefined) {
    throw new Failure('INVALID_REQUEST', { param: 'filename', message: `filename: ${issues[0]?.message ?? 'is not valid'}.` });
  }
  // A sender that does not know the type sends octet-stream. The type then follows from the name, and the bytes are checked against it.
  const given = type === 'application/octet-stream' ? mediaTypeOf(filename, undefined) : type;
  return { filename: name, mimeType: requireBlobType(given) };
}
