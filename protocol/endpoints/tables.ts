import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { idSchema } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { enveloped } from '../schemas/json-key.ts';
import { tableInfo, tableName, tableRow, tableSchema } from '../schemas/table.ts';

const artifactId = idSchema('artifact');
const params = z.object({ artifactId, table: tableName });
const rowParams = params.extend({ rowId: idSchema('row') });
const read = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' } as const;
const write = { who: 'artifact', param: 'artifactId', need: 'data:write', scope: 'data:write' } as const;
const shape = { who: 'artifact', param: 'artifactId', need: 'edit', scope: 'data:write' } as const;

/** Where zod would only slow down what is checked field by field anyway; the shape is for the reference. */
const rowsBody = z.unknown().meta({
  description: `One row, an array of rows, or {"rows": [...]}; at most ${LIMITS.insertRowsMax}. Fields id, createdAt and updatedAt are the server's and are ignored.`,
  anyOf: [
    { type: 'object' },
    { type: 'array', items: { type: 'object' } },
    { type: 'object', properties: { rows: { type: 'array', items: { type: 'object' } } }, required: ['rows'] },
  ],
});
const rowChanges = z.unknown().meta({
  description: 'A merge patch (RFC 7396) of the fields: null removes one. id, createdAt and updatedAt are ignored.',
  type: 'object',
});
const filter = z.unknown().meta({ description: 'Which rows, as in a query.', type: 'object' });
/** What holds of changes of many rows. */
const IN_PIECES =
  'Nobody else writes the table meanwhile, but a reader may see the first rows changed and the last not yet, and where it ends with 503 the first may stay changed: ask again.';
const counted = (name: 'updated' | 'deleted') => enveloped(z.object({ [name]: z.number().int() }));

