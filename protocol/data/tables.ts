import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { patterned } from '../core/pattern.ts';
import { enveloped } from './json-keys.ts';

const TABLE = /^[a-zA-Z][a-zA-Z0-9_]{0,63}$/;
export const tableName = patterned(z.string().regex(TABLE, 'must be a letter and then at most 63 letters, digits and underscores'), TABLE);

/** A row as it is returned: its own fields between `id` and the times. */
export const tableRow = z.looseObject({ id: z.string(), createdAt: dateTime, updatedAt: dateTime });

const tableInfo = z.object({ name: z.string(), rowCount: z.number().int() });

const columnName = z
  .string()
  .regex(/^[^.$\p{C}][^.\p{C}]{0,63}$/u, 'must be 1 to 64 characters without dots, and not begin with $')
  .refine((name) => name !== 'id' && name !== 'createdAt' && name !== 'updatedAt' && name !== '__proto__', 'is reserved for the server');

/**
 * `integer`: a whole number that a double holds exactly. `datetime`: RFC 3339 in UTC with a Z, so that strings sort by time. `json`: any
 * value. A column that is not `required` may be absent or null, whatever its type. `unique` implies `indexed`; a `json` column can be neither.
 */
export const tableColumn = z
  .strictObject({
    name: columnName,
    type: z.enum(['string', 'number', 'integer', 'boolean', 'datetime', 'json']),
    required: z.boolean().default(false),
    unique: z.boolean().default(false),
    indexed: z.boolean().default(false),
  })
  .refine(
    (column) => column.type !== 'json' || !(column.unique || column.indexed),
    'a column of type json can be neither unique nor indexed',
  );

/** Fields without a column are not checked. `write`: which of the callers that may write the artifact's data may also write this table. */
export const tableSchema = z.strictObject({
  columns: z
    .array(tableColumn)
    .max(LIMITS.tableColumnsMax)
    .refine((columns) => new Set(columns.map(({ name }) => name)).size === columns.length, 'must not name a column twice')
    .refine(
      (columns) => columns.filter(({ unique, indexed }) => unique || indexed).length <= LIMITS.tableIndexesMax,
      `must have at most ${LIMITS.tableIndexesMax} columns that are unique or indexed`,
    ),
  write: z.enum(['owner', 'collaborator', 'any']).default('any'),
});

export type TableColumn = z.output<typeof tableColumn>;
export type TableSchema = z.output<typeof tableSchema>;

const artifactId = idSchema('artifact');
const params = z.object({ artifactId, table: tableName });
const rowParams = params.extend({ rowId: idSchema('row') });
const read = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' } as const;
const write = { who: 'artifact', param: 'artifactId', need: 'data:write', scope: 'data:write' } as const;
const shape = { who: 'artifact', param: 'artifactId', need: 'edit', scope: 'data:write' } as const;

/** Not checked by zod, because the actor checks every field anyway; the metadata is for the API reference. */
const rowsBody = z.unknown().meta({
  description: `One row, an array of rows, or {"rows": [...]}; at most ${LIMITS.insertRowsMax}. The fields id, createdAt and updatedAt are set by the server; values sent for them are ignored.`,
  anyOf: [
    { type: 'object' },
    { type: 'array', items: { type: 'object' }, maxItems: LIMITS.insertRowsMax },
    {
      type: 'object',
      properties: { rows: { type: 'array', items: { type: 'object' }, maxItems: LIMITS.insertRowsMax } },
      required: ['rows'],
    },
  ],
});
const rowChanges = z.unknown().meta({
  description: 'A merge patch (RFC 7396) of the fields: null removes a field. id, createdAt and updatedAt are ignored.',
  type: 'object',
});
const filter = z.unknown().meta({ description: 'Which rows to select, as in a query.', type: 'object' });
/** Applies to every endpoint that changes rows by filter. */
const IN_PIECES =
  'No other call writes the table until it is done, but readers may see part of the change, and after a 503 part of it may stay: repeat the call.';
const counted = (name: 'updated' | 'deleted') => enveloped(z.object({ [name]: z.number().int() }));

