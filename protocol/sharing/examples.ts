/** Examples of sharing. */
import { AT, EXAMPLE_IDS, ofArtifact } from '../core/example.ts';

const collaborator = { params: { ...ofArtifact.params, email: 'grace@example.com' } };
const request = { params: { requestId: EXAMPLE_IDS.accessRequest } };

const people = {
  'collaborators.list': {
    ...ofArtifact,
    query: { limit: '5', count: 'true' },
    reply: {
      owner: { user_id: EXAMPLE_IDS.user, email: 'ada@example.com', name: 'Ada' },
      collaborators: [{ email: 'grace@example.com', user_id: null, name: null, role: 'viewer', added_at: AT, pending: true }],
      has_more: false,
      next_cursor: null,
      total: 1,
    },
  },
  'collaborators.add': { ...ofArtifact, body: { emails: ['grace@example.com', 'katherine@example.com'], role: 'editor' } },
  'collaborators.update': { ...collaborator, body: { role: 'viewer' } },
  'collaborators.remove': collaborator,
  'collaborators.share': {
    ...ofArtifact,
    body: { recipients: ['grace@example.com'], role: 'viewer', message: 'The map that I told you about.' },
  },
  'collaborators.transfer': { ...ofArtifact, body: { email: 'grace@example.com', confirm: true, keep_as: 'editor' } },
} as const;

const requests = {
  'accessRequests.create': { body: { slug: 'hello', message: 'May I see it?' } },
  'accessRequests.incoming': { query: { limit: '5', count: 'true' } },
  'accessRequests.outgoing': { query: { limit: '5', count: 'true' } },
  'accessRequests.get': request,
  'accessRequests.decide': { ...request, body: { action: 'approve' } },
} as const;

export const sharingExamples = { ...people, ...requests } as const;
