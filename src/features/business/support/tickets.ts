/** Opens tickets, continues them and replies to them. All of it runs in the transaction of its cause, which has locked the ticket. */
import type { TicketChannel } from '../../../../protocol/business/support.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type TicketAttachmentId, type TicketId, type TicketMessageId, type UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Fact } from '../../../platform/bus.ts';
import type { LimiterDeps, Queries } from '../../deps.ts';
import { type AttachmentRow, attach, insertAttachment, insertMessage, type MessageRow, readMessage } from './message-rows.ts';
import { tellOpened, tellReopened } from './notify.ts';
import { insertTicket, lockTicket, moveSecret, type NewTicketRow, setRequestIds, setStatus, type TicketRow, takeNumber } from './rows.ts';
import { afterCustomer, requestIdsIn } from './rules.ts';

/** Files that the author has uploaded, or that have come with the message. */
export type Files =
  | { readonly ids: readonly TicketAttachmentId[]; readonly uploaders: readonly UserId[] }
  | { readonly stored: readonly AttachmentRow[] };

export const NO_FILES: Files = { stored: [] };

export interface NewMessage {
  readonly channel: TicketChannel;
  readonly authorId: UserId | null;
  readonly authorName: string | null;
  readonly body: string;
  readonly quoted: string | null;
  readonly files: Files;
  readonly mailMessageId: string | null;
  readonly proofSha256: Uint8Array | null;
  readonly nowMs: number;
}

export interface Opening extends Omit<NewTicketRow, 'id' | 'channel' | 'mailToken' | 'nowMs'> {
  readonly message: NewMessage;
}

export interface Written {
  readonly ticket: TicketRow;
  readonly message: MessageRow;
  /** To be told after the commit. */
  readonly facts: readonly Fact[];
}

/** Its limits are spent by the caller. Throws TICKET_ATTACHMENT_NOT_FOUND, PROOF_INVALID. */
export async function openTicket(tx: Queries, deps: LimiterDeps, opening: Opening): Promise<Written> {
  const { message } = opening;
  const id = newId('ticket');
  const { subject, priority, workspaceId, artifactId, requesterId, requesterEmail, requesterName } = opening;
  const { followsId, chatThread, chatSecretSha256 } = opening;
  await insertTicket(tx, {
    ...{ id, subject, priority, workspaceId, artifactId, requesterId, requesterEmail, requesterName },
    ...{ followsId, chatThread, chatSecretSha256, nowMs: message.nowMs },
    channel: message.channel,
    // As random as the id, and nothing that the id tells.
    mailToken: newId('ticket').slice('tkt_'.length),
  });
  await quoteRequests(tx, id, [], `${subject}\n${message.body}`);
  const messageId = await addMessage(tx, id, 'customer', message, false);
  const ticket = await locked(tx, id);
  return { ticket, message: await written(tx, id, messageId), facts: await tellOpened(tx, deps, ticket, message.nowMs) };
}

/**
 * A message of the customer. One that comes too long after the ticket was closed, or where the ticket is full, opens a ticket that follows it;
 * `spendNew` spends what that costs. Throws as `openTicket` does.
 */
export async function writeAsCustomer(
  tx: Queries,
  deps: LimiterDeps,
  ticket: TicketRow,
  message: NewMessage,
  spendNew: () => Promise<void>,
): Promise<Written> {
  const { nowMs } = message;
  const isFull = ticket.lastNumber >= LIMITS.ticketMessagesMax;
  if (isFull || afterCustomer(ticket, nowMs) === 'continued') {
    await spendNew();
    const { subject, priority, workspaceId, artifactId, requesterId, requesterEmail, requesterName, chatThread } = ticket;
    const opened = await openTicket(tx, deps, {
      ...{ subject, priority, artifactId, requesterId, requesterEmail, requesterName, chatThread, message },
      ...{ workspaceId: artifactId === null ? workspaceId : null, followsId: ticket.id, chatSecretSha256: null },
    });
    await moveSecret(tx, ticket.id, opened.ticket.id);
    return opened;
  }
  await quoteRequests(tx, ticket.id, ticket.requestIds, message.body);
  const messageId = await addMessage(tx, ticket.id, 'customer', message, false);
  await setStatus(tx, ticket.id, 'open', nowMs);
  const after = await locked(tx, ticket.id);
  const facts = ticket.status === 'open' ? [] : await tellReopened(tx, after, nowMs);
  return { ticket: after, message: await written(tx, ticket.id, messageId), facts };
}

/** Throws TICKET_LIMIT_EXCEEDED, TICKET_ATTACHMENT_NOT_FOUND. */
export async function addReply(tx: Queries, ticket: TicketRow, message: NewMessage, isDraft: boolean): Promise<MessageRow> {
  if (ticket.lastNumber >= LIMITS.ticketMessagesMax) throw new Failure('TICKET_LIMIT_EXCEEDED');
  const messageId = await addMessage(tx, ticket.id, 'staff', message, isDraft);
  return written(tx, ticket.id, messageId);
}

/** What the service itself has to say in a thread. */
export async function addSystemMessage(
  tx: Queries,
  ticketId: TicketId,
  body: string,
  channel: TicketChannel,
  nowMs: number,
): Promise<void> {
  const nobody = { authorId: null, authorName: null, quoted: null, files: NO_FILES, mailMessageId: null, proofSha256: null };
  await addMessage(tx, ticketId, 'system', { ...nobody, channel, body, nowMs }, false);
}

async function addMessage(
  tx: Queries,
  ticketId: TicketId,
  authorKind: MessageRow['authorKind'],
  message: NewMessage,
  isDraft: boolean,
): Promise<TicketMessageId> {
  const { files, ...rest } = message;
  const id = newId('ticketMessage');
  const number = await takeNumber(tx, ticketId);
  if (!(await insertMessage(tx, { ...rest, id, ticketId, number, authorKind, isDraft }))) throw new Failure('PROOF_INVALID');
  if ('stored' in files) {
    for (const [position, file] of files.stored.entries())
      await insertAttachment(tx, { ...file, messageId: id, uploaderId: null, position, nowMs: message.nowMs });
  } else if (files.ids.length > 0 && (await attach(tx, id, files.ids, files.uploaders)) < files.ids.length) {
    throw new Failure('TICKET_ATTACHMENT_NOT_FOUND', { param: 'attachment_ids' });
  }
  return id;
}

async function quoteRequests(tx: Queries, id: TicketId, known: readonly string[], text: string): Promise<void> {
  const all = [...new Set([...known, ...requestIdsIn(text)])].slice(0, LIMITS.ticketRequestIdsMax);
  if (all.length > known.length) await setRequestIds(tx, id, all);
}

async function locked(tx: Queries, id: TicketId): Promise<TicketRow> {
  const row = await lockTicket(tx, id);
  if (row === null) throw new Error(`the ticket ${id} is not there, although its transaction has written it`);
  return row;
}

async function written(tx: Queries, ticketId: TicketId, id: TicketMessageId): Promise<MessageRow> {
  const row = await readMessage(tx, ticketId, id);
  if (row === null) throw new Error(`the message ${id} is not there, although its transaction has written it`);
  return row;
}
