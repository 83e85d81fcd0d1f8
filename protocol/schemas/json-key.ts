import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { patterned } from '../pattern.ts';
import { dateTime } from './common.ts';

const KEY = /^[A-Za-z0-9_.-]{1,256}$/;
export const jsonKey = patterned(z.string().regex(KEY, 'must be 1 to 256 letters, digits, dots, underscores and hyphens'), KEY);

export const jsonEntry = z.object({ key: z.string(), value: z.unknown(), updatedAt: dateTime });

export const jsonListQuery = z.object({
  prefix: z.string().max(LIMITS.jsonKeyCharsMax).default(''),
  limit: z.coerce.number().int().min(1).max(LIMITS.pageMax).default(LIMITS.pageDefault),
  cursor: z.string().max(512).optional(),
  values: z.stringbool().default(false),
});

/** `{success, data}`, the envelope of everything under `/v1/data`. */
export function enveloped<S extends z.ZodType>(schema: S) {
  return z.object({ success: z.literal(true), data: schema });
}

export const jsonList = z.object({
  keys: z.array(z.string()),
  count: z.number().int().meta({ description: 'keys with this prefix, on all pages' }),
  hasMore: z.boolean(),
  nextCursor: z.string().nullable(),
  entries: z.array(jsonEntry).optional(),
});

export const jsonWritten = z.object({ key: z.string(), created: z.boolean(), updatedAt: dateTime });

/** The third form of PATCH beside merge-patch and json-patch. `path` is `$`, `$.a.b` or `$.list[0]`. */
export const jsonOperation = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('increment'), path: z.string().default('$'), by: z.number().default(1) }),
  z.strictObject({ op: z.literal('append'), path: z.string().default('$'), value: z.unknown() }),
  z.strictObject({ op: z.literal('remove'), path: z.string() }),
]);
export type JsonOperation = z.output<typeof jsonOperation>;
