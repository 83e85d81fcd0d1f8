/** The SQL of accounts as administrators see them. */
import type { UserId } from '../../../../protocol/core/ids.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import { isPersonSuspended } from '../../people/persons/rows.ts';
import type { SuspensionRow } from './suspension.ts';

export interface PersonRow extends SuspensionRow {
  readonly id: UserId;
  readonly username: string | null;
  readonly name: string | null;
  readonly email: string | null;
  readonly linked: readonly UserId[];
  readonly tier: Tier;
  readonly is_admin: boolean;
  readonly is_staff: boolean;
  readonly created_at_ms: number;
  readonly last_seen_at_ms: number | null;
  readonly workspaces: number;
  readonly artifacts: number;
  readonly public_pages: number;
  readonly bytes: number;
}

export interface PeopleFilter {
  readonly q: string | undefined;
  readonly role: 'admin' | 'staff' | undefined;
  readonly tier: Tier | undefined;
  readonly suspended: boolean | undefined;
}

/** Of account `a`. What is of the person is read from all linked accounts. */
function personColumns(sql: Queries) {
  return sql`
    a.id, a.username, a.name, a.email, a.tier, a.created_at_ms, h.suspended_at_ms, h.suspended_reason, h.suspended_by,
    array(select p.id from account p where p.person_id = a.person_id and p.id <> a.id order by p.id) as linked,
    (select bool_or(p.is_admin) from account p where p.person_id = a.person_id) as is_admin,
    (select bool_or(p.is_staff) from account p where p.person_id = a.person_id) as is_staff,
    greatest(
      (select max(s.last_used_at_ms) from session s where s.account_id = a.id),
      (select max(t.last_used_at_ms) from access_token t where t.user_id = a.id)
    ) as last_seen_at_ms,
    (select count(*)::int from workspace_member m join workspace w on w.id = m.workspace_id where m.user_id = a.id and w.deleted_at_ms is null)
      as workspaces,
    (select count(*)::int from artifact r where r.owner_id = a.id) as artifacts,
    (select count(*)::int from artifact r where r.owner_id = a.id and r.visibility = 'public' and r.deleted_at_ms is null) as public_pages,
    coalesce((select u.bytes from account_usage u where u.account_id = a.id), 0)::bigint as bytes
    from account a left join lateral (
      select p.suspended_at_ms, p.suspended_reason, p.suspended_by from account p
      where p.person_id = a.person_id and p.suspended_at_ms is not null order by p.suspended_at_ms, p.id limit 1
    ) h on true`;
}

function isFound(sql: Queries, { q, role, tier, suspended }: PeopleFilter) {
  return sql`
    true
    ${q === undefined || q === '' ? sql`` : sql`and (a.id = ${q} or position(lower(${q}) in lower(concat_ws(' ', a.email, a.name, a.username))) > 0)`}
    ${role === undefined ? sql`` : role === 'admin' ? sql`and exists (select from account p where p.person_id = a.person_id and p.is_admin)` : sql`and exists (select from account p where p.person_id = a.person_id and p.is_staff)`}
    ${tier === undefined ? sql`` : sql`and a.tier = ${tier}`}
    ${suspended === undefined ? sql`` : suspended ? sql`and ${isPersonSuspended(sql)}` : sql`and not ${isPersonSuspended(sql)}`}`;
}

/** Newest first. */
export function listPeople(sql: Queries, filter: PeopleFilter, after: PageKey, rowsMax: number) {
  return sql<PersonRow[]>`
    select ${personColumns(sql)}
    where ${isFound(sql, filter)} and (a.created_at_ms, a.id) < (${after.number}, ${after.id})
    order by a.created_at_ms desc, a.id desc limit ${rowsMax}`;
}

export async function countPeople(sql: Queries, filter: PeopleFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from account a where ${isFound(sql, filter)}`;
  return row?.total ?? 0;
}

export async function readPerson(sql: Queries, id: UserId): Promise<PersonRow | null> {
  const [row] = await sql<PersonRow[]>`select ${personColumns(sql)} where a.id = ${id}`;
  return row ?? null;
}

/** Taken away from every account of the person, given to this one. */
export async function writeAdmin(tx: Queries, { id, linked }: Pick<PersonRow, 'id' | 'linked'>, isAdmin: boolean): Promise<void> {
  await tx`update account set is_admin = ${isAdmin} where id = any(${isAdmin ? [id] : [id, ...linked]}::text[])`;
}

export async function writeStaff(tx: Queries, { id, linked }: Pick<PersonRow, 'id' | 'linked'>, isStaff: boolean): Promise<void> {
  await tx`update account set is_staff = ${isStaff} where id = any(${isStaff ? [id] : [id, ...linked]}::text[])`;
}

export async function writeTier(tx: Queries, id: UserId, tier: Tier): Promise<void> {
  await tx`update account set tier = ${tier} where id = ${id}`;
}

/** Of all accounts of the person. */
export async function suspendPerson(
  tx: Queries,
  { id, linked }: Pick<PersonRow, 'id' | 'linked'>,
  { reason, by, nowMs }: { readonly reason: string; readonly by: UserId; readonly nowMs: number },
): Promise<void> {
  await tx`
    update account set suspended_at_ms = coalesce(suspended_at_ms, ${nowMs}), suspended_reason = ${reason}, suspended_by = ${by}
    where id = any(${[id, ...linked]}::text[])`;
}

export async function unsuspendPerson(tx: Queries, { id, linked }: Pick<PersonRow, 'id' | 'linked'>): Promise<void> {
  await tx`
    update account set suspended_at_ms = null, suspended_reason = null, suspended_by = null
    where id = any(${[id, ...linked]}::text[])`;
}
