import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import type { ErrorCode } from '../errors.ts';
import { idSchema } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { enveloped } from '../schemas/json-key.ts';
import { tableName } from '../schemas/table.ts';
import { aggregateQuery, distinctQuery, filterJson, importResult, rowsQuery, tablePage, tableQuery } from '../schemas/table-query.ts';

const params = z.object({ artifactId: idSchema('artifact'), table: tableName });
const read = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' } as const;
const write = { who: 'artifact', param: 'artifactId', need: 'data:write', scope: 'data:write' } as const;
const errors = ['INVALID_TABLE_NAME', 'TABLE_NOT_FOUND', 'INVALID_FILTER', 'QUERY_TOO_EXPENSIVE'] as const satisfies ErrorCode[];
const json = <S extends z.ZodType>(schema: S) => ({ kind: 'json', schema, bytesMax: LIMITS.bodyBytesMax }) as const;

/** Tables: what reads many rows, and what brings many in. Source: contract.md §5. */
export const tableQueries = {
  'tables.rows': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/tables/{table}/rows',
    group: 'tables',
    summary: 'Rows that match, a page at a time; as CSV or NDJSON where Accept asks for it.',
    access: read,
    limit: 'data',
    params,
    query: rowsQuery,
    replies: {
      ok: { status: 200, body: enveloped(tablePage) },
      csv: { status: 200, media: 'text/csv', description: 'The page; X-Next-Cursor where there is more.' },
      ndjson: { status: 200, media: 'application/x-ndjson', description: 'The page, a row a line; X-Next-Cursor where there is more.' },
    },
    errors,
  }),
  'tables.query': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}/query',
    group: 'tables',
    summary: 'Rows that match, for filters too long for a URL.',
    access: read,
    limit: 'data',
    params,
    body: json(tableQuery),
    replies: { ok: { status: 200, body: enveloped(tablePage) } },
    errors,
  }),
  'tables.count': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}/count',
    group: 'tables',
    summary: 'How many rows match.',
    access: read,
    limit: 'data',
    params,
    body: json(z.strictObject({ filter: filterJson.optional() })),
    replies: { ok: { status: 200, body: enveloped(z.object({ count: z.number().int() })) } },
    errors,
  }),
  'tables.distinct': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}/distinct',
    group: 'tables',
    summary: `The different values of a field, in order; at most ${LIMITS.distinctValuesMax}.`,
    access: read,
    limit: 'data',
    params,
    body: json(distinctQuery),
    replies: { ok: { status: 200, body: enveloped(z.object({ values: z.array(z.unknown()), count: z.number().int() })) } },
    errors: [...errors, 'TOO_MANY_ROWS'],
  }),
  'tables.aggregate': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}/aggregate',
    group: 'tables',
    summary: `Counts, sums, averages and extremes of groups of rows; at most ${LIMITS.aggregateGroupsMax} groups.`,
    access: read,
    limit: 'data',
    params,
    body: json(aggregateQuery),
    replies: {
      ok: {
        status: 200,
        body: enveloped(z.object({ groups: z.array(z.record(z.string(), z.unknown())) })),
        description: 'One object a group: the fields it was grouped by, and each metric by its name.',
      },
    },
    errors: [...errors, 'TOO_MANY_ROWS'],
  }),
  'tables.export': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/tables/{table}/export',
    group: 'tables',
    summary: 'All rows as CSV, or as NDJSON where Accept asks for it, while they are read.',
    access: read,
    limit: 'data',
    params,
    replies: {
      csv: {
        status: 200,
        media: 'text/csv',
        description: 'A text that a spreadsheet would take for a formula begins with an apostrophe; import takes it away again.',
      },
      ndjson: { status: 200, media: 'application/x-ndjson' },
    },
    errors,
  }),
  'tables.import': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}/import',
    group: 'tables',
    summary: 'Inserts the rows of a CSV or NDJSON file, in steps; lines that cannot be rows are named and left out.',
    access: write,
    limit: 'data',
    params,
    body: { kind: 'stream', types: ['text/csv', 'application/x-ndjson'], bytesMax: LIMITS.tableImportBytesMax },
    replies: { ok: { status: 200, body: enveloped(importResult) } },
    errors: ['INVALID_TABLE_NAME', 'TABLE_LIMIT_EXCEEDED', 'ROW_LIMIT_EXCEEDED', 'FORBIDDEN'],
  }),
} as const;
