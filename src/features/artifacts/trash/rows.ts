/** The SQL of the trash: artifacts with a time of deletion. */
import type { ArtifactId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Statement } from '../../../storage/sql.ts';
import type { Queries } from '../../deps.ts';
import type { Viewer } from '../artifacts/lists.ts';
import { type ArtifactRow, artifactColumns } from '../artifacts/rows.ts';

export async function writeDeleted(tx: Queries, id: ArtifactId, deletedAtMs: number, changeMs: number): Promise<void> {
  await tx`update artifact set deleted_at_ms = ${deletedAtMs}, updated_at_ms = ${changeMs} where id = ${id}`;
}

export async function writeRestored(tx: Queries, id: ArtifactId, slug: string, changeMs: number): Promise<void> {
  await tx`update artifact set deleted_at_ms = null, slug = ${slug}, updated_at_ms = ${changeMs} where id = ${id}`;
}

export interface Trash {
  readonly viewer: Viewer;
  /** Null for that of all workspaces and of none. */
  readonly workspaceId: WorkspaceId | null;
  /** Only what was deleted after this. */
  readonly sinceMs: number;
}

/** Whether the caller may restore artifact `a`: it is their own, or of a workspace that they run. */
function isInTrash(sql: Queries, { viewer, workspaceId, sinceMs }: Trash): Statement {
  return sql`
    a.deleted_at_ms > ${sinceMs}
    and (a.owner_id = any(${viewer.accounts}) or (a.owner_id is null and a.workspace_id = any(${[...viewer.runs]})))
    ${workspaceId === null ? sql`` : sql`and a.workspace_id = ${workspaceId}`}`;
}

/** Last deleted first. */
export function listTrash(sql: Queries, trash: Trash, after: PageKey, rowsMax: number) {
  return sql<ArtifactRow[]>`
    select ${artifactColumns(sql, trash.viewer.accounts)}
    from artifact a left join artifact_version lv on lv.id = a.live_version_id
    where ${isInTrash(sql, trash)}
      and (a.deleted_at_ms < ${after.number} or (a.deleted_at_ms = ${after.number} and a.id > ${after.id}))
    order by a.deleted_at_ms desc, a.id limit ${rowsMax}`;
}

export async function countTrash(sql: Queries, trash: Trash): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from artifact a where ${isInTrash(sql, trash)}`;
  return row?.total ?? 0;
}
