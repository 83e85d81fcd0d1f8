/** The SQL of the mail pages: reads of the outbox. */
import type { Queries } from '../features/deps.ts';

export interface MailSummary {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly createdAtMs: number;
}

export interface WholeMail extends MailSummary {
  readonly text: string;
  readonly html: string | null;
}

/** Newest first, without those that are not sent because their recipients want none. */
export function listMail(sql: Queries, rowsMax: number): Promise<MailSummary[]> {
  return sql<MailSummary[]>`
    select id, recipient, subject, created_at_ms as "createdAtMs" from mail_outbox
    where suppressed_at_ms is null
    order by created_at_ms desc, id desc limit ${rowsMax}`;
}

export async function readMail(sql: Queries, id: string): Promise<WholeMail | undefined> {
  const [row] = await sql<WholeMail[]>`
    select id, recipient, subject, created_at_ms as "createdAtMs", coalesce(text_body, '') as text, html_body as html
    from mail_outbox where id = ${id} and suppressed_at_ms is null`;
  return row;
}
