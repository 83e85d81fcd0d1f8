/** The SQL of `artifact` and `favorite`. */

import type { ArtifactHead, FolderOfHead } from '../../../../actors/access/access.ts';
import type { Visibility } from '../../../../protocol/artifacts/artifacts.ts';
import { RETENTION } from '../../../../protocol/business/retention.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ArtifactId, type FolderId, newId, type UserId, type VersionId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';
import type { Holder } from '../../people/usage/rows.ts';
import { type FolderHead, folderHeadColumns } from '../../workspaces/folders/rows.ts';
import type { VisibilityChange } from './rules.ts';

export interface ArtifactRow {
  readonly id: ArtifactId;
  readonly owner_id: UserId | null;
  readonly workspace_id: WorkspaceId | null;
  readonly folder_id: FolderId | null;
  readonly folder: FolderHead | null;
  readonly kind: 'page' | 'skill';
  readonly name: string;
  readonly slug: string;
  readonly visibility: Visibility;
  readonly has_password: boolean;
  /** A visibility that is held until a plan allows it. */
  readonly requested_visibility: 'public' | null;
  readonly allow_anon_write: boolean;
  readonly allow_anon_email: boolean;
  readonly allow_anon_agent: boolean;
  readonly allow_anon_collab: boolean;
  readonly social_title: string | null;
  readonly social_description: string | null;
  readonly social_image_url: string | null;
  readonly live_version_id: VersionId | null;
  readonly live_version_no: number | null;
  readonly pinned_version_id: VersionId | null;
  readonly last_version_no: number;
  /** Of the live version; null where nobody has asked for a picture of it. */
  readonly thumbnail: 'asked' | 'ready' | null;
  readonly is_favorite: boolean;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly deleted_at_ms: number | null;
}

/** How long an artifact stays in the trash. */
export const RETENTION_MS = RETENTION.artifacts.keptMs;

/** The columns of an `ArtifactRow`, from artifact `a` and its live version `lv`. `viewers`: the accounts of the person whose favourite mark is read. */
export function artifactColumns(sql: Queries, viewers: Accounts) {
  return sql`
    a.id, a.owner_id, a.workspace_id, a.folder_id,
    (select to_json(h) from (select ${folderHeadColumns(sql)} from folder f where f.id = a.folder_id) h) as folder,
    a.kind, a.name, a.slug, a.visibility, a.password_hash is not null as has_password, a.requested_visibility,
    a.allow_anon_write, a.allow_anon_email, a.allow_anon_agent, a.allow_anon_collab,
    a.social_title, a.social_description, a.social_image_url,
    a.live_version_id, lv.version_no as live_version_no, a.pinned_version_id, a.last_version_no,
    (select case when t.sha256 is null then 'asked' else 'ready' end from thumbnail t
      where t.artifact_id = a.id and t.version_id = a.live_version_id) as thumbnail,
    exists (select 1 from favorite f where f.artifact_id = a.id and f.user_id = any(${viewers})) as is_favorite,
    a.created_at_ms, a.updated_at_ms, a.deleted_at_ms`;
}

/** For whom an artifact counts: its owner, or its workspace. */
export function holderOfRow({ id, owner_id, workspace_id }: Pick<ArtifactRow, 'id' | 'owner_id' | 'workspace_id'>): Holder {
  const holder = owner_id ?? workspace_id;
  if (holder === null) throw new Error(`the artifact ${id} has neither an owner nor a workspace`);
  return holder;
}

/** One artifact, live or in the trash. */
export async function readArtifact(sql: Queries, id: ArtifactId, viewers: Accounts): Promise<ArtifactRow | null> {
  const [row] = await sql<ArtifactRow[]>`
    select ${artifactColumns(sql, viewers)}
    from artifact a left join artifact_version lv on lv.id = a.live_version_id
    where a.id = ${id}`;
  return row ?? null;
}

/** One live artifact, for a caller whose access is decided. Throws ARTIFACT_NOT_FOUND when it was deleted since. */
export async function requireArtifact(sql: Queries, id: ArtifactId, viewers: Accounts): Promise<ArtifactRow> {
  const row = await readArtifact(sql, id, viewers);
  if (row === null || row.deleted_at_ms !== null) throw new Failure('ARTIFACT_NOT_FOUND');
  return row;
}

/** Locks the row of an artifact until the transaction ends. Read it in a later statement: only that one sees what the last writer left. */
export async function lockRow(tx: Queries, id: ArtifactId): Promise<void> {
  await tx`select 1 from artifact where id = ${id} for update`;
}

