import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { enveloped } from './json-keys.ts';
import { person } from './realtime.ts';

const count = z.number().int().meta({ description: 'people connected by any WebSocket; each anonymous connection counts as one' });

const presenceCount = z.object({ count });

const presencePeople = z.object({
  count,
  people: z
    .array(person.extend({ connections: z.number().int() }))
    .optional()
    .meta({ description: `the first ${LIMITS.presencePeopleMax}; absent if the caller may not collaborate` }),
});

export const presence = {
  'presence.people': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/presence',
    group: 'realtime',
    summary: 'Lists who is connected now.',
    access: { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' },
    limit: 'data',
    actor: 'artifactId',
    params: z.object({ artifactId: idSchema('artifact') }),
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(presencePeople) } },
    errors: [],
  }),
  'presence.count': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/presence',
    group: 'realtime',
    summary: 'Counts the people who are connected now.',
    access: { who: 'artifact', param: 'id', need: 'view', scope: 'artifacts:read' },
    limit: 'none',
    actor: 'id',
    params: z.object({ id: idSchema('artifact') }),
    conditional: true,
    replies: { ok: { status: 200, body: presenceCount } },
    errors: [],
  }),
} as const;
