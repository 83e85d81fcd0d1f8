/** The SQL of `account`. */
import type { JSONValue } from 'postgres';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { PersonId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { Queries } from '../../deps.ts';

export interface AccountRow {
  readonly id: UserId;
  readonly username: string | null;
  readonly name: string | null;
  readonly email: string | null;
  readonly tier: Tier;
  readonly metadata: Record<string, unknown>;
  readonly created_at_ms: number;
}

export interface NewAccount {
  readonly id: UserId;
  readonly personId: PersonId;
  readonly tier: Tier;
  readonly isAdmin: boolean;
  readonly nowMs: number;
  readonly name?: string | null;
}

export async function insertAccount(sql: Queries, spec: NewAccount): Promise<void> {
  await sql`
    insert into account (id, person_id, tier, is_admin, name, created_at_ms)
    values (${spec.id}, ${spec.personId}, ${spec.tier}, ${spec.isAdmin}, ${spec.name ?? null}, ${spec.nowMs})`;
}

/** Throws UNAUTHORIZED: a caller whose token was accepted and whose account is missing was removed together with the token. */
export async function readAccount(sql: Queries, userId: UserId): Promise<AccountRow> {
  const [row] = await sql<AccountRow[]>`
    select id, username, name, email, tier, metadata, created_at_ms from account where id = ${userId}`;
  if (row === undefined) throw new Failure('UNAUTHORIZED', { reason: 'revoked' });
  return row;
}

/** The tier of a caller: the best of all linked accounts. Throws UNAUTHORIZED as `readAccount` does. */
export async function tierOf(sql: Queries, userId: UserId): Promise<Tier> {
  const [row] = await sql<{ tier: Tier }[]>`
    select p.tier from account a join account p on p.person_id = a.person_id where a.id = ${userId}
    order by array_position(array['team', 'pro', 'free'], p.tier) limit 1`;
  if (row === undefined) throw new Failure('UNAUTHORIZED', { reason: 'revoked' });
  return row.tier;
}

/** The tier that decides about an artifact: the best of the caller's and the workspace's. Throws UNAUTHORIZED as `readAccount` does. */
export async function tierIn(sql: Queries, userId: UserId | null, workspaceId: WorkspaceId | null): Promise<Tier> {
  const [row] = await sql<{ tier: Tier }[]>`
    select t.tier from (
      select p.tier from account a join account p on p.person_id = a.person_id where a.id = ${userId}
      union all select workspace_tier(${workspaceId})
    ) t where t.tier is not null
    order by array_position(array['team', 'pro', 'free'], t.tier) limit 1`;
  if (row === undefined) throw new Failure('UNAUTHORIZED', { reason: 'revoked' });
  return row.tier;
}

/** The name to show others, else the username; null inside where there is neither, null where there is no account. */
export async function readShownName(sql: Queries, userId: UserId): Promise<{ readonly name: string | null } | null> {
  const [row] = await sql<{ name: string | null }[]>`
    select coalesce(nullif(name, ''), username) as name from account where id = ${userId}`;
  return row ?? null;
}

/** Makes changes of one account wait for each other until the transaction ends. */
export async function lockAccount(tx: Queries, userId: UserId): Promise<void> {
  await tx`select 1 from account where id = ${userId} for update`;
}

/** Of a person: of all linked accounts, because the best of them counts. */
export async function writeTier(tx: Queries, accounts: readonly UserId[], tier: Tier): Promise<void> {
  await tx`update account set tier = ${tier} where id = any(${[...accounts]}::text[])`;
}

interface ProfileChange {
  readonly username?: string | undefined;
  readonly name?: string | null | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
}

/** Writes only the fields that are given. Throws UNAUTHORIZED as `readAccount` does. */
export async function updateProfile(sql: Queries, userId: UserId, change: ProfileChange): Promise<AccountRow> {
  const metadata = change.metadata === undefined ? null : sql.json(change.metadata as JSONValue);
  const [row] = await sql<AccountRow[]>`
    update account set
      username = coalesce(${change.username ?? null}, username),
      name = case when ${change.name !== undefined} then ${change.name ?? null} else name end,
      metadata = coalesce(${metadata}::jsonb, metadata)
    where id = ${userId}
    returning id, username, name, email, tier, metadata, created_at_ms`;
  if (row === undefined) throw new Failure('UNAUTHORIZED', { reason: 'revoked' });
  return row;
}

/** The proved addresses of a person's accounts, in lowercase, that of `first` first. */
export async function readEmails(sql: Queries, accounts: readonly UserId[], first: UserId): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    select lower(email) as email from account where id = any(${[...accounts]}::text[]) and email is not null
    order by id <> ${first}, email`;
  return rows.map(({ email }) => email);
}