/** Locks one live artifact against other changes until the transaction ends. Throws ARTIFACT_NOT_FOUND. */
export async function lockArtifact(tx: Queries, id: ArtifactId, viewers: Accounts): Promise<ArtifactRow> {
  await lockRow(tx, id);
  return requireArtifact(tx, id, viewers);
}

/** Whose the live artifact with this slug is; null when the slug is free. */
export async function readSlugOwner(sql: Queries, slug: string): Promise<Pick<ArtifactRow, 'id' | 'owner_id' | 'workspace_id'> | null> {
  const [row] = await sql<Pick<ArtifactRow, 'id' | 'owner_id' | 'workspace_id'>[]>`
    select id, owner_id, workspace_id from artifact where slug = ${slug} and deleted_at_ms is null`;
  return row ?? null;
}

interface HeadRow {
  readonly id: ArtifactId;
  readonly slug: string;
  readonly owner_id: UserId | null;
  readonly workspace_id: WorkspaceId | null;
  readonly folder_id: FolderId | null;
  readonly folder_visibility: FolderOfHead['visibility'];
  readonly folder_guests: boolean | null;
  readonly folder_reach: readonly FolderId[];
  readonly visibility: Visibility;
  readonly allow_anon_write: boolean;
  readonly allow_anon_collab: boolean;
  readonly live_version_id: VersionId | null;
  readonly deleted_at_ms: number | null;
  readonly is_suspended: boolean;
  readonly collaborators: Readonly<Record<UserId, 'editor' | 'viewer'>>;
}

/** The head of an artifact, live or in the trash, as this transaction sees it. */
export async function readHead(sql: Queries, id: ArtifactId): Promise<ArtifactHead | null> {
  const [row] = await sql<HeadRow[]>`
    select a.id, a.slug, a.owner_id, a.workspace_id, a.visibility, a.allow_anon_write, a.allow_anon_collab,
      a.live_version_id, a.deleted_at_ms, ${isSuspended(sql)} as is_suspended, f.id as folder_id,
      case when f.workspace_id is not null then folder_visibility(f.id) end as folder_visibility,
      case when a.folder_id is not null then folder_guests(a.folder_id) end as folder_guests,
      case when f.workspace_id is not null then folder_reach(f.id) else '{}'::text[] end as folder_reach,
      coalesce((select json_object_agg(c.user_id, c.role) from collaborator c where c.artifact_id = a.id), '{}') as collaborators
    from artifact a left join folder f on f.id = a.folder_id where a.id = ${id}`;
  if (row === undefined) return null;
  return {
    id: row.id,
    slug: row.slug,
    ownerId: row.owner_id,
    workspaceId: row.workspace_id,
    folder:
      row.folder_id === null
        ? null
        : { id: row.folder_id, visibility: row.folder_visibility, guestComments: row.folder_guests ?? false, reach: row.folder_reach },
    visibility: row.visibility,
    allowAnonWrite: row.allow_anon_write,
    allowAnonCollab: row.allow_anon_collab,
    liveVersionId: row.live_version_id,
    deletedAtMs: row.deleted_at_ms,
    collaborators: new Map(Object.entries(row.collaborators) as [UserId, 'editor' | 'viewer'][]),
    isSuspended: row.is_suspended,
  };
}

/** Of artifact `a`: it, or the workspace that it is in. */
export function isSuspended(sql: Queries) {
  return sql`
    (a.suspended_at_ms is not null
      or exists (select from workspace s where s.id = a.workspace_id and s.suspended_at_ms is not null))`;
}

export interface NewArtifact {
  /** Null where the workspace owns it. */
  readonly ownerId: UserId | null;
  readonly workspaceId: WorkspaceId | null;
  readonly folderId: FolderId | null;
  readonly name: string;
  readonly slug: string;
  readonly nowMs: number;
}

/** Makes a private artifact without versions; null when the slug is taken. */
export async function insertArtifact(tx: Queries, spec: NewArtifact): Promise<ArtifactId | null> {
  const id = newId('artifact');
  const rows = await tx`
    insert into artifact (id, owner_id, workspace_id, folder_id, name, slug, visibility, created_at_ms, updated_at_ms)
    values (
      ${id}, ${spec.ownerId}, ${spec.workspaceId}, ${spec.folderId}, ${spec.name}, ${spec.slug}, 'private', ${spec.nowMs}, ${spec.nowMs})
    on conflict (slug) where deleted_at_ms is null do nothing
    returning id`;
  return rows.length === 0 ? null : id;
}

export type ArtifactFields = Pick<
  ArtifactRow,
  | 'workspace_id'
  | 'folder_id'
  | 'name'
  | 'slug'
  | 'allow_anon_write'
  | 'allow_anon_email'
  | 'allow_anon_agent'
  | 'allow_anon_collab'
  | 'social_title'
  | 'social_description'
  | 'social_image_url'
