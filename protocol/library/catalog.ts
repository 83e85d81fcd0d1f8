/** The catalog of a workspace: what data there is. Source: contract.md §11, §16. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, pageQuery, pageReply, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';
import { admin, member, params, reads } from '../workspaces/access.ts';

export const catalogKind = z.enum(['table', 'dataset', 'connection', 'note']);
export type CatalogKind = z.output<typeof catalogKind>;

export const catalogField = z.object({
  name: z.string(),
  type: z.string().meta({ description: 'as the schema of the table or the columns of the dataset have it' }),
  description: z.string(),
});

export const catalogEntry = z.object({
  id: idSchema('catalogEntry'),
  kind: catalogKind.meta({ description: 'note: written by people about anything' }),
  name: z.string(),
  domain: z.string().nullable(),
  tags: z.array(z.string()),
  description: z.string().meta({ description: 'Markdown' }),
  owner: z
    .object({ id: idSchema('user'), name: z.string().nullable() })
    .nullable()
    .meta({ description: 'null: the workspace' }),
  fields: z.array(catalogField).meta({ description: 'in lists the first 50' }),
  fields_total: z.number().int(),
  source: z.object({
    type: z.enum(['artifact', 'connection', 'note']),
    id: z.string(),
    name: z.string(),
  }),
  freshness: z.object({ changed_at: dateTime.nullable(), rows: z.number().int().nullable() }).meta({
    description: 'when the data changed last, of a connection when it was used last, of a note null; and how many rows there are',
  }),
  updated_at: dateTime.meta({ description: 'of the data, or of what people have written about it' }),
});

const facet = z.array(z.object({ value: z.string(), count: z.number().int() }));
export const catalogFacets = z.object({ kinds: facet, domains: facet, tags: facet });

const domain = storedText(LIMITS.catalogTagCharsMax).trim().min(1);
const tags = z
  .array(storedText(LIMITS.catalogTagCharsMax).trim().toLowerCase().min(1))
  .max(LIMITS.catalogTagsMax)
  .transform((given) => [...new Set(given)]);
const description = storedText(LIMITS.catalogDescriptionCharsMax);
const fields = z
  .array(
    z.strictObject({
      name: storedText(LIMITS.datasetColumnCharsMax).min(1),
      type: absentOrNull(storedText(60)),
      description: absentOrNull(storedText(1000)),
    }),
  )
  .max(LIMITS.catalogFieldsMax);

export const catalogNote = z.strictObject({
  name: nameSchema,
  domain: domain.nullish(),
  tags: absentOrNull(tags),
  description: absentOrNull(description),
  fields: absentOrNull(fields),
});
export const catalogUpdate = changesTo(catalogEntry, {
  name: nameSchema.optional(),
  domain: domain.nullable().optional(),
  tags: tags.optional(),
  description: description.optional(),
  fields: fields.optional(),
  owner: z
    .strictObject({ id: idSchema('user'), name: z.unknown().optional().meta({ readOnly: true }) })
    .nullable()
    .optional()
    .meta({ description: 'of a note: a member of the workspace, or null for the workspace itself' }),
});
export type CatalogUpdate = z.output<typeof catalogUpdate>;

export const catalogLineage = z.object({
  nodes: z.array(
    z.object({
      id: z.string().meta({ description: 'of an entry; of an import its source, of a page its artifact, of a job the job' }),
      kind: z.enum([...catalogKind.options, 'import', 'page', 'job']),
      name: z.string(),
      source_name: z.string().meta({ description: 'the artifact or the type of the connection; of an import its provider' }),
      artifact_id: idSchema('artifact').nullable().meta({ description: 'whose it is; null for connections, imports and notes' }),
    }),
  ),
  edges: z.array(
    z.object({
      from: z.string(),
      to: z.string(),
      kind: z.enum(['materialize', 'import', 'read', 'write']).meta({
        description:
          'materialize: a job writes the one from the other; import: runs of the source have made it; read and write: scripts of the page, or of the job, have done so lately',
      }),
    }),
  ),
  truncated: z.boolean().meta({
    description: `whether there is more than ${LIMITS.catalogLineageNodesMax} nodes or ${LIMITS.catalogLineageStepsMax} steps away`,
  }),
});

const group = 'catalog';
const one = params.extend({ entryId: idSchema('catalogEntry') });
const json = <S extends z.ZodType>(schema: S) => ({ kind: 'json', schema, bytesMax: LIMITS.catalogBodyBytesMax }) as const;
const MISSING = ['CATALOG_NOT_ENABLED', 'CATALOG_ENTRY_NOT_FOUND'] as const;

export const catalog = {
  'catalog.list': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/catalog',
    group,
    summary:
      'What data there is that the caller may see: tables, datasets, connections and notes, last changed first, and how many of what.',
    access: reads,
    limit: 'catalogReads',
    params,
    query: z.object({
      q: z
        .string()
        .max(LIMITS.nameCharsMax)
        .default('')
        .meta({ description: 'words of names, fields, tags and descriptions, whatever their case and accents; all must be there' }),
      kind: catalogKind.optional(),
      domain: z.string().max(LIMITS.catalogTagCharsMax).optional(),
      tag: z.string().max(LIMITS.catalogTagCharsMax).optional(),
      ...pageQuery,
    }),
    replies: {
      ok: {
        status: 200,
        body: z.object({
          enabled: z.boolean(),
          available: z.boolean().meta({ description: 'whether the plan of the workspace has a catalog' }),
          entries: z.array(catalogEntry),
          facets: catalogFacets.meta({ description: 'each under the other filters' }),
          ...pageReply,
        }),
      },
    },
    errors: [],
  }),
  'catalog.enable': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/catalog/enable',
    group,
    summary: 'Makes the catalog of a workspace. It has the tables and datasets of its artifacts and its connections at once.',
    access: admin,
    limit: 'catalogReads',
    params,
    replies: { ok: { status: 200, body: z.object({ enabled: z.literal(true), entries: z.number().int() }) } },
    errors: ['PLAN_REQUIRED'],
  }),
  'catalog.disable': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/catalog/disable',
    group,
    summary: 'Hides the catalog of a workspace. What people have written in it is kept, and is there again once it is enabled.',
    access: admin,
    limit: 'catalogReads',
    params,
    replies: { ok: { status: 200, body: z.object({ enabled: z.literal(false) }) } },
    errors: [],
  }),
  'catalog.create': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/catalog/entries',
    group,
    summary: 'Writes an entry about data that is elsewhere, or about anything else, in Markdown.',
    access: member,
    limit: 'catalogReads',
    params,
    body: json(catalogNote),
    replies: { created: { status: 201, body: catalogEntry } },
    errors: ['CATALOG_NOT_ENABLED', 'CATALOG_LIMIT_EXCEEDED'],
  }),
  'catalog.get': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/catalog/entries/{entryId}',
    group,
    summary: 'One entry with all its fields.',
    access: reads,
    limit: 'catalogReads',
    params: one,
    conditional: true,
    replies: { ok: { status: 200, body: catalogEntry } },
    errors: MISSING,
  }),
  'catalog.update': endpoint({
    method: 'PATCH',
    path: '/v1/workspaces/{workspaceId}/catalog/entries/{entryId}',
    group,
    summary:
      'Changes an entry. Of a table, dataset or connection its domain, tags, description and the descriptions of fields; name, owner and fields follow what it describes. A note is given to another owner by its own, or by an owner or admin of the workspace.',
    access: member,
    limit: 'catalogReads',
    params: one,
    conditional: true,
    resource: 'catalog.get',
    body: json(catalogUpdate),
    replies: { ok: { status: 200, body: catalogEntry } },
    errors: [...MISSING, 'CATALOG_LIMIT_EXCEEDED', 'USER_NOT_FOUND', 'FORBIDDEN', 'VERSION_CONFLICT'],
  }),
  'catalog.delete': endpoint({
    method: 'DELETE',
    path: '/v1/workspaces/{workspaceId}/catalog/entries/{entryId}',
    group,
    summary: 'Deletes a note: its owner, or an owner or admin of the workspace. Other entries go with what they describe.',
    access: member,
    limit: 'catalogReads',
    params: one,
    conditional: true,
    resource: 'catalog.get',
    replies: { ok: { status: 200, body: success } },
    errors: [...MISSING, 'VERSION_CONFLICT'],
  }),
  'catalog.lineage': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/catalog/entries/{entryId}/lineage',
    group,
    summary:
      'What an entry is made from and what is made from it, by jobs and imports, and which pages and scripts of jobs read or write it, as far as the caller may see both ends.',
    access: reads,
    limit: 'catalogReads',
    params: one,
    replies: { ok: { status: 200, body: catalogLineage } },
    errors: MISSING,
  }),
} as const;
