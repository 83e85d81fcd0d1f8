/** Who looks at a page: what its scripts are told of the caller. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { idSchema } from '../core/ids.ts';
import { enveloped } from './json-keys.ts';
import { person } from './realtime.ts';

export const viewer = z.object({
  person: person.nullable().meta({ description: 'null for an anonymous caller' }),
  role: z.enum(['owner', 'editor', 'viewer', 'none']).meta({ description: 'on this artifact' }),
  canWrite: z.boolean().meta({ description: 'may change JSON keys, tables and blobs' }),
  canCollaborate: z.boolean().meta({ description: 'may change shared documents' }),
  canEdit: z.boolean().meta({ description: 'is an editor or the owner: may also moderate comments' }),
});

export const viewers = {
  'viewer.get': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/viewer',
    group: 'realtime',
    summary: 'Who the caller is and what they may do here.',
    access: { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' },
    limit: 'data',
    actor: 'artifactId',
    params: z.object({ artifactId: idSchema('artifact') }),
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(viewer) } },
    errors: [],
  }),
} as const;
