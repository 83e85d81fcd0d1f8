/** The SQL of `ticket_message` and `ticket_attachment`. */
import type { TicketChannel } from '../../../../protocol/business/support.ts';
import type { TicketAttachmentId, TicketId, TicketMessageId, UserId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface AttachmentRow {
  readonly id: TicketAttachmentId;
  readonly filename: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  /** Lowercase hex. */
  readonly sha256: string;
}

export interface MessageRow {
  readonly id: TicketMessageId;
  readonly number: number;
  readonly authorKind: 'customer' | 'staff' | 'system';
  readonly authorName: string | null;
  readonly body: string;
  readonly quoted: string | null;
  readonly channel: TicketChannel;
  readonly isDraft: boolean;
  readonly mailMessageId: string | null;
  readonly mailId: string | null;
  readonly createdAtMs: number;
  readonly attachments: readonly AttachmentRow[];
}

function messages(sql: Queries) {
  return sql`
    select m.id, m.number, m.author_kind as "authorKind", m.author_name as "authorName", m.body, m.quoted, m.channel, m.is_draft as "isDraft",
      m.mail_message_id as "mailMessageId", m.mail_id as "mailId", m.created_at_ms as "createdAtMs", (
        select coalesce(json_agg(json_build_object(
          'id', a.id, 'filename', a.filename, 'mediaType', a.media_type, 'sizeBytes', a.size_bytes, 'sha256', encode(a.sha256, 'hex')
        ) order by a.position, a.id), '[]') from ticket_attachment a where a.message_id = m.id) as attachments
    from ticket_message m`;
}

/** The oldest first, from behind a number. `drafts`: whether those are seen too. */
export function listMessages(sql: Queries, ticketId: TicketId, drafts: boolean, after: number, rowsMax: number): Promise<MessageRow[]> {
  return sql<MessageRow[]>`
    ${messages(sql)} where m.ticket_id = ${ticketId} and m.number > ${after} and (not m.is_draft or ${drafts}) order by m.number limit ${rowsMax}`;
}

/** The last ones, the latest first. */
export function listLast(sql: Queries, ticketId: TicketId, drafts: boolean, rowsMax: number): Promise<MessageRow[]> {
  return sql<MessageRow[]>`
    ${messages(sql)} where m.ticket_id = ${ticketId} and (not m.is_draft or ${drafts}) order by m.number desc limit ${rowsMax}`;
}

export async function countMessages(sql: Queries, ticketId: TicketId, drafts: boolean): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from ticket_message m where m.ticket_id = ${ticketId} and (not m.is_draft or ${drafts})`;
  return row?.total ?? 0;
}

export async function readMessage(sql: Queries, ticketId: TicketId, id: TicketMessageId): Promise<MessageRow | null> {
  const [row] = await sql<MessageRow[]>`${messages(sql)} where m.id = ${id} and m.ticket_id = ${ticketId}`;
  return row ?? null;
}

/** The number of a message; 0 where the ticket has no such message. */
export async function numberOf(sql: Queries, ticketId: TicketId, id: TicketMessageId | null | undefined): Promise<number> {
  const [row] = await sql<{ number: number }[]>`
    select number from ticket_message where id = ${id ?? null}::text and ticket_id = ${ticketId} and not is_draft`;
  return row?.number ?? 0;
}

export interface NewMessageRow {
  readonly id: TicketMessageId;
  readonly ticketId: TicketId;
  readonly number: number;
  readonly authorKind: MessageRow['authorKind'];
  readonly authorId: UserId | null;
  readonly authorName: string | null;
  readonly body: string;
  readonly quoted: string | null;
  readonly channel: TicketChannel;
  readonly isDraft: boolean;
  readonly mailMessageId: string | null;
  readonly proofSha256: Uint8Array | null;
  readonly nowMs: number;
}

/** False where its proof of work was used before. */
export async function insertMessage(tx: Queries, row: NewMessageRow): Promise<boolean> {
  const inserted = await tx`
    insert into ticket_message (
      id, ticket_id, number, author_kind, author_id, author_name, body, quoted, channel, is_draft, mail_message_id, proof_sha256, created_at_ms)
    values (
      ${row.id}, ${row.ticketId}, ${row.number}, ${row.authorKind}, ${row.authorId}, ${row.authorName}, ${row.body}, ${row.quoted},
      ${row.channel}, ${row.isDraft}, ${row.mailMessageId}, ${row.proofSha256}, ${row.nowMs})
    on conflict (proof_sha256) do nothing`;
  return inserted.count > 0;
}

export interface SentDraft {
  readonly number: number;
  readonly body: string;
  readonly authorId: UserId;
  readonly authorName: string | null;
  readonly nowMs: number;
}

/** It becomes the last message of its ticket. The author is who has approved it. */
export async function sendDraft(tx: Queries, id: TicketMessageId, { number, body, authorId, authorName, nowMs }: SentDraft): Promise<void> {
  await tx`
    update ticket_message set is_draft = false, number = ${number}, body = ${body}, author_id = ${authorId}, author_name = ${authorName},
      created_at_ms = ${nowMs}
    where id = ${id}`;
}

export async function setMailId(tx: Queries, id: TicketMessageId, mailId: string): Promise<void> {
  await tx`update ticket_message set mail_id = ${mailId} where id = ${id}`;
}

export interface NewAttachmentRow extends AttachmentRow {
  readonly messageId: TicketMessageId | null;
  readonly uploaderId: UserId | null;
  /** Among the files of its message. */
  readonly position: number;
  readonly nowMs: number;
}

export async function insertAttachment(tx: Queries, row: NewAttachmentRow): Promise<void> {
  await tx`
    insert into ticket_attachment (id, message_id, uploader_id, filename, media_type, size_bytes, sha256, position, created_at_ms)
    values (
      ${row.id}, ${row.messageId}, ${row.uploaderId}, ${row.filename}, ${row.mediaType}, ${row.sizeBytes}, decode(${row.sha256}, 'hex'),
      ${row.position}, ${row.nowMs})`;
}

/** Uploaded files that no message has yet. */
export async function countLoose(tx: Queries, uploaders: readonly UserId[]): Promise<number> {
  const [row] = await tx<{ files: number }[]>`
    select count(*)::int as files from ticket_attachment where uploader_id = any(${uploaders as UserId[]}::text[]) and message_id is null`;
  return row?.files ?? 0;
}

/** Answers how many of these files the message has got: those that one of the uploaders has and no message has yet. */
export async function attach(
  tx: Queries,
  messageId: TicketMessageId,
  ids: readonly TicketAttachmentId[],
  uploaders: readonly UserId[],
): Promise<number> {
  const attached = await tx`
    update ticket_attachment set message_id = ${messageId}, position = array_position(${ids as TicketAttachmentId[]}::text[], id)
    where id = any(${ids as TicketAttachmentId[]}::text[]) and message_id is null and uploader_id = any(${uploaders as UserId[]}::text[])`;
  return attached.count;
}

/** A file of a message of the ticket. */
export async function findAttachment(
  sql: Queries,
  ticketId: TicketId,
  id: TicketAttachmentId,
  drafts: boolean,
): Promise<AttachmentRow | null> {
  const [row] = await sql<AttachmentRow[]>`
    select a.id, a.filename, a.media_type as "mediaType", a.size_bytes as "sizeBytes", encode(a.sha256, 'hex') as sha256
    from ticket_attachment a join ticket_message m on m.id = a.message_id
    where a.id = ${id} and m.ticket_id = ${ticketId} and (not m.is_draft or ${drafts})`;
  return row ?? null;
}

/** Deletes uploaded files that no message has named; answers how many. */
export async function deleteLoose(sql: Queries, createdBeforeMs: number): Promise<number> {
  return (await sql`delete from ticket_attachment where message_id is null and created_at_ms <= ${createdBeforeMs}`).count;
}

export interface ReplyMail {
  readonly mailId: string;
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly replyTo: string;
  readonly inReplyTo: string | null;
  readonly referenceIds: string | null;
  readonly nowMs: number;
}

/** A reply of a person in the outbox. The caller wakes the sender of mail after the commit. */
export async function queueReply(tx: Queries, mail: ReplyMail): Promise<void> {
  await tx`
    insert into mail_outbox (
      id, kind, recipient, subject, text_body, reply_to, in_reply_to, reference_ids, is_personal, next_attempt_at_ms, created_at_ms)
    values (
      ${mail.mailId}, 'ticket_reply', ${mail.recipient}, ${mail.subject}, ${mail.text}, ${mail.replyTo}, ${mail.inReplyTo},
      ${mail.referenceIds}, true, ${mail.nowMs}, ${mail.nowMs})`;
}

/** A file of a reply that has left by mail. */
export async function findSent(sql: Queries, id: TicketAttachmentId): Promise<AttachmentRow | null> {
  const [row] = await sql<AttachmentRow[]>`
    select a.id, a.filename, a.media_type as "mediaType", a.size_bytes as "sizeBytes", encode(a.sha256, 'hex') as sha256
    from ticket_attachment a join ticket_message m on m.id = a.message_id where a.id = ${id} and m.mail_id is not null`;
  return row ?? null;
}
