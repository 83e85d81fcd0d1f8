/** Team Space folders of a workspace, and where its artifacts are filed. Source: spec.md "Team Space folder" and "Workspaces", contract.md §9. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';
import { member, params } from './access.ts';

export const folderVisibility = z.enum(['inherit', 'public', 'workspace', 'private']);
export const effectiveVisibility = folderVisibility.exclude(['inherit']);

const count = z.number().int();

export const folderFields = {
  id: idSchema('folder'),
  name: z.string(),
  slug: z.string(),
  description: z.string().nullable(),
  artifact_count: count.meta({ description: 'artifacts in it that the caller sees' }),
  parent_id: idSchema('folder').nullable().meta({ description: 'the next folder above that the caller sees; null at the top' }),
  subfolder_count: count.meta({ description: 'folders right below it that the caller sees' }),
  guest_comments: z.boolean().nullable().meta({
    description: 'whether people without an account may comment, where an artifact does not say; null follows the folder above',
  }),
  created_at: dateTime,
};

export const folder = z.object({ ...folderFields, visibility: folderVisibility });

/** What only the answer about one folder has. */
export const folderDetail = {
  path: z.string().meta({ description: 'slugs from the top down to this folder' }),
  readme: z.string().nullable(),
};

export const folderWithPath = folder.extend({
  ...folderDetail,
  effective_visibility: effectiveVisibility.meta({
    description: 'what its visibility comes to: that of the next folder above which does not inherit',
  }),
});

export const folderSlug = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'must be 1 to 63 lowercase letters, digits and hyphens, with a letter or digit at both ends',
  );

/** What callers may say of any folder. */
export const folderSettings = {
  name: nameSchema,
  slug: folderSlug.meta({ description: 'its part of the path, unique among the folders beside it; default: made from the name' }),
  description: storedText(LIMITS.descriptionCharsMax).nullable(),
  readme: storedText(LIMITS.folderReadmeCharsMax).nullable().meta({ description: 'Markdown' }),
  parent_id: idSchema('folder').nullable(),
  guest_comments: z.boolean().nullable(),
};

/** The settings of a new folder, of which only the name is needed. */
export const newFolderFields = {
  name: folderSettings.name,
  slug: absentOrNull(folderSettings.slug),
  description: folderSettings.description.optional(),
  readme: folderSettings.readme.optional(),
  parent_id: folderSettings.parent_id.optional(),
  guest_comments: folderSettings.guest_comments.optional(),
};

export const newFolder = z.strictObject({ ...newFolderFields, visibility: folderVisibility.default('inherit') });

export const someChange = [(body: object) => Object.keys(body).length > 0, 'must change at least one field'] as const;

export const folderUpdate = changesTo(folderWithPath, z.object({ ...folderSettings, visibility: folderVisibility }).partial().shape).refine(
  ...someChange,
);

export const filing = z.strictObject({ folder_id: idSchema('folder').nullable().meta({ description: 'null takes it out of its folder' }) });

export const filed = success.extend({ artifact_id: idSchema('artifact'), folder_id: idSchema('folder').nullable() });

export const deletedFolder = success.extend({
  deleted: idSchema('folder'),
  artifacts_unfiled: count.meta({ description: 'artifacts that were in it and that the caller sees' }),
  subfolders_moved: count.meta({ description: 'folders that were in it, that the caller sees and that moved up' }),
});

/** The slugs of folders, from the top down. */
export const folderPath = missingAs(
  z
    .string()
    .max(LIMITS.folderDepthMax * 64)
    .regex(/^[a-z0-9-]+(?:\/[a-z0-9-]+)*$/, 'must be slugs with slashes between them'),
  'FOLDER_NOT_FOUND',
);

const one = params.extend({ folderId: idSchema('folder') });
const view = { who: 'everybody', scope: 'artifacts:read' } as const;
const own = { who: 'folder', param: 'folderId', need: 'own', person: true } as const;

