/** The error codes of support tickets, spread into the catalogue. */

export const SUPPORT_ERRORS = {
  TICKET_NOT_FOUND: {
    status: 404,
    message: 'The ticket does not exist, or is not yours to read.',
    hint: 'GET /v1/support/tickets lists your tickets.',
  },
  TICKET_MESSAGE_NOT_FOUND: {
    status: 404,
    message: 'The ticket has no such draft.',
    hint: 'GET /v1/support/tickets/{ticketId} lists its messages; a draft that was sent is none any more.',
  },
  TICKET_ATTACHMENT_NOT_FOUND: {
    status: 404,
    message: 'The file does not exist.',
    hint: 'Upload it with POST /v1/support/attachments; a file belongs to the message that names it first, and is kept 24 hours without one.',
  },
  TICKET_STATUS_REFUSED: {
    status: 409,
    message: 'The ticket cannot get this status now.',
    hint: 'Read the ticket again; a closed ticket is continued by a message.',
  },
  TICKET_LIMIT_EXCEEDED: {
    status: 409,
    message: 'The ticket or the account has as many of these as it may have.',
    hint: 'Open a new ticket, or send the uploaded files with a message first.',
  },
  SUPPORT_CHAT_OFF: {
    status: 403,
    message: 'This page has no chat with its makers.',
    hint: 'The owner turns it on with PUT /v1/data/{artifactId}/support/_config.',
  },
  SIGNATURE_INVALID: {
    status: 401,
    message: 'The signature of the call is missing, wrong or too old.',
    hint: 'Sign the time and the body with SUPPORT_INBOUND_SECRET in the header easel-signature as the reference describes, and send it within 5 minutes.',
  },
  INBOUND_NOT_CONFIGURED: {
    status: 501,
    message: 'This installation takes no mail or chat, because its setting SUPPORT_INBOUND_SECRET is missing.',
    hint: 'The administrator sets SUPPORT_INBOUND_SECRET to at least 32 characters and starts the service again.',
  },
} as const;
