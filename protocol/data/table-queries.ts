import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import type { ErrorCode } from '../core/errors.ts';
import { dataPageReply } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { enveloped } from './json-keys.ts';
import { tableName, tableRow } from './tables.ts';

/** Parsed by `src/features/data/tables/queries/filter.ts`, which names the part at fault. Zod would drop a member named __proto__. */
export const filterJson = z.unknown().meta({
  description:
    '{"age": {"$gte": 18}, "address.city": "Bern"}; $eq $ne $gt $gte $lt $lte $in $nin $contains $startsWith $endsWith $exists $and $or $not',
  type: 'object',
});

const limit = z.number().int().min(1).max(LIMITS.rowsPageMax).default(LIMITS.rowsPageDefault);
const cursor = z.string().max(LIMITS.rowCursorCharsMax).optional().meta({
  description:
    'nextCursor of the previous page, with the same filter and sort. If the last row of that page had a long string in a sort field and has been changed or deleted, rows may be repeated; none is left out',
});
export const fieldName = z.string().min(1).max(1024);
const sortText = z.string().max(1024).meta({
  description: 'fields to sort by, such as -createdAt,name; a minus means descending; default is insertion order',
});

/** Fields to sort by: `"-createdAt,name"`, `["-createdAt", "name"]` or `{"createdAt": -1, "name": 1}`; an empty one is no sort. */
export const sortOrder = z.union([
  sortText,
  z.array(fieldName).max(LIMITS.sortFieldsMax),
  z.record(fieldName, z.literal([1, -1])).refine((fields) => Object.keys(fields).length <= LIMITS.sortFieldsMax, {
    error: `must have at most ${LIMITS.sortFieldsMax} fields`,
  }),
]);
export type SortOrder = z.output<typeof sortOrder>;

const rowsQuery = z.object({
  filter: z.string().max(LIMITS.filterQueryCharsMax).optional().meta({ description: 'the filter as JSON' }),
  sort: sortText.optional(),
  fields: z.string().max(1024).optional().meta({ description: 'return only these fields and id, such as name,address.city' }),
  limit: z.coerce.number().int().min(1).max(LIMITS.rowsPageMax).default(LIMITS.rowsPageDefault),
  cursor,
  count: z.stringbool().default(false).meta({ description: 'add total' }),
});

const tableQuery = z.strictObject({
  filter: filterJson.optional(),
  sort: sortOrder.optional(),
  limit,
  skip: z.number().int().min(0).max(LIMITS.tableRowsMax).default(0).meta({ description: 'rows to skip; cannot be combined with cursor' }),
  cursor,
  select: z.array(fieldName).max(LIMITS.fieldsMax).optional().meta({ description: 'return only these fields and id' }),
  count: z.boolean().default(false).meta({ description: 'add total' }),
});

export const tablePage = z.object({
  rows: z.array(tableRow.partial().required({ id: true })),
  ...dataPageReply,
});

const distinctQuery = z.strictObject({ field: fieldName, filter: filterJson.optional() });

const metric = z
  .strictObject({
    fn: z.enum(['count', 'sum', 'avg', 'min', 'max']),
    field: fieldName.optional().meta({ description: 'required except for count, which counts all rows without it' }),
    as: z.string().min(1).max(64).optional().meta({ description: 'its name in the result; default is fn, or fn_field' }),
  })
  .refine(({ fn, field }) => fn === 'count' || field !== undefined, { path: ['field'], message: 'is required' });

const aggregateQuery = z.strictObject({
  groupBy: z.array(fieldName).max(LIMITS.groupFieldsMax).default([]),
  metrics: z.array(metric).min(1).max(LIMITS.metricsMax),
  filter: filterJson.optional(),
});
export type Metric = z.output<typeof metric>;

const importResult = z.object({
  inserted: z.number().int(),
  failed: z.array(z.object({ line: z.number().int(), error: z.string() })),
  stoppedAtLine: z.number().int().nullable().meta({ description: 'the line at which the import stopped; null if every line was tried' }),
});

