import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { idSchema } from '../ids.ts';
import { changesPage, changesQuery } from '../schemas/change.ts';
import { enveloped } from '../schemas/json-key.ts';

export const changes = {
  'data.changes': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/changes',
    group: 'data',
    summary: 'What changed since a seq, and what changes from now on: server-sent events, or a page of JSON for Accept: application/json.',
    access: { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' },
    limit: 'data',
    params: z.object({ artifactId: idSchema('artifact') }),
    query: changesQuery,
    replies: {
      page: { status: 200, body: enveloped(changesPage) },
      stream: {
        status: 200,
        media: 'text/event-stream',
        description:
          'hello {seq}, then the changes since Last-Event-ID or `since`, then each as it is committed; reset {seq} where that is too old.',
      },
    },
    errors: ['COMMENTS_DISABLED'],
  }),
} as const;
