/** Files artifacts in folders. A move changes where an artifact is found, never its own visibility. */
import { administers, decide, type Principal, roleOf, workspaceRoleOf } from '../../../../actors/access/access.ts';
import type { Conditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, FolderId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { type ArtifactRow, lockArtifact, readHead, writeFolder } from '../../artifacts/artifacts/rows.ts';
import { changeTimeMs } from '../../artifacts/artifacts/rules.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { checkSimulated } from '../../sharing/explain/revision.ts';
import { type FolderHead, holdFolders, readFolderHead } from './rows.ts';
import { folderRoleOf } from './rules.ts';

type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'bus'>;

/** Where something may be filed: in the folders of a workspace, or in the caller's personal ones. */
type Place = { readonly workspaceId: WorkspaceId } | 'personal';

/**
 * A folder that the caller sees, kept as it is until the transaction ends. Call it before any row of an artifact is locked. `found`: as it was
 * read a moment ago. Throws FOLDER_NOT_FOUND.
 */
export async function holdFolder(tx: Queries, principal: Principal, place: Place, id: FolderId, found?: FolderHead): Promise<FolderHead> {
  const before = found ?? (await readFolderHead(tx, id));
  if (before !== null) await holdFolders(tx, scopeOf(before));
  // Read again under the lock: it may have been moved or deleted meanwhile.
  const head = before === null ? null : await readFolderHead(tx, id);
  const isThere = head !== null && (place === 'personal' ? head.workspaceId === null : head.workspaceId === place.workspaceId);
  if (head === null || !isThere || folderRoleOf(head, principal) === null) throw new Failure('FOLDER_NOT_FOUND', { param: 'folder_id' });
  return head;
}

function scopeOf({ workspaceId, ownerId, id }: FolderHead) {
  if (workspaceId !== null) return { workspaceId, ownerId: null };
  if (ownerId !== null) return { workspaceId: null, ownerId };
  throw new Error(`the folder ${id} belongs to nobody`);
}

export interface Move {
  readonly before: ArtifactRow;
  readonly folder: FolderHead | null;
}

/**
 * Files a live artifact of this workspace, or with `workspaceId` null one of no workspace. Throws ARTIFACT_NOT_FOUND, FOLDER_NOT_FOUND, and
 * FORBIDDEN for who may neither edit it nor run its workspace.
 */
export async function fileArtifact(
  { sql, clock, bus }: Deps,
  principal: Principal,
  { id, workspaceId, folderId }: { readonly id: ArtifactId; readonly workspaceId: WorkspaceId | null; readonly folderId: FolderId | null },
  record: (tx: Queries, move: Move) => Promise<void>,
  conditions: Conditions,
): Promise<void> {
  const moved = await sql.begin(async (tx) => {
    await checkSimulated(tx, conditions, id, { folder_id: folderId }, clock.nowMs());
    const place = workspaceId === null ? ('personal' as const) : { workspaceId };
    // Of a workspace also where there is no folder to go to: the one that it leaves may not change meanwhile.
    if (workspaceId !== null) await holdFolders(tx, { workspaceId, ownerId: null });
    const folder = folderId === null ? null : await holdFolder(tx, principal, place, folderId);
    const before = await lockArtifact(tx, id, accountsOf(principal));
    const head = await readHead(tx, id);
    if (before.workspace_id !== workspaceId || decide(head, principal, 'view', 'artifacts:publish') !== 'allowed' || head === null) {
      throw new Failure('ARTIFACT_NOT_FOUND');
    }
    requireMover(before, folder, roleOf(head, principal), workspaceId !== null && administers(workspaceRoleOf(principal, workspaceId)));
    if (before.folder_id === folderId) return before;
    await writeFolder(tx, id, folderId, changeTimeMs(before, clock.nowMs()));
    await record(tx, { before, folder });
    return before;
  });
  if (moved.folder_id !== folderId) bus.tell({ kind: 'artifact.changed', artifactId: id, slugs: [moved.slug] });
}

/**
 * Throws FORBIDDEN. Who runs the workspace may file what others own, except out of a private folder where that would open it to all members:
 * that is as good as changing its visibility, which only its editors may.
 */
function requireMover(before: ArtifactRow, to: FolderHead | null, role: ReturnType<typeof roleOf>, runsWorkspace: boolean): void {
  if (role === 'owner' || role === 'editor') return;
  const opens = before.visibility === 'workspace' && before.folder?.visibility === 'private' && to?.visibility !== 'private';
  if (!runsWorkspace)
    throw new Failure('FORBIDDEN', { message: 'Only editors of the artifact, and owners and admins of the workspace, may move it.' });
  if (opens) {
    throw new Failure('FORBIDDEN', {
      message: 'Outside of this private folder every member would see the artifact, so only its owner and editors may move it out.',
      hint: 'Ask its owner, or move it to another private folder.',
    });
  }
}
