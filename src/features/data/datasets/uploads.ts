/** Uploads of datasets by a URL of their own, with the tokens that blobs have too. */
import { chainOf } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import type { ServiceDeps } from '../../deps.ts';
import { roomOf } from '../../people/usage/rules.ts';
import { checkOwnersRoom } from '../../people/usage/storage.ts';
import { originOf } from '../blobs/record.ts';
import type { UploadRow } from '../blobs/rows.ts';
import { creatorOf, requireDeclaredSize } from '../blobs/rules.ts';
import { createUpload, reservedUntil, useToken } from '../blobs/uploads.ts';
import { datasetType, type ReceiveDeps, receiveDataset, writtenReply } from './receive.ts';
import { readDataset } from './rows.ts';
import { type DatasetWrite, requireFew, type WrittenDataset } from './write.ts';

type Uploading = 'datasets.upload' | 'datasets.putUpload' | 'datasets.confirm';
type UploadDeps = ReceiveDeps & Pick<ServiceDeps, 'config' | 'log'>;
type TokenCall = Call<Endpoints['datasets.putUpload']> | Call<Endpoints['datasets.confirm']>;

export function uploadHandlers(deps: UploadDeps): Handlers<Uploading> {
  const { sql } = deps;
  return {
    'datasets.upload': (call) => newUpload(deps, call),
    'datasets.putUpload': (call) => {
      const { artifactId, tokenId } = call.params;
      return useToken(sql, { artifactId, token: tokenId, direct: false, isDataset: true, nowMs: call.nowMs }, async (upload) => {
        requireDeclaredSize(upload, call.body.lengthBytes);
        await requirePlace(deps, writeOf(call, upload), upload.declaredBytes === null ? 1 : 0);
        const sent = { chunks: call.body, type: datasetType(upload.mimeType) };
        return writtenReply(await receiveDataset(deps, call, writeOf(call, upload), sent));
      });
    },
    'datasets.confirm': (call) => {
      const { artifactId, tokenId } = call.params;
      return useToken(sql, { artifactId, token: tokenId, direct: true, isDataset: true, nowMs: call.nowMs }, async (upload) =>
        writtenReply(await confirmed(deps, call, upload)),
      );
    },
  };
}

async function newUpload(deps: UploadDeps, call: Call<Endpoints['datasets.upload']>) {
  const { params, body, principal, nowMs, host, isFromPage } = call;
  const { artifactId, dataset: name } = params;
  const usage = await requirePlace(deps, { artifactId, name }, body.size ?? 1);
  // The object store sends no CORS headers for the origin of a page, so a browser would block a direct upload.
  const direct = isFromPage ? undefined : deps.objects.direct;
  const { token, id, expiresAtMs } = await createUpload(deps.sql, {
    artifactId,
    filename: name,
    dataset: name,
    mimeType: body.mimeType,
    declaredBytes: body.size ?? null,
    direct: direct !== undefined,
    createdBy: creatorOf(principal),
    nowMs,
    // Nobody sees how much is sent to the object store before it is confirmed.
    reservedBytes: body.size ?? (direct === undefined ? 0 : LIMITS.datasetBytesMax),
  });
  const base = `${originOf(deps.config, host)}/v1/data/${artifactId}/datasets`;
  const data = {
    uploadUrl: (await direct?.uploadUrl(id, LIMITS.blobUploadTtlMs / 1000)) ?? `${base}/_upload/${token}`,
    ...(direct !== undefined && { confirmUrl: `${base}/${token}/confirm` }),
    tokenId: token,
    direct: direct !== undefined,
    expiresAt: new Date(expiresAtMs).toISOString(),
    maxSize: usage === null ? LIMITS.datasetBytesMax : Math.min(LIMITS.datasetBytesMax, roomOf(usage)),
  };
  return { reply: 'ok', body: { success: true, data } } as const;
}

/** An early refusal, before the rows come. Throws DATASET_LIMIT_EXCEEDED, ACCOUNT_STORAGE_FULL. */
async function requirePlace({ sql, clock }: UploadDeps, { artifactId, name }: Pick<DatasetWrite, 'artifactId' | 'name'>, bytes: number) {
  if ((await readDataset(sql, artifactId, name)) === undefined) await requireFew(sql, artifactId);
  return checkOwnersRoom(sql, artifactId, bytes, clock.nowMs());
}

function writeOf(call: TokenCall, { dataset, blobId, direct, expiresAtMs }: UploadRow): DatasetWrite {
  const write = { artifactId: call.params.artifactId, name: dataset ?? '', asker: call, chain: chainOf(call.principal) };
  if (blobId === null) return write;
  return { ...write, upload: { reservationId: blobId, reservedUntilMs: reservedUntil({ direct }, expiresAtMs) } };
}

/** `claim` first moves the file out of the uploader's reach, so that what is parsed cannot change. */
async function confirmed(deps: UploadDeps, call: Call<Endpoints['datasets.confirm']>, upload: UploadRow): Promise<WrittenDataset> {
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
  const sent = { chunks: direct.read(upload.id), type: datasetType(upload.mimeType) };
  const written = await receiveDataset(deps, call, writeOf(call, upload), sent);
  await direct.discard(upload.id).catch((err) => {
    deps.log.warn(
      { err, artifactId: call.params.artifactId },
      'the temporary copy of a stored dataset could not be removed; the sweep removes it',
    );
  });
  return written;
}
