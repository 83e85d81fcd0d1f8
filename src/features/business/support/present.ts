/** What callers see of a ticket. */
import type { z } from 'zod';
import type { ticket, ticketAttachment, ticketMessage } from '../../../../protocol/business/support.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { AttachmentRow, MessageRow } from './message-rows.ts';
import type { TicketRow } from './rows.ts';
import { logUrl, type Seat } from './rules.ts';

/** A server that has brought something is nobody's seat. */
export const NO_SEAT: Seat = { asks: false, answers: false, isStaff: false };

/** `logTemplate`: LOG_LINK_TEMPLATE. */
export function presentTicket(row: TicketRow, seat: Seat, logTemplate: string | undefined): z.input<typeof ticket> {
  const { assigneeId, assigneeName } = row;
  const assignee = assigneeId === null ? null : { user_id: assigneeId, name: assigneeName ?? assigneeId };
  return {
    id: row.id,
    subject: row.subject,
    status: row.status,
    channel: row.channel,
    workspace_id: row.workspaceId,
    artifact_id: row.artifactId,
    requester_user_id: row.requesterId,
    requester_email: row.requesterEmail,
    requester_name: row.requesterName,
    priority: row.priority,
    follows: row.followsId,
    created_at: dateTime(row.createdAtMs),
    updated_at: dateTime(row.updatedAtMs),
    may_answer: seat.answers,
    ...(seat.answers && { assignee }),
    ...(seat.isStaff && { request_ids: row.requestIds.map((id) => ({ request_id: id, log_url: logUrl(logTemplate, id) })) }),
  };
}

export function presentAttachment({ id, filename, mediaType, sizeBytes }: AttachmentRow): z.input<typeof ticketAttachment> {
  return { id, filename, media_type: mediaType, size_bytes: sizeBytes };
}

export function presentMessage(row: MessageRow): z.input<typeof ticketMessage> {
  return {
    id: row.id,
    author: { kind: row.authorKind, name: row.authorName },
    body: row.body,
    quoted: row.quoted,
    channel: row.channel,
    attachments: row.attachments.map(presentAttachment),
    draft: row.isDraft,
    created_at: dateTime(row.createdAtMs),
  };
}
