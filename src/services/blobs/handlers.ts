/** Handlers of the blobs. */
import type { StoredBlob } from '../../../actors/ports.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Endpoints } from '../../../protocol/table.ts';
import type { Call, Handlers } from '../../edge/call.ts';
import type { ServiceDeps } from '../deps.ts';
import { contentReply } from './content.ts';
import { requireBlobType } from './file-type-check.ts';
import { blobList, blobRecord, blobUrl, contentTypeOf, dispositionOf, originOf, positionOf } from './record.ts';
import { receiveFile, receiveForm, type StoringDeps, storeFile } from './storing.ts';
import { createUpload, creatorOf, type Upload, useToken } from './uploads.ts';

type BlobEndpoint = Extract<keyof Endpoints, `blobs.${string}`>;

const DOWNLOAD_URL_TTL_S = 900;

interface BlobDeps extends StoringDeps, Pick<ServiceDeps, 'config' | 'log'> {}

export function blobHandlers(deps: BlobDeps): Handlers<BlobEndpoint> {
  return { ...readHandlers(deps), ...writeHandlers(deps) };
}

type Reading = 'blobs.list' | 'blobs.storage' | 'blobs.get' | 'blobs.content' | 'blobs.downloadUrl';

function readHandlers({ runtime, objects, config }: BlobDeps): Handlers<Reading> {
  return {
    'blobs.list': ({ params: { artifactId }, query: { limit, cursor }, host }) => {
      const after = positionOf(cursor);
      return runtime.ask(artifactId, ({ blobs }) => {
        const data = blobList(originOf(config, host), artifactId, blobs.page(after, limit));
        return { reply: 'ok', body: { success: true, data } } as const;
      });
    },
    'blobs.storage': ({ params }) =>
      runtime.ask(params.artifactId, ({ blobs }) => {
        const { usedBytes, count: blobCount, availableBytes } = blobs;
        const data = { usedBytes, blobCount, maxBytes: LIMITS.blobsBytesMax, maxBlobs: LIMITS.blobsMax, availableBytes };
        return { reply: 'ok', body: { success: true, data } } as const;
      }),
    'blobs.get': ({ params: { artifactId, blobId }, host }) =>
      runtime.ask(artifactId, ({ blobs }) => {
        const data = blobRecord(originOf(config, host), artifactId, blobs.get(blobId));
        return { reply: 'ok', body: { success: true, data } } as const;
      }),
    'blobs.content': (call) =>
      runtime.ask(call.params.artifactId, ({ blobs }) => contentReply(objects, blobs.get(call.params.blobId), call)),
    'blobs.downloadUrl': async ({ params: { artifactId, blobId }, host, isFromPage }) => {
      const blob = await runtime.ask(artifactId, ({ blobs }) => blobs.get(blobId));
      if (objects.direct === undefined || isFromPage) {
        const url = blobUrl(originOf(config, host), artifactId, blobId);
        return { reply: 'ok', body: { success: true, data: { url, direct: false, expiresIn: null } } };
      }
      const headers = { type: contentTypeOf(blob), disposition: dispositionOf(blob) };
      const url = await objects.direct.downloadUrl(blob.sha256, DOWNLOAD_URL_TTL_S, headers);
      return { reply: 'ok', body: { success: true, data: { url, direct: true, expiresIn: DOWNLOAD_URL_TTL_S } } };
    },
  };
}

function writeHandlers(deps: BlobDeps): Handlers<Exclude<BlobEndpoint, Reading>> {
  const { runtime, spool, sql, config } = deps;
  return {
    'blobs.create': async ({ params: { artifactId }, body, contentType, principal, host }) => {
      await requireRoom(deps, artifactId, 1);
      const { file, ...meta } = await receiveForm(spool, body, contentType);
      return createdReply(config, host, artifactId, await storeFile(deps, artifactId, { ...meta, createdBy: creatorOf(principal) }, file));
    },
    'blobs.upload': (call) => newUpload(deps, call),
    'blobs.put': ({ params: { artifactId, tokenId }, body, nowMs, host }) =>
      useToken(sql, { artifactId, token: tokenId, direct: false, nowMs }, async (upload) => {
        requireDeclaredSize(upload, body.lengthBytes);
        await requireRoom(deps, artifactId, body.lengthBytes);
        const file = await receiveFile(spool, body, upload.mimeType);
        return createdReply(config, host, artifactId, await storeFile(deps, artifactId, upload, file));
      }),
    'blobs.confirm': ({ params: { artifactId, tokenId }, nowMs, host }) =>
      useToken(sql, { artifactId, token: tokenId, direct: true, nowMs }, async (upload) =>
        createdReply(config, host, artifactId, await confirmed(deps, artifactId, upload)),
      ),
    'blobs.delete': ({ params: { artifactId, blobId } }) =>
      runtime.ask(artifactId, ({ blobs }) => {
        blobs.delete(blobId);
        return { reply: 'ok', body: { success: true, data: { deleted: true } } } as const;
      }),
  };
}

