import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dataPageReply, dateTime, pageQuery } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { patterned } from '../core/pattern.ts';

const KEY = /^[A-Za-z0-9_.-]{1,256}$/;
export const jsonKey = patterned(z.string().regex(KEY, 'must be 1 to 256 letters, digits, dots, underscores and hyphens'), KEY);

export const jsonEntry = z.object({ key: z.string(), value: z.unknown(), updatedAt: dateTime });

const jsonListQuery = z.object({
  prefix: z.string().max(LIMITS.jsonKeyCharsMax).default(''),
  ...pageQuery,
  values: z.stringbool().default(false),
});

/** `{success, data}`, the envelope of every reply under `/v1/data`. */
export function enveloped<S extends z.ZodType>(schema: S) {
  return z.object({ success: z.literal(true), data: schema });
}

export const jsonList = z.object({
  keys: z.array(z.string()),
  count: z.number().int().meta({ description: 'keys with this prefix on all pages together' }),
  ...dataPageReply,
  entries: z.array(jsonEntry).optional(),
});

export const jsonWritten = z.object({ key: z.string(), created: z.boolean(), updatedAt: dateTime });

/** The third form of PATCH, besides merge patch and JSON patch. `path` is `$`, `$.a.b` or `$.list[0]`. */
export const jsonOperation = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('increment'), path: z.string().default('$'), by: z.number().default(1) }),
  z.strictObject({ op: z.literal('append'), path: z.string().default('$'), value: z.unknown() }),
  z.strictObject({ op: z.literal('remove'), path: z.string() }),
]);
export type JsonOperation = z.output<typeof jsonOperation>;

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
  .meta({ description: 'seconds until the key expires' });

/** Endpoints of JSON keys. Only the owner and editors may use keys that begin with `_`. Source: contract.md §4. */
export const jsonKeys = {
  'json.list': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/json',
    group: 'json',
    summary: 'Lists the keys in order, with their values on request.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: z.object({ artifactId }),
    query: jsonListQuery,
    replies: { ok: { status: 200, body: enveloped(jsonList) } },
    errors: [],
  }),
  'json.get': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/json/{key}',
    group: 'json',
    summary: 'Reads one value, or the part of it at a path.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    query: z.object({ path: z.string().max(1024).optional().meta({ description: 'return only this part, such as $.a.b or $.list[0]' }) }),
    replies: { ok: { status: 200, body: enveloped(jsonEntry) } },
    errors: ['KEY_NOT_FOUND', 'FORBIDDEN'],
  }),
  'json.put': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/json/{key}',
    group: 'json',
    summary: 'Stores the body as the value of the key.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    resource: 'json.get',
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
    actor: 'artifactId',
    params,
    conditional: true,
    resource: 'json.get',
    query: z.object({ ttl }),
    body: {
      kind: 'json',
      schema: z.unknown(),
      bytesMax: LIMITS.jsonValueBytesMax,
      exact: true,
      tooLarge: 'VALUE_TOO_LARGE',
      types: ['application/json', 'application/merge-patch+json', 'application/json-patch+json'],
    },
    replies: {
      ok: { status: 200, body: enveloped(jsonEntry.extend({ created: z.boolean() })) },
      created: { status: 201, body: enveloped(jsonEntry.extend({ created: z.boolean() })) },
    },
    errors: [
      'VERSION_CONFLICT',
      'PATCH_FAILED',
      'KEY_NOT_FOUND',
      'VALUE_TOO_LARGE',
      'KEY_LIMIT_EXCEEDED',
      'REQUEST_TOO_EXPENSIVE',
      'FORBIDDEN',
    ],
  }),
  'json.delete': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/json/{key}',
    group: 'json',
    summary: 'Deletes one key.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    resource: 'json.get',
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
    actor: 'artifactId',
    params: z.object({ artifactId }),
    query: z.object({ confirm: z.literal('true', 'must be true: this deletes everything') }),
    replies: { ok: { status: 200, body: enveloped(z.object({ deleted: z.number().int() })) } },
    errors: [],
  }),
} as const;
