/** What a provisioning asks of tables that belong to others. */
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

/** Whether somebody owns the workspace, or is invited to: a run that ended before it got there has left it without. */
export async function hasOwner(sql: Queries, id: WorkspaceId, nowMs: number): Promise<boolean> {
  const rows = await sql`
    select 1 from workspace_member where workspace_id = ${id} and role = 'owner'
    union all
    select 1 from workspace_invite
    where workspace_id = ${id} and role = 'owner' and accepted_at_ms is null and revoked_at_ms is null and expires_at_ms > ${nowMs}
    limit 1`;
  return rows.length > 0;
}

/** The last invitation that was queued for an address. */
export async function lastInviteMail(sql: Queries, recipient: string): Promise<{ readonly isSent: boolean } | null> {
  const [row] = await sql<{ isSent: boolean }[]>`
    select sent_at_ms is not null as "isSent" from mail_outbox where recipient = ${recipient} and kind = 'invite'
    order by created_at_ms desc limit 1`;
  return row ?? null;
}
