import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { idSchema } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { batch, batchResult } from '../schemas/batch.ts';
import { enveloped } from '../schemas/json-key.ts';

export const batches = {
  'data.batch': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/batch',
    group: 'data',
    summary: 'Up to 100 requests of this artifact in one, answered in their order. Each spends one call.',
    // Every request inside is decided by itself.
    access: { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' },
    limit: 'data',
    limitPer: 'requests',
    params: z.object({ artifactId: idSchema('artifact') }),
    body: { kind: 'json', schema: batch, bytesMax: LIMITS.batchBodyBytesMax },
    replies: { ok: { status: 200, body: enveloped(z.object({ results: z.array(batchResult) })) } },
    // An atomic batch fails as the request that failed in it would have.
    errors: [
      'DUPLICATE_VALUE',
      'FORBIDDEN',
      'INVALID_JSON',
      'INVALID_TABLE_NAME',
      'KEY_INVALID',
      'KEY_LIMIT_EXCEEDED',
      'KEY_NOT_FOUND',
      'METHOD_NOT_ALLOWED',
      'NOT_FOUND',
      'PATCH_FAILED',
      'ROW_LIMIT_EXCEEDED',
      'ROW_NOT_FOUND',
      'ROW_TOO_LARGE',
      'TABLE_LIMIT_EXCEEDED',
      'TABLE_NOT_FOUND',
      'UNSUPPORTED_MEDIA_TYPE',
      'VALUE_TOO_LARGE',
      'VERSION_CONFLICT',
    ],
  }),
} as const;
