/** Takes a message of another chat, and gives that chat the replies. */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { inboundChat } from '../../../../../protocol/business/support-inbound.ts';
import { TICKET_LIMITS } from '../../../../../protocol/core/support-rate-limits.ts';
import { requireAccepted } from '../../../../edge/limits.ts';
import type { Queries } from '../../../deps.ts';
import { findByProvedEmail } from '../../../people/persons/rows.ts';
import { type SupportDeps, tellAll } from '../handlers.ts';
import { findByThread, lockThread, lockTicket, readTicket, type TicketRow } from '../rows.ts';
import { type NewMessage, NO_FILES, openTicket, type Written, writeAsCustomer } from '../tickets.ts';
import { subjectOf } from './mail-rules.ts';
import { insertInbound, readInbound, settleInbound } from './rows.ts';

type Chat = z.output<typeof inboundChat>;

export interface ChatCall {
  readonly chat: Chat;
  /** Of the call; it names the message where the chat does not. */
  readonly signature: string;
  readonly nowMs: number;
}

/** `repeated`: it was taken before. Throws RATE_LIMITED. */
export async function takeChat(deps: SupportDeps, call: ChatCall): Promise<Written | { readonly repeated: TicketRow | null }> {
  const { sql } = deps;
  const key = keyOf(call);
  const taken = await sql.begin((tx) => take(tx, deps, call, key));
  if (taken !== null) {
    tellAll(deps, taken.facts);
    return taken;
  }
  const known = await readInbound(sql, key);
  return { repeated: known === null || known.ticketId === null ? null : await readTicket(sql, known.ticketId) };
}

function keyOf({ chat, signature }: ChatCall): Buffer {
  const named = chat.id === undefined || chat.id === null ? `signature ${signature}` : `id ${JSON.stringify([chat.thread, chat.id])}`;
  return createHash('sha256').update(`chat ${named}`).digest();
}

/** Null where it was taken before. */
async function take(tx: Queries, deps: SupportDeps, { chat, nowMs }: ChatCall, key: Buffer): Promise<Written | null> {
  const { name, email } = typeof chat.from === 'string' ? { name: chat.from, email: null } : chat.from;
  const entry = { sha256: key, source: 'chat', sender: name, nowMs } as const;
  if (!(await insertInbound(tx, { ...entry, outcome: 'ignored', reason: null, ticketId: null }))) return null;
  const { ofThread } = TICKET_LIMITS;
  const thread = createHash('sha256').update(chat.thread).digest('hex');
  requireAccepted(ofThread, await deps.limiters.shared.spendIn(tx, ofThread, thread), 'Many messages came from this conversation.');
  await lockThread(tx, chat.thread);
  const known = await findByThread(tx, chat.thread);
  const ticket = known === null ? null : await lockTicket(tx, known);
  const requesterId = email === null || email === undefined ? null : await findByProvedEmail(tx, email);
  const message: NewMessage = {
    ...{ channel: 'chat', authorId: requesterId, authorName: name, body: chat.text, quoted: null },
    ...{ files: NO_FILES, mailMessageId: null, proofSha256: null, nowMs },
  };
  const opening = { priority: 'normal', workspaceId: null, artifactId: null, requesterId, requesterEmail: email ?? null } as const;
  const written =
    ticket === null
      ? await openTicket(tx, deps, {
          ...{ ...opening, subject: subjectOf(firstLine(chat.text)), requesterName: name, followsId: null },
          ...{ chatThread: chat.thread, chatSecretSha256: null, message },
        })
      : // The limit of the thread bounds its tickets too.
        await writeAsCustomer(tx, deps, ticket, message, async () => undefined);
  const outcome = written.ticket.id === ticket?.id ? 'continued' : 'created';
  await settleInbound(tx, key, { outcome, reason: null, ticketId: written.ticket.id });
  return written;
}

const SUBJECT_CHARS = 80;

/** Chats have no subject. */
export function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  const chars = [...line.slice(0, SUBJECT_CHARS * 2)];
  return chars.length > SUBJECT_CHARS ? `${chars.slice(0, SUBJECT_CHARS - 1).join('')}…` : chars.join('');
}
