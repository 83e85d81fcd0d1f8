/** The limits of support tickets, spread into `LIMITS`. Sizes in bytes, times in ms or s. */

const MB = 1024 * 1024;

export const SUPPORT_LIMITS = {
  // What a ticket and a message hold: INVALID_REQUEST
  ticketSubjectCharsMax: 200,
  ticketBodyCharsMax: 20_000,
  // A body of 20 000 characters as JSON, each at most twelve bytes
  ticketBodyBytesMax: 256 * 1024,
  // Messages of one ticket, drafts too: TICKET_LIMIT_EXCEEDED; what comes by mail or chat makes a new ticket then
  ticketMessagesMax: 500,
  // Messages of the thread in the answer of one ticket
  ticketThreadMax: 100,
  // Files of one message, and the bytes of one: INVALID_REQUEST, FILE_TOO_LARGE; those of a mail beyond these are left out, and the message says so
  ticketAttachmentsMax: 10,
  ticketAttachmentBytesMax: 10 * MB,
  // Uploaded files that no message has yet, of one account, and how long they are kept: TICKET_LIMIT_EXCEEDED
  ticketUploadsOpenMax: 20,
  // Files that one person uploads in 24 hours: RATE_LIMITED
  ticketUploadsPerDay: 50,
  ticketUploadTtlMs: 24 * 60 * 60 * 1000,
  // Tickets that one person, sender or page opens in 24 hours: RATE_LIMITED
  ticketsPerDay: 20,
  ticketsOfPagePerDay: 100,
  // Reads of one person a minute, messages and other changes in an hour: RATE_LIMITED
  ticketReadsPerMinute: 300,
  ticketWritesPerHour: 300,
  // Mails of one sender that are taken in an hour; further ones are recorded and make nothing
  ticketMailsOfSenderPerHour: 30,
  // Chat messages of one thread in an hour: RATE_LIMITED
  ticketChatsOfThreadPerHour: 120,
  // Visitors of pages: messages of one network in an hour and reads in a minute; messages of all visitors of one page in an hour: RATE_LIMITED
  pageChatsOfNetworkPerHour: 60,
  pageChatsOfPagePerHour: 600,
  chatCharsMax: 5000,
  chatThreadCharsMax: 200,
  chatGreetingCharsMax: 500,
  // A signed call of a mail or chat server: its age, and calls of one network in a minute: SIGNATURE_INVALID, RATE_LIMITED
  inboundAgeMsMax: 5 * 60 * 1000,
  inboundPerMinutePerAddress: 600,
  // A mail: PAYLOAD_TOO_LARGE. Its parts, and the bytes of its headers: INVALID_REQUEST
  inboundMailBytesMax: 15 * MB,
  inboundMailPartsMax: 200,
  inboundMailHeaderBytesMax: 256 * 1024,
  inboundMailReferencesMax: 50,
  // A thread that parses a mail: how long it may work, and its memory
  inboundMailParseMs: 20_000,
  inboundMailHeapMb: 192,
  // Mails that one node parses at once; further ones wait, and beyond that UNAVAILABLE
  inboundMailsMax: 2,
  inboundMailsWaitingMax: 32,
  // How long it is known that a mail was taken, so that it is taken once
  inboundMailsKeptDays: 90,
  // The SMTP receiver: connections at once, those of one network, what all of them hold of mails in memory, recipients of a mail, idle time
  smtpConnectionsMax: 50,
  smtpConnectionsPerNetworkMax: 5,
  smtpHeldBytesMax: 60 * MB,
  smtpRecipientsMax: 10,
  smtpIdleMs: 60_000,
  // Contract: a resolved ticket without a message for so long is closed; a message of the customer reopens a closed one for so long
  ticketQuietDays: 7,
  ticketReopenDays: 30,
  // Members of the staff who hear of a new ticket, and of how many new tickets one hears by the bell in an hour
  ticketStaffToldMax: 50,
  // Owners and admins of a workspace to whom a chat of its pages can be assigned
  ticketMakersMax: 10_000,
  ticketNoticesPerHour: 20,
  ticketRequestIdsMax: 20,
  // History under a reply by mail
  ticketQuotedCharsMax: 8000,
} as const;
