/** The endpoints that mail and chat servers call. */
import type { z } from 'zod';
import { inboundChat, inboundChatRead } from '../../../../../protocol/business/support-inbound.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { readInput } from '../../../../../protocol/core/issues.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../../edge/call.ts';
import { listMessages, numberOf } from '../message-rows.ts';
import { NO_SEAT, presentMessage, presentTicket } from '../present.ts';
import { findByThread, readTicket, type TicketRow } from '../rows.ts';
import { requireSigned } from './signature.ts';
import { takeChat } from './take-chat.ts';
import { type MailDeps, takeMail } from './take-mail.ts';

type Ids = 'support.inboundEmail' | 'support.inboundChat' | 'support.inboundChatReplies';

export function inboundHandlers(deps: MailDeps): Handlers<Ids> {
  const { sql, config } = deps;
  const secret = config.SUPPORT_INBOUND_SECRET;
  const shown = (ticket: TicketRow | null) => (ticket === null ? null : presentTicket(ticket, NO_SEAT, undefined));
  return {
    'support.inboundEmail': async (call) => {
      await requireSigned(secret, call);
      const { outcome, reason, ticket } = await takeMail(deps, { bytes: call.body, envelope: null, signal: call.ended, nowMs: call.nowMs });
      return { reply: 'ok', body: { success: true, outcome, reason, ticket: shown(ticket) } };
    },
    'support.inboundChat': async (call) => {
      await requireSigned(secret, call);
      const chat = parsed(inboundChat, call.body);
      const taken = await takeChat(deps, { chat, signature: call.signature, nowMs: call.nowMs });
      if ('repeated' in taken) return { reply: 'repeated', body: { success: true, ticket: shown(taken.repeated) } };
      const ticket = presentTicket(taken.ticket, NO_SEAT, undefined);
      return { reply: 'created', body: { success: true, ticket, message: presentMessage(taken.message) } };
    },
    'support.inboundChatReplies': async (call) => {
      await requireSigned(secret, call);
      const { thread, after } = parsed(inboundChatRead, call.body);
      const id = await findByThread(sql, thread);
      const ticket = id === null ? null : await readTicket(sql, id);
      if (ticket === null) return { reply: 'ok', body: { success: true, ticket: null, replies: [], has_more: false } };
      const rows = await listMessages(sql, ticket.id, false, await numberOf(sql, ticket.id, after), LIMITS.pageMax + 1);
      const page = rows.slice(0, LIMITS.pageMax);
      const replies = page.filter(({ authorKind }) => authorKind !== 'customer').map(presentMessage);
      return { reply: 'ok', body: { success: true, ticket: shown(ticket), replies, has_more: rows.length > page.length } };
    },
  };
}

/** Throws INVALID_JSON, INVALID_REQUEST. */
function parsed<S extends z.ZodType>(schema: S, body: Uint8Array): z.output<S> {
  const { value, issues } = readInput(schema, jsonOf(body));
  if (issues === undefined) return value;
  const [first] = issues;
  throw new Failure('INVALID_REQUEST', {
    message: issues.map(({ path, message }) => `${path}: ${message}`).join('; '),
    ...(first !== undefined && { param: first.path }),
    issues,
  });
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch (error) {
    if (error instanceof SyntaxError) throw new Failure('INVALID_JSON');
    throw error;
  }
}
