import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { enveloped } from './json-keys.ts';

/** Headers that are used inside a batch, in lowercase. */
export const BATCH_HEADERS = ['accept', 'content-type', 'if-match', 'if-none-match'] as const;

export const batchRequest = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  path: z
    .string()
    .min(1)
    .max(4096)
    .meta({ description: 'path under /v1/data/{artifactId}, with its query, such as /json/score?path=$.points' }),
  body: z.unknown().optional(),
  headers: z
    .record(z.string().max(64), z.string().max(1024))
    .optional()
    .meta({ description: BATCH_HEADERS.join(', ') }),
});

const batch = z.strictObject({
  requests: z.array(batchRequest).min(1).max(LIMITS.batchRequestsMax),
  atomic: z.boolean().default(false).meta({ description: 'apply all requests in one atomic step, or none' }),
});

export type BatchRequest = z.output<typeof batchRequest>;

/** The status and the body's members that the request would have returned on its own. */
const batchResult = z.looseObject({
  path: z.string(),
  method: z.string(),
  status: z.number().int(),
  success: z.boolean(),
  etag: z.string().optional(),
  data: z.unknown().optional(),
  error: z.string().optional(),
  code: z.string().optional(),
});

export const batches = {
  'data.batch': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/batch',
    group: 'data',
    summary: 'Runs up to 100 requests of this artifact in order. Each counts as one call.',
    // Access is checked again for each request inside.
    access: { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' },
    limit: 'data',
    actor: 'artifactId',
    limitPer: 'requests',
    params: z.object({ artifactId: idSchema('artifact') }),
    body: { kind: 'json', schema: batch, bytesMax: LIMITS.batchBodyBytesMax, exact: true },
    replies: { ok: { status: 200, body: enveloped(z.object({ results: z.array(batchResult) })) } },
    // An atomic batch fails with the error of the request that failed in it.
    errors: [
      'ASSIGNEE_NOT_FOUND',
      'AUTH_REQUIRED',
      'BLOB_NOT_FOUND',
      'COMMENTS_DISABLED',
      'COMMENT_LIMIT_EXCEEDED',
      'COMMENT_NOT_FOUND',
      'CONTENT_TOO_LONG',
      'DUPLICATE_VALUE',
      'FORBIDDEN',
      'INVALID_JSON',
      'INVALID_TABLE_NAME',
      'KEY_INVALID',
      'KEY_LIMIT_EXCEEDED',
      'KEY_NOT_FOUND',
      'MAX_DEPTH',
      'METHOD_NOT_ALLOWED',
      'NAME_REQUIRED',
      'NOT_FOUND',
      'PATCH_FAILED',
      'REPLIES_DISABLED',
      'REQUEST_TOO_EXPENSIVE',
      'ROW_LIMIT_EXCEEDED',
      'ROW_NOT_FOUND',
      'ROW_TOO_LARGE',
      'TABLE_LIMIT_EXCEEDED',
      'TABLE_NOT_FOUND',
      'UNSUPPORTED_MEDIA_TYPE',
      'VALUE_TOO_LARGE',
      'VERSION_CONFLICT',
      'VERSION_NOT_FOUND',
    ],
  }),
} as const;
