import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { dateTime } from './common.ts';

export const CHANGE_TYPES = ['json', 'tables', 'blobs', 'comments', 'documents'] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];
/** What is told where nothing is asked for: comments and documents need more than being allowed to read data. */
export const DEFAULT_CHANGE_TYPES = ['json', 'tables', 'blobs'] as const satisfies readonly ChangeType[];

export const CHANGE_KINDS = [
  'json.put',
  'json.delete',
  'table.put',
  'table.drop',
  'row.put',
  'row.delete',
  'blob.put',
  'blob.delete',
  'comment:added',
  'comment:updated',
  'comment:resolved',
  'comment:reaction',
  'comment:deleted',
  'doc.update',
  'doc.drop',
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

const types = z
  .string()
  .max(100)
  .transform((text) => [...new Set(text.split(','))])
  .pipe(z.array(z.enum(CHANGE_TYPES, `must be some of ${CHANGE_TYPES.join(', ')}, separated by commas`)))
  .optional()
  .meta({ description: `some of ${CHANGE_TYPES.join(', ')}, separated by commas; default ${DEFAULT_CHANGE_TYPES.join(',')}` });

export const changesQuery = z.object({
  since: z.coerce.number().int().min(0).optional().meta({ description: 'seq of the last change that the caller has seen' }),
  types,
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMITS.changesPageMax)
    .default(LIMITS.changesPageDefault)
    .meta({ description: 'of a page in JSON' }),
});

/**
 * One thing as it is now; what happened to it in between is left out. `data`: the value, the row's fields, the table's or the blob's description,
 * the comment; absent for a document and a deletion, and where it is long: then `truncated` says so, and a read has it.
 */
export const changeEvent = z.object({
  seq: z.number().int(),
  kind: z.enum(CHANGE_KINDS),
  key: z.string().optional().meta({ description: 'of a JSON value' }),
  table: z.string().optional(),
  id: z.string().optional().meta({ description: 'of a row, a blob or a comment' }),
  name: z.string().optional().meta({ description: 'of a document' }),
  data: z.unknown().optional(),
  truncated: z.literal(true).optional(),
  createdAt: dateTime.optional().meta({ description: 'of a row' }),
  updatedAt: dateTime,
});

export const changesPage = z.object({
  events: z.array(changeEvent),
  nextSeq: z.number().int().meta({ description: 'since of the next page' }),
  hasMore: z.boolean(),
  reset: z.literal(true).optional().meta({ description: 'too old: what was deleted is not known any more; read everything again' }),
});
