import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { idSchema } from '../ids.ts';
import { enveloped } from '../schemas/json-key.ts';
import { presenceCount, presencePeople } from '../schemas/presence.ts';

export const presence = {
  'presence.people': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/presence',
    group: 'realtime',
    summary: 'Who is here now.',
    access: { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' },
    limit: 'data',
    params: z.object({ artifactId: idSchema('artifact') }),
    replies: { ok: { status: 200, body: enveloped(presencePeople) } },
    errors: [],
  }),
  'presence.count': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/presence',
    group: 'realtime',
    summary: 'How many people are here now.',
    access: { who: 'artifact', param: 'id', need: 'view', scope: 'artifacts:read' },
    limit: 'none',
    params: z.object({ id: idSchema('artifact') }),
    replies: { ok: { status: 200, body: presenceCount } },
    errors: [],
  }),
} as const;
