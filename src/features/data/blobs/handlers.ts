/** Handlers of the blobs. */
import { blobEtag } from '../../../../actors/blobs/blobs-part.ts';
import type { StoredBlob } from '../../../../actors/blobs/changes.ts';
import type { ArtifactActor } from '../../../../actors/runtime/artifact-actor.ts';
import type { ActorRuntime, Asker } from '../../../../actors/runtime/runtime.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import type { ServiceDeps } from '../../deps.ts';
import { roomOf } from '../../people/usage/rules.ts';
import { checkOwnersRoom } from '../../people/usage/storage.ts';
import { contentReply } from './content.ts';
import { blobList, blobRecord, blobUrl, contentTypeOf, dispositionOf, originOf, positionOf } from './record.ts';
import type { UploadRow } from './rows.ts';
import { creatorOf, requireBlobType, requireDeclaredSize } from './rules.ts';
import { type FileRecord, receiveFile, receiveForm, type StoringDeps, storeFile } from './storing.ts';
import { createUpload, reservedUntil, useToken } from './uploads.ts';

type BlobEndpoint = Extract<keyof Endpoints, `blobs.${string}`>;

const DOWNLOAD_URL_TTL_S = 900;

interface BlobDeps extends StoringDeps, Pick<ServiceDeps, 'config' | 'log'> {}

export function blobHandlers(deps: BlobDeps): Handlers<BlobEndpoint> {
  return { ...readHandlers(deps), ...writeHandlers(deps) };
}

type Reading = 'blobs.list' | 'blobs.storage' | 'blobs.get' | 'blobs.content' | 'blobs.downloadUrl';

