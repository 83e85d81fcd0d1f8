/** Tells people by the bell, and where they may not look at it by mail, what has happened to tickets. */
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { TICKET_LIMITS } from '../../../../protocol/core/support-rate-limits.ts';
import { type Locale, localeOf, named, quoted } from '../../../mail/templates/message.ts';
import type { Fact } from '../../../platform/bus.ts';
import type { Config } from '../../../platform/config.ts';
import { mailNotices } from '../../automation/notifications/notice-mails.ts';
import { addNotices, type NewNotice } from '../../automation/notifications/notices.ts';
import type { LimiterDeps, Queries } from '../../deps.ts';
import { listMakers, listStaff, readLanguage, type TicketRow } from './rows.ts';

interface Words {
  readonly opened: (subject: string) => string;
  readonly reopened: (subject: string) => string;
  readonly assigned: (subject: string) => string;
  readonly replied: (subject: string) => string;
  readonly from: (name: string) => string;
}

const WORDS: Readonly<Record<Locale, Words>> = {
  en: {
    opened: (subject) => `New ticket: ${subject}`,
    reopened: (subject) => `Another message: ${subject}`,
    assigned: (subject) => `Assigned to you: ${subject}`,
    replied: (subject) => `Answer to your ticket: ${subject}`,
    from: (name) => `From ${name}.`,
  },
  es: {
    opened: (subject) => `Nuevo ticket: ${subject}`,
    reopened: (subject) => `Otro mensaje: ${subject}`,
    assigned: (subject) => `Asignado a ti: ${subject}`,
    replied: (subject) => `Respuesta a tu ticket: ${subject}`,
    from: (name) => `De ${name}.`,
  },
};

type What = Exclude<keyof Words, 'from'>;

const KINDS: Readonly<Record<What, string>> = {
  opened: 'ticket.opened',
  reopened: 'ticket.message',
  assigned: 'ticket.assigned',
  replied: 'ticket.reply',
};

/** Who answers hears of a new ticket, of so many in an hour: in a storm the list of tickets has the others. */
export async function tellOpened(tx: Queries, { limiters }: LimiterDeps, ticket: TicketRow, nowMs: number): Promise<Fact[]> {
  const subject = ticket.artifactId ?? 'installation';
  const spent = await limiters.shared.spendIn(tx, TICKET_LIMITS.noticesOfStaff, subject);
  if (!spent.accepted) return [];
  return tell(tx, 'opened', ticket, await answerersOf(tx, ticket.artifactId), nowMs);
}

function answerersOf(tx: Queries, artifactId: ArtifactId | null): Promise<UserId[]> {
  return artifactId === null ? listStaff(tx, LIMITS.ticketStaffToldMax) : listMakers(tx, artifactId, LIMITS.ticketStaffToldMax);
}

/** Who has the ticket hears that it is open again, and not of each message while it is open. */
export async function tellReopened(tx: Queries, ticket: TicketRow, nowMs: number): Promise<Fact[]> {
  return ticket.assigneeId === null ? [] : tell(tx, 'reopened', ticket, [ticket.assigneeId], nowMs);
}

export function tellAssigned(tx: Queries, ticket: TicketRow, to: UserId, nowMs: number): Promise<Fact[]> {
  return tell(tx, 'assigned', ticket, [to], nowMs);
}

/** Who asked hears of a reply by the bell, and by mail where the reply itself is none. */
export async function tellReplied(
  tx: Queries,
  { config }: { readonly config: Pick<Config, 'baseUrl'> },
  ticket: TicketRow,
  body: string,
  nowMs: number,
): Promise<Fact[]> {
  if (ticket.requesterId === null) return [];
  const notice = await noticeOf(tx, 'replied', ticket, ticket.requesterId, quoted(body));
  if (ticket.channel === 'ui') await mailNotices(tx, [notice], { config, nowMs });
  return [await addNotices(tx, [notice], nowMs)];
}

async function tell(tx: Queries, what: What, ticket: TicketRow, userIds: readonly UserId[], nowMs: number): Promise<Fact[]> {
  const notices: NewNotice[] = [];
  for (const userId of userIds) notices.push(await noticeOf(tx, what, ticket, userId));
  return notices.length === 0 ? [] : [await addNotices(tx, notices, nowMs)];
}

async function noticeOf(tx: Queries, what: What, ticket: TicketRow, userId: UserId, body?: string): Promise<NewNotice> {
  const words = WORDS[localeOf(await readLanguage(tx, userId))];
  const by = ticket.requesterName ?? ticket.requesterEmail;
  return {
    userId,
    kind: KINDS[what],
    title: words[what](named(ticket.subject)),
    body: body ?? (by === null ? '' : words.from(named(by))),
    // The bell hides notices about artifacts from who does not see them; who answers a chat sees its page.
    artifactId: ticket.artifactId,
    url: `/my/support/${ticket.id}`,
  };
}
