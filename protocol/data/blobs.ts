/** Blobs: files that belong to an artifact's data. Source: spec.md "Data blobs", contract.md §6. */
import { z } from 'zod';
import { mime } from '../artifacts/publish.ts';
import { endpoint } from '../core/endpoint.ts';
import { dataPageReply, dateTime, pageQuery } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { boundedText } from '../core/text.ts';
import { enveloped } from './json-keys.ts';

/** The media types that may be uploaded. Source: spec.md, "Blob". */
const ALLOWED = /^(?:(?:image|video|audio)\/.+|application\/pdf|text\/(?:plain|csv|markdown))$/;

/** `type` in lowercase, without parameters. */
export function isAllowedBlobType(type: string): boolean {
  return ALLOWED.test(type);
}

/** A display name; it is never used as a path. */
export const blobFilename = boundedText(LIMITS.blobFilenameCharsMax, 1).regex(/^\P{C}*$/u, 'must not contain control characters');

export const blobUploadRequest = z.strictObject({
  filename: blobFilename,
  mimeType: mime.meta({ description: 'image/*, video/*, audio/*, application/pdf, text/plain, text/csv or text/markdown' }),
  size: z.number().int().min(0).optional().meta({ description: 'bytes; the call is refused when they exceed the remaining storage' }),
});

export const blob = z.object({
  id: z.string(),
  filename: z.string(),
  mimeType: z.string(),
  sizeBytes: z.number().int(),
  contentUrl: z.url(),
  createdAt: dateTime,
});

export const blobUpload = z.object({
  uploadUrl: z.url().meta({ description: 'PUT the bytes here; needs no other credentials' }),
  confirmUrl: z.url().optional().meta({ description: 'only when direct: POST here after the bytes are stored' }),
  tokenId: z.string(),
  direct: z.boolean(),
  expiresAt: dateTime,
  maxSize: z.number().int(),
});

export const blobList = z.object({
  blobs: z.array(blob),
  count: z.number().int().meta({ description: 'blobs on all pages' }),
  ...dataPageReply,
});

export const blobListQuery = z.object(pageQuery);

export const blobDownload = z.object({
  url: z.url(),
  direct: z.boolean().meta({ description: 'true when the object store serves the URL without credentials' }),
  expiresIn: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'seconds; null: the URL does not expire, and needs the same rights as this call' }),
});

export const blobStorage = z.object({
  usedBytes: z.number().int(),
  blobCount: z.number().int(),
  maxBytes: z.number().int(),
  maxBlobs: z.number().int(),
  availableBytes: z.number().int(),
});

const artifactId = idSchema('artifact');
const ofArtifact = z.object({ artifactId });
const ofBlob = z.object({ artifactId, blobId: idSchema('blob') });
const ofUpload = z.object({ artifactId, tokenId: missingAs(idSchema('upload').clone(), 'UPLOAD_TOKEN_INVALID') });
const read = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' } as const;
const write = { who: 'artifact', param: 'artifactId', need: 'data:write', scope: 'data:write' } as const;
const FULL = ['FILE_TOO_LARGE', 'STORAGE_LIMIT_EXCEEDED', 'ACCOUNT_STORAGE_FULL', 'BLOB_LIMIT_EXCEEDED', 'INVALID_MIME_TYPE'] as const;
const BY_TOKEN = ['UPLOAD_TOKEN_INVALID', 'UPLOAD_TOKEN_EXPIRED', 'ARTIFACT_NOT_FOUND', 'OWNER_MOVED', ...FULL] as const;

export const blobs = {
  'blobs.list': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/blobs',
    group: 'blobs',
    summary: 'Lists the blobs, oldest first.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofArtifact,
    query: blobListQuery,
    replies: { ok: { status: 200, body: enveloped(blobList) } },
    errors: [],
  }),
  'blobs.create': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/blobs',
    group: 'blobs',
    summary: 'Stores a blob from a multipart form with exactly one file.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofArtifact,
    body: {
      kind: 'stream',
      bytesMax: LIMITS.blobBytesMax + LIMITS.multipartOverheadBytesMax,
      types: ['multipart/form-data'],
      tooLarge: 'FILE_TOO_LARGE',
    },
    replies: { created: { status: 201, body: enveloped(blob) } },
    errors: FULL,
  }),
  'blobs.upload': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/blobs/upload',
    group: 'blobs',
    summary: 'Creates a URL that accepts the upload of one file within 15 minutes.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofArtifact,
    body: { kind: 'json', schema: blobUploadRequest, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: enveloped(blobUpload) } },
    errors: FULL,
  }),
  // The token is the credential, and the call that created it has already spent the rate limit.
  'blobs.put': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/blobs/_upload/{tokenId}',
    group: 'blobs',
    summary: 'Stores the body as the file for which the token was created.',
    access: { who: 'anyone' },
    limit: 'none',
    actor: 'artifactId',
    params: ofUpload,
    body: { kind: 'stream', bytesMax: LIMITS.blobBytesMax, tooLarge: 'FILE_TOO_LARGE' },
    replies: { created: { status: 201, body: enveloped(blob) } },
    errors: BY_TOKEN,
  }),
  'blobs.confirm': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/blobs/{tokenId}/confirm',
    group: 'blobs',
    summary: 'Records a file that was uploaded to the object store.',
    access: { who: 'anyone' },
    limit: 'none',
    actor: 'artifactId',
    params: ofUpload,
    replies: { created: { status: 201, body: enveloped(blob) } },
    errors: BY_TOKEN,
  }),
  'blobs.storage': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/blobs/storage',
    group: 'blobs',
    summary: 'Reports the used and the remaining storage.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofArtifact,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(blobStorage) } },
    errors: [],
  }),
  'blobs.get': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/blobs/{blobId}',
    group: 'blobs',
    summary: 'One blob, without its bytes.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofBlob,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(blob) } },
    errors: ['BLOB_NOT_FOUND'],
  }),
  'blobs.delete': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/blobs/{blobId}',
    group: 'blobs',
    summary: 'Deletes one blob.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofBlob,
    conditional: true,
    resource: 'blobs.get',
    replies: { ok: { status: 200, body: enveloped(z.object({ deleted: z.literal(true) })) } },
    errors: ['BLOB_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'blobs.content': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/blobs/{blobId}/content',
    group: 'blobs',
    summary: 'The bytes of a blob, which never change. Supports Range.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofBlob,
    conditional: true,
    replies: {
      ok: { status: 200, media: '*/*' },
      part: { status: 206, media: '*/*', description: 'The requested range.' },
      outside: { status: 416, media: 'text/plain', description: 'The range begins after the end of the file.' },
    },
    errors: ['BLOB_NOT_FOUND'],
  }),
  'blobs.downloadUrl': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/blobs/{blobId}/download-url',
    group: 'blobs',
    summary: 'A URL for the bytes: of the object store where clients can reach it, else of the content endpoint.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofBlob,
    replies: { ok: { status: 200, body: enveloped(blobDownload) } },
    errors: ['BLOB_NOT_FOUND'],
  }),
} as const;
