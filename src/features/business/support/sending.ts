/** Sends a reply on the channel that its ticket came from. */
import { newId } from '../../../../protocol/core/ids.ts';
import { localeOf, oneLine } from '../../../mail/templates/message.ts';
import { messageIdOf } from '../../../mail/transports.ts';
import type { Fact } from '../../../platform/bus.ts';
import type { Config } from '../../../platform/config.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries } from '../../deps.ts';
import { sentFileUrl } from './attachments.ts';
import { listLast, type MessageRow, queueReply, setMailId } from './message-rows.ts';
import { tellReplied } from './notify.ts';
import { quotedHistory } from './quoting.ts';
import { readLanguage, type TicketRow } from './rows.ts';
import { plusAddress, supportAddressOf } from './rules.ts';

export interface SendingDeps {
  readonly config: Config;
  /** Signs the addresses of files in mail. Read before the transaction. */
  readonly fileKey: Uint8Array;
}

/** Messages of the thread that a reply by mail names and quotes. */
const THREAD_MAX = 20;

const WROTE = {
  en: (at: string, by: string) => `On ${at}, ${by} wrote:`,
  es: (at: string, by: string) => `El ${at}, ${by} escribió:`,
} as const;

/** In the transaction that has stored it. Chats are read by who has begun them. */
export async function sendReply(tx: Queries, deps: SendingDeps, ticket: TicketRow, message: MessageRow, nowMs: number): Promise<Fact[]> {
  if (ticket.channel === 'email' && ticket.requesterEmail !== null) {
    await mailReply(tx, deps, ticket, ticket.requesterEmail, message, nowMs);
  }
  return tellReplied(tx, deps, ticket, message.body, nowMs);
}

async function mailReply(
  tx: Queries,
  { config, fileKey }: SendingDeps,
  ticket: TicketRow,
  recipient: string,
  message: MessageRow,
  nowMs: number,
): Promise<void> {
  const earlier = (await listLast(tx, ticket.id, false, THREAD_MAX)).filter(({ id }) => id !== message.id);
  const ids = earlier.flatMap(({ mailMessageId, mailId }) => {
    const id = mailMessageId ?? (mailId === null ? null : messageIdOf(mailId, config.MAIL_FROM));
    return id === null ? [] : [id];
  });
  const locale = localeOf(ticket.requesterId === null ? undefined : await readLanguage(tx, ticket.requesterId));
  const said = earlier
    .filter(({ authorKind }) => authorKind !== 'system')
    .map(({ createdAtMs, authorName, authorKind, body }) => ({
      at: dateTime(createdAtMs).slice(0, 16).replace('T', ' '),
      by: authorName ?? (authorKind === 'customer' ? recipient : supportAddressOf(config)),
      body,
    }));
  const history = quotedHistory(said, ({ at, by }) => WROTE[locale](`${at} UTC`, oneLine(by)));
  const mailId = newId('mail');
  const files = message.attachments.map(({ id, filename }) => `${oneLine(filename)}: ${sentFileUrl(config.baseUrl, fileKey, id)}`);
  const parts = [message.body, ...(files.length === 0 ? [] : [files.join('\n')]), ...(history === '' ? [] : [history])];
  await queueReply(tx, {
    mailId,
    recipient,
    subject: /^re:/i.test(ticket.subject) ? ticket.subject : `Re: ${ticket.subject}`,
    text: `${parts.join('\n\n').trimEnd()}\n`,
    replyTo: plusAddress(supportAddressOf(config), ticket.mailToken),
    inReplyTo: ids[0] ?? null,
    referenceIds: ids.length === 0 ? null : [...ids].reverse().join(' '),
    nowMs,
  });
  await setMailId(tx, message.id, mailId);
}
