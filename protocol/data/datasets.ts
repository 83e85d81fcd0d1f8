/** Datasets: named files of rows that pages read quickly, in versions. Source: contract.md §15. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import type { ErrorCode } from '../core/errors.ts';
import { dataPageReply, dateTime, pageQuery } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { patterned } from '../core/pattern.ts';
import { blobUpload } from './blobs.ts';
import { enveloped } from './json-keys.ts';

const DATASET = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
export const datasetName = patterned(
  z.string().regex(DATASET, 'must be a letter and then at most 63 letters, digits, underscores and hyphens'),
  DATASET,
);

/** What rows may be sent as, by the name of the format. */
export const DATASET_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson', json: 'application/json' } as const;
export type DatasetFormat = keyof typeof DATASET_TYPES;
const FORMATS = ['csv', 'ndjson', 'json'] as const satisfies readonly DatasetFormat[];
const MEDIA_TYPES = [DATASET_TYPES.csv, DATASET_TYPES.ndjson, DATASET_TYPES.json] as const;

export const datasetColumn = z.object({
  name: z.string(),
  type: z.enum(['string', 'number', 'boolean', 'date', 'json']).meta({
    description:
      'what all of its values are, null aside; date: strings like 2026-01-31 or 2026-01-31T12:00:00Z; json: objects, lists or several types',
  }),
});
export type DatasetColumn = z.output<typeof datasetColumn>;

const datasetVersion = z.object({
  version: z.number().int().meta({ description: 'counts up and is never used again, also after the dataset was deleted' }),
  rows: z.number().int(),
  sizeBytes: z.number().int().meta({ description: 'stored size, which is that of its NDJSON' }),
  createdAt: dateTime,
});

export const dataset = z.object({ name: z.string(), ...datasetVersion.shape, columns: z.array(datasetColumn) });

export const datasetWithVersions = dataset.extend({
  versions: z
    .array(datasetVersion)
    .meta({ description: `the versions that are kept, newest first; at most ${LIMITS.datasetVersionsKept}` }),
});

export const listedDataset = dataset.omit({ columns: true });

export const datasetList = z.object({
  datasets: z.array(listedDataset),
  count: z.number().int().meta({ description: 'datasets on all pages' }),
  ...dataPageReply,
});

export const datasetListQuery = z.object(pageQuery);

const version = z.coerce
  .number()
  .int()
  .min(1)
  .max(Number.MAX_SAFE_INTEGER)
  .optional()
  .meta({ description: 'one of the versions that are kept; default is the newest' });

export const datasetContentQuery = z.object({ version, format: z.enum(FORMATS).default('ndjson') });

export const datasetRowsQuery = z.object({
  filter: z
    .string()
    .max(LIMITS.filterQueryCharsMax)
    .optional()
    .meta({ description: 'as JSON, with the operators of tables: {"age": {"$gte": 18}, "address.city": "Bern"}' }),
  fields: z.string().max(1024).optional().meta({ description: 'return only these fields, such as name,address.city' }),
  limit: z.coerce.number().int().min(1).max(LIMITS.rowsPageMax).default(LIMITS.rowsPageDefault),
  cursor: z.string().max(LIMITS.rowCursorCharsMax).optional().meta({
    description: 'nextCursor of the previous page, with the same filter; further pages stay with the version of the first',
  }),
  count: z.stringbool().default(false).meta({ description: 'add total, for which all rows are looked through' }),
  version,
});

/** A page may have fewer rows than `limit`, even none, and still have more after it. */
export const datasetRows = z.object({
  rows: z.array(z.record(z.string(), z.unknown())),
  version: z.number().int(),
  ...dataPageReply,
});

export const datasetUploadRequest = z.strictObject({
  mimeType: z.enum(MEDIA_TYPES),
  size: z
    .number()
    .int()
    .min(0)
    .max(LIMITS.datasetBytesMax)
    .optional()
    .meta({ description: 'bytes; the call is refused when they exceed the remaining storage' }),
});

