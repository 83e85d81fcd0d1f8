/** Changes of folders that would open what is in them to people outside. */
import { administers, type Principal, workspaceRoleOf } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { FolderTree } from './tree.ts';

/**
 * Throws FORBIDDEN where a folder comes into the reach of something that is shared outside and the caller does not run the workspace: only those who
 * do may share.
 */
export async function requireMayOpen(
  tx: Queries,
  { principal, nowMs }: { readonly principal: Principal; readonly nowMs: number },
  workspaceId: WorkspaceId | null,
  before: FolderTree,
  after: FolderTree,
): Promise<void> {
  if (workspaceId === null || administers(workspaceRoleOf(principal, workspaceId))) return;
  const gained = after.all.flatMap((row) => {
    const was = before.get(row.id);
    const had = was === undefined ? [] : before.reachOf(was);
    return after.reachOf(row).filter((id) => !had.includes(id));
  });
  if (gained.length === 0) return;
  const [shared] = await tx`
    select 1 from access_grant where folder_id = any(${[...new Set(gained)]}::text[]) and (expires_at_ms is null or expires_at_ms > ${nowMs}) limit 1`;
  if (shared === undefined) return;
  throw new Failure('FORBIDDEN', {
    message: 'What is in this folder would be shared with people outside, which only owners and admins of the workspace may do.',
    hint: 'Ask an owner or admin of the workspace.',
  });
}
