import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { patterned } from '../pattern.ts';
import { dateTime } from './common.ts';

const TABLE = /^[a-zA-Z][a-zA-Z0-9_]{0,63}$/;
export const tableName = patterned(z.string().regex(TABLE, 'must be a letter and then at most 63 letters, digits and underscores'), TABLE);

/** A row as it is answered: its own fields between `id` and the times. */
export const tableRow = z.looseObject({ id: z.string(), createdAt: dateTime, updatedAt: dateTime });

export const tableInfo = z.object({ name: z.string(), rowCount: z.number().int() });

const columnName = z
  .string()
  .regex(/^[^.$\p{C}][^.\p{C}]{0,63}$/u, 'must be 1 to 64 characters without dots, and not begin with $')
  .refine(
    (name) => name !== 'id' && name !== 'createdAt' && name !== 'updatedAt' && name !== '__proto__',
    'is a field that the server keeps',
  );

/**
 * `integer`: a whole number that a double holds exactly. `datetime`: RFC 3339 in UTC with a Z, so that the order of texts is the order of times.
 * `json`: anything. A column that is not `required` may be absent or null, whatever its type. `unique` implies `indexed`; neither is for `json`.
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

/** Fields that no column names stay free. `write`: who of those that may write the artifact's data may write this table. */
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
