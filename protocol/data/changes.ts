import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { enveloped } from './json-keys.ts';

export const CHANGE_TYPES = ['json', 'tables', 'blobs', 'comments', 'documents'] as const;
/** A live kind: what an artifact has whose changes can be followed. */
export type ChangeType = (typeof CHANGE_TYPES)[number];
/** Comments and documents are not among the defaults, because they need more than the right to read data. */
export const DEFAULT_CHANGE_TYPES = ['json', 'tables', 'blobs'] as const satisfies readonly ChangeType[];

/** What an event of each type can be. */
const CHANGE_KINDS = {
  json: ['json.put', 'json.delete'],
  tables: ['table.put', 'table.drop', 'row.put', 'row.delete'],
  blobs: ['blob.put', 'blob.delete'],
  comments: ['comment:added', 'comment:updated', 'comment:resolved', 'comment:reaction', 'comment:deleted'],
  documents: ['doc.update', 'doc.drop'],
} as const satisfies Record<ChangeType, readonly string[]>;
export type ChangeKind = (typeof CHANGE_KINDS)[ChangeType][number];
export const CHANGE_TYPE_OF = Object.fromEntries(
  CHANGE_TYPES.flatMap((type) => CHANGE_KINDS[type].map((kind) => [kind, type])),
) as Readonly<Record<ChangeKind, ChangeType>>;

const types = z
  .string()
  .max(100)
  .transform((text) => [...new Set(text.split(','))])
  .pipe(z.array(z.enum(CHANGE_TYPES, `must be some of ${CHANGE_TYPES.join(', ')}, separated by commas`)))
  .optional()
  .meta({ description: `some of ${CHANGE_TYPES.join(', ')}, separated by commas; default ${DEFAULT_CHANGE_TYPES.join(',')}` });

const changesQuery = z.object({
  since: z.coerce.number().int().min(0).optional().meta({ description: 'seq of the last change that the caller has seen' }),
  types,
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMITS.changesPageMax)
    .default(LIMITS.changesPageDefault)
    .meta({ description: 'events in one JSON page' }),
});

/**
 * The last change of one thing; changes before it are left out. `data` is the value, the fields of the row, the description of the table or
 * blob, or the comment. It is absent for a document or a deletion, and if it is too long; then `truncated` is set and a read returns it.
 */
export const changeEvent = z.object({
  seq: z.number().int(),
  kind: z.enum(CHANGE_TYPES.flatMap((type): readonly ChangeKind[] => CHANGE_KINDS[type])),
  key: z.string().optional().meta({ description: 'the key of a JSON value' }),
  table: z.string().optional(),
  id: z.string().optional().meta({ description: 'the id of a row, blob or comment' }),
  name: z.string().optional().meta({ description: 'the name of a document' }),
  data: z.unknown().optional(),
  truncated: z.literal(true).optional(),
  createdAt: dateTime.optional().meta({ description: 'when the row was inserted' }),
  updatedAt: dateTime,
});

export const changesPage = z.object({
  events: z.array(changeEvent),
  nextSeq: z.number().int().meta({ description: 'the value of since for the next page' }),
  hasMore: z.boolean(),
  reset: z
    .literal(true)
    .optional()
    .meta({ description: 'since is too old and later deletions are no longer known: read everything again' }),
});

export const changes = {
  'data.changes': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/changes',
    group: 'data',
    summary:
      'Follows changes: those since a seq and then new ones as server-sent events, or one page as JSON for Accept: application/json.',
    access: { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' },
    limit: 'data',
    actor: 'artifactId',
    params: z.object({ artifactId: idSchema('artifact') }),
    query: changesQuery,
    replies: {
      page: { status: 200, body: enveloped(changesPage) },
      stream: {
        status: 200,
        media: 'text/event-stream',
        description:
          'hello {seq}, then the changes since Last-Event-ID or `since`, then each change as it is committed; reset {seq} if that seq is too old.',
      },
    },
    errors: ['COMMENTS_DISABLED'],
  }),
} as const;
