/**
 * Uploads in pieces, which go on after a lost connection or from another device: begin, send pieces at their offsets, ask for the offset, cancel.
 * The steps are those of tus 1.0. Source: contract.md §9; issue "upload with progress and resume".
 */
import { z } from 'zod';
import { mime } from '../artifacts/publish.ts';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, sha256Schema, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { blobFilename } from '../data/blobs.ts';
import { params as inWorkspace, reads } from '../workspaces/access.ts';
import { looseFile } from './assets.ts';

export const newAssetUpload = z.strictObject({
  filename: blobFilename,
  mimeType: mime.meta({ description: 'image/*, video/*, audio/*, application/pdf, text/plain, text/csv or text/markdown' }),
  sizeBytes: z.number().int().min(0).meta({ description: 'of the whole file; its room is reserved until the upload ends' }),
  sha256: absentOrNull(sha256Schema).meta({
    description:
      'of the whole file: compared at the end, and an unfinished upload of yours with this digest, name and type is answered again',
  }),
});

export const assetUpload = z.object({
  id: idSchema('upload'),
  filename: z.string(),
  mimeType: z.string(),
  sizeBytes: z.number().int(),
  offset: z.number().int().meta({ description: 'bytes that are stored; the next piece begins there' }),
  pieceBytesMax: z.number().int(),
  expiresAt: dateTime.meta({ description: 'an upload that is not complete by then is discarded' }),
  file: looseFile.nullable().meta({ description: 'the stored file, once all of it has arrived' }),
});

const uploadId = idSchema('upload');
const ofUpload = { mine: z.object({ uploadId }), ours: inWorkspace.extend({ uploadId }) };
const offset = z.object({
  offset: z.coerce
    .number({ error: 'must be where the piece begins, in bytes' })
    .int()
    .min(0)
    .max(LIMITS.blobBytesMax)
    .meta({ description: 'where the piece begins' }),
});

const begin = {
  method: 'POST',
  body: { kind: 'json', schema: newAssetUpload, bytesMax: LIMITS.bodyBytesMax },
  replies: {
    created: { status: 201, body: assetUpload },
    resumed: { status: 200, body: assetUpload, description: 'The unfinished upload of the same file: go on at its offset.' },
  },
  errors: ['FILE_TOO_LARGE', 'ACCOUNT_STORAGE_FULL', 'INVALID_MIME_TYPE', 'ASSET_LIMIT_EXCEEDED'],
} as const;
const get = { method: 'GET', replies: { ok: { status: 200, body: assetUpload } }, errors: ['UPLOAD_NOT_FOUND'] } as const;
const send = {
  method: 'PATCH',
  query: offset,
  body: {
    kind: 'stream',
    bytesMax: LIMITS.assetPieceBytesMax,
    types: ['application/offset+octet-stream', 'application/octet-stream'],
  },
  replies: { ok: { status: 200, body: assetUpload } },
  errors: ['UPLOAD_NOT_FOUND', 'UPLOAD_OFFSET_CONFLICT', 'INVALID_MIME_TYPE', 'ACCOUNT_STORAGE_FULL', 'ASSET_LIMIT_EXCEEDED'],
} as const;
const cancel = { method: 'DELETE', replies: { ok: { status: 200, body: success } }, errors: ['UPLOAD_NOT_FOUND'] } as const;

const WORDS = {
  begin: 'Begins an upload in pieces, or answers the unfinished one of the same file.',
  get: 'How much of an upload has arrived, and the file once it is complete.',
  send: `Appends a piece at its offset: ${LIMITS.assetPieceBytesMax} bytes at most and, but for the last, ${LIMITS.assetPieceBytesMin} at least. The last one stores the file, which is loose. Where the connection ends early, what has arrived is kept.`,
  cancel: 'Ends an upload and discards what has arrived.',
} as const;

const MINE = '/v1/assets/uploads';
const OURS = '/v1/workspaces/{workspaceId}/assets/uploads';
const mine = { group: 'assets', limit: 'assets', access: { who: 'account', person: true } } as const;
const ours = { group: 'assets', limit: 'assets', access: { ...reads, scope: 'artifacts:publish' } } as const;

export const assetUploads = {
  'assets.beginUpload': endpoint({ ...mine, ...begin, path: MINE, summary: WORDS.begin }),
  'assets.getUpload': endpoint({ ...mine, ...get, path: `${MINE}/{uploadId}`, params: ofUpload.mine, summary: WORDS.get }),
  'assets.sendPiece': endpoint({ ...mine, ...send, path: `${MINE}/{uploadId}`, params: ofUpload.mine, summary: WORDS.send }),
  'assets.cancelUpload': endpoint({ ...mine, ...cancel, path: `${MINE}/{uploadId}`, params: ofUpload.mine, summary: WORDS.cancel }),
  'workspaceAssets.beginUpload': endpoint({ ...ours, ...begin, path: OURS, params: inWorkspace, summary: WORDS.begin }),
  'workspaceAssets.getUpload': endpoint({ ...ours, ...get, path: `${OURS}/{uploadId}`, params: ofUpload.ours, summary: WORDS.get }),
  'workspaceAssets.sendPiece': endpoint({ ...ours, ...send, path: `${OURS}/{uploadId}`, params: ofUpload.ours, summary: WORDS.send }),
  'workspaceAssets.cancelUpload': endpoint({
    ...ours,
    ...cancel,
    path: `${OURS}/{uploadId}`,
    params: ofUpload.ours,
    summary: WORDS.cancel,
  }),
} as const;
