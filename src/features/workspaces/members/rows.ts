/** The SQL of `workspace_member`. */
import type { Principal } from '../../../../actors/access/access.ts';
import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import { type Accounts, accountsOf } from '../../people/accounts/rules.ts';
import { outranks } from './rules.ts';

export interface MemberRow {
  readonly user_id: UserId;
  readonly email: string | null;
  readonly name: string | null;
  readonly role: WorkspaceRole;
  readonly billing_manager: boolean;
  readonly joined_at_ms: number;
}

interface NewMember {
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  readonly role: WorkspaceRole;
  /** Null where they joined by themselves. */
  readonly addedBy: UserId | null;
  readonly nowMs: number;
}

export async function insertMember(tx: Queries, { workspaceId, userId, role, addedBy, nowMs }: NewMember): Promise<void> {
  await tx`
    insert into workspace_member (workspace_id, user_id, role, joined_at_ms, added_by)
    values (${workspaceId}, ${userId}, ${role}, ${nowMs}, ${addedBy})`;
}

/** The best role of a person in a workspace; null where they are no member. */
export async function readRole(sql: Queries, workspaceId: WorkspaceId, accounts: Accounts): Promise<WorkspaceRole | null> {
  const [row] = await sql<{ role: WorkspaceRole }[]>`
    select role from workspace_member where workspace_id = ${workspaceId} and user_id = any(${accounts as UserId[]})
    order by array_position(array['owner', 'admin', 'member'], role) limit 1`;
  return row?.role ?? null;
}

/**
 * The role of the caller as the locked workspace has it now: what the call was admitted with may have been taken away since. Throws
 * WORKSPACE_NOT_FOUND, FORBIDDEN.
 */
export async function requireActor(
  tx: Queries,
  { principal }: { readonly principal: Principal },
  workspaceId: WorkspaceId,
  needed: WorkspaceRole,
): Promise<WorkspaceRole> {
  const role = await readRole(tx, workspaceId, accountsOf(principal));
  if (role === null) throw new Failure('WORKSPACE_NOT_FOUND');
  if (role !== needed && !outranks(role, needed)) throw new Failure('FORBIDDEN');
  return role;
}

function memberColumns(sql: Queries) {
  return sql`m.user_id, a.email, coalesce(nullif(a.name, ''), a.username) as name, m.role, m.billing_manager, m.joined_at_ms`;
}

/** Newest first. */
export function listMembers(sql: Queries, workspaceId: WorkspaceId, after: PageKey, rowsMax: number): Promise<MemberRow[]> {
  return sql<MemberRow[]>`
    select ${memberColumns(sql)} from workspace_member m join account a on a.id = m.user_id
    where m.workspace_id = ${workspaceId}
      and (m.joined_at_ms < ${after.number} or (m.joined_at_ms = ${after.number} and m.user_id > ${after.id}))
    order by m.joined_at_ms desc, m.user_id limit ${rowsMax}`;
}

export async function countMembers(sql: Queries, workspaceId: WorkspaceId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from workspace_member where workspace_id = ${workspaceId}`;
  return row?.total ?? 0;
}

export async function listMemberIds(sql: Queries, workspaceId: WorkspaceId): Promise<UserId[]> {
  const rows = await sql<{ user_id: UserId }[]>`select user_id from workspace_member where workspace_id = ${workspaceId}`;
  return rows.map(({ user_id }) => user_id);
}

/** Throws USER_NOT_FOUND where they are no member. */
export async function requireMember(sql: Queries, workspaceId: WorkspaceId, userId: UserId): Promise<MemberRow> {
  const [row] = await sql<MemberRow[]>`
    select ${memberColumns(sql)} from workspace_member m join account a on a.id = m.user_id
    where m.workspace_id = ${workspaceId} and m.user_id = ${userId}`;
  if (row === undefined) throw new Failure('USER_NOT_FOUND', { message: 'There is no such member.' });
  return row;
}

/** Of a person: of all linked accounts that are members. */
export async function writeRole(tx: Queries, workspaceId: WorkspaceId, accounts: Accounts, role: WorkspaceRole): Promise<void> {
  await tx`
    update workspace_member set role = ${role} where workspace_id = ${workspaceId} and user_id = any(${accounts as UserId[]})`;
}

/** Of a person: of all linked accounts that are members. */
export async function writeBillingManager(tx: Queries, workspaceId: WorkspaceId, accounts: Accounts, isManager: boolean): Promise<void> {
  await tx`
    update workspace_member set billing_manager = ${isManager}
    where workspace_id = ${workspaceId} and user_id = any(${accounts as UserId[]})`;
}

export async function deleteMember(tx: Queries, workspaceId: WorkspaceId, accounts: Accounts): Promise<void> {
  await tx`delete from workspace_member where workspace_id = ${workspaceId} and user_id = any(${accounts as UserId[]})`;
}

/** Whether somebody beside these accounts owns the workspace. */
export async function hasOtherOwner(tx: Queries, workspaceId: WorkspaceId, accounts: Accounts): Promise<boolean> {
  const [row] = await tx`
    select 1 from workspace_member
    where workspace_id = ${workspaceId} and role = 'owner' and user_id <> all(${accounts as UserId[]}) limit 1`;
  return row !== undefined;
}
