/** Takes a mail, from the endpoint or from the SMTP receiver: it opens a ticket, continues one, or is recorded and makes nothing. */
import { Failure } from '../../../../../protocol/core/errors.ts';
import { newId, type TicketId, type UserId } from '../../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { TICKET_LIMITS } from '../../../../../protocol/core/support-rate-limits.ts';
import { stampObjects } from '../../../artifacts/publish/rows.ts';
import type { Queries } from '../../../deps.ts';
import { findByProvedEmail } from '../../../people/persons/rows.ts';
import { type SupportDeps, tellAll } from '../handlers.ts';
import type { AttachmentRow } from '../message-rows.ts';
import { findByMails, findByToken, lockTicket, readAddresses, readTicket, type TicketRow } from '../rows.ts';
import { supportAddressOf } from '../rules.ts';
import { addSystemMessage, type NewMessage, openTicket, type Written, writeAsCustomer } from '../tickets.ts';
import type { MailFile, ParsedMail } from './mail-message.ts';
import type { MailParser } from './mail-parser.ts';
import { answeredMails, boundedText, type Kept, keyOfMail, notWritten, type OwnAddresses, subjectOf, tokensOf } from './mail-rules.ts';
import { type InboundRow, insertInbound, readInbound, settleInbound } from './rows.ts';

export interface InboundMail {
  /** As a mail server got it. */
  readonly bytes: Uint8Array;
  /** Where a mail server has said it; `from` is empty for a bounce. */
  readonly envelope: { readonly from: string; readonly to: readonly string[] } | null;
  readonly signal: AbortSignal;
  readonly nowMs: number;
}

export interface TakenMail {
  readonly outcome: InboundRow['outcome'] | 'repeated';
  readonly reason: string | null;
  readonly ticket: TicketRow | null;
}

export type MailDeps = SupportDeps & { readonly parser: Pick<MailParser, 'parse'> };

interface Read {
  readonly mail: ParsedMail;
  readonly from: { readonly name: string; readonly address: string };
  readonly envelopeTo: readonly string[];
  readonly kept: Kept;
  readonly files: readonly AttachmentRow[];
  readonly key: Buffer;
  readonly own: OwnAddresses;
  readonly nowMs: number;
}

/** Throws INVALID_REQUEST for what is no mail, UNAVAILABLE. */
export async function takeMail(deps: MailDeps, { bytes, envelope, signal, nowMs }: InboundMail): Promise<TakenMail> {
  const { sql, parser, config } = deps;
  const mail = await parser.parse(bytes, signal);
  const key = keyOfMail(mail);
  const known = await readInbound(sql, key);
  if (known !== null) return repeated(deps, known);
  const own = { support: supportAddressOf(config), from: supportAddressOf({ MAIL_FROM: config.MAIL_FROM }) };
  const reason = notWritten(mail, own, envelope?.from ?? null);
  if (reason !== null || mail.from === null) return ignore(deps, key, mail.from?.address ?? null, reason ?? 'no_sender', nowMs);
  const kept = boundedText(mail.text, mail.cut);
  const whole = kept.whole === null ? mail.files : [...mail.files, kept.whole];
  const files = await storeFiles(deps, whole, nowMs);
  const read: Read = { mail, from: mail.from, envelopeTo: envelope?.to ?? [], kept, files, key, own, nowMs };
  const taken = await sql.begin((tx) => take(tx, deps, read));
  if (taken === 'repeated') return repeated(deps, await readInbound(sql, key));
  if ('reason' in taken) return taken;
  tellAll(deps, taken.facts);
  return { outcome: taken.outcome, reason: null, ticket: taken.ticket };
}

async function repeated({ sql }: MailDeps, known: InboundRow | null): Promise<TakenMail> {
  const ticket = known === null || known.ticketId === null ? null : await readTicket(sql, known.ticketId);
  return { outcome: 'repeated', reason: known?.reason ?? null, ticket };
}

async function ignore({ sql }: MailDeps, sha256: Buffer, sender: string | null, reason: string, nowMs: number): Promise<TakenMail> {
  await insertInbound(sql, { sha256, source: 'email', sender, outcome: 'ignored', reason, ticketId: null, nowMs });
  return { outcome: 'ignored', reason, ticket: null };
}

/** Before the transaction that records them; the daily sweep removes what none records. */
async function storeFiles({ sql, objects }: MailDeps, files: readonly MailFile[], nowMs: number): Promise<AttachmentRow[]> {
  const rows = files.map(({ filename, mediaType, bytes, sha256 }) => ({
    bytes,
    row: { id: newId('ticketAttachment'), filename, mediaType, sizeBytes: bytes.length, sha256 },
  }));
  if (rows.length === 0) return [];
  await stampObjects(sql, new Map(rows.map(({ row }) => [row.sha256, row.sizeBytes])), nowMs);
  for (const { row, bytes } of rows) await objects.put(row.sha256, bytes);
  return rows.map(({ row }) => row);
}

