/** The SQL of `version_approval`. */
import type { ArtifactId, UserId, VersionId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';

/** Records one approval of a person, whichever linked account it comes from. False where there is one already. */
export async function insertApproval(tx: Queries, id: VersionId, userId: UserId, accounts: Accounts, nowMs: number): Promise<boolean> {
  const rows = await tx`
    insert into version_approval (version_id, user_id, created_at_ms)
    select ${id}, ${userId}, ${nowMs}
    where not exists (select 1 from version_approval where version_id = ${id} and user_id = any(${accounts as UserId[]}))
    returning user_id`;
  return rows.length > 0;
}

/** Whether the person of this account has published the version, by any linked account as the database has them now. */
export async function isAuthor(tx: Queries, id: VersionId, userId: UserId): Promise<boolean> {
  const rows = await tx`
    select 1 from artifact_version v join account w on w.id = v.author_id join account me on me.person_id = w.person_id
    where v.id = ${id} and me.id = ${userId}`;
  return rows.length > 0;
}

export async function deleteApprovals(tx: Queries, id: VersionId, accounts: Accounts): Promise<number> {
  return (await tx`delete from version_approval where version_id = ${id} and user_id = any(${accounts as UserId[]})`).count;
}

/** How many people have approved a version who run the workspace now. Linked accounts are one person, and its author is none of them. */
export async function countApprovers(tx: Queries, id: VersionId, workspaceId: WorkspaceId): Promise<number> {
  const [row] = await tx<{ total: number }[]>`
    select count(distinct a.person_id)::int as total
    from version_approval p join account a on a.id = p.user_id
    where p.version_id = ${id}
      and exists (
        select 1 from account b join workspace_member m on m.user_id = b.id
        where b.person_id = a.person_id and m.workspace_id = ${workspaceId} and m.role in ('owner', 'admin'))
      and not exists (
        select 1 from artifact_version v join account w on w.id = v.author_id where v.id = ${id} and w.person_id = a.person_id)`;
  return row?.total ?? 0;
}

export async function publishApproved(tx: Queries, id: VersionId, nowMs: number): Promise<void> {
  await tx`
    update artifact_version set is_draft = false, waiting_since_ms = null, approved_at_ms = ${nowMs}
    where id = ${id} and waiting_since_ms is not null`;
}

export interface ApprovalRow {
  readonly version_id: VersionId;
  readonly version_no: number;
  readonly user_id: UserId;
  readonly name: string | null;
  readonly email: string | null;
  readonly created_at_ms: number;
}

/** Of all versions, newest first. */
export function listApprovals(sql: Queries, id: ArtifactId, rowsMax: number) {
  return sql<ApprovalRow[]>`
    select p.version_id, v.version_no, p.user_id, coalesce(nullif(a.name, ''), a.username) as name, a.email, p.created_at_ms
    from version_approval p join artifact_version v on v.id = p.version_id join account a on a.id = p.user_id
    where v.artifact_id = ${id}
    order by p.created_at_ms desc, v.version_no desc, p.user_id limit ${rowsMax}`;
}

export async function listOwnApprovals(sql: Queries, id: ArtifactId, accounts: Accounts, rowsMax: number): Promise<VersionId[]> {
  const rows = await sql<{ version_id: VersionId }[]>`
    select distinct p.version_id, v.version_no from version_approval p join artifact_version v on v.id = p.version_id
    where v.artifact_id = ${id} and p.user_id = any(${accounts as UserId[]})
    order by v.version_no desc limit ${rowsMax}`;
  return rows.map(({ version_id }) => version_id);
}
