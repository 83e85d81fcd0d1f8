import { z } from 'zod';
import { LIMITS } from '../limits.ts';

/** Headers that mean something inside a batch, in lowercase. */
export const BATCH_HEADERS = ['accept', 'content-type', 'if-match', 'if-none-match'] as const;

export const batchRequest = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  path: z.string().min(1).max(4096).meta({ description: 'below /v1/data/{artifactId}, with its query: /json/score?path=$.points' }),
  body: z.unknown().optional(),
  headers: z
    .record(z.string().max(64), z.string().max(1024))
    .optional()
    .meta({ description: BATCH_HEADERS.join(', ') }),
});

export const batch = z.strictObject({
  requests: z.array(batchRequest).min(1).max(LIMITS.batchRequestsMax),
  atomic: z.boolean().default(false).meta({ description: 'all of them, in one step that nobody sees half of, or none' }),
});

export type BatchRequest = z.output<typeof batchRequest>;

/** What a request of its own would have answered: the members of its body beside its status. */
export const batchResult = z.looseObject({
  path: z.string(),
  method: z.string(),
  status: z.number().int(),
  success: z.boolean(),
  etag: z.string().optional(),
  data: z.unknown().optional(),
  error: z.string().optional(),
  code: z.string().optional(),
});
