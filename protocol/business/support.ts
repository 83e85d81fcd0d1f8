/** Support tickets from the app, by mail and by chat. Source: spec.md "Support ticket" and "Support", contract.md §12, §17. */
import { z } from 'zod';
import { type BodySpec, endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { blobFilename } from '../data/blobs.ts';

export const ticketStatus = z.enum(['open', 'pending', 'resolved', 'closed']).meta({
  description:
    '`open`: waits for an answer; `pending`: waits for the customer; `resolved`: done, and closed after 7 days without a message; `closed`',
});
export type TicketStatus = z.infer<typeof ticketStatus>;
export const ticketChannel = z.enum(['ui', 'email', 'chat']).meta({ description: 'where the ticket came from, and where replies go' });
export type TicketChannel = z.infer<typeof ticketChannel>;
export const ticketPriority = z.enum(['low', 'normal', 'high', 'urgent']);
export type TicketPriority = z.infer<typeof ticketPriority>;

const assignee = z.object({ user_id: idSchema('user'), name: z.string() });
const requestId = z.object({
  request_id: z.string(),
  log_url: z.string().nullable().meta({ description: 'its line in the log, where the setting LOG_LINK_TEMPLATE says where that is' }),
});

export const ticket = z.object({
  id: idSchema('ticket'),
  subject: z.string(),
  status: ticketStatus,
  channel: ticketChannel,
  workspace_id: idSchema('workspace').nullable(),
  artifact_id: idSchema('artifact').nullable().meta({ description: 'the page whose visitor wrote in its chat' }),
  requester_user_id: idSchema('user').nullable(),
  requester_email: z.string().nullable(),
  requester_name: z.string().nullable(),
  priority: ticketPriority,
  follows: idSchema('ticket').nullable().meta({ description: 'the closed ticket that this one continues' }),
  created_at: dateTime,
  updated_at: dateTime,
  may_answer: z.boolean().meta({ description: 'whether the caller answers this ticket: replies, drafts, assigns, sets priority' }),
  assignee: assignee.nullable().optional().meta({ description: 'only for those who answer' }),
  request_ids: z.array(requestId).optional().meta({ description: 'requests that its messages quote; only for staff' }),
});

export const ticketAttachment = z.object({
  id: idSchema('ticketAttachment'),
  filename: z.string(),
  media_type: z.string(),
  size_bytes: z.number().int(),
});

export const ticketMessage = z.object({
  id: idSchema('ticketMessage'),
  author: z.object({ kind: z.enum(['customer', 'staff', 'system']), name: z.string().nullable() }),
  body: z.string().meta({ description: 'plain text; of a mail without the quoted history' }),
  quoted: z.string().nullable().meta({ description: 'the history that a mail quoted' }),
  channel: ticketChannel,
  attachments: z.array(ticketAttachment),
  draft: z.boolean().meta({ description: 'a reply that is not sent yet, which only those who answer see' }),
  created_at: dateTime,
});

const subject = storedText(LIMITS.ticketSubjectCharsMax).trim().min(1);
const text = storedText(LIMITS.ticketBodyCharsMax).trim().min(1);
const attachmentIds = absentOrNull(
  z
    .array(idSchema('ticketAttachment'))
    .max(LIMITS.ticketAttachmentsMax)
    .transform((ids) => [...new Set(ids)]),
).meta({ description: 'files that the caller uploaded with POST /v1/support/attachments' });

export const newTicket = z.strictObject({
  subject,
  body: text,
  workspaceId: absentOrNull(idSchema('workspace')).meta({ description: 'its owners and admins read the ticket too' }),
  priority: absentOrNull(ticketPriority),
  attachment_ids: attachmentIds,
});
export const newTicketMessage = z.strictObject({ body: text, attachment_ids: attachmentIds });
export const newTicketReply = z.strictObject({
  body: text,
  draft: absentOrNull(z.boolean()).meta({ description: 'keep it for the others who answer; it is sent when one of them approves it' }),
  attachment_ids: attachmentIds,
});
export const ticketDraftApproval = z.strictObject({ body: absentOrNull(text).meta({ description: 'instead of what the draft says' }) });

const answered = z.object({ success: z.literal(true), ticket });
const withMessage = answered.extend({ message: ticketMessage });
const withThread = answered.extend({
  thread: z.array(ticketMessage).meta({ description: `its last ${LIMITS.ticketThreadMax} messages, the oldest first` }),
  thread_has_more: z.boolean().meta({ description: 'there are earlier ones: GET …/messages' }),
});

const person = { who: 'account', person: true } as const;
const one = z.object({ ticketId: idSchema('ticket') });
const oneDraft = one.extend({ messageId: idSchema('ticketMessage') });
const ANSWERERS = ['TICKET_NOT_FOUND', 'STAFF_REQUIRED'] as const;
const ATTACHED = ['TICKET_ATTACHMENT_NOT_FOUND', 'TICKET_LIMIT_EXCEEDED'] as const;

function json<S extends z.ZodType>(schema: S) {
  return { kind: 'json', schema, bytesMax: LIMITS.ticketBodyBytesMax } as const satisfies BodySpec;
}

export const supportTickets = {
  'support.create': endpoint({
    method: 'POST',
    path: '/v1/support/tickets',
    group: 'support',
    summary: 'Opens a ticket. Request ids (X-Request-Id) in the text lead whoever answers to the log.',
    access: person,
    limit: 'ticketWrites',
    body: json(newTicket),
    replies: { created: { status: 201, body: answered } },
    errors: ['WORKSPACE_NOT_FOUND', ...ATTACHED],
  }),
  'support.list': endpoint({
    method: 'GET',
    path: '/v1/support/tickets',
    group: 'support',
    summary: 'Tickets, the latest changed first: the caller’s own, a workspace’s for its owners and admins, all for the staff.',
    access: person,
    limit: 'ticketReads',
    query: z.object({
      scope: z
        .enum(['mine', 'workspace', 'pages', 'all'])
        .default('mine')
        .meta({ description: '`workspace` needs workspaceId; `pages`: chats of pages that the caller owns; `all`: of the staff' }),
      workspaceId: idSchema('workspace').optional(),
      status: ticketStatus.optional(),
      q: storedText(LIMITS.searchCharsMax).trim().min(1).optional().meta({ description: 'in the subject, the name or the address' }),
      assignee: z
        .union([z.enum(['me', 'none']), idSchema('user')])
        .optional()
        .meta({ description: '`me`, `none` or a user id; with scope=all' }),
      ...pageQuery,
    }),
    replies: { ok: { status: 200, body: z.object({ success: z.literal(true), tickets: z.array(ticket), ...pageReply }) } },
    errors: ['WORKSPACE_NOT_FOUND', 'FORBIDDEN', 'STAFF_REQUIRED'],
  }),
  'support.get': endpoint({
    method: 'GET',
    path: '/v1/support/tickets/{ticketId}',
    group: 'support',
    summary: 'One ticket with its thread: for who asked, the owners and admins of its workspace, the owner of its page, and the staff.',
    access: person,
    limit: 'ticketReads',
    params: one,
    conditional: true,
    replies: { ok: { status: 200, body: withThread } },
    errors: ['TICKET_NOT_FOUND'],
  }),
  'support.messages': endpoint({
    method: 'GET',
    path: '/v1/support/tickets/{ticketId}/messages',
    group: 'support',
    summary: 'All messages of a ticket, the oldest first.',
    access: person,
    limit: 'ticketReads',
    params: one,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ success: z.literal(true), messages: z.array(ticketMessage), ...pageReply }) } },
    errors: ['TICKET_NOT_FOUND'],
  }),
  'support.message': endpoint({
    method: 'POST',
    path: '/v1/support/tickets/{ticketId}/message',
    group: 'support',
    summary: `A message of the customer, which reopens the ticket. ${LIMITS.ticketReopenDays} days after it was closed it opens a new ticket, which the answer has.`,
    access: person,
    limit: 'ticketWrites',
    params: one,
    body: json(newTicketMessage),
    replies: { created: { status: 201, body: withMessage } },
    errors: ['TICKET_NOT_FOUND', 'FORBIDDEN', ...ATTACHED],
  }),
  'support.reply': endpoint({
    method: 'POST',
    path: '/v1/support/tickets/{ticketId}/reply',
    group: 'support',
    summary: 'Sends a reply on the channel that the ticket came from, and sets the ticket pending; or keeps a draft.',
    access: person,
    limit: 'ticketWrites',
    params: one,
    body: json(newTicketReply),
    replies: { created: { status: 201, body: withMessage } },
    errors: [...ANSWERERS, ...ATTACHED],
  }),
  'support.approveDraft': endpoint({
    method: 'POST',
    path: '/v1/support/tickets/{ticketId}/drafts/{messageId}/approve',
    group: 'support',
    summary: 'Sends a draft, as it is or with another text.',
    access: person,
    limit: 'ticketWrites',
    params: oneDraft,
    body: { ...json(ticketDraftApproval), optional: true },
    replies: { ok: { status: 200, body: withMessage } },
    errors: [...ANSWERERS, 'TICKET_MESSAGE_NOT_FOUND'],
  }),
  'support.deleteDraft': endpoint({
    method: 'DELETE',
    path: '/v1/support/tickets/{ticketId}/drafts/{messageId}',
    group: 'support',
    summary: 'Deletes a draft.',
    access: person,
    limit: 'ticketWrites',
    params: oneDraft,
    replies: { ok: { status: 200, body: success } },
    errors: [...ANSWERERS, 'TICKET_MESSAGE_NOT_FOUND'],
  }),
  'support.status': endpoint({
    method: 'POST',
    path: '/v1/support/tickets/{ticketId}/status',
    group: 'support',
    summary: 'Sets the status. Customers resolve their ticket or open it again; whoever answers sets any.',
    access: person,
    limit: 'ticketWrites',
    params: one,
    body: json(z.strictObject({ status: ticketStatus })),
    replies: { ok: { status: 200, body: answered } },
    errors: ['TICKET_NOT_FOUND', 'TICKET_STATUS_REFUSED'],
  }),
  'support.assign': endpoint({
    method: 'POST',
    path: '/v1/support/tickets/{ticketId}/assign',
    group: 'support',
    summary: 'Assigns the ticket to somebody who answers it, or to nobody.',
    access: person,
    limit: 'ticketWrites',
    params: one,
    body: json(z.strictObject({ user_id: idSchema('user').nullable() })),
    replies: { ok: { status: 200, body: answered } },
    errors: [...ANSWERERS, 'ASSIGNEE_NOT_FOUND'],
  }),
  'support.priority': endpoint({
    method: 'POST',
    path: '/v1/support/tickets/{ticketId}/priority',
    group: 'support',
    summary: 'Sets the priority.',
    access: person,
    limit: 'ticketWrites',
    params: one,
    body: json(z.strictObject({ priority: ticketPriority })),
    replies: { ok: { status: 200, body: answered } },
    errors: ANSWERERS,
  }),
  'support.upload': endpoint({
    method: 'POST',
    path: '/v1/support/attachments',
    group: 'support',
    summary: 'Stores the body as a file for a message that names it within 24 hours.',
    access: person,
    limit: 'ticketUploads',
    query: z.object({ filename: blobFilename }),
    body: { kind: 'stream', bytesMax: LIMITS.ticketAttachmentBytesMax, tooLarge: 'FILE_TOO_LARGE' },
    replies: { created: { status: 201, body: z.object({ success: z.literal(true), attachment: ticketAttachment }) } },
    errors: ['TICKET_LIMIT_EXCEEDED'],
  }),
  'support.attachment': endpoint({
    method: 'GET',
    path: '/v1/support/tickets/{ticketId}/attachments/{attachmentId}',
    group: 'support',
    summary: 'A file of a message, as a download.',
    access: person,
    limit: 'ticketReads',
    params: one.extend({ attachmentId: idSchema('ticketAttachment') }),
    conditional: true,
    replies: { ok: { status: 200, media: '*/*' } },
    errors: ['TICKET_NOT_FOUND', 'TICKET_ATTACHMENT_NOT_FOUND'],
  }),
  // The signature is the credential, because who gets a mail may have no account.
  'support.sentFile': endpoint({
    method: 'GET',
    path: '/v1/support/files/{attachmentId}/{signature}',
    group: 'support',
    summary: 'A file of a reply that was sent by mail, by the address in that mail.',
    access: { who: 'anyone' },
    limit: 'supportFiles',
    params: z.object({
      attachmentId: idSchema('ticketAttachment'),
      signature: missingAs(z.string().regex(/^[A-Za-z0-9_-]{43}$/), 'TICKET_ATTACHMENT_NOT_FOUND'),
    }),
    conditional: true,
    replies: { ok: { status: 200, media: '*/*' } },
    errors: ['TICKET_ATTACHMENT_NOT_FOUND'],
  }),
} as const;
