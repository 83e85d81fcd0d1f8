/** The endpoints for those who answer tickets. */
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import type { Fact } from '../../../platform/bus.ts';
import type { SigningKey } from '../../../storage/signing-key.ts';
import type { Queries } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { requireAnswered, type Seen } from './access.ts';
import { filesOf, type SupportDeps, targetOf, tellAll } from './handlers.ts';
import { type MessageRow, readMessage, sendDraft } from './message-rows.ts';
import { tellAssigned } from './notify.ts';
import { presentMessage, presentTicket } from './present.ts';
import {
  deleteDraft,
  listMakers,
  readIsStaff,
  readRequester,
  setAssignee,
  setPriority,
  setStatus,
  type TicketRow,
  takeNumber,
} from './rows.ts';
import { type SendingDeps, sendReply } from './sending.ts';
import { addReply } from './tickets.ts';

type Ids = 'support.reply' | 'support.approveDraft' | 'support.deleteDraft' | 'support.assign' | 'support.priority';
type Answered = Seen & { readonly message: MessageRow; readonly facts: readonly Fact[] };

type AnsweringDeps = SupportDeps & { readonly linkKey: SigningKey };

export function answerHandlers(deps: AnsweringDeps): Handlers<Ids> {
  const { sql, config, mail, linkKey } = deps;
  /** The key is read before the transaction: on the embedded database a query beside an open one waits for its end. */
  const withKey = async () => ({ config, fileKey: await linkKey.bytes() });
  const shown = ({ ticket, seat }: Seen) => presentTicket(ticket, seat, config.LOG_LINK_TEMPLATE);
  const answered = ({ message, facts, ...seen }: Answered) => {
    tellAll(deps, facts);
    mail.wake();
    return { success: true, ticket: shown(seen), message: presentMessage(message) } as const;
  };
  return {
    'support.reply': async (call) => {
      const sending = await withKey();
      return { reply: 'created', body: answered(await sql.begin((tx) => reply(tx, sending, call))) };
    },
    'support.approveDraft': async (call) => {
      const sending = await withKey();
      return { reply: 'ok', body: answered(await sql.begin((tx) => approve(tx, sending, call))) };
    },
    'support.deleteDraft': async (call) => {
      await sql.begin(async (tx) => {
        const { ticket } = await requireAnswered(tx, call.principal, call.params.ticketId);
        if (!(await deleteDraft(tx, ticket.id, call.params.messageId))) throw new Failure('TICKET_MESSAGE_NOT_FOUND');
        await auditInside(tx, call, ticket, 'ticket.delete_draft');
      });
      return { reply: 'ok', body: { success: true } };
    },
    'support.assign': async (call) => {
      const { facts, ...seen } = await sql.begin((tx) => assign(tx, call));
      tellAll(deps, facts);
      return { reply: 'ok', body: { success: true, ticket: shown(seen) } };
    },
    'support.priority': async (call) => {
      const seen = await sql.begin(async (tx) => {
        const before = await requireAnswered(tx, call.principal, call.params.ticketId);
        const { id, priority } = before.ticket;
        if (priority === call.body.priority) return before;
        await setPriority(tx, id, call.body.priority, call.nowMs);
        await auditInside(tx, call, before.ticket, 'ticket.priority', { priority: { from: priority, to: call.body.priority } });
        return requireAnswered(tx, call.principal, id);
      });
      return { reply: 'ok', body: { success: true, ticket: shown(seen) } };
    },
  };
}

/** What customers do not see of a ticket is in the audit of the installation only, not in that of their workspace. */
function auditInside(
  tx: Queries,
  call: Parameters<typeof audit>[1],
  ticket: TicketRow,
  action: string,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  // The makers of a page answer its chats in the name of its workspace.
  const workspaceId = ticket.artifactId === null ? null : ticket.workspaceId;
  return audit(tx, call, { workspaceId, action, target: targetOf(ticket), detail });
}

