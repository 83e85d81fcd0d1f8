/** Handlers of presence over HTTP. Source: contract.md §2. */
import { decide } from '../../../../actors/access/access.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../edge/call.ts';
import type { Connections } from '../../../realtime/connections.ts';

export function presenceHandlers({ connections }: { readonly connections: Connections }): Handlers<'presence.people' | 'presence.count'> {
  return {
    'presence.people': ({ params: { artifactId }, head, principal }) => {
      const count = connections.count(artifactId);
      const seesPeople = decide(head, principal, 'collab:read', 'data:read') === 'allowed';
      const people = seesPeople ? { people: connections.people(artifactId, LIMITS.presencePeopleMax) } : {};
      return { reply: 'ok', body: { success: true, data: { count, ...people } } };
    },
    'presence.count': ({ params }) => ({ reply: 'ok', body: { count: connections.count(params.id) } }),
  };
}
