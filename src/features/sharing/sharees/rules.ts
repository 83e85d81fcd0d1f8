/** What a workspace may share and how much, decided without I/O. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { requireAllowed } from '../../business/tiers/rules.ts';
import type { WorkspaceRow } from '../../workspaces/workspaces/rows.ts';

/** Throws EXTERNAL_SHARING_NOT_ENTITLED. What was shared before stays in the lists and can be taken back, and opens nothing meanwhile. */
export function requireEntitled(workspace: WorkspaceRow): void {
  requireAllowed(workspace, 'collab.external_sharing');
}

/** Throws WORKSPACE_LIMIT_EXCEEDED. */
export function requireRoom(there: number, most: number, what: string): void {
  if (there < most) return;
  throw new Failure('WORKSPACE_LIMIT_EXCEEDED', {
    message: `There may be ${most} ${what}.`,
    hint: 'Delete some that are not used any more.',
  });
}
