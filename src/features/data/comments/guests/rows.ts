/** The SQL of guests and their codes. */
import type { ArtifactId, GuestId } from '../../../../../protocol/core/ids.ts';
import type { Queries } from '../../../deps.ts';

/** An e-mail address on one artifact. */
export interface GuestAddress {
  readonly artifactId: ArtifactId;
  readonly email: string;
}

export interface CodeRow {
  readonly name: string;
  readonly code_sha256: Buffer;
  readonly attempts_left: number;
  readonly expires_at_ms: number;
}

export interface NewCode extends CodeRow {
  readonly created_at_ms: number;
}

export interface NewGuestToken {
  readonly guestId: GuestId;
  readonly name: string;
  readonly tokenId: string;
  readonly tokenSha256: Buffer;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Serialises the transactions of one address, so that each counts what the others have sent and tried. */
export async function lockAddress(tx: Queries, email: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`guest ${email}`}, 0))`;
}

/** Replaces the previous code of the address. */
export async function putCode(tx: Queries, { artifactId, email }: GuestAddress, code: NewCode): Promise<void> {
  await tx`
    insert into comment_guest_code (artifact_id, email, name, code_sha256, attempts_left, created_at_ms, expires_at_ms)
    values (${artifactId}, ${email}, ${code.name}, ${code.code_sha256}, ${code.attempts_left}, ${code.created_at_ms}, ${code.expires_at_ms})
    on conflict (artifact_id, email) do update set name = excluded.name, code_sha256 = excluded.code_sha256,
      attempts_left = excluded.attempts_left, created_at_ms = excluded.created_at_ms, expires_at_ms = excluded.expires_at_ms`;
}

export async function readCode(tx: Queries, { artifactId, email }: GuestAddress): Promise<CodeRow | undefined> {
  const [row] = await tx<CodeRow[]>`
    select name, code_sha256, attempts_left, expires_at_ms from comment_guest_code
    where artifact_id = ${artifactId} and email = ${email} for update`;
  return row;
}

export async function deleteCode(tx: Queries, { artifactId, email }: GuestAddress): Promise<void> {
  await tx`delete from comment_guest_code where artifact_id = ${artifactId} and email = ${email}`;
}

export async function spendAttempt(tx: Queries, { artifactId, email }: GuestAddress): Promise<void> {
  await tx`update comment_guest_code set attempts_left = attempts_left - 1 where artifact_id = ${artifactId} and email = ${email}`;
}

/** The guest who has proved this address on this artifact before. */
export async function findGuest(tx: Queries, { artifactId, email }: GuestAddress): Promise<GuestId | undefined> {
  const [row] = await tx<{ id: GuestId }[]>`
    select id from comment_guest where artifact_id = ${artifactId} and email = ${email} limit 1`;
  return row?.id;
}

export async function insertGuestToken(tx: Queries, { artifactId, email }: GuestAddress, token: NewGuestToken): Promise<void> {
  await tx`
    insert into comment_guest (id, artifact_id, email, name, token_id, token_sha256, created_at_ms, expires_at_ms)
    values (${token.guestId}, ${artifactId}, ${email}, ${token.name}, ${token.tokenId}, ${token.tokenSha256},
      ${token.createdAtMs}, ${token.expiresAtMs})`;
}

/** Deletes expired codes and superseded tokens; answers how many rows. */
export async function deleteOldGuests(sql: Queries, nowMs: number, tokensExpiredBeforeMs: number): Promise<number> {
  return (await deleteExpiredCodes(sql, nowMs)) + (await deleteSupersededTokens(sql, tokensExpiredBeforeMs));
}

async function deleteExpiredCodes(sql: Queries, nowMs: number): Promise<number> {
  return (await sql`delete from comment_guest_code where expires_at_ms <= ${nowMs}`).count;
}

/** Keeps the last token of each guest: its row is the only record that ties the address to the guest id. */
async function deleteSupersededTokens(sql: Queries, expiredBeforeMs: number): Promise<number> {
  const deleted = await sql`
    delete from comment_guest g where g.expires_at_ms <= ${expiredBeforeMs} and exists (
      select 1 from comment_guest o where o.artifact_id = g.artifact_id and o.email = g.email and o.expires_at_ms > g.expires_at_ms
    )`;
  return deleted.count;
}