/** Endpoints that write tables or read single rows. Source: contract.md §5. */
export const tables = {
  'tables.list': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/tables',
    group: 'tables',
    summary: 'Lists the tables with their row counts.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: z.object({ artifactId }),
    query: z.object({ count: pageQuery.count }),
    replies: { ok: { status: 200, body: enveloped(z.object({ tables: z.array(tableInfo), total: pageReply.total })) } },
    errors: [],
  }),
  'tables.insert': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/tables/{table}',
    group: 'tables',
    summary: 'Inserts rows, all or none; the first insert creates the table. With onConflict it updates rows that already exist.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params,
    query: z.object({
      onConflict: z.string().min(1).max(128).optional().meta({
        description:
          'a field: if a stored row has the same value there, that row is updated instead; fast if the column is unique or indexed',
      }),
      merge: z
        .stringbool()
        .default(false)
        .meta({ description: 'with onConflict: an existing row keeps the fields that are not given; by default it is replaced' }),
    }),
    body: { kind: 'json', schema: rowsBody, bytesMax: LIMITS.insertBodyBytesMax },
    replies: {
      created: {
        status: 201,
        body: enveloped(z.object({ inserted: z.array(tableRow), count: z.number().int(), updated: z.number().int().optional() })),
        description: 'Every given row as it is now stored; updated (with onConflict): how many of them existed before.',
      },
    },
    errors: [
      'REQUEST_TOO_EXPENSIVE',
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
    summary: `Updates every matching row, or refuses before it changes any; at most ${LIMITS.rowsByFilterMax}. ${IN_PIECES}`,
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: { kind: 'json', schema: z.strictObject({ filter, changes: rowChanges }), bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: counted('updated') } },
    errors: [
      'INVALID_TABLE_NAME',
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
    summary: `Deletes every matching row; at most ${LIMITS.rowsByFilterMax}. ${IN_PIECES} With confirm=true it drops the table, all or nothing (owner and editors only).`,
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params,
    query: z.object({ confirm: z.stringbool().default(false).meta({ description: 'drop the whole table; send no body' }) }),
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
    summary: 'Reads one row.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: rowParams,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(tableRow) } },
    errors: ['INVALID_TABLE_NAME', 'ROW_NOT_FOUND'],
  }),
  'tables.patchRow': endpoint({
    method: 'PATCH',
    path: '/v1/data/{artifactId}/tables/{table}/{rowId}',
    group: 'tables',
    summary: 'Updates fields of one row.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: rowParams,
    conditional: true,
    resource: 'tables.getRow',
    body: {
      kind: 'json',
      schema: rowChanges,
      bytesMax: LIMITS.bodyBytesMax,
      types: ['application/json', 'application/merge-patch+json'],
      tooLarge: 'ROW_TOO_LARGE',
    },
    replies: { ok: { status: 200, body: enveloped(tableRow) } },
    errors: [
      'INVALID_TABLE_NAME',
      'ROW_NOT_FOUND',
      'VERSION_CONFLICT',
      'ROW_TOO_LARGE',
      'DUPLICATE_VALUE',
      'REQUEST_TOO_EXPENSIVE',
      'FORBIDDEN',
    ],
  }),
  'tables.deleteRow': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/tables/{table}/{rowId}',
    group: 'tables',
    summary: 'Deletes one row.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: rowParams,
    conditional: true,
    resource: 'tables.getRow',
    replies: { ok: { status: 200, body: enveloped(z.object({ deleted: z.literal(true) })) } },
    errors: ['INVALID_TABLE_NAME', 'ROW_NOT_FOUND', 'VERSION_CONFLICT', 'FORBIDDEN'],
  }),
  'tables.getSchema': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/tables/{table}/_schema',
    group: 'tables',
    summary: 'Reads the schema of a table; without one, columns is empty.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(tableSchema) } },
    errors: ['INVALID_TABLE_NAME', 'TABLE_NOT_FOUND'],
  }),
  'tables.putSchema': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/tables/{table}/_schema',
    group: 'tables',
    summary: 'Sets the columns, which of them are required, unique or indexed, and who may write. Stored rows must fit the schema.',
    access: shape,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    resource: 'tables.getSchema',
    body: { kind: 'json', schema: tableSchema, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: enveloped(tableSchema) }, created: { status: 201, body: enveloped(tableSchema) } },
    errors: ['INVALID_TABLE_NAME', 'TABLE_LIMIT_EXCEEDED', 'FORBIDDEN', 'VERSION_CONFLICT'],
  }),
} as const;