async function newUpload(deps: BlobDeps, call: Call<Endpoints['blobs.upload']>) {
  const { params, body, principal, nowMs, host, isFromPage } = call;
  const { artifactId } = params;
  const mimeType = requireBlobType(body.mimeType);
  const availableBytes = await requireRoom(deps, artifactId, body.size ?? 1);
  // The object store does not know the page's origin, so its browser would refuse.
  const direct = isFromPage ? undefined : deps.objects.direct;
  const { token, id, expiresAtMs } = await createUpload(deps.sql, {
    artifactId,
    filename: body.filename,
    mimeType,
    declaredBytes: body.size ?? null,
    direct: direct !== undefined,
    createdBy: creatorOf(principal),
    nowMs,
  });
  const base = `${originOf(deps.config, host)}/v1/data/${artifactId}/blobs`;
  const data = {
    uploadUrl: (await direct?.uploadUrl(id, LIMITS.blobUploadTtlMs / 1000)) ?? `${base}/_upload/${token}`,
    ...(direct !== undefined && { confirmUrl: `${base}/${token}/confirm` }),
    tokenId: token,
    direct: direct !== undefined,
    expiresAt: new Date(expiresAtMs).toISOString(),
    maxSize: Math.min(LIMITS.blobBytesMax, availableBytes),
  };
  return { reply: 'ok', body: { success: true, data } } as const;
}

/** Records what was uploaded to the object store, once its uploader cannot change it any more. */
async function confirmed(deps: BlobDeps, artifactId: ArtifactId, upload: Upload): Promise<StoredBlob> {
  const { direct } = deps.objects;
  if (direct === undefined) throw new Failure('UPLOAD_TOKEN_INVALID', { message: 'The object store takes no uploads any more.' });
  const sizeBytes = await direct.claim(upload.id);
  if (sizeBytes === null)
    throw new Failure('INVALID_REQUEST', { message: 'Nothing was uploaded yet.', hint: 'PUT the bytes to uploadUrl first.' });
  requireDeclaredSize(upload, sizeBytes);
  await requireRoom(deps, artifactId, sizeBytes);
  const file = await receiveFile(deps.spool, direct.read(upload.id), upload.mimeType);
  const blob = await storeFile(deps, artifactId, upload, file, () => direct.keep(upload.id, file.sha256));
  await direct.discard(upload.id).catch((err) => {
    deps.log.warn({ err, artifactId }, 'an upload that is recorded could not be removed; the sweep does it');
  });
  return blob;
}

/** Bytes left. Throws as `BlobsPart.assertRoom` does; recording asks again, which is what counts. */
async function requireRoom({ runtime }: BlobDeps, artifactId: ArtifactId, sizeBytes: number): Promise<number> {
  return runtime.ask(artifactId, ({ blobs }) => {
    blobs.assertRoom(sizeBytes);
    return blobs.availableBytes;
  });
}

function requireDeclaredSize({ declaredBytes }: Upload, sizeBytes: number): void {
  if (declaredBytes === null || declaredBytes === sizeBytes) return;
  throw new Failure('INVALID_REQUEST', { message: `The file has ${sizeBytes} bytes, not ${declaredBytes} as was said.`, param: 'size' });
}

function createdReply(config: ServiceDeps['config'], host: string, artifactId: ArtifactId, blob: StoredBlob) {
  return { reply: 'created', body: { success: true, data: blobRecord(originOf(config, host), artifactId, blob) } } as const;
}
