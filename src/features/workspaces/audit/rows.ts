/** The SQL that reads `audit_entry`, and forgets what a deleted workspace leaves. */
import type { Id, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface AuditRow {
  readonly id: Id<'audit'>;
  /** Null for what concerns the installation. */
  readonly workspace_id: WorkspaceId | null;
  readonly at_ms: number;
  readonly actor_kind: 'user' | 'agent' | 'system';
  readonly actor_id: string | null;
  readonly actor_name: string | null;
  readonly action: string;
  readonly target_type: string;
  readonly target_id: string | null;
  readonly target_name: string | null;
  readonly detail: Record<string, unknown>;
  readonly address: string | null;
  readonly request_id: string | null;
}

export interface AuditFilter {
  /** Null: what concerns the installation. Undefined: everything. */
  readonly workspaceId: WorkspaceId | null | undefined;
  /** An action, or all of a resource where it ends with a dot. */
  readonly action: string | undefined;
  readonly actor: string | undefined;
  /** The id of what was changed. */
  readonly target?: string | undefined;
  /** Unix ms: the first included, the last not. */
  readonly fromMs: number;
  readonly toMs: number;
}

function found(sql: Queries, { workspaceId, action, actor, target, fromMs, toMs }: AuditFilter) {
  return sql`
    from audit_entry where at_ms >= ${fromMs} and at_ms < ${toMs}
      ${workspaceId === undefined ? sql`` : workspaceId === null ? sql`and workspace_id is null` : sql`and workspace_id = ${workspaceId}`}
      ${target === undefined ? sql`` : sql`and target_id = ${target}`}
      ${actor === undefined ? sql`` : sql`and actor_id = ${actor}`}
      ${action === undefined ? sql`` : action.endsWith('.') ? sql`and starts_with(action, ${action})` : sql`and action = ${action}`}`;
}

/** Newest first. */
export function listEntries(sql: Queries, filter: AuditFilter, after: PageKey, rowsMax: number) {
  return sql<AuditRow[]>`
    select id, workspace_id, at_ms, actor_kind, actor_id, actor_name, action, target_type, target_id, target_name, detail, address, request_id
    ${found(sql, filter)} and (at_ms, id) < (${after.number}, ${after.id})
    order by at_ms desc, id desc limit ${rowsMax}`;
}

export async function countEntries(sql: Queries, filter: AuditFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total ${found(sql, filter)}`;
  return row?.total ?? 0;
}

/** The database refuses to remove entries of a workspace that is there. */
export async function forgetEntries(sql: Queries, deletedBeforeMs: number): Promise<number> {
  const removed = await sql`
    delete from audit_entry e using workspace w where w.id = e.workspace_id and w.deleted_at_ms < ${deletedBeforeMs}`;
  return removed.count;
}
