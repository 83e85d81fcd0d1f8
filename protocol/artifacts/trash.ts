import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { workspaceRef } from '../workspaces/access.ts';
import { params, personOwns, reader } from './access.ts';
import { artifact, artifactPage } from './artifacts.ts';

export const deletedArtifact = z.object({
  success: z.literal(true),
  deleted: idSchema('artifact'),
  deleted_at: dateTime,
  recoverable_until: dateTime,
  retention_days: z.literal(LIMITS.trashRetentionDays),
  restore_url: z.string(),
  message: z.string(),
});

export const trash = {
  'artifacts.listDeleted': endpoint({
    method: 'GET',
    path: '/v1/artifacts/deleted',
    group: 'artifacts',
    summary: 'What the caller can restore, last deleted first: their own, and what workspaces own that they run.',
    access: reader,
    limit: 'none',
    query: z.object({ ...pageQuery, workspace_id: workspaceRef.optional().meta({ description: 'only those of this workspace' }) }),
    replies: { ok: { status: 200, body: artifactPage } },
    errors: ['FORBIDDEN'],
  }),
  'artifacts.delete': endpoint({
    method: 'DELETE',
    path: '/v1/artifacts/{id}',
    group: 'artifacts',
    summary: 'Moves an artifact to the trash for 30 days.',
    access: personOwns,
    limit: 'none',
    params,
    conditional: true,
    resource: 'artifacts.get',
    replies: { ok: { status: 200, body: deletedArtifact } },
    errors: ['VERSION_CONFLICT'],
  }),
  'artifacts.restore': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/restore',
    group: 'artifacts',
    summary: 'Takes an artifact out of the trash.',
    access: { ...personOwns, trashed: true },
    limit: 'none',
    params,
    replies: { ok: { status: 200, body: artifact } },
    errors: ['NOT_DELETED', 'SLUG_TAKEN'],
  }),
} as const;