/** Throws TICKET_NOT_FOUND, STAFF_REQUIRED, TICKET_LIMIT_EXCEEDED, TICKET_ATTACHMENT_NOT_FOUND. */
async function reply(tx: Queries, deps: SendingDeps, call: Call<Endpoints['support.reply']>): Promise<Answered> {
  const { principal, params, body, user, nowMs } = call;
  const { ticket, seat } = await requireAnswered(tx, principal, params.ticketId);
  const isDraft = body.draft === true;
  const { name } = await readRequester(tx, user);
  const message = await addReply(
    tx,
    ticket,
    {
      ...{ channel: ticket.channel, authorId: user, authorName: name, body: body.body, quoted: null, mailMessageId: null },
      ...{ proofSha256: null, files: filesOf(principal, body.attachment_ids), nowMs },
    },
    isDraft,
  );
  if (isDraft) {
    await auditInside(tx, call, ticket, 'ticket.draft');
    return { ticket, seat, message, facts: [] };
  }
  return sent(tx, deps, call, ticket, message);
}

/** Throws TICKET_NOT_FOUND, STAFF_REQUIRED, TICKET_MESSAGE_NOT_FOUND. */
async function approve(tx: Queries, deps: SendingDeps, call: Call<Endpoints['support.approveDraft']>): Promise<Answered> {
  const { principal, params, body, user, nowMs } = call;
  const { ticket } = await requireAnswered(tx, principal, params.ticketId);
  const draft = await readMessage(tx, ticket.id, params.messageId);
  if (draft === null || !draft.isDraft) throw new Failure('TICKET_MESSAGE_NOT_FOUND');
  const { name } = await readRequester(tx, user);
  const number = await takeNumber(tx, ticket.id);
  await sendDraft(tx, draft.id, { number, body: body.body ?? draft.body, authorId: user, authorName: name, nowMs });
  const message = await readMessage(tx, ticket.id, draft.id);
  if (message === null) throw new Failure('TICKET_MESSAGE_NOT_FOUND');
  return sent(tx, deps, call, ticket, message);
}

type AnsweringCall = Call<Endpoints['support.reply']> | Call<Endpoints['support.approveDraft']>;

async function sent(tx: Queries, deps: SendingDeps, call: AnsweringCall, ticket: TicketRow, message: MessageRow): Promise<Answered> {
  await setStatus(tx, ticket.id, 'pending', call.nowMs);
  const facts = await sendReply(tx, deps, ticket, message, call.nowMs);
  // Customers read the reply, and not whose account and address it came from.
  await auditInside(tx, call, ticket, 'ticket.reply');
  const stored = await readMessage(tx, ticket.id, message.id);
  return { ...(await requireAnswered(tx, call.principal, ticket.id)), message: stored ?? message, facts };
}

/** Throws TICKET_NOT_FOUND, STAFF_REQUIRED, ASSIGNEE_NOT_FOUND. */
async function assign(tx: Queries, call: Call<Endpoints['support.assign']>): Promise<Seen & { readonly facts: readonly Fact[] }> {
  const { principal, params, body, nowMs } = call;
  const before = await requireAnswered(tx, principal, params.ticketId);
  const { ticket } = before;
  if (ticket.assigneeId === body.user_id) return { ...before, facts: [] };
  if (body.user_id !== null && !(await answersIt(tx, ticket, body.user_id))) throw new Failure('ASSIGNEE_NOT_FOUND', { param: 'user_id' });
  await setAssignee(tx, ticket.id, body.user_id, nowMs);
  await auditInside(tx, call, ticket, 'ticket.assign', { assignee: { from: ticket.assigneeId, to: body.user_id } });
  const after = await requireAnswered(tx, principal, ticket.id);
  const facts = body.user_id === null || isOwn(principal, body.user_id) ? [] : await tellAssigned(tx, after.ticket, body.user_id, nowMs);
  return { ...after, facts };
}

function isOwn(principal: Principal, userId: UserId): boolean {
  return accountsOf(principal).includes(userId);
}

async function answersIt(tx: Queries, { artifactId }: TicketRow, userId: UserId): Promise<boolean> {
  if (await readIsStaff(tx, userId)) return true;
  return artifactId !== null && (await listMakers(tx, artifactId, LIMITS.ticketMakersMax)).includes(userId);
}
