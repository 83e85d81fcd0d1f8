/** The SQL of visibilities that were asked for without a plan that allows them. */
import type { Visibility } from '../../../../protocol/artifacts/artifacts.ts';
import type { AgentId, ArtifactId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { Queries } from '../../deps.ts';

export interface Requester {
  readonly userId: UserId | null;
  readonly agentId: AgentId | null;
}

/** Remembers what was asked for, with the artifact locked. */
export async function holdVisibility(tx: Queries, id: ArtifactId, { userId, agentId }: Requester, nowMs: number): Promise<void> {
  await tx`
    update artifact set requested_visibility = 'public', requested_by = ${userId}, requested_agent = ${agentId}, requested_at_ms = ${nowMs}
    where id = ${id}`;
}

/** Forgets it. */
export async function dropHeld(tx: Queries, ids: readonly ArtifactId[]): Promise<void> {
  await tx`
    update artifact set requested_visibility = null, requested_by = null, requested_agent = null, requested_at_ms = null
    where id = any(${ids as ArtifactId[]}) and requested_visibility is not null`;
}

/** Where a plan may have changed. */
export type HeldScope =
  | { readonly of: 'all' }
  | { readonly of: 'workspace'; readonly id: WorkspaceId }
  /** Every account of each person. */
  | { readonly of: 'people'; readonly userIds: readonly UserId[] };

export interface HeldRow {
  readonly id: ArtifactId;
  /** Whether the plan of the workspace, or of who has asked, is one of those that allow it. */
  readonly isAllowed: boolean;
}

function allowedBy(sql: Queries, tiers: readonly Tier[]) {
  return sql`
    a.id, coalesce(workspace_tier(a.workspace_id) = any(${tiers as Tier[]}), false) or exists (
      select 1 from account r join account p on p.person_id = r.person_id where r.id = a.requested_by and p.tier = any(${tiers as Tier[]})
    ) as "isAllowed"`;
}

/** Live artifacts whose visibility is held, in the order of their ids, after `after`. `tiers`: those that allow public artifacts. */
export function listHeld(sql: Queries, scope: HeldScope, tiers: readonly Tier[], after: string, rowsMax: number): Promise<HeldRow[]> {
  switch (scope.of) {
    case 'all':
      return sql<HeldRow[]>`
        select ${allowedBy(sql, tiers)} from artifact a
        where a.requested_visibility is not null and a.deleted_at_ms is null and a.id > ${after} order by a.id limit ${rowsMax}`;
    case 'workspace':
      return sql<HeldRow[]>`
        select ${allowedBy(sql, tiers)} from artifact a
        where a.requested_visibility is not null and a.workspace_id = ${scope.id} and a.deleted_at_ms is null and a.id > ${after}
        order by a.id limit ${rowsMax}`;
    case 'people':
      return sql<HeldRow[]>`
        select ${allowedBy(sql, tiers)} from artifact a
        where a.requested_by = any(${scope.userIds as UserId[]}) and a.requested_visibility is not null and a.deleted_at_ms is null
          and a.id > ${after}
        order by a.id limit ${rowsMax}`;
    default:
      return scope satisfies never;
  }
}

export interface LockedHeld extends HeldRow, Requester {
  readonly slug: string;
  readonly name: string;
  readonly visibility: Visibility;
  readonly owner_id: UserId | null;
  readonly workspace_id: WorkspaceId | null;
  /** Of the agent that has asked. */
  readonly agentName: string | null;
}

/** Those of these that are still held and live, locked in the order of their ids until the transaction ends. */
export async function lockHeld(tx: Queries, ids: readonly ArtifactId[], tiers: readonly Tier[]): Promise<LockedHeld[]> {
  await tx`select 1 from artifact where id = any(${ids as ArtifactId[]}) order by id for update`;
  // In a statement of its own, which sees what the last writer left.
  return tx<LockedHeld[]>`
    select ${allowedBy(tx, tiers)}, a.slug, a.name, a.visibility, a.owner_id, a.workspace_id,
      a.requested_by as "userId", a.requested_agent as "agentId", s.name as "agentName"
    from artifact a left join service_principal s on s.id = a.requested_agent
    where a.id = any(${ids as ArtifactId[]}) and a.requested_visibility is not null and a.deleted_at_ms is null order by a.id`;
}

/** Makes locked artifacts public, with a time of change of their own. */
export async function makePublic(tx: Queries, ids: readonly ArtifactId[], nowMs: number): Promise<void> {
  await tx`
    update artifact set visibility = 'public', password_hash = null, requested_visibility = null, requested_by = null, requested_agent = null,
      requested_at_ms = null, updated_at_ms = greatest(${nowMs}, updated_at_ms + 1)
    where id = any(${ids as ArtifactId[]})`;
}

/** Who owns these workspaces, the longest first, at most some of each: whom a change of what nobody owns is told. */
export function listOwners(
  sql: Queries,
  ids: readonly WorkspaceId[],
  ownersMax: number,
): Promise<{ workspaceId: WorkspaceId; userId: UserId }[]> {
  return sql<{ workspaceId: WorkspaceId; userId: UserId }[]>`
    select w.id as "workspaceId", o.user_id as "userId"
    from unnest(${ids as WorkspaceId[]}::text[]) as w (id) cross join lateral (
      select m.user_id from workspace_member m where m.workspace_id = w.id and m.role = 'owner'
      order by m.joined_at_ms, m.user_id limit ${ownersMax}
    ) o`;
}
