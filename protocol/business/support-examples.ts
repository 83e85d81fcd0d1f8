/** Examples of support tickets. */
import { AT, EXAMPLE_IDS } from '../core/example.ts';

const one = { params: { ticketId: EXAMPLE_IDS.ticket } };
const oneDraft = { params: { ...one.params, messageId: EXAMPLE_IDS.ticketMessage } };
const data = { params: { artifactId: EXAMPLE_IDS.artifact } };

const ticket = {
  id: EXAMPLE_IDS.ticket,
  subject: 'The map stays empty',
  status: 'open',
  channel: 'ui',
  workspace_id: EXAMPLE_IDS.workspace,
  artifact_id: null,
  requester_user_id: EXAMPLE_IDS.user,
  requester_email: 'grace@example.com',
  requester_name: 'Grace',
  priority: 'normal',
  follows: null,
  created_at: AT,
  updated_at: AT,
  may_answer: false,
} as const;
const message = {
  id: EXAMPLE_IDS.ticketMessage,
  author: { kind: 'customer', name: 'Grace' },
  body: 'Since this morning it shows no streets.',
  quoted: null,
  channel: 'ui',
  attachments: [],
  draft: false,
  created_at: AT,
} as const;
const staffView = { ...ticket, may_answer: true, assignee: null, request_ids: [] } as const;
const reply = { ...message, author: { kind: 'staff', name: 'Ada' }, body: 'Please try again now.' } as const;

export const supportExamples = {
  'support.create': {
    body: { subject: ticket.subject, body: message.body, workspaceId: EXAMPLE_IDS.workspace },
    reply: { success: true, ticket },
  },
  'support.list': { query: { scope: 'mine', status: 'open', limit: '5' } },
  'support.get': { ...one, reply: { success: true, ticket, thread: [message], thread_has_more: false } },
  'support.messages': { ...one, query: { limit: '5' } },
  'support.message': { ...one, body: { body: 'It works again, thank you.' } },
  'support.reply': {
    ...one,
    body: { body: reply.body },
    reply: { success: true, ticket: { ...staffView, status: 'pending' }, message: reply },
  },
  'support.approveDraft': { ...oneDraft, body: { body: 'Please try again now.' } },
  'support.deleteDraft': oneDraft,
  'support.status': { ...one, body: { status: 'resolved' } },
  'support.assign': { ...one, body: { user_id: EXAMPLE_IDS.user } },
  'support.priority': { ...one, body: { priority: 'high' } },
  'support.upload': { query: { filename: 'map.png' } },
  'support.attachment': { params: { ...one.params, attachmentId: EXAMPLE_IDS.ticketAttachment } },
  'support.sentFile': { params: { attachmentId: EXAMPLE_IDS.ticketAttachment, signature: 'k'.repeat(43) } },
  'support.inboundEmail': {
    body: 'From: Grace <grace@example.com>\r\nTo: support@example.com\r\nSubject: The map stays empty\r\nMessage-ID: <1@example.com>\r\n\r\nIt shows no streets.\r\n',
  },
  'support.inboundChat': {
    body: { thread: 'C042/171', from: { name: 'Grace', email: 'grace@example.com' }, text: 'The map stays empty.' },
  },
  'support.inboundChatReplies': { body: { thread: 'C042/171' } },
  'pageChat.getConfig': data,
  'pageChat.putConfig': {
    ...data,
    body: { enabled: true, greeting: 'Ask us about the map.' },
    reply: { success: true, data: { enabled: true, greeting: 'Ask us about the map.' } },
  },
  'pageChat.challenge': data,
  'pageChat.write': { ...data, body: { text: 'Is the museum open on Mondays?', name: 'Grace' } },
  'pageChat.read': { ...data, body: { secret: 'k'.repeat(43) } },
} as const;
