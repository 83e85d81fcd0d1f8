/** The SQL of what is used of an allowance, beside the counters of `people/usage`. */
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';

export interface AccountUses {
  /** Public ones in no workspace, or in one whose plan has none. */
  readonly public_artifacts: number;
  readonly workspaces_owned: number;
  readonly jobs: number;
}

/** What the linked accounts of one person use together. `tiers`: those that allow public artifacts. */
export async function readAccountUses(sql: Queries, accounts: Accounts, tiers: readonly Tier[]): Promise<AccountUses> {
  const own = accounts as UserId[];
  const [row] = await sql<AccountUses[]>`
    select
      (select count(*)::int from artifact a
       where a.owner_id = any(${own}) and a.visibility = 'public' and a.deleted_at_ms is null
         and not coalesce(workspace_tier(a.workspace_id) = any(${tiers as Tier[]}), false)) as public_artifacts,
      (select count(distinct w.id)::int from workspace_member m join workspace w on w.id = m.workspace_id
       where m.user_id = any(${own}) and m.role = 'owner' and w.deleted_at_ms is null) as workspaces_owned,
      (select count(*)::int from job where creator_id = any(${own})) as jobs`;
  return row ?? { public_artifacts: 0, workspaces_owned: 0, jobs: 0 };
}

export interface WorkspaceUses {
  readonly members: number;
  /** Public ones that no plan of their owner allows. */
  readonly public_artifacts: number;
  readonly catalogs: number;
  readonly import_sources: number;
  readonly grants: number;
}

export async function readWorkspaceUses(sql: Queries, id: WorkspaceId, tiers: readonly Tier[]): Promise<WorkspaceUses> {
  const [row] = await sql<WorkspaceUses[]>`
    select
      (select count(*)::int from workspace_member where workspace_id = ${id}) as members,
      (select count(*)::int from artifact a
       where a.workspace_id = ${id} and a.visibility = 'public' and a.deleted_at_ms is null
         and not exists (
           select 1 from account o join account p on p.person_id = o.person_id where o.id = a.owner_id and p.tier = any(${tiers as Tier[]})
         )) as public_artifacts,
      (select count(*)::int from catalog where workspace_id = ${id}) as catalogs,
      (select count(*)::int from import_source where workspace_id = ${id}) as import_sources,
      (select count(*)::int from access_grant where workspace_id = ${id}) as grants`;
  return row ?? { members: 0, public_artifacts: 0, catalogs: 0, import_sources: 0, grants: 0 };
}
