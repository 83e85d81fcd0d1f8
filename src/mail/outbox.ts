/** The SQL of the mail outbox. Mail is queued in the transaction of its cause where there is one, so that it survives restarts. */
import { type ArtifactId, type MailBatchId, newId } from '../../protocol/core/ids.ts';
import type { Queries } from '../features/deps.ts';
import type { Sql } from '../storage/sql.ts';
import type { Mail, MailKind } from './templates/compose.ts';

/** The caller wakes the sender after the commit. */
export async function queueMail(sql: Queries, mails: readonly Mail[], nowMs: number): Promise<void> {
  if (mails.length === 0) return;
  const rows = mails.map((mail) => ({
    id: newId('mail'),
    artifact_id: mail.artifactId,
    kind: mail.kind,
    recipient: mail.recipient,
    subject: mail.subject,
    text_body: mail.text,
    html_body: mail.html,
    next_attempt_at_ms: nowMs,
    created_at_ms: nowMs,
  }));
  await sql`insert into mail_outbox ${sql(rows)}`;
}

interface MailLimit {
  readonly artifactId: ArtifactId;
  /** The kinds that count towards one limit. */
  readonly kinds: readonly MailKind[];
  readonly sinceMs: number;
  readonly mailsMax: number;
}

/** Queues as many mails as the limit admits and answers how many. The caller wakes the sender afterwards. */
export function queueMailWithin(sql: Sql, mails: readonly Mail[], limit: MailLimit, nowMs: number): Promise<number> {
  return sql.begin(async (tx) => {
    await lockMailOf(tx, limit.artifactId);
    const queued = await countMail(tx, limit);
    const admitted = mails.slice(0, Math.max(0, limit.mailsMax - queued));
    await queueMail(tx, admitted, nowMs);
    return admitted.length;
  });
}

/**
 * Serialises counting and queueing for one artifact, across processes: otherwise two transactions could both find room for the last mail.
 * On the embedded database all connections share one session, so this lock has no effect; transactions run one after another there anyway.
 */
async function lockMailOf(tx: Queries, artifactId: ArtifactId): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`mail of ${artifactId}`}, 0))`;
}

/** Counts the mails of these kinds that were queued after `sinceMs`, for a recipient or for an artifact. */
export async function countMail(
  sql: Queries,
  wanted: { readonly kinds: readonly MailKind[]; readonly sinceMs: number } & (
    | { readonly recipient: string }
    | { readonly artifactId: ArtifactId }
  ),
): Promise<number> {
  const whose = 'recipient' in wanted ? sql`recipient = ${wanted.recipient}` : sql`artifact_id = ${wanted.artifactId}`;
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from mail_outbox
    where ${whose} and created_at_ms > ${wanted.sinceMs} and kind = any(${[...wanted.kinds]}::text[])`;
  return row?.count ?? 0;
}

export interface DueMail {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly replyTo: string | null;
  /** Message-IDs of what it answers and of its whole thread; null for mail that begins one. */
  readonly inReplyTo: string | null;
  readonly referenceIds: string | null;
  /** A person has written it, so that programs do not treat it as automatic. */
  readonly isPersonal: boolean;
  /** Null for mail that is not sent on behalf of a page. */
  readonly batchId: MailBatchId | null;
  /** Including the current attempt. */
  readonly attempts: number;
  readonly createdAtMs: number;
}

/** Leases due mail until `untilMs`. No other process takes it before; after that the attempt counts as failed. */
export function takeDue(sql: Queries, { nowMs, untilMs, limit }: { nowMs: number; untilMs: number; limit: number }) {
  return sql<DueMail[]>`
    update mail_outbox set attempts = attempts + 1, next_attempt_at_ms = ${untilMs}
    where id in (
      select id from mail_outbox where sent_at_ms is null and next_attempt_at_ms <= ${nowMs}
      order by next_attempt_at_ms, id limit ${limit} for update skip locked
    )
    returning id, recipient, subject, text_body as text, html_body as html, reply_to as "replyTo",
      in_reply_to as "inReplyTo", reference_ids as "referenceIds", is_personal as "isPersonal",
      batch_id as "batchId", attempts, created_at_ms as "createdAtMs"`;
}

export async function markSent(sql: Queries, id: string, nowMs: number): Promise<void> {
  await sql`update mail_outbox set sent_at_ms = ${nowMs}, next_attempt_at_ms = null, failure = null where id = ${id}`;
}

/**
 * `nextAtMs` null: no further attempt. Nothing changes where another process has tried it since, it is sent, or its recipient has opted out
 * while it was in flight.
 */
export async function markFailed(
  sql: Queries,
  { id, attempts }: Pick<DueMail, 'id' | 'attempts'>,
  failure: string,
  nextAtMs: number | null,
): Promise<void> {
  await sql`
    update mail_outbox set failure = ${failure.slice(0, 500)}, next_attempt_at_ms = ${nextAtMs}
    where id = ${id} and attempts = ${attempts} and sent_at_ms is null and suppressed_at_ms is null`;
}

/** When the next mail is due, Unix ms; null when none is waiting. */
export async function nextDueMs(sql: Queries): Promise<number | null> {
  const [row] = await sql<{ at: number | null }[]>`select min(next_attempt_at_ms) as at from mail_outbox where sent_at_ms is null`;
  return row?.at ?? null;
}

/** Deletes mail that was sent or given up; answers how many. */
export async function deleteOldMail(sql: Queries, createdBeforeMs: number): Promise<number> {
  return (await sql`delete from mail_outbox where created_at_ms <= ${createdBeforeMs} and next_attempt_at_ms is null`).count;
}
