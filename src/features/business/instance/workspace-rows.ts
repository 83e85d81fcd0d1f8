/** The SQL of workspaces as administrators see them. */
import type { ArtifactId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { WorkspaceRow } from '../../workspaces/workspaces/rows.ts';
import type { SuspensionRow } from './suspension.ts';

export interface InstanceWorkspaceRow extends SuspensionRow, Pick<WorkspaceRow, 'plan_tier' | 'plan_status'> {
  readonly id: WorkspaceId;
  readonly slug: string;
  readonly name: string;
  readonly owners: readonly UserId[];
  readonly members: number;
  readonly artifacts: number;
  readonly bytes: number;
  readonly created_at_ms: number;
}

export interface WorkspaceFilter {
  readonly q: string | undefined;
  readonly planTier: Tier | undefined;
  readonly suspended: boolean | undefined;
}

function columns(sql: Queries) {
  return sql`
    w.id, w.slug, w.name, w.plan_tier, w.plan_status, w.suspended_at_ms, w.suspended_reason, w.suspended_by, w.created_at_ms,
    array(select m.user_id from workspace_member m where m.workspace_id = w.id and m.role = 'owner' order by m.joined_at_ms, m.user_id) as owners,
    (select count(*)::int from workspace_member m where m.workspace_id = w.id) as members,
    (select count(*)::int from artifact r where r.workspace_id = w.id and r.deleted_at_ms is null) as artifacts,
    coalesce((select u.bytes from account_usage u where u.account_id = w.id), 0)::bigint as bytes
    from workspace w`;
}

function isFound(sql: Queries, { q, planTier, suspended }: WorkspaceFilter) {
  return sql`
    w.deleted_at_ms is null
    ${q === undefined || q === '' ? sql`` : sql`and (w.id = ${q} or position(lower(${q}) in lower(concat_ws(' ', w.slug, w.name))) > 0)`}
    ${planTier === undefined ? sql`` : sql`and w.plan_tier = ${planTier}`}
    ${suspended === undefined ? sql`` : sql`and (w.suspended_at_ms is not null) = ${suspended}`}`;
}

/** Newest first. */
export function listInstanceWorkspaces(sql: Queries, filter: WorkspaceFilter, after: PageKey, rowsMax: number) {
  return sql<InstanceWorkspaceRow[]>`
    select ${columns(sql)}
    where ${isFound(sql, filter)} and (w.created_at_ms, w.id) < (${after.number}, ${after.id})
    order by w.created_at_ms desc, w.id desc limit ${rowsMax}`;
}

export async function countInstanceWorkspaces(sql: Queries, filter: WorkspaceFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from workspace w where ${isFound(sql, filter)}`;
  return row?.total ?? 0;
}

/** `ref`: an id or a slug. Null where there is no such workspace, or no longer. */
export async function readInstanceWorkspace(sql: Queries, ref: string): Promise<InstanceWorkspaceRow | null> {
  const [row] = await sql<InstanceWorkspaceRow[]>`
    select ${columns(sql)} where (w.id = ${ref} or w.slug = ${ref}) and w.deleted_at_ms is null`;
  return row ?? null;
}

export async function writePlan(
  tx: Queries,
  id: WorkspaceId,
  { plan_tier, plan_status }: Pick<InstanceWorkspaceRow, 'plan_tier' | 'plan_status'>,
): Promise<void> {
  await tx`update workspace set plan_tier = ${plan_tier}, plan_status = ${plan_status} where id = ${id}`;
  // What the workspace comes back to when what it pays for ends.
  await tx`update billing_customer set base_tier = ${plan_tier} where workspace_id = ${id}`;
}

export async function suspendWorkspace(
  tx: Queries,
  id: WorkspaceId,
  { reason, by, nowMs }: { readonly reason: string; readonly by: UserId; readonly nowMs: number },
): Promise<void> {
  await tx`
    update workspace set suspended_at_ms = coalesce(suspended_at_ms, ${nowMs}), suspended_reason = ${reason}, suspended_by = ${by}
    where id = ${id}`;
}

export async function unsuspendWorkspace(tx: Queries, id: WorkspaceId): Promise<void> {
  await tx`update workspace set suspended_at_ms = null, suspended_reason = null, suspended_by = null where id = ${id}`;
}

/** What caches and open connections know of the workspace. */
export function listArtifactsOf(tx: Queries, id: WorkspaceId) {
  return tx<{ readonly id: ArtifactId; readonly slug: string }[]>`
    select id, slug from artifact where workspace_id = ${id} and deleted_at_ms is null`;
}
