/** Pages as an administrator finds and suspends them. What is in them is not shown. */
import { z } from 'zod';
import { visibility } from '../artifacts/artifacts.ts';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { changesTo } from '../core/round-trip.ts';
import { instanceAdmin, q } from './access.ts';
import { suspension, wantedSuspension } from './suspension.ts';

export const instanceArtifact = z.object({
  id: idSchema('artifact'),
  slug: z.string(),
  name: z.string(),
  visibility,
  url: z.string(),
  owner: z
    .object({ id: idSchema('user'), name: z.string().nullable(), email: z.string().nullable() })
    .nullable()
    .meta({ description: 'null where it belongs to its workspace' }),
  workspace_id: idSchema('workspace').nullable(),
  suspended: suspension.nullable(),
  created_at: dateTime,
  updated_at: dateTime,
  deleted_at: dateTime.nullable().meta({ description: 'null unless it is in the trash' }),
});

export const instanceArtifactUpdate = changesTo(instanceArtifact, { suspended: wantedSuspension.optional() });

const ofArtifact = z.object({ id: idSchema('artifact') });

export const instanceArtifacts = {
  'instanceArtifacts.list': endpoint({
    method: 'GET',
    path: '/v1/admin/artifacts',
    group: 'instance',
    summary: 'Artifacts by slug, name, id or owner, newest first.',
    access: instanceAdmin,
    limit: 'adminCalls',
    query: z.object({
      ...pageQuery,
      q: q.meta({ description: 'the beginning of a slug, a part of the name, or a whole id' }),
      owner_id: idSchema('user').optional(),
      suspended: z.stringbool().optional(),
    }),
    replies: { ok: { status: 200, body: z.object({ artifacts: z.array(instanceArtifact), ...pageReply }) } },
    errors: [],
  }),
  'instanceArtifacts.get': endpoint({
    method: 'GET',
    path: '/v1/admin/artifacts/{id}',
    group: 'instance',
    summary: 'One artifact, also where it is suspended or in the trash.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofArtifact,
    conditional: true,
    replies: { ok: { status: 200, body: instanceArtifact } },
    errors: ['ARTIFACT_NOT_FOUND'],
  }),
  'instanceArtifacts.update': endpoint({
    method: 'PATCH',
    path: '/v1/admin/artifacts/{id}',
    group: 'instance',
    summary:
      'Suspends an artifact or lifts that. Whoever may see it gets a plain page with status 403, its people get 403 ARTIFACT_SUSPENDED, everybody else what they got before. Its owner is told by mail.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofArtifact,
    conditional: true,
    resource: 'instanceArtifacts.get',
    body: { kind: 'json', schema: instanceArtifactUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: instanceArtifact } },
    errors: ['ARTIFACT_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
} as const;
