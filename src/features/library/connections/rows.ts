/** The SQL of `connection` and `connection_credential`. */
import type { JSONValue } from 'postgres';
import type { ConnectionId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { ConnectionAuth, ConnectionType } from '../../../../protocol/library/connections.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface ConnectionRow {
  readonly id: ConnectionId;
  readonly name: string;
  readonly type: ConnectionType;
  readonly credential_scope: 'workspace' | 'person';
  readonly auth_type: ConnectionAuth;
  readonly config: Readonly<Record<string, unknown>>;
  /** Of the workspace, or with the scope `person` of one of the given accounts. */
  readonly has_credentials: boolean;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly last_used_at_ms: number | null;
  readonly last_error: string | null;
}

/** The columns of a `ConnectionRow`, from connection `c`. `accounts`: those of the caller. */
function connectionColumns(sql: Queries, accounts: readonly UserId[]) {
  return sql`
    c.id, c.name, c.type, c.credential_scope, c.auth_type, c.config,
    c.credentials is not null or exists (
      select from connection_credential p where p.connection_id = c.id and p.user_id = any(${accounts as UserId[]})
    ) as has_credentials,
    c.created_at_ms, c.updated_at_ms, c.last_used_at_ms, c.last_error`;
}

export function listConnections(sql: Queries, workspaceId: WorkspaceId, accounts: readonly UserId[], after: PageKey, rowsMax: number) {
  return sql<ConnectionRow[]>`
    select ${connectionColumns(sql, accounts)} from connection c
    where c.workspace_id = ${workspaceId} and (c.created_at_ms, c.id) < (${after.number}, ${after.id})
    order by c.created_at_ms desc, c.id desc limit ${rowsMax}`;
}