function readHandlers({ runtime, objects, config }: BlobDeps): Handlers<Reading> {
  return {
    'blobs.list': ({ params: { artifactId }, query: { limit, cursor, count }, host }) => {
      const after = positionOf(cursor);
      return runtime.ask(artifactId, ({ blobs }) => {
        const data = blobList(originOf(config, host), artifactId, blobs.page(after, limit));
        return { reply: 'ok', body: { success: true, data: { ...data, ...(count && { total: data.count }) } } } as const;
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
        const found = blobs.get(blobId);
        const data = blobRecord(originOf(config, host), artifactId, found);
        return { reply: 'ok', body: { success: true, data }, etag: blobEtag(found) } as const;
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
  const { spool, sql, config, clock } = deps;
  return {
    'blobs.create': async (call) => {
      const { params, body, contentType, principal, host } = call;
      const { artifactId } = params;
      await requireRoom(deps, artifactId, 1);
      await checkOwnersRoom(sql, artifactId, body.lengthBytes - LIMITS.multipartOverheadBytesMax, clock.nowMs());
      const { file, ...meta } = await receiveForm(spool, body, contentType);
      return createdReply(
        config,
        host,
        artifactId,
        await storeFile({ ...deps, asker: call }, artifactId, { ...meta, createdBy: creatorOf(principal) }, file),
      );
    },
    'blobs.upload': (call) => newUpload(deps, call),
    'blobs.put': (call) => {
      const { params, body, nowMs, host } = call;
      const { artifactId, tokenId } = params;
      return useToken(sql, { artifactId, token: tokenId, direct: false, isDataset: false, nowMs }, async (upload) => {
        requireDeclaredSize(upload, body.lengthBytes);
        await requireRoom(deps, artifactId, body.lengthBytes);
        if (upload.declaredBytes === null) await checkOwnersRoom(sql, artifactId, body.lengthBytes, nowMs);
        const file = await receiveFile(spool, body, upload.mimeType);
        return createdReply(config, host, artifactId, await storeFile({ ...deps, asker: call }, artifactId, recordOf(upload), file));
      });
    },
    'blobs.confirm': (call) => {
      const { params, nowMs, host } = call;
      const { artifactId, tokenId } = params;
      return useToken(sql, { artifactId, token: tokenId, direct: true, isDataset: false, nowMs }, async (upload) =>
        createdReply(config, host, artifactId, await confirmed({ ...deps, asker: call }, artifactId, upload)),
      );
    },
    ...blobDeleteHandler(deps),
  };
}

/** Deletes in one turn, which an atomic batch can therefore run. */
export function blobDeleteHandler({ runtime }: { readonly runtime: Pick<ActorRuntime, 'ask'> }): Handlers<'blobs.delete'> {
  return {
    'blobs.delete': (call) => {
      const turn = ({ blobs }: ArtifactActor) => {
        blobs.delete(call.params.blobId, call);
        return { reply: 'ok', body: { success: true, data: { deleted: true } } } as const;
      };
      return runtime.ask(call.params.artifactId, turn, undefined, call);
    },
  };
}

async function newUpload(deps: BlobDeps, call: Call<Endpoints['blobs.upload']>) {
  const { params, body, principal, nowMs, host, isFromPage } = call;
  const { artifactId } = params;
  const mimeType = requireBlobType(body.mimeType);
  const availableBytes = await requireRoom(deps, artifactId, body.size ?? 1);
  const usage = await checkOwnersRoom(deps.sql, artifactId, body.size ?? 1, nowMs);
  // The object store sends no CORS headers for the origin of a page, so a browser would block a direct upload.
  const direct = isFromPage ? undefined : deps.objects.direct;
  const { token, id, expiresAtMs } = await createUpload(deps.sql, {
    artifactId,
    filename: body.filename,
    mimeType,
    declaredBytes: body.size ?? null,
    direct: direct !== undefined,
    createdBy: creatorOf(principal),
    dataset: null,
    nowMs,
    // Nobody sees how much is sent to the object store before it is confirmed.
    reservedBytes: body.size ?? (direct === undefined ? 0 : LIMITS.blobBytesMax),
  });
  const base = `${originOf(deps.config, host)}/v1/data/${artifactId}/blobs`;
  const data = {
    uploadUrl: (await direct?.uploadUrl(id, LIMITS.blobUploadTtlMs / 1000)) ?? `${base}/_upload/${token}`,
    ...(direct !== undefined && { confirmUrl: `${base}/${token}/confirm` }),
    tokenId: token,
    direct: direct !== undefined,
    expiresAt: new Date(expiresAtMs).toISOString(),
    maxSize: Math.min(LIMITS.blobBytesMax, availableBytes, usage === null ? availableBytes : roomOf(usage)),
  };
  return { reply: 'ok', body: { success: true, data } } as const;
}

/** Records a direct upload. `claim` first moves it out of the uploader's reach, so that the checked bytes cannot change. */
async function confirmed(deps: BlobDeps & { readonly asker: Asker }, artifactId: ArtifactId, upload: UploadRow): Promise<StoredBlob> {
  const { direct } = deps.objects;
  if (direct === undefined) throw new Failure('UPLOAD_TOKEN_INVALID', { message: 'The object store no longer accepts direct uploads.' });
  const sizeBytes = await direct.claim(upload.id);
  if (sizeBytes === null) {
    throw new Failure('INVALID_REQUEST', {
      message: 'No file has been uploaded with this token.',
      hint: 'PUT the bytes to uploadUrl first.',
    });
  }
  requireDeclaredSize(upload, sizeBytes);
  await requireRoom(deps, artifactId, sizeBytes);
  const file = await receiveFile(deps.spool, direct.read(upload.id), upload.mimeType);
  const blob = await storeFile(deps, artifactId, recordOf(upload), file, () => direct.keep(upload.id, file.sha256));
  await direct.discard(upload.id).catch((err) => {
    deps.log.warn({ err, artifactId }, 'the temporary copy of a recorded upload could not be removed; the sweep removes it');
  });
  return blob;
}

function recordOf({ filename, mimeType, createdBy, blobId, direct, expiresAtMs }: UploadRow): FileRecord {
  const record = { filename, mimeType, createdBy };
  return blobId === null ? record : { ...record, upload: { blobId, reservedUntilMs: reservedUntil({ direct }, expiresAtMs) } };
}

/** Answers the available bytes and throws as `BlobsPart.assertRoom` does. An early check only: the turn that records the blob decides. */
async function requireRoom({ runtime }: BlobDeps, artifactId: ArtifactId, sizeBytes: number): Promise<number> {
  return runtime.ask(artifactId, ({ blobs }) => {
    blobs.assertRoom(sizeBytes);
    return blobs.availableBytes;
  });
}

function createdReply(config: ServiceDeps['config'], host: string, artifactId: ArtifactId, blob: StoredBlob) {
  return { reply: 'created', body: { success: true, data: blobRecord(originOf(config, host), artifactId, blob) } } as const;
}
