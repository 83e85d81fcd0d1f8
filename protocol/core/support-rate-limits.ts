/** The rate limits of support, spread into `RATE_LIMITS` where an endpoint names them. */
import { LIMITS } from './limits.ts';

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

export const SUPPORT_RATE_LIMITS = {
  ticketReads: { name: 'ticketReads', quota: LIMITS.ticketReadsPerMinute, windowS: 60, by: 'user', kept: 'memory', spentBy: 'edge' },
  ticketWrites: { name: 'ticketWrites', quota: LIMITS.ticketWritesPerHour, windowS: HOUR_S, by: 'user', kept: 'shared', spentBy: 'edge' },
  ticketUploads: { name: 'ticketUploads', quota: LIMITS.ticketUploadsPerDay, windowS: DAY_S, by: 'user', kept: 'shared', spentBy: 'edge' },
  supportFiles: {
    name: 'supportFiles',
    quota: LIMITS.ticketReadsPerMinute,
    windowS: 60,
    by: 'address',
    kept: 'memory',
    spentBy: 'edge',
  },
  supportInbound: {
    name: 'supportInbound',
    quota: LIMITS.inboundPerMinutePerAddress,
    windowS: 60,
    by: 'address',
    kept: 'memory',
    spentBy: 'edge',
  },
} as const;

/** Spent by the handlers, in the transaction of what they count. */
export const TICKET_LIMITS = {
  ofPerson: handlerLimit('tickets', LIMITS.ticketsPerDay, DAY_S, 'person'),
  ofSender: handlerLimit('ticketsOfSender', LIMITS.ticketsPerDay, DAY_S, 'address of a sender'),
  ofThread: handlerLimit('ticketChatsOfThread', LIMITS.ticketChatsOfThreadPerHour, HOUR_S, 'thread of another chat'),
  mailsOfSender: handlerLimit('ticketMailsOfSender', LIMITS.ticketMailsOfSenderPerHour, HOUR_S, 'address of a sender'),
  chatsOfNetwork: handlerLimit('pageChatsOfNetwork', LIMITS.pageChatsOfNetworkPerHour, HOUR_S, 'network'),
  chatsOfPage: handlerLimit('pageChatsOfPage', LIMITS.pageChatsOfPagePerHour, HOUR_S, 'artifact'),
  ticketsOfPage: handlerLimit('ticketsOfPage', LIMITS.ticketsOfPagePerDay, DAY_S, 'artifact'),
  noticesOfStaff: handlerLimit('ticketNotices', LIMITS.ticketNoticesPerHour, HOUR_S, 'installation or artifact'),
} as const;

function handlerLimit<const By extends string>(name: string, quota: number, windowS: number, by: By) {
  return { name, quota, windowS, by, kept: 'shared', spentBy: 'handler' } as const;
}
