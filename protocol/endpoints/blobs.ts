import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { idSchema } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { blob, blobDownload, blobList, blobListQuery, blobStorage, blobUpload, blobUploadRequest } from '../schemas/blob.ts';
import { enveloped } from '../schemas/json-key.ts';

const artifactId = idSchema('artifact');
const ofArtifact = z.object({ artifactId });
const ofBlob = z.object({ artifactId, blobId: idSchema('blob') });
const ofUpload = z.object({ artifactId, tokenId: idSchema('upload') });
const read = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' } as const;
const write = { who: 'artifact', param: 'artifactId', need: 'data:write', scope: 'data:write' } as const;
const FULL = ['FILE_TOO_LARGE', 'STORAGE_LIMIT_EXCEEDED', 'BLOB_LIMIT_EXCEEDED', 'INVALID_MIME_TYPE'] as const;
const BY_TOKEN = ['UPLOAD_TOKEN_INVALID', 'UPLOAD_TOKEN_EXPIRED', 'ARTIFACT_NOT_FOUND', 'OWNER_MOVED', ...FULL] as const;

/** Files of an artifact's data. Source: spec.md "Data blobs", contract.md §6. */
export const blobs = {
  'blobs.list': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/blobs',
    group: 'blobs',
    summary: 'The blobs, oldest first.',
    access: read,
    limit: 'data',
    params: ofArtifact,
    query: blobListQuery,
    replies: { ok: { status: 200, body: enveloped(blobList) } },
    errors: [],
  }),
  'blobs.create': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/blobs',
    group: 'blobs',
    summary: 'Stores the one file of a multipart form.',
    access: write,
    limit: 'data',
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
    summary: 'An address to upload one file to, within 15 minutes.',
    access: write,
    limit: 'data',
    params: ofArtifact,
    body: { kind: 'json', schema: blobUploadRequest, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: enveloped(blobUpload) } },
    errors: FULL,
  }),
  // The token is the credential, and the call that made it was counted.
  'blobs.put': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/blobs/_upload/{tokenId}',
    group: 'blobs',
    summary: 'Stores the body as the file that the token was made for.',
    access: { who: 'anyone' },
    limit: 'none',
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
    params: ofUpload,
    replies: { created: { status: 201, body: enveloped(blob) } },
    errors: BY_TOKEN,
  }),
  'blobs.storage': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/blobs/storage',
    group: 'blobs',
    summary: 'How much room is used and left.',
    access: read,
    limit: 'data',
    params: ofArtifact,
    replies: { ok: { status: 200, body: enveloped(blobStorage) } },
    errors: [],
  }),
  'blobs.get': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/blobs/{blobId}',
    group: 'blobs',
    summary: 'What is known of one blob.',
    access: read,
    limit: 'data',
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
    params: ofBlob,
    replies: { ok: { status: 200, body: enveloped(z.object({ deleted: z.literal(true) })) } },
    errors: ['BLOB_NOT_FOUND'],
  }),
  'blobs.content': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/blobs/{blobId}/content',
    group: 'blobs',
    summary: 'The bytes. They never change; Range is taken.',
    access: read,
    limit: 'data',
    params: ofBlob,
    conditional: true,
    replies: {
      ok: { status: 200, media: '*/*' },
      part: { status: 206, media: '*/*', description: 'The range asked for.' },
      outside: { status: 416, media: 'text/plain', description: 'The range begins after the end.' },
    },
    errors: ['BLOB_NOT_FOUND'],
  }),
  'blobs.downloadUrl': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/blobs/{blobId}/download-url',
    group: 'blobs',
    summary: 'An address for the bytes: of the object store where it can be reached, else of the content.',
    access: read,
    limit: 'data',
    params: ofBlob,
    replies: { ok: { status: 200, body: enveloped(blobDownload) } },
    errors: ['BLOB_NOT_FOUND'],
  }),
} as const;
