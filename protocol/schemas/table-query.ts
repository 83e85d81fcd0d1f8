import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { tableRow } from './table.ts';

/** Read by `src/services/tables/filter.ts`, which names the part at fault. Zod would leave out a member called __proto__. */
export const filterJson = z.unknown().meta({
  description:
    'Fields and what they must be: {"age": {"$gte": 18}, "address.city": "Bern"}. Operators: $eq $ne $gt $gte $lt $lte $in $nin $contains $startsWith $endsWith $exists $not; around them $and, $or, $not.',
  type: 'object',
});

const limit = z.number().int().min(1).max(LIMITS.rowsPageMax).default(LIMITS.rowsPageDefault);
const cursor = z
  .string()
  .max(LIMITS.rowCursorCharsMax)
  .optional()
  .meta({ description: 'nextCursor of the page before, of the same filter and sort' });
const fieldName = z.string().min(1).max(1024);
const sortText = z.string().max(1024).meta({
  description: '-createdAt,name: fields in turn, falling where a minus stands; without it the order of insertion',
});

export const rowsQuery = z.object({
  filter: z.string().max(LIMITS.filterQueryCharsMax).optional().meta({ description: 'the filter as JSON' }),
  sort: sortText.optional(),
  fields: z.string().max(1024).optional().meta({ description: 'name,address.city: only these fields, and id' }),
  limit: z.coerce.number().int().min(1).max(LIMITS.rowsPageMax).default(LIMITS.rowsPageDefault),
  cursor,
  count: z.stringbool().default(false).meta({ description: 'add total' }),
});

export const tableQuery = z.strictObject({
  filter: filterJson.optional(),
  sort: z.union([sortText, z.array(fieldName).max(LIMITS.sortFieldsMax)]).optional(),
  limit,
  skip: z.number().int().min(0).max(LIMITS.tableRowsMax).default(0).meta({ description: 'rows to leave out first; not with cursor' }),
  cursor,
  select: z.array(fieldName).max(LIMITS.fieldsMax).optional().meta({ description: 'only these fields, and id' }),
  count: z.boolean().default(false).meta({ description: 'add total' }),
});

export const tablePage = z.object({
  rows: z.array(tableRow.partial().required({ id: true })),
  hasMore: z.boolean(),
  nextCursor: z.string().nullable(),
  total: z.number().int().optional(),
});

export const distinctQuery = z.strictObject({ field: fieldName, filter: filterJson.optional() });

const metric = z
  .strictObject({
    fn: z.enum(['count', 'sum', 'avg', 'min', 'max']),
    field: fieldName.optional().meta({ description: 'not needed for count, which then counts rows' }),
    as: z.string().min(1).max(64).optional().meta({ description: 'its name in the answer; default: fn, or fn_field' }),
  })
  .refine(({ fn, field }) => fn === 'count' || field !== undefined, { path: ['field'], message: 'is required' });

export const aggregateQuery = z.strictObject({
  groupBy: z.array(fieldName).max(LIMITS.groupFieldsMax).default([]),
  metrics: z.array(metric).min(1).max(LIMITS.metricsMax),
  filter: filterJson.optional(),
});
export type Metric = z.output<typeof metric>;

export const importResult = z.object({
  inserted: z.number().int(),
  failed: z.array(z.object({ line: z.number().int(), error: z.string() })),
  stoppedAtLine: z.number().int().nullable().meta({ description: 'the first line that was not tried, where it gave up' }),
});
