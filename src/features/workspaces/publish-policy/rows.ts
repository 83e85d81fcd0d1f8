/** The SQL of `publish_policy`, and of the versions that wait. */
import type { ArtifactId, UserId, VersionId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PublishPolicy } from '../../../../protocol/workspaces/publish-policy.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';

const DEFAULT_POLICY: PublishPolicy = { policy: 'allow', approvals_required: 1 };

export async function readPolicy(sql: Queries, workspaceId: WorkspaceId): Promise<PublishPolicy> {
  const [row] = await sql<PublishPolicy[]>`select policy, approvals_required from publish_policy where workspace_id = ${workspaceId}`;
  return row ?? DEFAULT_POLICY;
}

/** The same, with changes of it waiting for each other until the transaction ends. */
export async function lockPolicy(tx: Queries, workspaceId: WorkspaceId): Promise<PublishPolicy> {
  await tx`select 1 from workspace where id = ${workspaceId} for update`;
  return readPolicy(tx, workspaceId);
}

export async function writePolicy(tx: Queries, workspaceId: WorkspaceId, { policy, approvals_required }: PublishPolicy): Promise<void> {
  await tx`
    insert into publish_policy (workspace_id, policy, approvals_required) values (${workspaceId}, ${policy}, ${approvals_required})
    on conflict (workspace_id) do update set policy = excluded.policy, approvals_required = excluded.approvals_required`;
}

/** Whether one of these accounts runs the workspace, as the database has it now. */
export async function runsWorkspace(sql: Queries, workspaceId: WorkspaceId, accounts: Accounts): Promise<boolean> {
  const rows = await sql`
    select 1 from workspace_member
    where workspace_id = ${workspaceId} and user_id = any(${accounts as UserId[]}) and role in ('owner', 'admin') limit 1`;
  return rows.length > 0;
}

/** How many people can approve. */
export async function countReviewers(sql: Queries, workspaceId: WorkspaceId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(distinct a.person_id)::int as total from workspace_member m join account a on a.id = m.user_id
    where m.workspace_id = ${workspaceId} and m.role in ('owner', 'admin')`;
  return row?.total ?? 0;
}

export interface WaitingRow {
  readonly artifact_id: ArtifactId;
  readonly artifact_name: string;
  readonly artifact_slug: string;
  readonly version_id: VersionId;
  readonly version_no: number;
  readonly label: string | null;
  readonly note: string | null;
  readonly author_id: UserId | null;
  readonly author_name: string | null;
  readonly waiting_since_ms: number;
  readonly approved_by: { readonly id: UserId; readonly name: string | null }[];
}

/** `authors`: only versions by these accounts; null for all. */
function waiting(sql: Queries, workspaceId: WorkspaceId, authors: Accounts | null) {
  return sql`
    from artifact_version v join artifact r on r.id = v.artifact_id left join account a on a.id = v.author_id
    where v.waiting_since_ms is not null and r.workspace_id = ${workspaceId} and r.deleted_at_ms is null
      and (${authors === null} or v.author_id = any(${(authors ?? []) as UserId[]}))`;
}

/** Last published first. */
export function listWaiting(sql: Queries, workspaceId: WorkspaceId, authors: Accounts | null, after: PageKey, rowsMax: number) {
  return sql<WaitingRow[]>`
    select r.id as artifact_id, r.name as artifact_name, r.slug as artifact_slug, v.id as version_id, v.version_no, v.label, v.note,
      v.author_id, coalesce(nullif(a.name, ''), a.username) as author_name, v.waiting_since_ms,
      coalesce((
        select json_agg(json_build_object('id', p.user_id, 'name', coalesce(nullif(b.name, ''), b.username)) order by p.created_at_ms, p.user_id)
        from version_approval p join account b on b.id = p.user_id where p.version_id = v.id
      ), '[]') as approved_by
    ${waiting(sql, workspaceId, authors)}
      and (v.waiting_since_ms < ${after.number} or (v.waiting_since_ms = ${after.number} and v.id > ${after.id}))
    order by v.waiting_since_ms desc, v.id limit ${rowsMax}`;
}

export async function countWaiting(sql: Queries, workspaceId: WorkspaceId, authors: Accounts | null): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total ${waiting(sql, workspaceId, authors)}`;
  return row?.total ?? 0;
}
