/** The SQL of `workspace_invite`. */
import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import type { InviteId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface InviteRow {
  readonly id: InviteId;
  readonly workspace_id: WorkspaceId;
  readonly email: string;
  readonly role: WorkspaceRole;
  readonly invited_by: UserId | null;
  readonly created_at_ms: number;
  readonly sent_at_ms: number;
  readonly expires_at_ms: number;
  readonly accepted_at_ms: number | null;
  readonly revoked_at_ms: number | null;
}

function inviteColumns(sql: Queries) {
  return sql`i.id, i.workspace_id, i.email, i.role, i.invited_by, i.created_at_ms, i.sent_at_ms, i.expires_at_ms, i.accepted_at_ms, i.revoked_at_ms`;
}

export type NewInvite = Pick<InviteRow, 'id' | 'workspace_id' | 'email' | 'role' | 'invited_by' | 'sent_at_ms' | 'expires_at_ms'> & {
  readonly codeSha256: Buffer;
};

export async function insertInvite(tx: Queries, invite: NewInvite): Promise<void> {
  await tx`
    insert into workspace_invite (id, workspace_id, email, role, code_sha256, invited_by, created_at_ms, sent_at_ms, expires_at_ms)
    values (${invite.id}, ${invite.workspace_id}, ${invite.email}, ${invite.role}, ${invite.codeSha256}, ${invite.invited_by},
      ${invite.sent_at_ms}, ${invite.sent_at_ms}, ${invite.expires_at_ms})`;
}

/** A new code voids the one before. */
export async function renewInvite(
  tx: Queries,
  id: InviteId,
  { codeSha256, sentAtMs, expiresAtMs }: { readonly codeSha256: Buffer; readonly sentAtMs: number; readonly expiresAtMs: number },
): Promise<void> {
  await tx`
    update workspace_invite set code_sha256 = ${codeSha256}, sent_at_ms = ${sentAtMs}, expires_at_ms = ${expiresAtMs} where id = ${id}`;
}

/** Call it with the workspace locked. */
export async function readInvite(sql: Queries, workspaceId: WorkspaceId, id: InviteId): Promise<InviteRow | null> {
  const [row] = await sql<InviteRow[]>`
    select ${inviteColumns(sql)} from workspace_invite i where i.id = ${id} and i.workspace_id = ${workspaceId}`;
  return row ?? null;
}

export async function findInvite(sql: Queries, codeSha256: Buffer): Promise<InviteRow | null> {
  const [row] = await sql<InviteRow[]>`
    select ${inviteColumns(sql)} from workspace_invite i join workspace w on w.id = i.workspace_id
    where i.code_sha256 = ${codeSha256} and w.deleted_at_ms is null`;
  return row ?? null;
}

/** The invitation of an address that is neither accepted nor revoked, expired or not. */
export async function findOpen(tx: Queries, workspaceId: WorkspaceId, email: string): Promise<InviteRow | null> {
  const [row] = await tx<InviteRow[]>`
    select ${inviteColumns(tx)} from workspace_invite i
    where i.workspace_id = ${workspaceId} and i.email = ${email} and i.accepted_at_ms is null and i.revoked_at_ms is null`;
  return row ?? null;
}

export async function countOpen(sql: Queries, workspaceId: WorkspaceId, nowMs: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from workspace_invite
    where workspace_id = ${workspaceId} and accepted_at_ms is null and revoked_at_ms is null and expires_at_ms > ${nowMs}`;
  return row?.total ?? 0;
}

export type InviteStatus = 'pending' | 'accepted' | 'expired' | 'revoked';

interface Wanted {
  readonly workspaceId: WorkspaceId;
  readonly status: InviteStatus | undefined;
  readonly nowMs: number;
}

function isWanted(sql: Queries, { workspaceId, status, nowMs }: Wanted) {
  const state = sql`
    case when i.accepted_at_ms is not null then 'accepted' when i.revoked_at_ms is not null then 'revoked'
      when i.expires_at_ms <= ${nowMs} then 'expired' else 'pending' end`;
  return sql`i.workspace_id = ${workspaceId} and (${status ?? null}::text is null or ${state} = ${status ?? null})`;
}

/** Newest first. */
export function listInvites(sql: Queries, wanted: Wanted, after: PageKey, rowsMax: number): Promise<InviteRow[]> {
  return sql<InviteRow[]>`
    select ${inviteColumns(sql)} from workspace_invite i
    where ${isWanted(sql, wanted)}
      and (i.created_at_ms < ${after.number} or (i.created_at_ms = ${after.number} and i.id > ${after.id}))
    order by i.created_at_ms desc, i.id limit ${rowsMax}`;
}

export async function countInvites(sql: Queries, wanted: Wanted): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from workspace_invite i where ${isWanted(sql, wanted)}`;
  return row?.total ?? 0;
}

export async function markRevoked(tx: Queries, id: InviteId, nowMs: number): Promise<void> {
  await tx`update workspace_invite set revoked_at_ms = ${nowMs} where id = ${id}`;
}

export async function markAccepted(tx: Queries, id: InviteId, userId: UserId, nowMs: number): Promise<void> {
  await tx`update workspace_invite set accepted_at_ms = ${nowMs}, accepted_by = ${userId} where id = ${id}`;
}

/** Invitations that nobody can claim any more. */
export async function deleteClosed(sql: Queries, closedBeforeMs: number): Promise<number> {
  const deleted = await sql`
    delete from workspace_invite where coalesce(accepted_at_ms, revoked_at_ms, expires_at_ms) <= ${closedBeforeMs}`;
  return deleted.count;
}