const params = z.object({ artifactId: idSchema('artifact'), table: tableName });
const read = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' } as const;
const write = { who: 'artifact', param: 'artifactId', need: 'data:write', scope: 'data:write' } as const;
const errors = ['INVALID_TABLE_NAME', 'INVALID_FILTER', 'QUERY_TOO_EXPENSIVE'] as const satisfies ErrorCode[];
const json = <S extends z.ZodType>(schema: S) => ({ kind: 'json', schema, bytesMax: LIMITS.bodyBytesMax }) as const;

/** Endpoints that query tables, and export and import. Source: contract.md §5. */
export const tableQueries = {
  'tables.rows': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/tables/{table}/rows',
    group: 'tables',
    summary: 'Reads matching rows, one page at a time, as JSON, or as CSV or NDJSON by Accept.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    query: rowsQuery,
    replies: {
      ok: { status: 200, body: enveloped(tablePage) },
      csv: { status: 200, media: 'text/csv', description: 'The page; X-Next-Cursor is sent if there are more rows.' },
      ndjson: {
        status: 200,
        media: 'application/x-ndjson',
        description: 'The page, one row per line; X-Next-Cursor is sent if there are more rows.',
      },
    },
    errors,
  }),
  'tables.query': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}/query',
    group: 'tables',
    reads: true,
    summary: 'Reads matching rows, with the filter in the body, where it may be longer than in a URL.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: json(tableQuery),
    replies: { ok: { status: 200, body: enveloped(tablePage) } },
    errors,
  }),
  'tables.count': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}/count',
    group: 'tables',
    reads: true,
    summary: 'Counts matching rows.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: json(z.strictObject({ filter: filterJson.optional() })),
    replies: { ok: { status: 200, body: enveloped(z.object({ count: z.number().int() })) } },
    errors,
  }),
  'tables.distinct': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}/distinct',
    group: 'tables',
    reads: true,
    summary: `Lists the distinct values of a field, sorted; at most ${LIMITS.distinctValuesMax}.`,
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: json(distinctQuery),
    replies: { ok: { status: 200, body: enveloped(z.object({ values: z.array(z.unknown()), count: z.number().int() })) } },
    errors: [...errors, 'TOO_MANY_ROWS'],
  }),
  'tables.aggregate': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}/aggregate',
    group: 'tables',
    reads: true,
    summary: `Computes count, sum, avg, min and max of groups of rows; at most ${LIMITS.aggregateGroupsMax} groups.`,
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: json(aggregateQuery),
    replies: {
      ok: {
        status: 200,
        body: enveloped(z.object({ groups: z.array(z.record(z.string(), z.unknown())) })),
        description: 'One object for each group: the fields it is grouped by and each metric under its name.',
      },
    },
    errors: [...errors, 'TOO_MANY_ROWS'],
  }),
  'tables.export': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/tables/{table}/export',
    group: 'tables',
    summary: 'Streams all rows as CSV, or as NDJSON by Accept.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    replies: {
      csv: {
        status: 200,
        media: 'text/csv',
        description: 'A string that a spreadsheet would run as a formula is prefixed with an apostrophe, which import removes.',
      },
      ndjson: { status: 200, media: 'application/x-ndjson' },
    },
    errors,
  }),
  'tables.import': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}/import',
    group: 'tables',
    summary:
      'Inserts the rows of a CSV or NDJSON file in batches. Lines that cannot be inserted are listed in failed and skipped. If the file itself is faulty (a quote that is never closed, a line that is too long) or too many lines fail, the import stops at stoppedAtLine; the rows before it stay inserted.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: { kind: 'stream', types: ['text/csv', 'application/x-ndjson'], bytesMax: LIMITS.tableImportBytesMax },
    replies: { ok: { status: 200, body: enveloped(importResult) } },
    errors: ['INVALID_TABLE_NAME', 'TABLE_LIMIT_EXCEEDED', 'ROW_LIMIT_EXCEEDED', 'FORBIDDEN'],
  }),
} as const;
