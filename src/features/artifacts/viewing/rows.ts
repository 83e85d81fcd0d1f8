/** The SQL of `page_sign_in`. */
import type { ArtifactId, PageSignInId, SessionId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface NewPageSignIn {
  readonly id: PageSignInId;
  readonly sessionId: SessionId;
  readonly artifactId: ArtifactId;
  readonly challenge: Buffer;
  readonly ticketSha256: Buffer;
  readonly ticketEndsAtMs: number;
  readonly nowMs: number;
  readonly endsAtMs: number;
}

/** False where the session has ended meanwhile. */
export async function insertPageSignIn(sql: Queries, spec: NewPageSignIn): Promise<boolean> {
  const rows = await sql`
    insert into page_sign_in (id, session_id, artifact_id, challenge, ticket_sha256, ticket_ends_at_ms, created_at_ms, ends_at_ms)
    select ${spec.id}, s.id, ${spec.artifactId}, ${spec.challenge}, ${spec.ticketSha256}, ${spec.ticketEndsAtMs}, ${spec.nowMs},
      least(${spec.endsAtMs}::bigint, s.ends_at_ms)
    from session s where s.id = ${spec.sessionId} and s.revoked_at_ms is null
    returning id`;
  return rows.length > 0;
}

/** Makes room for one more of a session. */
export async function deleteBeyond(sql: Queries, sessionId: SessionId, keptMax: number): Promise<void> {
  await sql`
    delete from page_sign_in where id in (
      select id from page_sign_in where session_id = ${sessionId} order by created_at_ms desc, id offset ${keptMax - 1}
    )`;
}

export interface Redeemed {
  readonly ticketSha256: Buffer;
  readonly challenge: Buffer;
  readonly artifactId: ArtifactId;
  readonly secretSha256: Buffer;
  readonly nowMs: number;
}

/** Uses the ticket up in one statement, so that of two who bring it one gets in. False where it does not count. */
export async function redeemTicket(sql: Queries, spec: Redeemed): Promise<boolean> {
  const rows = await sql`
    update page_sign_in p set ticket_sha256 = null, secret_sha256 = ${spec.secretSha256}
    from session s
    where p.ticket_sha256 = ${spec.ticketSha256} and p.artifact_id = ${spec.artifactId} and p.challenge = ${spec.challenge}
      and p.ticket_ends_at_ms > ${spec.nowMs} and s.id = p.session_id and s.revoked_at_ms is null
    returning p.id`;
  return rows.length > 0;
}

export interface PageSignInRow {
  readonly id: PageSignInId;
  readonly artifact_id: ArtifactId;
  readonly session_id: SessionId;
  readonly session_sha256: Buffer;
  readonly ends_at_ms: number;
}

export async function readPageSignIn(sql: Queries, secretSha256: Buffer): Promise<PageSignInRow | null> {
  const [row] = await sql<PageSignInRow[]>`
    select p.id, p.artifact_id, p.session_id, s.secret_sha256 as session_sha256, p.ends_at_ms
    from page_sign_in p join session s on s.id = p.session_id
    where p.secret_sha256 = ${secretSha256} and s.revoked_at_ms is null`;
  return row ?? null;
}

/** Those that have ended, and those whose ticket nobody brought. */
export async function deleteEnded(sql: Queries, nowMs: number): Promise<number> {
  return (
    await sql`
      delete from page_sign_in where ends_at_ms <= ${nowMs} or (secret_sha256 is null and ticket_ends_at_ms <= ${nowMs})`
  ).count;
}
