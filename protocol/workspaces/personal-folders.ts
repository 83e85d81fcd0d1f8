/** Folders that only their owner sees. Source: contract.md §9. */
import { z } from 'zod';
import { params as artifactParams, own as ownArtifact } from '../artifacts/access.ts';
import { endpoint } from '../core/endpoint.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { changesTo } from '../core/round-trip.ts';
import { deletedFolder, filed, filing, folderDetail, folderFields, folderSettings, newFolderFields, someChange } from './folders.ts';

export const personalFolder = z.object(folderFields);
export const personalFolderWithPath = personalFolder.extend(folderDetail);
export const newPersonalFolder = z.strictObject(newFolderFields);
export const personalFolderUpdate = changesTo(personalFolderWithPath, z.object(folderSettings).partial().shape).refine(...someChange);

const person = { who: 'account', person: true } as const;
const own = { who: 'folder', param: 'folderId', need: 'own', person: true } as const;
const params = z.object({ folderId: idSchema('folder') });

export const personalFolders = {
  'personalFolders.list': endpoint({
    method: 'GET',
    path: '/v1/folders',
    group: 'personalFolders',
    summary: 'The personal folders of the caller, of every depth, by name.',
    access: person,
    limit: 'none',
    replies: { ok: { status: 200, body: z.object({ folders: z.array(personalFolder) }) } },
    errors: [],
  }),
  'personalFolders.create': endpoint({
    method: 'POST',
    path: '/v1/folders',
    group: 'personalFolders',
    summary: 'Makes a personal folder.',
    access: person,
    limit: 'none',
    body: { kind: 'json', schema: newPersonalFolder, bytesMax: LIMITS.bodyBytesMax },
    replies: { created: { status: 201, body: personalFolderWithPath } },
    errors: ['FOLDER_NOT_FOUND', 'FOLDER_SLUG_TAKEN', 'FOLDER_LIMIT_EXCEEDED', 'FOLDER_TOO_DEEP'],
  }),
  'personalFolders.get': endpoint({
    method: 'GET',
    path: '/v1/folders/{folderId}',
    group: 'personalFolders',
    summary: 'One personal folder.',
    access: own,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: personalFolderWithPath } },
    errors: [],
  }),
  'personalFolders.update': endpoint({
    method: 'PATCH',
    path: '/v1/folders/{folderId}',
    group: 'personalFolders',
    summary: 'Changes a personal folder, or moves it.',
    access: own,
    limit: 'none',
    params,
    conditional: true,
    resource: 'personalFolders.get',
    body: { kind: 'json', schema: personalFolderUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: personalFolderWithPath } },
    errors: ['FOLDER_SLUG_TAKEN', 'FOLDER_CYCLE', 'FOLDER_TOO_DEEP', 'VERSION_CONFLICT'],
  }),
  'personalFolders.delete': endpoint({
    method: 'DELETE',
    path: '/v1/folders/{folderId}',
    group: 'personalFolders',
    summary: 'Deletes a personal folder. Its artifacts are unfiled and its folders move up.',
    access: own,
    limit: 'none',
    params,
    conditional: true,
    resource: 'personalFolders.get',
    replies: { ok: { status: 200, body: deletedFolder } },
    errors: ['VERSION_CONFLICT'],
  }),
  'personalFolders.file': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/folder',
    group: 'personalFolders',
    summary: 'Files an artifact of the caller: in a personal folder, or where it belongs to a workspace in one of its folders.',
    access: ownArtifact,
    limit: 'none',
    params: artifactParams,
    body: { kind: 'json', schema: filing, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: filed } },
    errors: ['FOLDER_NOT_FOUND', 'VERSION_CONFLICT', 'TOO_MANY_PEOPLE'],
  }),
} as const;