export const folders = {
  'folders.list': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/folders',
    group: 'folders',
    summary: 'The Team Space folders at the top or below one, by name. Any member; those that the caller does not see are left out.',
    access: { who: 'workspace', param: 'workspaceId', role: 'member', scope: 'artifacts:read' },
    limit: 'none',
    params,
    query: z.object({
      parent_id: idSchema('folder').optional().meta({ description: 'one level below this folder' }),
      all: z.enum(['0', '1']).default('0').meta({ description: '1: every depth' }),
    }),
    replies: { ok: { status: 200, body: z.object({ folders: z.array(folder), can_create: z.boolean() }) } },
    errors: ['FOLDER_NOT_FOUND'],
  }),
  'folders.create': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/folders',
    group: 'folders',
    summary: 'Makes a Team Space folder. Any member.',
    access: member,
    limit: 'none',
    params,
    body: { kind: 'json', schema: newFolder, bytesMax: LIMITS.bodyBytesMax },
    replies: { created: { status: 201, body: folderWithPath } },
    errors: ['FOLDER_NOT_FOUND', 'FOLDER_SLUG_TAKEN', 'FOLDER_LIMIT_EXCEEDED', 'FOLDER_TOO_DEEP'],
  }),
  'folders.byPath': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/folders/by-path/{path*}',
    group: 'folders',
    summary: 'One Team Space folder by its path. A public one is shown to everybody.',
    access: view,
    limit: 'none',
    params: params.extend({ path: folderPath }),
    conditional: true,
    replies: { ok: { status: 200, body: folderWithPath } },
    errors: ['WORKSPACE_NOT_FOUND', 'FOLDER_NOT_FOUND'],
  }),
  'folders.get': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/folders/{folderId}',
    group: 'folders',
    summary: 'One Team Space folder. A public one is shown to everybody.',
    access: view,
    limit: 'none',
    params: one,
    conditional: true,
    replies: { ok: { status: 200, body: folderWithPath } },
    errors: ['WORKSPACE_NOT_FOUND', 'FOLDER_NOT_FOUND'],
  }),
  'folders.update': endpoint({
    method: 'PATCH',
    path: '/v1/workspaces/{workspaceId}/folders/{folderId}',
    group: 'folders',
    summary: 'Changes a Team Space folder, or moves it. Its maker, and owners and admins of the workspace.',
    access: own,
    limit: 'none',
    params: one,
    conditional: true,
    resource: 'folders.get',
    body: { kind: 'json', schema: folderUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: folderWithPath } },
    errors: ['FOLDER_SLUG_TAKEN', 'FOLDER_CYCLE', 'FOLDER_TOO_DEEP', 'VERSION_CONFLICT'],
  }),
  'folders.delete': endpoint({
    method: 'DELETE',
    path: '/v1/workspaces/{workspaceId}/folders/{folderId}',
    group: 'folders',
    summary: 'Deletes a Team Space folder. Its artifacts are unfiled and its folders move up; who sees them does not change.',
    access: own,
    limit: 'none',
    params: one,
    conditional: true,
    resource: 'folders.get',
    replies: { ok: { status: 200, body: deletedFolder } },
    errors: ['VERSION_CONFLICT'],
  }),
  'folders.move': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/artifacts/{artifactId}/move',
    group: 'folders',
    summary: 'Files an artifact of the workspace in a folder. Its editors, and owners and admins of the workspace.',
    access: { who: 'workspace', param: 'workspaceId', role: 'member', scope: 'artifacts:publish' },
    limit: 'none',
    params: params.extend({ artifactId: idSchema('artifact') }),
    body: { kind: 'json', schema: filing, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: filed, description: 'Moved.' } },
    errors: ['ARTIFACT_NOT_FOUND', 'FOLDER_NOT_FOUND', 'VERSION_CONFLICT', 'TOO_MANY_PEOPLE'],
  }),
} as const;
