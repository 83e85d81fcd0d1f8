/** The SQL of `sharee` and `sharee_member`. */
import type { JSONValue } from 'postgres';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ExternalId, newId, type ShareeId, type UserId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface ShareeRow {
  readonly id: ShareeId;
  readonly name: string;
  readonly type: string | null;
  readonly properties: Record<string, JSONValue>;
  readonly logo: string | null;
  readonly color: string | null;
  readonly member_count: number;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

function shareeColumns(sql: Queries) {
  return sql`
    s.id, s.name, s.type, s.properties, s.logo, s.color, s.created_at_ms, s.updated_at_ms,
    (select count(*)::int from sharee_member m where m.sharee_id = s.id) as member_count`;
}

/** Newest first. */
export function listSharees(sql: Queries, workspaceId: WorkspaceId, after: PageKey, rowsMax: number) {
  return sql<ShareeRow[]>`
    select ${shareeColumns(sql)} from sharee s
    where s.workspace_id = ${workspaceId}
      and (s.created_at_ms < ${after.number} or (s.created_at_ms = ${after.number} and s.id > ${after.id}))
    order by s.created_at_ms desc, s.id limit ${rowsMax}`;
}

export async function countSharees(sql: Queries, workspaceId: WorkspaceId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from sharee where workspace_id = ${workspaceId}`;
  return row?.total ?? 0;
}

/** Throws SHAREE_NOT_FOUND. */
export async function requireSharee(sql: Queries, workspaceId: WorkspaceId, id: ShareeId): Promise<ShareeRow> {
  const [row] = await sql<ShareeRow[]>`select ${shareeColumns(sql)} from sharee s where s.id = ${id} and s.workspace_id = ${workspaceId}`;
  if (row === undefined) throw new Failure('SHAREE_NOT_FOUND');
  return row;
}

export interface NewSharee {
  readonly name: string;
  readonly type: string | null;
  readonly createdBy: UserId;
  readonly nowMs: number;
}

export async function insertSharee(tx: Queries, workspaceId: WorkspaceId, spec: NewSharee): Promise<ShareeId> {
  const id = newId('sharee');
  await tx`
    insert into sharee (id, workspace_id, name, type, created_by, created_at_ms, updated_at_ms)
    values (${id}, ${workspaceId}, ${spec.name}, ${spec.type}, ${spec.createdBy}, ${spec.nowMs}, ${spec.nowMs})`;
  return id;
}

export async function writeSharee(tx: Queries, row: ShareeRow): Promise<void> {
  await tx`
    update sharee set name = ${row.name}, type = ${row.type}, properties = ${tx.json(row.properties)}, logo = ${row.logo}, color = ${row.color},
      updated_at_ms = ${row.updated_at_ms}
    where id = ${row.id}`;
}

export async function deleteSharee(tx: Queries, id: ShareeId): Promise<void> {
  await tx`delete from sharee where id = ${id}`;
}

export interface ShareeMemberRow {
  readonly id: ExternalId;
  readonly email: string;
  readonly name: string | null;
  readonly has_account: boolean;
  readonly added_at_ms: number;
}

function memberColumns(sql: Queries) {
  return sql`
    e.id, e.email, a.id is not null as has_account, coalesce(nullif(a.name, ''), a.username) as name, m.added_at_ms
    from sharee_member m join external_user e on e.id = m.external_id
      left join lateral (
        select id, name, username from account where lower(email) = e.email order by created_at_ms, id limit 1
      ) a on true`;
}

/** Newest first. */
export function listShareeMembers(sql: Queries, id: ShareeId, after: PageKey, rowsMax: number) {
  return sql<ShareeMemberRow[]>`
    select ${memberColumns(sql)}
    where m.sharee_id = ${id} and (m.added_at_ms < ${after.number} or (m.added_at_ms = ${after.number} and e.id > ${after.id}))
    order by m.added_at_ms desc, e.id limit ${rowsMax}`;
}

/** Null where they are not in it, or it is not of this workspace. */
export async function readShareeMember(
  sql: Queries,
  workspaceId: WorkspaceId,
  shareeId: ShareeId,
  id: ExternalId,
): Promise<ShareeMemberRow | null> {
  const [row] = await sql<ShareeMemberRow[]>`
    select ${memberColumns(sql)} where m.sharee_id = ${shareeId} and m.external_id = ${id} and e.workspace_id = ${workspaceId}`;
  return row ?? null;
}

/** Throws EXTERNAL_NOT_FOUND. */
export async function requireShareeMember(
  sql: Queries,
  workspaceId: WorkspaceId,
  shareeId: ShareeId,
  id: ExternalId,
): Promise<ShareeMemberRow> {
  const row = await readShareeMember(sql, workspaceId, shareeId, id);
  if (row === null) throw new Failure('EXTERNAL_NOT_FOUND');
  return row;
}

export async function countShareesOf(sql: Queries, id: ExternalId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from sharee_member where external_id = ${id}`;
  return row?.total ?? 0;
}

export async function insertShareeMember(tx: Queries, shareeId: ShareeId, id: ExternalId, addedBy: UserId, nowMs: number): Promise<void> {
  await tx`insert into sharee_member (sharee_id, external_id, added_by, added_at_ms) values (${shareeId}, ${id}, ${addedBy}, ${nowMs})`;
}

export async function deleteShareeMember(tx: Queries, shareeId: ShareeId, id: ExternalId): Promise<void> {
  await tx`delete from sharee_member where sharee_id = ${shareeId} and external_id = ${id}`;
}