>;

export async function writeFields(
  tx: Queries,
  id: ArtifactId,
  next: ArtifactFields,
  { visibility, passwordHash }: VisibilityChange,
  atMs: number,
): Promise<void> {
  await tx`
    update artifact set
      workspace_id = ${next.workspace_id}, folder_id = ${next.folder_id},
      name = ${next.name}, slug = ${next.slug}, visibility = ${visibility},
      password_hash = case when ${passwordHash === undefined} then password_hash else ${passwordHash ?? null} end,
      allow_anon_write = ${next.allow_anon_write}, allow_anon_email = ${next.allow_anon_email},
      allow_anon_agent = ${next.allow_anon_agent}, allow_anon_collab = ${next.allow_anon_collab},
      social_title = ${next.social_title}, social_description = ${next.social_description}, social_image_url = ${next.social_image_url},
      updated_at_ms = ${atMs}
    where id = ${id}`;
}

export interface PublishedFields {
  readonly name: string;
  readonly slug: string;
  readonly liveVersionId: VersionId | null;
  readonly versionNo: number;
  readonly visibility: VisibilityChange;
  readonly folderId: FolderId | null;
  readonly atMs: number;
}

/** What a publish changes beside the new version's own rows. */
export async function writePublished(tx: Queries, id: ArtifactId, change: PublishedFields): Promise<void> {
  const { visibility, passwordHash } = change.visibility;
  await tx`
    update artifact set
      folder_id = ${change.folderId}, name = ${change.name}, slug = ${change.slug}, visibility = ${visibility},
      password_hash = case when ${passwordHash === undefined} then password_hash else ${passwordHash ?? null} end,
      live_version_id = ${change.liveVersionId}, last_version_no = ${change.versionNo}, updated_at_ms = ${change.atMs}
    where id = ${id}`;
}

export interface ImportedFields extends Omit<ArtifactFields, 'name' | 'slug' | 'workspace_id' | 'folder_id'> {
  readonly visibility: Visibility;
  readonly versionId: VersionId;
  /** The `seq` of the last imported change. */
  readonly seq: number;
}

/** Fills in an artifact that an import has just made, with its only version live. */
export async function writeImported(tx: Queries, id: ArtifactId, fields: ImportedFields): Promise<void> {
  await tx`
    update artifact set visibility = ${fields.visibility},
      allow_anon_write = ${fields.allow_anon_write}, allow_anon_email = ${fields.allow_anon_email},
      allow_anon_agent = ${fields.allow_anon_agent}, allow_anon_collab = ${fields.allow_anon_collab},
      social_title = ${fields.social_title}, social_description = ${fields.social_description},
      social_image_url = ${fields.social_image_url},
      live_version_id = ${fields.versionId}, last_version_no = 1, seq = ${fields.seq}
    where id = ${id}`;
}

export interface Pointers {
  readonly live: VersionId | null;
  readonly pinned: VersionId | null;
}

export async function writePointers(tx: Queries, id: ArtifactId, { live, pinned }: Pointers, atMs: number): Promise<void> {
  await tx`
    update artifact set live_version_id = ${live}, pinned_version_id = ${pinned}, updated_at_ms = ${atMs}
    where id = ${id}`;
}

/** Files an artifact, or with null takes it out of its folder. */
export async function writeFolder(tx: Queries, id: ArtifactId, folderId: FolderId | null, atMs: number): Promise<void> {
  await tx`update artifact set folder_id = ${folderId}, updated_at_ms = ${atMs} where id = ${id}`;
}

/** Gives an artifact to somebody. What its former owner has asked for and was held is no wish of theirs. */
export async function writeOwner(
  tx: Queries,
  id: ArtifactId,
  { ownerId, folderId }: { readonly ownerId: UserId; readonly folderId: FolderId | null },
  atMs: number,
): Promise<void> {
  await tx`
    update artifact set owner_id = ${ownerId}, folder_id = ${folderId}, updated_at_ms = ${atMs},
      requested_visibility = null, requested_by = null, requested_agent = null, requested_at_ms = null
    where id = ${id}`;
}

export async function insertFavorite(sql: Queries, userId: UserId, artifactId: ArtifactId, nowMs: number): Promise<void> {
  await sql`
    insert into favorite (user_id, artifact_id, created_at_ms) values (${userId}, ${artifactId}, ${nowMs})
    on conflict (user_id, artifact_id) do nothing`;
}

export async function deleteFavorite(sql: Queries, accounts: Accounts, artifactId: ArtifactId): Promise<void> {
  await sql`delete from favorite where user_id = any(${accounts}) and artifact_id = ${artifactId}`;
}
