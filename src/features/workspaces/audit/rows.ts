/** The SQL that reads `audit_entry`, and forgets what a deleted workspace leaves. */
import type { Id, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface AuditRow {
  readonly id: Id<'audit'>;
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
  readonly workspaceId: WorkspaceId;
  /** An action, or all of a resource where it ends with a dot. */
  readonly action: string | undefined;
  readonly actor: string | undefined;
  /** Unix ms: the first included, the last not. */
  readonly fromMs: number;
  readonly toMs: number;
}

function found(sql: Queries, { workspaceId, action, actor, fromMs, toMs }: AuditFilter) {
  return sql`
    from audit_entry where workspace_id = ${workspaceId} and at_ms >= ${fromMs} and at_ms < ${toMs}
      ${actor === undefined ? sql`` : sql`and actor_id = ${actor}`}
      ${action === undefined ? sql`` : action.endsWith('.') ? sql`and starts_with(action, ${action})` : sql`and action = ${action}`}`;
}

/** Newest first. */
export function listEntries(sql: Queries, filter: AuditFilter, after: PageKey, rowsMax: number) {
  return sql<AuditRow[]>`
    select id, at_ms, actor_kind, actor_id, actor_name, action, target_type, target_id, target_name, detail, address, request_id
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
