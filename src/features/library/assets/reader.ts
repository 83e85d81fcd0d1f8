/** Who reads a file of a library. */
import type { Person } from '../../../../actors/access/access.ts';
import type { DeliverableId } from '../../../../protocol/core/ids.ts';
import type { Reader } from './rows.ts';

/** `linked`: what a share link opens for the person. */
export function readerOfPerson({ accounts, workspaces, grants }: Person, id: string, linked: DeliverableId | null = null): Reader {
  const sharedBy = (grants.byResource.get(id as DeliverableId) ?? []).map(({ workspaceId }) => workspaceId);
  return { accounts: [...accounts], workspaces: [...workspaces.keys()], sharedBy, linked };
}
