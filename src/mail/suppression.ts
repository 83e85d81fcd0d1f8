/** The SQL of addresses that get no mail of pages: a mail server has said that there is none, or who reads it wants none of this page. */
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { Queries } from '../features/deps.ts';
import type { Statement } from '../storage/sql.ts';

const BOUNCE_MS = LIMITS.mailBounceDays * 24 * 3_600_000;

export type SuppressionReason = 'bounced' | 'opted_out';

/** Addresses are compared in lowercase, as they are stored. */
export async function suppressedAmong(
  sql: Queries,
  artifactId: ArtifactId,
  addresses: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, SuppressionReason>> {
  const wanted = sql`${addresses as string[]}::text[]`;
  const rows = await sql<{ address: string; reason: SuppressionReason }[]>`
    select address, 'bounced' as reason from mail_bounce where address = any(${wanted}) and expires_at_ms > ${nowMs}
    union all select address, 'opted_out' from mail_opt_out where artifact_id = ${artifactId} and address = any(${wanted})`;
  return new Map(rows.map(({ address, reason }) => [address, reason]));
}

export async function recordBounce(sql: Queries, address: string, failure: string, nowMs: number): Promise<void> {
  await sql`
    insert into mail_bounce (address, failure, bounced_at_ms, expires_at_ms)
    values (${address.toLowerCase()}, ${failure.slice(0, 500)}, ${nowMs}, ${nowMs + BOUNCE_MS})
    on conflict (address) do update
      set failure = excluded.failure, bounced_at_ms = excluded.bounced_at_ms, expires_at_ms = excluded.expires_at_ms`;
}

/** Mail of this page that waits for the address is not sent any more. False where the artifact is gone. */
export async function optOut(tx: Queries, artifactId: ArtifactId, address: string, nowMs: number): Promise<boolean> {
  const stored = await tx`
    insert into mail_opt_out (artifact_id, address, opted_out_at_ms)
    select r.id, ${address}, ${nowMs} from artifact r where r.id = ${artifactId}
    on conflict do nothing`;
  await tx`
    update mail_outbox set suppressed_at_ms = ${nowMs}, next_attempt_at_ms = null
    where artifact_id = ${artifactId} and recipient = ${address} and batch_id is not null and sent_at_ms is null
      and next_attempt_at_ms is not null`;
  return stored.count > 0;
}

/** Marks what is due and must not be sent, so that it is not taken: an address may bounce or opt out while other mail waits for it. */
export async function suppressDue(sql: Queries, nowMs: number): Promise<void> {
  await sql`
    update mail_outbox m set suppressed_at_ms = ${nowMs}, next_attempt_at_ms = null
    where m.batch_id is not null and m.sent_at_ms is null and m.next_attempt_at_ms <= ${nowMs} and ${isSuppressed(sql, nowMs)}`;
}

/** Of mail `m`. */
function isSuppressed(sql: Queries, nowMs: number): Statement {
  return sql`(
    exists (select 1 from mail_bounce b where b.address = m.recipient and b.expires_at_ms > ${nowMs})
    or exists (select 1 from mail_opt_out o where o.artifact_id = m.artifact_id and o.address = m.recipient))`;
}

export async function deleteOldBounces(sql: Queries, nowMs: number): Promise<number> {
  return (await sql`delete from mail_bounce where expires_at_ms <= ${nowMs}`).count;
}
