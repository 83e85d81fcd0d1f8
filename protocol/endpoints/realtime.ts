import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { idSchema } from '../ids.ts';
import { documentName } from '../schemas/document.ts';

const TOKEN_CHARS_MAX = 512;

const artifactId = idSchema('artifact');
const join = { who: 'artifact', param: 'artifactId', need: 'collab:read', scope: 'data:read' } as const;
/** The WebSocket of a browser cannot send headers. */
const query = z.object({
  token: z.string().max(TOKEN_CHARS_MAX, 'is no token').optional().describe('The token, where no Authorization header can be sent.'),
});

/** Source: contract.md §6. */
export const realtime = {
  'realtime.sync': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/realtime/{doc}',
    group: 'realtime',
    summary: 'One collaborative document over the y-websocket protocol. Who may not write reads only.',
    access: join,
    limit: 'none',
    socket: 'request',
    params: z.object({ artifactId, doc: documentName }),
    query,
    replies: {},
    errors: ['INVALID_DOCUMENT_NAME', 'DOCUMENT_LIMIT_EXCEEDED'],
  }),
  'realtime.hocuspocus': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/realtime',
    group: 'realtime',
    summary: 'Many collaborative documents over the Hocuspocus protocol; the token may also come in its Auth frames.',
    access: join,
    limit: 'none',
    socket: 'frames',
    params: z.object({ artifactId }),
    query,
    replies: {},
    errors: [],
  }),
  'realtime.channels': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/channels',
    group: 'realtime',
    summary: 'What happens to the artifact, as JSON frames: data, comments, versions, who is here, messages of others. Resumes by seq.',
    access: { ...join, need: 'data:read' },
    limit: 'none',
    socket: 'request',
    params: z.object({ artifactId }),
    query,
    replies: {},
    errors: [],
  }),
} as const;
