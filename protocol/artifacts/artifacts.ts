import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, pageQuery, pageReply, slugSchema, storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { changesTo } from '../core/round-trip.ts';
import { boundedText } from '../core/text.ts';
import { workspaceRef } from '../workspaces/access.ts';
import { lister, params, personManages, personReads, read } from './access.ts';

export const visibility = z.enum(['private', 'workspace', 'public', 'password']);
export type Visibility = z.infer<typeof visibility>;

export const anonymousRights = {
  allow_anon_write: z.boolean(),
  allow_anon_email: z.boolean(),
  allow_anon_agent: z.boolean(),
  allow_anon_collab: z.boolean(),
};

export const social = {
  social_title: storedText(300).nullable(),
  social_description: storedText(1000).nullable(),
  social_image_url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .refine((text) => !text.includes('\u0000'), 'must not contain NUL characters')
    .nullable(),
};

export const artifact = z.object({
  id: idSchema('artifact'),
  name: z.string(),
  slug: z.string(),
  owner_id: idSchema('user').nullable(),
  workspace_id: z.string().nullable(),
  folder_id: idSchema('folder').nullable().meta({ description: 'the folder it is in, where the caller sees that' }),
  visibility,
  ...anonymousRights,
  social_title: z.string().nullable(),
  social_description: z.string().nullable(),
  social_image_url: z.string().nullable(),
  url: z.string(),
  thumbnail_url: z
    .string()
    .nullable()
    .meta({ description: 'a picture of the live version, for whoever may see the artifact; null while there is none' }),
  live_version_id: idSchema('version').nullable(),
  live_version_no: z.number().int().nullable(),
  pinned_version_id: idSchema('version').nullable(),
  is_favorite: z.boolean(),
  role: z
    .enum(['owner', 'editor', 'viewer', 'none'])
    .optional()
    .meta({ description: "the caller's, on the answer about one artifact; none for a reader of what is open to all" }),
  requested_visibility: visibility
    .optional()
    .meta({ description: 'on the answer about one artifact to its editors: what is held until a plan allows it' }),
  created_at: dateTime,
  updated_at: dateTime,
  deleted_at: dateTime.optional(),
  recoverable_until: dateTime.optional(),
});

/** Why a requested visibility was not applied, beside everything that was. */
export const held = {
  code: z.literal('VISIBILITY_HELD').optional(),
  notice: z.string().optional(),
  visibility: visibility.optional(),
  requested_visibility: visibility.optional(),
};

export const password = boundedText(200, 8).meta({ description: 'what visitors must enter; write only; with visibility "password"' });

const changeable = z
  .object({
    name: nameSchema,
    slug: slugSchema,
    visibility,
    password,
    workspace_id: workspaceRef.nullable().meta({ description: 'moves an artifact of the caller into a workspace, null out of it' }),
    ...anonymousRights,
    ...social,
  })
  .partial();

export const artifactUpdate = changesTo(artifact, changeable.shape).refine(
  (body) => Object.keys(body).length > 0,
  'must change at least one field',
);

export const artifactPage = z.object({ artifacts: z.array(artifact), ...pageReply });

const favorited = z.object({ success: z.literal(true), artifact_id: idSchema('artifact'), favorited: z.boolean() });

export const artifactSort = z
  .enum(['-updated_at', 'updated_at', 'name', '-name', '-created_at', 'created_at'])
  .meta({ description: 'a minus turns the order around; names are compared without case and accents' });
export type ArtifactSort = z.output<typeof artifactSort>;

export const artifacts = {
  'artifacts.list': endpoint({
    method: 'GET',
    path: '/v1/artifacts',
    group: 'artifacts',
    summary: 'The artifacts of the caller, or those of a workspace that the caller sees, last changed first or in another order.',
    access: lister,
    limit: 'none',
    query: z.object({
      ...pageQuery,
      cursor: z
        .string()
        .max(LIMITS.nameCursorCharsMax)
        .optional()
        .meta({ description: 'next_cursor of the previous page, with the same sort' }),
      favorites: z.stringbool().default(false),
      shared: z.stringbool().default(false).meta({ description: 'only those of others that are shared with the caller by name' }),
      sort: artifactSort.default('-updated_at'),
      workspace_id: workspaceRef.optional().meta({ description: 'id or slug; an agent lists its own' }),
      folder_id: idSchema('folder').optional().meta({ description: 'those in this folder' }),
      q: storedText(LIMITS.nameCharsMax).trim().min(1).optional().meta({ description: 'those whose name or slug contains this text' }),
    }),
    replies: { ok: { status: 200, body: artifactPage } },
    errors: ['FORBIDDEN', 'FOLDER_NOT_FOUND'],
  }),
  'artifacts.get': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}',
    group: 'artifacts',
    summary: 'One artifact.',
    access: read,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: artifact } },
    errors: [],
  }),
  'artifacts.update': endpoint({
    method: 'PATCH',
    path: '/v1/artifacts/{id}',
    group: 'artifacts',
    summary: 'Changes name, slug, visibility, rights or link preview.',
    access: personManages,
    limit: 'none',
    params,
    conditional: true,
    resource: 'artifacts.get',
    body: { kind: 'json', schema: artifactUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: {
      ok: { status: 200, body: artifact },
      held: { status: 202, body: artifact.extend(held), description: 'Everything but the visibility was applied.' },
    },
    errors: ['SLUG_TAKEN', 'INVALID_SLUG', 'VERSION_CONFLICT', 'TOO_MANY_PEOPLE'],
  }),
  'artifacts.favorite': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/favorite',
    group: 'artifacts',
    summary: 'Marks as a favourite of the caller.',
    access: personReads,
    limit: 'none',
    params,
    replies: { ok: { status: 200, body: favorited } },
    errors: ['UNAUTHORIZED'],
  }),
  'artifacts.unfavorite': endpoint({
    method: 'DELETE',
    path: '/v1/artifacts/{id}/favorite',
    group: 'artifacts',
    summary: 'Takes the mark away.',
    access: personReads,
    limit: 'none',
    params,
    replies: { ok: { status: 200, body: favorited } },
    errors: ['UNAUTHORIZED'],
  }),
} as const;
