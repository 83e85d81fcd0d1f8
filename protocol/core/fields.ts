import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { boundedText } from './text.ts';

/** RFC 3339 UTC with milliseconds. */
export const dateTime = z.iso.datetime().meta({ description: 'RFC 3339, UTC' });

/** `?limit=&cursor=&count=`; a limit over the maximum is refused, never cut. Source: contract.md §0. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(LIMITS.pageMax).default(LIMITS.pageDefault),
  cursor: z.string().max(512).optional().meta({ description: 'next_cursor of the previous page' }),
  count: z.stringbool().default(false).meta({ description: 'add total' }),
};

/** The fields of every page beside its items (snake_case, outside `/v1/data`). */
export const pageReply = {
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
  total: z.number().int().optional().meta({ description: 'items on all pages, where count=true asks for it' }),
};

/** The same fields in camelCase, under `/v1/data`. */
export const dataPageReply = { hasMore: pageReply.has_more, nextCursor: pageReply.next_cursor, total: pageReply.total };

/** For the OpenAPI document, in which all lists share these fields. */
export const page = z.object(pageReply);
export const dataPage = z.object(dataPageReply);

export const success = z.object({ success: z.literal(true) });

/** Text that Postgres can store: anything without NUL. */
export function storedText(charsMax: number) {
  return boundedText(charsMax).refine((text) => !text.includes('\u0000'), 'must not contain NUL characters');
}

export const nameSchema = storedText(LIMITS.nameCharsMax).trim().min(1);

export const slugSchema = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/,
    'must be 2 to 63 lowercase letters, digits and hyphens, with a letter or digit at both ends',
  );

export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lowercase hex');

/** The body of every error. Source: spec.md, "Errors". */
export const errorBody = z.object({
  success: z.literal(false),
  error: z.string(),
  code: z.string(),
  request_id: z.string(),
  reason: z.enum(['missing', 'invalid', 'revoked', 'expired', 'suspended']).optional(),
  hint: z.string().optional(),
  suggestion: z.string().optional(),
  param: z.string().optional(),
  issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  conflict: z.string().optional().meta({ description: 'the text with both sides of a conflict marked' }),
  docs: z.string().optional(),
  redirect_url: z.string().optional(),
  support: z.object({ how: z.string(), include: z.array(z.string()) }).optional(),
});