const artifactId = idSchema('artifact');
const ofArtifact = z.object({ artifactId });
const ofDataset = z.object({ artifactId, dataset: datasetName });
const ofUpload = z.object({ artifactId, tokenId: missingAs(idSchema('upload').clone(), 'UPLOAD_TOKEN_INVALID') });
const read = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' } as const;
const write = { who: 'artifact', param: 'artifactId', need: 'data:write', scope: 'data:write' } as const;
const FULL = ['FILE_TOO_LARGE', 'ROW_TOO_LARGE', 'DATASET_LIMIT_EXCEEDED', 'ACCOUNT_STORAGE_FULL'] as const satisfies ErrorCode[];
const BY_TOKEN = ['UPLOAD_TOKEN_INVALID', 'UPLOAD_TOKEN_EXPIRED', 'ARTIFACT_NOT_FOUND', 'INVALID_JSON', ...FULL] as const;
const written = {
  created: { status: 201, body: enveloped(dataset) },
  ok: { status: 200, body: enveloped(dataset), description: 'The newest version has the same rows already.' },
} as const;

export const datasets = {
  'datasets.list': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/datasets',
    group: 'datasets',
    summary: 'Lists the datasets by name, each with its newest version.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofArtifact,
    query: datasetListQuery,
    replies: { ok: { status: 200, body: enveloped(datasetList) } },
    errors: [],
  }),
  'datasets.get': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/datasets/{dataset}',
    group: 'datasets',
    summary: 'The newest version of a dataset with its columns, and the other versions that are kept.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofDataset,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(datasetWithVersions) } },
    errors: ['INVALID_DATASET_NAME', 'DATASET_NOT_FOUND'],
  }),
  'datasets.put': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/datasets/{dataset}',
    group: 'datasets',
    summary:
      'Stores rows as the newest version: CSV whose first line names the columns, lines of JSON objects, or a JSON array of objects. All of them are stored or none.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofDataset,
    conditional: true,
    resource: 'datasets.get',
    body: { kind: 'stream', types: MEDIA_TYPES, bytesMax: LIMITS.datasetBytesMax, tooLarge: 'FILE_TOO_LARGE' },
    replies: written,
    errors: ['INVALID_DATASET_NAME', 'INVALID_JSON', 'VERSION_CONFLICT', ...FULL],
  }),
  'datasets.upload': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/datasets/{dataset}/upload',
    group: 'datasets',
    summary: 'Creates a URL that accepts the rows of one version within 15 minutes.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofDataset,
    body: { kind: 'json', schema: datasetUploadRequest, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: enveloped(blobUpload) } },
    errors: ['INVALID_DATASET_NAME', 'DATASET_LIMIT_EXCEEDED', 'ACCOUNT_STORAGE_FULL'],
  }),
  // The token is the credential, and the call that created it has already spent the rate limit.
  'datasets.putUpload': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/datasets/_upload/{tokenId}',
    group: 'datasets',
    summary: 'Stores the body as the rows for which the token was created.',
    access: { who: 'anyone' },
    limit: 'none',
    params: ofUpload,
    body: { kind: 'stream', bytesMax: LIMITS.datasetBytesMax, tooLarge: 'FILE_TOO_LARGE' },
    replies: written,
    errors: BY_TOKEN,
  }),
  'datasets.confirm': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/datasets/{tokenId}/confirm',
    group: 'datasets',
    summary: 'Stores rows that were uploaded to the object store.',
    access: { who: 'anyone' },
    limit: 'none',
    params: ofUpload,
    replies: written,
    errors: BY_TOKEN,
  }),
  'datasets.content': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/datasets/{dataset}/content',
    group: 'datasets',
    summary: 'All rows of a version, which never change, as CSV, lines of JSON or a JSON array. Supports Range.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofDataset,
    query: datasetContentQuery,
    conditional: true,
    replies: {
      ok: { status: 200, media: '*/*' },
      part: { status: 206, media: '*/*', description: 'The requested range.' },
      outside: { status: 416, media: 'text/plain', description: 'The range begins after the end.' },
    },
    errors: ['INVALID_DATASET_NAME', 'DATASET_NOT_FOUND', 'VERSION_NOT_FOUND'],
  }),
  'datasets.rows': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/datasets/{dataset}/rows',
    group: 'datasets',
    summary: 'Reads matching rows in their order, one page at a time.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofDataset,
    query: datasetRowsQuery,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(datasetRows) } },
    errors: ['INVALID_DATASET_NAME', 'DATASET_NOT_FOUND', 'VERSION_NOT_FOUND', 'INVALID_FILTER'],
  }),
  'datasets.delete': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/datasets/{dataset}',
    group: 'datasets',
    summary: 'Deletes a dataset with all of its versions.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofDataset,
    conditional: true,
    resource: 'datasets.get',
    replies: { ok: { status: 200, body: enveloped(z.object({ deleted: z.literal(true) })) } },
    errors: ['INVALID_DATASET_NAME', 'DATASET_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
} as const;
