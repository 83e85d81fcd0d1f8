/** Where a caller may list, publish and file: the workspaces of which they are members, and the folders that they see. */
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { FolderId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { WorkspaceDirectory } from '../workspaces/directory.ts';
import { type FolderHead, readFolderHead } from './rows.ts';
import { folderRoleOf } from './rules.ts';

/** The workspace with this id or slug. Throws FORBIDDEN for who is no member, whether or not there is one. `param`: the field that names it. */
export async function memberOf(
  workspaces: WorkspaceDirectory,
  principal: Principal,
  ref: string,
  param = 'workspace_id',
): Promise<WorkspaceId> {
  const seat = await workspaces.find(ref, principal);
  if (seat === null) throw new Failure('FORBIDDEN', { param, message: 'You are not a member of this workspace.' });
  return seat.id;
}

export async function seesFolder(sql: Queries, principal: Principal, id: FolderId): Promise<boolean> {
  const head = await readFolderHead(sql, id);
  return head !== null && folderRoleOf(head, principal) !== null;
}

/** Throws FOLDER_NOT_FOUND. */
export async function seenFolder(sql: Queries, principal: Principal, id: FolderId): Promise<FolderHead> {
  const head = await readFolderHead(sql, id);
  if (head === null || folderRoleOf(head, principal) === null) throw new Failure('FOLDER_NOT_FOUND', { param: 'folder_id' });
  return head;
}
