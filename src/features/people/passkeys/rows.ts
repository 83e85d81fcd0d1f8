/** The SQL of `passkey` and `passkey_challenge`. */
import type { PasskeyId, UserId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface PasskeyRow {
  readonly id: PasskeyId;
  readonly account_id: UserId;
  /** As the authenticator names it, base64url. */
  readonly credential_id: string;
  readonly public_key: Buffer;
  readonly counter: number;
  readonly transports: string[];
  readonly name: string;
  readonly created_at_ms: number;
  readonly last_used_at_ms: number | null;
}

export function listPasskeys(sql: Queries, accounts: readonly UserId[]) {
  return sql<PasskeyRow[]>`
    select id, account_id, credential_id, public_key, counter, transports, name, created_at_ms, last_used_at_ms from passkey
    where account_id = any(${[...accounts]}::text[]) order by created_at_ms, id`;
}

export async function findPasskey(sql: Queries, credentialId: string): Promise<PasskeyRow | null> {
  const [row] = await sql<PasskeyRow[]>`
    select id, account_id, credential_id, public_key, counter, transports, name, created_at_ms, last_used_at_ms from passkey
    where credential_id = ${credentialId}`;
  return row ?? null;
}

export async function insertPasskey(tx: Queries, row: Omit<PasskeyRow, 'last_used_at_ms'>): Promise<void> {
  await tx`
    insert into passkey (id, account_id, credential_id, public_key, counter, transports, name, created_at_ms)
    values (${row.id}, ${row.account_id}, ${row.credential_id}, ${row.public_key}, ${row.counter}, ${row.transports}, ${row.name},
      ${row.created_at_ms})`;
}

/** False where the passkey is gone, or its counter has been seen: then it is a copy. */
export async function usePasskey(tx: Queries, id: PasskeyId, before: number, counter: number, nowMs: number): Promise<boolean> {
  const used = await tx`
    update passkey set counter = ${counter}, last_used_at_ms = ${nowMs} where id = ${id} and counter = ${before} returning id`;
  return used.length > 0;
}

export async function deletePasskey(sql: Queries, accounts: readonly UserId[], id: PasskeyId): Promise<boolean> {
  return (await sql`delete from passkey where id = ${id} and account_id = any(${[...accounts]}::text[])`).count > 0;
}

/** `accountId`: that gets a new passkey; null for a sign-in. An account has one challenge at a time. */
export async function insertChallenge(sql: Queries, challenge: string, accountId: UserId | null, expiresAtMs: number): Promise<void> {
  await sql`delete from passkey_challenge where account_id = ${accountId}`;
  await sql`insert into passkey_challenge (challenge, account_id, expires_at_ms) values (${challenge}, ${accountId}, ${expiresAtMs})`;
}

/** It counts once. */
export async function takeChallenge(sql: Queries, challenge: string, accountId: UserId | null, nowMs: number): Promise<boolean> {
  const taken = await sql`
    delete from passkey_challenge
    where challenge = ${challenge} and account_id is not distinct from ${accountId} and expires_at_ms > ${nowMs} returning challenge`;
  return taken.length > 0;
}

export async function deleteExpiredChallenges(sql: Queries, nowMs: number): Promise<number> {
  return (await sql`delete from passkey_challenge where expires_at_ms <= ${nowMs}`).count;
}