type Taken = (Written & { readonly outcome: 'created' | 'continued' }) | TakenMail | 'repeated';

async function take(tx: Queries, deps: MailDeps, read: Read): Promise<Taken> {
  const { key, from, nowMs } = read;
  const entry = { sha256: key, source: 'email', sender: from.address, nowMs } as const;
  if (!(await insertInbound(tx, { ...entry, outcome: 'ignored', reason: null, ticketId: null }))) return 'repeated';
  const refuse = async (reason: string): Promise<TakenMail> => {
    await settleInbound(tx, key, { outcome: 'ignored', reason, ticketId: null });
    return { outcome: 'ignored', reason, ticket: null };
  };
  const { mailsOfSender, ofSender } = TICKET_LIMITS;
  if (!(await deps.limiters.shared.spendIn(tx, mailsOfSender, from.address)).accepted) return refuse('too_many_mails');
  const spendNew = async () => {
    if (!(await deps.limiters.shared.spendIn(tx, ofSender, from.address)).accepted) throw new TooManyTickets();
  };
  try {
    const { outcome, written } = await write(tx, deps, read, spendNew);
    await settleInbound(tx, key, { outcome, reason: null, ticketId: written.ticket.id });
    if (read.mail.leftOut.length > 0) await noteLeftOut(tx, written.ticket.id, read);
    return { ...written, outcome };
  } catch (error) {
    if (error instanceof TooManyTickets) return refuse('too_many_tickets');
    throw error;
  }
}

/** Thrown before anything of the ticket is written. */
class TooManyTickets extends Error {
  override readonly name = 'TooManyTickets';
}

async function write(tx: Queries, deps: MailDeps, read: Read, spendNew: () => Promise<void>) {
  const { mail, from, kept, nowMs } = read;
  const before = await belongsTo(tx, read);
  const requesterId = before?.requesterId ?? (await findByProvedEmail(tx, from.address));
  const message: NewMessage = {
    ...{ channel: 'email', authorId: requesterId, authorName: from.name || from.address, body: kept.body, quoted: kept.quoted },
    ...{ files: { stored: read.files }, mailMessageId: mail.messageId, proofSha256: null, nowMs },
  };
  if (before !== null) {
    const written = await writeAsCustomer(tx, deps, before, message, spendNew);
    return { written, outcome: written.ticket.id === before.id ? 'continued' : 'created' } as const;
  }
  await spendNew();
  const written = await openTicket(tx, deps, {
    ...{ subject: subjectOf(mail.subject), priority: 'normal', workspaceId: null, artifactId: null, requesterId, message },
    ...{ requesterEmail: from.address, requesterName: from.name || null, followsId: null, chatThread: null, chatSecretSha256: null },
  });
  return { written, outcome: 'created' } as const;
}

/**
 * The ticket that it continues: by a token in an address or a mail of ours that it answers, and only where its sender is who asked. Somebody
 * else to whom such a mail was forwarded gets a ticket of their own, and learns nothing of that one.
 */
async function belongsTo(tx: Queries, { mail, from, envelopeTo, own }: Read): Promise<TicketRow | null> {
  const id = (await findByToken(tx, tokensOf(mail, envelopeTo, own))) ?? (await findByMails(tx, answeredMails(mail)));
  const ticket = id === null ? null : await lockTicket(tx, id);
  // A chat is not answered by mail.
  if (ticket === null || ticket.channel === 'chat') return null;
  return (await isOfRequester(tx, ticket, from.address)) ? ticket : null;
}

async function isOfRequester(tx: Queries, ticket: Pick<TicketRow, 'requesterEmail' | 'requesterId'>, address: string): Promise<boolean> {
  if (ticket.requesterEmail?.toLowerCase() === address) return true;
  const requester: UserId | null = ticket.requesterId;
  return requester !== null && (await readAddresses(tx, requester)).includes(address);
}

async function noteLeftOut(tx: Queries, ticketId: TicketId, { mail, nowMs }: Read): Promise<void> {
  const names = mail.leftOut.slice(0, LIMITS.ticketAttachmentsMax).join(', ');
  const rest = mail.leftOut.length > LIMITS.ticketAttachmentsMax ? ` (+${mail.leftOut.length - LIMITS.ticketAttachmentsMax})` : '';
  await addSystemMessage(tx, ticketId, `Files of this mail that are too large or too many were left out: ${names}${rest}`, 'email', nowMs);
}

/** For the SMTP receiver: whether trying again later can help. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof Failure && (error.code === 'INVALID_REQUEST' || error.code === 'PAYLOAD_TOO_LARGE'));
}
