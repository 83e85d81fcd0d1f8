/** Mail to be sent: written in the transaction of its cause where there is one, and sent from here however often the process ends. */
import { type ArtifactId, newId } from '../../../protocol/ids.ts';
import type { Queries } from '../deps.ts';

export type MailKind = 'guest_code' | 'mention' | 'assigned';

export interface Mail {
  readonly artifactId: ArtifactId;
  readonly kind: MailKind;
  /** One address. */
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
}

/** Queues mail; wake the sender after the commit. */
export async function queueMail(sql: Queries, mails: readonly Mail[], nowMs: number): Promise<void> {
  if (mails.length === 0) return;
  const rows = mails.map((mail) => ({
    id: newId('mail'),
    artifact_id: mail.artifactId,
    kind: mail.kind,
    recipient: mail.recipient,
    subject: mail.subject,
    text_body: mail.text,
    next_attempt_at_ms: nowMs,
    created_at_ms: nowMs,
  }));
  await sql`insert into mail_outbox ${sql(rows)}`;
}

/** How many mails of some kinds were queued since, for a recipient or for an artifact. */
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
  /** With the one that is now. */
  readonly attempts: number;
  readonly createdAtMs: number;
}

/** Takes what is due, so that no other process takes it before `untilMs`; then it counts as failed. */
export function takeDue(sql: Queries, { nowMs, untilMs, limit }: { nowMs: number; untilMs: number; limit: number }) {
  return sql<DueMail[]>`
    update mail_outbox set attempts = attempts + 1, next_attempt_at_ms = ${untilMs}
    where id in (
      select id from mail_outbox where sent_at_ms is null and next_attempt_at_ms <= ${nowMs}
      order by next_attempt_at_ms, id limit ${limit} for update skip locked
    )
    returning id, recipient, subject, text_body as text, html_body as html, reply_to as "replyTo", attempts, created_at_ms as "createdAtMs"`;
}

export async function markSent(sql: Queries, id: string, nowMs: number): Promise<void> {
  await sql`update mail_outbox set sent_at_ms = ${nowMs}, next_attempt_at_ms = null, failure = null where id = ${id}`;
}

/** `nextAtMs` null gives it up. */
export async function markFailed(sql: Queries, id: string, failure: string, nextAtMs: number | null): Promise<void> {
  await sql`update mail_outbox set failure = ${failure.slice(0, 500)}, next_attempt_at_ms = ${nextAtMs} where id = ${id}`;
}

/** When the next mail is due, Unix ms; null where none waits. */
export async function nextDueMs(sql: Queries): Promise<number | null> {
  const [row] = await sql<{ at: number | null }[]>`select min(next_attempt_at_ms) as at from mail_outbox where sent_at_ms is null`;
  return row?.at ?? null;
}

/** What was sent or given up before; how many. */
export async function deleteOldMail(sql: Queries, createdBeforeMs: number): Promise<number> {
  return (await sql`delete from mail_outbox where created_at_ms <= ${createdBeforeMs} and next_attempt_at_ms is null`).count;
}
