/** The SQL of `sign_in` and `email_code`. */
import { randomUUID } from 'node:crypto';
import type { UserId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

/** The provider of sign-ins with an e-mail address. */
export const EMAIL = 'email';

/** Makes the transactions of one name wait for each other. Take locks in the order of their names. */
export async function lockName(tx: Queries, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`sign-in ${name}`}, 0))`;
}

export interface NewSignIn {
  readonly accountId: UserId;
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly isProved: boolean;
  readonly nowMs: number;
}

export async function insertSignIn(tx: Queries, spec: NewSignIn): Promise<void> {
  await tx`
    insert into sign_in (account_id, provider, issuer, subject, email, email_proved, linked_at_ms, last_used_at_ms)
    values (${spec.accountId}, ${spec.provider}, ${spec.issuer}, ${spec.subject}, ${spec.email}, ${spec.isProved}, ${spec.nowMs}, ${spec.nowMs})`;
}

export async function findSignIn(sql: Queries, issuer: string, subject: string): Promise<UserId | null> {
  const [row] = await sql<{ account_id: UserId }[]>`
    select account_id from sign_in where issuer = ${issuer} and subject = ${subject}`;
  return row?.account_id ?? null;
}

/** What the provider says now, and that the sign-in was used. */
export async function updateSignIn(tx: Queries, { accountId, email, isProved, nowMs }: Omit<NewSignIn, 'issuer' | 'subject' | 'provider'>) {
  await tx`
    update sign_in set email = ${email}, email_proved = ${isProved}, last_used_at_ms = ${nowMs} where account_id = ${accountId}`;
}

/** False where the password has been changed since it was read: then nobody may sign in with it. */
export async function usePassword(tx: Queries, { account_id, password_hash }: EmailSignIn, nowMs: number): Promise<boolean> {
  const used = await tx`
    update sign_in set last_used_at_ms = ${nowMs} where account_id = ${account_id} and password_hash = ${password_hash} returning account_id`;
  return used.length > 0;
}

/** Another account that has proved this address, the oldest first. */
export async function findByProvedEmail(tx: Queries, email: string, otherThan: UserId): Promise<UserId | null> {
  const [row] = await tx<{ account_id: UserId }[]>`
    select account_id from sign_in where email = ${email} and email_proved and account_id <> ${otherThan}
    order by linked_at_ms, account_id limit 1`;
  return row?.account_id ?? null;
}

export interface EmailSignIn {
  readonly account_id: UserId;
  readonly email: string;
  readonly password_hash: string | null;
}

export async function readEmailSignIn(sql: Queries, email: string): Promise<EmailSignIn | null> {
  const [row] = await sql<EmailSignIn[]>`
    select account_id, subject as email, password_hash from sign_in where issuer = '' and subject = ${email}`;
  return row ?? null;
}

/** The sign-in by e-mail of one of these accounts: that of `preferred` where it has one, else the oldest. */
export async function readEmailSignInOf(sql: Queries, accounts: readonly UserId[], preferred: UserId): Promise<EmailSignIn | null> {
  const [row] = await sql<EmailSignIn[]>`
    select account_id, subject as email, password_hash from sign_in
    where account_id = any(${[...accounts]}::text[]) and provider = ${EMAIL}
    order by account_id <> ${preferred}, linked_at_ms, account_id limit 1`;
  return row ?? null;
}

export async function writePassword(tx: Queries, accountId: UserId, hash: string): Promise<void> {
  await tx`update sign_in set password_hash = ${hash} where account_id = ${accountId} and provider = ${EMAIL}`;
}

/** The address of an account is a proved one. */
export async function writeEmail(tx: Queries, accountId: UserId, email: string): Promise<void> {
  await tx`update account set email = ${email} where id = ${accountId}`;
}

export type CodePurpose = 'sign_in' | 'sign_up' | 'reset' | 'link';

export interface CodeOf {
  readonly email: string;
  readonly purpose: CodePurpose;
  /** The account that the address is to be linked to; null for other purposes. */
  readonly accountId: UserId | null;
}

export interface NewCode extends CodeOf {
  readonly id: string;
  readonly digest: Buffer;
  readonly triesLeft: number;
  readonly nowMs: number;
  readonly expiresAtMs: number;
  readonly passwordHash: string | null;
  readonly name: string | null;
}

export async function insertCode(tx: Queries, spec: NewCode): Promise<void> {
  await tx`
    insert into email_code (id, email, purpose, code_sha256, tries_left, created_at_ms, expires_at_ms, password_hash, name, account_id)
    values (${spec.id}, ${spec.email}, ${spec.purpose}, ${spec.digest}, ${spec.triesLeft}, ${spec.nowMs}, ${spec.expiresAtMs},
      ${spec.passwordHash}, ${spec.name}, ${spec.accountId})`;
}

export interface CodeRow {
  readonly id: string;
  readonly code_sha256: Buffer;
  readonly password_hash: string | null;
  readonly name: string | null;
}

/** Those that still count, newest first. */
export function liveCodes(tx: Queries, { email, purpose, accountId }: CodeOf, nowMs: number) {
  return tx<CodeRow[]>`
    select id, code_sha256, password_hash, name from email_code
    where email = ${email} and purpose = ${purpose} and account_id is not distinct from ${accountId}
      and expires_at_ms > ${nowMs} and tries_left > 0
    order by created_at_ms desc, id for update`;
}

export async function spendTries(tx: Queries, ids: readonly string[]): Promise<void> {
  await tx`update email_code set tries_left = tries_left - 1 where id = any(${[...ids]}::text[])`;
}

export async function deleteCodes(tx: Queries, { email, purpose, accountId }: CodeOf): Promise<void> {
  await tx`
    delete from email_code
    where email = ${email} and purpose = ${purpose} and account_id is not distinct from ${accountId}`;
}

/** A password that somebody chose for an address before its owner has proved it never counts. */
export async function forgetPendingPasswords(tx: Queries, email: string): Promise<void> {
  await tx`delete from email_code where email = ${email} and purpose = 'sign_up'`;
}

export async function deleteExpiredCodes(sql: Queries, nowMs: number): Promise<number> {
  return (await sql`delete from email_code where expires_at_ms <= ${nowMs}`).count;
}

export function newCodeId(): string {
  return randomUUID();
}
