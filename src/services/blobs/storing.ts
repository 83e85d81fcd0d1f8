/** The way of a file: to disk while it is hashed and looked at, to the object store, and then, in a turn, to the artifact. */
import type { StoredBlob } from '../../../actors/ports.ts';
import type { ActorRuntime } from '../../../actors/runtime.ts';
import { Failure } from '../../../protocol/errors.ts';
import { type ArtifactId, newId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { blobFilename } from '../../../protocol/schemas/blob.ts';
import type { Spool, SpooledFile, SpoolWriter } from '../../storage/spool.ts';
import type { ServiceDeps } from '../deps.ts';
import { stampObjects } from '../publish/contents.ts';
import { mediaTypeOf } from '../publish/media-types.ts';
import { FileTypeCheck, requireBlobType } from './file-type-check.ts';
import { type FilePart, readFilePart } from './multipart.ts';

export interface StoringDeps extends Pick<ServiceDeps, 'sql' | 'objects' | 'clock'> {
  readonly runtime: ActorRuntime;
  readonly spool: Spool;
}

export interface FileMeta {
  readonly filename: string;
  /** As `requireBlobType` gives it. */
  readonly mimeType: string;
}

type Chunks = AsyncIterable<Uint8Array>;

/** Receives a file of a known kind. Throws FILE_TOO_LARGE, INVALID_MIME_TYPE, and what `chunks` throws; then nothing is left of it. */
export async function receiveFile(spool: Spool, chunks: Chunks, mimeType: string): Promise<SpooledFile> {
  const check = new FileTypeCheck(mimeType);
  return intoSpool(spool, check, async (write) => {
    for await (const chunk of chunks) await write(chunk, check);
  });
}

/** The same for the file of a form, which says itself what it is. */
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
  if (meta === undefined) throw new Error('a form without a file was taken');
  return { ...meta, file };
}

/** Stores what was received and records it. Throws as `BlobsPart.add` does. The file is gone from the spool afterwards. */
export async function storeFile(
  deps: StoringDeps,
  artifactId: ArtifactId,
  meta: FileMeta & { readonly createdBy: string | null },
  file: SpooledFile,
  place: () => Promise<void> = () => deps.objects.putFile(file.sha256, file.path, file.sizeBytes),
): Promise<StoredBlob> {
  try {
    // Stamped first: the sweep leaves alone what was stamped within a day.
    await stampObjects(deps.sql, new Map([[file.sha256, file.sizeBytes]]), deps.clock.nowMs());
    await place();
    const { filename, mimeType, createdBy } = meta;
    const { sha256, sizeBytes } = file;
    return await deps.runtime.ask(artifactId, (actor) =>
      actor.blobs.add({ id: newId('blob'), filename, mimeType, sizeBytes, sha256, createdBy }),
    );
  } finally {
    await file.dispose();
  }
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
  const name = blobFilename.safeParse(filename);
  if (!name.success) {
    throw new Failure('INVALID_REQUEST', { param: 'filename', message: `filename: ${name.error.issues[0]?.message ?? 'is not valid'}.` });
  }
  // A sender that does not know the type says this; the name does, and the bytes are held against it.
  const given = type === 'application/octet-stream' ? mediaTypeOf(filename, undefined) : type;
  return { filename: name.data, mimeType: requireBlobType(given) };
}
