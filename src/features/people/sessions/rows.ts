/** The SQL of `session`. */
import type { SessionId, UserId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { SessionCookie } from '../../../edge/session-cookies.ts';
import type { Queries } from '../../deps.ts';
import { type StandingRow, standingColumns } from '../persons/rows.ts';
import type { TokenUses } from '../tokens/rows.ts';

export interface NewSession {
  readonly id: SessionId;
  readonly accountId: UserId;
  readonly secretSha256: Buffer;
  readonly cookie: SessionCookie;
  readonly device: string;
  readonly address: string;
  readonly nowMs: number;
  readonly endsAtMs: number;
}

export async function insertSession(tx: Queries, spec: NewSession): Promise<void> {
  await tx`
    insert into session (id, account_id, secret_sha256, cookie, device, address, created_at_ms, last_used_at_ms, ends_at_ms)
    values (${spec.id}, ${spec.accountId}, ${spec.secretSha256}, ${spec.cookie}, ${spec.device}, ${spec.address}, ${spec.nowMs},
      ${spec.nowMs}, ${spec.endsAtMs})`;
}

/** A session that a fact on the bus must name once it is revoked. */
export interface EndedSession {
  readonly id: SessionId;
  readonly secret_sha256: Buffer;
}

export interface SessionFound extends StandingRow {
  readonly id: SessionId;
  readonly account_id: UserId;
  readonly last_used_at_ms: number;
  readonly ends_at_ms: number;
  readonly revoked_at_ms: number | null;
}

export async function readSession(sql: Queries, secretSha256: Buffer): Promise<SessionFound | null> {
  const [row] = await sql<SessionFound[]>`
    select s.id, s.account_id, s.last_used_at_ms, s.ends_at_ms, s.revoked_at_ms, ${standingColumns(sql)}
    from session s join account a on a.id = s.account_id where s.secret_sha256 = ${secretSha256}`;
  return row ?? null;
}

export interface SessionRow {
  readonly id: SessionId;
  readonly device: string;
  readonly address: string;
  readonly created_at_ms: number;
  readonly last_used_at_ms: number;
}

/** Those of these accounts that count at `nowMs`, newest first. */
export function listSessions(sql: Queries, accounts: readonly UserId[], nowMs: number, idleMs: number, after: PageKey, rowsMax: number) {
  return sql<SessionRow[]>`
    select id, device, address, created_at_ms, last_used_at_ms from session
    where account_id = any(${[...accounts]}::text[]) and revoked_at_ms is null and ends_at_ms > ${nowMs} and last_used_at_ms > ${nowMs - idleMs}
      and (created_at_ms < ${after.number} or (created_at_ms = ${after.number} and id > ${after.id}))
    order by created_at_ms desc, id limit ${rowsMax}`;
}

export async function countSessions(sql: Queries, accounts: readonly UserId[], nowMs: number, idleMs: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from session
    where account_id = any(${[...accounts]}::text[]) and revoked_at_ms is null and ends_at_ms > ${nowMs} and last_used_at_ms > ${nowMs - idleMs}`;
  return row?.total ?? 0;
}

/** Null where these accounts have no such session, or it is revoked already. */
export async function revokeSession(sql: Queries, accounts: readonly UserId[], id: SessionId, nowMs: number): Promise<EndedSession | null> {
  const [row] = await sql<EndedSession[]>`
    update session set revoked_at_ms = ${nowMs}
    where id = ${id} and account_id = any(${[...accounts]}::text[]) and revoked_at_ms is null
    returning id, secret_sha256`;
  return row ?? null;
}

export async function revokeBySecret(sql: Queries, secretSha256: Buffer, nowMs: number): Promise<EndedSession | null> {
  const [row] = await sql<EndedSession[]>`
    update session set revoked_at_ms = ${nowMs} where secret_sha256 = ${secretSha256} and revoked_at_ms is null
    returning id, secret_sha256`;
  return row ?? null;
}

/** All of these accounts but `kept`. */
export async function revokeAll(
  sql: Queries,
  accounts: readonly UserId[],
  kept: string | null,
  nowMs: number,
): Promise<readonly EndedSession[]> {
  return sql<EndedSession[]>`
    update session set revoked_at_ms = ${nowMs}
    where account_id = any(${[...accounts]}::text[]) and revoked_at_ms is null and id is distinct from ${kept}
    returning id, secret_sha256`;
}

/** Makes room for one more: those that were not used for the longest time end. */
export async function revokeBeyond(tx: Queries, accountId: UserId, sessionsMax: number, nowMs: number): Promise<readonly EndedSession[]> {
  return tx<EndedSession[]>`
    update session set revoked_at_ms = ${nowMs}
    where id in (
      select id from session where account_id = ${accountId} and revoked_at_ms is null
      order by last_used_at_ms desc, id offset ${sessionsMax - 1}
    )
    returning id, secret_sha256`;
}

export async function writeSessionUses(sql: Queries, used: TokenUses): Promise<void> {
  await sql`
    update session s set last_used_at_ms = greatest(s.last_used_at_ms, u.used_ms)
    from unnest(${used.map(([id]) => id)}::text[], ${used.map(([, usedMs]) => usedMs)}::bigint[]) as u (id, used_ms)
    where s.id = u.id`;
}

/** Ended sessions are kept for a while, so that their browsers learn `revoked` or `expired` and not just `invalid`. */
export async function deleteDeadSessions(sql: Queries, deadBeforeMs: number, idleMs: number): Promise<number> {
  return (
    await sql`
      delete from session where least(revoked_at_ms, ends_at_ms, last_used_at_ms + ${idleMs}::bigint) <= ${deadBeforeMs}`
  ).count;
}
