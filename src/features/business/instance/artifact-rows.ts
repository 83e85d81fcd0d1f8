/** The SQL of artifacts as administrators find and suspend them. */
import type { Visibility } from '../../../../protocol/artifacts/artifacts.ts';
import type { ArtifactId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { SuspensionRow } from './suspension.ts';

export interface InstanceArtifactRow extends SuspensionRow {
  readonly id: ArtifactId;
  readonly slug: string;
  readonly name: string;
  readonly visibility: Visibility;
  readonly owner_id: UserId | null;
  readonly owner_name: string | null;
  readonly owner_email: string | null;
  readonly workspace_id: WorkspaceId | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly deleted_at_ms: number | null;
}

export interface ArtifactFilter {
  readonly q: string | undefined;
  readonly ownerId: UserId | undefined;
  readonly suspended: boolean | undefined;
}

function columns(sql: Queries) {
  return sql`
    r.id, r.slug, r.name, r.visibility, r.owner_id, coalesce(nullif(o.name, ''), o.username) as owner_name, o.email as owner_email,
    r.workspace_id, r.suspended_at_ms, r.suspended_reason, r.suspended_by, r.created_at_ms, r.updated_at_ms, r.deleted_at_ms
    from artifact r left join account o on o.id = r.owner_id`;
}

function isFound(sql: Queries, { q, ownerId, suspended }: ArtifactFilter) {
  return sql`
    true
    ${q === undefined || q === '' ? sql`` : sql`and (r.id = ${q} or starts_with(r.slug, lower(${q})) or position(lower(${q}) in lower(r.name)) > 0)`}
    ${ownerId === undefined ? sql`` : sql`and r.owner_id = ${ownerId}`}
    ${suspended === undefined ? sql`` : sql`and (r.suspended_at_ms is not null) = ${suspended}`}`;
}

/** Newest first. */
export function listInstanceArtifacts(sql: Queries, filter: ArtifactFilter, after: PageKey, rowsMax: number) {
  return sql<InstanceArtifactRow[]>`
    select ${columns(sql)}
    where ${isFound(sql, filter)} and (r.created_at_ms, r.id) < (${after.number}, ${after.id})
    order by r.created_at_ms desc, r.id desc limit ${rowsMax}`;
}

export async function countInstanceArtifacts(sql: Queries, filter: ArtifactFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from artifact r where ${isFound(sql, filter)}`;
  return row?.total ?? 0;
}

export async function readInstanceArtifact(sql: Queries, id: ArtifactId): Promise<InstanceArtifactRow | null> {
  const [row] = await sql<InstanceArtifactRow[]>`select ${columns(sql)} where r.id = ${id}`;
  return row ?? null;
}

export async function suspendArtifact(
  tx: Queries,
  id: ArtifactId,
  { reason, by, nowMs }: { readonly reason: string; readonly by: UserId; readonly nowMs: number },
): Promise<void> {
  await tx`
    update artifact set suspended_at_ms = coalesce(suspended_at_ms, ${nowMs}), suspended_reason = ${reason}, suspended_by = ${by},
      updated_at_ms = greatest(updated_at_ms + 1, ${nowMs})
    where id = ${id}`;
}

export async function unsuspendArtifact(tx: Queries, id: ArtifactId, nowMs: number): Promise<void> {
  await tx`
    update artifact set suspended_at_ms = null, suspended_reason = null, suspended_by = null,
      updated_at_ms = greatest(updated_at_ms + 1, ${nowMs})
    where id = ${id}`;
}