/** Tables: what writes them. Source: contract.md §5. */
export const tables = {
  'tables.list': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/tables',
    group: 'tables',
    summary: 'The tables and how many rows each has.',
    access: read,
    limit: 'data',
    params: z.object({ artifactId }),
    replies: { ok: { status: 200, body: enveloped(z.object({ tables: z.array(tableInfo) })) } },
    errors: [],
  }),
  'tables.insert': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}',
    group: 'tables',
    summary: 'Inserts rows, all or none; the first insert makes the table. With onConflict it updates those that are there.',
    access: write,
    limit: 'data',
    params,
    query: z.object({
      onConflict: z.string().min(1).max(128).optional().meta({
        description: 'a field: a row that holds the same value there is changed instead; quick where the column is unique or indexed',
      }),
      merge: z.stringbool().default(false).meta({ description: 'such a row keeps the fields that are not given; else it is replaced' }),
    }),
    body: { kind: 'json', schema: rowsBody, bytesMax: LIMITS.insertBodyBytesMax },
    replies: {
      created: {
        status: 201,
        body: enveloped(z.object({ inserted: z.array(tableRow), count: z.number().int(), updated: z.number().int().optional() })),
        description: 'Every row given, as it is stored now; updated (with onConflict): how many of them were there before.',
      },
    },
    errors: [
      'INVALID_TABLE_NAME',
      'ROW_TOO_LARGE',
      'ROW_LIMIT_EXCEEDED',
      'TABLE_LIMIT_EXCEEDED',
      'DUPLICATE_VALUE',
      'ROW_NOT_FOUND',
      'FORBIDDEN',
    ],
  }),
  'tables.updateMany': endpoint({
    method: 'PATCH',
    path: '/v1/data/{artifactId}/tables/{table}',
    group: 'tables',
    summary: `Changes every row that matches, or refuses before it changes any; at most ${LIMITS.rowsByFilterMax}. ${IN_PIECES}`,
    access: write,
    limit: 'data',
    params,
    body: { kind: 'json', schema: z.strictObject({ filter, changes: rowChanges }), bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: counted('updated') } },
    errors: [
      'INVALID_TABLE_NAME',
      'TABLE_NOT_FOUND',
      'INVALID_FILTER',
      'QUERY_TOO_EXPENSIVE',
      'TOO_MANY_ROWS',
      'ROW_TOO_LARGE',
      'DUPLICATE_VALUE',
      'FORBIDDEN',
    ],
  }),
  'tables.deleteMany': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/tables/{table}',
    group: 'tables',
    summary: `Deletes every row that matches; at most ${LIMITS.rowsByFilterMax}. ${IN_PIECES} With confirm=true it drops the table, all or nothing (owner and editors).`,
    access: write,
    limit: 'data',
    params,
    query: z.object({ confirm: z.stringbool().default(false).meta({ description: 'drop the table; then there is no body' }) }),
    body: { kind: 'json', schema: z.strictObject({ filter: filter.optional() }), bytesMax: LIMITS.bodyBytesMax, optional: true },
    replies: {
      ok: { status: 200, body: counted('deleted') },
      dropped: { status: 200, body: enveloped(z.object({ dropped: z.literal(true), deleted: z.number().int() })) },
    },
    errors: ['INVALID_TABLE_NAME', 'TABLE_NOT_FOUND', 'INVALID_FILTER', 'QUERY_TOO_EXPENSIVE', 'TOO_MANY_ROWS', 'FORBIDDEN'],
  }),
  'tables.getRow': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/tables/{table}/{rowId}',
    group: 'tables',
    summary: 'One row.',
    access: read,
    limit: 'data',
    params: rowParams,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(tableRow) } },
    errors: ['INVALID_TABLE_NAME', 'TABLE_NOT_FOUND', 'ROW_NOT_FOUND'],
  }),
  'tables.patchRow': endpoint({
    method: 'PATCH',
    path: '/v1/data/{artifactId}/tables/{table}/{rowId}',
    group: 'tables',
    summary: 'Changes fields of one row.',
    access: write,
    limit: 'data',
    params: rowParams,
    conditional: true,
    body: {
      kind: 'json',
      schema: rowChanges,
      bytesMax: LIMITS.bodyBytesMax,
      types: ['application/json', 'application/merge-patch+json'],
      tooLarge: 'ROW_TOO_LARGE',
    },
    replies: { ok: { status: 200, body: enveloped(tableRow) } },
    errors: ['INVALID_TABLE_NAME', 'TABLE_NOT_FOUND', 'ROW_NOT_FOUND', 'VERSION_CONFLICT', 'ROW_TOO_LARGE', 'DUPLICATE_VALUE', 'FORBIDDEN'],
  }),
  'tables.deleteRow': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/tables/{table}/{rowId}',
    group: 'tables',
    summary: 'Deletes one row.',
    access: write,
    limit: 'data',
    params: rowParams,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(z.object({ deleted: z.literal(true) })) } },
    errors: ['INVALID_TABLE_NAME', 'TABLE_NOT_FOUND', 'ROW_NOT_FOUND', 'VERSION_CONFLICT', 'FORBIDDEN'],
  }),
  'tables.getSchema': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/tables/{table}/_schema',
    group: 'tables',
    summary: 'The columns that a table knows; none where nobody gave it a schema.',
    access: read,
    limit: 'data',
    params,
    replies: { ok: { status: 200, body: enveloped(tableSchema) } },
    errors: ['INVALID_TABLE_NAME', 'TABLE_NOT_FOUND'],
  }),
  'tables.putSchema': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/tables/{table}/_schema',
    group: 'tables',
    summary: 'Sets types, what is required, unique and indexed, and who may write. The rows that are there must agree.',
    access: shape,
    limit: 'data',
    params,
    body: { kind: 'json', schema: tableSchema, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: enveloped(tableSchema) }, created: { status: 201, body: enveloped(tableSchema) } },
    errors: ['INVALID_TABLE_NAME', 'TABLE_LIMIT_EXCEEDED', 'FORBIDDEN'],
  }),
} as const;
