import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { idSchema } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { enveloped, jsonEntry, jsonKey, jsonList, jsonListQuery, jsonWritten } from '../schemas/json-key.ts';

const artifactId = idSchema('artifact');
const params = z.object({ artifactId, key: jsonKey });
const read = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' } as const;
const write = { who: 'artifact', param: 'artifactId', need: 'data:write', scope: 'data:write' } as const;
const ttl = z.coerce
  .number()
  .int()
  .min(1)
  .max(10 * 365 * 24 * 3600)
  .optional()
  .meta({ description: 'seconds until the key deletes itself' });

/** JSON keys. Keys that begin with `_` are for owner and editors only. Source: contract.md §4. */
export const jsonKeys = {
  'json.list': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/json',
    group: 'json',
    summary: 'The keys in order, with values on demand.',
    access: read,
    limit: 'data',
    params: z.object({ artifactId }),
    query: jsonListQuery,
    replies: { ok: { status: 200, body: enveloped(jsonList) } },
    errors: [],
  }),
  'json.get': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/json/{key}',
    group: 'json',
    summary: 'One value, or the part of it at a path.',
    access: read,
    limit: 'data',
    params,
    conditional: true,
    query: z.object({ path: z.string().max(1024).optional().meta({ description: '$.a.b' }) }),
    replies: { ok: { status: 200, body: enveloped(jsonEntry) } },
    errors: ['KEY_NOT_FOUND', 'FORBIDDEN'],
  }),
  'json.put': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/json/{key}',
    group: 'json',
    summary: 'Stores the body as the value.',
    access: write,
    limit: 'data',
    params,
    conditional: true,
    query: z.object({ ttl }),
    body: { kind: 'json', schema: z.unknown(), bytesMax: LIMITS.jsonValueBytesMax, tooLarge: 'VALUE_TOO_LARGE' },
    replies: { ok: { status: 200, body: enveloped(jsonWritten) }, created: { status: 201, body: enveloped(jsonWritten) } },
    errors: ['VERSION_CONFLICT', 'KEY_LIMIT_EXCEEDED', 'FORBIDDEN'],
  }),
  'json.patch': endpoint({
    method: 'PATCH',
    path: '/v1/data/{artifactId}/json/{key}',
    group: 'json',
    summary: 'Changes a value in one step: RFC 7396 merge, RFC 6902 patch, or one operation (increment, append, remove).',
    access: write,
    limit: 'data',
    params,
    conditional: true,
    query: z.object({ ttl }),
    body: {
      kind: 'json',
      schema: z.unknown(),
      bytesMax: LIMITS.jsonValueBytesMax,
      tooLarge: 'VALUE_TOO_LARGE',
      types: ['application/json', 'application/merge-patch+json', 'application/json-patch+json'],
    },
    replies: {
      ok: { status: 200, body: enveloped(jsonEntry.extend({ created: z.boolean() })) },
      created: { status: 201, body: enveloped(jsonEntry.extend({ created: z.boolean() })) },
    },
    errors: ['VERSION_CONFLICT', 'PATCH_FAILED', 'KEY_NOT_FOUND', 'VALUE_TOO_LARGE', 'KEY_LIMIT_EXCEEDED', 'FORBIDDEN'],
  }),
  'json.delete': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/json/{key}',
    group: 'json',
    summary: 'Deletes one key.',
    access: write,
    limit: 'data',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(z.object({ deleted: z.literal(true) })) } },
    errors: ['KEY_NOT_FOUND', 'VERSION_CONFLICT', 'FORBIDDEN'],
  }),
  'json.deleteAll': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/json',
    group: 'json',
    summary: 'Deletes every key that the caller may write.',
    access: write,
    limit: 'data',
    params: z.object({ artifactId }),
    query: z.object({ confirm: z.literal('true', 'must be true: this deletes everything') }),
    replies: { ok: { status: 200, body: enveloped(z.object({ deleted: z.number().int() })) } },
    errors: [],
  }),
} as const;
