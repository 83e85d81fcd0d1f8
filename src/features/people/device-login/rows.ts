/** The SQL of `device_login`. */
import type { TokenId, UserId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface NewDeviceLogin {
  readonly device_sha256: Buffer;
  readonly user_code: string;
  readonly public_key: Buffer;
  readonly expected_email: string | null;
  readonly client_name: string | null;
  readonly host_name: string | null;
  readonly address: string;
  readonly network: string;
  readonly interval_s: number;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
}

export interface DeviceLoginRow extends NewDeviceLogin {
  readonly status: 'pending' | 'approved' | 'denied';
  readonly polled_at_ms: number | null;
  readonly user_id: UserId | null;
  readonly token_id: TokenId | null;
  readonly sealed_token: Buffer | null;
  readonly warn: string | null;
}

/** Serialises the starts of all networks, so that each counts what the others have begun. */
export async function lockStarts(tx: Queries): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('device logins', 0))`;
}

export async function countWaiting(tx: Queries, network: string, nowMs: number): Promise<{ readonly all: number; readonly own: number }> {
  const [row] = await tx<{ all: number; own: number }[]>`
    select count(*)::int as all, (count(*) filter (where network = ${network}))::int as own
    from device_login where expires_at_ms > ${nowMs}`;
  return row ?? { all: 0, own: 0 };
}

/** False where another login has this short code. */
export async function insertLogin(tx: Queries, login: NewDeviceLogin): Promise<boolean> {
  const done = await tx`
    insert into device_login (
      device_sha256, user_code, public_key, status, expected_email, client_name, host_name, address, network, interval_s, created_at_ms, expires_at_ms)
    values (
      ${login.device_sha256}, ${login.user_code}, ${login.public_key}, 'pending', ${login.expected_email}, ${login.client_name},
      ${login.host_name}, ${login.address}, ${login.network}, ${login.interval_s}, ${login.created_at_ms}, ${login.expires_at_ms})
    on conflict (user_code) do nothing`;
  return done.count === 1;
}

export async function lockByDevice(tx: Queries, deviceSha256: Buffer): Promise<DeviceLoginRow | undefined> {
  const [row] = await tx<DeviceLoginRow[]>`
    select device_sha256, user_code, public_key, status, expected_email, client_name, host_name, address, network, interval_s,
      polled_at_ms, created_at_ms, expires_at_ms, user_id, token_id, sealed_token, warn
    from device_login where device_sha256 = ${deviceSha256} for update`;
  return row;
}

/** A login that waits for approval. */
export async function readPending(sql: Queries, userCode: string, nowMs: number): Promise<DeviceLoginRow | undefined> {
  const [row] = await sql<DeviceLoginRow[]>`
    select device_sha256, user_code, public_key, status, expected_email, client_name, host_name, address, network, interval_s,
      polled_at_ms, created_at_ms, expires_at_ms, user_id, token_id, sealed_token, warn
    from device_login where user_code = ${userCode} and status = 'pending' and expires_at_ms > ${nowMs}`;
  return row;
}

export async function notePoll(tx: Queries, deviceSha256: Buffer, intervalS: number, nowMs: number): Promise<void> {
  await tx`update device_login set polled_at_ms = ${nowMs}, interval_s = ${intervalS} where device_sha256 = ${deviceSha256}`;
}

export async function deleteLogin(tx: Queries, deviceSha256: Buffer): Promise<void> {
  await tx`delete from device_login where device_sha256 = ${deviceSha256}`;
}

/** False where it waits no more: somebody else has decided, or it has expired. */
export async function markDenied(sql: Queries, userCode: string, nowMs: number): Promise<boolean> {
  const done = await sql`
    update device_login set status = 'denied'
    where user_code = ${userCode} and status = 'pending' and expires_at_ms > ${nowMs}`;
  return done.count === 1;
}

export interface Approval {
  readonly userId: UserId;
  readonly tokenId: TokenId;
  readonly sealedToken: Buffer;
  readonly warn: string | null;
}

export async function markApproved(tx: Queries, deviceSha256: Buffer, approval: Approval): Promise<void> {
  await tx`
    update device_login set status = 'approved', user_id = ${approval.userId}, token_id = ${approval.tokenId},
      sealed_token = ${approval.sealedToken}, warn = ${approval.warn}
    where device_sha256 = ${deviceSha256}`;
}

/** Whether a token that waits for its program still counts. It does not where it was revoked, or its account, meanwhile. */
export async function isUsable(tx: Queries, tokenId: TokenId, nowMs: number): Promise<boolean> {
  const [row] = await tx`
    select 1 from access_token where id = ${tokenId} and revoked_at_ms is null and (expires_at_ms is null or expires_at_ms > ${nowMs})`;
  return row !== undefined;
}

/** Expired ones are kept for a while, so that their programs learn what has happened. */
export async function deleteOldLogins(sql: Queries, expiredBeforeMs: number): Promise<number> {
  return (await sql`delete from device_login where expires_at_ms <= ${expiredBeforeMs}`).count;
}
