/** The SQL of `sign_in_attempt`. */
import type { Queries } from '../../deps.ts';

export interface NewAttempt {
  readonly stateSha256: Buffer;
  readonly browserSha256: Buffer;
  readonly provider: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly returnTo: string;
  /** For linking: the session that began it. */
  readonly sessionId: string | null;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

export async function insertAttempt(sql: Queries, spec: NewAttempt): Promise<void> {
  await sql`
    insert into sign_in_attempt (state_sha256, browser_sha256, provider, nonce, code_verifier, return_to, session_id, created_at_ms, expires_at_ms)
    values (${spec.stateSha256}, ${spec.browserSha256}, ${spec.provider}, ${spec.nonce}, ${spec.codeVerifier}, ${spec.returnTo},
      ${spec.sessionId}, ${spec.nowMs}, ${spec.expiresAtMs})`;
}

export interface AttemptRow {
  readonly nonce: string;
  readonly code_verifier: string;
  readonly return_to: string;
  readonly session_id: string | null;
}

/** Takes the attempt that this browser began with this provider; it counts once. */
export async function takeAttempt(
  sql: Queries,
  { stateSha256, browserSha256, provider, nowMs }: Pick<NewAttempt, 'stateSha256' | 'browserSha256' | 'provider' | 'nowMs'>,
): Promise<AttemptRow | null> {
  const [row] = await sql<AttemptRow[]>`
    delete from sign_in_attempt
    where state_sha256 = ${stateSha256} and browser_sha256 = ${browserSha256} and provider = ${provider} and expires_at_ms > ${nowMs}
    returning nonce, code_verifier, return_to, session_id`;
  return row ?? null;
}

export async function deleteExpiredAttempts(sql: Queries, nowMs: number): Promise<number> {
  return (await sql`delete from sign_in_attempt where expires_at_ms <= ${nowMs}`).count;
}
