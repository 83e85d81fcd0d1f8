/** The SQL of `folder`. */
import type { ArtifactId, FolderId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

/** What says who may do what with a folder. */
export interface FolderHead {
  readonly id: FolderId;
  /** Null for a personal folder of `ownerId`. */
  readonly workspaceId: WorkspaceId | null;
  readonly ownerId: UserId | null;
  readonly makerId: UserId | null;
  /** What the visibility of a Team Space folder comes to; null for a personal one. */
  readonly visibility: EffectiveVisibility | null;
  /** The folders whose grants reach what is in this one, itself included; none for a personal one. */
  readonly reach: readonly FolderId[];
}

export type EffectiveVisibility = 'public' | 'workspace' | 'private';

/** The columns of a `FolderHead`, from folder `f`. */
export function folderHeadColumns(sql: Queries) {
  return sql`
    f.id, f.workspace_id as "workspaceId", f.owner_id as "ownerId", f.created_by as "makerId",
    case when f.workspace_id is not null then folder_visibility(f.id) end as visibility,
    case when f.workspace_id is not null then folder_reach(f.id) else '{}'::text[] end as reach`;
}

/** The folders of a deleted workspace are gone with it. */
export async function readFolderHead(sql: Queries, id: FolderId): Promise<FolderHead | null> {
  const [row] = await sql<FolderHead[]>`
    select ${folderHeadColumns(sql)}
    from folder f left join workspace w on w.id = f.workspace_id
    where f.id = ${id} and w.deleted_at_ms is null`;
  return row ?? null;
}

/** Whose folders: those of a workspace, or the personal ones of an account. */
export type FolderScope =
  | { readonly workspaceId: WorkspaceId; readonly ownerId: null }
  | { readonly workspaceId: null; readonly ownerId: UserId };

export interface FolderRow {
  readonly id: FolderId;
  readonly workspace_id: WorkspaceId | null;
  readonly owner_id: UserId | null;
  readonly parent_id: FolderId | null;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly visibility: 'inherit' | EffectiveVisibility;
  readonly guest_comments: boolean | null;
  readonly created_by: UserId | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

/** Makes changes of one scope's folders wait for each other until the transaction ends. Take it before any row of an artifact. */
export async function lockFolders(tx: Queries, scope: FolderScope): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${lockName(scope)}, 0))`;
}

/** Keeps a scope's folders as they are until the transaction ends, for who files something in one. */
export async function holdFolders(tx: Queries, scope: FolderScope): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(hashtextextended(${lockName(scope)}, 0))`;
}

function lockName({ workspaceId, ownerId }: FolderScope): string {
  return `folders:${workspaceId ?? ownerId}`;
}

/** All folders of a workspace, or of the linked accounts of a person. Their number is bounded. */
export function listFolders(sql: Queries, of: { readonly workspaceId: WorkspaceId } | { readonly owners: readonly UserId[] }) {
  return sql<FolderRow[]>`
    select id, workspace_id, owner_id, parent_id, slug, name, description, visibility, guest_comments, created_by, created_at_ms, updated_at_ms
    from folder where ${'workspaceId' in of ? sql`workspace_id = ${of.workspaceId}` : sql`owner_id = any(${[...of.owners]})`}
    order by name, id`;
}

export async function readReadme(sql: Queries, id: FolderId): Promise<string | null> {
  const [row] = await sql<{ readme: string | null }[]>`select readme from folder where id = ${id}`;
  return row?.readme ?? null;
}

export async function insertFolder(tx: Queries, row: FolderRow, readme: string | null): Promise<void> {
  await tx`
    insert into folder (
      id, workspace_id, owner_id, parent_id, slug, name, description, visibility, readme, guest_comments, created_by, created_at_ms,
      updated_at_ms)
    values (
      ${row.id}, ${row.workspace_id}, ${row.owner_id}, ${row.parent_id}, ${row.slug}, ${row.name}, ${row.description}, ${row.visibility},
      ${readme}, ${row.guest_comments}, ${row.created_by}, ${row.created_at_ms}, ${row.updated_at_ms})`;
}

/** `readme` undefined leaves it as it is. */
export async function updateFolder(tx: Queries, row: FolderRow, readme: string | null | undefined): Promise<void> {
  await tx`
    update folder set
      parent_id = ${row.parent_id}, slug = ${row.slug}, name = ${row.name}, description = ${row.description}, visibility = ${row.visibility},
      readme = case when ${readme === undefined} then readme else ${readme ?? null} end,
      guest_comments = ${row.guest_comments}, updated_at_ms = ${row.updated_at_ms}
    where id = ${row.id}`;
}

export async function deleteFolder(tx: Queries, id: FolderId): Promise<void> {
  await tx`delete from folder where id = ${id}`;
}

export interface Unfiled {
  readonly id: ArtifactId;
  readonly slug: string;
  readonly isLive: boolean;
}

/**
 * Takes everything out of a folder. `narrowed`: the folder came to be private, so what was open to members outside of it becomes private
 * itself; it stays with whom it was.
 */
export function unfileAll(tx: Queries, id: FolderId, narrowed: boolean): Promise<Unfiled[]> {
  return tx<Unfiled[]>`
    update artifact set
      folder_id = null, updated_at_ms = updated_at_ms + 1,
      visibility = case when ${narrowed} and visibility = 'workspace' then 'private' else visibility end
    where folder_id = ${id}
    returning id, slug, deleted_at_ms is null as "isLive"`;
}
