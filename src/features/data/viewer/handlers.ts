/** Tells the scripts of a page who calls. */
import { decide, type Principal } from '../../../../actors/access/access.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Handlers } from '../../../edge/call.ts';
import type { Identities } from '../../people/identities/identities.ts';

export function viewerHandlers({ identities }: { readonly identities: Identities }): Handlers<'viewer.get'> {
  return {
    'viewer.get': async ({ params: { artifactId }, head, principal, role }) => {
      const may = (need: 'data:write' | 'collab:write' | 'edit') => decide(head, principal, need, 'data:write') === 'allowed';
      const person = isKnown(principal, artifactId) ? await identities.of(principal, '') : null;
      const can = { canWrite: may('data:write'), canCollaborate: may('collab:write'), canEdit: may('edit') };
      return { reply: 'ok', body: { success: true, data: { person, role, ...can } } };
    },
  };
}

/** A guest is somebody on one artifact only. */
function isKnown(principal: Principal, artifactId: ArtifactId): boolean {
  return principal.kind !== 'anonymous' && (principal.kind !== 'guest' || principal.artifactId === artifactId);
}