export async function countConnections(sql: Queries, workspaceId: WorkspaceId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from connection where workspace_id = ${workspaceId}`;
  return row?.total ?? 0;
}

export async function readConnection(sql: Queries, workspaceId: WorkspaceId, id: ConnectionId, accounts: readonly UserId[]) {
  const [row] = await sql<ConnectionRow[]>`
    select ${connectionColumns(sql, accounts)} from connection c where c.id = ${id} and c.workspace_id = ${workspaceId}`;
  return row ?? null;
}

/** A connection with its workspace. */
export interface UsableRow extends ConnectionRow {
  readonly workspace_id: WorkspaceId;
}

/** For who is a member of its workspace; null for everybody else. */
export async function readUsable(sql: Queries, id: ConnectionId, accounts: readonly UserId[]): Promise<UsableRow | null> {
  const [row] = await sql<UsableRow[]>`
    select ${connectionColumns(sql, accounts)}, c.workspace_id from connection c join workspace w on w.id = c.workspace_id
    where c.id = ${id} and w.deleted_at_ms is null and exists (
      select from workspace_member m where m.workspace_id = c.workspace_id and m.user_id = any(${accounts as UserId[]}))`;
  return row ?? null;
}

/** Changes of one connection wait for each other until the transaction ends. */
export async function lockConnection(tx: Queries, workspaceId: WorkspaceId, id: ConnectionId): Promise<void> {
  await tx`select 1 from connection where id = ${id} and workspace_id = ${workspaceId} for update`;
}

/** Whether a connection of the workspace has this name; capital letters make no difference. */
export async function hasConnectionNamed(sql: Queries, workspaceId: WorkspaceId, name: string): Promise<boolean> {
  const rows = await sql`select 1 from connection where workspace_id = ${workspaceId} and lower(name) = lower(${name})`;
  return rows.length > 0;
}

export interface NewConnectionRow {
  readonly id: ConnectionId;
  readonly workspaceId: WorkspaceId;
  readonly name: string;
  readonly type: ConnectionType;
  readonly credentialScope: 'workspace' | 'person';
  readonly authType: ConnectionAuth;
  readonly config: Readonly<Record<string, unknown>>;
  /** Sealed; null for none, and always with the scope `person`. */
  readonly credentials: Buffer | null;
  readonly createdBy: UserId;
  readonly nowMs: number;
}

export async function insertConnection(tx: Queries, row: NewConnectionRow): Promise<void> {
  await tx`
    insert into connection (id, workspace_id, name, type, credential_scope, auth_type, config, credentials, created_by, created_at_ms,
      updated_at_ms)
    values (${row.id}, ${row.workspaceId}, ${row.name}, ${row.type}, ${row.credentialScope}, ${row.authType},
      ${tx.json(row.config as JSONValue)}, ${row.credentials}, ${row.createdBy}, ${row.nowMs}, ${row.nowMs})`;
}

export interface ChangedConnection {
  readonly name: string;
  readonly authType: ConnectionAuth;
  readonly config: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
}

/** What went wrong before no longer says anything about it. */
export async function updateConnection(tx: Queries, id: ConnectionId, { name, authType, config, nowMs }: ChangedConnection): Promise<void> {
  await tx`
    update connection set name = ${name}, auth_type = ${authType}, config = ${tx.json(config as JSONValue)},
      updated_at_ms = greatest(updated_at_ms + 1, ${nowMs}), last_error = null
    where id = ${id}`;
}

export async function setCredentials(tx: Queries, id: ConnectionId, sealed: Buffer | null): Promise<void> {
  await tx`update connection set credentials = ${sealed} where id = ${id}`;
}

export interface SecretsRow {
  /** Whose; null for those of the workspace. */
  readonly userId: UserId | null;
  readonly credentials: Buffer;
}

/** Those that a person with these accounts connects with; null where there are none. */
export async function readSecrets(sql: Queries, id: ConnectionId, accounts: readonly UserId[]): Promise<SecretsRow | null> {
  const [row] = await sql<SecretsRow[]>`
    select null as "userId", credentials from connection where id = ${id} and credentials is not null
    union all
    select user_id, credentials from connection_credential where connection_id = ${id} and user_id = any(${accounts as UserId[]})
    limit 1`;
  return row ?? null;
}

/** All members see it; what was said to one person's credentials is for that person. */
const PERSONS_ERROR = 'The last use failed; its run says why.';

/**
 * `error`: what went wrong; null for nothing. A person who has stored no credentials of their own has not used it: that says nothing of the
 * connection, which all members would read.
 */
export async function noteUse(
  sql: Queries,
  { id, credential_scope: scope, auth_type: authType, has_credentials: hasCredentials }: ConnectionRow,
  error: string | null,
  nowMs: number,
): Promise<void> {
  if (scope === 'person' && authType !== 'none' && !hasCredentials) return;
  const shown = error !== null && scope === 'person' ? PERSONS_ERROR : error;
  await sql`update connection set last_used_at_ms = ${nowMs}, last_error = ${shown} where id = ${id}`;
}

export interface OwnCredentials {
  readonly connectionId: ConnectionId;
  readonly workspaceId: WorkspaceId;
  /** The account that is the member. */
  readonly userId: UserId;
  readonly credentials: Buffer;
  readonly nowMs: number;
}

export async function insertOwnCredentials(tx: Queries, own: OwnCredentials): Promise<void> {
  await tx`
    insert into connection_credential (connection_id, workspace_id, user_id, credentials, stored_at_ms)
    values (${own.connectionId}, ${own.workspaceId}, ${own.userId}, ${own.credentials}, ${own.nowMs})`;
}

/** `accounts`: whose; null for everybody's. */
export async function deleteOwnCredentials(tx: Queries, id: ConnectionId, accounts: readonly UserId[] | null): Promise<void> {
  const whose = accounts === null ? tx`true` : tx`user_id = any(${accounts as UserId[]})`;
  await tx`delete from connection_credential where connection_id = ${id} and ${whose}`;
}

/** Which account of a person is the member, the one with most rights first; null where none is. */
export async function memberAccount(tx: Queries, workspaceId: WorkspaceId, accounts: readonly UserId[]): Promise<UserId | null> {
  const [row] = await tx<{ user_id: UserId }[]>`
    select user_id from workspace_member where workspace_id = ${workspaceId} and user_id = any(${accounts as UserId[]})
    order by array_position(array['owner', 'admin', 'member'], role), user_id limit 1`;
  return row?.user_id ?? null;
}

export async function deleteConnection(tx: Queries, id: ConnectionId): Promise<void> {
  await tx`delete from connection where id = ${id}`;
}

/** A sealed secret of a connection: of the workspace where `userId` is null. */
export interface SealedRow {
  readonly id: ConnectionId;
  readonly userId: UserId | null;
  readonly credentials: Buffer;
}

/** Those that another key than the current one has sealed; `head` is how the current ones begin. In the order of their ids, after `after`. */
export function listSealedBefore(sql: Queries, head: Buffer, after: Pick<SealedRow, 'id' | 'userId'>, rowsMax: number) {
  return sql<SealedRow[]>`
    select s.id, s.user_id as "userId", s.credentials from (
      select id, null as user_id, credentials from connection where credentials is not null
      union all
      select connection_id, user_id, credentials from connection_credential
    ) s
    where substring(s.credentials from 1 for ${head.length}::int) <> ${head}
      and (s.id, coalesce(s.user_id, '')) > (${after.id}, ${after.userId ?? ''})
    order by s.id, coalesce(s.user_id, '') limit ${rowsMax}`;
}

/** Replaces a sealed secret, unless somebody has changed it. Whether it did. */
export async function replaceSealed(sql: Queries, { id, userId, credentials }: SealedRow, sealed: Buffer): Promise<boolean> {
  const rows =
    userId === null
      ? await sql`update connection set credentials = ${sealed} where id = ${id} and credentials = ${credentials} returning 1`
      : await sql`
          update connection_credential set credentials = ${sealed}
          where connection_id = ${id} and user_id = ${userId} and credentials = ${credentials} returning 1`;
  return rows.length > 0;
}

/** Nobody can reach them any more, and a secret is not kept for longer than it is of use. */
export async function deleteOfDeletedWorkspaces(sql: Queries): Promise<number> {
  const rows = await sql`
    delete from connection c using workspace w where w.id = c.workspace_id and w.deleted_at_ms is not null returning c.id`;
  return rows.length;
}
