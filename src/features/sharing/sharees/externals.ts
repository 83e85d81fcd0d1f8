/** People outside, as one workspace knows them: by an address, whether or not an account has proved it. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ExternalId, newId, type ShareeId, type UserId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Queries } from '../../deps.ts';
import { insertAccount } from '../../people/accounts/rows.ts';
import { findByProvedEmail, readLinked } from '../../people/persons/rows.ts';
import type { AuditedCall } from '../../workspaces/audit/audit.ts';
import { readRole, requireActor } from '../../workspaces/members/rows.ts';
import { lockWorkspace, type WorkspaceRow } from '../../workspaces/workspaces/rows.ts';
import { requireEntitled, requireRoom } from './rules.ts';

export type SharingCall = AuditedCall & { readonly user: UserId };

/** Makes changes of what a workspace shares wait for each other. Throws WORKSPACE_NOT_FOUND and FORBIDDEN for who runs it no longer. */
export async function lockSharing(tx: Queries, call: AuditedCall, id: WorkspaceId): Promise<WorkspaceRow> {
  const workspace = await lockWorkspace(tx, id);
  await requireActor(tx, call, id, 'admin');
  return workspace;
}

/** The same to share more than before. Throws EXTERNAL_SHARING_NOT_ENTITLED too. */
export async function lockToShare(tx: Queries, call: AuditedCall, id: WorkspaceId): Promise<WorkspaceRow> {
  const workspace = await lockSharing(tx, call, id);
  requireEntitled(workspace);
  return workspace;
}

export interface External {
  readonly id: ExternalId;
  readonly email: string;
}

/** Somebody outside with this address, new or known. Throws ALREADY_MEMBER for insiders, WORKSPACE_LIMIT_EXCEEDED. */
export async function takeExternal(tx: Queries, call: SharingCall, workspaceId: WorkspaceId, email: string): Promise<External> {
  const account = await findByProvedEmail(tx, email);
  if (account !== null && (await readRole(tx, workspaceId, await readLinked(tx, [account]))) !== null) {
    throw new Failure('ALREADY_MEMBER', { param: 'email', hint: 'Members see what is open to them; add them as a collaborator instead.' });
  }
  const [known] = await tx<{ id: ExternalId }[]>`select id from external_user where workspace_id = ${workspaceId} and email = ${email}`;
  if (known !== undefined) return { id: known.id, email };
  const [row] = await tx<{ total: number }[]>`select count(*)::int as total from external_user where workspace_id = ${workspaceId}`;
  requireRoom(row?.total ?? 0, LIMITS.externalsMax, 'people outside with whom a workspace shares');
  const id = newId('external');
  await tx`
    insert into external_user (id, workspace_id, email, invited_by, created_at_ms)
    values (${id}, ${workspaceId}, ${email}, ${call.user}, ${call.nowMs})`;
  return { id, email };
}

/** Throws EXTERNAL_NOT_FOUND. */
export async function requireExternal(sql: Queries, workspaceId: WorkspaceId, id: string): Promise<External> {
  const [row] = await sql<External[]>`select id, email from external_user where id = ${id} and workspace_id = ${workspaceId}`;
  if (row === undefined) throw new Failure('EXTERNAL_NOT_FOUND', { param: 'subject_id' });
  return row;
}

/** Every account of the persons behind these people outside: whom a `person.changed` has to name. */
export async function accountsOfExternals(sql: Queries, ids: readonly ExternalId[]): Promise<UserId[]> {
  const rows = await sql<{ id: UserId }[]>`
    select a.id from external_user e join account a on lower(a.email) = e.email where e.id = any(${[...ids]}::text[])
    union select account_id from external_user where id = any(${[...ids]}::text[]) and account_id is not null`;
  return rows.length === 0
    ? []
    : readLinked(
        sql,
        rows.map(({ id }) => id),
      );
}

export async function memberIdsOf(sql: Queries, shareeId: ShareeId): Promise<ExternalId[]> {
  const rows = await sql<{ external_id: ExternalId }[]>`select external_id from sharee_member where sharee_id = ${shareeId}`;
  return rows.map(({ external_id }) => external_id);
}

/** The account that the tokens of somebody outside act as: it has nothing but what is shared, and nobody signs in to it. */
export async function accountForTokens(tx: Queries, { id, email }: External, nowMs: number): Promise<void> {
  const [row] = await tx<{ account_id: UserId | null }[]>`select account_id from external_user where id = ${id} for update`;
  if (row === undefined || row.account_id !== null) return;
  const accountId = newId('user');
  await insertAccount(tx, {
    id: accountId,
    personId: newId('person'),
    tier: 'free',
    isAdmin: false,
    name: email.split('@')[0] ?? null,
    nowMs,
  });
  await tx`update external_user set account_id = ${accountId} where id = ${id}`;
}

/** Those with whom nothing is shared any more and who are in no organisation. */
export async function deleteUnusedExternals(sql: Queries, madeBeforeMs: number): Promise<number> {
  const gone = await sql`
    delete from external_user e where e.created_at_ms < ${madeBeforeMs}
      and not exists (select from sharee_member m where m.external_id = e.id)
      and not exists (select from access_grant g where g.external_id = e.id)`;
  return gone.count;
}
