/** The SQL of whom access to an artifact concerns. */
import type { ArtifactHead } from '../../../../actors/access/access.ts';
import type { ExternalId, FolderId, ShareeId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface ExternalRow {
  readonly id: ExternalId;
  readonly email: string;
  readonly sharees: readonly ShareeId[];
}

/** Those outside with whom the artifact or one of these folders is shared, and those whom a planned grant names. */
export function listConcerned(
  sql: Queries,
  workspaceId: WorkspaceId,
  resources: readonly string[],
  planned: { readonly shareeId: ShareeId | null; readonly externalId: ExternalId | null },
  rowsMax: number,
): Promise<ExternalRow[]> {
  return sql<ExternalRow[]>`
    select e.id, e.email, array(select m.sharee_id from sharee_member m where m.external_id = e.id order by 1) as sharees
    from external_user e where e.workspace_id = ${workspaceId} and e.id in (
      select g.external_id from access_grant g
      where g.workspace_id = ${workspaceId} and coalesce(g.artifact_id, g.folder_id) = any(${[...resources]}::text[]) and g.external_id is not null
      union select m.external_id from access_grant g join sharee_member m on m.sharee_id = g.sharee_id
      where g.workspace_id = ${workspaceId} and coalesce(g.artifact_id, g.folder_id) = any(${[...resources]}::text[])
      union select m.external_id from sharee_member m where m.sharee_id = ${planned.shareeId}
      union select ${planned.externalId}::text)
    order by e.id limit ${rowsMax}`;
}

export async function listMemberIds(sql: Queries, workspaceId: WorkspaceId, rowsMax: number): Promise<UserId[]> {
  const rows = await sql<{ user_id: UserId }[]>`
    select user_id from workspace_member where workspace_id = ${workspaceId} order by user_id limit ${rowsMax}`;
  return rows.map(({ user_id }) => user_id);
}

export interface AccountRow {
  readonly id: UserId;
  readonly email: string | null;
  readonly name: string | null;
}

/** These accounts, and those that have proved one of these addresses. */
export function listAccounts(sql: Queries, ids: readonly UserId[], emails: readonly string[]): Promise<AccountRow[]> {
  return sql<AccountRow[]>`
    select id, lower(email) as email, coalesce(nullif(name, ''), username) as name from account
    where id = any(${[...ids]}::text[]) or lower(email) = any(${[...emails]}::text[])
    order by created_at_ms, id`;
}

export async function findExternal(sql: Queries, workspaceId: WorkspaceId, email: string): Promise<ExternalId | null> {
  const [row] = await sql<{ id: ExternalId }[]>`select id from external_user where workspace_id = ${workspaceId} and email = ${email}`;
  return row?.id ?? null;
}

/** A folder as the head of an artifact in it has it. */
export async function readFolderOfHead(sql: Queries, id: FolderId): Promise<NonNullable<ArtifactHead['folder']> | null> {
  const [row] = await sql<NonNullable<ArtifactHead['folder']>[]>`
    select f.id, case when f.workspace_id is not null then folder_visibility(f.id) end as visibility, folder_guests(f.id) as "guestComments",
      case when f.workspace_id is not null then folder_reach(f.id) else '{}'::text[] end as reach
    from folder f where f.id = ${id}`;
  return row ?? null;
}

/** Keeps the members of a workspace and what it shares as they are until the transaction ends. */
export async function holdWorkspace(tx: Queries, id: WorkspaceId): Promise<void> {
  await tx`select 1 from workspace where id = ${id} for update`;
}
